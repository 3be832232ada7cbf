//! What comes of the bytes that a site sends.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rail_testkit::{Conversation, Peer, Step, chunk, http_head, http_whole};
use rail_web::{Fetcher, Kind, Limits, WebSetup};

use crate::site::{fetcher, html, page, said, setup, site};

fn small(site: &Peer) -> Fetcher {
    let limits = Limits { body_bytes: 100_000, unpacked_bytes: 1 << 20, chars: 1_000, ..Limits::default() };
    Fetcher::new(WebSetup { limits, ..setup(&[site]) })
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    let head = [("content-type", "text/html"), ("content-encoding", encoding), ("content-length", &length)];
    [http_head(200, &head).as_slice(), body].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn an_endless_page_ends_at_the_limit() {
    let head = http_head(200, &[("content-type", "text/plain"), ("transfer-encoding", "chunked")]);
    let piece = chunk("word ".repeat(4_000));
    let steps = [Step::ReadRequest, Step::Send(head)].into_iter();
    let endless = steps.chain((0..64).map(|_| Step::Send(piece.clone()))).chain([Step::Stall]);
    let site = Peer::start(vec![Conversation::new(endless)]).unwrap();
    let page = page(&small(&site), &site.url("/")).await;
    assert_eq!((page.bytes, page.text.len(), page.cut), (100_000, 1_000, true));
    // The runtime closes the connection, so the test's thread must not be held meanwhile.
    tokio::task::spawn_blocking(move || _ = site.client_left(0)).await.unwrap();
}

#[tokio::test]
async fn a_huge_page_is_cut_and_says_so() {
    let site = site([html(&format!("<p>{}</p>", "word ".repeat(30_000)))]);
    let page = page(&small(&site), &site.url("/")).await;
    assert!(page.cut && page.text.starts_with("word word") && page.text.chars().count() == 1_000);
}

#[tokio::test]
async fn packed_pages_are_read_and_bombs_are_not() {
    let zeros = gzip(&vec![b' '; 8 << 20]);
    let zstd = ruzstd::encoding::compress_to_vec(
        vec![b' '; 8 << 20].as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let mut cut = gzip(&b"<p>text</p>".repeat(1_000));
    cut.truncate(cut.len() / 2);
    let site = site([
        packed("gzip", &gzip(b"<p>unpacked</p>")),
        packed("br", b"\x8b\x06\x80Hello, brotli!\x03"),
        packed("gzip", &zeros),
        packed("gzip, gzip", &gzip(&zeros)),
        packed("zstd", &zstd),
        packed("br", BOMB),
        packed("gzip", &cut),
        packed("gzip", b"no gzip at all"),
        packed("secret-sauce", b"x"),
    ]);
    let fetcher = small(&site);
    assert_eq!(page(&fetcher, &site.url("/gzip")).await.text, "unpacked");
    assert_eq!(page(&fetcher, &site.url("/br")).await.text, "Hello, brotli!");
    for _ in 0..4 {
        let said = said(&fetcher, &site, &site.url("/bomb")).await;
        assert!(said.contains("it unpacks to more than 1048576 bytes"), "{said}");
    }
    insta::assert_snapshot!(said(&fetcher, &site, &site.url("/cut")).await, @"`http://127.0.0.1:{port}/cut` can't be read: its gzip compression is damaged or was cut short; try again, or take another source");
    insta::assert_snapshot!(said(&fetcher, &site, &site.url("/none")).await, @"`http://127.0.0.1:{port}/none` can't be read: its gzip compression is damaged or was cut short; try again, or take another source");
    insta::assert_snapshot!(said(&fetcher, &site, &site.url("/other")).await, @"`http://127.0.0.1:{port}/other` can't be read: it is compressed in a way that was not asked for and can't be read; try again, or take another source");
    assert_eq!(site.requests()[0].header("accept-encoding"), Some("gzip, deflate, br, zstd"));
}

/// Four MiB of blanks, as Node's zlib packs them.
const BOMB: &[u8] = &[155, 255, 255, 63, 248, 37, 64, 226, 177, 64, 32, 247, 254, 7];

#[tokio::test]
async fn charsets_whatever_the_label_says() {
    let chinese = "软件工程师需要阅读大量的文档，才能理解系统的工作方式。";
    let japanese = "ソフトウェアの開発では、文書を読むことがとても大切です。";
    let utf_16: Vec<u8> =
        std::iter::once(0xfeff).chain(japanese.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let meta = format!("<meta charset=Shift_JIS><p>{japanese}</p>");
    let site = site([
        http_whole(200, "text/plain; charset=utf-8", encoding_rs::GBK.encode(chinese).0),
        http_whole(200, "text/plain; charset=utf-8", utf_16),
        http_whole(200, "text/html", encoding_rs::SHIFT_JIS.encode(&meta).0),
        http_whole(200, "text/html; charset=\"ISO-8859-1\"", format!("<p>{chinese}")),
    ]);
    let fetcher = fetcher(&[&site]);
    for (path, text, encoding) in [
        ("/gbk", chinese, Some("GBK")),
        ("/utf-16", japanese, Some("UTF-16BE")),
        ("/shift-jis", japanese, Some("Shift_JIS")),
        ("/mislabelled", chinese, None),
    ] {
        let page = page(&fetcher, &site.url(path)).await;
        assert_eq!((page.text.as_str(), page.encoding), (text, encoding), "{path}");
    }
}

#[tokio::test]
async fn what_is_no_page_is_described() {
    let site = site([
        http_whole(200, "application/pdf", "%PDF-1.7 ..."),
        http_whole(200, "application/octet-stream", "%PDF-1.7 ..."),
        http_whole(200, "image/png", b"\x89PNG\r\n\x1a\n0000"),
        http_whole(200, "text/html", b"\x89PNG\r\n\x1a\n0000"),
        http_whole(200, "video/mp4", "0000"),
        http_whole(200, "text/plain", vec![0_u8; 100]),
        http_whole(200, "application/json", r#"{"a": "<b>"}"#),
        http_whole(200, "text/markdown", "# a\n<b>"),
        http_whole(200, "application/rss+xml", "<rss/>"),
        http_whole(200, "text/plain", "<!DOCTYPE html><p>a"),
        http_whole(200, "", "<html><p>a"),
        http_whole(200, "application/x-unheard-of", "words"),
        http_head(204, &[]),
    ]);
    let fetcher = fetcher(&[&site]);
    for (nth, (kind, text)) in [
        (Kind::Pdf, ""),
        (Kind::Pdf, ""),
        (Kind::Image, ""),
        (Kind::Image, ""),
        (Kind::Binary, ""),
        (Kind::Binary, ""),
        (Kind::Text, r#"{"a": "<b>"}"#),
        (Kind::Text, "# a\n<b>"),
        (Kind::Text, "<rss/>"),
        (Kind::Html, "a"),
        (Kind::Html, "a"),
        (Kind::Text, "words"),
        (Kind::Text, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let page = page(&fetcher, &site.url(&format!("/{nth}"))).await;
        assert_eq!((page.kind, page.text.as_str()), (kind, text), "{nth}");
    }
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let head = |status: u16, after: &str| {
        http_head(
            status,
            &[("content-length", "0"), ("retry-after", after)][..if after.is_empty() { 1 } else { 2 }],
        )
    };
    let site = site([head(404, ""), head(403, ""), head(429, "30"), head(500, ""), head(418, "")]);
    let fetcher = fetcher(&[&site]);
    let mut all = Vec::new();
    for _ in 0..5 {
        all.push(said(&fetcher, &site, &site.url("/")).await);
    }
    insta::assert_snapshot!(all.join("\n"), @r"
    `http://127.0.0.1:{port}/` answered 404; there is no such page; check the address, or look for the page with a search
    `http://127.0.0.1:{port}/` answered 403; it does not show this page to everybody; take another source
    `http://127.0.0.1:{port}/` answered 429; it asks to try again after `30` (seconds, or a date)
    `http://127.0.0.1:{port}/` answered 500; try again later, or take another source
    `http://127.0.0.1:{port}/` answered 418; check the address, or take another source
    ");
}

#[tokio::test]
async fn what_is_no_http_says_so() {
    let play = |bytes: &[u8]| Conversation::new([Step::ReadRequest, Step::Send(bytes.to_vec())]);
    let short = http_head(200, &[("content-type", "text/html"), ("content-length", "100")]);
    let site = Peer::start(vec![play(b"SSH-2.0-x\r\n"), play(b""), play(&[short, b"<p>".to_vec()].concat())])
        .unwrap();
    let fetcher = fetcher(&[&site]);
    for why in ["invalid HTTP version", "connection closed", "end of file"] {
        let said = said(&fetcher, &site, &site.url("/")).await;
        assert!(said.contains("can't be reached") && said.contains(why), "{said}");
    }
}

#[tokio::test]
async fn a_page_is_kept_for_a_while() {
    let site = site([html("first"), html("second"), html("third"), html("fourth")]);
    let fetcher = fetcher(&[&site]);
    let (a, again) = (page(&fetcher, &site.url("/a")).await, page(&fetcher, &site.url("/a#part")).await);
    assert!(Arc::ptr_eq(&a, &again));
    assert_eq!(page(&fetcher, &site.url("/b")).await.text, "second");
    // Time stands still but for what is skipped here.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(14 * 60)).await;
    assert_eq!(page(&fetcher, &site.url("/a")).await.text, "first");
    tokio::time::advance(Duration::from_secs(2 * 60)).await;
    tokio::time::resume();
    assert_eq!(page(&fetcher, &site.url("/a")).await.text, "third");
    let limits = Limits { kept_bytes: 100, ..Limits::default() };
    let forgetful = Fetcher::new(WebSetup { limits, ..setup(&[&site]) });
    assert_eq!(page(&forgetful, &site.url("/a")).await.text, "fourth");
    assert_eq!(site.connections(), 4);
}
