use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rail_journal::snapshots::{Entry, OnConflict};

use crate::scene::{Scene, Thing, tree};

/// A folder was swapped for a link that leads out: nothing is written or removed behind it.
#[test]
fn links_in_place_of_folders_lead_nowhere() {
    for how in [OnConflict::Leave, OnConflict::Force] {
        let scene = Scene::new();
        let outside = scene.beside("outside");
        scene.write("a/b/file", "old");
        scene.write("a/b/gone", "old");
        let before = scene.take();
        scene.write("a/b/file", "new");
        scene.write("a/b/made", "new");
        scene.remove("a/b/gone");
        let after = scene.take();
        // It looks exactly like what is expected there.
        fs::create_dir(&outside).unwrap();
        fs::rename(scene.path("a/b"), outside.join("b")).unwrap();
        symlink(outside.join("b"), scene.path("a/b")).unwrap();
        let there = tree(&outside);
        let told = scene.snapshots.restore(after, before, how).unwrap();
        assert_eq!(tree(&outside), there, "{how:?} {told:?}");
        assert!(told.restored.is_empty() && told.removed.is_empty(), "{told:?}");
        assert!(!told.conflicts.is_empty(), "{told:?}");
        // The link itself is a link in the snapshot, and nothing behind it is read.
        assert_eq!(scene.changes(after, scene.take()), ["+a/b", "-a/b/file", "-a/b/made"]);
    }
}

#[test]
fn a_link_in_place_of_a_file_is_replaced_not_followed() {
    let scene = Scene::new();
    let secret = scene.beside("secret");
    fs::write(&secret, "theirs").unwrap();
    scene.write("file", "old");
    let before = scene.take();
    scene.write("file", "theirs");
    let after = scene.take();
    scene.remove("file");
    scene.link("file", &secret);
    // What the link leads to holds what is expected; it is a conflict all the same.
    assert_eq!(scene.restore(after, before).conflicts.len(), 1);
    let linked = scene.take();
    let change = &scene.snapshots.changes(after, linked).unwrap()[0];
    assert!(matches!(&change.new, Some(Entry::Link(to)) if *to == secret.as_os_str().as_encoded_bytes()));
    scene.snapshots.restore(after, before, OnConflict::Force).unwrap();
    assert_eq!((scene.read("file"), fs::read_to_string(&secret).unwrap()), ("old".into(), "theirs".into()));
    assert!(!scene.path("file").is_symlink());
}

#[test]
fn a_link_in_place_of_the_workspace_is_refused() {
    let scene = Scene::new();
    let outside = scene.beside("outside");
    scene.write("file", "old");
    let before = scene.take();
    scene.write("file", "new");
    let after = scene.take();
    fs::rename(&scene.workspace, &outside).unwrap();
    symlink(&outside, &scene.workspace).unwrap();
    assert!(scene.snapshots.restore(after, before, OnConflict::Force).is_err());
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "new");
    assert!(scene.snapshots.take().is_err());
}

/// A folder and a link to another folder change places all the time while files are brought back and forth.
#[test]
fn links_that_are_swapped_in_at_any_moment_lead_nowhere() {
    let scene = Scene::new();
    let outside = scene.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    scene.write("d/file", "one");
    scene.write("d/one", "");
    let one = scene.take();
    scene.write("d/file", "two");
    scene.remove("d/one");
    scene.write("d/two", "");
    let two = scene.take();
    symlink(&outside, scene.path("link")).unwrap();
    let there = tree(&outside);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, link) = (scene.path("d"), scene.path("link"));
            while !stop.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, &folder, cwd, &link, flags).unwrap();
            }
        });
        for _ in 0..200 {
            for (from, to) in [(two, one), (one, two)] {
                scene.snapshots.restore(from, to, OnConflict::Force).unwrap();
                let taken = scene.snapshots.take_files(&[scene.path("d/file")]).unwrap();
                let changes = scene.snapshots.changes(one, taken.id).unwrap();
                let read = changes.iter().filter_map(|change| match &change.new {
                    Some(Entry::File { id, .. }) => Some(scene.store().get(id).unwrap()),
                    Some(Entry::Link(_) | Entry::NotKept { .. } | Entry::Folder { .. }) | None => None,
                });
                assert!(
                    !read.collect::<Vec<_>>().contains(&b"outside".to_vec()),
                    "it read what a link leads to"
                );
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(tree(&outside), there);
    assert_eq!(there.len(), 1);
    assert!(matches!(&there.values().next(), Some(Thing::File(_, bytes)) if bytes == b"outside"));
}

/// A snapshot in a store that somebody has written into can't name places outside.
#[test]
fn a_forged_snapshot_is_refused() {
    let scene = Scene::new();
    scene.write("a", "a");
    let from = scene.take();
    let content = scene.store().put(b"evil").unwrap();
    for name in ["../evil", "..", "a/../../evil", "%2e%2e", "/evil"] {
        let forged = scene.store().put(format!("file 644 4 {content} {name}\n").as_bytes()).unwrap();
        assert!(scene.snapshots.restore(from, forged.into(), OnConflict::Force).is_err(), "{name}");
    }
    assert_eq!(scene.read("a"), "a");
    assert!(!scene.beside("evil").exists());
}

#[test]
fn loops_of_links_and_deep_folders_end() {
    let scene = Scene::new();
    scene.link("loop", "loop");
    scene.link("self", ".");
    let mut deep = String::new();
    for _ in 0..300 {
        deep.push_str("d/");
    }
    scene.write(format!("{deep}file"), "deep");
    let before = scene.take();
    scene.remove("d");
    scene.remove("loop");
    scene.back(scene.take(), before);
    assert_eq!(scene.read(format!("{deep}file")), "deep");
}
