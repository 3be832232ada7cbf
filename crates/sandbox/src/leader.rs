//! What a child does between its fork and its program.
#![expect(unsafe_code, reason = "code that runs in a child before its program can only be set by `pre_exec`")]

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;
#[cfg(target_os = "linux")]
use rustix::{
    io::Errno,
    process::{Signal, getppid, set_parent_process_death_signal},
};

/// Makes the program the leader of a session and a group of its own, so that there is no terminal it could wait for, and lets it
/// inherit these descriptors under the numbers they have.
pub(crate) fn lead(command: &mut Command, inherit: Vec<OwnedFd>) {
    let before = move || {
        setsid()?;
        for descriptor in &inherit {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only calls are made that are safe after a fork: two system calls without a lock or an
    // allocation. The descriptors are owned by the closure, which lives as long as the command.
    unsafe { command.pre_exec(before) };
}

/// Has the program killed when this one is gone, however it goes: nothing of ours runs after a `SIGKILL`.
///
/// The system does so when the *thread* ends that started it, so that it must be started by one that lives as long as this program.
#[cfg(target_os = "linux")]
pub(crate) fn die_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    let before = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Whoever was gone before that is not missed by the system.
        if getppid() == Some(us) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec only two system calls are made, without a lock or an allocation.
    unsafe { command.pre_exec(before) };
}

/// Elsewhere a program learns of our end by its input alone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_us(_: &mut Command) {}
