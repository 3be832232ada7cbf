//! Paths that lead to no file, or elsewhere.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use rail_tool::shown;
use serde_json::json;

use crate::scratch::Scratch;

fn says(scratch: &Scratch, name: &str) -> String {
    scratch.says("read_file", &json!({ "file_path": scratch.path(name) }))
}

#[test]
fn a_missing_file_names_similar_ones() {
    let scratch = Scratch::new();
    for name in ["config.yaml", "main.rs", "src/deep/helper.ts", "node_modules/x/gone.js"] {
        scratch.write(name, "");
    }
    insta::assert_snapshot!(says(&scratch, "config.json"), @"error: there is no file `{workspace}/config.json`; did you mean `{workspace}/config.yaml`?");
    insta::assert_snapshot!(says(&scratch, "mian.rs"), @"error: there is no file `{workspace}/mian.rs`; did you mean `{workspace}/main.rs`?");
    insta::assert_snapshot!(says(&scratch, "helper.ts"), @"error: there is no file `{workspace}/helper.ts`; did you mean `{workspace}/src/deep/helper.ts`?");
    insta::assert_snapshot!(says(&scratch, "source/deep/helper.ts"), @"error: there is no file `{workspace}/source/deep/helper.ts`; did you mean `{workspace}/src/deep/helper.ts`?");
    insta::assert_snapshot!(says(&scratch, "gone.js"), @"error: there is no file `{workspace}/gone.js`; find it with `glob`, or see what is there with `list_directory`");
}

#[test]
fn names_of_any_bytes_are_suggested_and_taken() {
    let scratch = Scratch::new();
    let path = scratch.workspace().join(OsStr::from_bytes(b"caf\xe9.txt"));
    if std::fs::write(&path, "found\n").is_err() {
        // Some file systems take only names that are text.
        return;
    }
    let said = says(&scratch, "cafe.txt");
    assert_eq!(
        said,
        "error: there is no file `{workspace}/cafe.txt`; did you mean `{workspace}/caf\\xe9.txt`?"
    );
    let found = scratch.says("read_file", &json!({ "file_path": shown(&path) }));
    assert_eq!(found, "ok: 1\tfound\n\n[1 line in all]");
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_no_file_is_not_read() {
    let scratch = Scratch::new();
    scratch.write("folder/a.txt", "");
    insta::assert_snapshot!(says(&scratch, "folder"), @"error: `{workspace}/folder` is a folder; list it with `list_directory`");
    insta::assert_snapshot!(says(&scratch, "folder/a.txt/b"), @"error: a part of `{workspace}/folder/a.txt/b` is a file, not a folder; see what is there with `list_directory`");

    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, scratch.path("pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    insta::assert_snapshot!(says(&scratch, "pipe"), @"error: `{workspace}/pipe` is a device, a socket or a pipe, not a file; use it through `bash`");

    let socket = std::os::unix::net::UnixListener::bind(scratch.path("socket")).unwrap();
    insta::assert_snapshot!(says(&scratch, "socket"), @"error: `{workspace}/socket` is a device, a socket or a pipe, not a file; use it through `bash`");
    drop(socket);

    let device = scratch.says("read_file", &json!({ "file_path": "/dev/zero" }));
    insta::assert_snapshot!(device, @"error: `/dev/zero` is a device, a socket or a pipe, not a file; use it through `bash`");
}

#[test]
#[cfg(target_os = "linux")]
fn files_without_a_length_are_read() {
    let scratch = Scratch::new();
    let said = scratch.says("read_file", &json!({ "file_path": "/proc/version" }));
    assert!(said.starts_with("ok: 1\tLinux"), "{said}");
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    let scratch = Scratch::new();
    let path = scratch.write("secret.txt", "x\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    if std::fs::read(&path).is_ok() {
        assert_eq!(says(&scratch, "secret.txt"), "ok: 1\tx\n\n[1 line in all]");
    } else {
        let said = "error: the system does not let this user read `{workspace}/secret.txt`; ask the user to change that";
        assert_eq!(says(&scratch, "secret.txt"), said);
    }
}

#[test]
fn links_are_followed_and_said() {
    let scratch = Scratch::new();
    scratch.write("folder/a.txt", "x\n");
    symlink("folder/a.txt", scratch.path("link.txt")).unwrap();
    symlink("folder", scratch.path("linked")).unwrap();
    symlink("nowhere", scratch.path("broken")).unwrap();
    symlink("loop", scratch.path("loop")).unwrap();
    insta::assert_snapshot!(says(&scratch, "link.txt"), @r"
    ok: 1	x

    [1 line in all; a link leads to `{workspace}/folder/a.txt`]
    ");
    assert_eq!(says(&scratch, "linked/a.txt"), says(&scratch, "link.txt"));
    assert_eq!(says(&scratch, "folder/../folder/./a.txt"), "ok: 1\tx\n\n[1 line in all]");
    insta::assert_snapshot!(says(&scratch, "broken"), @"error: `{workspace}/broken` is a link to `nowhere`, where nothing is");
    assert!(says(&scratch, "loop").starts_with("error: `{workspace}/loop`: "), "{}", says(&scratch, "loop"));
    // What was read is the file, not the link.
    let real = scratch.path("folder/a.txt");
    assert_eq!(scratch.session.stamps.files(), [real]);
}

#[test]
fn a_number_that_is_none_is_refused_with_what_it_must_be() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\ntwo\nthree\n");
    let said =
        |offset: i64| scratch.says("read_file", &json!({"file_path": "a.txt", "offset": offset, "limit": 1}));
    assert_eq!(
        said(-3),
        "error: the arguments of `read_file` do not fit: `offset`: must be a whole number of 0 or more"
    );
    assert_eq!(said(2), "ok: 2\ttwo\n\n[line 2 of 3 in all; go on with `offset` 3]");
}
