//! Whom we trust.

use std::path::Path;

use rail_route::Provider;
use rail_testkit::{Authority, Conversation, Models, Peer, ServerCert, Step, http_whole};
use rail_upstream::Transport;

use crate::calls::{self, ask, hello, live, problem, text};

fn answering(cert: &ServerCert) -> Peer {
    let steps = [Step::ReadRequest, Step::Send(http_whole(200, "application/json", "{}")), Step::Stall];
    Peer::start_tls(vec![Conversation::new(steps)], cert).unwrap()
}

fn trusting(url: &str, authority: &Authority, folder: &Path) -> Provider {
    let file = folder.join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    Provider { ca: Some(file), ..calls::provider(url) }
}

#[tokio::test]
async fn an_authority_of_ones_own() {
    let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
    let peer = answering(&authority.server().unwrap());
    let provider = trusting(&peer.url(""), &authority, folder.path());
    assert_eq!(text(live().send(hello(&provider)).await.unwrap()).await, "{}");
    let models = Models::start_tls(vec![], &authority.server().unwrap()).unwrap();
    let provider = trusting(&models.url("/v1"), &authority, folder.path());
    let mut call = ask(&provider, "/models", "");
    call.method = "GET".to_owned();
    assert!(text(live().send(call).await.unwrap()).await.contains("scripted-model"));
}

#[tokio::test]
async fn authorities_that_nobody_named() {
    let authority = Authority::new().unwrap();
    let peer = answering(&authority.server().unwrap());
    let said = problem(&live(), hello(&calls::provider(&peer.url("")))).await;
    insta::assert_snapshot!(said, @"Tls: the certificate of 127.0.0.1:PORT is not trusted: nobody known has signed it; if it is your company's or your own server's authority, set `providers.test.ca` to its PEM file");
    // Another one does not help.
    let (other, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
    let peer = answering(&authority.server().unwrap());
    let again = problem(&live(), hello(&trusting(&peer.url(""), &other, folder.path()))).await;
    assert_eq!(again, said);
}

#[tokio::test]
async fn certificates_that_are_not_good() {
    let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
    let peer = answering(&authority.expired().unwrap());
    let said = problem(&live(), hello(&trusting(&peer.url(""), &authority, folder.path()))).await;
    insta::assert_snapshot!(said, @"Tls: the certificate of 127.0.0.1:PORT is not trusted: it has expired; renew it there, or set this machine's clock right");
    let peer = answering(&authority.wrong_name().unwrap());
    let said = problem(&live(), hello(&trusting(&peer.url(""), &authority, folder.path()))).await;
    insta::assert_snapshot!(said, @"Tls: the certificate of 127.0.0.1:PORT is not trusted: it is for another name; write the name that it is for in `providers.test.base_url`");
}

#[tokio::test]
async fn a_file_of_authorities_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut provider = calls::provider("https://127.0.0.1:9");
    provider.ca = Some(folder.path().join("ca.pem"));
    let said = problem(&live(), hello(&provider)).await;
    insta::assert_snapshot!(said.replace(&folder.path().display().to_string(), "FOLDER"), @"Tls: `providers.test.ca`: the certificates in FOLDER/ca.pem can't be used: No such file or directory (os error 2); give a PEM file");
}

#[tokio::test]
async fn plain_http_where_tls_is_due_and_the_other_way_round() {
    let steps = [Step::ReadRequest, Step::Send(http_whole(200, "text/plain", "x")), Step::Close];
    // The greeting of TLS is no request; what a plain server says to it is not TLS.
    let plain =
        Peer::start(vec![Conversation::new([Step::Send(http_whole(400, "text/plain", "no")), Step::Stall])])
            .unwrap();
    let url = format!("https://{}", plain.addr());
    insta::assert_snapshot!(problem(&live(), hello(&calls::provider(&url))).await, @"Tls: 127.0.0.1:PORT does not speak TLS: if it is a plain HTTP server, write `http://` in `providers.test.base_url`");

    let authority = Authority::new().unwrap();
    let secure = Peer::start_tls(vec![Conversation::new(steps)], &authority.server().unwrap()).unwrap();
    let url = format!("http://{}", secure.addr());
    insta::assert_snapshot!(problem(&live(), hello(&calls::provider(&url))).await, @"Broken: 127.0.0.1:PORT does not answer in HTTP; check `providers.test.base_url`, its `http://` or `https://` too");
}
