//! What a child does between its fork and its program.
#![expect(unsafe_code, reason = "code that runs in a child before its program can only be set by `pre_exec`")]

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::setsid;

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
