use std::collections::BTreeSet;

use rail_model::{Message, Part, PartBody, Request, Role};
use serde_json::Value;

use super::{Checker, each_part};
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
            let calls: Vec<&str> =
                said.iter().flat_map(|message| &message.parts).filter_map(call_id).collect();
            self.answers(&calls, run);
            let strays = said.iter().flat_map(|message| &message.parts).filter_map(result_id).count();
            self.demand(strays == 0, || "a result in the assistant's message".into());
            rest = after;
        }
    }

    /// One result for each call, somewhere after it.
    fn pairs_in_order(&mut self, messages: &[Message]) {
        let mut open = BTreeSet::new();
        for part in messages.iter().flat_map(|message| &message.parts) {
            open.extend(call_id(part));
            if let Some(id) = result_id(part) {
                let known = open.remove(id) || self.hidden;
                self.demand(known, || format!("the result `{id}` without a call"));
            }
        }
        self.demand(open.is_empty(), || format!("calls without results: {open:?}"));
    }

    /// The messages between two turns of the assistant begin with the results of the first.
    fn answers(&mut self, calls: &[&str], run: &[Message]) {
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
        if self.hidden {
            results.retain(|id| calls.contains(id));
        }
        let mut calls = calls.to_vec();
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

/// Whether the server keeps messages that we can't see, or there are parts we can't read.
pub(super) fn hides_calls(request: &Request, rules: &Rules) -> bool {
    let stored =
        |key: &&str| request.extras.get(rules.protocol, key).is_some_and(|value| *value != Value::Null);
    let opaque = |(_, part): (_, &Part)| matches!(part.body, PartBody::Opaque(_));
    let hides = rules.stored_history.iter().any(stored) || each_part(request).any(opaque);
    request.origin == Some(rules.protocol) && !rules.stored_history.is_empty() && hides
}

fn call_id(part: &Part) -> Option<&str> {
    if let PartBody::ToolCall(call) = &part.body { Some(call.id.as_str()) } else { None }
}

fn result_id(part: &Part) -> Option<&str> {
    if let PartBody::ToolResult(result) = &part.body { Some(result.id.as_str()) } else { None }
}
