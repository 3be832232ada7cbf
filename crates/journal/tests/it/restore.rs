use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use rail_journal::snapshots::{History, Limits, OnConflict, Restored, Step};

use crate::scene::{Scene, names};

/// Every change of kinds, and back, and forth again.
#[test]
fn everything_comes_back() {
    let scene = Scene::new();
    for name in [
        "file",
        "deep/er/file",
        "to-folder",
        "to-link",
        "gone/a",
        "gone/b",
        "run.sh",
        "read-only",
        "empty",
        "folder/x/y",
    ] {
        scene.write(name, name);
    }
    scene.write("empty", "");
    scene.write(OsStr::from_bytes(b"\xfe\n"), "strange");
    scene.link("link", "file");
    scene.link("link-to-file", "nowhere");
    scene.link("link-to-folder", "deep");
    scene.chmod("run.sh", 0o755);
    scene.chmod("read-only", 0o444);
    fs::create_dir(scene.path("hollow")).unwrap();
    let (before, old) = (scene.take(), scene.tree());

    scene.write("file", "changed");
    scene.remove("gone");
    scene.remove("hollow");
    scene.remove("to-folder");
    scene.write("to-folder/new/file", "x");
    scene.remove("folder");
    scene.write("folder", "now a file");
    scene.remove("to-link");
    scene.link("to-link", "deep/er/file");
    scene.remove("link-to-file");
    scene.write("link-to-file", "now a file");
    scene.remove("link-to-folder");
    scene.write("link-to-folder/inside", "x");
    scene.remove("link");
    scene.link("link", "run.sh");
    scene.chmod("run.sh", 0o644);
    scene.remove("read-only");
    scene.write("read-only", "not any more");
    scene.write("empty", "full");
    scene.remove(OsStr::from_bytes(b"\xfe\n"));
    scene.chmod("deep", 0o700);
    scene.write("new/deep/er/file", "new");
    let (after, new) = (scene.take(), scene.tree());

    for _ in 0..2 {
        scene.back(after, before);
        assert_eq!(scene.tree(), old);
        scene.back(before, after);
        assert_eq!(scene.tree(), new);
    }
}

#[test]
fn what_was_done_is_told() {
    let scene = Scene::new();
    scene.write("a", "a");
    scene.write("b", "b");
    let before = scene.take();
    scene.write("a", "A");
    scene.remove("b");
    scene.write("c/d", "d");
    let after = scene.take();
    let told = scene.restore(after, before);
    assert_eq!(
        (names(&told.restored), names(&told.removed)),
        (vec!["a".into(), "b".into()], vec!["c/d".into()])
    );
    assert!(!scene.path("c").exists(), "a folder that came with the step goes with it");
    assert_eq!(scene.restore(after, before), Restored::default(), "nothing is left to do");
}

#[test]
fn what_others_changed_is_left_alone_unless_forced() {
    let scene = Scene::new();
    for name in ["edited", "deleted", "made", "linked", "fine", "done"] {
        scene.write(name, "before");
    }
    scene.remove("made");
    let before = scene.take();
    for name in ["edited", "deleted", "made", "linked", "fine", "done"] {
        scene.write(name, "after!");
    }
    let after = scene.take();
    scene.write("edited", "theirs");
    scene.write("made", "theirs too");
    scene.remove("deleted");
    scene.remove("linked");
    scene.link("linked", "fine");
    scene.write("done", "before");
    scene.write("unrelated", "theirs");
    let now = scene.take();
    let told = scene.restore(after, before);
    assert_eq!(names(&told.conflicts), ["deleted", "edited", "linked", "made"]);
    assert_eq!((names(&told.restored), told.removed.len(), told.left.len()), (vec!["fine".to_owned()], 0, 0));
    assert_eq!(scene.changes(now, scene.take()), ["~fine"]);
    let told = scene.snapshots.restore(after, before, OnConflict::Force).unwrap();
    assert_eq!((told.conflicts.len(), told.left.len()), (0, 0));
    let kept: Vec<_> =
        told.overwritten.iter().map(|(path, id)| (path.clone(), scene.store().get(id).unwrap())).collect();
    let wanted = [("made", "theirs too"), ("edited", "theirs"), ("linked", "fine")];
    assert_eq!(kept, wanted.map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())));
    scene.remove("unrelated");
    assert_eq!(scene.take(), before);
}

