//! Hooks that a client of the session has registered: it is called back, and answers what a command would print.

use std::sync::Arc;
use std::time::Duration;

use rail_sandbox::Exit;
use rail_tool::BoxFuture;
use serde_json::Value;

use super::process::{Ending, Ran};

/// Who calls a client back.
pub trait HookCalls: Send + Sync {
    /// Calls the hook of this id with what hooks are told, and gives what it answers. Dropping the future takes the call back.
    fn call<'a>(&'a self, id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<Value, String>>;
}

/// The hooks of a client.
#[derive(Clone)]
pub struct CallbackHooks {
    /// What they are for.
    pub groups: Vec<CallbackGroup>,
    /// The way to them.
    pub calls: Arc<dyn HookCalls>,
}

/// Hooks of a client that are for the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallbackGroup {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// The tools they are for, as in the configuration.
    pub matcher: Option<String>,
    /// Their ids.
    pub callbacks: Vec<String>,
    /// How long one may take, if it was said.
    pub limit: Option<Duration>,
}

/// Calls one back, as if it were a command that ran.
pub(super) async fn run(calls: &dyn HookCalls, id: String, input: &Value, limit: Duration) -> Ran {
    let called = tokio::time::timeout(limit, calls.call(&id, input)).await;
    let (ending, output) = match called {
        Ok(Ok(answer @ Value::Object(_))) => (Ending::Exit(Exit::Code(0)), answer.to_string()),
        // No answer is no objection.
        Ok(Ok(Value::Null)) => (Ending::Exit(Exit::Code(0)), String::new()),
        Ok(Ok(other)) => {
            (Ending::NotStarted(format!("it answered `{other}`, which is no object")), String::new())
        }
        Ok(Err(why)) => (Ending::NotStarted(why), String::new()),
        Err(_) => (Ending::Late(limit), String::new()),
    };
    Ran { command: id, ending, output, errors: String::new(), swept: Vec::new() }
}
