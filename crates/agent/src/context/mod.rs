//! What is in the window of a model: how much it is, and how it becomes less. Values in, values out.
//!
//! [`Account`] counts, [`next`] says what is due. [`trim`] takes old outputs out without a model. [`plan`] asks a model for a
//! [`Summary`], which [`check`] and [`settled`] judge and [`window`] puts in the place of what it stands for. [`truncate`] needs
//! no model and always works. None of them parts a call from its result, and none touches what the journal holds.

mod account;
mod bound;
mod budget;
mod medium;
mod plan;
mod steps;
mod summary;
mod tail;
mod touched;
mod transcript;
mod trim;
mod truncate;
mod window;

pub use account::{Account, Images, Window};
pub use bound::{bound_result, cut_middle};
pub use budget::{Budget, Next, Percent, Tried, next};
pub use plan::{CompactionPlan, plan};
pub use summary::{Rejected, Summary, check, second, settled};
pub use touched::Touched;
pub use trim::{Cut, Trimmed, trim};
pub use truncate::truncate;
pub use window::window;
