//! What a session leaves on the disk: its journal, contents by their hash, and snapshots of the workspace.
//!
//! A journal is a file of JSON lines, one record each, that only ever grows. Each line holds the hash of the one before.
//! [`Writer`] adds lines, [`view`] reads from the end as much as the conversation needs, [`entries`] reads all.

mod back;
mod entries;
mod error;
mod export;
mod fork;
mod history;
mod id;
mod line;
mod pack;
mod place;
mod record;
mod search;
mod sessions;
pub mod snapshots;
mod state;
pub mod store;
mod view;
mod walk;
mod window;
mod writer;

pub use entries::{Entries, Entry, Verdict, entries, verify};
pub use error::{JournalError, Wrong};
pub use export::{Form, Mask, export};
pub use fork::fork;
pub use history::{Shown, Turn, What, messages, turns};
pub use id::{BadSessionId, SessionId, project_key};
pub use place::{Hash, Place, UnixMillis};
pub use record::{
    Cause, Compacted, Ended, Fork, Note, Opened, Partial, Prompt, Record, Rewound, Running, Said, Snapshot,
    Spent, Way,
};
pub use search::{Found, Hit, search};
pub use sessions::{Listing, Summary, agent_folder, beginning_with, delete, find, list, session_folder};
pub use state::{State, Sum, Totals, title_of};
pub use view::{Resumed, Torn, UNDONE, view};
pub use window::{OpenStep, Window, calls};
pub use writer::Writer;

/// The version of the form in which journals are written.
pub const VERSION: u32 = 1;
