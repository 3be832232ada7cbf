//! What becomes of what the user says to a session that is open: a command, or something for the model.

use std::sync::Arc;

use rail_agent::Errands;
use rail_model::Part;
use rail_proto::{Command, Done, Prompt, Reason};

use crate::Failure;
use crate::agent::slash::{self, Ground, Ready, Step, named, ready, submit};

/// What became of it.
pub(crate) enum Became {
    /// The session is told something.
    Ready(Box<Ready>),
    /// It is over already.
    Done(Box<Done>),
}

/// Finds out what becomes of what the user said.
pub(crate) async fn becomes(prompt: Prompt, ground: Ground, errands: Arc<Errands>) -> Became {
    let Prompt { id, parts } = prompt;
    let mut ready = match alone(&parts) {
        Some(text) => match step(text.to_owned(), ground).await {
            Ok(Step::Say(text)) => return done(Reason::Answered, text),
            Ok(step) => match ready(step, Vec::new(), &errands).await {
                Ok(ready) => ready,
                Err(failure) => return done(Reason::Failed, told(failure)),
            },
            Err(why) => return done(Reason::Failed, why),
        },
        None => {
            let attached = named(&parts, &errands).await;
            submit(Vec::new(), parts.into_iter().chain(attached).collect())
        }
    };
    for command in &mut ready.commands {
        if let Command::Submit(prompt) = command {
            prompt.id.clone_from(&id);
        }
    }
    Became::Ready(Box::new(ready))
}

/// The text, where there is nothing else.
fn alone(parts: &[Part]) -> Option<&str> {
    match parts {
        [part] => part.as_text(),
        _ => None,
    }
}

fn told(failure: Failure) -> String {
    match failure {
        Failure::Usage(error) | Failure::Task(error) => format!("{error:#}"),
        Failure::Interrupted | Failure::Ended(_) => "the command was ended".to_owned(),
    }
}

/// Commands look at files and servers, and take their time; nothing else waits for them.
async fn step(text: String, ground: Ground) -> Result<Step, String> {
    let found = tokio::task::spawn_blocking(move || slash::step(&text, &ground)).await;
    match found {
        Ok(Ok(step)) => Ok(step),
        Ok(Err(failure)) => Err(told(failure)),
        Err(error) => Err(format!("the command broke off: {error}")),
    }
}

fn done(reason: Reason, text: String) -> Became {
    Became::Done(Box::new(Done { reason, text, ..Done::default() }))
}
