use std::collections::{BTreeMap, BTreeSet};

use rail_model::{Message, Part, PartBody, Request, Role};

use super::Checker;
use crate::fit::{Results, Rules};

impl Checker<'_> {
    /// Ids are legal and unique, and every call has its result where the protocol wants it.
    pub(super) fn pairs(&mut self) {
        let messages = &self.request.messages;
        let mut seen = BTreeSet::new();
        for id in messages.iter().flat_map(|message| &message.parts).filter_map(call_id) {
            self.id(id);
            self.demand(seen.insert(id), || format!("two calls `{id}`"));
        }
        messages.iter().flat_map(|message| &message.parts).filter_map(result_id).for_each(|id| self.id(id));
        self.agreement(messages);
        if self.own && self.rules.results_anywhere {
            self.pairs_in_order(messages);
            return;
        }
        let mut rest = messages.as_slice();
        while !rest.is_empty() {
            let is_assistant = |message: &Message| message.role == Role::Assistant;
            let most = if self.rules.joined_turns { usize::MAX } else { 1 };
            let said = rest.iter().take(most).take_while(|message| is_assistant(message)).count();
            let (said, after) = rest.split_at_checked(said).unwrap_or((rest, &[]));
            let run = after.iter().take_while(|message| !is_assistant(message)).count();
            let (run, after) = after.split_at_checked(run).unwrap_or((after, &[]));
            // Where parts point at calls, they do so for a whole run of messages.
            let hidden = messages.len() - after.len() > self.hidden_from;
            self.answers(said, run, hidden);
            let strays = said.iter().flat_map(|message| &message.parts).filter_map(result_id).count();
            self.demand(strays == 0, || "a result in the assistant's message".into());
            rest = after;
        }
    }

    /// A result is of its call's kind, and names no other tool.
    fn agreement(&mut self, messages: &[Message]) {
        let mut calls = BTreeMap::new();
        for part in messages.iter().flat_map(|message| &message.parts) {
            match &part.body {
                PartBody::ToolCall(call) => {
                    calls.insert(call.id.as_str(), call);
                }
                PartBody::ToolResult(result) => {
                    let Some(call) = calls.get(result.id.as_str()) else { continue };
                    let same = result.kind == call.kind
                        && result.name.as_ref().is_none_or(|name| *name == call.name);
                    self.demand(same, || format!("a result of another tool than `{}`", call.name));
                }
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
    }

    /// One result for each call, somewhere after it.
    fn pairs_in_order(&mut self, messages: &[Message]) {
        let mut open = BTreeSet::new();
        let numbered = messages.iter().enumerate();
        let said = numbered.flat_map(|(at, message)| message.parts.iter().map(move |part| (at, part)));
        for (at, part) in said.clone() {
            open.extend(call_id(part));
            if let Some(id) = result_id(part) {
                let hidden = || at >= self.hidden_from || said.clone().any(|(_, part)| is_unread(part, id));
                let known = open.remove(id) || hidden();
                self.demand(known, || format!("the result `{id}` without a call"));
            }
        }
        self.demand(open.is_empty(), || format!("calls without results: {open:?}"));
    }

    /// The messages between two turns of the assistant begin with the results of the first.
    fn answers(&mut self, said: &[Message], run: &[Message], hidden: bool) {
        let mut calls: Vec<&str> =
            said.iter().flat_map(|message| &message.parts).filter_map(call_id).collect();
        let mut results = Vec::new();
        let mut over = false;
        for message in run {
            for part in &message.parts {
                match result_id(part) {
                    Some(id) => {
                        self.demand(!over, || format!("the result `{id}` after other words"));
                        results.push(id);
                    }
                    None => over = true,
                }
            }
            self.place(message);
        }
        let unread =
            |id: &str| said.iter().flat_map(|message| &message.parts).any(|part| is_unread(part, id));
        let called: BTreeSet<&str> = calls.iter().copied().collect();
        results.retain(|id| called.contains(id) || !(hidden || unread(id)));
        if self.own {
            calls.sort_unstable();
            results.sort_unstable();
        }
        self.demand(results == calls, || format!("calls {calls:?}, results {results:?}"));
    }

    /// Results are held by a message that may hold them.
    fn place(&mut self, message: &Message) {
        let results = message.parts.iter().filter_map(result_id).count();
        let holds = match (self.rules.results, message.role) {
            (Results::InUserMessage, Role::User) => true,
            (Results::InUserMessage, Role::Tool) => self.own && results == message.parts.len(),
            (Results::OwnMessages, Role::Tool) => results == 1 && message.parts.len() == 1,
            (Results::OwnMessages, Role::User) | (_, Role::System | Role::Assistant) => results == 0,
        };
        self.demand(holds, || format!("{results} results in a message of {:?}", message.role));
    }
}

/// From which message on results may stand without their calls: from the first if the server keeps messages that we can't
/// see, otherwise from a part that may point at some. One in the user's words counts for all that was said with it.
pub(super) fn hides_calls_from(request: &Request, rules: &Rules) -> usize {
    let messages = &request.messages;
    let stored = |key: &&str| request.extras.get(rules.protocol, key).is_some_and(|value| !value.is_null());
    if request.origin != Some(rules.protocol) || rules.stored_history.is_empty() {
        return usize::MAX;
    }
    if rules.stored_history.iter().any(stored) {
        return 0;
    }
    let is_opaque = |part: &Part| matches!(part.body, PartBody::Opaque(_));
    let Some(at) = messages.iter().position(|message| message.parts.iter().any(is_opaque)) else {
        return usize::MAX;
    };
    let with_it = messages.iter().take(at + 1).rev().take_while(|message| message.role != Role::Assistant);
    at + 1 - with_it.count().max(1)
}

/// Whether a part is one we have no word for and goes by this id, so that it may be a call.
fn is_unread(part: &Part, id: &str) -> bool {
    let PartBody::Opaque(opaque) = &part.body else { return false };
    ["id", "call_id"].iter().any(|key| opaque.value.get(*key).and_then(|value| value.as_str()) == Some(id))
}

fn call_id(part: &Part) -> Option<&str> {
    if let PartBody::ToolCall(call) = &part.body { Some(call.id.as_str()) } else { None }
}

fn result_id(part: &Part) -> Option<&str> {
    if let PartBody::ToolResult(result) = &part.body { Some(result.id.as_str()) } else { None }
}
