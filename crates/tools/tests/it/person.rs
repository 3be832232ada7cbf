//! Somebody in front of a session.

use std::sync::{Arc, Mutex};

use rail_permit::{Answer, Question, Rule};
use rail_tool::{Asks, BoxFuture, Choices, Chosen, HookedCall, Picked, Reply};
use tokio_util::sync::CancellationToken;

/// Answers what they are asked, and remembers it.
#[derive(Default)]
pub(crate) struct Person {
    /// What they are asked, with the call's id.
    asked: Mutex<Vec<(String, Choices)>>,
    /// What they answer to every question; without it the question stays open.
    answer: Option<Chosen>,
    /// Cancelled as soon as they are asked.
    cancel: CancellationToken,
}

impl Person {
    /// Takes the first option of every question.
    pub(crate) fn first() -> Arc<Self> {
        Self::picking(vec![Picked::option(0); 4])
    }

    /// Answers so.
    pub(crate) fn picking(answers: Vec<Picked>) -> Arc<Self> {
        Self::saying(Chosen::Answered { answers })
    }

    pub(crate) fn saying(answer: Chosen) -> Arc<Self> {
        Arc::new(Self { answer: Some(answer), ..Self::default() })
    }

    /// Leaves the question open, and cancels the call with this.
    pub(crate) fn cancelling(cancel: CancellationToken) -> Arc<Self> {
        Arc::new(Self { cancel, ..Self::default() })
    }

    /// All that they were asked.
    pub(crate) fn asked(&self) -> Vec<(String, Choices)> {
        self.asked.lock().unwrap().clone()
    }
}

impl Asks for Person {
    /// What a tool may do is not theirs to say: whoever only chooses must never be asked for leave.
    fn ask<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::ready(Answer::No(Some("a choice is no leave".to_owned())).into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Err("nothing is kept".to_owned())
    }

    fn choose<'a>(&'a self, id: &'a str, choices: &'a Choices) -> BoxFuture<'a, Chosen> {
        self.asked.lock().unwrap().push((id.to_owned(), choices.clone()));
        self.cancel.cancel();
        let answer = self.answer.clone();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}
