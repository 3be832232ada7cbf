//! The ledger on real databases.
