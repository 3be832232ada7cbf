//! The gateway's keys, and a record of every request.
//!
//! A [`Ledger`] is a SQLite file or a PostgreSQL database. A request that comes with a key is identified, then *holds* what it is
//! expected to cost, and its record, once written, takes the place of that hold. So a budget is never overrun by more than what
//! requests on their way cost beyond their estimates, by however many gateways it is shared.

mod entry;
mod key;
mod ledger;
mod money;

pub use entry::{Bodies, Ending, Entry, SentEntry, Tokens};
pub use key::{Budget, Key, KeyId, NewKey, Period, Rate, Refusal};
pub use ledger::{Hold, Ledger, LedgerError, Place};
pub use money::Money;
