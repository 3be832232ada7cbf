#![expect(clippy::disallowed_methods, reason = "the tests start themselves again, as another user")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::scene::Scene;

#[test]
fn all_the_same_as_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let setpriv = ["/usr/bin/setpriv", "/bin/setpriv"].into_iter().find(|path| Path::new(path).is_file());
    let Some(setpriv) = setpriv else {
        assert!(std::env::var_os("CI").is_none(), "setpriv is missing");
        eprintln!("skipped: setpriv is missing");
        return;
    };
    // The tests may live where only root can look.
    let folder = tempfile::tempdir().unwrap();
    let tests = folder.path().join("it");
    fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(setpriv);
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(tests);
    command.args(["restore::", "taking::", "attacks::", "users::", "--test-threads=2"]).current_dir("/");
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !told.contains(" 0 passed"), "{told}");
}

/// Only an ordinary user has files that can't be read.
#[test]
fn files_that_cannot_be_read_are_named_and_stay() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let scene = Scene::new();
    scene.write("secret", "mine");
    scene.write("closed/file", "x");
    let open = scene.take();
    scene.chmod("secret", 0o000);
    let taken = scene.snapshots.take().unwrap();
    assert_eq!((taken.files, taken.not_kept), (2, 1));
    // What can't be read now was read before, so it comes back.
    scene.back(taken.id, open);
    assert_eq!(scene.read("secret"), "mine");
    // A folder that can't be looked into has nothing in it, and nothing in it is touched.
    scene.chmod("closed", 0o000);
    let closed = scene.take();
    scene.write("secret", "changed");
    let told = scene.restore(scene.take(), closed);
    assert_eq!(told.restored.len(), 1, "{told:?}");
    scene.chmod("closed", 0o755);
    assert_eq!(scene.read("closed/file"), "x");
}
