use rail_sandbox::Network;

use super::Free::{AsRoot, Perhaps, Succeeds};
use super::Stopped::{Always, ByNamespaces};
use super::{Attack, BOTH, withstand};
use crate::scene::Scene;

#[test]
fn nothing_is_written_outside() {
    withstand(Scene::quiet, &[Network::Off], WRITES);
}

#[test]
fn nothing_about_files_outside_changes() {
    withstand(Scene::quiet, &[Network::Off], METADATA);
}

#[test]
fn the_machine_s_files_stay() {
    withstand(Scene::with_peer, &[Network::Off], SYSTEM);
}

#[test]
fn the_network_opens_no_files() {
    withstand(Scene::quiet, &[Network::On], &WRITES[..8]);
}

#[test]
fn what_is_kept_in_the_workspace_stays() {
    withstand(Scene::quiet, BOTH, KEPT);
}

const KEPT: &[Attack] = &[
    ("a new hook", ByNamespaces, Succeeds, "write(WORK + '/.git/hooks/post-checkout')"),
    ("a hook's text", ByNamespaces, Succeeds, "write(WORK + '/.git/hooks/pre-commit', mode='a')"),
    ("a hook's mode", ByNamespaces, Succeeds, "os.chmod(WORK + '/.git/hooks/pre-commit', 0o777)"),
    ("a hook removed", ByNamespaces, Succeeds, "os.remove(WORK + '/.git/hooks/pre-commit')"),
    ("git's settings", ByNamespaces, Succeeds, "write(WORK + '/.git/config', mode='a')"),
    ("our settings", ByNamespaces, Succeeds, "write(WORK + '/.rail/config.toml', mode='a')"),
    ("new settings of ours", ByNamespaces, Succeeds, "write(WORK + '/.rail/config.local.toml')"),
    ("settings moved in", ByNamespaces, Succeeds, "write(NEW); os.rename(NEW, WORK + '/.git/config')"),
    ("settings by a hard link", ByNamespaces, Succeeds, "os.link(WORK + '/.git/config', NEW); write(NEW)"),
    (
        "hooks moved away",
        ByNamespaces,
        Succeeds,
        "os.rename(WORK + '/.git/hooks', NEW); os.mkdir(WORK + '/.git/hooks'); os.rename(NEW, WORK + '/.git/hooks'); write(WORK + '/.git/hooks/new')",
    ),
    ("the folder around moved away", ByNamespaces, Succeeds, "os.rename(WORK + '/.git', NEW)"),
    ("our folder moved away", ByNamespaces, Succeeds, "os.rename(WORK + '/.rail', NEW)"),
];

const WRITES: &[Attack] = &[
    ("a new file", Always, Succeeds, "write(OUT + '/new')"),
    ("an old file", Always, Succeeds, "write(OUT + '/file')"),
    ("a line for the shell", Always, Succeeds, "write(HOME + '/.bashrc', 'alias ls=rm', 'a')"),
    ("by way of the parent", Always, Succeeds, "write(WORK + '/../outside/new')"),
    ("by a link to a folder", Always, Succeeds, "os.symlink(OUT, NEW); write(NEW + '/new')"),
    ("by a link to a file", Always, Succeeds, "os.symlink(OUT + '/file', NEW); write(NEW, mode='a')"),
    ("by a hard link", Always, Succeeds, "os.link(OUT + '/file', NEW); write(NEW, mode='a')"),
    ("moved out", Always, Succeeds, "write(NEW); os.rename(NEW, OUT + '/m1')"),
    ("moved in", Always, Succeeds, "os.rename(OUT + '/file', NEW)"),
    ("a folder moved in", Always, Succeeds, "os.rename(OUT + '/empty', NEW)"),
    (
        "exchanged",
        Always,
        Succeeds,
        "write(NEW); call('renameat2', -100, (NEW).encode(), -100, (OUT + '/file').encode(), 2)",
    ),
    ("removed", Always, Succeeds, "os.remove(OUT + '/file')"),
    ("a folder removed", Always, Succeeds, "os.rmdir(OUT + '/empty')"),
    ("emptied", Always, Succeeds, "os.truncate(OUT + '/file', 0)"),
    ("emptied when opened", Always, Succeeds, "os.open(OUT + '/file', os.O_RDONLY | os.O_TRUNC)"),
    ("a folder", Always, Succeeds, "os.mkdir(OUT + '/folder')"),
    ("a pipe", Always, Succeeds, "os.mkfifo(OUT + '/pipe')"),
    ("a node", Always, Succeeds, "os.mknod(OUT + '/node')"),
    ("a link", Always, Succeeds, "os.symlink('/', OUT + '/link')"),
    ("by the process's root", Always, Succeeds, "write('/proc/self/root' + OUT + '/new')"),
    ("by the process's folder", Always, Succeeds, "os.chdir(OUT); write('/proc/self/cwd/new')"),
    ("by a thread's root", Always, Succeeds, "write('/proc/thread-self/root' + OUT + '/new')"),
    (
        "by a descriptor of a folder",
        Always,
        Succeeds,
        "os.open('new', os.O_CREAT | os.O_WRONLY, dir_fd=os.open(OUT, os.O_PATH))",
    ),
    (
        "by a descriptor opened again",
        Always,
        Succeeds,
        "os.open('/proc/self/fd/%d' % os.open(OUT + '/file', os.O_RDONLY), os.O_WRONLY)",
    ),
    ("a file without a name", Always, Perhaps, "os.open(OUT, os.O_TMPFILE | os.O_RDWR)"),
    (
        "a folder behind our back",
        Always,
        Succeeds,
        "os.mkdir(NEW); fd = os.open(NEW, os.O_PATH); os.rmdir(NEW); os.symlink(OUT, NEW); write(NEW + '/new')",
    ),
    (
        "another program's work",
        Always,
        Succeeds,
        "need(subprocess.run(['cp', '/etc/hostname', OUT + '/new']).returncode == 0)",
    ),
    (
        "a memory dump",
        Always,
        Perhaps,
        "os.chdir(OUT)
if not os.fork():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    os.kill(os.getpid(), signal.SIGSEGV)
os.wait()
need([name for name in os.listdir(OUT) if 'core' in name])",
    ),
];

