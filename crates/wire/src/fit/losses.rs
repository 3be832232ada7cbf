//! Losses by place, with the same loss in many places said once.

use std::collections::BTreeMap;

use rail_model::{Extras, Format, Loss};
use serde_json::Value;

use super::Work;
use super::rules::Rules;

/// Where a thing stood in the request as it came in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Request,
    System(usize),
    Message(usize),
    Part(usize, usize),
    Nested(usize, usize, usize),
    Tool(usize),
    /// Nowhere: we made it.
    Ours,
}

impl Place {
    /// The place of part `at` inside this one.
    pub(super) fn inside(self, at: usize) -> Self {
        match self {
            Self::Message(message) => Self::Part(message, at),
            Self::Part(message, part) => Self::Nested(message, part, at),
            Self::Request | Self::System(_) | Self::Nested(..) | Self::Tool(_) | Self::Ours => self,
        }
    }

    /// The message and, if it is inside one, the part it names.
    pub(super) fn message_and_part(self) -> Option<(usize, Option<usize>)> {
        match self {
            Self::Message(message) => Some((message, None)),
            Self::Part(message, part) | Self::Nested(message, part, _) => Some((message, Some(part))),
            Self::Request | Self::System(_) | Self::Tool(_) | Self::Ours => None,
        }
    }

    fn level(self) -> &'static str {
        match self {
            Self::Request | Self::Ours => "",
            Self::System(_) => "system",
            Self::Message(_) => "messages",
            Self::Part(..) | Self::Nested(..) => "content",
            Self::Tool(_) => "tools",
        }
    }

    fn path(self, field: &str) -> String {
        let path = match self {
            Self::Request | Self::Ours => return field.to_owned(),
            Self::System(at) => format!("system[{at}]"),
            Self::Message(at) => format!("messages[{at}]"),
            Self::Part(message, at) => format!("messages[{message}].content[{at}]"),
            Self::Nested(message, part, at) => format!("messages[{message}].content[{part}].content[{at}]"),
            Self::Tool(at) => format!("tools[{at}]"),
        };
        if field.is_empty() { path } else { format!("{path}.{field}") }
    }
}

/// The same loss in more places than this is said once, with a count.
const NAMED_EACH: usize = 5;
/// How many keys of a lost object are said.
const KEYS_NAMED: usize = 4;

/// What had to go or to change, in the order in which it was found.
#[derive(Default)]
pub(super) struct Losses {
    named: Vec<Named>,
    known: BTreeMap<(&'static str, String, String), usize>,
}

struct Named {
    places: Vec<Place>,
    field: String,
    reason: String,
    count: usize,
    each: usize,
}

impl Losses {
    /// Names a loss of `field` at `place`; an empty field is the place itself.
    pub(super) fn add(&mut self, place: Place, field: &str, reason: impl Into<String>) {
        self.note(place, field, reason.into(), NAMED_EACH);
    }

    /// Names a loss of which one place is enough to know.
    pub(super) fn once(&mut self, place: Place, field: &str, reason: impl Into<String>) {
        self.note(place, field, reason.into(), 1);
    }

    /// Names the fields that the target will not see and that its encoder does not carry over.
    pub(super) fn extras(&mut self, rules: &Rules, place: Place, under: &str, extras: &Extras) {
        let Some(origin) = extras.origin() else { return };
        for key in extras.lost_on(rules.protocol) {
            let field = format!("{under}{key}");
            let level = if under.is_empty() { place.level() } else { "" };
            if !is_carried(rules, origin.name(), level, &field) {
                let inside = extras.get(origin, key).map_or_else(String::new, keys_of);
                self.add(place, &field, format!("{} can't say it{inside}", rules.protocol));
            }
        }
    }

    /// All of them.
    pub(super) fn finish(self) -> Vec<Loss> {
        let mut out = Vec::new();
        for Named { places, field, reason, count, each } in self.named {
            let many = count > each;
            for place in places.iter().take(if many { 1 } else { each }) {
                let reason = if many { format!("{reason} ({count} times)") } else { reason.clone() };
                out.push(Loss::new(place.path(&field), reason));
            }
        }
        out
    }

    fn note(&mut self, place: Place, field: &str, reason: String, each: usize) {
        let key = (place.level(), field.to_owned(), reason);
        let known = self.known.get(&key).and_then(|at| self.named.get_mut(*at));
        if let Some(named) = known {
            named.count += 1;
            if named.places.len() < each {
                named.places.push(place);
            }
            return;
        }
        let named =
            Named { places: vec![place], field: key.1.clone(), reason: key.2.clone(), count: 1, each };
        self.known.insert(key, self.named.len());
        self.named.push(named);
    }
}

/// Which keys of an object are meant: of one that we read, only those we have no word for are left.
fn keys_of(value: &Value) -> String {
    let Some(map) = value.as_object().filter(|map| !map.is_empty()) else { return String::new() };
    let mut keys: Vec<&str> = map.keys().take(KEYS_NAMED).map(String::as_str).collect();
    if map.len() > KEYS_NAMED {
        keys.push("…");
    }
    format!(" ({})", keys.join(", "))
}

fn is_carried(rules: &Rules, origin: &str, level: &str, field: &str) -> bool {
    rules.carried.iter().any(|(from, key)| {
        let below = key
            .strip_prefix(level)
            .and_then(|key| if level.is_empty() { Some(key) } else { key.strip_prefix('.') });
        *from == origin && below == Some(field)
    })
}

/// Names what stands beside the conversation and can't go with it: fields, headers, forms we have no word for.
pub(super) fn name_top_level(work: &mut Work<'_>) {
    let Work { request, losses, rules, .. } = work;
    losses.extras(rules, Place::Request, "", &request.extras);
    if let Some(thinking) = &request.thinking {
        losses.extras(rules, Place::Request, "thinking.", &thinking.extras);
    }
    if !work.own {
        for (name, _) in std::mem::take(&mut request.headers) {
            // It says which protocol the request is written in, and the translation is written in another.
            if name == crate::anthropic::VERSION_HEADER {
                continue;
            }
            losses.add(
                Place::Request,
                &format!("headers.{name}"),
                format!("{} has no such header", rules.protocol),
            );
        }
    }
    if let Some(Format::Opaque(opaque)) = &request.format
        && opaque.origin != rules.protocol
    {
        losses.add(Place::Request, "format", format!("{} has no such form", rules.protocol));
        request.format = None;
    }
}
