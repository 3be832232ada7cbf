//! Tool calls from any model, in any spelling.
//!
//! Two things happen here. *Stages* stand between a decoder and whoever reads the answer: events go in, events come out,
//! with calls that a model wrote as text made into calls, and reasoning told from text. [`settle`] then brings one call
//! home: its name to a declared tool, its arguments to an object that the tool's schema accepts. Only structure is
//! looked at, never the words of prose, and what was mended is always said ([`Note`], [`Repair`]).

mod catalog;
mod names;
mod native;
mod note;
mod params;
mod profile;
mod settle;
mod stage;

pub use catalog::{Catalog, Effect, Tool};
pub use names::Found;
pub use native::NativeStage;
pub use note::{Note, Repair, Step};
pub use profile::Profile;
pub use settle::{CallFault, End, Problem, Settled, settle};
pub use stage::{Pipeline, Stage};
