//! The codecs against the corpus, against each other, and against hostile input.

mod corpus;
mod cost;
mod identity;
mod split;
