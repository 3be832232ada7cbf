//! `rail confined`: what the editor's terminals start for us.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_sandbox::Order;

use crate::Failure;

/// Becomes the command of an order, confined as it says.
#[derive(Args)]
pub(crate) struct Confined {
    /// The order; it is taken away.
    #[arg(value_name = "FILE")]
    order: PathBuf,
}

impl Confined {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let written = std::fs::read(&self.order).context("there is no such order")?;
        // It is done once. One that can't be taken away is taken away by who gave it.
        let _ = std::fs::remove_file(&self.order);
        let order: Order = serde_json::from_slice(&written).context("the order can't be read")?;
        Err(Failure::Task(anyhow!("the command was not run: {}", order.become_it())))
    }
}
