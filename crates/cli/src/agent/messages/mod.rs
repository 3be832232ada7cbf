//! Events as the messages of Claude Code, so that what was built for it reads them.

pub(crate) mod blocks;
mod partial;
mod result;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rail_model::{Message, PartBody, Usage};
use rail_proto::{Finish, Mode, Opened, Prompt, SessionEvent, Spent, ToolEnd};
use serde_json::{Value, json};

use blocks::Naming;
use partial::{Partial, Whole};
use result::Sums;

/// The version of Claude Code whose messages these are; its SDKs ask for it.
pub(crate) const SPOKEN_VERSION: &str = "2.1.0";

/// What is told besides what happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Telling {
    /// Answers while they are being written.
    pub(crate) partial: bool,
    /// What the user says, when it is taken up.
    pub(crate) replay: bool,
}

/// Where messages get what they can't know.
pub(crate) struct Sources {
    /// A new id for each message.
    pub(crate) ids: Box<dyn FnMut() -> String + Send>,
    /// How tools are called.
    pub(crate) naming: Naming,
    /// The MCP servers there are.
    pub(crate) servers: Vec<String>,
}

/// Turns events into messages.
pub(crate) struct Messages {
    telling: Telling,
    sources: Sources,
    session: String,
    asked: String,
    voice: Voice,
    /// Those of agents that calls set to work, by the call.
    agents: BTreeMap<String, Voice>,
    /// The call whose agent speaks, if it is one.
    parent: Option<String>,
    sums: Sums,
}

/// What is known of one that speaks.
#[derive(Default)]
struct Voice {
    target: String,
    message: String,
    partial: Partial,
    /// An answer that waits for what it took.
    said: Option<Message>,
    calls: BTreeMap<String, (String, Value)>,
}

impl Messages {
    pub(crate) fn new(telling: Telling, sources: Sources) -> Self {
        Self {
            telling,
            sources,
            session: String::new(),
            asked: String::new(),
            voice: Voice::default(),
            agents: BTreeMap::new(),
            parent: None,
            sums: Sums::default(),
        }
    }

    /// The messages that an event makes.
    pub(crate) fn event(&mut self, event: &SessionEvent) -> Vec<Value> {
        let mut out = Vec::new();
        match event {
            SessionEvent::Spent(spent) => self.spent(spent, &mut out),
            SessionEvent::AgentEvent { id, event } => out = self.agent(id, event),
            other => {
                self.say(None, &mut out);
                self.other(other, &mut out);
            }
        }
        out
    }

    /// What an agent says that a call set to work: answers and results, which name that call.
    fn agent(&mut self, call: &str, event: &SessionEvent) -> Vec<Value> {
        let tells = matches!(
            event,
            SessionEvent::Asking { .. }
                | SessionEvent::Routed(_)
                | SessionEvent::Said { .. }
                | SessionEvent::Spent(_)
                | SessionEvent::ToolStart(_)
                | SessionEvent::ToolEnd(_)
                | SessionEvent::AgentEvent { .. }
        );
        if !tells {
            return Vec::new();
        }
        let mut voice = self.agents.remove(call).unwrap_or_default();
        std::mem::swap(&mut voice, &mut self.voice);
        let parent = self.parent.replace(call.to_owned());
        let telling = std::mem::take(&mut self.telling);
        let out = self.event(event);
        (self.parent, self.telling) = (parent, telling);
        std::mem::swap(&mut voice, &mut self.voice);
        self.agents.insert(call.to_owned(), voice);
        out
    }

