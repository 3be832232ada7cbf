//! Tests of the testkit itself.

#[cfg(test)]
mod peer;
