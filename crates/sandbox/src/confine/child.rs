//! What the child does between fork and exec, and the few other bare system calls.
#![expect(unsafe_code, reason = "a child confines itself by system calls for which std has no safe form")]

use std::ffi::{CStr, CString, c_int, c_ulong};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr::null;

use seccompiler::BpfProgram;

use super::linux::{Fault, Step};

/// All that a child does to itself, prepared by its parent.
pub(super) struct Steps {
    /// The namespaces it moves into, if there are any.
    pub(super) namespaces: Option<Spaces>,
    /// Landlock's rules; only a rehearsal is without.
    pub(super) ruleset: Option<OwnedFd>,
    /// Filters of system calls, all of which apply.
    pub(super) filters: Vec<BpfProgram>,
}

/// New namespaces and what is mounted in them.
pub(super) struct Spaces {
    /// The namespaces, as `unshare` names them.
    pub(super) flags: c_int,
    /// The lines of `uid_map` and `gid_map`, if a user namespace is among them.
    pub(super) maps: Option<(Vec<u8>, Vec<u8>)>,
    /// Places that stay writable, and room for a copy of each one's mounts; nothing if all stay.
    pub(super) writable: Option<Vec<(CString, RawFd)>>,
    /// File systems of its own.
    pub(super) fresh: Vec<Fresh>,
    /// What is a mount of its own inside of a writable place, the outer ones first.
    pub(super) kept: Vec<(CString, Keep)>,
    /// What is mounted over.
    pub(super) hidden: Vec<(CString, Cover)>,
}

/// A file system that is made for the child.
pub(super) struct Fresh {
    /// Where.
    pub(super) path: &'static CStr,
    /// Of which type.
    pub(super) kind: &'static CStr,
    /// With which options.
    pub(super) options: &'static CStr,
    /// What Landlock allows in it. The rule can't be made before: it is about a folder that is not there yet.
    pub(super) rights: u64,
}

/// How a place inside of a writable one is kept. A mount can be neither moved nor removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// It stays where it is: something in it is read-only.
    There,
    /// It is read-only with all in it.
    ReadOnly,
}

/// What is mounted over something hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cover {
    /// An empty folder.
    Folder,
    /// A device on a mount without devices, which nobody can open, not even root.
    File,
}

/// Lets the command do these steps whenever it is started. They come after std's own (streams, folder, group).
pub(super) fn arm(command: &mut Command, mut steps: Steps) {
    // SAFETY: the closure runs in the forked child, where other threads' locks stay locked for ever. All it touches was
    // prepared by the parent; it allocates nothing, takes no lock and only makes system calls. Its errors are numbers.
    unsafe { command.pre_exec(move || enter(&mut steps).map_err(Fault::into_error)) };
}

