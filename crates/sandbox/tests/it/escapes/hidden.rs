use rail_sandbox::confine::ConfineError;
use rail_sandbox::{Namespaces, Network, Shape, Support, support};

use super::Free::{AsRoot, Perhaps, Succeeds};
use super::Stopped::ByNamespaces;
use super::{Attack, BOTH, End, attack, told, without_namespaces, withstand};
use crate::scene::{SECRET, Scene, missing, python, run};

#[test]
fn hidden_files_are_not_read() {
    withstand(Scene::with_peer, BOTH, READS);
}

#[test]
fn hidden_files_are_not_changed() {
    withstand(Scene::quiet, &[Network::Off], CHANGES);
}

#[test]
fn a_hidden_folder_is_no_place_to_be() {
    let scene = Scene::quiet();
    for place in ["work/vault", "work/vault/below"] {
        std::fs::create_dir_all(scene.path(place)).unwrap();
        let mut command = scene.command("ls");
        command.current_dir(scene.path(place));
        let everything = Support { landlock: Ok(1), seccomp: Ok(()), namespaces: Ok(Namespaces::InUser) };
        let refusal = run(&mut command, &scene.confined(Network::Off), &everything);
        assert!(matches!(refusal, Err(ConfineError::HiddenHere { .. })), "{place}: {refusal:?}");
    }
}

#[test]
fn a_folder_that_is_hidden_later_is_left() {
    // The caller's look at the folder is too early: it is swapped for a link into the vault before the start.
    if support().namespaces.is_err() {
        return missing("a sandbox with namespaces");
    }
    let scene = Scene::quiet();
    std::fs::create_dir(scene.path("work/vault/below")).unwrap();
    std::fs::create_dir(scene.path("work/here")).unwrap();
    let mut command = scene.command("ls");
    command.current_dir(scene.path("work/here"));
    let dressed = rail_sandbox::confine::dress(&mut command, &scene.confined(Network::Off)).unwrap();
    std::fs::remove_dir(scene.path("work/here")).unwrap();
    std::os::unix::fs::symlink("vault/below", scene.path("work/here")).unwrap();
    let error = dressed.explain(&command.output().unwrap_err()).unwrap();
    assert!(error.to_string().contains("entering its working folder"), "{error}");
}

#[test]
fn what_can_t_be_hidden_is_said() {
    let scene = Scene::quiet();
    let without = without_namespaces();
    if without.ready().is_err() {
        return missing("Landlock without namespaces");
    }
    let refusal = run(&mut scene.command("ls"), &scene.confined(Network::Off), &without);
    let Err(ConfineError::CantHide { path, why }) = refusal else { panic!("{refusal:?}") };
    assert_eq!((path, why.as_str()), (scene.path("work/.env"), "not for this test"));

    let nothing_there = Shape::Confined {
        writable: vec![scene.path("work")],
        kept: Vec::new(),
        hidden: vec![scene.path("work/not-there")],
        network: Network::Off,
    };
    let output = run(&mut scene.command("ls"), &nothing_there, &without).unwrap();
    assert!(output.status.success(), "{}", told(&output));
}

/// Attacks on what is hidden outside of the writable places, where there are no namespaces.
const FROM_AFAR: &[(&str, &str)] = &[
    ("by its name", "secret(OUT + '/vault/key')"),
    ("a file", "secret(OUT + '/.env')"),
    ("by the process's root", "secret('/proc/self/root' + OUT + '/vault/key')"),
    ("by a link", "os.symlink(OUT + '/vault', NEW); secret(NEW + '/key')"),
    ("by a link beside it", "secret(OUT + '/link')"),
    ("by a hard link", "os.link(OUT + '/.env', NEW); secret(NEW)"),
    ("moved", "os.rename(OUT + '/.env', NEW); secret(NEW)"),
    ("by another process's root", "secret('/proc/%d/root%s/vault/key' % (PEER, OUT))"),
    ("by another process's folder", "secret('/proc/%d/cwd/vault/key' % PEER)"),
    ("packed", "subprocess.run(['tar', 'cf', NEW, OUT], stderr=-3); secret(NEW)"),
    ("by its door", "os.chmod(OUT + '/closed', 0o700); secret(OUT + '/closed/key')"),
];

