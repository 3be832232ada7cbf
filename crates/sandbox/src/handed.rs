//! A program that is handed over to the user: it stays when we go.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;

/// Starts a program that goes on by itself, such as a browser: it reads nothing, nobody reads what it prints, and nobody ends it.
///
/// # Errors
/// The system did not start it.
#[expect(clippy::disallowed_methods, reason = "this is where child processes are started")]
pub fn hand_over(program: &str, args: &[&str], env: &[(OsString, OsString)]) -> io::Result<()> {
    let mut command = std::process::Command::new(program);
    command.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // What the terminal tells us, such as Ctrl+C, is not for it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
