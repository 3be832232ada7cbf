use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::WebFault;

/// Secure connections: the authorities are read when the first needs them, and kept.
pub(crate) struct Tls {
    /// A file with authorities to trust besides the system's.
    more: Option<PathBuf>,
    config: OnceCell<Arc<ClientConfig>>,
}

impl Tls {
    pub(crate) fn new(more: Option<PathBuf>) -> Self {
        Self { more, config: OnceCell::new() }
    }

    /// Speaks TLS on a connection, with the name or the address that the certificate must be for.
    pub(crate) async fn secure<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: &str,
        stream: S,
    ) -> Result<TlsStream<S>, String> {
        let config = self.config().await.map_err(|fault| fault.to_string())?;
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let connected = TlsConnector::from(config).connect(name, stream).await;
        connected.map_err(|error| format!("no secure connection: {error}"))
    }

    async fn config(&self) -> Result<Arc<ClientConfig>, WebFault> {
        let more = self.more.clone();
        let load = || async move {
            // Hundreds of files on some systems.
            let loaded = tokio::task::spawn_blocking(move || config(more.as_deref())).await;
            loaded.map_err(|error| WebFault::Misconfigured(error.to_string()))?.map(Arc::new)
        };
        self.config.get_or_try_init(load).await.cloned()
    }
}

fn config(more: Option<&Path>) -> Result<ClientConfig, WebFault> {
    let mut roots = RootCertStore::empty();
    // Some systems ship certificates that no strict reader takes; the others still count.
    let (added, _unreadable) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        // A bare container has none of its own.
        roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    }
    if let Some(file) = more {
        add(&mut roots, file).map_err(|why| {
            WebFault::Misconfigured(format!("the authorities in {}: {why}", file.display()))
        })?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let wrong = |error: rustls::Error| WebFault::Misconfigured(error.to_string());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder.map_err(wrong)?.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|_| "it is cut short, or no PEM file".to_owned())?;
        roots.add(certificate).map_err(|error| format!("a certificate in it can't be read: {error}"))?;
    }
    Ok(())
}
