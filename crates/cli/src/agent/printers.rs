//! Results as JSON: one object, messages as they come, or the agent's own events.

use std::io::{Write, stdout};

use rail_proto::SessionEvent;
use serde_json::{Value, json};

use super::headless::Printer;
use super::messages::Messages;
use crate::Failure;

/// Prints the result of a task as one object.
pub(crate) struct Json(pub(crate) Messages);

impl Printer for Json {
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        let results = self.0.event(event).into_iter().filter(|message| message["type"] == "result");
        results.into_iter().try_for_each(|result| print_line(&result))
    }
}

/// Prints messages as they come.
pub(crate) struct StreamJson(pub(crate) Messages);

impl Printer for StreamJson {
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        self.0.event(event).iter().try_for_each(print_line)
    }
}

/// Prints the agent's own events.
#[derive(Default)]
pub(crate) struct Events {
    last: u64,
}

impl Printer for Events {
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        // They are counted where they are printed: the end of a command without a model is no event of the session.
        self.last += 1;
        print_line(&numbered(self.last, event))
    }
}

/// An event with its number in front; one without data says so.
fn numbered(seq: u64, event: &SessionEvent) -> Value {
    let written = serde_json::to_value(event).unwrap_or_default();
    json!({"seq": seq, "type": written["type"], "data": written.get("data").cloned().unwrap_or_default()})
}

/// Prints a value in a line of its own.
pub(crate) fn print_line(value: &Value) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let written =
        out.write_all(format!("{}\n", escaped(&value.to_string())).as_bytes()).and_then(|()| out.flush());
    // The error stays what it is: a closed pipe is no failure.
    written.map_err(|error| Failure::Task(error.into()))
}

/// JSON in which no character can change a terminal: those that JSON lets stand are escaped as well, so that nothing is lost.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Readers that split at any line end must not split inside of a text.
            '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use rail_proto::Mode;

    use super::*;

    #[test]
    fn events_are_numbered_and_have_data() {
        let mode = numbered(3, &SessionEvent::Mode(Mode::AcceptEdits));
        assert_eq!(mode.to_string(), r#"{"seq":3,"type":"mode","data":"accept-edits"}"#);
        let closed = numbered(4, &SessionEvent::Closed);
        assert_eq!(closed.to_string(), r#"{"seq":4,"type":"closed","data":null}"#);
    }

    #[test]
    fn control_characters_are_escaped_and_come_back() {
        let value = json!({"a": "\u{9b}31m\u{7f}\u{1b}\u{2028}ü"});
        let line = escaped(&value.to_string());
        assert_eq!(line, r#"{"a":"\u009b31m\u007f\u001b\u2028ü"}"#);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
