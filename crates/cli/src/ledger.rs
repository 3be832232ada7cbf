//! The ledger of the configuration.

use anyhow::anyhow;
use rail_config::{Loaded, load};
use rail_ledger::{Ledger, LedgerError, Place};

use crate::Failure;
use crate::setup::{Common, runtime, wrong};
use crate::state::places;

/// Where the ledger is: at `gateway.ledger`, or in the state folder.
pub(crate) fn place(loaded: &Loaded) -> Result<Place, Failure> {
    match &loaded.settings.gateway.ledger {
        Some(address) => Place::at(&address.0).ok_or_else(|| {
            let problem = "gateway.ledger: this is no address of a database; write `postgres://user@host/name`, or leave it out for a file in the state folder";
            Failure::Usage(anyhow!(problem))
        }),
        None => Ok(Place::File(places(loaded)?.ledger())),
    }
}

/// The same for a gateway, which without a home keeps its ledger nowhere.
pub(crate) fn place_or_none(loaded: &Loaded) -> Result<Place, Failure> {
    match (&loaded.settings.gateway.ledger, &loaded.places) {
        (None, None) => Ok(Place::Memory),
        (Some(_), _) | (None, Some(_)) => place(loaded),
    }
}

/// Does something with the ledger, and then waits until it is done.
pub(crate) fn with_ledger<T>(
    common: &Common,
    work: impl AsyncFnOnce(&Ledger) -> Result<T, LedgerError>,
) -> Result<T, Failure> {
    // No model is asked here, so that no server is looked for.
    let loaded = load(&common.inputs()?).map_err(wrong)?;
    let place = place(&loaded)?;
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = async { work(&Ledger::open(&place).await?).await } => done.map_err(failure),
            Ok(()) = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
        }
    });
    runtime.shutdown_background();
    done
}

fn failure(error: LedgerError) -> Failure {
    match error {
        LedgerError::WrongKey { .. } => Failure::Usage(anyhow!(error)),
        LedgerError::Open { .. } | LedgerError::Failed { .. } | LedgerError::NameTaken { .. } => {
            Failure::Task(anyhow!(error))
        }
    }
}