#[test]
fn what_is_not_kept_is_neither_removed_nor_guessed() {
    let scene = Scene::with(Limits { file_bytes: 10, ..Limits::default() });
    scene.write("grows", "small");
    scene.write("large", "a large file of the user");
    let before = scene.take();
    scene.write("grows", "now it is large as well");
    scene.write("large", "a large file that was changed");
    scene.write("made", "a large file that was made");
    let after = scene.take();
    let told = scene.restore(after, before);
    assert_eq!(names(&told.restored), ["grows"]);
    let left: Vec<_> = told.left.iter().map(|left| left.path.display().to_string()).collect();
    assert_eq!((left, told.conflicts.len()), (vec!["made".to_owned(), "large".to_owned()], 0));
    assert_eq!(scene.read("large"), "a large file that was changed");
    assert_eq!(scene.read("made"), "a large file that was made");
}

#[test]
fn ignored_files_never_go_with_the_rules_that_hid_them() {
    let scene = Scene::new();
    scene.write(".gitignore", "node_modules\n*.log\n");
    scene.write("node_modules/a/b.js", "x");
    scene.write("sub/x.log", "x");
    let before = scene.take();
    scene.write(".gitignore", "*.tmp\n");
    scene.write("y.tmp", "y");
    scene.write("made", "by the step");
    let after = scene.take();
    assert_eq!(scene.changes(before, after), ["~.gitignore", "+made", "+node_modules/a/b.js", "+sub/x.log"]);
    let told = scene.restore(after, before);
    assert_eq!(
        (names(&told.removed), names(&told.restored)),
        (vec!["made".into()], vec![".gitignore".into()])
    );
    // What a step made while it was ignored was never seen.
    assert_eq!(scene.changes(before, scene.take()), ["+y.tmp"]);
    assert_eq!(scene.read("node_modules/a/b.js"), "x");
    // And the other way: what becomes ignored is not gone.
    scene.remove(".gitignore");
    let bare = scene.take();
    scene.write(".gitignore", "*.log\n");
    let hidden = scene.take();
    scene.back(hidden, bare);
    scene.back(bare, hidden);
    assert_eq!(scene.read("sub/x.log"), "x");
}

#[test]
fn a_folder_with_strange_files_stays_and_is_told() {
    let scene = Scene::new();
    scene.write(".gitignore", "*.o\n");
    scene.write("was-file", "x");
    let before = scene.take();
    scene.write("pkg/a.c", "a");
    scene.remove("was-file");
    scene.write("was-file/b.c", "b");
    let after = scene.take();
    scene.write("pkg/a.o", "built");
    scene.write("was-file/b.o", "built");
    let told = scene.restore(after, before);
    assert_eq!(names(&told.removed), ["pkg/a.c", "was-file/b.c"]);
    let left: Vec<_> = told.left.iter().map(|left| left.path.display().to_string()).collect();
    assert_eq!(left, ["was-file", "pkg", "was-file"]);
    assert_eq!((scene.read("pkg/a.o"), scene.read("was-file/b.o")), ("built".into(), "built".into()));
}

