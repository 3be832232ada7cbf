//! The ledger on real databases.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bed;
mod keys;
mod limits;
mod model;
mod open;
mod outage;
mod records;
mod replicas;
mod tls;
mod usage;
