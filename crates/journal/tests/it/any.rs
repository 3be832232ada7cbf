use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rail_journal::{
    Form, Hash, Record, Writer, entries, export, fork, messages, search, turns, verify, view,
};

use crate::bed::{Bed, NOW, add, calls, model, partial, queued, result, results, running, usage, user};

/// Everything that reads, on a journal of any bytes.
fn read_all(sessions: &Path, folder: &Path) {
    let _ = view(folder);
    let _ = verify(folder);
    let _ = entries(folder).map(Iterator::count);
    let _ = messages(folder).map(Iterator::count);
    let _ = turns(folder);
    let _ = search(sessions, None, "a", 9);
    let _ = export(folder, Form::Markdown, &str::to_owned, &mut Vec::new());
    let _ = export(folder, Form::Json, &str::to_owned, &mut Vec::new());
    let _ = fork(sessions, folder, Some(2), NOW);
    let _ = Writer::resume(folder);
}

/// Lines that fit together, whatever they say.
fn chained(lines: &[(String, String)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut prev = Hash::default();
    for (n, (kind, rest)) in lines.iter().enumerate() {
        let kind = serde_json::to_string(kind).unwrap();
        let line = format!(r#"{{"n":{},"prev":"{prev}","at":0,"type":{kind},{rest}}}"#, n + 1);
        prev = Hash::of(line.as_bytes());
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
}

const OPENED: &str =
    r#""data":{"version":1,"id":"00000000-0000-7000-8000-000000000000","cwd":"/srv","model":"m"}"#;

fn line() -> impl Strategy<Value = (String, String)> {
    let kinds = [
        "message",
        "results",
        "running",
        "rewound",
        "compacted",
        "usage",
        "title",
        "told",
        "queued",
        "taken",
        "partial",
        "void",
        "prompt",
        "opened",
        "dream",
    ];
    let place = (0..900u64, 0..9u64)
        .prop_map(|(end, n)| format!(r#"{{"end":{end},"n":{n},"hash":"{}"}}"#, Hash::default()));
    let rest = prop_oneof![
        place.clone().prop_map(|to| format!(r#""data":{{"to":{to},"way":"back"}}"#)),
        place.clone().prop_map(|head| format!(
            r#""data":{{"window":[],"cause":"full"}},"state":{{"sum":{{"totals":{{}}}},"model":"m","head":{head}}}"#
        )),
        Just(r#""data":{"step":1,"message":{"role":"assistant","parts":[{"body":{"text":"\u0000rail-content:x"}}]}}"#.to_owned()),
        Just(r#""data":1"#.to_owned()),
        Just(r#""data":{"step":1,"text":"I th"}"#.to_owned()),
        place.clone().prop_map(|queued| format!(
            r#""data":{{"window":[],"cause":"full"}},"state":{{"sum":{{"totals":{{}}}},"model":"m","queued":[{queued}]}}"#
        )),
        Just(r#""data":{"step":18446744073709551615,"calls":["a"]}"#.to_owned()),
        r#"[a-z0-9:{}\[\]," ]{0,40}"#.prop_map(|text| format!(r#""data":{text}"#)),
    ];
    (prop::sample::select(kinds.to_vec()).prop_map(str::to_owned), rest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let bed = Bed::quick();
        let folder = bed.session().folder().to_owned();
        fs::write(folder.join("journal.jsonl"), bytes).unwrap();
        read_all(&bed.sessions(), &folder);
    }

    #[test]
    fn any_lines_that_fit_together_are_read_or_refused(mut lines in prop::collection::vec(line(), 0..6)) {
        let bed = Bed::quick();
        let folder = bed.session().folder().to_owned();
        lines.insert(0, ("opened".into(), OPENED.into()));
        fs::write(folder.join("journal.jsonl"), chained(&lines)).unwrap();
        read_all(&bed.sessions(), &folder);
    }

    #[test]
    fn a_journal_damaged_anywhere_is_never_read_as_something_else(
        at in 0.0..1.0f64,
        byte in prop_oneof![any::<u8>(), b'0'..=b'9', b'a'..=b'z'],
    ) {
        let bed = Bed::quick();
        let mut writer = bed.session();
        let records = [user(1, "one"), queued(1, "and"), partial(1, "I"), calls(1, &["a"]), running(1, &["a"]), results(1, vec![result("a", "x")]), Record::Taken(2), model(2, "two"), usage(2)];
        for record in records {
 add(&mut writer, record);
 }
        let (folder, path) = (writer.folder().to_owned(), writer.folder().join("journal.jsonl"));
        drop(writer);
        let before = view(&folder).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        // The last line is proved by none behind it.
        let proved = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
        let at = (proved as f64 * at) as usize;
        let was = std::mem::replace(&mut bytes[at], byte);
        fs::write(&path, bytes).unwrap();
        if was == byte {
            prop_assert_eq!(view(&folder).unwrap(), before);
        } else {
            prop_assert!(view(&folder).is_err(), "byte {} became {}", at, byte);
            prop_assert!(verify(&folder).unwrap().trouble.is_some());
        }
        read_all(&bed.sessions(), &folder);
    }
}
