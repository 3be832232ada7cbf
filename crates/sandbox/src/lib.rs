//! Child processes: in groups of their own, confined, with bounded output, and ended with all they started.

mod binary;
pub mod confine;
mod exit;
mod handed;
mod launch;
mod leader;
mod order;
mod process;
mod pump;
mod reader;
mod screen;
pub mod seatbelt;
mod shape;
mod starter;
mod support;
mod tape;
mod trace;

pub use exit::Exit;
pub use handed::hand_over;
pub use launch::{Input, Launch, StartError, Streams};
pub use order::{Order, Ordered};
pub use process::{Groups, Process, Talk, WriteError};
pub use pump::Ended;
pub use screen::shown;
pub use shape::{Network, Shape};
pub use support::{Namespaces, Support, support};
pub use tape::{Bounds, Kept, Piece, Text};
pub use trace::Straggler;
