//! A line from the terminal that is not shown while it is typed.

use std::io::{self, BufRead, Read};

/// Ctrl-C, Ctrl-D, and the two that take a character back.
#[cfg(unix)]
const KEYS: [u8; 4] = [3, 4, 8, 127];

/// Reads a line; None when the input ends before it. The terminal is as it was before, whatever happens.
#[cfg(unix)]
pub(super) fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let [interrupt, end, back, delete] = KEYS;
    let quiet = Quiet::begin()?;
    let mut line = Vec::new();
    for byte in input.by_ref().bytes() {
        match byte? {
            b'\r' | b'\n' => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            byte if byte == interrupt => {
                drop(quiet);
                // As at every other question: the shell sees that it was interrupted.
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT)?;
                return Ok(None);
            }
            byte if byte == end => return Ok(None),
            byte if byte == back || byte == delete => {
                // A character may be several bytes; those that go on with one are alike.
                while line.pop().is_some_and(|byte: u8| byte & 0b1100_0000 == 0b1000_0000) {}
            }
            byte => line.push(byte),
        }
    }
    Ok(None)
}

/// Elsewhere it is shown.
#[cfg(not(unix))]
pub(super) fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    Ok((input.read_line(&mut line)? > 0).then_some(line))
}

/// A terminal that shows nothing, and gives each key as it is pressed: a Ctrl-C must not leave it so.
#[cfg(unix)]
struct Quiet(rustix::termios::Termios);

#[cfg(unix)]
impl Quiet {
    fn begin() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(io::stdin(), OptionalActions::Drain, &quiet)?;
        Ok(Self(before))
    }
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        // There is nobody to tell if it fails, and nothing else to do.
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Drain, &self.0);
    }
}
