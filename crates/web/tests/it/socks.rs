//! The way through a SOCKS proxy, which is a real one here: it speaks RFC 1928 and 1929 on a socket, and leads everywhere to one site.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rail_stdx::{Proxies, Secret};
use rail_testkit::{Authority, Conversation, Peer, Step};
use rail_web::{Fetcher, WebFault, WebSetup};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::site::{Names, fetch, html, page, redirect, site};

/// What the proxy does with who asks.
#[derive(Clone, Copy)]
enum Manners {
    Open,
    /// `me` with `pw`, and nobody else.
    Password,
    /// RFC 1928, 6: the reply that it refuses with.
    Refuses(u8),
}

struct Socks {
    addr: SocketAddr,
    /// Where it was asked to lead, with how that was written.
    asked: Arc<Mutex<Vec<String>>>,
    /// Ends with the test.
    _served: JoinSet<()>,
}

impl Socks {
    async fn start(to: SocketAddr, manners: Manners) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (addr, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let told = Arc::clone(&asked);
        let mut served = JoinSet::new();
        served.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // What the client breaks off is seen there.
                let _ = serve(stream, to, manners, &told).await;
            }
        });
        Self { addr, asked, _served: served }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    to: SocketAddr,
    manners: Manners,
    asked: &Mutex<Vec<String>>,
) -> io::Result<()> {
    assert_eq!(stream.read_u8().await?, 5);
    let methods = bytes(&mut stream).await?;
    if let Manners::Password = manners {
        if !methods.contains(&2) {
            return stream.write_all(&[5, 0xff]).await;
        }
        stream.write_all(&[5, 2]).await?;
        assert_eq!(stream.read_u8().await?, 1);
        let said = (bytes(&mut stream).await?, bytes(&mut stream).await?);
        let right = said == (b"me".to_vec(), b"pw".to_vec());
        stream.write_all(&[1, u8::from(!right)]).await?;
        if !right {
            return Ok(());
        }
    } else {
        stream.write_all(&[5, 0]).await?;
    }
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    assert_eq!(head[..3], [5, 1, 0], "version, CONNECT, reserved");
    let host = match head[3] {
        1 => format!("v4 {}", Ipv4Addr::from(stream.read_u32().await?)),
        4 => format!("v6 {}", Ipv6Addr::from(stream.read_u128().await?)),
        3 => format!("name {}", String::from_utf8(bytes(&mut stream).await?).unwrap()),
        other => panic!("no type of address: {other}"),
    };
    let port = stream.read_u16().await?;
    asked.lock().unwrap().push(format!("{host} {port}"));
    let reply = if let Manners::Refuses(reply) = manners { reply } else { 0 };
    stream.write_all(&[5, reply, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    if reply == 0 {
        copy_bidirectional(&mut stream, &mut TcpStream::connect(to).await?).await?;
    }
    Ok(())
}

/// Bytes with their number before them.
async fn bytes(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut read = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut read).await?;
    Ok(read)
}

fn through(proxy: &str, names: Arc<Names>) -> Fetcher {
    let variable = |name: &str| (name == "ALL_PROXY").then(|| proxy.to_owned());
    let setup = WebSetup { proxies: Proxies::from_variables(variable), ..WebSetup::default() };
    Fetcher::resolving(setup, names)
}

#[tokio::test]
async fn the_proxy_is_told_the_name_and_nobody_else_is_asked() {
    for scheme in ["socks5", "socks5h"] {
        let site = site([html("through socks")]);
        let proxy = Socks::start(site.addr(), Manners::Open).await;
        let names = Names::new(&[&["93.184.216.34"]]);
        let fetcher = through(&format!("{scheme}://{}", proxy.addr), Arc::clone(&names));
        assert_eq!(page(&fetcher, "http://docs.example:8080/a?b").await.text, "through socks");
        assert_eq!(proxy.asked(), ["name docs.example 8080"], "{scheme}");
        assert_eq!(names.count(), 0, "a name that is asked for here is known here");
        // The proxy carries bytes; the request is the site's.
        let request = &site.requests()[0];
        assert_eq!((request.target.as_str(), request.header("host")), ("/a?b", Some("docs.example:8080")));
        assert_eq!(request.header("proxy-authorization"), None);
    }
}

#[tokio::test]
async fn public_addresses_are_told_as_such() {
    let site = site([html("four"), html("six")]);
    let proxy = Socks::start(site.addr(), Manners::Open).await;
    let fetcher = through(&format!("socks5://{}", proxy.addr), Names::new(&[]));
    assert_eq!(page(&fetcher, "http://93.184.216.34/").await.text, "four");
    assert_eq!(page(&fetcher, "http://[2606:4700::1111]:81/").await.text, "six");
    assert_eq!(proxy.asked(), ["v4 93.184.216.34 80", "v6 2606:4700::1111 81"]);
}

#[tokio::test]
async fn secure_pages_are_secure_with_the_site_itself() {
    let authority = Authority::new().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    let play = Conversation::new([Step::ReadRequest, Step::Send(html("secure"))]);
    let site = Peer::start_tls(vec![play], &authority.server().unwrap()).unwrap();
    let proxy = Socks::start(site.addr(), Manners::Password).await;
    let proxies = Proxies::only(Secret::new(format!("socks5h://me:pw@{}", proxy.addr)));
    let setup = WebSetup { proxies, ca: Some(file.path().to_owned()), ..WebSetup::default() };
    let fetcher = Fetcher::resolving(setup, Names::new(&[]));
    assert_eq!(page(&fetcher, "https://api.example.test/").await.text, "secure");
    assert_eq!(proxy.asked(), ["name api.example.test 443"]);
}

/// Only the proxy knows where a name leads, so that a name is all that can be judged; what is an address, in whatever spelling, or
/// is the name of a local network, is refused before the proxy hears of it.
#[tokio::test]
async fn a_socks_proxy_is_no_way_round_the_guards() {
    let site = site([html("where the proxy led")]);
    let proxy = Socks::start(site.addr(), Manners::Open).await;
    let fetcher = through(&format!("socks5h://{}", proxy.addr), Names::new(&[&["127.0.0.1"]]));
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "0xa.1",
        "172.16.0.1",
        "192.168.0.1",
        "3232235521",
        "169.254.169.254",
        "0xa9fea9fe",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "metadata",
        "metadata.google.internal",
        "printer.local",
        "router.lan",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}/");
            let fault = fetch(&fetcher, &url).await.unwrap_err();
            assert!(matches!(fault, WebFault::Private { .. }), "{url}: {fault}");
        }
    }
    assert_eq!(proxy.asked(), [""; 0]);
    assert_eq!(page(&fetcher, "http://leads.inside.example/").await.text, "where the proxy led");
}

