//! Edits of real files: what is kept, what is refused, and what the model is told.

use std::os::unix::fs::PermissionsExt;

use rail_tool::{Display, OutputNote};
use serde_json::{Value, json};

use crate::scratch::Scratch;

fn edit(file: &str, old: &str, new: &str) -> Value {
    json!({"file_path": file, "old_string": old, "new_string": new})
}

/// The bytes of a file after an edit that must succeed.
fn after(bytes: &[u8], old: &str, new: &str) -> Vec<u8> {
    let scratch = Scratch::new();
    let path = scratch.known("file", bytes);
    let outcome = scratch.run("edit_file", &edit("file", old, new));
    assert!(outcome.success(), "{}", outcome.text());
    std::fs::read(path).unwrap()
}

#[test]
fn mark_encoding_endings_and_final_newline_are_kept() {
    assert_eq!(after(b"\xef\xbb\xbfone\r\ntwo\r\n", "one\ntwo", "1\n2"), b"\xef\xbb\xbf1\r\n2\r\n");
    assert_eq!(
        after(b"\xff\xfeo\0n\0e\0\r\0\n\0", "one", "\u{e4}\ntwo"),
        b"\xff\xfe\xe4\0\r\0\n\0t\0w\0o\0\r\0\n\0"
    );
    assert_eq!(after(b"one\ntwo", "two", "2"), b"one\n2");
    assert_eq!(after(b"a\r\nb\nc\r\n", "b", "x\ny"), b"a\r\nx\ny\nc\r\n");
    // GBK: the sentence is long enough for the encoding to be told.
    let (gbk, _, _) =
        encoding_rs::GBK.encode("这是一个测试文件，里面有一些中文内容，用来检查编码是否保持不变。\n第二行\n");
    let (expected, _, _) =
        encoding_rs::GBK.encode("这是一个测试文件，里面有一些中文内容，用来检查编码是否保持不变。\n第三行\n");
    assert_eq!(after(&gbk, "第二行", "第三行"), expected.into_owned());
}

#[test]
fn a_letter_that_the_encoding_lacks_is_refused() {
    let scratch = Scratch::new();
    let bytes = b"caf\xe9 et th\xe9, d\xe9j\xe0 vu, o\xf9 \xeates-vous ?\n";
    let path = scratch.known("latin.txt", bytes);
    let said = scratch.says("edit_file", &edit("latin.txt", "déjà", "\u{4e2d}"));
    assert!(
        said.starts_with(
            "error: `{workspace}/latin.txt` was left as it is: `中` (U+4E2D) can't be written in"
        ),
        "{said}"
    );
    assert_eq!(std::fs::read(path).unwrap(), bytes);
}

#[test]
fn a_short_file_that_was_not_read_is_shown_and_can_be_edited_then() {
    let scratch = Scratch::new();
    let path = scratch.write("a.txt", "one ‹bash›\n");
    assert_eq!(
        scratch.says("edit_file", &edit("a.txt", "1", "2")),
        "error: `{workspace}/a.txt` was not read in this session, so it was left as it is. It says:\none ‹bash›\nMake the change anew, with the old text copied from this"
    );
    scratch.says("edit_file", &edit("a.txt", "one", "two"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "two ‹bash›\n");
    // Leave to write a secret is no leave to show it.
    scratch.write(".env", "KEY=abc\n");
    let said = scratch.says("edit_file", &edit(".env", "1", "2"));
    assert!(said.contains("was not read in this session: read it") && !said.contains("abc"), "{said}");
}

#[test]
fn a_file_must_be_read_and_unchanged() {
    let scratch = Scratch::new();
    scratch.write("long.txt", "one\n".repeat(1_000));
    assert_eq!(
        scratch.says("edit_file", &edit("long.txt", "one", "two")),
        "error: `{workspace}/long.txt` was not read in this session: read it with `read_file` first, then change it"
    );
    let path = scratch.write("a.txt", "one\n");
    scratch.saw("a.txt");
    std::fs::write(&path, "one more\n").unwrap();
    assert_eq!(
        scratch.says("edit_file", &edit("a.txt", "one", "two")),
        "error: `{workspace}/a.txt` was changed since it was read, by the user or a program: read it again with `read_file`, then change it"
    );
    scratch.saw("a.txt");
    // What the tool wrote, it knows: a second edit needs no reading.
    assert!(scratch.run("edit_file", &edit("a.txt", "one", "two")).success());
    assert!(scratch.run("edit_file", &edit("a.txt", "two", "three")).success());
    assert_eq!(scratch.read("a.txt"), "three more\n");
    // The same bytes written anew are no change.
    std::fs::write(&path, "three more\n").unwrap();
    assert!(scratch.run("edit_file", &edit("a.txt", "three", "four")).success());
}

#[test]
fn a_missing_file_names_similar_ones() {
    let scratch = Scratch::new();
    scratch.write("src/main.rs", "");
    assert_eq!(
        scratch.says("edit_file", &edit("src/main.py", "a", "b")),
        "error: there is no file `{workspace}/src/main.py`; did you mean `{workspace}/src/main.rs`? A new file is made with `write_file`"
    );
    assert_eq!(
        scratch.says("edit_file", &edit("nothing/like/it", "a", "b")),
        "error: there is no file `{workspace}/nothing/like/it`; find it with `glob`, or see what is there with `list_directory`; a new file is made with `write_file`"
    );
}

#[test]
fn notebooks_binary_files_folders_and_devices_are_refused() {
    let scratch = Scratch::new();
    scratch.known("a.ipynb", "{}");
    scratch.known("a.bin", b"\0\x01\x02PNG\xff\xfe\0\0");
    scratch.write("folder/x", "");
    assert_eq!(
        scratch.says("edit_file", &edit("a.ipynb", "a", "b")),
        "error: `{workspace}/a.ipynb` was left as it is: it is a notebook: change its cells with `notebook_edit`"
    );
    assert_eq!(
        scratch.says("edit_file", &edit("a.bin", "a", "b")),
        "error: `{workspace}/a.bin` is no text file and was left as it is: change it with a program of its own through `bash`"
    );
    assert_eq!(
        scratch.says("edit_file", &edit("folder", "a", "b")),
        "error: `{workspace}/folder` is a folder: name a file in it; `list_directory` shows what is there"
    );
    assert_eq!(
        scratch.says("edit_file", &edit("/dev/null", "a", "b")),
        "error: `/dev/null` is a device, a socket or a pipe, not a file: it can't be changed by this tool"
    );
}

#[test]
fn an_empty_old_text_makes_a_file_and_only_that() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch.says("edit_file", &edit("new/a.txt", "", "one\n")),
        "ok: `{workspace}/new/a.txt` was made, with 1 line"
    );
    assert_eq!(
        scratch.says("edit_file", &edit("new/a.txt", "", "two\n")),
        "error: `{workspace}/new/a.txt` was left as it is: there is text in it, and an empty `old_string` only makes new files: give the text that is to be replaced"
    );
    scratch.write("empty.txt", "");
    assert!(scratch.run("edit_file", &edit("empty.txt", "", "one\n")).success());
    assert_eq!(
        (scratch.read("new/a.txt"), scratch.read("empty.txt")),
        ("one\n".to_owned(), "one\n".to_owned())
    );
}

