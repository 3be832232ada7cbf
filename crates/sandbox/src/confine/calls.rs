//! Which system calls a child is refused.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// With whom a child may speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// With anybody.
    Everybody,
    /// With itself, on a loopback of its own.
    OwnLoopback,
    /// With nobody but by pipes and pairs of sockets.
    Nobody,
}

/// The filters, all of which are to be installed.
pub(super) fn filters(reach: Reach) -> Result<Vec<BpfProgram>, BackendError> {
    let refused = filter(refused(reach)?, libc::EPERM)?;
    let absent = ABSENT.iter().map(|call| (*call, Vec::new())).collect();
    let mut absent = filter(absent, libc::ENOSYS)?;
    if cfg!(target_arch = "x86_64") {
        absent.splice(0..0, OTHER_NUMBERS);
    }
    Ok(vec![refused, absent])
}

/// Calls that always fail.
const REFUSED: &[c_long] = &[
    // Mounts, in the old way and the new.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    // Other processes' memory and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Files by number instead of by name.
    libc::SYS_open_by_handle_at,
    // The kernel itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_fanotify_init,
    // The user's keys.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Calls without which programs know how to live, if the kernel says that it has no such call. What `clone3` is asked for
/// stands in memory, where a filter can't look; what goes through a ring passes by every filter.
const ABSENT: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Younger than the list of names that we use.
const OPEN_TREE_ATTR: c_long = 467;

/// Only `unshare` knows this one: its bit means a signal to `clone`.
const CLONE_NEWTIME: u64 = 0x80;
const NEW_NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Types text for the user into their terminal; the second does it by selecting and pasting.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;

/// On x86-64 every call has a second number, of the x32 interface, which no list of calls would catch: load the number,
/// and if its bit 30 is set, there is no such call.
const OTHER_NUMBERS: [sock_filter; 3] = [
    sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 },
    sock_filter { code: 0x45, jt: 0, jf: 1, k: 0x4000_0000 },
    sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned() },
];

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn filter(rules: Rules, errno: i32) -> Result<BpfProgram, BackendError> {
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    // Calls of other architectures (32-bit programs) end the process.
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
}

fn refused(reach: Reach) -> Result<Rules, BackendError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let spaces = NEW_NAMESPACES.map(|flag| u64::from(flag.cast_unsigned()));
    rules
        .insert(libc::SYS_clone, spaces.iter().map(|flag| rule(&[has(0, *flag)])).collect::<Result<_, _>>()?);
    let more = spaces.iter().chain([&CLONE_NEWTIME]);
    rules.insert(libc::SYS_unshare, more.map(|flag| rule(&[has(0, *flag)])).collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_ioctl, vec![rule(&[is(1, TIOCSTI)])?, rule(&[is(1, TIOCLINUX)])?]);
    // Limits of another process: a process number, and new limits.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[not(0, 0), given(2)])?]);
    match reach {
        Reach::Everybody => {}
        Reach::OwnLoopback => {
            let [four, six, link] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(number);
            let routes = number(libc::NETLINK_ROUTE);
            let other_family = rule(&[not(0, four), not(0, six), not(0, link)])?;
            rules.insert(libc::SYS_socket, vec![other_family, rule(&[is(0, link), not(2, routes)])?]);
        }
        Reach::Nobody => {
            rules.insert(libc::SYS_socket, Vec::new());
        }
    }
    if reach != Reach::Everybody {
        // Of a pair, each end speaks with the other one; but a datagram can be sent to any name. A raw one is the same.
        let datagrams = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| rule(&[kind_is(1, number(kind))]));
        let mut pairs = vec![rule(&[not(0, number(libc::AF_UNIX))])?];
        pairs.extend(datagrams.into_iter().collect::<Result<Vec<_>, _>>()?);
        rules.insert(libc::SYS_socketpair, pairs);
    }
    Ok(rules)
}