/// Does the steps in a child that never becomes a program, and says whether they would do.
#[expect(clippy::disallowed_methods, reason = "the child ends by itself before it becomes a program")]
pub(super) fn rehearse(mut steps: Steps) -> Result<(), io::Error> {
    let mut command = Command::new("/");
    let act = move || match enter(&mut steps) {
        Ok(()) => Err(Fault { step: Step::Rehearsed, index: 0, errno: 0 }.into_error()),
        Err(fault) => Err(fault.into_error()),
    };
    // SAFETY: as in `arm`.
    unsafe { command.pre_exec(act) };
    match command.spawn() {
        Ok(mut child) => child.wait().and(Err(io::Error::other("the rehearsal became a program"))),
        Err(error) if Fault::of(&error).is_some_and(|fault| fault.step == Step::Rehearsed) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The version of Landlock's interface that the kernel has.
pub(super) fn landlock_version() -> io::Result<u32> {
    const VERSION: u32 = 1;
    // SAFETY: without attributes the call only reports a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null::<u8>(), 0_usize, VERSION) };
    if version < 0 { Err(io::Error::last_os_error()) } else { Ok(u32::try_from(version).unwrap_or(u32::MAX)) }
}

/// Whether the kernel can filter system calls and refuse them with an error.
pub(super) fn filters_work() -> io::Result<()> {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    let refuse = libc::SECCOMP_GET_ACTION_AVAIL;
    // SAFETY: the call reads the number it is given and changes nothing.
    match unsafe { libc::syscall(libc::SYS_seccomp, refuse, 0_u32, &raw const action) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The effective user and group.
pub(super) fn ids() -> (u32, u32) {
    // SAFETY: both calls only report a number and can't fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

fn enter(steps: &mut Steps) -> Result<(), Fault> {
    if let Some(spaces) = &mut steps.namespaces {
        settle(spaces)?;
        for (index, fresh) in spaces.fresh.iter().enumerate() {
            steps
                .ruleset
                .as_ref()
                .map_or(Ok(()), |rules| allow(rules, fresh))
                .map_err(at(Step::Fresh, index))?;
        }
    }
    close_on_exec().map_err(at(Step::Descriptors, 0))?;
    drop_capabilities().map_err(at(Step::Capabilities, 0))?;
    // SAFETY: takes numbers only.
    done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map_err(at(Step::Privileges, 0))?;
    if let Some(ruleset) = &steps.ruleset {
        // SAFETY: takes numbers only; the descriptor is open, for it is owned.
        let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
        done(result).map_err(at(Step::Landlock, 0))?;
    }
    for filter in &steps.filters {
        install(filter).map_err(at(Step::Filter, 0))?;
    }
    Ok(())
}

fn settle(spaces: &mut Spaces) -> Result<(), Fault> {
    // SAFETY: takes numbers only; a forked child has one thread.
    done(unsafe { libc::unshare(spaces.flags) }).map_err(at(Step::Namespaces, 0))?;
    if let Some((users, groups)) = &spaces.maps {
        // Groups can only be mapped by an ordinary user who gave up changing them.
        for (path, line) in [
            (c"/proc/self/setgroups", b"deny".as_slice()),
            (c"/proc/self/uid_map", users),
            (c"/proc/self/gid_map", groups),
        ] {
            write(path, line).map_err(at(Step::Maps, 0))?;
        }
    }
    // Before anything is copied: a mount that is still shared would appear outside.
    change(c"/", Change { propagation: c_ulong::from(libc::MS_PRIVATE), ..Change::default() })
        .map_err(at(Step::Private, 0))?;
    if let Some(writable) = &mut spaces.writable {
        for (index, (path, tree)) in writable.iter_mut().enumerate() {
            *tree = copy_mounts(path).map_err(at(Step::Copy, index))?;
        }
        change(c"/", Change { set: READ_ONLY, ..Change::default() }).map_err(at(Step::ReadOnly, 0))?;
    }
    for (index, Fresh { path, kind, options, .. }) in spaces.fresh.iter().enumerate() {
        let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
        mount(kind, path, Some(kind), flags, Some(options)).map_err(at(Step::Fresh, index))?;
    }
    for (index, (path, tree)) in spaces.writable.iter().flatten().enumerate() {
        put_mounts(*tree, path).map_err(at(Step::Put, index))?;
    }
    for (index, (path, keep)) in spaces.kept.iter().enumerate() {
        hold(path, *keep).map_err(at(Step::Keep, index))?;
    }
    for (index, (path, cover)) in spaces.hidden.iter().enumerate() {
        hide(path, *cover).map_err(at(Step::Hide, index))?;
    }
    if spaces.flags & libc::CLONE_NEWNET != 0 {
        loopback_up().map_err(at(Step::Loopback, 0))?;
    }
    // The working folder is still the one below the new mounts.
    step_in_again().map_err(at(Step::Folder, 0))
}

const READ_ONLY: u64 = 1;

/// The kernel's `mount_attr`.
#[repr(C)]
#[derive(Default)]
struct Change {
    set: u64,
    clear: u64,
    propagation: u64,
    users: u64,
}

/// Changes every mount at and below a path.
fn change(path: &CStr, change: Change) -> Result<(), c_int> {
    let (path, size) = (path.as_ptr(), size_of::<Change>());
    // SAFETY: the path ends with a zero, and the attributes are as large as the call is told.
    done(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path,
            libc::AT_RECURSIVE,
            &raw const change,
            size,
        )
    })
}

/// A copy of the mounts at and below a path, as they are now.
fn copy_mounts(path: &CStr) -> Result<RawFd, c_int> {
    const CLONE: c_int = 1;
    let flags = CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: the path ends with a zero.
    let tree = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    done(tree).and(RawFd::try_from(tree).map_err(|_| libc::EBADF))
}

fn put_mounts(tree: RawFd, path: &CStr) -> Result<(), c_int> {
    const FROM_DESCRIPTOR: u32 = 4;
    let (empty, there) = (c"".as_ptr(), libc::AT_FDCWD);
    // SAFETY: both paths end with a zero.
    done(unsafe { libc::syscall(libc::SYS_move_mount, tree, empty, there, path.as_ptr(), FROM_DESCRIPTOR) })
}

fn hold(path: &CStr, keep: Keep) -> Result<(), c_int> {
    mount(path, path, None, libc::MS_BIND | libc::MS_REC, None)?;
    match keep {
        Keep::There => Ok(()),
        Keep::ReadOnly => change(path, Change { set: READ_ONLY, ..Change::default() }),
    }
}

fn hide(path: &CStr, cover: Cover) -> Result<(), c_int> {
    let closed = libc::MS_RDONLY | libc::MS_NODEV | libc::MS_NOSUID | libc::MS_NOEXEC;
    match cover {
        Cover::Folder => mount(c"tmpfs", path, Some(c"tmpfs"), closed, Some(c"mode=000,size=4k")),
        Cover::File => {
            mount(c"/dev/null", path, None, libc::MS_BIND, None)?;
            mount(c"none", path, None, libc::MS_BIND | libc::MS_REMOUNT | closed, None)
        }
    }
}

fn mount(
    source: &CStr,
    target: &CStr,
    kind: Option<&CStr>,
    flags: c_ulong,
    options: Option<&CStr>,
) -> Result<(), c_int> {
    let kind = kind.map_or(null(), CStr::as_ptr);
    let options = options.map_or(null(), CStr::as_ptr).cast();
    // SAFETY: every string ends with a zero or is absent, which the call allows for these two.
    done(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind, flags, options) })
}

fn write(path: &CStr, bytes: &[u8]) -> Result<(), c_int> {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    done(file)?;
    // SAFETY: the bytes are as many as the call is told.
    let written = done(unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) } as i64);
    // SAFETY: the descriptor was opened here and is not used again.
    unsafe { libc::close(file) };
    written
}

