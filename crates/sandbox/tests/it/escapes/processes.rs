use std::fs::{self, File};
use std::os::fd::AsRawFd;

use rail_sandbox::{Network, Shape, support};

use super::Free::{AsRoot, Succeeds, Tested};
use super::Stopped::{Always, ByNamespaces, BySixthLandlock};
use super::{Attack, BOTH, End, attack, withstand};
use crate::scene::{Scene, missing, python};

#[test]
fn other_processes_are_left_alone() {
    withstand(Scene::with_peer, BOTH, ATTACKS);
}

#[test]
fn descriptors_are_not_inherited() {
    if python().is_none() {
        return missing("python3");
    }
    let scene = Scene::quiet();
    // A copy is inherited; what std opens is not.
    let outside =
        rustix::io::dup(File::options().append(true).open(scene.path("outside/file")).unwrap()).unwrap();
    let secret = rustix::io::dup(File::open(scene.path("work/.env")).unwrap()).unwrap();
    let writes = format!("os.write({}, b'changed')", outside.as_raw_fd());
    let reads = format!("need(os.pread({}, 100, 0) == b'the-hidden-words')", secret.as_raw_fd());
    for code in [&writes, &reads] {
        assert_eq!(attack(&scene, &scene.confined(Network::Off), &support(), code), End::Refused, "{code}");
    }
    assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "as it was");
    for code in [&writes, &reads] {
        assert_eq!(attack(&scene, &Shape::Free, &support(), code), End::Done, "{code}: without the sandbox");
    }
}

const ATTACKS: &[Attack] = &[
    ("kill", BySixthLandlock, Succeeds, "os.kill(PEER, signal.SIGURG)"),
    ("kill of its group", BySixthLandlock, Succeeds, "os.killpg(PEER, signal.SIGURG)"),
    ("kill of one thread", BySixthLandlock, Succeeds, "call('tgkill', PEER, PEER, signal.SIGURG)"),
    (
        "kill by descriptor",
        BySixthLandlock,
        Succeeds,
        "signal.pidfd_send_signal(os.pidfd_open(PEER), signal.SIGURG)",
    ),
    ("kill of the parent", BySixthLandlock, Succeeds, "os.kill(os.getppid(), signal.SIGURG)"),
    (
        "a signal from a file",
        BySixthLandlock,
        Succeeds,
        "mine, other = os.pipe()
fcntl.fcntl(mine, fcntl.F_SETOWN, PEER)
fcntl.fcntl(mine, 10, signal.SIGUSR2)
fcntl.fcntl(mine, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(other, b'x')
status = open('/proc/%d/status' % PEER).read()
need(int(status.split('ShdPnd:')[1].split()[0], 16) >> (signal.SIGUSR2 - 1) & 1)",
    ),
    ("tracing", Always, AsRoot, "check(libc.ptrace(0x4206, PEER, 0, 0))"),
    (
        "its memory by call",
        Always,
        AsRoot,
        "class Part(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
mine = ctypes.create_string_buffer(16)
to, at = Part(ctypes.addressof(mine), 16), Part(int(E['ADDRESS']), 16)
check(libc.process_vm_readv(PEER, ctypes.byref(to), 1, ctypes.byref(at), 1, 0))
need(mine.raw == b'the-hidden-words')",
    ),
    (
        "its memory by file",
        Always,
        AsRoot,
        "memory = open('/proc/%d/mem' % PEER, 'rb', 0); memory.seek(int(E['ADDRESS'])); need(memory.read(16) == b'the-hidden-words')",
    ),
    ("its environment", Always, Succeeds, "secret('/proc/%d/environ' % PEER)"),
    ("its root", Always, Succeeds, "os.listdir('/proc/%d/root' % PEER)"),
    ("its folder", Always, Succeeds, "os.listdir('/proc/%d/cwd' % PEER)"),
    (
        "its descriptors",
        Always,
        Succeeds,
        "os.listdir('/proc/%d/fd' % PEER); os.readlink('/proc/%d/fd/%s' % (PEER, E['FD']))",
    ),
    ("its maps", Always, Succeeds, "need(open('/proc/%d/maps' % PEER).read())"),
    ("its descriptor by call", Always, AsRoot, "call('pidfd_getfd', os.pidfd_open(PEER), int(E['FD']), 0)"),
    ("its limits", Always, Succeeds, "resource.prlimit(PEER, resource.RLIMIT_CORE, (0, 0))"),
    (
        "its namespaces",
        Always,
        AsRoot,
        "check(libc.setns(os.open('/proc/%d/ns/uts' % PEER, os.O_RDONLY), 0))",
    ),
    ("its shared memory", ByNamespaces, Succeeds, "secret(E['SHARED'])"),
    ("changing its shared memory", ByNamespaces, Succeeds, "os.open(E['SHARED'], os.O_WRONLY)"),
    ("its old shared memory", ByNamespaces, Succeeds, "check(libc.shmget(int(E['KEY']), 0, 0))"),
    ("its messages", ByNamespaces, Tested, "check(libc.mq_open(E['QUEUE'].encode(), os.O_RDONLY))"),
];