fn number(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// What must hold of an argument: which one, how much of it counts, how it compares, with what.
type Condition = (u8, SeccompCmpArgLen, SeccompCmpOp, u64);

fn rule(conditions: &[Condition]) -> Result<SeccompRule, BackendError> {
    let one = |(index, length, compare, value): &Condition| {
        SeccompCondition::new(*index, length.clone(), compare.clone(), *value)
    };
    SeccompRule::new(conditions.iter().map(one).collect::<Result<_, _>>()?)
}

// The kernel reads these arguments as 32 bits, whatever stands above them.
fn is(index: u8, value: u64) -> Condition {
    (index, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn not(index: u8, value: u64) -> Condition {
    (index, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn has(index: u8, bit: u64) -> Condition {
    (index, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit), bit)
}

/// A socket's kind, without the flags that come with it.
fn kind_is(index: u8, kind: u64) -> Condition {
    (index, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(0xF), kind)
}

/// A pointer that points somewhere.
fn given(index: u8) -> Condition {
    (index, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCH: u32 = if cfg!(target_arch = "x86_64") { 0xC000_003E } else { 0xC000_00B7 };
    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

    /// What the kernel would do with this call: the strictest answer of all filters.
    fn verdict(reach: Reach, number: u32, arch: u32, args: &[u64]) -> u32 {
        let mut data = [0_u32; 16];
        (data[0], data[1]) = (number, arch);
        for (index, value) in args.iter().enumerate() {
            (data[4 + 2 * index], data[5 + 2 * index]) = (*value as u32, (*value >> 32) as u32);
        }
        let answers = filters(reach).unwrap().into_iter().map(|filter| answer(&filter, &data));
        answers.min_by_key(|answer| answer.cast_signed()).unwrap()
    }

    /// Runs a program of the kernel's machine on a call.
    fn answer(filter: &[sock_filter], data: &[u32; 16]) -> u32 {
        let (mut at, mut register) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1;
            let jump = |truth| usize::from(if truth { step.jt } else { step.jf });
            match step.code {
                0x20 => register = data[step.k as usize / 4],
                0x54 => register &= step.k,
                0x05 => at += step.k as usize,
                0x15 => at += jump(register == step.k),
                0x25 => at += jump(register > step.k),
                0x35 => at += jump(register >= step.k),
                0x45 => at += jump(register & step.k != 0),
                0x06 => return step.k,
                code => panic!("an unknown step: {code:#x}"),
            }
        }
    }

    #[track_caller]
    fn check(reach: Reach, call: c_long, args: &[u64], expected: u32) {
        assert_eq!(
            verdict(reach, call as u32, ARCH, args),
            expected,
            "call {call} with {args:x?}, {reach:?}"
        );
    }

    const ALL: [Reach; 3] = [Reach::Everybody, Reach::OwnLoopback, Reach::Nobody];

    #[test]
    fn listed_calls_fail_and_others_pass() {
        for reach in ALL {
            REFUSED.iter().for_each(|call| check(reach, *call, &[], EPERM));
            ABSENT.iter().for_each(|call| check(reach, *call, &[], ENOSYS));
            let plain =
                [libc::SYS_read, libc::SYS_openat, libc::SYS_execve, libc::SYS_seccomp, libc::SYS_connect];
            plain.iter().for_each(|call| check(reach, *call, &[1, 2, 3], ALLOW));
        }
    }

    #[test]
    fn arguments_decide() {
        let (thread, fork) = (0x003D_0F00, libc::SIGCHLD as u64);
        for (call, args, expected) in [
            (libc::SYS_clone, [thread, 0, 0], ALLOW),
            (libc::SYS_clone, [fork, 0, 0], ALLOW),
            (libc::SYS_clone, [fork | 0x1000_0000, 0, 0], EPERM),
            (libc::SYS_clone, [0x8000_0000 | 0x4000_0000, 0, 0], EPERM),
            (libc::SYS_clone, [0x0200_0000, 0, 0], EPERM),
            (libc::SYS_unshare, [0x400, 0, 0], ALLOW),
            (libc::SYS_unshare, [0x80, 0, 0], EPERM),
            (libc::SYS_unshare, [0x2_0000, 0, 0], EPERM),
            (libc::SYS_ioctl, [0, 0x5401, 0], ALLOW),
            (libc::SYS_ioctl, [0, 0x5412, 0], EPERM),
            (libc::SYS_ioctl, [0, 0xABCD_0000_5412, 0], EPERM),
            (libc::SYS_ioctl, [0, 0x541C, 0], EPERM),
            (libc::SYS_prlimit64, [0, 7, 0x1000], ALLOW),
            (libc::SYS_prlimit64, [9, 7, 0], ALLOW),
            (libc::SYS_prlimit64, [9, 7, 0x1000], EPERM),
            (libc::SYS_prlimit64, [9, 7, 0x1_0000_0000], EPERM),
        ] {
            ALL.iter().for_each(|reach| check(*reach, call, &args, expected));
        }
    }

    #[test]
    fn sockets_by_reach() {
        const FLAGS: u64 = (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u64;
        let (socket, pair) = (libc::SYS_socket, libc::SYS_socketpair);
        for (call, args, expected) in [
            // Unix, IPv4, IPv6, routes, other news of the kernel, frames, ciphers, the host.
            (socket, [1, 1, 0], [ALLOW, EPERM, EPERM]),
            (socket, [2, 1 | FLAGS, 0], [ALLOW, ALLOW, EPERM]),
            (socket, [10, 2, 0], [ALLOW, ALLOW, EPERM]),
            (socket, [16, 3, 0], [ALLOW, ALLOW, EPERM]),
            (socket, [16, 3, 15], [ALLOW, EPERM, EPERM]),
            (socket, [17, 3, 0], [ALLOW, EPERM, EPERM]),
            (socket, [38, 5, 0], [ALLOW, EPERM, EPERM]),
            (socket, [40, 1, 0], [ALLOW, EPERM, EPERM]),
            (socket, [0x7_0000_0001, 1, 0], [ALLOW, EPERM, EPERM]),
            // Streams and packets; letters and raw ones.
            (pair, [1, 1 | FLAGS, 0], [ALLOW, ALLOW, ALLOW]),
            (pair, [1, 5, 0], [ALLOW, ALLOW, ALLOW]),
            (pair, [1, 2 | FLAGS, 0], [ALLOW, EPERM, EPERM]),
            (pair, [1, 3, 0], [ALLOW, EPERM, EPERM]),
            (pair, [30, 1, 0], [ALLOW, EPERM, EPERM]),
        ] {
            for (reach, expected) in ALL.into_iter().zip(expected) {
                check(reach, call, &args, expected);
            }
        }
    }

    #[test]
    fn other_numbers_are_no_way_around() {
        for reach in ALL {
            // A 32-bit program: its numbers mean other calls.
            assert_eq!(verdict(reach, 21, 0x4000_0003, &[]), KILL);
            if cfg!(target_arch = "x86_64") {
                let other = libc::SYS_mount as u32 | 0x4000_0000;
                assert_eq!(verdict(reach, other, ARCH, &[]), ENOSYS);
            }
        }
    }
}
