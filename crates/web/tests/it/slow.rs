//! Sites that take their time, on a clock of the test's own.

use std::time::Duration;

use rail_testkit::{Conversation, Peer, Step, http_head};
use rail_web::{Fetcher, Limits, Place, WebSetup};

use crate::site::setup;

fn chunked() -> Step {
    Step::Send(http_head(200, &[("content-type", "text/html"), ("content-length", "1000")]))
}

/// What is said once the site has come to the mark `slow` and time goes on.
async fn said(site: Peer, limits: Limits) -> String {
    let fetcher = Fetcher::new(WebSetup { limits, ..setup(&[&site]) });
    let place = Place::parse(&site.url("/")).unwrap();
    let fetching = fetcher.fetch(&place);
    tokio::pin!(fetching);
    let site = tokio::select! {
        biased;
        fetched = &mut fetching => panic!("the site is slow, but {fetched:?}"),
        site = tokio::task::spawn_blocking(move || { site.wait_for("slow"); site }) => site.unwrap(),
    };
    // From here on time goes to the next limit as soon as there is nothing else to do.
    tokio::time::pause();
    let said = fetching.await.unwrap_err().to_string();
    tokio::time::resume();
    // Nothing is left behind: the connection is gone.
    let said = said.replace(&site.addr().port().to_string(), "{port}");
    tokio::task::spawn_blocking(move || _ = site.client_left(0)).await.unwrap();
    said
}

fn site(steps: impl IntoIterator<Item = Step>) -> Peer {
    Peer::start(vec![Conversation::new([Step::ReadRequest].into_iter().chain(steps))]).unwrap()
}

#[tokio::test]
async fn a_site_that_never_answers() {
    let said = said(site([Step::Reached("slow"), Step::Stall]), Limits::default()).await;
    insta::assert_snapshot!(said, @"`http://127.0.0.1:{port}/` took too long: no answer began within 30s; try again later, or take another source");
}

#[tokio::test]
async fn a_head_that_never_ends() {
    let steps = [Step::Send(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec()), Step::Reached("slow"), Step::Stall];
    let said = said(site(steps), Limits::default()).await;
    insta::assert_snapshot!(said, @"`http://127.0.0.1:{port}/` took too long: no answer began within 30s; try again later, or take another source");
}

#[tokio::test]
async fn a_page_that_stops() {
    let steps = [chunked(), Step::Send(b"<p>text".to_vec()), Step::Reached("slow"), Step::Stall];
    let said = said(site(steps), Limits::default()).await;
    insta::assert_snapshot!(said, @"`http://127.0.0.1:{port}/` took too long: the page did not go on within 15s; try again later, or take another source");
}

#[tokio::test]
async fn a_page_that_comes_byte_by_byte_ends_at_the_limit_of_all() {
    let drops = (0..50).map(|_| Step::Send(b"x".to_vec()));
    let steps = [chunked()].into_iter().chain(drops).chain([Step::Reached("slow"), Step::Stall]);
    let limits = Limits { total: Duration::from_secs(5), ..Limits::default() };
    let said = said(site(steps), limits).await;
    insta::assert_snapshot!(said, @"`http://127.0.0.1:{port}/` took too long: the page did not go on within 5s; try again later, or take another source");
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_ends() {
    let site = site([chunked(), Step::Reached("begun"), Step::Stall]);
    let fetcher = Fetcher::new(setup(&[&site]));
    let place = Place::parse(&site.url("/")).unwrap();
    let site = tokio::select! {
        biased;
        fetched = fetcher.fetch(&place) => panic!("the site is slow, but {fetched:?}"),
        site = tokio::task::spawn_blocking(move || { site.wait_for("begun"); site }) => site.unwrap(),
    };
    tokio::task::spawn_blocking(move || _ = site.client_left(0)).await.unwrap();
}
