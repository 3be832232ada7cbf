#![expect(clippy::disallowed_methods, reason = "the tests start themselves again, as another user")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::told;
use crate::scene::{missing, program, root};

#[test]
fn all_the_same_as_an_ordinary_user() {
    if !root() {
        return;
    }
    let Some(setpriv) = program("setpriv") else { return missing("setpriv") };
    // The tests may live where only root can look.
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(setpriv);
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(tests);
    command.args(["escapes::", "daily::", "--test-threads=2"]).current_dir("/");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert!(!told(&output).contains(" 0 passed"), "{}", told(&output));
}
