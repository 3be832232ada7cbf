//! The user's hooks: commands that run at certain moments of a session.
//!
//! The contract is that of Claude Code, so that hooks which exist work as they are: JSON on standard input, an answer by exit
//! status (0 goes on, 2 blocks and standard error says why, anything else is a problem that is told) or in JSON on standard output.
//! A hook before a call that gives no answer at all (missing, killed, too slow, broken JSON) makes that call a question.

mod answer;
mod callback;
mod event;
mod matcher;
mod names;
mod outcome;
mod process;
mod runner;

pub use callback::{CallbackGroup, CallbackHooks, HookCalls};
pub use event::{CompactTrigger, EndReason, FailedBy, HookEvent, StartSource, StopRound};
pub use names::{home as native_input, theirs as claude_name};
pub use outcome::HookOutcome;
pub use runner::{HookFacts, HookRunner, HookWatch};
