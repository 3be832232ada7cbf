//! Models that a tool asks outside of the conversation.

use std::fmt::Debug;

use rail_model::{Part, Stop};
use tokio_util::sync::CancellationToken;

use crate::BoxFuture;

/// Who answers what a tool wants to know of a model.
pub trait Models: Debug + Send + Sync {
    /// Asks, and waits for the whole answer. Dropping the future takes the question back.
    ///
    /// # Errors
    /// Why there is no answer and what to do about it, in a sentence.
    fn ask<'a>(
        &'a self,
        inquiry: Inquiry,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Told, String>>;
}

/// A question to a model, outside of the conversation.
#[derive(Clone, PartialEq, Debug)]
pub struct Inquiry {
    /// Who asks: the tool's native name, or whoever else it is in a few words.
    pub asker: String,
    /// Which kind of model.
    pub to: Inquired,
    /// What it is told to be.
    pub system: Option<String>,
    /// What it is asked, in order: text, images.
    pub parts: Vec<Part>,
    /// How many tokens it may answer.
    pub max_output: Option<u64>,
    /// Strings that end the answer, and are no part of it.
    pub stop: Vec<String>,
}

/// Which kind of model is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inquired {
    /// A small one that does work in the background.
    Background,
    /// One that sees images.
    Vision {
        /// The one that the call names, instead of the first that serves.
        model: Option<String>,
    },
    /// One that reads pictures of pages.
    Document,
}

/// A model's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// What it said.
    pub text: String,
    /// Who said it, `provider/model`.
    pub model: String,
    /// Why it ended.
    pub stop: Stop,
}

/// No model can be asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoModels;

impl Models for NoModels {
    fn ask<'a>(&'a self, _: Inquiry, _: &'a CancellationToken) -> BoxFuture<'a, Result<Told, String>> {
        Box::pin(std::future::ready(Err("no model can be asked here".to_owned())))
    }
}
