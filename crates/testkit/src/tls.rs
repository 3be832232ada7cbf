//! Certificates of a test's own, and the bytes of a connection with or without TLS.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// A certificate authority that nobody trusts until a test says so.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate of a server, with its key.
#[derive(Debug, Clone)]
pub struct ServerCert {
    config: Arc<ServerConfig>,
    /// The certificate in PEM.
    pub(crate) certificate: String,
    /// Its key in PEM.
    pub(crate) key: String,
}

impl Authority {
    /// A new authority with a key of its own.
    pub fn new() -> io::Result<Authority> {
        let mut params = CertificateParams::new(Vec::<String>::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "rail-testkit authority");
        params.key_usages.push(KeyUsagePurpose::KeyCertSign);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        Ok(Authority { issuer: CertifiedIssuer::self_signed(params, key).map_err(io::Error::other)? })
    }

    /// Its certificate, as a client that trusts it reads it from a file.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A good certificate for `127.0.0.1`, `localhost` and `api.example.test`.
    pub fn server(&self) -> io::Result<ServerCert> {
        self.sign(&["127.0.0.1", "localhost", "api.example.test"], |_| {})
    }

    /// One that ended in the year 2001.
    pub fn expired(&self) -> io::Result<ServerCert> {
        self.sign(&["127.0.0.1", "localhost"], |params| {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        })
    }

    /// One for another host, `elsewhere.example.test`.
    pub fn wrong_name(&self) -> io::Result<ServerCert> {
        self.sign(&["elsewhere.example.test"], |_| {})
    }

    fn sign(&self, names: &[&str], change: fn(&mut CertificateParams)) -> io::Result<ServerCert> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        change(&mut params);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let cert = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let der = PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
        let config = server_config(vec![cert.der().clone()], der)?;
        Ok(ServerCert { config: Arc::new(config), certificate: cert.pem(), key: key.serialize_pem() })
    }
}

impl ServerCert {
    /// What a server of the test's own needs to present it.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    /// The certificate for one more connection.
    pub(crate) fn connection(&self) -> io::Result<ServerConnection> {
        ServerConnection::new(self.config()).map_err(io::Error::other)
    }
}

fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> io::Result<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(io::Error::other)
}

/// A connection as its thread sees it: bytes in and out, packed or not.
pub(crate) struct Wire<'a> {
    socket: &'a TcpStream,
    // One thread plays a connection; reader and writer take turns.
    tls: Option<RefCell<ServerConnection>>,
}

impl<'a> Wire<'a> {
    /// A connection that is packed if there is a certificate.
    pub(crate) fn new(socket: &'a TcpStream, cert: Option<&ServerCert>) -> io::Result<Wire<'a>> {
        let tls = cert.map(ServerCert::connection).transpose()?.map(RefCell::new);
        Ok(Wire { socket, tls })
    }

    /// The socket below, for its options.
    pub(crate) fn socket(&self) -> &'a TcpStream {
        self.socket
    }

    /// Says that nothing more will be sent, as a good server does.
    pub(crate) fn say_goodbye(&self) {
        if let Some(tls) = &self.tls {
            let mut tls = tls.borrow_mut();
            tls.send_close_notify();
            // A client that has left need not hear it.
            while tls.wants_write() && tls.write_tls(&mut &*self.socket).is_ok_and(|written| written > 0) {}
        }
    }

    /// Ends the sending direction.
    pub(crate) fn half_close(&self) -> io::Result<()> {
        self.say_goodbye();
        self.socket.shutdown(Shutdown::Write)
    }
}

impl Read for &Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.tls {
            None => (&*self.socket).read(buffer),
            Some(tls) => match Stream::new(&mut *tls.borrow_mut(), &mut &*self.socket).read(buffer) {
                // A client that drops its socket says no goodbye.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                other => other.map_err(refused),
            },
        }
    }
}

impl Write for &Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.tls {
            None => (&*self.socket).write(bytes),
            Some(tls) => {
                Stream::new(&mut *tls.borrow_mut(), &mut &*self.socket).write(bytes).map_err(refused)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &self.tls {
            None => Ok(()),
            Some(tls) => Stream::new(&mut *tls.borrow_mut(), &mut &*self.socket).flush().map_err(refused),
        }
    }
}

/// A client that does not like the certificate, or speaks no TLS, is one that leaves.
fn refused(error: io::Error) -> io::Error {
    let leaves = matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof);
    if leaves { io::Error::new(io::ErrorKind::ConnectionReset, error) } else { error }
}
