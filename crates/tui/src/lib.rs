//! The terminal interface of the agent, over its protocol alone.

mod app;
mod ask;
mod call;
pub mod complete;
pub mod diff;
mod figures;
pub mod highlight;
mod host;
pub mod input;
mod late;
pub mod markdown;
mod plain;
mod run;
pub mod screen;
mod status;
mod talk;
mod terminal;
pub mod text;
pub mod theme;
pub mod wrap;

pub use app::{App, End, Out, Start};
pub use call::Extent;
pub use host::{Item, News, PickerKind, Want};
pub use plain::run_plain;
pub use run::{EditText, Wires, run};