fn allow(rules: &OwnedFd, fresh: &Fresh) -> Result<(), c_int> {
    const BENEATH: u32 = 1;
    /// The kernel's `landlock_path_beneath_attr`.
    #[repr(C, packed)]
    struct Rule {
        rights: u64,
        folder: RawFd,
    }
    // SAFETY: the path ends with a zero.
    let folder = unsafe { libc::open(fresh.path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
    done(folder)?;
    let rule = Rule { rights: fresh.rights, folder };
    // SAFETY: the rule is what this call reads, and both descriptors are open.
    let added = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, rules.as_raw_fd(), BENEATH, &raw const rule, 0_u32)
    };
    let added = done(added);
    // SAFETY: the descriptor was opened here and is not used again.
    unsafe { libc::close(folder) };
    added
}

fn loopback_up() -> Result<(), c_int> {
    // SAFETY: takes numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    done(socket)?;
    // SAFETY: all its fields are numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is what this call reads.
    let up = done(unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request) });
    // SAFETY: the descriptor was opened here and is not used again.
    unsafe { libc::close(socket) };
    up
}

fn step_in_again() -> Result<(), c_int> {
    let mut folder = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer is as long as the call is told; the call ends what it writes with a zero, or fails.
    done(unsafe { libc::syscall(libc::SYS_getcwd, folder.as_mut_ptr(), folder.len()) })?;
    // A folder that was removed has a name that does not start at the root.
    if folder.first() != Some(&b'/') {
        return Err(libc::ENOENT);
    }
    // SAFETY: the path ends with a zero.
    done(unsafe { libc::chdir(folder.as_ptr().cast()) })
}

fn close_on_exec() -> Result<(), c_int> {
    let (first, last) = (3_u32, u32::MAX);
    // SAFETY: takes numbers only. std's own pipe to the parent closes on exec anyway and works until then.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC) })
}

/// Capabilities of root that are about files of other users, about becoming one, and about low ports:
/// chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service.
const KEPT: u32 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10;

fn drop_capabilities() -> Result<(), c_int> {
    const VERSION_3: u32 = 0x2008_0522;
    // The version, and the process: this one.
    let header = [VERSION_3, 0];
    // Effective, permitted and inheritable ones, the low half and the high half.
    let mut sets = [0_u32; 6];
    // SAFETY: both are as large as this version says.
    done(unsafe { libc::syscall(libc::SYS_capget, header.as_ptr(), sets.as_mut_ptr()) })?;
    let [_, permitted, ..] = sets;
    let kept = permitted & KEPT;
    let sets = [kept, kept, 0, 0, 0, 0];
    // SAFETY: as above. A later exec gives root no more than these, because no new privileges are allowed.
    done(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) })
}

fn install(filter: &BpfProgram) -> Result<(), c_int> {
    let len = u16::try_from(filter.len()).map_err(|_| libc::E2BIG)?;
    // Our instructions are laid out as the kernel's are; it only reads them.
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut().cast() };
    // SAFETY: the program is as long as it says and lives through the call.
    done(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const program)
    })
}

fn at(step: Step, index: usize) -> impl FnOnce(c_int) -> Fault {
    move |errno| Fault { step, index, errno }
}

/// What a call that gives -1 for an error says.
fn done(result: impl Into<i64>) -> Result<(), c_int> {
    if result.into() < 0 {
        Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    } else {
        Ok(())
    }
}
