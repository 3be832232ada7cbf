use rail_model::{CallKind, Map, ToolCall};
use serde_json::Value;

use crate::arguments::{self, MAX_VALUES, Reading, Values, distinct};
use crate::coerce::coerce;
use crate::entities::{self, Entities};
use crate::free_text::{self, FreeText};
use crate::json::{self, State};
use crate::path::Path;
use crate::schema::{Fuel, Schema};
use crate::unwrap::{bare, unwrap};
use crate::validate::validate;
use crate::{Catalog, Effect, Found, Repair, Step, Tool, params};

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

/// How often unwrapping, renaming and coercing are done over: what one changes can be another's business, such as a wrapper
/// that is alone only after a null beside it was dropped.
const MAX_ROUNDS: usize = 8;

/// Brings one call home: its name to a declared tool, its arguments to an object that the tool's schema accepts.
///
/// Pure and idempotent: a settled call settles to itself without repairs. The executor and the gateway both call it.
/// Only free text can't show that it is whole: a call of it that an output limit ended is taken for whole only if the text
/// stood in an object that was. What came out of that object shows nothing any more, but is whole: it is settled again as a
/// call that was closed.
/// Arguments that are not there at all become `{}`, which is no repair: many servers send nothing for a tool that takes
/// nothing.
///
/// # Errors
/// Why the call can't be run, in words for the model.
pub fn settle(call: &ToolCall, catalog: &Catalog, end: End) -> Result<Settled, CallFault> {
    let (tool, step) = match catalog.find(&call.name) {
        Found::Tool(tool, step) => (tool, step),
        Found::Unknown(closest) => return Err(CallFault::Unknown { name: call.name.clone(), closest }),
    };
    let repairs = step.map(|step| Repair::new(step, "name")).into_iter().collect();
    let named = Named { call, tool, repairs, entities: Entities::Kept };
    if is_free_text(call.kind, tool) {
        return named.free_text(end);
    }
    match named.read(arguments::read(&call.arguments), end)? {
        Calls::One(draft) => named.finish(draft),
        Calls::Several(_) => Err(named.malformed("they hold several objects; send a separate call for each")),
    }
}

/// Whether a call's text is free text.
pub(crate) fn is_free_text(kind: CallKind, tool: &Tool) -> bool {
    match kind {
        CallKind::Custom => true,
        CallKind::Function => tool.free_text,
    }
}

/// A call whose tool is known.
pub(crate) struct Named<'a> {
    /// The call, with the name as the model spelled it.
    pub(crate) call: &'a ToolCall,
    /// The tool that is meant.
    pub(crate) tool: &'a Tool,
    /// How the name was mended.
    pub(crate) repairs: Vec<Repair>,
    /// What becomes of entities in strings.
    pub(crate) entities: Entities,
}

/// What a slot held, ready to be fitted to the schema.
pub(crate) enum Calls {
    /// One call.
    One(Draft),
    /// Several, by accident in one slot.
    Several(Vec<Draft>),
}

/// Arguments that were read but not yet fitted to the schema.
pub(crate) struct Draft {
    value: Value,
    repairs: Vec<Repair>,
    /// The words of a text that is no JSON.
    words: bool,
}

impl Draft {
    fn new(value: Value) -> Self {
        Self { value, repairs: Vec::new(), words: false }
    }

    /// The same, as one of several calls in one slot.
    pub(crate) fn split(mut self) -> Self {
        self.repairs.push(Repair::new(Step::Split, "arguments"));
        self
    }
}

