use std::io::{self, Write};
use std::path::Path;

use rail_model::{Media, MediaKind, MediaSource, Message, Part, PartBody, Role};
use serde_json::{Value, json};

use crate::{Cause, JournalError, Resumed, What, messages, view};

/// The form of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// For people.
    Markdown,
    /// For programs: one object, with a list of messages.
    Json,
}

/// Makes of a text one that may leave the machine: secrets are hidden.
pub type Mask<'a> = &'a dyn Fn(&str) -> String;

/// Writes the whole history of a session out, each text through `mask`.
///
/// # Errors
/// There is no such session, it is broken, or what it says can't be written out.
pub fn export(folder: &Path, form: Form, mask: Mask<'_>, out: &mut dyn Write) -> Result<(), JournalError> {
    let session = view(folder)?;
    let mut out = Out { mask, out };
    let failed = |source| JournalError::Export { source };
    match form {
        Form::Markdown => out.markdown_head(&session),
        Form::Json => out.json_head(&session),
    }
    .map_err(failed)?;
    for (index, shown) in messages(folder)?.enumerate() {
        let shown = shown?;
        match form {
            Form::Markdown => out.markdown(&shown.what),
            Form::Json => {
                let between = if index == 0 { "\n" } else { ",\n" };
                let value =
                    json_of(shown.n, shown.at.0, &shown.what).map_err(|error| failed(error.into()))?;
                out.raw(between).and_then(|()| out.json(value))
            }
        }
        .map_err(failed)?;
    }
    match form {
        Form::Markdown => Ok(()),
        Form::Json => out.raw("\n]}\n"),
    }
    .and_then(|()| out.out.flush())
    .map_err(failed)
}

struct Out<'a> {
    mask: Mask<'a>,
    out: &'a mut dyn Write,
}

impl Out<'_> {
    fn raw(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    fn json_head(&mut self, session: &Resumed) -> io::Result<()> {
        let opened = &session.opened;
        let head = json!({
            "id": opened.id.as_str(),
            "title": session.state.sum.title,
            "cwd": opened.cwd.to_string_lossy(),
            "model": session.state.model,
            "started": session.started.0,
            "parent": opened.parent.as_ref().map(|fork| fork.id.as_str()),
            "totals": session.state.sum.totals,
        });
        let head = masked(head, self.mask).to_string();
        self.raw(head.strip_suffix('}').unwrap_or(&head))?;
        self.raw(",\"messages\":[")
    }

    fn json(&mut self, value: Value) -> io::Result<()> {
        let text = masked(value, self.mask).to_string();
        self.raw(&text)
    }

    fn markdown_head(&mut self, session: &Resumed) -> io::Result<()> {
        let opened = &session.opened;
        let title = session.state.sum.title.as_deref().unwrap_or("Session");
        let day = rail_stdx::date(session.started.0 / 1000);
        let mut head = format!("# {title}\n\n- session: {}\n", opened.id);
        head += &format!("- folder: `{}`\n", opened.cwd.display());
        if !session.state.model.is_empty() {
            head += &format!("- model: {}\n", session.state.model);
        }
        head += &format!("- begun: {day}\n");
        if let Some(fork) = &opened.parent {
            head += &format!("- forked from: {}, line {}\n", fork.id, fork.at.n);
        }
        let head = (self.mask)(&head);
        self.raw(&head)
    }

    fn markdown(&mut self, what: &What) -> io::Result<()> {
        let text = match what {
            What::Message(message) | What::Told(message) => markdown_message(message, self.mask),
            What::Compacted { cause, by } => {
                let why = match cause {
                    Cause::Full => "the window was nearly full",
                    Cause::Asked => "as the user asked",
                    Cause::Trimmed => "old output was cut away",
                    Cause::Forked => "the session was forked",
                };
                let by = by.as_ref().map(|by| format!(", summary by {by}")).unwrap_or_default();
                (self.mask)(&format!("\n---\n\n*Compacted here: {why}{by}.*\n"))
            }
        };
        self.raw(&text)
    }
}

fn json_of(n: u64, at: u64, what: &What) -> serde_json::Result<Value> {
    Ok(match what {
        What::Message(message) | What::Told(message) => {
            json!({"n": n, "at": at, "message": serde_json::to_value(message)?})
        }
        What::Compacted { cause, by } => {
            json!({"n": n, "at": at, "compacted": {"cause": serde_json::to_value(cause)?, "by": by}})
        }
    })
}

fn masked(value: Value, mask: Mask<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(mask(&text)),
        Value::Array(list) => list.into_iter().map(|value| masked(value, mask)).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (mask(&key), masked(value, mask))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn markdown_message(message: &Message, mask: Mask<'_>) -> String {
    let who = match message.role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Results",
    };
    let only_results = message.parts.iter().all(|part| matches!(part.body, PartBody::ToolResult(_)));
    let who = if only_results && !message.parts.is_empty() { "Results" } else { who };
    let mut text = format!("\n## {who}\n");
    message.parts.iter().for_each(|part| markdown_part(part, mask, &mut text));
    text
}

fn markdown_part(part: &Part, mask: Mask<'_>, out: &mut String) {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => *out += &format!("\n{}\n", mask(text).trim_end()),
        PartBody::Thinking(text) => {
            *out += "\n<details><summary>Thinking</summary>\n";
            fenced("", &mask(text), out);
            *out += "\n</details>\n";
        }
        PartBody::Redacted(_) => *out += "\n*Reasoning that its issuer does not show.*\n",
        PartBody::ToolCall(call) => {
            *out += &format!("\n**{}**\n", mask(&call.name));
            fenced("json", &mask(&call.arguments), out);
        }
        PartBody::ToolResult(result) => {
            if result.is_error == Some(true) {
                *out += "\n*It failed:*\n";
            }
            for part in &result.content {
                match part.as_text() {
                    Some(text) => fenced("", &mask(text), out),
                    None => markdown_part(part, mask, out),
                }
            }
        }
        PartBody::Media(media) => *out += &format!("\n*{}*\n", mask(&described(media))),
        PartBody::Opaque(opaque) => *out += &format!("\n*A block that only {} knows.*\n", opaque.origin),
    }
}

fn described(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "An image",
        MediaKind::Document => "A document",
        MediaKind::Audio => "A sound",
        MediaKind::Video => "A film",
    };
    let name = media.name.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default();
    let mime = media.mime.as_ref().map(|mime| format!(" ({mime})")).unwrap_or_default();
    let place = match &media.source {
        MediaSource::Base64(_) | MediaSource::Text(_) => String::new(),
        MediaSource::Url(url) => format!(" at {url:.200}"),
        MediaSource::FileId(id) => format!(" with the id {id}"),
    };
    format!("{kind}{name}{mime}{place}.")
}

/// A text in a fence that nothing in it can close.
fn fenced(language: &str, text: &str, out: &mut String) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    *out += &format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'));
}
