//! Citations of a Responses answer, in this protocol's words.

use rail_model::{Extras, Map, ProtocolId};
use serde_json::{Value, json};

use super::ID;
use crate::told::Told;

const RESPONSES: ProtocolId = ProtocolId::new("openai-responses");
const KEY: &str = "annotations";

/// The citations kept with a text. `before` is how many characters stand before it: this protocol joins texts to one.
pub(super) fn kept(extras: &Extras, before: u64) -> impl Iterator<Item = Value> {
    said(extras).filter_map(move |value| nested(value, before))
}

/// A citation as this protocol nests it under its type; None when it is of a kind that it doesn't know.
fn nested(value: &Value, before: u64) -> Option<Value> {
    let flat = value.as_object().filter(|_| is_known(value))?;
    let inner = flat.iter().filter(|(key, _)| *key != "type").map(|(key, value)| {
        let offset = value.as_u64().filter(|_| matches!(key.as_str(), "start_index" | "end_index"));
        (key.clone(), offset.map_or_else(|| value.clone(), |at| Value::from(at.saturating_add(before))))
    });
    Some(json!({"type": "url_citation", "url_citation": inner.collect::<Map>()}))
}

/// A citation that came as a piece of a stream; one of this protocol's own stays as it is.
pub(super) fn streamed(origin: ProtocolId, value: &Value, before: u64) -> Option<Value> {
    match origin {
        ID => Some(value.clone()),
        RESPONSES => nested(value, before),
        _ => None,
    }
}

/// Names what a text's extras say and this protocol can't; citations it can say are no loss.
pub(super) fn tell(told: &mut Told, path: &str, extras: &Extras) {
    for key in extras.lost_on(ID).filter(|key| *key != KEY || !sayable(extras)) {
        told.once(format!("{path}.{key}"), "openai-chat can't say it; left out");
    }
}

/// Whether all citations are of the kind that this protocol has.
fn sayable(extras: &Extras) -> bool {
    extras.origin() == Some(RESPONSES) && said(extras).all(is_known)
}

fn is_known(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("url_citation")
}

fn said(extras: &Extras) -> impl Iterator<Item = &Value> {
    extras.get(RESPONSES, KEY).and_then(Value::as_array).into_iter().flatten()
}
