#![expect(
    clippy::disallowed_methods,
    reason = "whether a missing part fails, the environment of the tests says"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rail_journal::snapshots::SnapshotError;

use crate::scene::{Scene, Thing, tree};

/// A small file system in memory, gone with the test.
struct Small(PathBuf);

impl Small {
    fn mounted(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let flags = rustix::mount::MountFlags::empty();
        let mounted = rustix::mount::mount("tmpfs", at, "tmpfs", flags, Some(c"size=64k"));
        if mounted.is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI can mount no small file system");
            eprintln!("skipped: a small file system can't be mounted by this user");
        }
        mounted.ok().map(|()| Self(at.to_owned()))
    }

    /// Waits for the room of what was removed: a child that another test is just starting has it open for a moment, too.
    fn until_empty(&self) {
        for _ in 0..1_000_000 {
            let room = rustix::fs::statvfs(&self.0).unwrap();
            if room.f_bfree == room.f_blocks {
                return;
            }
            std::thread::yield_now();
        }
        panic!("something takes room, and has no name");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

fn files(at: &Path) -> Vec<PathBuf> {
    let things = tree(at).into_iter();
    things.filter(|(_, thing)| matches!(thing, Thing::File(..))).map(|(path, _)| path).collect()
}

#[test]
fn a_full_store_holds_nothing_half_and_serves_again() {
    let scene = Scene::new();
    let folder = scene.beside("store");
    let Some(small) = Small::mounted(&folder) else { return };
    let store = scene.store();
    let full = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
    full(store.put(&vec![1; 100_000]).unwrap_err());
    full(store.put_from(io::repeat(2)).unwrap_err());
    let mut batch = store.batch().unwrap();
    let mut put = Ok(());
    for number in 0..100_u8 {
        put = put.and_then(|()| batch.put(&[number; 20_000]).map(drop));
    }
    full(put.and_then(|()| batch.finish()).unwrap_err());
    assert_eq!(files(&folder), Vec::<PathBuf>::new());
    // A snapshot that has no room is an error; there is one again as soon as there is room.
    for number in 0..50 {
        scene.write(format!("{number}"), number.to_string().repeat(2_000));
    }
    assert!(matches!(scene.snapshots.take(), Err(SnapshotError::Store(_))));
    assert_eq!(files(&folder), Vec::<PathBuf>::new());
    for number in 10..50 {
        scene.remove(format!("{number}"));
    }
    small.until_empty();
    let taken = scene.snapshots.take().unwrap();
    assert_eq!((taken.files, taken.read), (10, 10));
}

#[test]
fn a_full_workspace_keeps_what_it_has() {
    let scene = Scene::new();
    let Some(_small) = Small::mounted(&scene.workspace) else { return };
    scene.write("file", "old".repeat(10_000));
    let before = scene.take();
    scene.write("file", "new".repeat(10_000));
    let after = scene.take();
    scene.write("other", "x".repeat(20_000));
    let told = scene.restore(after, before);
    assert_eq!((told.restored.len(), told.left.len()), (0, 1), "{told:?}");
    assert_eq!(scene.read("file"), "new".repeat(10_000));
    assert_eq!(files(&scene.workspace), ["file", "other"].map(PathBuf::from), "no draft is left");
    scene.remove("other");
    scene.back(after, before);
}