#[test]
fn without_namespaces_what_stands_outside_is_hidden_all_the_same() {
    let without = without_namespaces();
    if python().is_none() || without.ready().is_err() {
        return missing("python3, or Landlock without namespaces");
    }
    let scene = || {
        let scene = Scene::with_peer();
        for folder in ["outside/vault", "outside/closed"] {
            std::fs::create_dir(scene.path(folder)).unwrap();
            std::fs::write(scene.path(folder).join("key"), SECRET).unwrap();
        }
        std::fs::write(scene.path("outside/.env"), SECRET).unwrap();
        std::os::unix::fs::symlink("vault/key", scene.path("outside/link")).unwrap();
        scene
    };
    let hidden = ["outside/vault", "outside/.env", "outside/closed/key", "outside/not-there"];
    let confined = |scene: &Scene, network| {
        let Shape::Confined { writable, kept, .. } = scene.open(network) else { unreachable!() };
        Shape::Confined {
            writable,
            kept,
            hidden: hidden.iter().map(|name| scene.path(name)).collect(),
            network,
        }
    };
    for (name, code) in FROM_AFAR {
        assert_eq!(attack(&scene(), &Shape::Free, &without, code), End::Done, "{name}: without the sandbox");
        for network in BOTH {
            let scene = scene();
            let end = attack(&scene, &confined(&scene, *network), &without, code);
            assert_eq!(end, End::Refused, "{name}, {network:?}");
        }
    }
    let scene = scene();
    let line = "cat ../outside/file; echo new > new; cat new; cat /etc/passwd > /dev/null";
    let mut command = scene.command("sh");
    let output = run(command.args(["-c", line]), &confined(&scene, Network::Off), &without).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "as it wasnew\n", "{}", told(&output));
    assert!(output.status.success(), "{}", told(&output));
}

