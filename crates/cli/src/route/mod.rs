//! `rail route`: which model answers, and why.

mod explain;

use clap::Subcommand;

pub(crate) use explain::explained;

use crate::Failure;
use crate::setup::Common;

/// What can be asked of the router.
#[derive(Subcommand)]
pub(crate) enum Route {
    /// Tell what a request is taken for, what is tried, what is not, and the reason for each.
    Explain(explain::Explain),
}

impl Route {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Explain(explain) => explain.run(common),
        }
    }
}
