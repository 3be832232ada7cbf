//! One request, from its arrival to its answer.
//!
//! [`way`] decides who may serve it, [`generate`], [`count`] and [`embed`] ask them, [`talk`] says the answer to the client in
//! [`pieces`], and [`record`] keeps what happened: whatever does, a request that came is recorded once.

mod bill;
mod codex;
mod count;
mod embed;
mod generate;
mod head;
mod kept;
mod losses;
mod models;
mod numbers;
mod pieces;
mod record;
mod repairs;
mod talk;
mod tally;
mod way;

#[cfg(test)]
mod tests;

use http::Response;
use rail_wire::Operation;

use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;

pub use codex::codex_model;

/// Brings a request to its answer, and its record to the ledger. Dropping the future, or the answer's body, ends the request.
///
/// A list of models asks nobody for anything, and is not recorded.
pub(crate) async fn exchange(gateway: &Gateway, arrival: Arrival) -> Response<Body> {
    match arrival.operation {
        Operation::Generate | Operation::GenerateStream => generate::answer(gateway, arrival).await,
        Operation::Count => count::answer(gateway, arrival).await,
        Operation::Embed => embed::answer(gateway, arrival).await,
        Operation::Models => models::answer(gateway, &arrival),
    }
}