#[tokio::test]
async fn a_redirect_through_the_proxy_is_judged_anew() {
    let site = site([redirect(302, "http://127.1:80/"), redirect(302, "//docs.example:99999/")]);
    let proxy = Socks::start(site.addr(), Manners::Open).await;
    let fetcher = through(&format!("socks5h://{}", proxy.addr), Names::new(&[]));
    let went = fetch(&fetcher, "http://docs.example/").await;
    assert!(!matches!(went, Ok(rail_web::Fetched::Page(_))), "another host is not asked");
    assert!(fetch(&fetcher, "http://docs.example/b").await.is_err());
    assert_eq!(proxy.asked(), ["name docs.example 80", "name docs.example 80"]);
}

#[tokio::test]
async fn a_socks_proxy_that_refuses_says_why() {
    let site = site([]);
    let said = |proxy: String| async move {
        let fault = fetch(&through(&proxy, Names::new(&[])), "http://docs.example/").await.unwrap_err();
        assert!(!fault.to_string().contains("secret"), "{fault}");
        fault.to_string()
    };
    let refuses = Socks::start(site.addr(), Manners::Refuses(2)).await;
    insta::assert_snapshot!(said(format!("socks5://{}", refuses.addr)).await, @"`docs.example:80` can't be reached: the proxy: SOCKS error: connection not allowed; try again, or take another source");
    let refuses = Socks::start(site.addr(), Manners::Refuses(5)).await;
    insta::assert_snapshot!(said(format!("socks5://{}", refuses.addr)).await, @"`docs.example:80` can't be reached: the proxy: SOCKS error: connection refused; try again, or take another source");
    let closed = Socks::start(site.addr(), Manners::Password).await;
    insta::assert_snapshot!(said(format!("socks5://{}", closed.addr)).await, @"`docs.example:80` can't be reached: the proxy: it wants a password; write it into its address; try again, or take another source");
    insta::assert_snapshot!(said(format!("socks5://me:secret@{}", closed.addr)).await, @"`docs.example:80` can't be reached: the proxy: SOCKS error: credentials not accepted; try again, or take another source");
    assert_eq!(closed.asked(), [""; 0]);
}

/// An address of a proxy that can't be read must not mean that there is none: who names one does not want to be seen without it.
#[tokio::test]
async fn a_proxy_that_could_not_be_read_was_no_proxy() {
    for proxy in [
        "socks4://me:secret@127.0.0.1:1080",
        "gopher://127.0.0.1:1",
        "socks5://",
        "http://[::1",
        "socks5://a b",
    ] {
        for variable in ["HTTP_PROXY", "ALL_PROXY"] {
            for no in [None, Some("other.example")] {
                let variables = |name: &str| match name {
                    _ if name == variable => Some(proxy.to_owned()),
                    "NO_PROXY" => no.map(str::to_owned),
                    _ => None,
                };
                let setup = WebSetup { proxies: Proxies::from_variables(variables), ..WebSetup::default() };
                let names = Names::new(&[&["93.184.216.34"]]);
                let fetcher = Fetcher::resolving(setup, Arc::clone(&names) as Arc<_>);
                let fault = fetch(&fetcher, "http://docs.example/").await.unwrap_err();
                assert!(matches!(fault, WebFault::Misconfigured(_)), "{variable}={proxy}: {fault}");
                assert!(!fault.to_string().contains("secret"), "{fault}");
                assert_eq!(names.count(), 0, "{variable}={proxy}");
            }
        }
    }
}

#[tokio::test]
async fn hosts_without_a_proxy_are_judged_by_their_addresses() {
    let proxy = Socks::start(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1), Manners::Open).await;
    let variables = |name: &str| match name {
        "ALL_PROXY" => Some(format!("socks5h://{}", proxy.addr)),
        "NO_PROXY" => Some("inside.example".to_owned()),
        _ => None,
    };
    let setup = WebSetup { proxies: Proxies::from_variables(variables), ..WebSetup::default() };
    let fetcher = Fetcher::resolving(setup, Names::new(&[&["10.0.0.1"]]));
    let fault = fetch(&fetcher, "http://leads.inside.example/").await.unwrap_err();
    assert!(matches!(fault, WebFault::Private { .. }), "{fault}");
    assert_eq!(proxy.asked(), [""; 0]);
}
