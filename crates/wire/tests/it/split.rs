//! Any split, same events: for every byte stream and every way to cut it.

use proptest::prelude::*;
use rail_wire::{ALL, BodyKind, Frame, Framer, JsonArray, Protocol, Sse};

use crate::corpus::{Fixture, events_split, fixtures};

/// Every stream of the corpus with the way it is read.
fn streams() -> Vec<(&'static Protocol, BodyKind, Fixture)> {
    let folders = [
        ("stream", ".sse", BodyKind::Stream),
        ("compat", ".sse", BodyKind::Stream),
        ("stream", ".array.json", BodyKind::Array),
        ("response", ".json", BodyKind::Whole),
    ];
    let all = ALL.iter().flat_map(|protocol| {
        folders.iter().flat_map(move |(folder, ending, kind)| {
            fixtures(protocol, folder, ending).into_iter().map(move |fixture| (*protocol, *kind, fixture))
        })
    });
    all.collect()
}

/// Cuts at these places, which may repeat and be in any order.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(bytes.len()));
    starts.zip(ends).map(|(start, end)| &bytes[start..end]).collect()
}

#[test]
fn byte_by_byte_gives_the_same_events() {
    let streams = streams();
    assert!(streams.len() >= 10, "the corpus is there");
    for (protocol, kind, fixture) in streams {
        let decode =
            |pieces: Vec<&[u8]>| events_split(protocol.outbound.decoder(kind).as_mut(), pieces.into_iter());
        let whole = decode(vec![&fixture.bytes]);
        let bytewise = decode(fixture.bytes.chunks(1).collect());
        assert_eq!(whole, bytewise, "{} {}", protocol.id, fixture.name);
    }
}

/// An SSE stream of any lines, as a server or an attacker might write it.
fn sse_text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "data: ?[ -~é]{0,20}",
        2 => "event: ?[a-z_]{0,8}",
        1 => ":[ -~]{0,8}",
        1 => "(id|retry|data|x)(: ?[0-9]{0,4})?",
        3 => "",
    ];
    let ending = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let bom = prop_oneof![3 => Just(""), 1 => Just("\u{feff}")];
    (bom, prop::collection::vec((line, ending), 0..30)).prop_map(|(bom, lines)| {
        let text: String = lines.into_iter().map(|(line, ending)| format!("{line}{ending}")).collect();
        format!("{bom}{text}").into_bytes()
    })
}

fn framed(framer: &mut dyn Framer, pieces: &[&[u8]]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let mut sink = |frame: Frame<'_>| {
        out.push((frame.event.to_owned(), frame.data.to_vec()));
        Ok(())
    };
    pieces.iter().for_each(|piece| framer.push(piece, &mut sink).unwrap());
    framer.finish(&mut sink).unwrap();
    out
}

/// The WHATWG algorithm, line by line on the whole text: slow and plain.
fn sse_reference(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (mut out, mut event, mut data) = (Vec::new(), String::new(), None::<String>);
    for line in text.split('\n').chain([""]) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (line, field) {
            ("", _) => {
                out.extend(data.take().map(|data| (event.clone(), data.into_bytes())));
                event.clear();
            }
            (_, "data") => data = Some(data.map_or(value.to_owned(), |data| format!("{data}\n{value}"))),
            (_, "event") => event = value.to_owned(),
            _ => {}
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_split_of_the_corpus_gives_the_same_events(pick: prop::sample::Index, cuts in prop::collection::vec(any::<usize>(), 0..12)) {
        let streams = streams();
        let (protocol, kind, fixture) = pick.get(&streams);
        let decode = |pieces: Vec<&[u8]>| events_split(protocol.outbound.decoder(*kind).as_mut(), pieces.into_iter());
        prop_assert_eq!(decode(vec![&fixture.bytes]), decode(pieces(&fixture.bytes, &cuts)), "{} {}", protocol.id, fixture.name);
    }

    #[test]
    fn sse_is_framed_as_the_standard_says_for_any_split(text in sse_text(), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let expected = sse_reference(&text);
        prop_assert_eq!(&framed(&mut Sse::new(), &[&text]), &expected);
        prop_assert_eq!(&framed(&mut Sse::new(), &pieces(&text, &cuts)), &expected);
    }

    #[test]
    fn array_elements_come_out_whole_for_any_split(values in prop::collection::vec("[a-z\"\\\\{}\\[\\],é]{0,10}", 0..8), cuts in prop::collection::vec(any::<usize>(), 0..8)) {
        let objects: Vec<serde_json::Value> = values.iter().map(|text| serde_json::json!({"text": text, "n": [1, {"x": 2}]})).collect();
        for text in [serde_json::to_vec(&objects).unwrap(), serde_json::to_vec_pretty(&objects).unwrap()] {
            let frames = framed(&mut JsonArray::new(), &pieces(&text, &cuts));
            let read: Vec<serde_json::Value> = frames.iter().map(|(_, data)| serde_json::from_slice(data).unwrap()).collect();
            prop_assert_eq!(&read, &objects);
        }
    }

    #[test]
    fn mutated_streams_never_panic_and_split_alike(pick: prop::sample::Index, at: prop::sample::Index, byte: u8, cut: usize) {
        let streams = streams();
        let (protocol, kind, fixture) = pick.get(&streams);
        let mut bytes = fixture.bytes.clone();
        *at.get_mut(&mut bytes) = byte;
        let decode = |pieces: Vec<&[u8]>| events_split(protocol.outbound.decoder(*kind).as_mut(), pieces.into_iter());
        prop_assert_eq!(decode(vec![&bytes]), decode(pieces(&bytes, &[cut])));
    }
}
