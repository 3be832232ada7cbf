//! Peers and models over TLS, and the proxy.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rail_testkit::{
    Admits, Authority, Conversation, Leaving, Models, Peer, ProxyPeer, ServerCert, Step, http_whole,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type Secure = StreamOwned<ClientConnection, TcpStream>;

fn connect(addr: SocketAddr, authority: &Authority) -> Secure {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), ServerName::from(addr.ip())).unwrap();
    let socket = TcpStream::connect(addr).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    StreamOwned::new(connection, socket)
}

/// Sends a request; what comes back up to the end.
fn ask(stream: &mut Secure) -> io::Result<String> {
    stream.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn peer(cert: &ServerCert, last: Step) -> Peer {
    let steps = [Step::ReadRequest, Step::Send(http_whole(200, "text/plain", "hi")), last];
    Peer::start_tls(vec![Conversation::new(steps)], cert).unwrap()
}

#[test]
fn a_peer_and_models_with_a_certificate() {
    let authority = Authority::new().unwrap();
    let cert = authority.server().unwrap();
    let peer = peer(&cert, Step::Close);
    assert!(ask(&mut connect(peer.addr(), &authority)).unwrap().ends_with("\r\n\r\nhi"));
    assert_eq!(peer.requests()[0].target, "/v1/models");
    assert_eq!(peer.url("/x"), format!("https://{}/x", peer.addr()));
    let models = Models::start_tls(vec![], &cert).unwrap();
    assert!(ask(&mut connect(models.addr(), &authority)).unwrap().contains("scripted-model"));
    assert!(models.url("/x").starts_with("https://"));
}

#[test]
fn ends_without_a_goodbye_are_seen() {
    let authority = Authority::new().unwrap();
    let cert = authority.server().unwrap();
    let reset = peer(&cert, Step::Reset);
    assert!(ask(&mut connect(reset.addr(), &authority)).is_err());
    let vanished = peer(&cert, Step::Vanish);
    let error = ask(&mut connect(vanished.addr(), &authority)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn bytes_that_no_key_has_sealed() {
    let authority = Authority::new().unwrap();
    // The head of a record of data, and what can't be opened.
    let record = [&[23, 3, 3, 0, 20][..], &[7; 20]].concat();
    let peer = peer(&authority.server().unwrap(), Step::SendRaw(record));
    let error = ask(&mut connect(peer.addr(), &authority)).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_client_that_leaves_or_refuses_is_seen_to() {
    let authority = Authority::new().unwrap();
    let stalls = peer(&authority.server().unwrap(), Step::Stall);
    let mut stream = connect(stalls.addr(), &authority);
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 10]).unwrap();
    drop(stream);
    assert_eq!(stalls.client_left(0).step, 2);

    for cert in [authority.expired().unwrap(), authority.wrong_name().unwrap()] {
        let refused = peer(&cert, Step::Stall);
        let error = ask(&mut connect(refused.addr(), &authority)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        assert_eq!(refused.client_left(0).step, 0);
    }
    let strange = peer(&authority.server().unwrap(), Step::Stall);
    TcpStream::connect(strange.addr()).unwrap().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(strange.client_left(0).how, Leaving::Reset);
}

fn tunnel(proxy: &ProxyPeer, head: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(proxy.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(format!("CONNECT far.test:443 HTTP/1.1\r\n{head}\r\n").as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    (stream, String::from_utf8(status.to_vec()).unwrap())
}

#[test]
fn a_proxy_tunnels_for_whom_it_admits() {
    let steps = [Step::ReadRequest, Step::Send(http_whole(200, "text/plain", "hi")), Step::Close];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let proxy = ProxyPeer::start(peer.addr(), Admits::With("Basic x".to_owned())).unwrap();
    assert_eq!(tunnel(&proxy, "").1, "HTTP/1.1 407");
    let (mut stream, status) = tunnel(&proxy, "proxy-authorization: Basic x\r\n");
    assert_eq!(status, "HTTP/1.1 200");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: far.test\r\n\r\n").unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("hi"), "{rest}");
    let asked: Vec<String> = proxy.requests().iter().map(|asked| asked.target.clone()).collect();
    assert_eq!(asked, ["far.test:443", "far.test:443"]);
    let closed = ProxyPeer::start(peer.addr(), Admits::Nobody).unwrap();
    assert_eq!(tunnel(&closed, "").1, "HTTP/1.1 403");
}
