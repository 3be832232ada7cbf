//! Large contents are kept once, by what they are, and a line only refers to them.

use std::io;

use rail_model::{MediaSource, Message, Part, PartBody};
use serde_json::Value;

use crate::Record;
use crate::store::{ContentId, Store};

/// A text beyond this many bytes is kept in the store.
const LARGE: usize = 16 << 10;

/// Begins a text that stands for another. A text that begins like this by itself is kept in the store, however short.
const REFERENCE: &str = "\0rail-content:";

/// Puts what is large into the store and a reference in its place; gives the names of what was put there.
pub(crate) fn pack(record: &mut Record, store: &Store) -> io::Result<Vec<ContentId>> {
    let mut put = Vec::new();
    each_text(record, &mut |text, bulk| -> io::Result<()> {
        let large = match bulk {
            Bulk::Text => text.len() > LARGE,
            Bulk::Media => true,
        };
        if large || text.starts_with(REFERENCE) {
            let id = store.put(text.as_bytes())?;
            *text = format!("{REFERENCE}{id}");
            put.push(id);
        }
        Ok(())
    })?;
    Ok(put)
}

/// Brings back what references stand for.
///
/// # Errors
/// The content that can't be had, and why.
pub(crate) fn unpack(record: &mut Record, store: &Store) -> Result<(), (ContentId, io::Error)> {
    each_text(record, &mut |text, _| {
        // What only looks like a reference was never written by us, so it stays what it is.
        let Some(id) = text.strip_prefix(REFERENCE).and_then(|id| id.parse().ok()) else { return Ok(()) };
        let bytes = store.get(&id).map_err(|error| (id, error))?;
        *text = String::from_utf8(bytes).map_err(|error| (id, io::Error::other(error)))?;
        Ok(())
    })
}

/// What kind of text may be large.
#[derive(Clone, Copy)]
enum Bulk {
    Text,
    /// The data of an image or the like.
    Media,
}

type Visit<'a, E> = &'a mut dyn FnMut(&mut String, Bulk) -> Result<(), E>;

/// Visits every text of a record that may be large.
fn each_text<E>(record: &mut Record, visit: Visit<'_, E>) -> Result<(), E> {
    match record {
        Record::Prompt(prompt) => each_part(&mut prompt.system, visit),
        Record::Message(said) | Record::Told(said) | Record::Queued(said) | Record::Results(said) => {
            each_part(&mut said.message.parts, visit)
        }
        Record::Partial(partial) => {
            visit(&mut partial.text, Bulk::Text)?;
            visit(&mut partial.thinking, Bulk::Text)
        }
        Record::Compacted(compacted) => {
            let parts = |message: &mut Message| each_part(&mut message.parts, visit);
            compacted.window.iter_mut().try_for_each(parts)
        }
        Record::Todos(value) | Record::Findings(value) | Record::Known(value) => in_value(value, visit),
        Record::Note(note) => in_value(&mut note.value, visit),
        Record::Opened(_)
        | Record::Running(_)
        | Record::Taken(_)
        | Record::Void(_)
        | Record::Rewound(_)
        | Record::Snapshot(_)
        | Record::Usage(_)
        | Record::Mode(_)
        | Record::Model(_)
        | Record::Title(_)
        | Record::Ended(_)
        | Record::Unknown { .. } => Ok(()),
    }
}

fn each_part<E>(parts: &mut [Part], visit: Visit<'_, E>) -> Result<(), E> {
    for part in parts {
        if let Some(seal) = &mut part.seal {
            visit(&mut seal.data, Bulk::Text)?;
        }
        match &mut part.body {
            PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => {
                visit(text, Bulk::Text)?;
            }
            PartBody::Redacted(seal) => visit(&mut seal.data, Bulk::Text)?,
            PartBody::ToolCall(call) => visit(&mut call.arguments, Bulk::Text)?,
            PartBody::ToolResult(result) => each_part(&mut result.content, visit)?,
            PartBody::Media(media) => match &mut media.source {
                MediaSource::Base64(data) => visit(data, Bulk::Media)?,
                MediaSource::Text(text) | MediaSource::Url(text) | MediaSource::FileId(text) => {
                    visit(text, Bulk::Text)?;
                }
            },
            PartBody::Opaque(opaque) => in_value(&mut opaque.value, visit)?,
        }
    }
    Ok(())
}

fn in_value<E>(value: &mut Value, visit: Visit<'_, E>) -> Result<(), E> {
    match value {
        Value::String(text) => visit(text, Bulk::Text),
        Value::Array(list) => list.iter_mut().try_for_each(|value| in_value(value, visit)),
        Value::Object(map) => map.values_mut().try_for_each(|value| in_value(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
