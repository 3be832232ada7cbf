use proptest::prelude::*;
use rail_pdf::{Budget, Pdf, PdfError};

use crate::pdfs;

#[test]
fn a_file_without_its_table_is_read_all_the_same() {
    let Some(pdfs) = pdfs() else { return };
    let pdf = Pdf::open(pdfs.bytes("no-table"), None).unwrap();
    let texts: Vec<String> = (1..=pdf.pages()).map(|page| pdf.text(page).unwrap()).collect();
    assert_eq!(texts, pdfs.said("plain"));
}

#[test]
fn of_a_file_that_was_cut_there_is_what_is_left() {
    let Some(pdfs) = pdfs() else { return };
    let said = pdfs.said("long");
    let pdf = Pdf::open(pdfs.bytes("cut"), None).unwrap();
    let texts: Vec<String> = (1..=pdf.pages()).filter_map(|page| pdf.text(page).ok()).collect();
    let whole = texts.iter().filter(|text| said.contains(text)).count();
    assert!(whole >= 50, "{whole} of {}", texts.len());
}

#[test]
fn a_page_that_cannot_be_unpacked_is_named() {
    let Some(pdfs) = pdfs() else { return };
    let bytes = pdfs.bytes("plain");
    // The filter of the first drawing is one that does not exist for it.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("/ASCII85Decode /FlateDecode"), "the writer packs pages another way now");
    let place = bytes.windows(12).position(|part| part == b"/FlateDecode").unwrap();
    let broken = [&bytes[..place], b"/DCTDecode  ", &bytes[place + 12..]].concat();
    let pdf = Pdf::open(broken, None).unwrap();
    let results: Vec<_> = (1..=3).map(|page| pdf.text(page)).collect();
    let damaged = results.iter().filter(|result| matches!(result, Err(PdfError::DamagedPage { .. }))).count();
    assert_eq!(damaged, 1, "{results:?}");
}

/// Bytes that are changed, taken out or put in at some places.
#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Cut(usize, usize),
    Repeat(usize, usize),
    End(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => (any::<usize>(), 1..=255_u8).prop_map(|(at, by)| Damage::Flip(at, by)),
        2 => (any::<usize>(), 1..200_usize).prop_map(|(at, length)| Damage::Cut(at, length)),
        2 => (any::<usize>(), 1..200_usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        1 => any::<usize>().prop_map(Damage::End),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        let length = bytes.len().max(1);
        match *damage {
            Damage::Flip(at, by) => {
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= by;
                }
            }
            Damage::Cut(at, count) => {
                let from = at % length;
                bytes.drain(from.min(bytes.len())..(from + count).min(bytes.len()));
            }
            Damage::Repeat(at, count) => {
                let from = (at % length).min(bytes.len());
                let part = bytes[from..(from + count).min(bytes.len())].to_vec();
                bytes.splice(from..from, part);
            }
            Damage::End(at) => bytes.truncate(at % length),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn whatever_is_damaged_nothing_panics(
        which in 0..8_usize,
        damages in proptest::collection::vec(damage(), 1..12),
    ) {
        let Some(pdfs) = pdfs() else { return Ok(()) };
        let names = ["plain", "columns", "chinese", "upright", "embedded", "rotated", "scan", "empty-password"];
        let bytes = damaged(pdfs.bytes(names[which]), &damages);
        let budget = Budget { stream_bytes: 64 << 20, ..Budget::default() };
        if let Ok(pdf) = Pdf::open_within(bytes, None, budget) {
            for page in 1..=pdf.pages().min(4) {
                let _ = pdf.text(page);
                let _ = pdf.render(page, 60);
            }
        }
    }
}
