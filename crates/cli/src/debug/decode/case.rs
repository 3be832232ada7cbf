//! The cases of a file, as the corpus of tool calls writes them.

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rail_model::{Event, ToolDecl};
use rail_repair::{Mapping, Profile};
use serde_json::Value;

use super::answer::{Chunks, Text};
use super::outcome::Outcome;
use super::tools;
use super::utf8::Utf8;

/// One answer, the tools that were declared for it, and what is known of its model.
pub(super) struct Case {
    id: String,
    chunks: Given,
    tools: Vec<ToolDecl>,
    profile: Profile,
    finish: Option<String>,
}

/// How the answer is given.
enum Given {
    Text(Vec<String>),
    Bytes(Vec<Vec<u8>>),
    Deltas(Vec<Value>),
}

/// Which of a case's two forms of the same text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `chunks`.
    Chunks,
    /// `bytes_b64`, where there is one.
    Bytes,
}

impl Case {
    /// Reads a line of the file.
    pub(super) fn read(line: &[u8], form: Form) -> Result<Self> {
        let case: Value = serde_json::from_slice(line)?;
        let Value::Object(_) = case else { bail!("a case is an object") };
        let options = &case["options"];
        let flag = |name: &str| match &options[name] {
            Value::Null => Ok(false),
            Value::Bool(value) => Ok(*value),
            other => Err(anyhow!("options.{name}: true or false is expected, not {other}")),
        };
        Ok(Self {
            id: string(&case["id"]).context("id")?.context("id is missing")?,
            chunks: given(&case, form)?,
            tools: match &case["tools"] {
                Value::Null => Vec::new(),
                list => tools::read(list)?,
            },
            profile: Profile {
                family: string(&options["hint"]).context("options.hint")?,
                starts_in_reasoning: flag("starts_in_reasoning")?,
                prompted: flag("prompted")?,
                escapes_entities: flag("escapes_entities")?,
                one_call: flag("one_call")?,
            },
            finish: string(&options["finish_reason"]).context("options.finish_reason")?,
        })
    }

    /// What the answer becomes.
    pub(super) fn decode(self, mappings: &[Mapping]) -> Result<Value> {
        let mut outcome = Outcome::new(&self.tools, &self.profile, mappings);
        let mut events = Vec::new();
        match self.chunks {
            Given::Text(chunks) => {
                Text::begin(&self.id, &mut events);
                chunks.into_iter().for_each(|text| Text::more(text, &mut events));
                Text::end(self.finish.as_deref(), &mut events);
            }
            Given::Bytes(pieces) => {
                let mut utf8 = Utf8::default();
                Text::begin(&self.id, &mut events);
                pieces.iter().for_each(|piece| Text::more(utf8.push(piece), &mut events));
                Text::more(utf8.finish().to_owned(), &mut events);
                Text::end(self.finish.as_deref(), &mut events);
            }
            Given::Deltas(deltas) => chunks(&self.id, deltas, self.finish.as_deref(), &mut events)?,
        }
        outcome.pass(events);
        outcome.end();
        match outcome.failed() {
            Some(error) => bail!("the answer ends with an error: {}", error.message),
            None => Ok(outcome.into_object(&self.id)),
        }
    }
}

fn chunks(id: &str, deltas: Vec<Value>, finish: Option<&str>, events: &mut Vec<Event>) -> Result<()> {
    let mut chunks = Chunks::new(id);
    for (at, delta) in deltas.into_iter().enumerate() {
        chunks.more(delta, events).with_context(|| format!("chunks[{at}]"))?;
    }
    chunks.end(finish, events)
}

fn given(case: &Value, form: Form) -> Result<Given> {
    let Value::Array(chunks) = &case["chunks"] else { bail!("chunks: a list is expected") };
    match case["kind"].as_str() {
        Some("openai_stream") => Ok(Given::Deltas(chunks.clone())),
        Some("text") => match &case["bytes_b64"] {
            Value::Array(pieces) if form == Form::Bytes => {
                let pieces = each("bytes_b64", pieces, |text| Ok(BASE64_STANDARD.decode(text)?))?;
                Ok(Given::Bytes(pieces))
            }
            _ => Ok(Given::Text(each("chunks", chunks, |text| Ok(text.to_owned()))?)),
        },
        Some(other) => bail!("kind: `text` or `openai_stream` is expected, not `{other}`"),
        None => bail!("kind is missing; it is `text` or `openai_stream`"),
    }
}

/// Reads each string of a list.
fn each<T>(name: &str, list: &[Value], read: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    let one = |(at, value): (usize, &Value)| {
        let text = value.as_str().ok_or_else(|| anyhow!("a string is expected"));
        text.and_then(&read).with_context(|| format!("{name}[{at}]"))
    };
    list.iter().enumerate().map(one).collect()
}

fn string(value: &Value) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        other => Err(anyhow!("a string is expected, not {other}")),
    }
}
