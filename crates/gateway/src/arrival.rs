use std::time::Instant;

use rail_ledger::Key;
use rail_wire::{HttpCall, Operation, Protocol};

use crate::serve::Room;

/// A request that was let in: whole, within limits, by a known door.
pub(crate) struct Arrival {
    /// Its id, which the client is told; later requests have greater ones.
    pub(crate) id: String,
    /// When it came.
    pub(crate) came: Instant,
    /// When it came, in Unix milliseconds.
    pub(crate) at: u64,
    /// The key it came with, if the gateway has keys.
    pub(crate) key: Option<Key>,
    /// The protocol that the client speaks.
    pub(crate) protocol: &'static Protocol,
    /// What is asked.
    pub(crate) operation: Operation,
    /// The request itself. Its headers no longer hold the gateway's key.
    pub(crate) call: HttpCall,
    /// The room that its body takes in memory, held for as long as the body is.
    pub(crate) room: Room,
}

/// What is asked, in the ledger's word.
pub(crate) fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Generate | Operation::GenerateStream => "generate",
        Operation::Count => "count",
        Operation::Embed => "embed",
        Operation::Models => "models",
    }
}
