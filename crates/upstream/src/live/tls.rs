use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// How a client of ours speaks TLS.
pub(super) fn config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The system's authorities, or the built-in ones where it has none, as in a bare container.
pub(super) fn system_roots() -> RootCertStore {
    chosen(rustls_native_certs::load_native_certs().certs)
}

/// The authorities that servers are checked against.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Authorities {
    /// How many of the system's can be used; with none the built-in ones count.
    pub system: usize,
    /// How many are built in.
    pub built_in: usize,
    /// What went wrong when the system's were read.
    pub problems: Vec<String>,
}

/// Looks which authorities servers are checked against, unless a provider names its own.
pub fn authorities() -> Authorities {
    let read = rustls_native_certs::load_native_certs();
    let (system, unreadable) = RootCertStore::empty().add_parsable_certificates(read.certs);
    let mut problems: Vec<String> = read.errors.iter().map(ToString::to_string).collect();
    if unreadable > 0 {
        problems.push(format!("{unreadable} certificates of the system can't be used"));
    }
    Authorities { system, built_in: webpki_roots::TLS_SERVER_ROOTS.len(), problems }
}

/// Mozilla's authorities as of our build.
pub(super) fn built_in_roots() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

/// Adds the authorities of a PEM file.
pub(super) fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let mut added = 0;
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|_| "it is cut short, or no PEM file".to_owned())?;
        roots.add(certificate).map_err(|error| format!("a certificate in it can't be read: {error}"))?;
        added += 1;
    }
    if added == 0 { Err("it holds no `-----BEGIN CERTIFICATE-----`".to_owned()) } else { Ok(()) }
}

fn chosen(system: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // Some systems ship certificates that no strict reader takes; the others still count.
    let (added, _unreadable) = roots.add_parsable_certificates(system);
    if added == 0 { built_in_roots() } else { roots }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_authorities_gets_the_built_in_ones() {
        let built_in = webpki_roots::TLS_SERVER_ROOTS.len();
        assert_eq!(chosen(Vec::new()).len(), built_in);
        assert_eq!(chosen(vec![CertificateDer::from(b"damaged".to_vec())]).len(), built_in);
    }

    #[test]
    fn what_is_wrong_with_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            add(&mut RootCertStore::empty(), &path).unwrap_err()
        };
        insta::assert_snapshot!(write("empty", ""), @"it holds no `-----BEGIN CERTIFICATE-----`");
        insta::assert_snapshot!(write("key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), @"it holds no `-----BEGIN CERTIFICATE-----`");
        insta::assert_snapshot!(write("cut", "-----BEGIN CERTIFICATE-----\nAAAA\n"), @"it is cut short, or no PEM file");
        insta::assert_snapshot!(write("wrong", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), @"a certificate in it can't be read: invalid peer certificate: BadEncoding");
        let missing = add(&mut RootCertStore::empty(), &folder.path().join("missing")).unwrap_err();
        insta::assert_snapshot!(missing, @"No such file or directory (os error 2)");
    }
}
