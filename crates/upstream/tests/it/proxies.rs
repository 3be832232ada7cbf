//! Ways through proxies.

use std::net::SocketAddr;
use std::path::PathBuf;

use rail_route::Provider;
use rail_stdx::{Proxies, Secret};
use rail_testkit::{
    Admits, Authority, Conversation, Peer, ProxyPeer, ServerCert, Step, http_whole, refused_addr,
};
use rail_upstream::{Live, LiveSettings, Transport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::calls::{self, hello, live, problem, text};

fn answer() -> Vec<Conversation> {
    vec![Conversation::new([Step::ReadRequest, Step::Send(http_whole(200, "text/plain", "hi")), Step::Stall])]
}

/// A host that only the proxy knows, with its authority in a file.
fn secure() -> (Peer, Provider, tempfile::TempDir) {
    let authority = Authority::new().unwrap();
    let (folder, file) = in_file(&authority);
    let cert: ServerCert = authority.server().unwrap();
    let provider = Provider { ca: Some(file), ..calls::provider("https://api.example.test/v1") };
    (Peer::start_tls(answer(), &cert).unwrap(), provider, folder)
}

fn in_file(authority: &Authority) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    (folder, file)
}

fn with_environment(url: String) -> Live {
    let variables = move |name: &str| (name == "HTTPS_PROXY" || name == "HTTP_PROXY").then(|| url.clone());
    Live::new(LiveSettings { proxies: Proxies::from_variables(variables) })
}

#[tokio::test]
async fn through_a_tunnel_with_a_password() {
    let (peer, provider, _folder) = secure();
    let proxy = ProxyPeer::start(peer.addr(), Admits::With("Basic bWU6aHVzaA==".to_owned())).unwrap();
    let live = with_environment(format!("http://me:hush@{}", proxy.addr()));
    assert_eq!(text(live.send(hello(&provider)).await.unwrap()).await, "hi");
    let asked = &proxy.requests()[0];
    assert_eq!((asked.method.as_str(), asked.target.as_str()), ("CONNECT", "api.example.test:443"));
    assert_eq!(asked.header("authorization"), None, "the key is for the host alone");
    assert_eq!(peer.requests()[0].header("proxy-authorization"), None, "the password is for the proxy alone");
}

#[tokio::test]
async fn what_a_provider_says_wins_over_the_environment() {
    let (peer, mut provider, _folder) = secure();
    let proxy = ProxyPeer::start(peer.addr(), Admits::All).unwrap();
    provider.proxy = Some(format!("http://{}", proxy.addr()));
    let live = with_environment(format!("http://{}", refused_addr().unwrap()));
    assert_eq!(text(live.send(hello(&provider)).await.unwrap()).await, "hi");
}

#[tokio::test]
async fn a_plain_address_is_asked_of_the_proxy_itself() {
    let proxy = Peer::start(answer()).unwrap();
    let mut provider = calls::provider("http://api.example.test/v1");
    provider.proxy = Some(format!("http://me:hush@{}", proxy.addr()));
    assert_eq!(text(live().send(hello(&provider)).await.unwrap()).await, "hi");
    let asked = &proxy.requests()[0];
    assert_eq!(asked.target, "http://api.example.test/v1/chat");
    assert_eq!(asked.header("proxy-authorization"), Some("Basic bWU6aHVzaA=="));
    assert_eq!(asked.header("host"), Some("api.example.test"));
}

#[tokio::test]
async fn this_machine_is_not_behind_the_environments_proxy() {
    let peer = Peer::start(answer()).unwrap();
    let live = with_environment(format!("http://{}", refused_addr().unwrap()));
    let near = calls::provider(&format!("http://localhost:{}", peer.addr().port()));
    assert_eq!(text(live.send(hello(&near)).await.unwrap()).await, "hi");
}

#[tokio::test]
async fn no_proxy_names_hosts_that_are_reached_directly() {
    let refused = refused_addr().unwrap();
    let proxies = Proxies {
        all: Some(Secret::new(format!("http://{refused}"))),
        no: Some("near.invalid".to_owned()),
        ..Proxies::default()
    };
    let live = Live::new(LiveSettings { proxies });
    let near = problem(&live, hello(&calls::provider("http://near.invalid/v1"))).await;
    assert!(near.starts_with("Dns: "), "{near}");
    let far = problem(&live, hello(&calls::provider("http://far.invalid/v1"))).await;
    assert!(far.starts_with("Proxy: "), "{far}");
}

/// A SOCKS proxy for one connection: no password, any name, always to this address. Gives the name that was asked for.
async fn socks(listener: TcpListener, to: SocketAddr) -> String {
    let (mut client, _) = listener.accept().await.unwrap();
    let mut greeting = [0; 3];
    client.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 1, 0]);
    client.write_all(&[5, 0]).await.unwrap();
    let mut head = [0; 5];
    client.read_exact(&mut head).await.unwrap();
    assert_eq!(head[..4], [5, 1, 0, 3], "a name, for the proxy to resolve");
    let mut name = vec![0; usize::from(head[4]) + 2];
    client.read_exact(&mut name).await.unwrap();
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
    let mut server = TcpStream::connect(to).await.unwrap();
    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    let port = name.split_off(name.len() - 2);
    format!("{}:{}", String::from_utf8(name).unwrap(), u16::from_be_bytes([port[0], port[1]]))
}

