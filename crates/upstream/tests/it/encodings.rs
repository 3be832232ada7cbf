//! Answers that come packed, although nobody asked for it.

use std::io::Write;

use rail_testkit::{Conversation, Peer, Step, chunk, http_head, last_chunk};
use rail_upstream::Transport;

use crate::calls::{hello, live, pieces, problem, provider, text};

const LINE: &str = "data: {\"delta\":\"word after word after word, and so on and on\"}\n\n";
const BROTLI: &str = "1bbf00402c0eecc66e2788f9121c75e9ed6a2ddf14e62a6caf457440fa3688080bd970830d38606fb175b25917a4c143b66f425448024cd2942d01bd8bc61ab7d169bd1a00";
const ZSTD: &str = "28b52ffd0468a50100c282090fc0eb7ba2b582862c064ec025841c1600acdad9f10e6f66a019889837972a6a54c6ab288cfc03007d08a9b4087e77650cf32f4761";

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(encoding: &str, body: &[u8]) -> Peer {
    let length = body.len().to_string();
    let head =
        http_head(200, &[("content-encoding", encoding), ("content-length", &length), ("x-kept", "1")]);
    let steps = [Step::ReadRequest, Step::Send([&head, body].concat()), Step::Stall];
    Peer::start(vec![Conversation::new(steps)]).unwrap()
}

#[tokio::test]
async fn answers_are_unpacked() {
    for (encoding, body) in [
        ("gzip", gzip(LINE.repeat(3).as_bytes())),
        ("br", hex(BROTLI)),
        ("zstd", hex(ZSTD)),
        ("zstd, gzip", gzip(&hex(ZSTD))),
        ("identity", LINE.repeat(3).into_bytes()),
    ] {
        let peer = packed(encoding, &body);
        let answer = live().send(hello(&provider(&peer.url("")))).await.unwrap();
        if encoding != "identity" {
            assert_eq!(answer.headers, [("x-kept".to_owned(), "1".to_owned())], "{encoding}");
        }
        assert_eq!(text(answer).await, LINE.repeat(3), "{encoding}");
    }
}

#[tokio::test]
async fn a_packed_stream_comes_as_it_is_flushed() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(LINE.as_bytes()).unwrap();
    encoder.flush().unwrap();
    let first = std::mem::take(encoder.get_mut());
    encoder.write_all(b"data: [DONE]\n\n").unwrap();
    let rest = encoder.finish().unwrap();
    let head = http_head(200, &[("content-encoding", "gzip"), ("transfer-encoding", "chunked")]);
    let steps = [
        Step::ReadRequest,
        Step::Send(head),
        Step::Send(chunk(first)),
        Step::Gate("rest"),
        Step::Send(chunk(rest)),
        Step::Send(last_chunk()),
        Step::Stall,
    ];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let live = live();
    let mut answer = live.send(hello(&provider(&peer.url("")))).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), LINE);
    peer.open("rest");
    assert_eq!(pieces(answer).await.0.concat(), b"data: [DONE]\n\n");
}

#[tokio::test]
async fn damaged_answers() {
    let whole = gzip(LINE.as_bytes());
    let cut = packed("gzip", &whole[..whole.len() - 9]);
    insta::assert_snapshot!(problem(&live(), hello(&provider(&cut.url("")))).await, @"Encoding: 127.0.0.1:PORT (provider `test`): the answer ended in the middle of its gzip compression; try again, and if it stays look for a proxy on the way that packs answers");
    let none = packed("gzip", LINE.as_bytes());
    insta::assert_snapshot!(problem(&live(), hello(&provider(&none.url("")))).await, @"Encoding: 127.0.0.1:PORT (provider `test`): the gzip compression of the answer is damaged; try again, and if it stays look for a proxy on the way that packs answers");
    let other = packed("compress", LINE.as_bytes());
    insta::assert_snapshot!(problem(&live(), hello(&provider(&other.url("")))).await, @"Encoding: 127.0.0.1:PORT (provider `test`): the answer is packed in a way that was not asked for and can't be read; try again, and if it stays look for a proxy on the way that packs answers");
}