const READS: &[Attack] = &[
    ("by its name", ByNamespaces, Succeeds, "secret(ENV)"),
    ("in a folder", ByNamespaces, Succeeds, "secret(WORK + '/vault/key')"),
    (
        "behind a closed door",
        ByNamespaces,
        Succeeds,
        "os.chmod(WORK + '/closed', 0o700); secret(WORK + '/closed/key'); os.chmod(WORK + '/closed', 0)",
    ),
    ("the folder's list", ByNamespaces, Succeeds, "need('key' in os.listdir(WORK + '/vault'))"),
    ("by the process's root", ByNamespaces, Succeeds, "secret('/proc/self/root' + ENV)"),
    ("by the process's folder", ByNamespaces, Succeeds, "secret('/proc/self/cwd/.env')"),
    ("by a link", ByNamespaces, Succeeds, "os.symlink('.env', NEW); secret(NEW)"),
    ("by a hard link", ByNamespaces, Succeeds, "os.link(ENV, NEW); secret(NEW)"),
    ("moved", ByNamespaces, Succeeds, "os.rename(ENV, NEW); secret(NEW); os.rename(NEW, ENV)"),
    (
        "in a folder that is moved",
        ByNamespaces,
        Succeeds,
        "os.rename(WORK + '/deep', NEW)
try:
    secret(NEW + '/.env')
finally:
    os.rename(NEW, WORK + '/deep')",
    ),
    (
        "in a folder that is linked over",
        ByNamespaces,
        Succeeds,
        "os.rename(WORK + '/deep', NEW); os.symlink(NEW, WORK + '/deep')
try:
    secret(WORK + '/deep/.env')
finally:
    os.remove(WORK + '/deep'); os.rename(NEW, WORK + '/deep')",
    ),
    (
        "copied with its folder",
        ByNamespaces,
        Succeeds,
        "subprocess.run(['cp', '-r', WORK + '/deep', NEW], stderr=-3); secret(NEW + '/.env')",
    ),
    (
        "packed",
        ByNamespaces,
        Succeeds,
        "subprocess.run(['tar', 'cf', NEW, 'deep', 'vault', '.env'], stderr=-3); secret(NEW)",
    ),
    ("by another process's descriptor", ByNamespaces, Succeeds, "secret('/proc/%d/fd/%s' % (PEER, E['FD']))"),
    ("by another process's root", ByNamespaces, Succeeds, "secret('/proc/%d/root%s' % (PEER, ENV))"),
    ("by another process's folder", ByNamespaces, Succeeds, "secret('/proc/%d/cwd/../work/.env' % PEER)"),
    ("by the parent's root", ByNamespaces, Succeeds, "secret('/proc/%d/root%s' % (os.getppid(), ENV))"),
    ("by the first process's root", ByNamespaces, Perhaps, "secret('/proc/1/root' + ENV)"),
    (
        "by its number",
        ByNamespaces,
        AsRoot,
        "handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136); there = ctypes.c_int()
check(libc.name_to_handle_at(-100, (WORK + '/deep').encode(), handle, ctypes.byref(there), 0))
fd = check(libc.open_by_handle_at(os.open(WORK, os.O_RDONLY), handle, os.O_RDONLY))
secret('/proc/self/fd/%d/.env' % fd)",
    ),
    (
        "beside the mounts",
        ByNamespaces,
        AsRoot,
        "os.mkdir(NEW)
try:
    check(libc.mount(WORK.encode(), (NEW).encode(), None, 4096, None)); secret(NEW + '/.env')
finally:
    libc.umount2((NEW).encode(), 2); os.rmdir(NEW)",
    ),
    (
        "in a tree of its own",
        ByNamespaces,
        AsRoot,
        "tree = call('open_tree', -100, WORK.encode(), 1); secret('/proc/self/fd/%d/.env' % tree)",
    ),
    ("without what covers it", ByNamespaces, Perhaps, "check(libc.umount2(ENV.encode(), 2)); secret(ENV)"),
    (
        "without what covers it, as one's own root",
        ByNamespaces,
        Perhaps,
        "call('unshare', 0x10020000); check(libc.umount2(ENV.encode(), 2)); secret(ENV)",
    ),
    (
        "seen from another namespace",
        ByNamespaces,
        AsRoot,
        "check(libc.setns(os.open('/proc/%d/ns/mnt' % PEER, os.O_RDONLY), 0)); secret(ENV)",
    ),
];

const CHANGES: &[Attack] = &[
    ("written", ByNamespaces, Succeeds, "write(ENV)"),
    ("appended to", ByNamespaces, Succeeds, "write(ENV, mode='a')"),
    ("emptied", ByNamespaces, Succeeds, "os.truncate(ENV, 0)"),
    ("removed", ByNamespaces, Succeeds, "os.remove(ENV)"),
    ("replaced", ByNamespaces, Succeeds, "write(NEW); os.rename(NEW, ENV)"),
    ("its mode", ByNamespaces, Succeeds, "os.chmod(ENV, 0o666)"),
    ("its times", ByNamespaces, Succeeds, "os.utime(ENV, (1, 1))"),
    ("written in its folder", ByNamespaces, Succeeds, "write(WORK + '/vault/key')"),
    ("made in its folder", ByNamespaces, Succeeds, "write(WORK + '/vault/new')"),
    ("its folder's mode", ByNamespaces, Succeeds, "os.chmod(WORK + '/vault', 0o777)"),
    ("its folder moved", ByNamespaces, Succeeds, "os.rename(WORK + '/vault', NEW)"),
    ("removed with its folder", ByNamespaces, Succeeds, "import shutil; shutil.rmtree(WORK + '/deep')"),
];
