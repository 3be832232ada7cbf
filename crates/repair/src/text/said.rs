use std::collections::BTreeSet;

use rail_model::{CallId, CallKind, ToolCall};

use crate::{CallFault, Catalog, End, Settled, settle};

/// A call as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) arguments: String,
    pub(super) kind: CallKind,
}

impl Said {
    pub(super) fn new(name: String, kind: CallKind) -> Self {
        Self { name, arguments: String::new(), kind }
    }

    /// Whether two calls are the same in the end, however they are spelled.
    pub(super) fn means(&self, other: &Self, catalog: &Catalog) -> bool {
        let same = self.name == other.name && self.arguments == other.arguments;
        same || match (self.settled(catalog), other.settled(catalog)) {
            (Some(one), Some(other)) => one.call.name == other.call.name && one.arguments == other.arguments,
            (None, _) | (_, None) => false,
        }
    }

    fn settled(&self, catalog: &Catalog) -> Option<Settled> {
        let call = ToolCall {
            id: CallId::Minted(String::new()),
            name: self.name.clone(),
            arguments: self.arguments.clone(),
            kind: self.kind,
        };
        match settle(&call, catalog, End::Closed) {
            Ok(settled) => Some(settled),
            Err(CallFault::Invalid { settled, .. }) => Some(*settled),
            Err(CallFault::Unknown { .. } | CallFault::Incomplete { .. } | CallFault::Malformed { .. }) => {
                None
            }
        }
    }
}

/// The ids of an answer's calls, no two the same.
#[derive(Default)]
pub(super) struct Ids(BTreeSet<String>);

impl Ids {
    /// The id of a call in the text: the one that the model gave, if there is one and it is free.
    pub(super) fn of_text(&mut self, given: Option<String>, answer: &str) -> CallId {
        let free = given.filter(|id| !id.is_empty() && !self.0.contains(id));
        let minted = || CallId::Minted(format!("rail_{:012x}_t{}", fnv(answer), self.0.len()));
        let id = free.map_or_else(minted, CallId::Given);
        self.unique(id)
    }

    /// The id, or one like it if a call of the answer has it already.
    pub(super) fn unique(&mut self, id: CallId) -> CallId {
        if self.0.insert(id.as_str().to_owned()) {
            return id;
        }
        let mut number = 2;
        loop {
            let other = format!("{}_{number}", id.as_str());
            if self.0.insert(other.clone()) {
                return CallId::Minted(other);
            }
            number += 1;
        }
    }
}

fn fnv(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash & 0xffff_ffff_ffff
}
