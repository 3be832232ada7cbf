//! A scripted site, and a fetcher that may speak with it.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use rail_testkit::{Conversation, Peer, Step, http_head, http_whole};
use rail_web::{Allowed, BoxFuture, Fetched, Fetcher, Page, Place, Resolve, WebFault, WebSetup};

/// A site that gives these answers, one for each connection.
pub(crate) fn site(answers: impl IntoIterator<Item = Vec<u8>>) -> Peer {
    let conversation = |answer| Conversation::new([Step::ReadRequest, Step::Send(answer)]);
    Peer::start(answers.into_iter().map(conversation).collect()).unwrap()
}

pub(crate) fn html(body: &str) -> Vec<u8> {
    http_whole(200, "text/html; charset=utf-8", body)
}

pub(crate) fn redirect(status: u16, to: &str) -> Vec<u8> {
    http_head(status, &[("location", to), ("content-length", "0")])
}

/// What a fetcher is told that may speak with these sites alone.
pub(crate) fn setup(sites: &[&Peer]) -> WebSetup {
    let allowed = Allowed::parse(sites.iter().map(|site| site.addr().to_string())).unwrap();
    WebSetup { allowed, ..WebSetup::default() }
}

pub(crate) fn fetcher(sites: &[&Peer]) -> Fetcher {
    Fetcher::new(setup(sites))
}

pub(crate) async fn fetch(fetcher: &Fetcher, url: &str) -> Result<Fetched, WebFault> {
    fetcher.fetch(&Place::parse(url).unwrap()).await
}

/// The page of an address.
pub(crate) async fn page(fetcher: &Fetcher, url: &str) -> Arc<Page> {
    match fetch(fetcher, url).await.unwrap() {
        Fetched::Page(page) => page,
        Fetched::Elsewhere { from, to } => panic!("{from} sends on to {to}"),
    }
}

/// What is said where there is no page; `{port}` stands for the site's port.
pub(crate) async fn said(fetcher: &Fetcher, site: &Peer, url: &str) -> String {
    let fault = fetch(fetcher, url).await.unwrap_err().to_string();
    fault.replace(&site.addr().port().to_string(), "{port}")
}

/// Names with the addresses that each next question gets; the last stays.
pub(crate) struct Names {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parsed = |list: &&[&str]| list.iter().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self {
            answers: Mutex::new(answers.iter().rev().map(parsed).collect()),
            asked: Mutex::default(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop() } else { answers.last().cloned() };
        let answer = answer.ok_or_else(|| io::Error::other("no such name"));
        Box::pin(std::future::ready(answer))
    }
}
