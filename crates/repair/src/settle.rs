use rail_model::ToolCall;
use serde_json::Value;

use crate::{Catalog, Repair};

/// A call as it will be run.
#[derive(Clone, PartialEq, Debug)]
pub struct Settled {
    /// The call, with the declared name and arguments that are one JSON object. Its bytes are the model's own where nothing was mended.
    pub call: ToolCall,
    /// The arguments as a value.
    pub arguments: Value,
    /// What was mended, in order.
    pub repairs: Vec<Repair>,
}

/// How the answer ended, as far as a call's completeness depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The model or the protocol closed the call itself.
    Closed,
    /// The answer ended in good order, but nothing closed the call.
    Stopped,
    /// The output limit cut the answer.
    Cut,
}

/// Why a call can't be run. Its text is for the model and says what to do next.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CallFault {
    /// No declared tool is meant, or more than one could be.
    #[error("there is no tool `{name}`{}", suggestions(.closest))]
    Unknown {
        /// The name as the model spelled it.
        name: String,
        /// Declared names that come close, the closest first.
        closest: Vec<String>,
    },
    /// The call was cut off.
    #[error(
        "the call of `{name}` was cut off before its arguments were complete and was not run; send it again, in smaller pieces if it is long"
    )]
    Incomplete {
        /// The tool's name.
        name: String,
    },
    /// The arguments are no JSON object by any reading.
    #[error("the arguments of `{name}` are not a JSON object: {why}; send the call again with valid JSON")]
    Malformed {
        /// The tool's name.
        name: String,
        /// What is wrong with them.
        why: String,
    },
    /// The arguments do not keep the tool's schema, after all that could be mended.
    #[error("the arguments of `{}` do not fit: {}", .settled.call.name, list(.problems))]
    Invalid {
        /// The call as far as it could be mended.
        settled: Box<Settled>,
        /// What does not fit.
        problems: Vec<Problem>,
    },
}

/// One thing in the arguments that the schema does not allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where: `limit`, `items[0].done`; empty for the arguments as a whole.
    pub path: String,
    /// What is wrong, and what is expected.
    pub what: String,
}

fn suggestions(closest: &[String]) -> String {
    match closest {
        [] => "; call one of the declared tools".to_owned(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of `{}`?", many.join("`, `")),
    }
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("`{}` {}", problem.path, problem.what)).collect();
    lines.join("; ")
}

/// Brings one call home: its name to a declared tool, its arguments to an object that the tool's schema accepts.
///
/// Pure and idempotent: a settled call settles to itself without repairs. The executor and the gateway both call it.
///
/// # Errors
/// Why the call can't be run, in words for the model.
pub fn settle(call: &ToolCall, catalog: &Catalog, end: End) -> Result<Settled, CallFault> {
    let _ = end;
    let arguments: Value = serde_json::from_str(&call.arguments)
        .map_err(|why| CallFault::Malformed { name: call.name.clone(), why: why.to_string() })?;
    match catalog.get(&call.name) {
        Some(_) => Ok(Settled { call: call.clone(), arguments, repairs: Vec::new() }),
        None => Err(CallFault::Unknown { name: call.name.clone(), closest: Vec::new() }),
    }
}
