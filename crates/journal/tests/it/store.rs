use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rail_journal::store::{ContentId, Store};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("deep/store"));
    (folder, store)
}

fn file(store: &Store, id: &ContentId) -> PathBuf {
    let name = id.to_string();
    store.folder().join(&name[..2]).join(&name[2..])
}

/// All files of the store, and their folders.
fn files(store: &Store) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![store.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn what_is_put_comes_back_and_is_kept_once() {
    let (_folder, store) = store();
    for bytes in [b"".as_slice(), b"one", &vec![7; 300_000]] {
        let id = store.put(bytes).unwrap();
        assert!(store.has(&id));
        assert_eq!(store.get(&id).unwrap(), bytes);
        let before = fs::metadata(file(&store, &id)).unwrap();
        assert_eq!(store.put(bytes).unwrap(), id);
        assert_eq!(fs::metadata(file(&store, &id)).unwrap().ino(), before.ino(), "not written again");
        assert_eq!(before.permissions().mode() & 0o777, 0o600);
        let fan = file(&store, &id).parent().unwrap().metadata().unwrap();
        assert_eq!(fan.permissions().mode() & 0o777, 0o700);
        store.sync(&id).unwrap();
    }
    assert_eq!(store.folder().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(files(&store).len(), 3);
}

#[test]
fn files_are_streamed_to_the_same_names() {
    let (folder, store) = store();
    let path = folder.path().join("large");
    let bytes: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
    fs::write(&path, &bytes).unwrap();
    let stored = store.put_file(&path).unwrap();
    assert_eq!((stored.id, stored.len), (ContentId::of(&bytes), 1_000_000));
    assert_eq!(store.put(&bytes).unwrap(), stored.id);
    assert_eq!(store.put_file(&path).unwrap(), stored);
    assert_eq!(files(&store), [file(&store, &stored.id)]);
    assert_eq!(store.put_file(folder.path()).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(store.put_file(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn what_is_missing_or_damaged_says_so() {
    let (_folder, store) = store();
    let missing = ContentId::of(b"never");
    assert!(!store.has(&missing));
    let error = store.get(&missing).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().contains(&missing.to_string()), "{error}");
    let id = store.put(b"whole").unwrap();
    fs::write(file(&store, &id), b"other").unwrap();
    let error = store.get(&id).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error.to_string().contains("damaged"), "{error}");
    // What a crash of the machine cut off is mended by the next who puts it.
    fs::write(file(&store, &id), b"").unwrap();
    store.put(b"whole").unwrap();
    assert_eq!(store.get(&id).unwrap(), b"whole");
}

#[test]
fn a_failure_leaves_nothing_half() {
    struct Broken(u32);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 3 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(into.len()) }
        }
    }
    let (_folder, store) = store();
    assert_eq!(store.put_from(Broken(0)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(files(&store), Vec::<PathBuf>::new());
    // An object that can't take its name.
    let id = ContentId::of(b"blocked");
    fs::create_dir_all(file(&store, &id).join("full")).unwrap();
    assert!(store.put(b"blocked").is_err());
    assert_eq!(files(&store), Vec::<PathBuf>::new());
}

#[test]
fn many_writers_of_the_same_contents_do_not_disturb_each_other() {
    let (_folder, store) = store();
    let bytes = |number: u32| number.to_string().repeat(2_000).into_bytes();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..50 {
                    let id = store.put(&bytes(number)).unwrap();
                    assert_eq!(store.get(&id).unwrap(), bytes(number));
                }
            });
        }
    });
    assert_eq!(files(&store).len(), 50);
}

