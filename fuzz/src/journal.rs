use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use rail_journal::{Form, Hash, entries, export, list, messages, turns, verify, view};

/// The sessions of this process, with one session.
static SESSIONS: LazyLock<PathBuf> = LazyLock::new(|| {
    let sessions = std::env::temp_dir().join(format!("rail-fuzz-{}", std::process::id()));
    fs::create_dir_all(sessions.join(SESSION)).expect("a folder for the journal");
    sessions
});

const SESSION: &str = "project/00000000-0000-7000-8000-000000000000";
const OPENED: &str =
    r#"opened "data":{"version":1,"id":"00000000-0000-7000-8000-000000000000","cwd":"/srv","model":"m"}"#;

/// Panics if a journal makes a reader panic, or if readers do not agree about it.
///
/// The first byte says whether the rest is the journal itself, or lines of a kind and its content that are first made to fit
/// together, behind a line that opens a session.
pub fn journal(input: &[u8]) {
    let Some((&how, body)) = input.split_first() else { return };
    let journal = if how & 1 == 0 { body.to_vec() } else { chained(&String::from_utf8_lossy(body)) };
    let folder = SESSIONS.join(SESSION);
    fs::write(folder.join("journal.jsonl"), journal).expect("the journal is written");
    let seen = view(&folder);
    let verdict = verify(&folder).expect("the journal can be opened");
    if verdict.trouble.is_none()
        && let Ok(seen) = &seen
    {
        assert_eq!(seen.last, verdict.last, "both read to the same end");
    }
    let _ = entries(&folder).map(Iterator::count);
    let _ = messages(&folder).map(Iterator::count);
    let _ = turns(&folder);
    let _ = list(&SESSIONS, None);
    for form in [Form::Markdown, Form::Json] {
        let _ = export(&folder, form, &str::to_owned, &mut Vec::new());
    }
}

fn chained(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut prev = Hash::default();
    for (n, line) in std::iter::once(OPENED).chain(text.lines()).enumerate() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, "\"data\":null"));
        let kind = serde_json::Value::from(kind);
        let line = format!(r#"{{"n":{},"prev":"{prev}","at":0,"type":{kind},{rest}}}"#, n + 1);
        prev = Hash::of(line.as_bytes());
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
}
