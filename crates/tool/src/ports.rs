use rail_permit::{Answer, Question, Rule};
use serde_json::Value;

use crate::{BoxFuture, Choices, Chosen, Outcome, ToolEvent};

/// Who looks at what becomes of calls.
pub trait Watch: Send + Sync {
    /// Something became of a call.
    fn event(&self, event: ToolEvent);
}

/// Who answers questions.
pub trait Asks: Send + Sync {
    /// Asks whether a call may be done. Dropping the future takes the question back.
    fn ask<'a>(&'a self, call: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply>;

    /// Keeps rules that were allowed for always.
    ///
    /// # Errors
    /// Why they could not be kept, in a sentence for the user.
    fn keep(&self, rules: &[Rule]) -> Result<(), String>;

    /// Lets a person choose, for the call of this id. Dropping the future takes the question back.
    ///
    /// Unless somebody says otherwise there is no person.
    fn choose<'a>(&'a self, _id: &'a str, _choices: &'a Choices) -> BoxFuture<'a, Chosen> {
        Box::pin(std::future::ready(Chosen::Nobody))
    }
}

/// What is said to a question about a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// It may be done this once with another input, which is judged anew: what is denied stays denied.
    Changed(Value),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

/// What the user runs around calls.
pub trait Hooks: Send + Sync {
    /// Before a call is judged; the input it leaves is the one that is judged.
    fn before<'a>(&'a self, call: &'a HookedCall) -> BoxFuture<'a, Before>;

    /// Before somebody is asked whether a call may be done: a hook may answer in their place.
    fn asked<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Option<HookAnswer>> {
        Box::pin(std::future::ready(None))
    }

    /// After a call has its result. What it gives is added for the model.
    fn after<'a>(&'a self, call: &'a HookedCall, outcome: &'a Outcome) -> BoxFuture<'a, Option<String>>;
}

/// A call as hooks and whoever is asked see it.
#[derive(Clone, PartialEq, Debug)]
pub struct HookedCall {
    /// The call's id.
    pub id: String,
    /// The tool's native name.
    pub tool: String,
    /// The input.
    pub input: Value,
}

/// What a hook says before a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Before {
    /// An input that takes the place of the call's.
    pub input: Option<Value>,
    /// What is to become of the call, if the hook has a say.
    pub say: Option<HookSay>,
    /// What is added for the model behind the result, whatever that will be.
    pub context: Vec<String>,
}

/// A hook's answer in place of the user's. It can't answer what always asks.
#[derive(Clone, PartialEq, Debug)]
pub enum HookAnswer {
    /// It may be done, perhaps with another input, which is judged anew.
    Allow(Option<Value>),
    /// Not to do it, for this reason.
    Deny(String),
}

/// A hook's say. It can't undo a denial, and what always asks still asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookSay {
    /// Not to ask.
    Allow,
    /// To ask, for this reason.
    Ask(String),
    /// Not to do it, for this reason.
    Deny(String),
}

/// No hooks at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn before<'a>(&'a self, _: &'a HookedCall) -> BoxFuture<'a, Before> {
        Box::pin(std::future::ready(Before::default()))
    }

    fn after<'a>(&'a self, _: &'a HookedCall, _: &'a Outcome) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
