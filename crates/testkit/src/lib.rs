//! What several crates' tests need: for now a scripted peer on a real socket.

mod peer;

pub use peer::{
    Conversation, Departure, Leaving, Peer, Recorded, Step, chunk, garbage, http_head, http_whole,
    last_chunk, refused_addr, sse_head,
};
