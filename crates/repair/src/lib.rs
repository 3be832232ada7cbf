//! Tool calls from any model, in any spelling.
//!
//! Two things happen here. *Stages* stand between a decoder and whoever reads the answer: events go in, events come out,
//! with calls that a model wrote as text made into calls, and reasoning told from text. [`settle`] then brings one call
//! home: its name to a declared tool, its arguments to an object that the tool's schema accepts. Only structure is
//! looked at, never the words of prose, and what was mended is always said ([`Note`], [`Repair`]).

mod catalog;
mod coerce;
mod control;
mod json;
mod known;
mod mapping;
mod names;
mod note;
mod params;
mod profile;
mod prompted;
mod renames;
mod schema;
mod settle;
mod shape;
mod stage;
mod text;
mod words;

pub use catalog::{Catalog, Effect, Tool};
pub use control::no_think;
pub use mapping::{Mapping, MappingError};
pub use names::Found;
pub use note::{Note, Repair, Step};
pub use profile::Profile;
pub use prompted::prompt;
pub use settle::{CallFault, End, Problem, Settled, settle};
pub use stage::{Pipeline, Stage, stages};
pub use text::ExtractStage;
