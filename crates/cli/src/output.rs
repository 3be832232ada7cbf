//! What a command says: results on stdout, everything else on stderr.

use std::io::{Write, stderr, stdout};
use std::sync::Mutex;

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
    match INSTEAD.lock().as_deref() {
        Ok(Some(told)) => told(text),
        Ok(None) | Err(_) => drop(writeln!(stderr(), "rail: {}", harmless(text))),
    }
}

/// Who is told instead of stderr.
type Told = Box<dyn Fn(&str) + Send>;
static INSTEAD: Mutex<Option<Told>> = Mutex::new(None);

/// Has somebody else told, while what stands on stderr would be in the way.
pub(crate) fn to(told: Told) {
    if let Ok(mut instead) = INSTEAD.lock() {
        *instead = Some(told);
    }
}

/// Tells on stderr again.
pub(crate) fn to_stderr() {
    if let Ok(mut instead) = INSTEAD.lock() {
        *instead = None;
    }
}

/// Text that can't change the terminal: what servers and files say may hold control characters. Lines and tabs stay.
pub(crate) fn harmless(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(rail_config::plain).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
