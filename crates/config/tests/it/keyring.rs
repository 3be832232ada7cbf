//! A real keyring on a bus of its own: Debian's `dbus` (dbus-daemon), `gnome-keyring` and `libsecret-tools`.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests start the programs of the desktop themselves")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rail_config::{keyring, load};
use rail_stdx::Secret;

use crate::machine::{Machine, USER};

const PROGRAMS: &[&str] = &["dbus-daemon", "dbus-send", "gnome-keyring-daemon", "secret-tool"];

/// Programs of the desktop that end with the test.
struct Desktop {
    address: String,
    running: Vec<Child>,
}

impl Desktop {
    /// None on a private machine that has no such programs; in CI they must be there.
    fn start(machine: &Machine) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let missing: Vec<_> = PROGRAMS.iter().filter(|name| !is_there(name)).collect();
        if !missing.is_empty() {
            assert!(std::env::var_os("CI").is_none(), "CI lacks {missing:?}; .ci/run must install them");
            eprintln!("skipped: this machine lacks {missing:?}");
            return None;
        }
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let mut desktop = Self { address: address.trim().to_owned(), running: vec![bus] };
        let folder = machine.0.path().join("runtime");
        fs::create_dir_all(&folder).unwrap();
        let mut keyring = desktop
            .command("gnome-keyring-daemon", machine.0.path())
            .args(["--foreground", "--unlock", "--components=secrets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        keyring.stdin.take().unwrap().write_all(b"word").unwrap();
        // It says its environment once it can be asked.
        let mut line = String::new();
        BufReader::new(keyring.stdout.take().unwrap()).read_line(&mut line).unwrap();
        desktop.running.push(keyring);
        Some(desktop)
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env("HOME", folder.join("user"));
        command.env("XDG_RUNTIME_DIR", folder.join("runtime")).env_remove("XDG_DATA_HOME");
        command
    }

    fn store(&self, machine: &Machine, name: &str, secret: &str) {
        let mut store = self
            .command("secret-tool", machine.0.path())
            .args(["store", "--label", name, "service", "switchrail", "username", name])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        store.stdin.take().unwrap().write_all(secret.as_bytes()).unwrap();
        assert!(store.wait().unwrap().success());
    }

    fn lock(&self, machine: &Machine) {
        let lock = self
            .command("dbus-send", machine.0.path())
            .args(["--session", "--print-reply", "--dest=org.freedesktop.secrets"])
            .args(["/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock"])
            .arg("array:objpath:/org/freedesktop/secrets/collection/login")
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(lock.success());
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

const PROVIDER: &str = "[router]\ndefault = \"a,b\"\n[providers.a]\nprotocol = \"gemini\"\nbase_url = \"http://a\"\nkey = \"keyring:qwen\"\n";

#[test]
fn a_secret_is_taken_from_the_keyring() {
    let machine = Machine::new();
    machine.write(USER, PROVIDER);
    let Some(desktop) = Desktop::start(&machine) else { return };
    let inputs = machine.inputs(&[("DBUS_SESSION_BUS_ADDRESS", desktop.address.as_str())]);
    let unusable = || load(&inputs).unwrap().routing.providers["a"].unusable.clone();
    assert_eq!(
        unusable().as_deref(),
        Some(
            "the keyring has no `qwen`; store it with \
             `secret-tool store --label=qwen service switchrail username qwen`"
        )
    );
    desktop.store(&machine, "qwen", "sk-in-the-keyring-密");
    desktop.store(&machine, "other", "sk-other");
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.routing.providers["a"].keys[0].reveal(), "sk-in-the-keyring-密");
    // Where the bus is not said, it is where systemd puts it.
    let path = desktop.address.split(['=', ',']).nth(1).unwrap();
    let runtime = machine.0.path().join("other-runtime");
    fs::create_dir_all(&runtime).unwrap();
    std::os::unix::fs::symlink(path, runtime.join("bus")).unwrap();
    let loaded = load(&machine.inputs(&[("XDG_RUNTIME_DIR", runtime.to_str().unwrap())])).unwrap();
    assert_eq!(loaded.routing.providers["a"].keys.len(), 1);

    desktop.lock(&machine);
    assert_eq!(
        unusable().as_deref(),
        Some("`qwen` stands in a keyring that is locked; unlock it and try again")
    );
}

#[test]
fn a_secret_is_stored_in_the_keyring() {
    let machine = Machine::new();
    machine.write(USER, PROVIDER);
    let Some(desktop) = Desktop::start(&machine) else { return };
    let inputs = machine.inputs(&[("DBUS_SESSION_BUS_ADDRESS", desktop.address.as_str())]);
    assert!(keyring::can_store(&inputs.env));
    for secret in ["sk-first", "sk-second-密"] {
        keyring::store(&inputs.env, "qwen", &Secret::new(secret)).unwrap();
        assert_eq!(load(&inputs).unwrap().routing.providers["a"].keys[0].reveal(), secret);
    }
    let searched = desktop
        .command("secret-tool", machine.0.path())
        .args(["search", "--all", "service", "switchrail", "username", "qwen"])
        .output()
        .unwrap();
    let searched = String::from_utf8(searched.stdout).unwrap();
    assert_eq!(searched.matches("secret = ").count(), 1, "the second is in place of the first: {searched}");
    desktop.lock(&machine);
    let refused = keyring::store(&inputs.env, "qwen", &Secret::new("sk-third")).unwrap_err();
    assert_eq!(refused, "the keyring does not take `qwen`: it is locked; unlock it, or use `.env`");

    assert!(!keyring::can_store(&machine.inputs(&[]).env));
}

#[test]
fn without_a_keyring_it_says_what_to_do() {
    let machine = Machine::new();
    machine.write(USER, PROVIDER);
    let unusable = |variables: &[(&str, &str)]| {
        load(&machine.inputs(variables)).unwrap().routing.providers["a"].unusable.clone().unwrap()
    };
    assert_eq!(
        unusable(&[]),
        "the keyring can't be asked for `qwen`: there is no session bus (`DBUS_SESSION_BUS_ADDRESS` is not set); \
         start it, or use `env:` or `file:`"
    );
    assert_eq!(
        unusable(&[("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")]),
        "the keyring can't be asked for `qwen`: `unix:path=/nowhere/bus` is no address of a bus that can be reached; \
         start it, or use `env:` or `file:`"
    );
}
