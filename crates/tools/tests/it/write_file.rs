//! Whole files written: form kept, folders made, nothing lost.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rail_tool::{Display, OutputNote, ToolEvent};
use serde_json::{Value, json};

use crate::scratch::Scratch;

fn write(file: &str, content: &str) -> Value {
    json!({"file_path": file, "content": content})
}

#[test]
fn folders_are_made() {
    let scratch = Scratch::new();
    assert_eq!(
        scratch.says("write_file", &write("a/b/c.txt", "one\ntwo")),
        "ok: `{workspace}/a/b/c.txt` was made, with 2 lines"
    );
    assert_eq!(scratch.read("a/b/c.txt"), "one\ntwo");
    let said = scratch.says("write_file", &write("a/b/c.txt/d", "one"));
    assert!(said.starts_with("error: `{workspace}/a/b/c.txt/d`: Not a directory"), "{said}");
}

#[test]
fn a_file_must_be_read_and_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.write("a.txt", "one\n");
    let said = scratch.says("write_file", &write("a.txt", "two\n"));
    assert_eq!(
        said,
        "error: `{workspace}/a.txt` was not read in this session: read it with `read_file` first, then change it"
    );
    scratch.saw("a.txt");
    std::fs::write(&path, "other\n").unwrap();
    let said = scratch.says("write_file", &write("a.txt", "two\n"));
    assert_eq!(
        said,
        "error: `{workspace}/a.txt` was changed since it was read, by the user or a program: read it again with `read_file`, then change it"
    );
    assert_eq!(scratch.read("a.txt"), "other\n");
    scratch.saw("a.txt");
    assert!(scratch.run("write_file", &write("a.txt", "two\n")).success());
    assert!(scratch.run("write_file", &write("a.txt", "three\n")).success());
}

#[test]
fn encoding_mark_and_endings_of_what_is_replaced_are_kept() {
    let scratch = Scratch::new();
    let path = scratch.known("a.txt", b"\xff\xfeo\0n\0e\0\r\0\n\0");
    assert!(scratch.run("write_file", &write("a.txt", "1\n2\n")).success());
    assert_eq!(std::fs::read(path).unwrap(), b"\xff\xfe1\0\r\0\n\x002\0\r\0\n\0");
    let path = scratch.known("b.txt", b"\xef\xbb\xbfone\n");
    assert!(scratch.run("write_file", &write("b.txt", "1\r\n")).success());
    assert_eq!(std::fs::read(path).unwrap(), b"\xef\xbb\xbf1\n");
}

#[test]
fn a_new_file_takes_the_repository_s_line_endings() {
    let made = |files: &[(&str, &str)], name: &str| {
        let scratch = Scratch::new();
        files.iter().for_each(|(name, content)| drop(scratch.write(name, content)));
        assert!(scratch.run("write_file", &write(name, "a\nb\n")).success());
        scratch.read(name)
    };
    let (lf, crlf) = ("a\nb\n", "a\r\nb\r\n");
    assert_eq!(made(&[], "x/a.txt"), lf);
    assert_eq!(made(&[(".gitattributes", "*.txt eol=crlf\n")], "x/y/a.txt"), crlf);
    assert_eq!(made(&[(".editorconfig", "[*]\nend_of_line = crlf\n")], "a.txt"), crlf);
    assert_eq!(
        made(&[(".editorconfig", "[*]\nend_of_line = crlf\n"), (".gitattributes", "* eol=lf\n")], "a.txt"),
        lf
    );
    assert_eq!(
        made(&[("x/one.txt", "1\r\n"), ("x/two.md", "2\n"), ("x/three.txt", "3\r\n")], "x/a.txt"),
        crlf
    );
    assert_eq!(made(&[("x/one.md", "1\n"), ("x/b.txt", "2\n")], "x/a.txt"), lf);
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "* eol=lf\n");
    assert!(scratch.run("write_file", &write("a.bat", "a\r\nb\r\n")).success());
    assert_eq!(scratch.read("a.bat"), "a\r\nb\r\n");
}

