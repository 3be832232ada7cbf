//! What becomes of what the user says to a session that is open: a command, or something for the model.

use std::sync::Arc;

use rail_agent::Errands;
use rail_model::Part;
use rail_proto::{Command, Done, Prompt, Reason};

use crate::Failure;
use crate::agent::slash::{self, Ground, Ready, Step, ready, submit};

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
    let mut became = match typing(parts) {
        Ok((text, more)) => typed(text, more, ground, &errands).await,
        Err(parts) => Became::Ready(Box::new(submit(parts))),
    };
    if let Became::Ready(ready) = &mut became {
        for command in &mut ready.commands {
            if let Command::Submit(prompt) = command {
                prompt.id.clone_from(&id);
            }
        }
    }
    became
}

/// Finds out what becomes of a text that the user typed, with more behind it. Only the text is a command and names files: the rest may have any form.
pub(crate) async fn typed(text: String, more: Vec<Part>, ground: Ground, errands: &Errands) -> Became {
    match step(text, ground).await {
        Ok(Step::Say(text)) => done(Reason::Answered, text),
        Ok(step) => match ready(step, more, errands).await {
            Ok(ready) => Became::Ready(Box::new(ready)),
            Err(failure) => done(Reason::Failed, told(failure)),
        },
        Err(why) => done(Reason::Failed, why),
    }
}

/// What the user typed, and what stands behind it: the first part, if it is a text. Others may be what files hold.
fn typing(mut parts: Vec<Part>) -> Result<(String, Vec<Part>), Vec<Part>> {
    match parts.first().and_then(Part::as_text).map(str::to_owned) {
        Some(text) => Ok((text, parts.split_off(1))),
        None => Err(parts),
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
