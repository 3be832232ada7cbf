use std::sync::Arc;

use crate::{ModelProfile, Provider, Target};

/// The ordered attempts for one request, each with the reason why it is there.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The model name that was asked for.
    pub asked: String,
    /// The virtual model it was taken for; None when a target was asked for by name.
    pub virtual_model: Option<String>,
    /// Why this virtual model or this target.
    pub why: String,
    /// What is tried, in this order.
    pub attempts: Vec<Attempt>,
    /// What could have been tried and is not.
    pub skipped: Vec<Skipped>,
}

/// One target that is tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// The target.
    pub target: Target,
    /// How to reach it.
    pub provider: Arc<Provider>,
    /// What is known of the model.
    pub profile: Arc<ModelProfile>,
    /// Why it is there.
    pub why: String,
}

/// One target that is not tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// The target.
    pub target: Target,
    /// Why not.
    pub why: String,
}
