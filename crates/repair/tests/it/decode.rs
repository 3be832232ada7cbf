//! Runs a text through the stages and says what it became, the way `rail debug decode` does.

use std::sync::Arc;

use rail_model::{
    Assembler, Delta, Event, Extras, Grammar, Json, PartBody, PartKind, Stop, ToolDecl, ToolKind,
};
use rail_repair::{CallFault, Catalog, End, Note, Profile, Stage, settle, stages};
use serde_json::{Value, json};

/// A case of the corpus.
pub(crate) struct Case(pub(crate) Value);

impl Case {
    pub(crate) fn all() -> Vec<Self> {
        [include_str!("../corpus/cases.jsonl"), include_str!("../corpus/more.jsonl")]
            .concat()
            .lines()
            .map(|line| Self(serde_json::from_str(line).unwrap()))
            .collect()
    }

    pub(crate) fn id(&self) -> &str {
        self.0["id"].as_str().unwrap()
    }

    pub(crate) fn is_text(&self) -> bool {
        self.0["kind"] == "text"
    }

    pub(crate) fn text(&self) -> String {
        self.0["chunks"].as_array().unwrap().iter().map(|chunk| chunk.as_str().unwrap()).collect()
    }

    pub(crate) fn tools(&self) -> Vec<ToolDecl> {
        let tool = |tool: &Value| ToolDecl {
            name: tool["name"].as_str().unwrap().to_owned(),
            description: None,
            kind: ToolKind::Function { parameters: Some(Json::from(&tool["parameters"])) },
            strict: None,
            cache: None,
            extras: Extras::NONE,
        };
        self.0["tools"].as_array().unwrap().iter().map(tool).collect()
    }

    pub(crate) fn profile(&self) -> Profile {
        let options = &self.0["options"];
        Profile {
            family: options["hint"].as_str().map(str::to_owned),
            starts_in_reasoning: options["starts_in_reasoning"] == true,
            prompted: options["prompted"] == true,
            escapes_entities: false,
            one_call: options["one_call"] == true,
        }
    }

    pub(crate) fn stop(&self) -> Stop {
        match self.0["options"]["finish_reason"].as_str() {
            Some("length") => Stop::MaxTokens,
            Some("tool_calls") => Stop::ToolUse,
            Some(_) | None => Stop::EndTurn,
        }
    }

    /// What the text becomes when it comes in these pieces.
    pub(crate) fn decode<'a>(&self, pieces: impl IntoIterator<Item = &'a str>) -> Decoded {
        let mut events = vec![
            Event::Started { id: Some("answer".into()), model: None, extras: Extras::NONE },
            Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        ];
        let delta =
            |piece: &str| Event::Delta { at: 0, delta: Delta::Text(piece.into()), extras: Extras::NONE };
        events.extend(pieces.into_iter().map(delta));
        events.push(Event::Closed { at: 0, extras: Extras::NONE });
        events.push(Event::Finished { stop: self.stop(), extras: Extras::NONE });
        decode(&self.tools(), &self.profile(), events)
    }
}

/// What an answer became.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Value>,
    pub(crate) ids: Vec<String>,
    pub(crate) incomplete: Vec<String>,
    pub(crate) repairs: Vec<(String, String)>,
    pub(crate) stop: Option<Stop>,
    /// The content as far as it was known after each event that came.
    pub(crate) growth: Vec<usize>,
}

pub(crate) fn decode(tools: &[ToolDecl], profile: &Profile, events: Vec<Event>) -> Decoded {
    let catalog = Arc::new(Catalog::new(tools));
    let mut pipeline = stages(profile, &catalog);
    let (mut grammar, mut assembler, mut notes) = (Grammar::default(), Assembler::default(), Vec::new());
    let mut decoded = Decoded::default();
    let mut out = Vec::new();
    for event in events {
        pipeline.event(event, &mut out);
        notes.extend(pipeline.notes());
        for event in out.drain(..) {
            grammar.accept(&event).unwrap();
            assembler.push(event);
        }
        decoded.growth.push(content(assembler.parts()).len());
    }
    grammar.end().unwrap();
    let reply = assembler.finish().unwrap().unwrap();
    decoded.content = content(&reply.parts);
    decoded.stop = Some(reply.stop);
    let mut thoughts = Vec::new();
    for part in &reply.parts {
        match &part.body {
            PartBody::Thinking(text) => thoughts.push(text.as_str()),
            PartBody::ToolCall(call) => {
                let id = call.id.as_str().to_owned();
                let cut = notes.iter().find_map(|note| match note {
                    Note::Incomplete { call, name } if *call == id => Some(name.clone()),
                    _ => None,
                });
                if let Some(name) = cut {
                    decoded.incomplete.push(name);
                } else {
                    let arguments =
                        |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
                    decoded.calls.push(match settle(call, &catalog, End::Closed) {
                        Ok(settled) => json!({"name": settled.call.name, "arguments": settled.arguments}),
                        Err(CallFault::Invalid { settled, .. }) => {
                            json!({"name": settled.call.name, "arguments": settled.arguments})
                        }
                        Err(CallFault::Unknown { name, .. }) => {
                            json!({"name": name, "arguments": arguments(&call.arguments), "unknown": true})
                        }
                        Err(fault) => json!({"name": call.name, "fault": fault.to_string()}),
                    });
                }
                decoded.ids.push(id);
            }
            _ => {}
        }
    }
    decoded.reasoning = thoughts.join("\n");
    decoded.repairs = notes
        .into_iter()
        .filter_map(|note| match note {
            Note::Repaired { repair, .. } => Some((repair.step.to_string(), repair.path)),
            Note::Unknown { .. } | Note::Incomplete { .. } | Note::Invalid { .. } => None,
        })
        .collect();
    decoded
}

fn content(parts: &[rail_model::Part]) -> String {
    let texts: Vec<&str> =
        parts.iter().filter_map(rail_model::Part::as_text).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}
