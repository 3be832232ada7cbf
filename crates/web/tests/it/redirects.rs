//! Where a page sends on to.

use rail_testkit::Peer;
use rail_web::Fetched;

use crate::site::{fetch, fetcher, html, page, redirect, said, site};

#[tokio::test]
async fn the_same_host_is_followed() {
    let statuses = [301, 302, 303, 307, 308];
    let answers =
        statuses.iter().enumerate().map(|(nth, status)| redirect(*status, &format!("/step{nth}?a=b#c")));
    let site = site(answers.chain([html("<h1>There</h1>")]));
    let page = page(&fetcher(&[&site]), &site.url("/start")).await;
    assert_eq!((page.text.as_str(), page.url.as_str()), ("# There", site.url("/step4?a=b").as_str()));
    let targets: Vec<String> = site.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/start", "/step0?a=b", "/step1?a=b", "/step2?a=b", "/step3?a=b", "/step4?a=b"]);
}

#[tokio::test]
async fn another_host_is_reported_and_not_asked() {
    let other = Peer::start(Vec::new()).unwrap();
    for to in [
        format!("http://localhost:{}/x", other.addr().port()),
        format!("//localhost:{}/x", other.addr().port()),
        "https://www.example.com/next".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://0x7f.2/".to_owned(),
    ] {
        let site = site([redirect(302, &to)]);
        let fetched = fetch(&fetcher(&[&site, &other]), &site.url("/a")).await.unwrap();
        let Fetched::Elsewhere { from, to: reported } = fetched else { panic!("{to} was followed") };
        assert_eq!(from, site.url("/a"));
        assert_eq!(
            reported,
            to.replace("//localhost", "http://localhost")
                .replace("http:http:", "http:")
                .replace("0x7f.2", "127.0.0.2")
        );
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn the_same_host_at_another_port_is_judged_again() {
    let other = Peer::start(Vec::new()).unwrap();
    let site = site([redirect(302, &other.url("/private"))]);
    let said = fetch(&fetcher(&[&site]), &site.url("/")).await.unwrap_err().to_string();
    assert!(
        said.starts_with(&format!("`{}` is not fetched: it leads to this machine", other.addr())),
        "{said}"
    );
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn what_is_not_followed_says_why() {
    let site = site([
        redirect(302, "file:///etc/passwd"),
        redirect(302, "javascript:alert(1)"),
        redirect(302, "http://me:secret@127.0.0.1/"),
        redirect(302, "http://[broken/"),
        redirect(302, "/a"),
        rail_testkit::http_head(301, &[("content-length", "0")]),
    ]);
    let (fetcher, url) = (fetcher(&[&site]), site.url("/a"));
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on to `file:///etc/passwd`, which is not followed: `file:` addresses are not fetched; only `http://` and `https://` are");
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on to `javascript:alert(1)`, which is not followed: `javascript:` addresses are not fetched; only `http://` and `https://` are");
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on to `http://me:secret@127.0.0.1/`, which is not followed: the address holds a user name or a password, which are never sent; leave out what stands before the `@`");
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on to `http://[broken/`, which is not followed: `http://[broken/` is no address of the web (invalid IPv6 address); write it whole, such as `https://example.com/page`");
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on in a circle, or more than 5 times; take another source");
    insta::assert_snapshot!(said(&fetcher, &site, &url).await, @"`http://127.0.0.1:{port}/a` sends on to ``, which is not followed: it does not say where to");
}

#[tokio::test]
async fn a_site_that_sends_on_and_on_ends() {
    let site = site((0..6).map(|nth| redirect(302, &format!("/{nth}"))));
    let said = said(&fetcher(&[&site]), &site, &site.url("/a")).await;
    assert!(said.contains("more than 5 times"), "{said}");
    assert_eq!(site.connections(), 6);
}
