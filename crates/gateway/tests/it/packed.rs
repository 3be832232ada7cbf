//! Bodies that come packed.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use crate::door::Door;
use crate::wire::{Answer, HELLO, Wire};

async fn send(door: &Door, encoding: &str, body: &[u8]) -> Answer {
    let mut wire = Wire::to(door.addr).await;
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    wire.send(head).await;
    wire.send(body).await;
    wire.answer().await.unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packing = GzEncoder::new(Vec::new(), Compression::best());
    packing.write_all(bytes).unwrap();
    packing.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packing = ZlibEncoder::new(Vec::new(), Compression::best());
    packing.write_all(bytes).unwrap();
    packing.finish().unwrap()
}

/// A zstd frame of one raw block: magic, a head that gives the size in one byte, and the block's head.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let size = u8::try_from(bytes.len()).unwrap();
    let block = u32::from(size) << 3 | 1;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, size];
    frame.extend_from_slice(&block.to_le_bytes()[..3]);
    frame.extend_from_slice(bytes);
    frame
}

/// A brotli stream of one uncompressed meta-block and an empty last one.
fn brotli(bytes: &[u8]) -> Vec<u8> {
    // WBITS 16 is `0`; ISLAST 0; MNIBBLES `00` (four nibbles); MLEN - 1 in 16 bits; ISUNCOMPRESSED 1; then to the byte's end.
    let head = u32::try_from(bytes.len() - 1).unwrap() << 4 | 1 << 20;
    let mut stream = head.to_le_bytes()[..3].to_vec();
    stream.extend_from_slice(bytes);
    // ISLAST 1, ISLASTEMPTY 1.
    stream.push(0b11);
    stream
}

#[tokio::test]
async fn packed_bodies_are_unpacked() {
    let door = Door::open("").await;
    let hello = HELLO.as_bytes();
    let cases = [
        ("gzip", gzip(hello)),
        ("deflate", zlib(hello)),
        ("zstd", zstd(hello)),
        ("br", brotli(hello)),
        ("gzip, zstd", zstd(&gzip(hello))),
        ("identity", hello.to_vec()),
    ];
    for (encoding, body) in cases {
        let answer = send(&door, encoding, &body).await;
        assert_eq!(answer.status, 200, "{encoding}: {answer:?}");
    }
}

#[tokio::test]
async fn what_can_not_be_unpacked_is_refused() {
    let door = Door::open("").await;
    let packed = gzip(HELLO.as_bytes());
    let cases: [(&str, &[u8], u16, &str); 5] = [
        ("compress", HELLO.as_bytes(), 415, "content-encoding"),
        ("gzip, gzip, gzip, gzip, gzip", &packed, 415, "content-encoding"),
        ("gzip", HELLO.as_bytes(), 400, "is not what it should be"),
        ("gzip", &packed[..packed.len() - 9], 400, "in the middle"),
        ("zstd", &packed, 400, "is not what it should be"),
    ];
    for (encoding, body, status, problem) in cases {
        let answer = send(&door, encoding, body).await;
        assert_eq!(answer.status, status, "{encoding}: {answer:?}");
        assert!(answer.message().contains(problem), "{encoding}: {answer:?}");
    }
}

#[tokio::test]
async fn a_bomb_is_refused_by_what_it_unpacks_to() {
    let door = Door::open("limits = { body = \"1MB\" }").await;
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 100_000);
    for (encoding, body) in [("gzip", bomb.clone()), ("gzip, gzip", gzip(&bomb))] {
        let answer = send(&door, encoding, &body).await;
        assert_eq!(answer.status, 413, "{encoding}: {answer:?}");
    }
}
