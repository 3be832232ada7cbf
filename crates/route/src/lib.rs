//! Which model serves a request, and why: pure functions over values.
//!
//! [`facts`] reads a request, [`classify`] names its virtual model, [`plan`] orders the targets that may answer. Nothing here
//! reads a file, a socket or a clock; what was learned of targets comes in as [`Health`], and what was seen of the
//! conversation as [`Session`].

mod asked;
mod calibration;
mod classify;
mod client;
mod estimate;
mod explain;
mod facts;
mod figures;
mod fronts;
mod health;
mod line;
mod plan;
mod profile;
mod profiles;
mod provider;
mod routing;
mod session;
mod stay;
mod target;
mod tool_name;
mod vision;

pub use calibration::Calibration;
pub use classify::{Wanted, built_in_virtual_models, classify};
pub use client::Client;
pub use estimate::{Estimate, estimate, estimate_message, estimate_parts, tokens, tool_tokens};
pub use explain::{Explanation, FactsShown, Reasoned, explain};
pub use facts::{Facts, ThinkingAsked, ToolCounts, facts};
pub use fronts::Front;
pub use health::{Circuit, ErrorClass, Health, LastError, TargetHealth};
pub use plan::{Attempt, Plan, PlanInput, Skipped, calibrated, plan};
pub use profile::{ModelProfile, Price, ProfilePatch, ReasoningBack, Thinks, Tier, ToolStyle};
pub use profiles::Profiles;
pub use provider::{Provider, Retry, Timeouts};
pub use routing::{
    Alias, AliasTo, ImageMatch, Options, ReasoningMatch, Routing, Rule, RulePurpose, Stickiness,
    WebSearchMatch,
};
pub use session::{Session, SessionKey, Sessions};
pub use target::{Chain, ChainError, Target};
pub use vision::{VisionInput, document_vision, is_minimax_vl, named_vision, vision};
