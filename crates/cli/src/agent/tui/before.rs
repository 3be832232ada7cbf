//! What happened before in a session that goes on, as it is shown.

use std::collections::BTreeMap;
use std::path::Path;

use rail_journal::What;
use rail_model::{Message, PartBody, Role};
use rail_proto::{Finish, Prompt, SessionEvent, ToolEnd, ToolStart};

/// How many messages are shown: the rest is in the journal, and `rail sessions show` has it.
const MESSAGES: usize = 60;

/// The last messages of a session.
pub(super) fn events(folder: &Path) -> Vec<SessionEvent> {
    let Ok(messages) = rail_journal::messages(folder) else { return Vec::new() };
    let all: Vec<Message> = messages
        .map_while(Result::ok)
        .filter_map(|shown| match shown.what {
            What::Message(message) => Some(message),
            What::Told(_) | What::Compacted { .. } => None,
        })
        .collect();
    let titles = titles();
    let hidden = all.len().saturating_sub(MESSAGES);
    all.into_iter().skip(hidden).flat_map(|message| shown(message, &titles)).collect()
}

fn titles() -> BTreeMap<String, String> {
    let registry = rail_tools::registry();
    let mut titles = BTreeMap::new();
    for tool in registry.tools() {
        let card = tool.card();
        titles.insert(card.name.to_owned(), card.title.to_owned());
    }
    titles
}

fn shown(message: Message, titles: &BTreeMap<String, String>) -> Vec<SessionEvent> {
    let step = 0;
    let mut events = Vec::new();
    let mut calls = Vec::new();
    for part in &message.parts {
        match &part.body {
            PartBody::ToolCall(call) => calls.push(SessionEvent::ToolStart(ToolStart {
                step,
                id: call.id.as_str().to_owned(),
                name: call.name.clone(),
                title: titles.get(&call.name).cloned().unwrap_or_default(),
                input: serde_json::from_str(&call.arguments).unwrap_or_default(),
            })),
            PartBody::ToolResult(result) => {
                let success = result.is_error != Some(true);
                events.push(SessionEvent::ToolEnd(ToolEnd {
                    step,
                    result: result.clone(),
                    success,
                    end: if success { Finish::Done } else { Finish::Failed },
                    shown: None,
                    duration_ms: 0,
                }));
            }
            _ => {}
        }
    }
    match message.role {
        Role::User if events.is_empty() => {
            events.push(SessionEvent::Prompted(Prompt { id: None, parts: message.parts }));
        }
        Role::Assistant => events.push(SessionEvent::Said { step, message }),
        Role::User | Role::System | Role::Tool => {}
    }
    events.extend(calls);
    events
}
