//! What a command says: results on stdout, everything else on stderr.

use std::io::{Write, stderr, stdout};

use serde_json::Value;

use crate::Failure;

/// Prints a result, as it is.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    // The error stays what it is: a closed pipe is no failure.
    out.write_all(harmless(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::Task(error.into()))
}

/// Prints a result as JSON.
pub(crate) fn print_json(value: &Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}

/// Tells something beside the result. A closed stderr must not turn one failure into another.
pub(crate) fn tell(text: &str) {
    let _ = writeln!(stderr(), "rail: {}", harmless(text));
}

/// Text that can't change the terminal: what servers and files say may hold control characters. Lines and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(rail_config::plain).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
