//! Wire protocols, sans-IO: bytes in, events out, and the other way round.
//!
//! A protocol is one folder and one line in [`protocols!`]. Framing is written once in [`frame`], the rules a request
//! must keep before it is sent once in [`fit`], and each codec only maps between its JSON and `rail_model`.

mod answer;
mod apology;
mod arguments;
mod breakpoint;
mod effort;
mod error;
pub mod fit;
mod forward;
mod frame;
mod ids;
mod order;
mod plain;
mod protocol;
mod recognise;
mod restore;
mod shape;
mod sniff;
mod splice;
mod told;

pub use error::{WireError, WireErrorKind};
pub use frame::{Decode, EventEnds, Frame, Framed, Framer, JsonArray, MAX_FRAME, Mapper, Sink, Sse, Whole};
pub use order::InOrder;
pub use protocol::{
    BodyKind, Encode, Encoded, Endpoint, HttpCall, HttpReply, ImageLimits, Inbound, MaxTokensKey, Operation,
    Outbound, Protocol, Quirks, ReasoningBack, ReplyTo, Shrink, Shrunk, TargetSpec, ThinkingStyle,
    VectorSpelling,
};
pub use recognise::recognise;
pub use restore::{CUSTOM_FIELD, Restore};
pub use splice::{ModelPaths, rename_model};

/// Declares the protocols: each becomes a module and an entry of `ALL`, in this order.
macro_rules! protocols {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*
        /// Every protocol we speak.
        pub static ALL: &[&Protocol] = &[$(&$name::PROTOCOL),*];
    };
}

protocols! { anthropic, openai_chat, openai_responses, gemini }

/// The protocol with this id, if we speak it.
pub fn find(id: &str) -> Option<&'static Protocol> {
    ALL.iter().copied().find(|protocol| protocol.id.name() == id)
}
