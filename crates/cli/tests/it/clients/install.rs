//! Installs the clients by name, each once for its version, below the target folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::table::Tested;

/// The folder of the client's command, or None when it can't be had here; in CI that is a failure.
#[expect(clippy::print_stdout, reason = "what is not tested is said by name")]
pub(super) fn installed(client: &Tested) -> Option<PathBuf> {
    match install(client) {
        Ok(folder) => Some(folder.join("node_modules/.bin")),
        Err(why) => {
            assert!(!in_ci(), "{}: {why}; in CI it is needed", client.name);
            println!("skipped: {} ({why})", client.name);
            None
        }
    }
}

fn install(client: &Tested) -> Result<PathBuf, String> {
    let Tested { name, package, version, finish, .. } = client;
    for needed in ["node", "npm"] {
        succeeds(program(needed).arg("--version"))?;
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let clients = target.join("clients");
    fs::create_dir_all(&clients).unwrap();
    // Tests of the same client wait here for the first that installs.
    let lock = File::create(clients.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let folder = clients.join(format!("{name}-{version}"));
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(folder);
    }
    if may_not_install() {
        return Err(format!("{package} {version} is not installed; `cargo test -p rail-cli` installs it"));
    }
    // What a broken installation left behind is of no use.
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("package.json"), r#"{"private": true}"#).unwrap();
    let npm =
        ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
    succeeds(program("npm").args(npm).arg(format!("{package}@{version}")).current_dir(&folder))?;
    if let Some(script) = finish {
        // Puts the binary that npm has brought in its place, and brings nothing more.
        let package = folder.join("node_modules").join(package);
        succeeds(program("node").arg(script).current_dir(package))?;
    }
    fs::write(&ready, "").unwrap();
    Ok(folder)
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("{command:?}: {last}"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clients are foreign programs, and this is no product code"
)]
pub(super) fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

/// Where this machine's own programs are.
#[expect(clippy::disallowed_methods, reason = "node is wherever this machine has it")]
pub(super) fn path_of_this_machine() -> String {
    std::env::var("PATH").unwrap_or_default()
}

#[expect(
    clippy::disallowed_methods,
    reason = "`cargo xtask preflight` says by this variable that nothing is installed"
)]
fn may_not_install() -> bool {
    std::env::var_os("RAIL_NO_INSTALL").is_some()
}

#[expect(clippy::disallowed_methods, reason = "CI says by this variable that nothing may be skipped")]
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}
