//! Anthropic Messages.

mod request_in;
mod types;

use rail_model::ProtocolId;

/// The protocol's name.
pub const ID: ProtocolId = ProtocolId::new("anthropic");

// How a thing we have a word for was spelled.
const AS_STRING: &str = "string";
const AS_CUSTOM: &str = "custom";
const NO_CONTENT: &str = "no-content";
