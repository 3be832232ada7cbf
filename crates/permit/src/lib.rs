//! What a call may do: facets in, a verdict with its reason out.
//!
//! A tool never asks: it says what it will touch ([`Facet`]). [`judge`] weighs that against the [`Policy`] and gives a
//! [`Verdict`]. A [`Grant`] can be made in no other way. Nothing here touches a file: what a path really is (links, `..`)
//! comes from the caller's [`World`].

mod explain;
mod facet;
mod grant;
mod judge;
mod path;
mod places;
mod policy;
mod question;
mod rule;
pub mod shell;
mod verdict;

pub use explain::{Explained, Offered, Part, PartKind, RuleShown, explain};
pub use facet::{Asked, Exec, Facet, Held, Level};
pub use grant::{Grant, Hidden, Kept};
pub use judge::{Decision, judge};
pub use places::secret;
pub use policy::{Contained, Mode, Policy, Rules, User, World, bypass_refused};
pub use question::{Answer, Answered, Offer, Question, Scope};
pub use rule::{Rule, RuleError};
pub use verdict::{Denial, Reason, Verdict};
