//! What a call would do to files, before it is done, for whoever is asked about it.

use std::fs;
use std::path::{Path, PathBuf};

use rail_edit::diff::{FileDiff, whole_diff};
use rail_edit::edit::{apply, rewritten};
use rail_edit::patch::{FilePatch, patched};
use serde::Deserialize;
use serde_json::Value;

use crate::text::Text;
use crate::{apply_patch, edit_file, multi_edit, write_file};

/// Bytes of files that are looked at in all: a question must not wait for more.
const LARGEST: u64 = 4 << 20;

/// The changes that a call of a built-in tool would make, by its native name and input. Nothing where that can't be said: the call does not
/// change files by itself, or would fail.
///
/// It is for people alone: what is shown is what the files say now. Nothing of it is cut: it is what they decide about.
pub fn foreseen(tool: &str, input: &Value, cwd: &Path) -> Vec<FileDiff> {
    let one = |diff: Option<FileDiff>| diff.into_iter().collect();
    match tool {
        "write_file" => one(write(input, cwd)),
        "edit_file" => one(edit(input, cwd)),
        "multi_edit" => one(edits(input, cwd)),
        "apply_patch" => patch(input, cwd).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn write(input: &Value, cwd: &Path) -> Option<FileDiff> {
    let input = write_file::Input::deserialize(input).ok()?;
    let path = at(cwd, &input.file_path);
    let (old, new) = match now(&path)? {
        Some(old) => (old.clone(), rewritten(&old, &input.content)),
        None => (String::new(), input.content),
    };
    Some(whole_diff(&path, &old, &new))
}

fn edit(input: &Value, cwd: &Path) -> Option<FileDiff> {
    let input = edit_file::Input::deserialize(input).ok()?;
    let path = at(cwd, &input.file_path);
    let old = now(&path)?;
    if input.old_string.is_empty() {
        return Some(whole_diff(&path, &old.unwrap_or_default(), &input.new_string));
    }
    let old = old?;
    let applied = apply(&old, &edit_file::edit(&input)).ok()?;
    Some(whole_diff(&path, &old, &applied.text))
}

fn edits(input: &Value, cwd: &Path) -> Option<FileDiff> {
    let input = multi_edit::Input::deserialize(input).ok()?;
    let path = at(cwd, &input.file_path);
    let old = now(&path)??;
    let applied = multi_edit::all(&old, &input.edits).ok()?;
    Some(whole_diff(&path, &old, &applied.text))
}

fn patch(input: &Value, cwd: &Path) -> Option<Vec<FileDiff>> {
    let input = apply_patch::Input::deserialize(input).ok()?;
    let mut room = LARGEST;
    input.patch.files.iter().map(|file| patched_file(file, cwd, &mut room)).collect()
}

fn patched_file(file: &FilePatch, cwd: &Path, room: &mut u64) -> Option<FileDiff> {
    let path = at(cwd, file.path());
    let old = now_within(&path, room)?;
    match file {
        FilePatch::Add { content, .. } => Some(whole_diff(&path, &old.unwrap_or_default(), content)),
        FilePatch::Delete { .. } => Some(whole_diff(&path, &old?, "")),
        FilePatch::Update { to, hunks, .. } => {
            let old = old?;
            let new = patched(&old, hunks).ok()?.text;
            Some(match to {
                Some(to) => FileDiff { moved_from: Some(path), ..whole_diff(&at(cwd, to), &old, &new) },
                None => whole_diff(&path, &old, &new),
            })
        }
    }
}

fn at(cwd: &Path, path: &str) -> PathBuf {
    cwd.join(path)
}

/// What a file says now: `Some(None)` where there is none, `None` where it can't be shown.
#[expect(
    clippy::option_option,
    reason = "a file that is not there is something else than one that can't be read"
)]
fn now(path: &Path) -> Option<Option<String>> {
    let mut room = LARGEST;
    now_within(path, &mut room)
}

/// The same, where it fits into the room that is left.
#[expect(
    clippy::option_option,
    reason = "a file that is not there is something else than one that can't be read"
)]
fn now_within(path: &Path, room: &mut u64) -> Option<Option<String>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(None),
        Err(_) => return None,
    };
    if !meta.is_file() {
        return None;
    }
    *room = room.checked_sub(meta.len())?;
    let (text, _) = Text::take(fs::read(path).ok()?)?;
    Some(Some(text.text))
}