#[test]
fn old_contents_go_unless_somebody_keeps_them() {
    let (_folder, store) = store();
    assert_eq!(store.prune(&|_| false, SystemTime::UNIX_EPOCH).unwrap().contents, 0);
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let age = |path: PathBuf| fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    let [kept, gone, used, new] = [b"kept", b"gone", b"used", b"new!"].map(|bytes| store.put(bytes).unwrap());
    for id in [kept, gone, used] {
        age(file(&store, &id));
    }
    fs::write(store.folder().join("new-1-1"), "left by a crash").unwrap();
    age(store.folder().join("new-1-1"));
    fs::write(store.folder().join("new-1-2"), "being written").unwrap();
    fs::write(store.folder().join("other"), "somebody else's").unwrap();
    age(store.folder().join("other"));
    // Putting it again counts as putting it now.
    store.put(b"used").unwrap();
    let pruned = store.prune(&|id| *id == kept, old + Duration::from_secs(1)).unwrap();
    assert_eq!((pruned.contents, pruned.bytes), (1, 4));
    assert_eq!([kept, gone, used, new].map(|id| store.has(&id)), [true, false, true, true]);
    let left = ["new-1-1", "new-1-2", "other"].map(|name| store.folder().join(name).exists());
    assert_eq!(left, [false, true, true]);
}

#[test]
fn a_batch_is_one_file_and_all_of_it_or_nothing() {
    let (_folder, store) = store();
    let texts: Vec<String> = (0..300).map(|number| format!("{number}").repeat(number * 20)).collect();
    let mut batch = store.batch().unwrap();
    let ids: Vec<_> = texts.iter().map(|text| batch.put(text.as_bytes()).unwrap()).collect();
    assert_eq!(batch.put(texts[7].as_bytes()).unwrap(), ids[7]);
    assert!(!store.has(&ids[3]));
    drop(batch);
    assert_eq!(files(&store), Vec::<PathBuf>::new());
    let mut batch = store.batch().unwrap();
    for text in &texts {
        batch.put(text.as_bytes()).unwrap();
    }
    batch.finish().unwrap();
    assert_eq!(files(&store).len(), 1);
    store.sync(&ids[3]).unwrap();
    // Another process sees them too, also if it looked before.
    let other = Store::at(store.folder().to_owned());
    for (id, text) in ids.iter().zip(&texts) {
        assert_eq!(store.put(text.as_bytes()).unwrap(), *id);
        assert_eq!(other.get(id).unwrap(), text.as_bytes());
    }
    let mut batch = store.batch().unwrap();
    let late = batch.put(b"late").unwrap();
    batch.put(texts[9].as_bytes()).unwrap();
    batch.finish().unwrap();
    assert_eq!(other.get(&late).unwrap(), b"late");
    assert_eq!(files(&store).len(), 2, "what is packed is not kept twice");
}

#[test]
fn damaged_packs_say_so() {
    let (_folder, store) = store();
    let mut batch = store.batch().unwrap();
    let id = batch.put(b"some content").unwrap();
    batch.finish().unwrap();
    let pack = files(&store).remove(0);
    let whole = fs::read(&pack).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&pack, &bytes).unwrap();
        let error = Store::at(store.folder().to_owned()).get(&id).unwrap_err();
        assert!(
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::NotFound),
            "{at}: {error}"
        );
        fs::write(&pack, &whole[..at]).unwrap();
        assert!(Store::at(store.folder().to_owned()).get(&id).is_err(), "{at}");
    }
    // What can't be read is put again.
    let other = Store::at(store.folder().to_owned());
    assert_eq!(other.put(b"some content").unwrap(), id);
    assert_eq!(other.get(&id).unwrap(), b"some content");
}

#[test]
fn old_packs_go_when_little_of_them_is_wanted() {
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (kept, left) in [(0, 0), (1, 1), (9, 10), (10, 10)] {
        let (_folder, store) = store();
        let mut batch = store.batch().unwrap();
        let ids: Vec<_> = (0..10_u8).map(|number| batch.put(&[number; 100]).unwrap()).collect();
        batch.finish().unwrap();
        let pack = files(&store).remove(0);
        fs::File::options().write(true).open(&pack).unwrap().set_modified(old).unwrap();
        let keep = |id: &ContentId| ids[..kept].contains(id);
        store.prune(&keep, old).unwrap();
        assert!(pack.exists(), "it is not older");
        let pruned = store.prune(&keep, old + Duration::from_secs(1)).unwrap();
        assert_eq!(pruned.contents, 10 - left, "{kept}");
        let there = ids.iter().filter(|id| store.get(id).is_ok()).count();
        assert_eq!(there as u64, left, "{kept}");
        assert!(ids[..kept].iter().all(|id| store.has(id)));
    }
}