const METADATA: &[Attack] = &[
    ("the mode", ByNamespaces, Succeeds, "os.chmod(OUT + '/file', 0o777)"),
    (
        "the mode by a descriptor",
        ByNamespaces,
        Succeeds,
        "os.fchmod(os.open(OUT + '/file', os.O_RDONLY), 0o777)",
    ),
    ("the mode of a folder", ByNamespaces, Succeeds, "os.chmod(OUT, 0o777)"),
    ("the owner", ByNamespaces, AsRoot, "os.chown(OUT + '/file', 1, 1)"),
    ("the own owner", ByNamespaces, Succeeds, "os.chown(OUT + '/file', os.getuid(), os.getgid())"),
    ("the times", ByNamespaces, Succeeds, "os.utime(OUT + '/file', (1, 1))"),
    ("the times by a link", ByNamespaces, Succeeds, "os.symlink(OUT + '/file', NEW); os.utime(NEW, (1, 1))"),
    ("an attribute", ByNamespaces, Perhaps, "os.setxattr(OUT + '/file', 'user.x', b'x')"),
    (
        "a flag of the file system",
        ByNamespaces,
        Perhaps,
        "fd = os.open(OUT + '/file', os.O_RDONLY)
flags = struct.unpack('l', fcntl.ioctl(fd, 0x80086601, bytes(8)))[0]
fcntl.ioctl(fd, 0x40086602, struct.pack('l', flags | 0x40))",
    ),
];

const SYSTEM: &[Attack] = &[
    (
        "a setting of the kernel",
        Always,
        AsRoot,
        "path = '/proc/sys/kernel/hostname'; write(path, open(path).read())",
    ),
    ("another process's fate", Always, Succeeds, "write('/proc/%d/oom_score_adj' % PEER, '500')"),
    (
        "a group of processes",
        Always,
        Perhaps,
        "top = '/sys/fs/cgroup'
top = top if os.path.exists(top + '/cgroup.procs') else top + '/pids'
os.mkdir(top + '/rail-probe'); os.rmdir(top + '/rail-probe')",
    ),
    ("a device node", Always, AsRoot, "os.mknod(NEW, 0o600 | stat.S_IFCHR, os.makedev(1, 5))"),
    ("a disk node", Always, AsRoot, "os.mknod(NEW, 0o600 | stat.S_IFBLK, os.makedev(7, 0))"),
    (
        "the bytes of a disk",
        Always,
        Perhaps,
        "disks = ['/dev/' + name for name in os.listdir('/sys/block')]
need([disk for disk in disks if os.path.exists(disk)])
os.open([disk for disk in disks if os.path.exists(disk)][0], os.O_RDONLY)",
    ),
    ("the kernel's log", Always, Perhaps, "os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)"),
    ("the kernel's memory", Always, Perhaps, "open('/proc/kcore', 'rb').read(16)"),
    ("the user's terminal", Always, Succeeds, "write(E['TERMINAL'], 'rm -rf')"),
    ("what the user types", Always, Succeeds, "os.open(E['TERMINAL'], os.O_RDONLY | os.O_NOCTTY)"),
];
