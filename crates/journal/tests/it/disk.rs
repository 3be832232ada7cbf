use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rail_journal::{JournalError, Writer, delete, view};
#[cfg(target_os = "linux")]
use rail_journal::{session_folder, verify};

use crate::bed::{Bed, add, result, results, texts, user};
#[cfg(target_os = "linux")]
use crate::bed::{NOW, opened};

#[test]
fn only_the_owner_can_look() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, results(1, vec![result("a", &"x".repeat(20_000))]));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = writer.folder();
    for path in [folder, folder.parent().unwrap(), &bed.sessions(), &folder.join("contents")] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    for file in ["journal.jsonl", "lock"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
}

#[test]
fn there_is_one_writer_and_others_are_told_who() {
    let bed = Bed::new();
    let mut writer = bed.session();
    let folder = writer.folder().to_owned();
    let error = Writer::resume(&folder).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the session at `{}` is in use by process {}; end that one first, or fork the session",
            folder.display(),
            std::process::id()
        )
    );
    assert!(matches!(delete(&folder), Err(JournalError::InUse { .. })));
    add(&mut writer, user(1, "still here"));
    // Whoever only looks is not in the way.
    assert_eq!(texts(view(&folder).unwrap().window.messages()), ["still here"]);
    drop(writer);
    assert!(Writer::resume(&folder).is_ok());
}

/// A small file system in memory, gone with the test.
#[cfg(target_os = "linux")]
struct Small<'a>(&'a Path);

#[cfg(target_os = "linux")]
impl<'a> Small<'a> {
    fn mounted(at: &'a Path) -> Option<Self> {
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", at, "tmpfs", flags, Some(c"size=64k")).ok().map(|()| Self(at))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "CI says by this variable that nothing may be skipped")]
fn in_ci() -> bool {
    std::env::var_os("CI").is_some()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_no_record_and_leaves_no_half_of_one() {
    let bed = Bed::new();
    fs::create_dir_all(bed.sessions()).unwrap();
    let sessions = bed.sessions();
    let Some(_small) = Small::mounted(&sessions) else {
        assert!(!in_ci(), "CI can mount no small file system");
        eprintln!("skipped: a small file system can't be mounted by this user");
        return;
    };
    let opened = opened("/srv/shop".as_ref(), NOW);
    let folder = session_folder(&sessions, &opened.cwd, &opened.id);
    let mut writer = Writer::create(&folder, NOW, opened).unwrap();
    let text = "z".repeat(3_000);
    let mut written = 0;
    let error = loop {
        match writer.append(NOW, user(written + 1, &text)) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("make room on the disk and try again"), "{error}");
    let len = |folder: &Path| fs::metadata(folder.join("journal.jsonl")).unwrap().len();
    assert_eq!(len(&folder), writer.last().end, "nothing of it stands there");
    // A content that finds no room writes no line either.
    let last = writer.last();
    assert!(writer.append(NOW, user(99, &"w".repeat(60_000))).is_err());
    assert_eq!((writer.last(), len(&folder)), (last, last.end));
    assert_eq!(writer.state().sum.totals.turns, written);
    // A small one still fits, and goes behind the last whole record.
    add(&mut writer, user(100, "ok"));
    writer.sync().unwrap();
    let verdict = verify(&folder).unwrap();
    assert!(verdict.trouble.is_none() && verdict.torn.is_none(), "{verdict:?}");
    assert_eq!(view(&folder).unwrap().window.messages().len() as u64, written + 1);
    // A session that can't begin leaves nothing behind.
    fs::write(sessions.join("fill"), vec![0; 64 << 10]).unwrap_err();
    let opened = crate::bed::opened("/srv/shop".as_ref(), NOW);
    let other = session_folder(&sessions, &opened.cwd, &opened.id);
    assert!(Writer::create(&other, NOW, opened).is_err());
    assert!(!other.exists());
}