#[test]
fn an_expected_count_is_held_to() {
    let scratch = Scratch::new();
    scratch.known("a.txt", "a a a\n");
    let input = |count: usize| json!({"file_path": "a.txt", "old_string": "a", "new_string": "b", "expected_replacements": count});
    let said = scratch.says("edit_file", &input(2));
    assert!(said.contains("was expected 2 times and is there 3 times (lines 1, 1 and 1)"), "{said}");
    assert_eq!(
        scratch.says("edit_file", &input(3)),
        "ok: `{workspace}/a.txt` was changed at 3 places:\n1\tb b b"
    );
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let scratch = Scratch::new();
    let target = scratch.write("real.txt", "one\n");
    std::os::unix::fs::symlink("real.txt", scratch.path("link.txt")).unwrap();
    scratch.saw("link.txt");
    assert!(scratch.run("edit_file", &edit("link.txt", "one", "two")).success());
    assert_eq!(std::fs::read(target).unwrap(), b"two\n");
    assert!(scratch.path("link.txt").is_symlink());
}

#[test]
fn front_ends_get_the_diff_and_the_session_a_note_of_memory_files() {
    let scratch = Scratch::new();
    let path = scratch.known("AGENTS.md", "one\ntwo\n");
    let outcome = scratch.run("edit_file", &edit("AGENTS.md", "two", "2"));
    let Some(Display::Diff { files: diffs, .. }) = &outcome.display else { panic!("{:?}", outcome.display) };
    assert_eq!((diffs.len(), diffs[0].added, diffs[0].removed, &diffs[0].path), (1, 1, 1, &path));
    assert_eq!(outcome.notes, [OutputNote::MemoryFile(path)]);
    scratch.known("other.md", "one\n");
    assert_eq!(scratch.run("edit_file", &edit("other.md", "one", "2")).notes, []);
}

#[test]
fn a_read_only_file_is_left_and_the_mode_is_kept() {
    let scratch = Scratch::new();
    let path = scratch.known("a.sh", "one\n");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    let said = scratch.says("edit_file", &edit("a.sh", "one", "two"));
    assert!(said.starts_with("error: `{workspace}/a.sh` is read-only: nothing was changed"), "{said}");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o751)).unwrap();
    assert!(scratch.run("edit_file", &edit("a.sh", "one", "two")).success());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o751);
}

#[test]
fn names_of_any_bytes_and_emoji_are_edited() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new();
    scratch.known("🦀 ä.txt", "one\n");
    assert!(scratch.run("edit_file", &edit("🦀 ä.txt", "one", "two")).success());
    let path = scratch.workspace().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt"));
    std::fs::write(&path, "one\n").unwrap();
    scratch.session.stamps.saw(&path, &path.metadata().unwrap(), b"one\n");
    let said = scratch.says("edit_file", &edit("caf\\xe9.txt", "one", "two"));
    assert_eq!(said, "ok: `{workspace}/caf\\xe9.txt` was changed at line 1:\n1\ttwo");
    assert_eq!(std::fs::read(path).unwrap(), b"two\n");
}

#[test]
fn a_large_file_and_a_very_long_line_are_edited() {
    let scratch = Scratch::new();
    let line = "all work and no play makes a dull file\n";
    let mut text = line.repeat((10 << 20) / line.len());
    text.push_str("the only place\n");
    text.push_str(&"x".repeat(1 << 20));
    scratch.known("large.txt", &text);
    let outcome = scratch.run("edit_file", &edit("large.txt", "the only place", "the new place"));
    assert!(outcome.success());
    assert!(outcome.text().chars().count() < 2_000);
    assert_eq!(scratch.read("large.txt"), text.replace("the only place", "the new place"));
    // What is not there is found out without trying every line against every other.
    let said = scratch.says("edit_file", &edit("large.txt", "makes a dull play\nand no work", "x"));
    assert!(said.contains("The nearest is at line "), "{said}");
}
