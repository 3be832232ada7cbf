//! The conversation: what is asked of a model and what it answers, free of any wire protocol.
//!
//! Order is content: a message is one list of parts. What a protocol says that we have no word for is kept
//! with its origin ([`Extras`], [`Opaque`], [`Seal`]), goes back to it, and is a named [`Loss`] anywhere else.

mod assemble;
mod embed;
mod error;
mod event;
mod extras;
mod grammar;
mod json;
mod kept;
mod part;
mod reply;
mod request;
mod usage;

pub use assemble::Assembler;
pub use embed::{EmbedInput, EmbedReply, EmbedRequest, TokenCount};
pub use error::{ApiError, ErrorKind, Fault};
pub use event::{Delta, Event, PartKind};
pub use extras::{Extras, Loss, Map, NOTE, Opaque, ProtocolId, Seal, mark};
pub use grammar::{Grammar, GrammarError};
pub use json::Json;
pub use part::{
    CacheMark, CallId, CallKind, Logprob, Media, MediaKind, MediaSource, Message, Part, PartBody, Role,
    ToolCall, ToolResult,
};
pub use reply::Reply;
pub use request::{
    Effort, Format, Purpose, Request, Sampling, Thinking, ThinkingMode, ToolChoice, ToolDecl, ToolKind,
};
pub use usage::{Stop, Usage};
