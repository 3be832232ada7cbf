//! Files as far as a grant goes, also when somebody swaps what a path means.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::bed::Bed;

/// How often the race is tried without the guard; a few hundred are enough on most machines.
const LOOKS: u32 = 1_000_000;

/// Says stop when it goes.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A path is judged, then somebody makes it a link to another file: what is open decides, not the name.
#[test]
fn a_link_that_is_swapped_in_after_the_judgement_leads_nowhere() {
    use std::os::unix::fs::symlink;

    let bed = Bed::new();
    let secret = bed.root.path().join("secret");
    std::fs::write(&secret, "SECRET").unwrap();
    let path = bed.file("a.txt", "inside");
    let (inside, link) = (bed.file("inside.txt", "inside"), bed.session.workspace.join("link"));
    let stop = AtomicBool::new(false);
    let call = json!({"order": "read", "text": path}).to_string();
    let mut caught = false;
    std::thread::scope(|scope| {
        // Also when an assertion fails: the scope waits for its threads.
        let _stops = Stops(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for target in [&secret, &inside] {
                    let _ = std::fs::remove_file(&link);
                    symlink(target, &link).unwrap();
                    std::fs::rename(&link, &path).unwrap();
                }
            }
        });
        // What a tool without the guard would do: look, then open.
        let shows_it = || {
            let looked = path.canonicalize().is_ok_and(|real| real.starts_with(&bed.session.workspace));
            looked && std::fs::read(&path).is_ok_and(|bytes| bytes == b"SECRET")
        };
        caught = (0..LOOKS).any(|_| shows_it());
        for _ in 0..300 {
            bed.front.answers.lock().unwrap().push(rail_permit::Answer::No(None).into());
            let outcomes = bed.run(&[("look_around", &call)]);
            assert!(!outcomes[0].text().contains("SECRET"), "the guard was passed");
        }
    });
    assert!(caught, "the race is too weak to show anything: no read without the guard showed the secret");
}

#[test]
fn a_pipe_and_a_device_do_not_hold_a_call() {
    let bed = Bed::new();
    let pipe = bed.session.workspace.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let call = json!({"order": "read", "text": pipe}).to_string();
    let outcomes = bed.run(&[("look_around", &call)]);
    let said = format!("`{}` is a device, a socket or a pipe, not a file", pipe.display());
    assert_eq!(outcomes[0].text(), said);
}

/// The kernel resolves a path in one walk; the answer is what a walk name by name gives.
#[test]
fn what_a_path_really_is_does_not_depend_on_how_it_is_found_out() {
    use std::os::unix::fs::symlink;

    use rail_permit::World;
    use rail_tool::Disk;

    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/b/file"), "").unwrap();
    std::fs::write(root.join("a/was (deleted)"), "").unwrap();
    symlink("a/b", root.join("folder")).unwrap();
    symlink("folder/file", root.join("link")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    for path in
        ["", "a", "a/b/file", "a/../a/./b/..", "folder", "folder/..", "link", "a/was (deleted)", "socket"]
    {
        let path = root.join(path);
        assert_eq!(Disk.real(&path), path.canonicalize().unwrap(), "{}", path.display());
    }
    for path in ["/", "/proc/self", "/proc/self/exe", "/proc/self/root", "/dev/null"] {
        assert_eq!(Disk.real(path.as_ref()), std::fs::canonicalize(path).unwrap(), "{path}");
    }
    // What is not there stays behind what is.
    assert_eq!(Disk.real(&root.join("folder/new/file")), root.join("a/b/new/file"));
    assert_eq!(Disk.real(&root.join("loop/x")), root.join("loop/x"));
}
