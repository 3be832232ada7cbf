use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// The binary, started with pipes at its ends.
#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
pub(crate) fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rail"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the binary says to this input.
pub(crate) fn rail(args: &[&str], input: &[u8]) -> Output {
    let mut child = start(args);
    // The command may refuse its arguments before it reads.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
