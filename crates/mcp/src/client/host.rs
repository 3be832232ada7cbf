use std::path::PathBuf;

use rail_model::{Part, Role};
use rail_tool::BoxFuture;
use serde_json::Value;

/// What servers may ask of us. Dropping a future takes the request back.
pub trait Host: Send + Sync {
    /// What of this is offered to servers at all.
    fn offers(&self) -> Offers {
        Offers::default()
    }

    /// Asks the person in front of the session.
    fn elicit<'a>(&'a self, _server: &'a str, _ask: Ask) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Decline))
    }

    /// Asks the model.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence for the server.
    fn sample<'a>(&'a self, _server: &'a str, _ask: Sample) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(std::future::ready(Err("no model can be asked here".to_owned())))
    }

    /// The folders that the session works in.
    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// A server says something for the log. The level is one of syslog's, `debug` to `emergency`.
    fn log(&self, _server: &str, _level: &str, _text: &str) {}
}

/// What is offered to servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offers {
    /// Questions to the person in front of the session.
    pub elicitation: bool,
    /// Questions to the model.
    pub sampling: bool,
    /// The folders that the session works in.
    pub roots: bool,
}

/// A question of a server to the person in front of the session.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// A form to be filled in.
    Form {
        /// What it is for.
        message: String,
        /// The JSON Schema of the answer: an object of plain values.
        schema: Value,
    },
    /// An address to be opened in a browser.
    Url {
        /// What it is for.
        message: String,
        /// The address, as the server wrote it.
        url: String,
    },
}

/// A person's answer to a server.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// Yes, with what was filled in; null where there was no form.
    Accept(Value),
    /// No.
    Decline,
    /// The question was closed without an answer.
    Cancel,
}

/// A question of a server to the model.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// The conversation.
    pub messages: Vec<(Role, Vec<Part>)>,
    /// The system prompt that it wants.
    pub system: Option<String>,
    /// Names of models that it would like, the best first.
    pub hints: Vec<String>,
    /// At most so many tokens.
    pub max_tokens: u64,
    /// Strings that end the answer.
    pub stop: Vec<String>,
    /// The whole request, for whoever needs more of it.
    pub raw: Value,
}

/// A model's answer to a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sampled {
    /// The text.
    pub text: String,
    /// The model that gave it.
    pub model: String,
    /// Why it ended: `endTurn`, `stopSequence`, `maxTokens`.
    pub stop_reason: String,
}
