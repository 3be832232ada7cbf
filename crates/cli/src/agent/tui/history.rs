//! What was typed on other days.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rail_stdx::{Access, replace};
use rail_tui::input::{Entry, read_history, write_history};

/// How large the file gets before its older half goes.
const LARGEST: u64 = 1 << 20;

fn file(state: &Path) -> PathBuf {
    state.join("history.jsonl")
}

/// All of it, the oldest first.
pub(super) fn read(state: &Path) -> Vec<Entry> {
    read_history(&std::fs::read_to_string(file(state)).unwrap_or_default())
}

/// One more. A history that can't be written is only shorter tomorrow.
pub(super) fn add(state: &Path, text: &str) {
    let path = file(state);
    if std::fs::metadata(&path).is_ok_and(|meta| meta.len() > LARGEST) {
        let entries = read(state);
        let newer = entries.get(entries.len() / 2..).unwrap_or_default();
        let _ = replace(&path, write_history(newer).as_bytes(), Access::Owner);
    }
    let line = write_history(&[Entry::new(text)]);
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
}