    fn other(&mut self, event: &SessionEvent, out: &mut Vec<Value>) {
        match event {
            SessionEvent::Opened(opened) => {
                self.session.clone_from(&opened.id);
                self.asked.clone_from(&opened.model);
                let init = self.init(opened);
                self.send(init, out);
            }
            SessionEvent::Prompted(prompt) if self.telling.replay => self.replay(prompt, out),
            SessionEvent::Asking { .. } => self.voice.message = format!("msg_{}", (self.sources.ids)()),
            SessionEvent::Routed(routed) => self.voice.target.clone_from(&routed.target),
            SessionEvent::Text { text, .. } if self.telling.partial => {
                let mut told = Vec::new();
                self.voice.partial.text(text, &self.voice.message, model(&self.voice.target), &mut told);
                self.streamed(told, out);
            }
            SessionEvent::Thinking { text, .. } if self.telling.partial => {
                let mut told = Vec::new();
                self.voice.partial.thinking(text, &self.voice.message, model(&self.voice.target), &mut told);
                self.streamed(told, out);
            }
            SessionEvent::Restarted { .. } if self.telling.partial => {
                let mut told = Vec::new();
                self.voice.partial.void(&mut told);
                self.streamed(told, out);
            }
            SessionEvent::Said { message, .. } => self.voice.said = Some(message.clone()),
            SessionEvent::ToolStart(start) => {
                let name = (self.sources.naming)(&start.name);
                self.voice.calls.insert(start.id.clone(), (name, start.input.clone()));
            }
            SessionEvent::ToolEnd(end) => self.tool_end(end, out),
            SessionEvent::Mode(mode) => {
                self.send(json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode_word(*mode)}), out);
            }
            SessionEvent::Model(model) => self.asked.clone_from(model),
            SessionEvent::Compacted(compacted) => {
                let trigger = if compacted.asked_for { "manual" } else { "auto" };
                let about = json!({"trigger": trigger, "pre_tokens": compacted.before, "post_tokens": compacted.after});
                self.send(
                    json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": about}),
                    out,
                );
            }
            SessionEvent::Done(done) => {
                let result = self.sums.result(done);
                self.voice.calls.clear();
                self.agents.clear();
                self.send(result, out);
            }
            // They are the agent's own, and told by `--output-format events`.
            SessionEvent::Prompted(_)
            | SessionEvent::Text { .. }
            | SessionEvent::Thinking { .. }
            | SessionEvent::Restarted { .. }
            | SessionEvent::Queued(_)
            | SessionEvent::Note { .. }
            | SessionEvent::Calling { .. }
            | SessionEvent::Spent(_)
            | SessionEvent::Permission(_)
            | SessionEvent::Choice { .. }
            | SessionEvent::Withdrawn { .. }
            | SessionEvent::ToolProgress { .. }
            | SessionEvent::AgentBegan(_)
            | SessionEvent::AgentEvent { .. }
            | SessionEvent::AgentEnded(_)
            | SessionEvent::Todos(_)
            | SessionEvent::Shells(_)
            | SessionEvent::Offered(_)
            | SessionEvent::Title(_)
            | SessionEvent::Memory(_)
            | SessionEvent::Compacting
            | SessionEvent::Restored(_)
            | SessionEvent::Closed => {}
        }
    }

    fn init(&mut self, opened: &Opened) -> Value {
        let tools: Vec<String> = opened.tools.iter().map(|name| (self.sources.naming)(name)).collect();
        let servers = self.sources.servers.iter().map(|name| json!({"name": name, "status": "connected"}));
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": opened.cwd,
            "tools": tools,
            "mcp_servers": servers.collect::<Vec<_>>(),
            "model": asked_model(&opened.model),
            "permissionMode": mode_word(opened.mode),
            "slash_commands": opened.commands,
            "apiKeySource": "none",
            "claude_code_version": SPOKEN_VERSION,
            "rail_version": env!("CARGO_PKG_VERSION"),
            "output_style": "default",
            "agents": opened.agents,
            "skills": opened.skills,
            "plugins": [],
        })
    }

    fn replay(&mut self, prompt: &Prompt, out: &mut Vec<Value>) {
        let content = blocks::blocks(&prompt.parts, &self.sources.naming);
        let message = json!({"role": "user", "content": content});
        let mut replayed = json!({"type": "user", "message": message, "isReplay": true});
        if let (Some(id), Value::Object(fields)) = (&prompt.id, &mut replayed) {
            fields.insert("uuid".to_owned(), id.as_str().into());
        }
        self.send(replayed, out);
    }

    fn spent(&mut self, spent: &Spent, out: &mut Vec<Value>) {
        self.sums.add(spent);
        if spent.aside.is_some() {
            // It is no answer of the conversation.
            return;
        }
        self.voice.target.clone_from(&spent.target);
        self.say(Some(&spent.usage), out);
    }

    /// The answer that waits, with what it took.
    fn say(&mut self, usage: Option<&Usage>, out: &mut Vec<Value>) {
        let Some(message) = self.voice.said.take() else { return };
        let calls = message.parts.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)));
        let stop = if calls { "tool_use" } else { "end_turn" };
        let usage = blocks::usage(usage.unwrap_or(&Usage::default()));
        let id = self.voice.message.clone();
        let model = model(&self.voice.target).to_owned();
        if self.telling.partial {
            let mut told = Vec::new();
            let naming = &self.sources.naming;
            let whole =
                Whole { message: &message, id: &id, model: &model, stop, usage: usage.clone(), naming };
            self.voice.partial.end(&whole, &mut told);
            self.streamed(told, out);
        }
        let content = blocks::blocks(&message.parts, &self.sources.naming);
        let message = json!({
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": usage,
        });
        self.send(json!({"type": "assistant", "message": message}), out);
    }

    fn tool_end(&mut self, end: &ToolEnd, out: &mut Vec<Value>) {
        let id = end.result.id.as_str();
        let (name, input) = self.voice.calls.remove(id).unwrap_or_default();
        if end.end == Finish::Denied {
            self.sums.denied(json!({"tool_name": name, "tool_use_id": id, "tool_input": input}));
        }
        let block = blocks::tool_result(&end.result, &self.sources.naming);
        let message = json!({"role": "user", "content": [block]});
        self.send(json!({"type": "user", "message": message}), out);
    }

    fn streamed(&mut self, events: Vec<Value>, out: &mut Vec<Value>) {
        for event in events {
            self.send(json!({"type": "stream_event", "event": event}), out);
        }
    }

    /// Every message says which session it is of, and has an id.
    fn send(&mut self, mut message: Value, out: &mut Vec<Value>) {
        if let Value::Object(fields) = &mut message {
            if matches!(
                fields.get("type").and_then(Value::as_str),
                Some("assistant" | "user" | "stream_event")
            ) {
                let parent = self.parent.clone().map_or(Value::Null, Value::String);
                fields.insert("parent_tool_use_id".to_owned(), parent);
            }
            fields.insert("session_id".to_owned(), self.session.as_str().into());
            fields.entry("uuid").or_insert_with(|| (self.sources.ids)().into());
        }
        out.push(message);
    }
}

/// The model of a target `provider,model`.
fn model(target: &str) -> &str {
    target.split_once(',').map_or(target, |(_, model)| model)
}

fn asked_model(model: &str) -> &str {
    if model.is_empty() { "default" } else { model }
}

/// The permission mode in Claude Code's words.
pub(crate) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::Bypass => "bypassPermissions",
    }
}
