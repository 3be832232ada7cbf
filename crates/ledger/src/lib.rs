//! The gateway's keys, and a record of every request.
//!
//! A [`Ledger`] is a SQLite file or a PostgreSQL database. A request that comes with a key is identified, then *holds* what it is
//! expected to cost, and its record, once written, takes the place of that hold. So a budget is never overrun by more than what
//! requests on their way cost beyond their estimates, by however many gateways it is shared.

mod desk;
mod entry;
mod figures;
mod keeper;
mod key;
mod ledger;
mod limits;
mod money;
mod postgres;
mod row;
mod secret;
mod sqlite;
mod store;
mod trouble;
mod usage;
mod words;

pub use desk::Hold;
pub use entry::{Bodies, Ending, Entry, LEFT, SentEntry, Tokens};
pub use key::{Budget, Key, KeyId, KeyState, NewKey, Period, Rate, Refusal, Standing};
pub use ledger::{Ledger, LedgerError, Place};
pub use money::Money;
pub use usage::{By, Figures, Latency, Point, UsageQuery, UsageRow};
pub use words::{Moment, WordError};
