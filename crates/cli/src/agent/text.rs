//! The answer as text; what happens meanwhile on stderr.

use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};

use rail_proto::{Finish, Reason, Routed, SessionEvent, ToolEnd};
use serde_json::Value;

use super::flags::OutputFormat;
use super::headless::Printer;
use super::preview::{Extent, preview};
use crate::{Failure, output};

/// Prints the last answer.
pub(crate) struct Text;

impl Printer for Text {
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        match event {
            SessionEvent::Done(done) if done.reason == Reason::Answered => {
                let text = &done.text;
                output::print(&if text.ends_with('\n') { text.clone() } else { format!("{text}\n") })
            }
            _ => Ok(()),
        }
    }
}

/// A printer, and what is told beside it.
pub(crate) struct Beside<P> {
    pub(crate) told: Told,
    pub(crate) printer: P,
}

impl<P: Printer> Printer for Beside<P> {
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        self.told.event(event);
        self.printer.event(event)
    }
}

/// Tells on stderr what happens.
pub(crate) struct Told {
    verbose: u8,
    /// Whether somebody is looking.
    watched: bool,
    /// Whether something is told that nobody asked for.
    warns: bool,
    /// What calls that run do, by their ids.
    doing: BTreeMap<String, String>,
}

impl Told {
    /// Who reads events as they come sees what happens, and is told only what they ask for.
    pub(crate) fn new(verbose: u8, format: OutputFormat) -> Self {
        let alone = matches!(format, OutputFormat::Text | OutputFormat::Json);
        Self { verbose, watched: alone && stderr().is_terminal(), warns: alone, doing: BTreeMap::new() }
    }

    fn tell(&self, least: u8, text: &str) {
        if self.verbose >= least {
            output::tell(text);
        }
    }

    fn event(&mut self, event: &SessionEvent) {
        // Somebody who waits at a terminal wants to see what it does.
        let progress = u8::from(!self.watched);
        match event {
            SessionEvent::Routed(routed) => self.routed(routed),
            SessionEvent::ToolStart(start) => {
                let doing = format!("{} {}", start.title, what(&start.input));
                self.tell(progress, &doing);
                if !start.name.eq_ignore_ascii_case(&start.title) {
                    self.tell(1, &format!("{} was called as `{}`", start.title, start.name));
                }
                self.doing.insert(start.id.clone(), doing);
            }
            SessionEvent::ToolEnd(end) => {
                let doing = self.doing.remove(end.result.id.as_str()).unwrap_or_default();
                if let Some(how) = ended(end) {
                    self.tell(progress, &format!("{doing}: {how}"));
                }
                let extent = if self.verbose > 1 { Extent::All } else { Extent::Preview };
                if let Some(lines) = end.shown.as_ref().and_then(|shown| preview(shown, extent)) {
                    self.tell(1, &format!("{doing}:\n{lines}"));
                }
            }
            SessionEvent::Text { text, .. } => self.tell(2, &format!("text {text:?}")),
            SessionEvent::Thinking { text, .. } => self.tell(2, &format!("thinking {text:?}")),
            SessionEvent::Calling { name, .. } => self.tell(2, &format!("calling {name}")),
            SessionEvent::Note { text, .. } => self.tell(progress, text),
            SessionEvent::Restarted { why, .. } => {
                self.tell(u8::from(!self.warns), &format!("the answer is asked for again: {why}"))
            }
            SessionEvent::AgentBegan(began) => {
                self.tell(1, &format!("{} ({}) begins, on {}", began.description, began.kind, began.model));
            }
            // At a terminal it is enough to see what its agents do.
            SessionEvent::AgentEvent { event, .. } => {
                if let SessionEvent::ToolStart(start) = &**event {
                    self.tell(progress, &format!("  {} {}", start.title, what(&start.input)));
                }
            }
            SessionEvent::Compacted(compacted) => {
                self.tell(
                    progress,
                    &format!("made shorter: {} tokens, {} now", compacted.before, compacted.after),
                );
            }
            _ => {}
        }
    }

    fn routed(&self, routed: &Routed) {
        let kind = routed.virtual_model.as_deref().unwrap_or("by name");
        self.tell(1, &format!("{} answers ({kind}: {})", routed.target, routed.why));
    }
}

/// How long a call takes before its time is worth telling.
const LONG_MS: u64 = 1000;

/// How a call ended, where that is not just as it should be, or took long.
fn ended(end: &ToolEnd) -> Option<String> {
    let how = match end.end {
        Finish::Done => "done",
        Finish::Refused => "not run: the call does not fit",
        Finish::Denied => "not allowed",
        Finish::Hooked => "stopped by a hook",
        Finish::Failed => "failed",
        Finish::Crashed => "broke off",
        Finish::Cancelled => "cancelled",
        Finish::Unknown => "unknown",
    };
    let took = end.duration_ms;
    match end.end {
        _ if took >= LONG_MS => Some(format!("{how}, {}.{} s", took / 1000, took / 100 % 10)),
        Finish::Done => None,
        Finish::Refused
        | Finish::Denied
        | Finish::Hooked
        | Finish::Failed
        | Finish::Crashed
        | Finish::Cancelled
        | Finish::Unknown => Some(how.to_owned()),
    }
}

/// The fields that say best what a call does.
const TELLING: &[&str] =
    &["command", "file_path", "notebook_path", "path", "pattern", "query", "url", "description"];
/// How many characters of it are shown.
const SHOWN: usize = 120;

/// What a call does, on one line.
fn what(input: &Value) -> String {
    let telling = TELLING.iter().find_map(|field| input.get(field).and_then(Value::as_str));
    let text = telling.map_or_else(|| input.to_string(), str::to_owned);
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::what;

    #[test]
    fn what_a_call_does_is_one_line() {
        assert_eq!(what(&json!({"command": "a\nb", "timeout": 3})), "a b");
        assert_eq!(what(&json!({"todos": []})), r#"{"todos":[]}"#);
        assert_eq!(what(&json!({"path": "x".repeat(200)})), format!("{}…", "x".repeat(120)));
    }
}