#[test]
fn mode_owner_attributes_and_links_stay() {
    let scratch = Scratch::new();
    let path = scratch.known("a.sh", "one\n");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o750)).unwrap();
    let attributed =
        rustix::fs::setxattr(&path, "user.rail", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    }
    let before = path.metadata().unwrap();
    std::os::unix::fs::symlink("a.sh", scratch.path("link")).unwrap();
    assert!(scratch.run("write_file", &write("link", "two\n")).success());
    let after = path.metadata().unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_eq!((scratch.read("a.sh").as_str(), scratch.path("link").is_symlink()), ("two\n", true));
    if attributed {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.rail", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    let names: Vec<_> =
        std::fs::read_dir(scratch.workspace()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "no draft is left: {names:?}");
}

#[test]
fn a_link_to_nothing_makes_what_it_leads_to() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("there/new.txt", scratch.path("link")).unwrap();
    assert!(scratch.run("write_file", &write("link", "one\n")).success());
    assert_eq!(scratch.read("there/new.txt"), "one\n");
}

#[test]
fn another_name_of_the_file_keeps_the_old_content_and_that_is_said() {
    let scratch = Scratch::new();
    let path = scratch.known("a.txt", "one\n");
    std::fs::hard_link(&path, scratch.path("b.txt")).unwrap();
    let said = scratch.says("write_file", &write("a.txt", "two\n"));
    assert_eq!(
        said,
        "ok: `{workspace}/a.txt` was written, with 1 line (1 added, 1 removed)\nThe file had 2 names (hard links); only this one has the new content."
    );
    assert_eq!(scratch.read("b.txt"), "one\n");
}

#[test]
fn memory_files_are_those_that_the_configuration_names() {
    let scratch = Scratch::with(|session| {
        session.memory_files = vec!["NOTES.md".to_owned(), "docs/AGENTS.md".to_owned()];
    });
    let noted = |name: &str| {
        let notes = scratch.run("write_file", &write(name, "one\n")).notes;
        assert!(notes.is_empty() || notes == [OutputNote::MemoryFile(scratch.path(name))]);
        !notes.is_empty()
    };
    let names = ["NOTES.md", "sub/NOTES.md", "docs/AGENTS.md", "AGENTS.md", "MY-NOTES.md", "CLAUDE.md"];
    assert_eq!(names.map(noted), [true, true, true, false, false, false]);
    let patch = "*** Begin Patch\n*** Delete File: NOTES.md\n*** End Patch";
    let notes = scratch.run("apply_patch", &json!({ "patch": patch })).notes;
    assert_eq!(notes, [OutputNote::MemoryFile(scratch.path("NOTES.md"))]);
}

#[test]
fn memory_files_are_noted_and_the_diff_is_shown() {
    let scratch = Scratch::new();
    let outcome = scratch.run("write_file", &write("sub/CLAUDE.md", "one\n"));
    assert_eq!(outcome.notes, [OutputNote::MemoryFile(scratch.path("sub/CLAUDE.md"))]);
    let Some(Display::Diff { files: diffs, .. }) = outcome.display else { panic!("no diff") };
    assert_eq!((diffs[0].added, diffs[0].removed), (1, 0));
    // Whoever looks on is told of it, too.
    let events = scratch.events.all();
    let noted = |event: &ToolEvent| matches!(event, ToolEvent::End(outcome) if !outcome.notes.is_empty());
    assert!(events.last().is_some_and(noted), "{events:?}");
}

#[test]
fn folders_and_devices_are_refused() {
    let scratch = Scratch::new();
    scratch.write("folder/x", "");
    let said = scratch.says("write_file", &write("folder", "x"));
    assert!(said.starts_with("error: `{workspace}/folder` is a folder"), "{said}");
    let said = scratch.says("write_file", &write("/dev/null", "x"));
    assert!(said.starts_with("error: `/dev/null` is a device"), "{said}");
    assert!(scratch.run("write_file", &write("x".repeat(250).as_str(), "x")).success());
    let said = scratch.says("write_file", &write("x".repeat(300).as_str(), "x"));
    assert!(said.contains("the name is too long for the file system"), "{said}");
}

#[test]
fn a_folder_without_permission_is_told() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let scratch = Scratch::new();
    scratch.write("closed/x", "");
    std::fs::set_permissions(scratch.path("closed"), PermissionsExt::from_mode(0o555)).unwrap();
    let said = scratch.says("write_file", &write("closed/y", "x"));
    std::fs::set_permissions(scratch.path("closed"), PermissionsExt::from_mode(0o755)).unwrap();
    assert!(said.contains("there is no right to write there"), "{said}");
}
