//! The agent where something that is always there is not.

#![expect(
    clippy::disallowed_methods,
    reason = "whether a missing part fails, the environment of the tests says"
)]

use std::path::{Path, PathBuf};

use rail_journal::{Opened, SessionId, UnixMillis, VERSION, Writer, session_folder};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use serde_json::json;

use crate::scratch::{CONFIG, Home, Said};
use crate::sessions::{calls, config, good, ids, said, talking};

const RAIL: &str = env!("CARGO_BIN_EXE_rail");

/// A small file system in memory, gone with the test.
struct Small(PathBuf);

impl Small {
    fn mounted(at: &Path, flags: MountFlags) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = mount("tmpfs", at, "tmpfs", flags, Some(c"size=512k"));
        if mounted.is_err() {
            assert!(std::env::var_os("CI").is_none(), "CI can mount no small file system");
            eprintln!("skipped: a small file system can't be mounted by this user");
        }
        mounted.ok().map(|()| Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}

/// Runs the binary without any of the variables that say where the user's files are.
fn homeless(home: &Home, prompt: &str) -> Said {
    let config = home.path(CONFIG);
    let unset = ["-u", "HOME", "-u", "XDG_CONFIG_HOME", "-u", "XDG_STATE_HOME", "-u", "XDG_CACHE_HOME", RAIL];
    home.program("env", &[&unset[..], &["--config", config.to_str().unwrap(), "-p", prompt]].concat(), "")
}

#[test]
fn without_a_home_the_session_is_kept_among_temporary_files_and_that_is_told() {
    let (home, _models) = talking(vec![said("ok").repeat()]);
    let told = homeless(&home, "hello");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "ok\n"), "{}", told.whole());
    assert!(
        told.err.contains("there is no home folder; the session is kept in /tmp/switchrail-"),
        "{}",
        told.err
    );
}

#[test]
fn a_home_that_can_not_be_written_is_no_obstacle() {
    let (home, _models) = talking(vec![said("ok").repeat()]);
    let state = home.path("state");
    let Some(_small) = Small::mounted(&state, MountFlags::RDONLY) else { return };
    let told = home.rail(&["-p", "hello"], "");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "ok\n"), "{}", told.whole());
    assert!(told.err.contains("/state/switchrail can't be written"), "{}", told.err);
}

#[test]
fn a_home_that_can_not_be_written_at_all_is_no_obstacle() {
    let (home, models) = talking(vec![
        calls("bash", json!({"command": "echo made > made.txt"})),
        said("ok"),
        said("again").repeat(),
    ]);
    let user = home.path("user");
    let Some(_small) = Small::mounted(&user, MountFlags::empty()) else { return };
    home.write("user/.config/switchrail/config.toml", &config(&models));
    mount_remount(&user, MountFlags::RDONLY, "").unwrap();
    let unset = ["-u", "XDG_CONFIG_HOME", "-u", "XDG_STATE_HOME", "-u", "XDG_CACHE_HOME", RAIL];
    let task = ["-p", "make it", "--yolo", "--sandbox", "workspace"];
    let told = home.program("env", &[&unset[..], &task].concat(), "");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "ok\n"), "{}", told.whole());
    assert!(told.err.contains("/user/.local/state/switchrail can't be written"), "{}", told.err);
    assert_eq!(home.read("repo/made.txt"), "made\n");
    // It is kept among temporary files, and found there again.
    let told = home.program("env", &[&unset[..], &["-p", "and now", "-c"]].concat(), "");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "again\n"), "{}", told.whole());
    let asked = models.requests().pop().unwrap();
    assert!(format!("{:?}", asked.request().unwrap().messages).contains("make it"));
}

#[test]
fn a_full_disk_ends_the_task_and_leaves_nothing_half() {
    let (home, models) = talking(vec![said("ok").repeat()]);
    let state = home.path("state");
    let Some(_small) = Small::mounted(&state, MountFlags::empty()) else { return };
    good(&home, &["-p", "hello"]);
    let asked = models.requests().len();
    let full = home.rail(&["-p", "-c", "look at this"], &"a long line\n".repeat(100_000));
    assert_eq!((full.code, full.out.as_str()), (Some(1), ""), "{}", full.whole());
    assert!(full.err.contains("No space left on device"), "{}", full.err);
    assert_eq!(models.requests().len(), asked, "what can't be kept is not sent");
    let proved = good(&home, &["sessions", "verify"]);
    assert!(proved.contains("proved"), "{proved}");
    good(&home, &["-p", "-c", "and on"]);
    assert_eq!(ids(&home).len(), 1);
}

#[test]
fn a_working_folder_that_is_gone_is_said() {
    let (home, _models) = talking(vec![said("ok").repeat()]);
    let command = format!("mkdir gone && cd gone && rmdir ../gone && exec {RAIL} -p hello");
    let told = home.program("sh", &["-c", &command], "");
    assert_eq!(told.code, Some(1), "{}", told.whole());
    assert!(
        told.err.contains("the working folder can't be found; change to one that exists"),
        "{}",
        told.err
    );
}

#[test]
fn a_huge_repository_is_worked_in() {
    let (home, _models) = talking(vec![
        calls("bash", json!({"command": "echo new > src/7/7 && rm src/8/8"})),
        // A command begins when what the one before changed is known.
        calls("bash", json!({"command": "true"})),
        said("ok"),
    ]);
    for folder in 0..500 {
        let folder = home.path(&format!("repo/src/{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        (0..100).for_each(|file| std::fs::write(folder.join(file.to_string()), "old\n").unwrap());
    }
    assert_eq!(good(&home, &["-p", "hello", "--yolo", "--sandbox", "workspace"]), "ok\n");
    assert_eq!(home.read("repo/src/7/7"), "new\n");
    // All of it was kept before the command ran, and comes back.
    let restored = good(&home, &["-p", "/undo", "-c"]);
    assert_eq!(restored, "restored /repo/src/7/7\nrestored /repo/src/8/8\n");
    for file in ["repo/src/7/7", "repo/src/8/8"] {
        assert_eq!(home.read(file), "old\n");
    }
}

#[test]
fn a_clock_that_jumps_back_harms_no_session() {
    let (home, _models) = talking(vec![said("ok").repeat()]);
    let cwd = home.path("repo").canonicalize().unwrap();
    // A hundred years from now, when the clock was wrong.
    let later = UnixMillis(4_900_000_000_000);
    let id = SessionId::mint(later).unwrap();
    let folder = session_folder(&home.path("state/switchrail/sessions"), &cwd, &id);
    let opened =
        Opened { version: VERSION, id: id.clone(), cwd, model: String::new(), parent: None, agent_of: None };
    drop(Writer::create(&folder, later, opened).unwrap());
    good(&home, &["-p", "hello", "-r", id.as_str()]);
    good(&home, &["-p", "again", "-r", id.as_str()]);
    let shown = good(&home, &["sessions", "show", id.as_str()]);
    assert!(shown.contains("hello") && shown.contains("again"), "{shown}");
    assert!(good(&home, &["sessions", "verify", id.as_str()]).contains("proved"));
    assert!(good(&home, &["sessions", "list"]).contains("hello"));
}
