use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

const LINE: &str = "data: {\"delta\":\"word after word after word, and so on and on\"}\n\n";
/// Three times the line, as Node's zlib and the `zstd` tool pack it.
const BROTLI: &str = "1bbf00402c0eecc66e2788f9121c75e9ed6a2ddf14e62a6caf457440fa3688080bd970830d38606fb175b25917a4c143b66f425448024cd2942d01bd8bc61ab7d169bd1a00";
const ZSTD: &str = "28b52ffd0468a50100c282090fc0eb7ba2b582862c064ec025841c1600acdad9f10e6f66a019889837972a6a54c6ab288cfc03007d08a9b4087e77650cf32f4761";

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// The bytes in meta-blocks that are not compressed (RFC 7932, 9.2), which is all that a test of splits needs.
fn stored_brotli(bytes: &[u8]) -> Vec<u8> {
    // A window of 16 bits is one bit 0; each block begins with ISLAST 0, MNIBBLES 0, its length less 1, ISUNCOMPRESSED 1.
    let (mut out, mut bit, mut first) = (Vec::new(), 0_u32, true);
    for block in bytes.chunks(60_000) {
        let shift = u32::from(first);
        let head = (block.len() as u32 - 1) << (3 + shift) | 1 << (19 + shift);
        bit |= head;
        out.extend_from_slice(&bit.to_le_bytes()[..3]);
        out.extend_from_slice(block);
        (bit, first) = (0, false);
    }
    // ISLAST and ISLASTEMPTY, after the window's bit if nothing has said it.
    out.push(if first { 0b110 } else { 0b11 });
    out
}

fn decode(header: &str, input: &[u8], sizes: &[usize]) -> Result<Vec<u8>, Damage> {
    let mut decoder = Decoder::for_header(header)?.unwrap();
    let (mut out, mut rest) = (Vec::new(), input);
    for size in sizes {
        let (piece, after) = rest.split_at(rest.len().min(*size));
        decoder.push(piece, &mut out)?;
        rest = after;
    }
    rest.chunks(STEP).try_for_each(|piece| decoder.push(piece, &mut out))?;
    decoder.finish(&mut out)?;
    Ok(out)
}

#[test]
fn what_other_programs_packed() {
    assert_eq!(decode("br", &hex(BROTLI), &[]), Ok(LINE.repeat(3).into_bytes()));
    assert_eq!(decode("zstd", &hex(ZSTD), &[]), Ok(LINE.repeat(3).into_bytes()));
    assert_eq!(decode("zstd", &[hex(ZSTD), hex(ZSTD)].concat(), &[]), Ok(LINE.repeat(6).into_bytes()));
    let skipped = [&hex("502a4d1803000000616263")[..], &hex(ZSTD)].concat();
    assert_eq!(decode("zstd", &skipped, &[]), Ok(LINE.repeat(3).into_bytes()));
    assert_eq!(decode("gzip", &[gzip(b"a"), gzip(b"b")].concat(), &[]), Ok(b"ab".to_vec()));
}

#[test]
fn headers() {
    for nothing in ["", "identity", " Identity , identity"] {
        assert!(Decoder::for_header(nothing).unwrap().is_none(), "{nothing}");
    }
    for unknown in ["compress", "gzip, secret", "gzip,gzip,gzip,gzip,gzip"] {
        assert_eq!(Decoder::for_header(unknown).err(), Some(Damage::Unknown), "{unknown}");
    }
    assert_eq!(decode("GZIP, identity", &gzip(b"x"), &[]), Ok(b"x".to_vec()));
}

#[test]
fn an_empty_body_is_no_damage() {
    for header in ["gzip", "deflate", "br", "zstd", "gzip, br"] {
        assert_eq!(decode(header, b"", &[]), Ok(Vec::new()), "{header}");
    }
}

#[test]
fn what_was_flushed_comes_out_at_once() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut decoder = Decoder::for_header("gzip").unwrap().unwrap();
    for n in 0..3 {
        encoder.write_all(LINE.as_bytes()).unwrap();
        encoder.flush().unwrap();
        let piece = std::mem::take(encoder.get_mut());
        let mut out = Vec::new();
        decoder.push(&piece, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), LINE, "piece {n}");
    }
}

#[test]
fn a_bomb_is_refused() {
    let mut zeros = GzEncoder::new(Vec::new(), Compression::best());
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        zeros.write_all(&vec![0; 1 << 20]).unwrap();
        raw.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let (zeros, raw) = (zeros.finish().unwrap(), raw.finish().unwrap());
    let whole = |header: &str, bytes: &[u8]| {
        Decoder::for_header(header).unwrap().unwrap().push(bytes, &mut Vec::new())
    };
    assert_eq!(whole("gzip", &zeros), Err(Damage::TooLarge(32)));
    assert_eq!(whole("deflate", &raw), Err(Damage::TooLarge(32)));
    // A block of one repeated byte, 128 KiB out of four bytes, three hundred times.
    let repeated = [&hex("28b52ffd0058")[..], &hex("02001041").repeat(300)].concat();
    assert_eq!(whole("zstd", &repeated), Err(Damage::TooLarge(32)));
    assert_eq!(
        decode("gzip", &zeros, &[]).map(|out| out.len()),
        Ok(64 << 20),
        "in steps it is a large answer"
    );
}

#[test]
fn the_whole_body_has_a_limit() {
    let mut decoder = Decoder { stages: vec![Stage::zstd()], given: MAX_BODY - 100 };
    assert_eq!(decoder.push(&hex(ZSTD), &mut Vec::new()), Err(Damage::TooLarge(512)));
}

type Pack = fn(&[u8]) -> Vec<u8>;

fn packings() -> Vec<(&'static str, Pack)> {
    vec![
        ("gzip", gzip),
        ("deflate", zlib),
        ("deflate", raw_deflate),
        ("br", stored_brotli),
        ("zstd", zstd),
        ("gzip, br", |bytes| stored_brotli(&gzip(bytes))),
        ("zstd, gzip", |bytes| gzip(&zstd(bytes))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_split_gives_the_same_bytes(
        text in proptest::collection::vec(any::<u8>(), 1..2000), times in 1_usize..8,
        sizes in proptest::collection::vec(0_usize..200, 0..60),
    ) {
        let text = text.repeat(times);
        for (header, pack) in packings() {
            let decoded = decode(header, &pack(&text), &sizes);
            prop_assert_eq!(decoded.as_ref(), Ok(&text), "{}", header);
        }
    }

    #[test]
    fn a_cut_body_is_told_from_a_whole_one(text in "[a-z]{1,300}", cut in any::<prop::sample::Index>()) {
        for (header, pack) in packings() {
            let packed = pack(text.as_bytes());
            let cut = 1 + cut.index(packed.len() - 1);
            if cut < packed.len() {
                prop_assert!(decode(header, &packed[..cut], &[]).is_err(), "{} at {} of {}", header, cut, packed.len());
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for (header, pack) in packings() {
            let _ = decode(header, &bytes, &[3, 1]);
            let mut packed = pack(LINE.as_bytes());
            let at = at.index(packed.len());
            packed[at] = byte;
            let _ = decode(header, &packed, &[7]);
        }
    }
}
