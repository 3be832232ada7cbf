//! Which model serves a request, and why: pure functions over values.
//!
//! `facts` reads a request, `classify` names its virtual model, `plan` orders the targets that may answer. Nothing here
//! reads a file, a socket or a clock; what was learned of targets comes in as [`Health`].

mod calibration;
mod estimate;
mod health;
mod plan;
mod profile;
mod profiles;
mod provider;
mod routing;
mod target;

pub use calibration::Calibration;
pub use estimate::{Estimate, estimate, tokens};
pub use health::{Circuit, Health};
pub use plan::{Attempt, Plan, Skipped};
pub use profile::{ModelProfile, Price, ProfilePatch, ReasoningBack, Thinks, Tier, ToolStyle};
pub use profiles::Profiles;
pub use provider::{Provider, Retry, Timeouts};
pub use routing::{
    Alias, AliasTo, ImageMatch, Options, ReasoningMatch, Routing, Rule, RulePurpose, Stickiness,
    WebSearchMatch,
};
pub use target::{Chain, ChainError, Target};
