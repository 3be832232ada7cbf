use std::collections::BTreeMap;

use rail_model::{CallKind, Delta, Event, Extras, PartKind};

/// Undoes in the answer what the encoding of its request had to change: shortened tool names, free-text tools that
/// went out as functions.
#[derive(Clone, Debug, Default)]
pub struct Restore {
    names: BTreeMap<String, String>,
    custom: BTreeMap<String, String>,
    open: BTreeMap<usize, String>,
}

/// The one argument of a function that stands for a free-text tool.
pub const CUSTOM_FIELD: &str = "input";

impl Restore {
    /// The tool `original` was sent as `sent`.
    pub fn renamed(&mut self, sent: String, original: String) {
        self.names.insert(sent, original);
    }

    /// The free-text tool `name` was sent as a function with one string argument.
    pub fn was_custom(&mut self, name: String) {
        self.custom.insert(name.clone(), name);
    }

    /// True when there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.custom.is_empty()
    }

    /// Passes an event on, changed back where needed. The text of a free-text call is given when the call closes,
    /// because until then its JSON is not whole.
    pub fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::Opened { at, kind: PartKind::ToolCall { id, name, kind }, extras } => {
                let name = self.names.get(&name).cloned().unwrap_or(name);
                let kind = if self.custom.contains_key(&name) {
                    self.open.insert(at, String::new());
                    CallKind::Custom
                } else {
                    kind
                };
                out.push(Event::Opened { at, kind: PartKind::ToolCall { id, name, kind }, extras });
            }
            Event::Delta { at, delta: Delta::Arguments(piece), extras } => match self.open.get_mut(&at) {
                Some(held) => held.push_str(&piece),
                None => out.push(Event::Delta { at, delta: Delta::Arguments(piece), extras }),
            },
            Event::Closed { at, extras } => {
                if let Some(held) = self.open.remove(&at) {
                    let delta = Delta::Arguments(free_text(held));
                    out.push(Event::Delta { at, delta, extras: Extras::NONE });
                }
                out.push(Event::Closed { at, extras });
            }
            Event::Started { .. }
            | Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => out.push(event),
        }
    }
}

/// The text inside `{"input": "…"}`; a model that wrote the text itself, or anything else, is taken at its word.
fn free_text(arguments: String) -> String {
    let object = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(&arguments);
    match object {
        Ok(mut object) if object.len() == 1 => match object.remove(CUSTOM_FIELD) {
            Some(serde_json::Value::String(text)) => text,
            Some(_) | None => arguments,
        },
        Ok(_) | Err(_) => arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rail_model::CallId;

    fn call(name: &str, kind: CallKind) -> Event {
        let kind = PartKind::ToolCall { id: CallId::Given("c".into()), name: name.into(), kind };
        Event::Opened { at: 0, kind, extras: Extras::NONE }
    }
    fn arguments(text: &str) -> Event {
        Event::Delta { at: 0, delta: Delta::Arguments(text.into()), extras: Extras::NONE }
    }
    fn closed() -> Event {
        Event::Closed { at: 0, extras: Extras::NONE }
    }

    #[test]
    fn a_custom_call_comes_back_as_free_text() {
        let mut restore = Restore::default();
        restore.was_custom("apply_patch".into());
        let mut out = Vec::new();
        for event in [
            call("apply_patch", CallKind::Function),
            arguments("{\"inp"),
            arguments("ut\":\"*** Begin\\n\"}"),
            closed(),
        ] {
            restore.event(event, &mut out);
        }
        assert_eq!(out, [call("apply_patch", CallKind::Custom), arguments("*** Begin\n"), closed()]);
    }

    #[test]
    fn a_shortened_name_comes_back_whole() {
        let mut restore = Restore::default();
        restore.renamed("short".into(), "a_very_long_name".into());
        let mut out = Vec::new();
        restore.event(call("short", CallKind::Function), &mut out);
        restore.event(arguments("{}"), &mut out);
        assert_eq!(out, [call("a_very_long_name", CallKind::Function), arguments("{}")]);
    }
}
