use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::scratch::Scratch;

fn says(scratch: &Scratch, path: &str) -> String {
    scratch.says("list_directory", &json!({ "path": scratch.path(path) }))
}

#[test]
#[cfg(target_os = "linux")]
fn every_kind_of_entry_is_shown() {
    let scratch = Scratch::new();
    scratch.write("b.txt", "four");
    scratch.write("a/inner.txt", "");
    scratch.write("z/inner.txt", "");
    scratch.write(".hidden", "");
    symlink("a", scratch.path("to-folder")).unwrap();
    symlink("b.txt", scratch.path("to-file")).unwrap();
    symlink("gone", scratch.path("to-nothing")).unwrap();
    symlink("/", scratch.path("to-root")).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, scratch.path("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    insta::assert_snapshot!(says(&scratch, ""), @r"
    ok: {workspace}:
    a/
    z/
    .hidden (0 bytes)
    b.txt (4 bytes)
    pipe (a device, a socket or a pipe)
    to-file -> b.txt
    to-folder -> a/
    to-nothing -> gone (broken link)
    to-root -> / (outside)
    [9 entries]
    ");
}

#[test]
fn what_git_ignores_is_marked() {
    let scratch = Scratch::new();
    scratch.write(".git/HEAD", "");
    scratch.write(".gitignore", "*.log\nout/\n");
    scratch.write("a.log", "");
    scratch.write("out/a.txt", "");
    scratch.write("src/.gitignore", "made.rs\n");
    scratch.write("src/made.rs", "");
    scratch.write("src/main.rs", "");
    insta::assert_snapshot!(says(&scratch, ""), @r"
    ok: {workspace}:
    .git/
    out/ (ignored by git)
    src/
    .gitignore (11 bytes)
    a.log (0 bytes) (ignored by git)
    [5 entries]
    ");
    insta::assert_snapshot!(says(&scratch, "src"), @r"
    ok: {workspace}/src:
    .gitignore (8 bytes)
    made.rs (0 bytes) (ignored by git)
    main.rs (0 bytes)
    [3 entries]
    ");
    insta::assert_snapshot!(says(&scratch, "out"), @r"
    ok: {workspace}/out:
    a.txt (0 bytes)
    [1 entry]
    ");
}

#[test]
fn a_full_folder_is_cut() {
    let scratch = Scratch::new();
    for at in 0..1_001 {
        scratch.write(&format!("many/{at:04}"), "");
    }
    let said = says(&scratch, "many");
    assert!(said.contains("\n0999 (0 bytes)\n[1,001 entries, the first 1,000 are shown; "), "{said}");
    let left = scratch.says("list_directory", &json!({ "path": scratch.path("many"), "ignore": ["0*"] }));
    assert_eq!(left, "ok: {workspace}/many:\n1000 (0 bytes)\n[1 entry; 1000 left out as asked]");
}

#[test]
fn names_of_any_bytes_are_shown_and_taken() {
    let scratch = Scratch::new();
    let folder = scratch.workspace().join(OsStr::from_bytes(b"caf\xe9\n"));
    if std::fs::create_dir(&folder).is_err() {
        // Some file systems take only names that are text.
        return;
    }
    std::fs::write(folder.join("a.txt"), "x\n").unwrap();
    assert_eq!(says(&scratch, ""), "ok: {workspace}:\ncaf\\xe9\\x0a/\n[1 entry]");
    let inner = scratch.says("list_directory", &json!({ "path": "caf\\xe9\\x0a" }));
    assert_eq!(inner, "ok: {workspace}/caf\\xe9\\x0a:\na.txt (2 bytes)\n[1 entry]");
}

#[test]
fn what_is_no_folder_is_said() {
    let scratch = Scratch::new();
    scratch.write("folder/file.txt", "");
    std::fs::create_dir(scratch.path("empty")).unwrap();
    insta::assert_snapshot!(says(&scratch, "folder/file.txt"), @"error: `{workspace}/folder/file.txt` is a file, not a folder; read it with `read_file`");
    insta::assert_snapshot!(says(&scratch, "empty"), @"ok: `{workspace}/empty` is an empty folder");
    insta::assert_snapshot!(says(&scratch, "foldr"), @"error: there is no folder `{workspace}/foldr`; did you mean `{workspace}/folder`?");
    let broken = scratch.says("list_directory", &json!({ "path": scratch.path("folder"), "ignore": ["["] }));
    insta::assert_snapshot!(broken, @"error: `[` is no glob pattern: unclosed character class; missing ']'");
}
