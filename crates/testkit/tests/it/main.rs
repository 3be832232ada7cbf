//! Tests of the testkit itself.

#[cfg(test)]
mod client;
#[cfg(test)]
mod models;
#[cfg(test)]
mod peer;
