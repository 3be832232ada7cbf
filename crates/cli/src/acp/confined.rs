//! `rail confined`: what the editor's terminals start for us.

use std::path::{Path, PathBuf};

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

/// Takes an order. Only one can: who gave it takes it back in the same way, and then it is not done.
fn taken(order: &Path) -> anyhow::Result<Vec<u8>> {
    let own = order.with_extension(format!("taken-{}", std::process::id()));
    std::fs::rename(order, &own).context("there is no such order")?;
    let written = std::fs::read(&own).context("the order can't be read");
    // Nobody else knows its name.
    let _ = std::fs::remove_file(&own);
    written
}

impl Confined {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let written = taken(&self.order)?;
        let order: Order = serde_json::from_slice(&written).context("the order can't be read")?;
        Err(Failure::Task(anyhow!("the command was not run: {}", order.become_it())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let order = folder.path().join("order.json");
        std::fs::write(&order, "it").unwrap();
        assert_eq!(taken(&order).unwrap(), b"it");
        assert!(taken(&order).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
