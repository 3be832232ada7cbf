use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rail_journal::snapshots::{Entry, Limits, SnapshotError, Snapshots};

use crate::scene::Scene;

#[test]
fn equal_trees_have_equal_names() {
    let scene = Scene::new();
    let empty = scene.take();
    scene.write("a/b/one.txt", "one");
    scene.write("two.txt", "");
    scene.link("link", "a/b/one.txt");
    let full = scene.snapshots.take().unwrap();
    assert_ne!(full.id, empty);
    assert_eq!((full.files, full.not_kept), (3, 0));
    assert_eq!(scene.take(), full.id);
    // Another time of a file is the same tree.
    let file = fs::File::options().write(true).open(scene.path("two.txt")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(scene.take(), full.id);
    let other = Scene::new();
    other.write("two.txt", "");
    other.link("link", "a/b/one.txt");
    other.write("a/b/one.txt", "one");
    assert_eq!(other.take(), full.id);
    other.chmod("two.txt", 0o755);
    let mode = other.take();
    assert_eq!(other.changes(full.id, mode), ["mtwo.txt"]);
    assert_eq!(full.id.to_string().parse(), Ok(full.id));
}

#[test]
fn every_kind_of_change_is_seen() {
    let scene = Scene::new();
    for name in ["gone", "changed", "same", "mode", "deep/er/changed", "deep/er/same", "swap", "dir/x"] {
        scene.write(name, name);
    }
    let strange = OsStr::from_bytes(b"not \xff utf-8\n");
    let before = scene.take();
    scene.remove("gone");
    scene.write("changed", "other");
    scene.chmod("mode", 0o700);
    scene.write("deep/er/changed", "CHANGED");
    scene.write("deep/new/file", "");
    scene.remove("swap");
    scene.write("swap/file", "");
    scene.remove("dir");
    scene.link("dir", "same");
    scene.write(strange, "x");
    fs::create_dir(scene.path("empty")).unwrap();
    let after = scene.take();
    let wanted = [
        "~changed",
        "~deep/er/changed",
        "+deep/new/file",
        "+dir",
        "-dir/x",
        "-gone",
        "mmode",
        "+not \u{fffd} utf-8\n",
        "-swap",
        "+swap/file",
    ];
    assert_eq!(scene.changes(before, after), wanted);
    assert_eq!(scene.snapshots.changes(after, after).unwrap(), []);
    let back: Vec<_> = scene.changes(after, before).iter().map(|one| one[1..].to_owned()).collect();
    assert_eq!(back, wanted.map(|one| one[1..].to_owned()));
    let changed = &scene.snapshots.changes(before, after).unwrap()[0];
    let Some(Entry::File { id, size: 5, .. }) = &changed.new else { panic!("{changed:?}") };
    assert_eq!(scene.store().get(id).unwrap(), b"other");
}

#[test]
fn a_change_of_the_same_size_at_once_is_seen() {
    let scene = Scene::new();
    scene.write("file", "0");
    let mut last = scene.take();
    let mtime = scene.path("file").metadata().unwrap().modified().unwrap();
    for number in 1..50 {
        // In place, within the same tick of the file system's clock, with the time set back.
        scene.write("file", (number % 10).to_string());
        fs::File::options().write(true).open(scene.path("file")).unwrap().set_modified(mtime).unwrap();
        let now = scene.take();
        assert_ne!(now, last, "{number}");
        last = now;
    }
}

#[test]
fn what_is_ignored_and_version_control_are_left_out() {
    let scene = Scene::new();
    let empty = scene.take();
    scene.write(".gitignore", "*.log\nout/\n!keep.log\n");
    scene.write("sub/.ignore", "secret\n");
    for name in [".git/config", "sub/.git", "a.log", "keep.log", "out/x", "sub/secret", "sub/open", ".hidden"]
    {
        scene.write(name, name);
    }
    let mut seen = scene.take();
    assert_eq!(
        scene.changes(empty, seen),
        ["+.gitignore", "+.hidden", "+keep.log", "+sub/.ignore", "+sub/open"]
    );
    // New files in known folders.
    scene.write("b.log", "");
    scene.write("out/y", "");
    scene.write("sub/c.log", "");
    assert_eq!(scene.take(), seen);
    // Other rules are obeyed at once, everywhere.
    for (rules, changes) in [
        ("*.log\n", vec!["~.gitignore", "-keep.log", "+out/x", "+out/y"]),
        (
            "out\nsub\n",
            vec![
                "~.gitignore",
                "+a.log",
                "+b.log",
                "+keep.log",
                "-out/x",
                "-out/y",
                "-sub/.ignore",
                "-sub/open",
            ],
        ),
    ] {
        scene.write(".gitignore", rules);
        let now = scene.take();
        assert_eq!(scene.changes(seen, now), changes);
        seen = now;
    }
    scene.remove(".gitignore");
    let now = scene.take();
    let all = ["-.gitignore", "+out/x", "+out/y", "+sub/.ignore", "+sub/c.log", "+sub/open"];
    assert_eq!(scene.changes(seen, now), all);
    // Rules above the workspace count too.
    fs::write(scene.beside(".ignore"), "out\n").unwrap();
    let last = scene.take();
    assert_eq!(scene.changes(now, last), ["-out/x", "-out/y"]);
}

#[test]
fn large_and_unreadable_files_are_named_and_watched() {
    let scene = Scene::with(Limits { file_bytes: 10, ..Limits::default() });
    scene.write("small", "0123456789");
    scene.write("large", "0123456789+");
    let taken = scene.snapshots.take().unwrap();
    assert_eq!((taken.files, taken.not_kept), (2, 1));
    scene.write("large", "something else that is large");
    let later = scene.take();
    assert_eq!(scene.changes(taken.id, later), ["~large"]);
    let change = &scene.snapshots.changes(taken.id, later).unwrap()[0];
    assert!(matches!(change.new, Some(Entry::NotKept { size: 28, .. })), "{change:?}");
    // A pipe and a socket are no files, and nobody waits for them.
    rustix::fs::mknodat(rustix::fs::CWD, scene.path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.path("socket")).unwrap();
    assert_eq!(scene.take(), later);
}

#[test]
fn too_much_is_said_once_and_then_it_is_off() {
    let scene = Scene::with(Limits { files: 3, ..Limits::default() });
    for name in ["a", "b", "c"] {
        scene.write(name, name);
    }
    scene.take();
    scene.write("d", "");
    assert!(matches!(scene.snapshots.take(), Err(SnapshotError::TooManyFiles { limit: 3 })));
    assert!(matches!(scene.snapshots.take(), Err(SnapshotError::Off)));
    assert!(matches!(scene.snapshots.take_files(&[scene.path("a")]), Err(SnapshotError::Off)));
    let scene = Scene::with(Limits { bytes: 10, file_bytes: 20, ..Limits::default() });
    scene.write("large", "x".repeat(21));
    scene.write("a", "12345");
    scene.take();
    scene.write("b", "123456");
    let error = scene.snapshots.take().unwrap_err();
    assert!(matches!(error, SnapshotError::TooManyBytes { limit: 10 }));
    assert!(error.to_string().contains(".gitignore"), "{error}");
    assert!(matches!(scene.snapshots.take(), Err(SnapshotError::Off)));
}

#[test]
fn the_next_session_reads_only_what_changed() {
    let mut scene = Scene::new();
    for number in 0..100 {
        scene.write(format!("{}/{number}", number % 7), number.to_string());
    }
    let first = scene.snapshots.take().unwrap();
    assert_eq!(first.read, 100);
    // Files that were changed a moment ago are read once more, for they could change at the same time again.
    while scene.snapshots.take().unwrap().read > 0 {}
    scene.again(Limits::default());
    let second = scene.snapshots.take().unwrap();
    assert_eq!((second.id, second.files, second.read), (first.id, 100, 0));
    scene.write("3/3", "other");
    scene.again(Limits::default());
    assert_eq!(scene.snapshots.take().unwrap().read, 1);
    while scene.snapshots.take().unwrap().read > 0 {}
    // Contents that are gone are read again, whatever was written down.
    scene.again(Limits::default());
    let packs = fs::read_dir(scene.store().folder().join("packs")).unwrap();
    packs.for_each(|entry| fs::remove_file(entry.unwrap().path()).unwrap());
    let third = scene.snapshots.take().unwrap();
    assert!(third.read >= 99, "{third:?}");
    // What was written down is damaged.
    for entry in fs::read_dir(scene.store().folder().join("scans")).unwrap() {
        fs::write(entry.unwrap().path(), "scan1 nonsense\n").unwrap();
    }
    let other = Snapshots::open(scene.store(), &scene.workspace, Limits::default());
    let taken = other.take().unwrap();
    assert_eq!((taken.id, taken.read), (third.id, 100));
}

#[test]
fn named_files_are_looked_at_alone_and_even_if_ignored() {
    let scene = Scene::new();
    scene.write(".gitignore", ".env\nout\n");
    scene.write("a", "a");
    scene.write("b", "b");
    scene.write(".env", "old");
    let named = ["a", ".env", "out/deep/file", "new/file"].map(|name| scene.path(name)).to_vec();
    let before = scene.snapshots.take_files(&named).unwrap().id;
    for (name, text) in
        [("a", "A"), (".env", "new"), ("out/deep/file", "x"), ("new/file", "y"), ("b", "unseen")]
    {
        scene.write(name, text);
    }
    scene.write("out/other", "never named");
    let after = scene.snapshots.take_files(&named).unwrap().id;
    assert_eq!(scene.changes(before, after), ["~.env", "~a", "+new/file", "+out/deep/file"]);
    let all = scene.take();
    assert_eq!(scene.changes(after, all), ["~b"]);
    assert_eq!(scene.take(), all);
    scene.restore(after, before);
    let tree = scene.tree();
    let gone = ["new/file", "new", "out/deep"].map(|name| tree.contains_key(&PathBuf::from(name)));
    assert_eq!(
        (scene.read("a"), scene.read(".env"), scene.read("b"), gone),
        ("a".into(), "old".into(), "unseen".into(), [false; 3])
    );
    assert_eq!(scene.read("out/other"), "never named");
    // What is outside, or of version control, is said.
    let outside =
        [scene.beside("x"), scene.path(".git/config"), scene.path("../work/../x"), scene.workspace.clone()];
    assert_eq!(scene.snapshots.take_files(&outside).unwrap().outside, outside);
    // From the workspace on, and by another name of the same place.
    std::os::unix::fs::symlink(&scene.workspace, scene.beside("alias")).unwrap();
    let taken = scene.snapshots.take_files(&[PathBuf::from("a"), scene.beside("alias/b")]).unwrap();
    assert_eq!(taken.outside, Vec::<PathBuf>::new());
}

#[test]
fn differences_are_shown_line_by_line() {
    let scene = Scene::new();
    scene.write("a.txt", "one\ntwo\n");
    scene.write("old/name.txt", "moved\n");
    scene.write("binary", b"\0\x01");
    let before = scene.take();
    scene.write("a.txt", "one\n2\n");
    scene.write("binary", b"\0\x02");
    fs::rename(scene.path("old/name.txt"), scene.path("name.txt")).unwrap();
    scene.write("new.txt", "new\n");
    let diffs = scene.snapshots.diff(before, scene.take()).unwrap();
    let told: Vec<_> = diffs
        .iter()
        .map(|diff| {
            let from = diff.moved_from.as_ref().map(|path| path.display().to_string());
            (diff.path.display().to_string(), from, diff.added, diff.removed)
        })
        .collect();
    let wanted = [
        ("a.txt", None, 1, 1),
        ("binary", None, 0, 0),
        ("name.txt", Some("old/name.txt"), 0, 0),
        ("new.txt", None, 1, 0),
    ];
    assert_eq!(
        told,
        wanted.map(|(path, from, added, removed)| (path.into(), from.map(Into::into), added, removed))
    );
}

#[test]
fn old_snapshots_go_and_the_others_stay_whole() {
    let scene = Scene::new();
    for number in 0..60 {
        scene.write(format!("d/{number}"), number.to_string());
    }
    let first = scene.take();
    scene.write("d/1", "second");
    let second = scene.take();
    scene.write("d/1", "third");
    let third = scene.take();
    let image = scene.store().put(b"an image of the journal").unwrap();
    let future = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 34);
    scene.snapshots.prune(&[first, third], &|_| false, SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(scene.changes(second, third), ["~d/1"]);
    let pruned = scene.snapshots.prune(&[first, third], &|id| *id == image, future).unwrap();
    assert_eq!((pruned.contents, scene.store().has(&image)), (3, true), "two folders and a file");
    assert!(matches!(scene.snapshots.changes(second, third), Err(SnapshotError::Store(_))));
    scene.back(third, first);
    assert_eq!(scene.read("d/1"), "1");
    let all_gone = scene.snapshots.prune(&[], &|_| false, future).unwrap();
    assert!(all_gone.contents > 60);
    // What is gone is read and kept again.
    assert_eq!(scene.take(), first);
    scene.remove("d");
    scene.back(scene.take(), first);
}