#[test]
fn a_deleted_workspace_comes_back() {
    let scene = Scene::new();
    scene.write("a/b", "b");
    let before = scene.take();
    fs::remove_dir_all(&scene.workspace).unwrap();
    let after = scene.snapshots.take().unwrap();
    assert_eq!(after.files, 0);
    scene.back(after.id, before);
    assert_eq!(scene.read("a/b"), "b");
    fs::remove_dir_all(&scene.workspace).unwrap();
    assert!(
        scene.snapshots.restore(before, after.id, OnConflict::Leave).is_err(),
        "there is nothing to remove from"
    );
    fs::write(&scene.workspace, "a file").unwrap();
    assert!(scene.snapshots.take().is_err());
}

#[test]
fn the_owner_stays() {
    let scene = Scene::new();
    scene.write("file", "old");
    let before = scene.take();
    scene.write("file", "new");
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(scene.path("file"), Some(1234), Some(4321)).unwrap();
    }
    let owner = |meta: fs::Metadata| (meta.uid(), meta.gid());
    let wanted = owner(scene.path("file").metadata().unwrap());
    scene.back(scene.take(), before);
    assert_eq!(owner(scene.path("file").metadata().unwrap()), wanted);
}

#[test]
fn folders_that_forbid_writing_are_no_hindrance() {
    let scene = Scene::new();
    scene.write("locked/file", "old");
    scene.write("locked/gone", "x");
    scene.chmod("locked/file", 0o444);
    scene.chmod("locked", 0o555);
    let (before, old) = (scene.take(), scene.tree());
    scene.chmod("locked", 0o755);
    scene.remove("locked/file");
    scene.write("locked/file", "new");
    scene.remove("locked/gone");
    scene.write("locked/made", "x");
    scene.chmod("locked", 0o555);
    let after = scene.take();
    scene.back(after, before);
    assert_eq!(scene.tree(), old);
    scene.back(before, after);
    scene.chmod("locked", 0o755);
    scene.remove("locked");
    scene.back(scene.take(), before);
    assert_eq!(scene.tree(), old);
    scene.chmod("locked", 0o755);
}

#[test]
fn contents_that_are_lost_are_told_and_nothing_is_destroyed() {
    let scene = Scene::new();
    scene.write("a", "old a");
    scene.write("b", "old b");
    let before = scene.take();
    scene.write("a", "new a");
    scene.write("b", "new b");
    let after = scene.take();
    let id = rail_journal::store::ContentId::of(b"old a").to_string();
    fs::write(scene.store().folder().join(&id[..2]).join(&id[2..]), "damaged!").unwrap();
    let told = scene.restore(after, before);
    assert_eq!((scene.read("a"), scene.read("b")), ("new a".into(), "old b".into()));
    assert!(told.left[0].why.contains("damaged"), "{told:?}");
    // What goes now is kept again first.
    scene.write("c", "made");
    let with = scene.take();
    let id = rail_journal::store::ContentId::of(b"made");
    let name = id.to_string();
    fs::remove_file(scene.store().folder().join(&name[..2]).join(&name[2..])).unwrap();
    scene.remove("c");
    let without = scene.take();
    scene.write("c", "made");
    scene.restore(with, without);
    assert!(!scene.path("c").exists());
    assert_eq!(scene.store().get(&id).unwrap(), b"made");
}

#[test]
fn steps_are_undone_around_what_others_did_between_them() {
    let scene = Scene::new();
    let mut history = History::default();
    scene.write("a", "0");
    scene.write("b", "0");
    for number in ["1", "2", "3"] {
        let before = scene.take();
        scene.write("a", number);
        history.record(Step { before, after: scene.take() });
        // Between the steps, somebody else works on another file.
        scene.write("b", format!("theirs {number}"));
    }
    for (done, a) in [(1, "1"), (3, "3"), (0, "0"), (2, "2")] {
        let plan = history.rewind(done).unwrap();
        for restore in &plan.restores {
            assert_eq!(scene.restore(restore.from, restore.to).conflicts, Vec::<PathBuf>::new());
        }
        history.went(&plan);
        assert_eq!((scene.read("a"), scene.read("b")), (a.into(), "theirs 3".into()));
    }
}