impl Named<'_> {
    /// The call of a tool that takes text. Text does not show where it ends, so after a cut only an object around it does.
    pub(crate) fn free_text(&self, end: End) -> Result<Settled, CallFault> {
        let found = match self.call.kind {
            CallKind::Custom => FreeText::Plain,
            CallKind::Function => free_text::read(&self.call.arguments),
        };
        let (text, repairs) = match found {
            FreeText::Plain | FreeText::Quoted(_) if end == End::Cut => return Err(self.incomplete()),
            FreeText::Plain => (self.call.arguments.clone(), Vec::new()),
            FreeText::Wrapped(text) | FreeText::Quoted(text) => (text, vec![Step::Unwrapped]),
            FreeText::Unclosed(text) if may_close(end, self.tool.effect) => {
                (text, vec![Step::Closed, Step::Unwrapped])
            }
            FreeText::Unclosed(_) | FreeText::Cut => return Err(self.incomplete()),
        };
        let repairs = repairs.into_iter().map(|step| Repair::new(step, "arguments")).collect();
        let mut settled = self.settled(text.clone(), Value::String(text), repairs);
        settled.call.kind = CallKind::Custom;
        Ok(settled)
    }

    /// The drafts of the calls that a text holds, or why there are none.
    pub(crate) fn read(&self, reading: Reading, end: End) -> Result<Calls, CallFault> {
        match reading {
            // Where the limit cut the answer, arguments that are not there may have been about to come.
            Reading::Empty if end == End::Cut => Err(self.incomplete()),
            Reading::Empty => Ok(Calls::One(Draft::new(Value::Object(Map::new())))),
            Reading::Fault(why) => Err(self.malformed(why)),
            // Words do not show where they end, so only a call that was closed, or that only looks, is sure to be whole.
            Reading::Bare(_) if !may_close(end, self.tool.effect) => Err(self.incomplete()),
            Reading::Bare(words) => Ok(Calls::One(Draft { words: true, ..Draft::new(Value::String(words)) })),
            Reading::Values(values) => self.drafts(values, end),
        }
    }

    fn drafts(&self, values: Values, end: End) -> Result<Calls, CallFault> {
        let mut repairs = Vec::new();
        let mut add = |step: Step| repairs.push(Repair::new(step, "arguments"));
        if values.fragments {
            add(Step::Fragments);
        }
        match values.state {
            State::Complete if values.tolerant => add(Step::Tolerant),
            State::Complete => {}
            State::OpenContainer if may_close(end, self.tool.effect) => add(Step::Closed),
            State::OpenContainer | State::OpenString => return Err(self.incomplete()),
        }
        if values.unwrapped {
            add(Step::Unwrapped);
        }
        let listed = values.values.first().is_some_and(Value::is_array);
        let found = several(values.values);
        let split = found.len() > 1;
        if listed && found.first().is_some_and(Value::is_object) {
            repairs.push(Repair::new(Step::Unwrapped, "arguments"));
        }
        let mut drafts =
            found.into_iter().map(|value| Draft { repairs: repairs.clone(), ..Draft::new(value) });
        match drafts.next() {
            Some(first) if !split => Ok(Calls::One(first)),
            first => Ok(Calls::Several(first.into_iter().chain(drafts).collect())),
        }
    }

    /// Fits a draft to the schema.
    pub(crate) fn finish(&self, draft: Draft) -> Result<Settled, CallFault> {
        let Draft { mut value, mut repairs, words } = draft;
        match self.entities {
            Entities::Kept => {}
            Entities::Decoded => entities::decode(&mut value, &Path::Root("arguments"), &mut repairs),
        }
        let schema = Schema::of(self.tool);
        let fuel = Fuel::for_text(self.call.arguments.len());
        let unwrapped = match value {
            Value::String(text) if words => bare(&text, schema, &mut repairs),
            value => unwrap(value, schema, &mut repairs),
        };
        let mut map = unwrapped.map_err(|why| self.malformed(why))?;
        for _ in 0..MAX_ROUNDS {
            let before = repairs.len();
            params::rename(&mut map, self.tool, &mut repairs);
            coerce(&mut map, schema, &fuel, &mut repairs);
            if repairs.len() == before {
                break;
            }
            map = unwrap(Value::Object(map), schema, &mut repairs).map_err(|why| self.malformed(why))?;
        }
        let arguments = Value::Object(map);
        let text = match repairs.is_empty() && !self.call.arguments.trim().is_empty() {
            true => self.call.arguments.clone(),
            false => json::write(&arguments),
        };
        let problems = validate(&arguments, schema, &fuel);
        let settled = self.settled(text, arguments, repairs);
        match problems.is_empty() {
            true => Ok(settled),
            false => Err(CallFault::Invalid { settled: Box::new(settled), problems }),
        }
    }

    fn settled(&self, text: String, arguments: Value, more: Vec<Repair>) -> Settled {
        let mut repairs = self.repairs.clone();
        repairs.extend(more);
        let call = ToolCall { name: self.tool.name.clone(), arguments: text, ..self.call.clone() };
        Settled { call, arguments, repairs }
    }

    fn malformed(&self, why: impl Into<String>) -> CallFault {
        CallFault::Malformed { name: self.tool.name.clone(), why: why.into() }
    }

    fn incomplete(&self) -> CallFault {
        CallFault::Incomplete { name: self.tool.name.clone() }
    }
}

/// Whether what is missing at the end of a call may be added: never after a cut, and for a tool that acts only when the model
/// itself said that the call was over.
fn may_close(end: End, effect: Effect) -> bool {
    match (end, effect) {
        (End::Closed, Effect::Reads | Effect::Acts) | (End::Stopped, Effect::Reads) => true,
        (End::Stopped, Effect::Acts) | (End::Cut, Effect::Reads | Effect::Acts) => false,
    }
}

/// The calls of a slot; a list of several objects is as many calls.
fn several(mut values: Vec<Value>) -> Vec<Value> {
    match values.as_mut_slice() {
        [Value::Array(items)]
            if (2..=MAX_VALUES).contains(&items.len()) && items.iter().all(Value::is_object) =>
        {
            distinct(std::mem::take(items)).0
        }
        _ => values,
    }
}
