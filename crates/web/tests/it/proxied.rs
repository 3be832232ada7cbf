//! The way through a proxy.

use rail_stdx::{Proxies, Secret};
use rail_testkit::{Admits, Authority, Conversation, Peer, ProxyPeer, Step};
use rail_web::{Fetcher, WebFault, WebSetup};

use crate::site::{Names, fetch, html, page, site};

fn through(proxy: &str) -> Fetcher {
    let setup = WebSetup { proxies: Proxies::only(Secret::new(proxy.to_owned())), ..WebSetup::default() };
    Fetcher::resolving(setup, Names::new(&[]))
}

#[tokio::test]
async fn plain_pages_are_asked_of_the_proxy_whole() {
    let proxy = site([html("forwarded")]);
    let fetcher = through(&format!("http://me:pw@{}", proxy.addr()));
    assert_eq!(page(&fetcher, "http://docs.example/a?b").await.text, "forwarded");
    let request = &proxy.requests()[0];
    assert_eq!(
        (request.target.as_str(), request.header("host")),
        ("http://docs.example/a?b", Some("docs.example"))
    );
    assert_eq!(request.header("proxy-authorization"), Some("Basic bWU6cHc="));
}

#[tokio::test]
async fn secure_pages_go_through_a_tunnel() {
    let authority = Authority::new().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    let play = Conversation::new([Step::ReadRequest, Step::Send(html("tunnelled"))]);
    let site = Peer::start_tls(vec![play], &authority.server().unwrap()).unwrap();
    let proxy = ProxyPeer::start(site.addr(), Admits::All).unwrap();
    let proxies = Proxies::only(Secret::new(format!("http://{}", proxy.addr())));
    let setup = WebSetup { proxies, ca: Some(file.path().to_owned()), ..WebSetup::default() };
    let fetcher = Fetcher::resolving(setup, Names::new(&[]));
    assert_eq!(page(&fetcher, "https://api.example.test/").await.text, "tunnelled");
    assert_eq!(proxy.requests()[0].target, "api.example.test:443");
    let closed = ProxyPeer::start(site.addr(), Admits::Nobody).unwrap();
    let fault =
        fetch(&through(&format!("http://{}", closed.addr())), "https://api.example.test/").await.unwrap_err();
    insta::assert_snapshot!(fault, @"`api.example.test:443` can't be reached: the proxy refuses with 403; try again, or take another source");
}

#[tokio::test]
async fn a_proxy_is_no_way_round_the_guards() {
    let proxy = Peer::start(Vec::new()).unwrap();
    let fetcher = through(&format!("http://{}", proxy.addr()));
    for url in [
        "http://169.254.169.254/",
        "http://10.0.0.1/",
        "http://0x7f.1/",
        "http://localhost/",
        "http://metadata/",
        "http://a.internal/",
    ] {
        let fault = fetch(&fetcher, url).await.unwrap_err();
        assert!(matches!(fault, WebFault::Private { .. }), "{url}: {fault}");
    }
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_proxy_s_password_is_in_no_message() {
    let fetcher = through("gopher://me:password@proxy.example");
    let fault = fetch(&fetcher, "https://docs.example/").await.unwrap_err();
    insta::assert_snapshot!(fault, @"the proxy for the web is no address of a proxy; write `http://HOST:PORT`, `https://…` or `socks5://…`; correct it in the configuration");
}
