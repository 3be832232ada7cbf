//! The clients, each once for its version.

use std::path::{Path, PathBuf};

use rail_testkit::install::{self, Packages, Wanted, commands_in};

use super::table::Tested;

/// The folder of the client's command, or None when it can't be had here; in CI that is a failure.
pub(super) fn installed(client: &Tested) -> Option<PathBuf> {
    let Tested { name, package, version, finish, .. } = *client;
    let packages = Packages::Npm { package, version, finish };
    let title = format!("{name} {version}");
    let wanted = Wanted { title: &title, place: ("clients", name), packages, crate_name: "rail-cli" };
    let folder = install::installed(&wanted, Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    Some(commands_in(&folder))
}

/// Where this machine's own programs are.
#[expect(clippy::disallowed_methods, reason = "node is wherever this machine has it")]
pub(super) fn path_of_this_machine() -> String {
    std::env::var("PATH").unwrap_or_default()
}
