//! Who is spoken with.

use rail_testkit::{Authority, Conversation, Peer, Step};
use rail_web::{Allowed, Fetcher, WebFault, WebSetup};

use crate::site::{Names, fetch, fetcher, html, page, redirect, said, setup, site};

#[tokio::test]
async fn private_addresses_in_every_spelling_are_refused() {
    let site = Peer::start(Vec::new()).unwrap();
    let port = site.addr().port();
    let fetcher = fetcher(&[]);
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "①②⑦.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "LOCALHOST.",
        "sub.localhost",
        "0.0.0.0",
        "0",
        "[::]",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "100.100.100.200",
        "metadata.google.internal",
        "printer.local",
        "intranet",
    ] {
        let fault = fetch(&fetcher, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(fault, WebFault::Private { .. }), "{host}: {fault}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn only_what_is_allowed_is_asked() {
    let (site, other) = (site([html("one"), html("two")]), Peer::start(Vec::new()).unwrap());
    let fetcher = fetcher(&[&site]);
    assert_eq!(page(&fetcher, &site.url("/")).await.text, "one");
    let mapped = format!("http://[::ffff:127.0.0.1]:{}/x", other.addr().port());
    assert!(matches!(fetch(&fetcher, &mapped).await, Err(WebFault::Private { .. })));
    insta::assert_snapshot!(said(&fetcher, &other, &other.url("/")).await, @"`127.0.0.1:{port}` is not fetched: it leads to this machine; only the user can allow that, by `allow_private` under [web] in the configuration");
    assert_eq!(other.connections(), 0);
    // Another spelling of what is allowed is allowed as well.
    let odd = format!("http://0x7f.1:{}/x", site.addr().port());
    assert_eq!(page(&fetcher, &odd).await.text, "two");
}

#[tokio::test]
async fn a_name_is_resolved_once_and_what_was_judged_is_connected_to() {
    let site = site([html("judged"), redirect(302, "/again")]);
    let port = site.addr().port();
    // The name leads to the site twice, and to somewhere else from then on.
    let names = Names::new(&[&["127.0.0.1"], &["127.0.0.1"], &["127.0.0.2"]]);
    let fetcher = Fetcher::resolving(setup(&[&site]), names.clone());
    assert_eq!(page(&fetcher, &format!("http://rebinding.example:{port}/")).await.text, "judged");
    assert_eq!(names.count(), 1);
    assert_eq!(site.requests()[0].header("host"), Some(format!("rebinding.example:{port}").as_str()));
    // A redirect is a new connection: its name is resolved and judged anew.
    let fault = fetch(&fetcher, &format!("http://rebinding.example:{port}/next")).await.unwrap_err();
    insta::assert_snapshot!(fault, @"`rebinding.example (127.0.0.2)` is not fetched: it leads to this machine; only the user can allow that, by `allow_private` under [web] in the configuration");
    assert_eq!((names.count(), site.connections()), (3, 2));
}

#[tokio::test]
async fn a_private_address_among_others_spoils_them_all() {
    let site = Peer::start(Vec::new()).unwrap();
    for among in
        [&["127.0.0.1", "10.0.0.1"][..], &["10.0.0.1", "127.0.0.1"], &["127.0.0.1", "::ffff:10.0.0.1"]]
    {
        let fetcher = Fetcher::resolving(setup(&[&site]), Names::new(&[among]));
        let fault =
            fetch(&fetcher, &format!("http://mixed.example:{}/", site.addr().port())).await.unwrap_err();
        assert!(matches!(fault, WebFault::Private { .. }), "{among:?}: {fault}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_name_that_is_allowed_counts_wherever_it_leads() {
    let site = site([html("inside")]);
    let allowed = Allowed::parse([format!("wiki.corp:{}", site.addr().port())]).unwrap();
    let setup = WebSetup { allowed, ..WebSetup::default() };
    let fetcher = Fetcher::resolving(setup, Names::new(&[&["127.0.0.1"]]));
    assert_eq!(page(&fetcher, &format!("http://wiki.corp:{}/", site.addr().port())).await.text, "inside");
    let fault = fetch(&fetcher, &format!("http://other.corp:{}/", site.addr().port())).await.unwrap_err();
    assert!(matches!(fault, WebFault::Private { .. }), "{fault}");
}

#[tokio::test]
async fn secure_sites_are_checked_by_the_name_that_was_asked_for() {
    let authority = Authority::new().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    let play = || Conversation::new([Step::ReadRequest, Step::Send(html("secure"))]);
    let down =
        Conversation::new([Step::ReadRequest, Step::Send(redirect(301, "http://api.example.test/plain"))]);
    let site = Peer::start_tls(vec![play(), down], &authority.server().unwrap()).unwrap();
    let wrong = Peer::start_tls(vec![play()], &authority.wrong_name().unwrap()).unwrap();
    let setup = WebSetup { ca: Some(file.path().to_owned()), ..setup(&[&site, &wrong]) };
    let fetcher = Fetcher::resolving(setup, Names::new(&[&["127.0.0.1"]]));
    let url = |peer: &Peer, path: &str| format!("https://api.example.test:{}{path}", peer.addr().port());
    assert_eq!(page(&fetcher, &url(&site, "/")).await.text, "secure");
    let down = said(&fetcher, &site, &url(&site, "/down")).await;
    insta::assert_snapshot!(down, @"`https://api.example.test:{port}/down` sends on to `http://api.example.test/plain`, which is not followed: it would leave the secure connection; ask for it by itself if you need it");
    let said = said(&fetcher, &wrong, &url(&wrong, "/")).await;
    assert!(said.contains("no secure connection: invalid peer certificate"), "{said}");
}

#[tokio::test]
async fn nobody_there_and_no_such_name() {
    let nobody = rail_testkit::refused_addr().unwrap();
    let setup = WebSetup { allowed: Allowed::parse([nobody.to_string()]).unwrap(), ..WebSetup::default() };
    let fetcher = Fetcher::resolving(setup, Names::new(&[]));
    let fault = fetch(&fetcher, &format!("http://{nobody}/")).await.unwrap_err().to_string();
    assert!(fault.contains("can't be reached: Connection refused"), "{fault}");
    let fault = fetch(&fetcher, "https://nowhere.example/").await.unwrap_err();
    insta::assert_snapshot!(fault, @"`nowhere.example` can't be found (no such name); check its spelling, or look for the page with a search");
}
