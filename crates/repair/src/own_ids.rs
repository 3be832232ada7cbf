use std::collections::{BTreeMap, BTreeSet};

use rail_model::{CallId, Event, Part, PartBody, PartKind, Request};

use crate::{Note, Written};

/// Gives each call of an answer an id that no other call of the conversation has.
///
/// Some servers number the calls of each answer anew (`call_0`), and clients that keep calls by their ids then take a new call
/// for one that they know. The id that such a call gets instead is made of its own and of those that are taken, so that the
/// same answer to the same question has the same ids again.
#[derive(Clone, Debug, Default)]
pub struct OwnIds {
    taken: BTreeSet<String>,
    /// The ids that were replaced, with those that the calls have now.
    replaced: BTreeMap<String, String>,
}

impl OwnIds {
    /// For the answer to a request: the ids of its history are taken.
    pub fn after(request: &Request) -> Self {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        Self { taken: parts.filter_map(called).map(str::to_owned).collect(), replaced: BTreeMap::new() }
    }

    /// Sees an event of the answer, and replaces the id of a call if it is taken.
    pub fn event(&mut self, event: &mut Event) {
        let Event::Opened { kind: PartKind::ToolCall { id, .. }, .. } = event else { return };
        if self.taken.insert(id.as_str().to_owned()) {
            return;
        }
        let fresh = self.fresh(id.as_str());
        self.replaced.insert(id.as_str().to_owned(), fresh.clone());
        *id = match id {
            CallId::Given(_) => CallId::Given(fresh),
            CallId::Minted(_) => CallId::Minted(fresh),
        };
    }

    /// Makes what is told of calls speak of them by the ids that they have now.
    pub fn rename(&self, notes: &mut [Note], written: &mut [Written]) {
        let of_notes = notes.iter_mut().map(Note::call_mut);
        for call in of_notes.chain(written.iter_mut().map(|written| &mut written.call)) {
            if let Some(id) = self.replaced.get(call) {
                id.clone_into(call);
            }
        }
    }

    fn fresh(&mut self, id: &str) -> String {
        let mut number = 2;
        loop {
            let fresh = format!("{id}_{number}");
            if self.taken.insert(fresh.clone()) {
                return fresh;
            }
            number += 1;
        }
    }
}

/// The id of the call that a part is.
fn called(part: &Part) -> Option<&str> {
    match &part.body {
        PartBody::ToolCall(call) => Some(call.id.as_str()),
        PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallKind, Extras, Message, Role, ToolCall};

    use super::*;
    use crate::{Repair, Step, What};

    fn after(ids: &[&str]) -> OwnIds {
        let call = |id: &&str| {
            let (id, name) = (CallId::Given((*id).to_owned()), "t".to_owned());
            let call = ToolCall { id, name, arguments: "{}".to_owned(), kind: CallKind::Function };
            Part::new(PartBody::ToolCall(call))
        };
        let messages = vec![
            Message::new(Role::User, vec![Part::text("go")]),
            Message::new(Role::Assistant, ids.iter().map(call).collect()),
        ];
        OwnIds::after(&Request { messages, ..Request::default() })
    }

    fn opened(id: CallId) -> Event {
        let kind = PartKind::ToolCall { id, name: "t".to_owned(), kind: CallKind::Function };
        Event::Opened { at: 0, kind, extras: Extras::NONE }
    }

    #[test]
    fn an_id_of_the_history_is_not_given_again() {
        let table: &[(&[&str], &[&str], &[&str])] = &[
            (&[], &["call_0", "call_1"], &["call_0", "call_1"]),
            (&["call_0"], &["call_0"], &["call_0_2"]),
            (&["call_0", "call_0_2"], &["call_0"], &["call_0_3"]),
            (&["call_0"], &["call_1", "call_0"], &["call_1", "call_0_2"]),
            // The server's next id may be just the one that was made up.
            (&["call_0"], &["call_0", "call_0_2"], &["call_0_2", "call_0_2_2"]),
            (&["a"], &["b", "b"], &["b", "b_2"]),
        ];
        for (history, came, expected) in table {
            let mut ids = after(history);
            let mut events: Vec<Event> = came.iter().map(|id| opened(CallId::Given((*id).into()))).collect();
            events.iter_mut().for_each(|event| ids.event(event));
            let expected: Vec<Event> =
                expected.iter().map(|id| opened(CallId::Given((*id).into()))).collect();
            assert_eq!(events, expected, "{history:?}");
        }
    }

    #[test]
    fn an_id_stays_made_up_and_what_is_told_follows_it() {
        let (mut ids, mut event) = (after(&["rail_a_0"]), opened(CallId::Minted("rail_a_0".to_owned())));
        ids.event(&mut event);
        assert_eq!(event, opened(CallId::Minted("rail_a_0_2".to_owned())));
        let note =
            |call: &str| Note::Repaired { call: call.to_owned(), repair: Repair::new(Step::Name, "name") };
        let written = |call: &str| Written { call: call.to_owned(), what: What::Text("".into()) };
        let mut notes = [note("rail_a_0"), note("other")];
        let mut calls = [written("rail_a_0"), written("other")];
        ids.rename(&mut notes, &mut calls);
        assert_eq!(notes, [note("rail_a_0_2"), note("other")]);
        assert_eq!(calls, [written("rail_a_0_2"), written("other")]);
    }
}
