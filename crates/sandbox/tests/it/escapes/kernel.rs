use super::Free::{AsRoot, Perhaps, Succeeds, Tested};
use super::Stopped::Always;
use super::{Attack, BOTH, withstand};
use crate::scene::Scene;

#[test]
fn the_kernel_lends_no_hand() {
    withstand(Scene::quiet, BOTH, ATTACKS);
}

const ATTACKS: &[Attack] = &[
    ("a mount", Always, AsRoot, "check(libc.mount(b'x', OUT.encode(), b'tmpfs', 0, None)); libc.umount2(OUT.encode(), 2)"),
    ("a mount in the new way", Always, AsRoot, "call('fsopen', b'tmpfs', 0)"),
    ("a tree of mounts", Always, AsRoot, "call('open_tree', -100, b'/', 1)"),
    ("another root", Always, AsRoot, "os.chroot(OUT)"),
    ("a user namespace", Always, Tested, "call('unshare', 0x10000000)"),
    ("a mount namespace", Always, AsRoot, "call('unshare', 0x20000)"),
    ("a clock namespace", Always, AsRoot, "call('unshare', 0x80)"),
    (
        "a child in a user namespace",
        Always,
        Tested,
        "pid = call('clone', 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if not pid: os._exit(0)
os.waitpid(pid, 0)",
    ),
    (
        "a child in a user namespace, in the new way",
        Always,
        Tested,
        "request = ctypes.create_string_buffer(struct.pack('8Q', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))
pid = call('clone3', request, 64)
if not pid: os._exit(0)
os.waitpid(pid, 0)",
    ),
    ("a ring", Always, Perhaps, "call('io_uring_setup', 4, ctypes.create_string_buffer(120))"),
    ("a key", Always, Tested, "call('add_key', b'user', b'rail', b'x', 1, -3)"),
    ("the keys of the user", Always, Tested, "call('keyctl', 0, -4, 0)"),
    ("a program in the kernel", Always, AsRoot, "call('bpf', 0, ctypes.create_string_buffer(struct.pack('5I', 2, 4, 4, 1, 0), 72), 72)"),
    ("other programs' faults", Always, Tested, "call('userfaultfd', 1)"),
    (
        "counters",
        Always,
        Tested,
        "call('perf', ctypes.create_string_buffer(struct.pack('IIQ', 1, 120, 1), 120), 0, -1, -1, 0)",
    ),
    (
        "typing for the user",
        Always,
        Tested,
        "mine, other = os.openpty(); os.setsid() if os.getpid() != os.getsid(0) else None
fcntl.ioctl(other, 0x540E, 0); call('ioctl', other, 0x5412, b'x')",
    ),
    (
        "typing for the user, with more bits",
        Always,
        Tested,
        "mine, other = os.openpty(); os.setsid() if os.getpid() != os.getsid(0) else None
fcntl.ioctl(other, 0x540E, 0); call('ioctl', other, 0x7700005412, b'x')",
    ),
    ("privileges", Always, Succeeds, "need(check(libc.prctl(39, 0, 0, 0, 0)) == 0)"),
    (
        "a program that becomes another user",
        Always,
        Perhaps,
        "import shutil; mine = NEW; shutil.copy('/usr/bin/id', mine); os.chown(mine, 65534, -1); os.chmod(mine, 0o4755)
need(int(subprocess.run([mine, '-u'], stdout=-1).stdout) == 65534 != os.getuid())",
    ),
];
