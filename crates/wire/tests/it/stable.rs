//! History is byte-stable: what was sent once to a target is sent to it again with the same bytes, so its cache hits.

use rail_model::{Message, Part, Request, Role};
use rail_wire::{ALL, Protocol, TargetSpec};
use serde_json::value::RawValue;

use crate::corpus::{fixtures, read_request};

/// The encoded conversation, message by message, as it stands in the body.
fn sent(protocol: &Protocol, request: &Request) -> Vec<String> {
    let mut target = TargetSpec::new("a-model");
    // Marks of our own move with the conversation; they say where to cache, they are not what is cached.
    target.quirks.inject_cache = false;
    let body = protocol.outbound.encode_request(request, &target).call.body;
    let body: std::collections::BTreeMap<String, Box<RawValue>> = serde_json::from_slice(&body).unwrap();
    let list = ["messages", "input", "contents"].iter().find_map(|key| body.get(*key)).unwrap();
    let list: Vec<Box<RawValue>> = serde_json::from_str(list.get()).unwrap_or_default();
    list.iter().map(|message| message.get().to_owned()).collect()
}

fn grown(request: &Request) -> Request {
    let mut grown = request.clone();
    grown.messages.push(Message::new(Role::Assistant, vec![Part::text("So be it.")]));
    grown.messages.push(Message::new(Role::User, vec![Part::text("And then?")]));
    grown
}

#[test]
fn a_conversation_that_grows_keeps_the_bytes_of_its_beginning() {
    let mut compared = 0;
    for from in ALL {
        for fixture in fixtures(from, "request", ".json") {
            let request = read_request(from, &fixture.bytes).unwrap();
            // What ends with the assistant, or with calls that still wait, is not a turn that was sent and answered.
            if request
                .messages
                .last()
                .is_none_or(|last| last.role == Role::Assistant || last.role == Role::System)
            {
                continue;
            }
            for to in ALL {
                let what = format!("{} {} -> {}", from.id, fixture.name, to.id);
                let (before, after) = (sent(to, &request), sent(to, &grown(&request)));
                assert_eq!(before, sent(to, &request), "{what}: twice the same");
                assert_eq!(before.as_slice(), &after[..before.len()], "{what}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared} requests compared");
}