#[tokio::test]
async fn through_a_socks_proxy() {
    let (peer, mut provider, _folder) = secure();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    provider.proxy = Some(format!("socks5://{}", listener.local_addr().unwrap()));
    let (live, to) = (live(), peer.addr());
    let asked = async {
        let said = text(live.send(hello(&provider)).await.unwrap()).await;
        // The end of the server ends the tunnel.
        drop(peer);
        said
    };
    let (name, said) = tokio::join!(socks(listener, to), asked);
    assert_eq!((name.as_str(), said.as_str()), ("api.example.test:443", "hi"));
}

#[tokio::test]
async fn through_a_proxy_that_is_secure_itself() {
    let authority = Authority::new().unwrap();
    let (_folder, file) = in_file(&authority);
    let peer = Peer::start_tls(answer(), &authority.server().unwrap()).unwrap();
    let proxy = ProxyPeer::start(peer.addr(), Admits::All).unwrap();
    // TLS ends here; what is inside goes on to the proxy.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let provider = Provider {
        ca: Some(file),
        proxy: Some(format!("https://localhost:{}", listener.local_addr().unwrap().port())),
        ..calls::provider("https://api.example.test/v1")
    };
    let acceptor = tokio_rustls::TlsAcceptor::from(authority.server().unwrap().config());
    let inner = proxy.addr();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let mut client = acceptor.accept(client).await.unwrap();
        let mut server = TcpStream::connect(inner).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    });
    assert_eq!(text(live().send(hello(&provider)).await.unwrap()).await, "hi");
    assert_eq!(proxy.requests()[0].target, "api.example.test:443");
}

#[tokio::test]
async fn a_socks_proxy_that_refuses() {
    // The greeting, the choice of no password, the request for a name, and a refusal by rule.
    let steps = [Step::Send(vec![5, 0]), Step::Send(vec![5, 2, 0, 1, 0, 0, 0, 0, 0, 0]), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let mut provider = calls::provider("http://api.example.test/v1");
    provider.proxy = Some(format!("socks5://{}", peer.addr()));
    let said = problem(&live(), hello(&provider)).await;
    insta::assert_snapshot!(said.replace(&peer.addr().to_string(), "PROXY"), @"Proxy: the proxy PROXY does not connect to api.example.test: SOCKS error: connection not allowed; check `providers.test.proxy`");
}

#[tokio::test]
async fn proxies_that_fail() {
    let (peer, mut provider, _folder) = secure();
    for admits in [Admits::With("Basic other".to_owned()), Admits::Nobody] {
        let proxy = ProxyPeer::start(peer.addr(), admits.clone()).unwrap();
        provider.proxy = Some(format!("http://me:hush@{}", proxy.addr()));
        let said = problem(&live(), hello(&provider)).await.replace(&proxy.addr().to_string(), "PROXY");
        match admits {
            Admits::Nobody => {
                insta::assert_snapshot!(said, @"Proxy: the proxy PROXY refuses to connect to api.example.test with status 403; ask whoever runs it, or set `providers.test.proxy` to `direct` to go around it")
            }
            Admits::With(_) | Admits::All => {
                insta::assert_snapshot!(said, @"Proxy: the proxy PROXY wants a name and a password; write them in its address, `http://NAME:PASSWORD@PROXY`, in `providers.test.proxy` or the environment")
            }
        }
    }
    let refused = refused_addr().unwrap();
    provider.proxy = Some(format!("http://me:hush@{refused}"));
    let said = problem(&live(), hello(&provider)).await.replace(&refused.to_string(), "PROXY");
    insta::assert_snapshot!(said, @"Proxy: no connection to the proxy PROXY: it refuses connections; check `providers.test.proxy` and the environment's `HTTPS_PROXY`");
    let closes = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Close])]).unwrap();
    provider.proxy = Some(closes.url(""));
    let said = problem(&live(), hello(&provider)).await.replace(&closes.addr().to_string(), "PROXY");
    insta::assert_snapshot!(said, @"Proxy: no connection to the proxy PROXY: it closed the connection; check `providers.test.proxy` and the environment's `HTTPS_PROXY`");
    let garbage = Peer::start(vec![Conversation::new([
        Step::ReadRequest,
        Step::Send(b"SSH-2.0-x\r\n\r\n".to_vec()),
        Step::Stall,
    ])])
    .unwrap();
    provider.proxy = Some(garbage.url(""));
    let said = problem(&live(), hello(&provider)).await.replace(&garbage.addr().to_string(), "PROXY");
    insta::assert_snapshot!(said, @"Proxy: what answers at PROXY is no HTTP proxy; check `providers.test.proxy` and the environment's `HTTPS_PROXY`");
}
