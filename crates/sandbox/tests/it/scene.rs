//! A place to attack: a workspace, files outside of it, something hidden, and a process of the same user that is none of ours.
#![expect(clippy::disallowed_methods, reason = "the tests start real programs, with and without a sandbox")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rail_sandbox::confine::{ConfineError, dress_on};
use rail_sandbox::{Network, Shape, Support};
use tempfile::TempDir;

/// The words that only who reads a hidden file knows.
pub(crate) const SECRET: &str = "the-hidden-words";

const PEER: &str = include_str!("peer.py");

/// A folder with `work` (writable, with hidden files in it), `tmp` (writable), `outside` and `home`.
pub(crate) struct Scene {
    folder: TempDir,
    peer: Option<Child>,
    /// What attacks are told: places, and what the other process has.
    pub(crate) facts: BTreeMap<String, String>,
}

impl Scene {
    /// Only files.
    pub(crate) fn quiet() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in [
            "work/deep",
            "work/vault",
            "work/closed",
            "work/.git/hooks",
            "work/.rail",
            "tmp",
            "outside/empty",
            "home",
        ] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for (name, text) in [
            ("work/.env", SECRET),
            ("work/deep/.env", SECRET),
            ("work/vault/key", SECRET),
            ("work/closed/key", SECRET),
            ("work/.git/config", "[core]\n"),
            ("work/.git/hooks/pre-commit", "#!/bin/sh\n"),
            ("work/.rail/config.toml", "# ours\n"),
            ("outside/file", "as it was"),
            ("home/.bashrc", "# mine\n"),
        ] {
            fs::write(root.join(name), text).unwrap();
        }
        let places =
            [("WORK", "work"), ("OUT", "outside"), ("HOME", "home"), ("TMPDIR", "tmp"), ("ENV", "work/.env")];
        let facts = places.map(|(name, path)| (String::from(name), root.join(path).display().to_string()));
        Self { folder, peer: None, facts: facts.into() }
    }

    /// Files, and a process outside that listens, holds secrets and has the hidden file open.
    pub(crate) fn with_peer() -> Self {
        let mut scene = Self::quiet();
        let mut command = Command::new(python().unwrap());
        command.arg("-ISc").arg(PEER).envs(&scene.facts).env("PEER_SECRET", SECRET);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .current_dir(scene.path("outside"))
            .process_group(0);
        let mut peer = command.spawn().unwrap();
        for line in BufReader::new(peer.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            match line.split_once('=') {
                Some((name, value)) => drop(scene.facts.insert(name.into(), value.into())),
                None => {
                    assert_eq!(line, "ready");
                    break;
                }
            }
        }
        scene.facts.insert(String::from("PEER"), peer.id().to_string());
        scene.peer = Some(peer);
        scene
    }

    /// Whether a process outside is part of it.
    pub(crate) fn has_peer(&self) -> bool {
        self.peer.is_some()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Writes in `work` and `tmp`; `.env` files and the vault are hidden.
    pub(crate) fn confined(&self, network: Network) -> Shape {
        let paths = |names: &[&str]| names.iter().map(|name| self.path(name)).collect();
        let hidden =
            paths(&["work/.env", "work/deep/.env", "work/vault", "work/closed/key", "work/not-there"]);
        let kept = paths(&["work/.git/hooks", "work/.git/config", "work/.rail", "work/none"]);
        Shape::Confined { writable: paths(&["work", "tmp"]), kept, hidden, network }
    }

    /// As [`Scene::confined`], with nothing hidden.
    pub(crate) fn open(&self, network: Network) -> Shape {
        let Shape::Confined { writable, .. } = self.confined(network) else { unreachable!() };
        Shape::Confined { writable, kept: Vec::new(), hidden: Vec::new(), network }
    }

    /// A command in the workspace that knows the facts.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.envs(&self.facts).current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// Everything that must not change: what is outside, and what is hidden.
    pub(crate) fn untouched(&self) -> BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        for name in [
            "outside",
            "home",
            "work/.env",
            "work/deep/.env",
            "work/vault",
            "work/.git/hooks",
            "work/.git/config",
            "work/.rail",
        ] {
            record(&self.path(name), &mut found);
        }
        found
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        drop(fs::set_permissions(self.path("work/closed"), fs::Permissions::from_mode(0o700)));
        if let Some(mut peer) = self.peer.take() {
            // It cleans up when its input ends.
            drop(peer.stdin.take());
            drop(peer.wait());
        }
    }
}

fn record(path: &Path, found: &mut BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)>) {
    let Ok(about) = fs::symlink_metadata(path) else { return };
    let bytes = if about.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
    found.insert(path.into(), (about.mode(), about.uid(), about.mtime(), about.mtime_nsec(), bytes));
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        record(&entry.path(), found);
    }
}

/// Starts the command in this shape, on a system that can do this, and waits.
pub(crate) fn run(command: &mut Command, shape: &Shape, support: &Support) -> Result<Output, ConfineError> {
    let dressed = dress_on(command, shape, support)?;
    command.output().map_err(|error| match dressed.explain(&error) {
        Some(error) => error,
        None => panic!("the program did not start: {error}"),
    })
}

/// Python, if there is one that any user can start.
pub(crate) fn python() -> Option<PathBuf> {
    program("python3")
}

/// A program of this machine: the system's before others, which may be only one user's.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"].map(PathBuf::from).into_iter();
    folders.chain(std::env::split_paths(&path)).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Something real is missing: a failure on the project's own machines, said on others.
pub(crate) fn missing(what: &str) {
    assert!(!tested(), "{what} is missing");
    eprintln!("skipped: {what} is missing");
}

/// Whether this is one of the project's own machines.
pub(crate) fn tested() -> bool {
    std::env::var_os("CI").is_some()
}

/// Whether this process is root's.
pub(crate) fn root() -> bool {
    rustix::process::geteuid().is_root()
}
