//! Tests of the testkit itself.

#[cfg(test)]
mod client;
#[cfg(test)]
mod judges;
#[cfg(test)]
mod models;
#[cfg(test)]
mod peer;
mod postgres;
#[cfg(test)]
mod scripted_model;
#[cfg(test)]
mod tls;
