//! The cache mark that OpenAI's two protocols put on content parts.

use rail_model::{CacheMark, Extras, Map, ProtocolId};
use serde_json::Value;

use crate::shape::wire;

/// The field it stands in.
pub(crate) const KEY: &str = "prompt_cache_breakpoint";

/// Notes that a mark came in this form; marks of other protocols mean other prices and are not written here.
const MARK: &str = "breakpoint";

const SIBLINGS: [ProtocolId; 2] = [crate::openai_chat::ID, crate::openai_responses::ID];

wire! {
    struct Breakpoint keep { mode: String }
}

/// Reads the mark.
pub(crate) fn read(mut point: Breakpoint, origin: ProtocolId) -> CacheMark {
    point.mode.take_if(|mode| mode == "explicit");
    let mut mark = CacheMark { ttl: None, extras: Extras::rest(origin, point.leftovers()) };
    mark.extras.mark(origin, MARK);
    mark
}

/// Writes the mark for either of the two.
pub(crate) fn write(mark: Option<&CacheMark>) -> Option<Value> {
    let extras = &mark?.extras;
    let origin = SIBLINGS.into_iter().find(|origin| extras.marked(*origin, MARK))?;
    let mut point = Map::from_iter([("mode".to_owned(), Value::from("explicit"))]);
    point.extend(extras.owned_by(origin).cloned().unwrap_or_default());
    Some(Value::Object(point))
}
