//! The stages of a call. Each takes what the one before gave, by types that nobody else can make: none can be left out.

mod permission;

use std::sync::Arc;
use std::time::Duration;

use rail_model::{Part, ToolCall};
use rail_permit::{Grant, Level};
use rail_repair::{CallFault, Found, Problem, Repair, Settled, settle};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Executor, caught::caught, truncate::truncate};
use crate::appeared::Absent;
use crate::cx::Person;
use crate::schema::take_meanings;
use crate::words::Names;
use crate::{
    Admitted, AnyTool, Display, End, Given, HookSay, HookedCall, InputFault, Lane, Outcome, OutputNote,
    Progress, Shown, ToolCx, ToolEvent, ToolOutput, shape,
};

/// How long a tool has to put things in order when its call is cancelled, before it is broken off.
const GRACE: Duration = Duration::from_secs(3);

/// Why a call has no output; it becomes a result all the same.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) end: End,
    pub(super) say: String,
    pub(super) cause: Option<String>,
}

/// A tool was found.
struct Looked {
    tool: Arc<dyn AnyTool>,
}

/// Its arguments are an object, as far as it could be mended; what still does not fit is said after the hooks.
struct Repaired {
    tool: Arc<dyn AnyTool>,
    call: ToolCall,
    arguments: Value,
    problems: Vec<Problem>,
    say: Option<HookSay>,
}

/// The tool took its arguments.
struct Valid {
    tool: Arc<dyn AnyTool>,
    call: ToolCall,
    arguments: Value,
    admitted: Box<dyn Admitted>,
    say: Option<HookSay>,
}

/// It may be done.
struct Permitted {
    tool: Arc<dyn AnyTool>,
    arguments: Value,
    admitted: Box<dyn Admitted>,
    grant: Grant,
}

/// What a tool gave, in the names of the dialect.
pub(super) struct Made {
    pub(super) parts: Vec<Part>,
    pub(super) display: Option<Display>,
    pub(super) notes: Vec<OutputNote>,
}

impl Made {
    fn of(output: ToolOutput, names: &Names<'_>) -> Self {
        let ToolOutput { parts, display, notes } = output;
        let part = |given| match given {
            Given::Text(text) => Part::text(text.in_names(names)),
            Given::Part(part) => part,
        };
        Self { parts: parts.into_iter().map(part).collect(), display, notes }
    }
}

impl Executor {
    pub(super) async fn stages(
        &self,
        call: &ToolCall,
        cancel: &CancellationToken,
        repairs: &mut Vec<Repair>,
    ) -> Result<Made, Stopped> {
        let looked = self.lookup(call)?;
        let repaired = self.repair(looked, call, repairs)?;
        let mut context = Vec::new();
        let ran = match self.before_hooks(repaired, cancel, &mut context).await {
            Ok(hooked) => self.judged(hooked, call, cancel).await,
            Err(stopped) => Err(stopped),
        };
        with_context(ran, context).map(|made| truncate(made, call, (&self.session, &self.spoken)))
    }

    /// What is left of a call once hooks have seen it.
    async fn judged(
        &self,
        hooked: Repaired,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Made, Stopped> {
        let valid = self.validate(hooked)?;
        let permitted = self.permission(valid, cancel).await?;
        let (seen, ran) = self.run_tool(permitted, call, cancel).await;
        self.after_hooks(seen, call, ran, cancel).await
    }

    fn lookup(&self, call: &ToolCall) -> Result<Looked, Stopped> {
        let closest = match self.catalog.find(&call.name) {
            // A tool of a server that is not there is no tool of ours, however it is called.
            Found::Tool(found, _) if is_foreign(&call.name) && !is_foreign(&found.name) => {
                vec![found.name.clone()]
            }
            Found::Tool(found, _) => match self.registry.get(&found.name) {
                Some(tool) => return Ok(Looked { tool: Arc::clone(tool) }),
                None => Vec::new(),
            },
            Found::Unknown(closest) => closest,
        };
        Err(Stopped::refused(self.told(CallFault::Unknown { name: call.name.clone(), closest })))
    }

    fn repair(
        &self,
        looked: Looked,
        call: &ToolCall,
        repairs: &mut Vec<Repair>,
    ) -> Result<Repaired, Stopped> {
        let Looked { tool } = looked;
        let (settled, problems) = match settle(call, &self.catalog, rail_repair::End::Closed) {
            Ok(settled) => (settled, Vec::new()),
            Err(CallFault::Invalid { settled, problems }) => (*settled, problems),
            Err(
                fault @ (CallFault::Unknown { .. }
                | CallFault::Incomplete { .. }
                | CallFault::Malformed { .. }),
            ) => {
                return Err(Stopped::refused(self.told(fault)));
            }
        };
        let Settled { call, arguments, repairs: mended } = settled;
        repairs.extend(mended);
        Ok(Repaired { tool, call, arguments, problems, say: None })
    }

    /// Hooks come before the judgement: one may change the input, and the new input is the one that is judged.
    async fn before_hooks(
        &self,
        repaired: Repaired,
        cancel: &CancellationToken,
        context: &mut Vec<String>,
    ) -> Result<Repaired, Stopped> {
        let Repaired { tool, call, arguments, problems, .. } = repaired;
        let seen = HookedCall {
            id: call.id.as_str().to_owned(),
            tool: tool.card().name.to_owned(),
            input: arguments,
        };
        let before = tokio::select! {
            before = self.hooks.before(&seen) => before,
            () = cancel.cancelled() => return Err(Stopped::cancelled()),
        };
        *context = before.context;
        if let Some(HookSay::Deny(why)) = before.say {
            return Err(Stopped::hooked(&why));
        }
        let repaired = Repaired { tool, call, arguments: seen.input, problems, say: before.say };
        match before.input {
            Some(input) => self.with_input(repaired, &input, "a hook"),
            None => Ok(repaired),
        }
    }

    /// The call with the input that somebody gave it.
    fn with_input(&self, repaired: Repaired, input: &Value, by: &str) -> Result<Repaired, Stopped> {
        let call = ToolCall { arguments: input.to_string(), ..repaired.call };
        match settle(&call, &self.catalog, rail_repair::End::Closed) {
            Ok(Settled { call, arguments, .. }) => {
                Ok(Repaired { call, arguments, problems: Vec::new(), ..repaired })
            }
            Err(fault) => {
                let why = self.told(fault);
                Err(Stopped::refused(format!("{by} changed this call to one that can't be run: {why}")))
            }
        }
    }

    fn validate(&self, hooked: Repaired) -> Result<Valid, Stopped> {
        let Repaired { tool, call, arguments, problems, say } = hooked;
        if !problems.is_empty() {
            let settled = Box::new(Settled { call, arguments, repairs: Vec::new() });
            return Err(Stopped::refused(self.told(CallFault::Invalid { settled, problems })));
        }
        match tool.admit(arguments.clone()) {
            Ok(admitted) => Ok(Valid { tool, call, arguments, admitted, say }),
            Err(InputFault { path, what }) => {
                let name = tool.card().name;
                let fault = InputFault { path: self.parameter(name, &path), what };
                let name = self.spoken.tool(name);
                Err(Stopped::refused(format!("the arguments of `{name}` do not fit: {fault}")))
            }
        }
    }

    /// Runs the tool, so that a panic is a result, and gives it a moment to end when it is cancelled.
    async fn run_tool(
        &self,
        permitted: Permitted,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> (HookedCall, Result<Made, Stopped>) {
        let Permitted { tool, arguments, admitted, grant } = permitted;
        let card = tool.card();
        let seen =
            HookedCall { id: call.id.as_str().to_owned(), tool: card.name.to_owned(), input: arguments };
        if cancel.is_cancelled() {
            return (seen, Err(Stopped::cancelled()));
        }
        let runs = card.level == Level::Execute || shape::runs(&grant);
        let shape = if runs { shape::of(&self.session, &grant) } else { rail_sandbox::Shape::Free };
        let absent = runs.then(|| Absent::before(&self.session, &grant));
        let (watch, id) = (Arc::clone(&self.watch), seen.id.clone());
        let progress = Progress(Arc::new(move |text| {
            watch.event(ToolEvent::Progress { id: id.clone(), text: text.to_owned() });
        }));
        let token = cancel.child_token();
        let person =
            Person { id: seen.id.clone(), asks: Arc::clone(&self.asks), wants_plan: self.is_planning() };
        let cx = ToolCx::new(grant, Arc::clone(&self.session), shape, progress, token, person);
        // What writes waits for what writes in other agents of this workspace.
        let writes = card.lane == Lane::Exclusive && matches!(card.level, Level::Write | Level::Execute);
        let _writing = match writes {
            true => Some(tokio::select! {
                writing = self.session.writing() => writing,
                () = cancel.cancelled() => return (seen, Err(Stopped::cancelled())),
            }),
            false => None,
        };
        // Not in a task of its own: another thread would take that up, and had to be woken first. It ends when it is dropped, so
        // nothing runs on that nobody waits for.
        let ended = tokio::select! {
            ended = caught(admitted.run(cx)) => Some(ended),
            () = cancelled_for(cancel, GRACE) => None,
        };
        let names = self.spoken.names(card.name);
        let ran = match ended {
            Some(Ok(Ok(output))) => {
                let mut made = Made::of(output, &names);
                made.parts.extend(self.explained(tool.as_ref()).map(Part::text));
                Ok(made)
            }
            // What the tool says of its end is more than we know: how far it was, what it had printed.
            Some(Ok(Err(fault))) if cancel.is_cancelled() => {
                Err(Stopped { end: End::Cancelled, say: fault.say.in_names(&names), cause: fault.cause })
            }
            Some(Ok(Err(fault))) => {
                let explained =
                    self.explained(tool.as_ref()).map(|how| format!("\n{how}")).unwrap_or_default();
                let say = fault.say.in_names(&names) + &explained;
                Err(Stopped { end: End::Failed, say, cause: fault.cause })
            }
            Some(Err(panic)) => Err(Stopped::crashed(self.spoken.tool(card.name), panic)),
            None => Err(Stopped::cancelled()),
        };
        let ran = with_context(ran, absent.and_then(Absent::told));
        (seen, ran)
    }

    /// A tool that was declared in short is explained when it is first used, whether that went well or not.
    fn explained(&self, tool: &dyn AnyTool) -> Option<String> {
        let card = tool.card();
        let first = card.shown == Shown::Brief && self.session.services.get::<Explained>().first(card.name);
        first.then(|| {
            let mut prompt = card.prompt.trim_end().to_owned();
            for (name, meaning) in take_meanings(&mut tool.schema()) {
                prompt.push_str(&format!("\n- `{name}`: {meaning}"));
            }
            let prompt = self.session.limits.told(&prompt);
            let (name, prompt) = (self.spoken.tool(card.name), self.spoken.renamed(&prompt, card.name));
            format!("How `{name}` is used:\n{prompt}")
        })
    }

    async fn after_hooks(
        &self,
        seen: HookedCall,
        call: &ToolCall,
        ran: Result<Made, Stopped>,
        cancel: &CancellationToken,
    ) -> Result<Made, Stopped> {
        let outcome = match &ran {
            Ok(output) => Outcome {
                end: End::Done,
                parts: output.parts.clone(),
                ..super::of(call.clone(), Vec::new(), Duration::ZERO)
            },
            Err(stopped) => Outcome {
                end: stopped.end,
                parts: vec![Part::text(stopped.say.clone())],
                ..super::of(call.clone(), Vec::new(), Duration::ZERO)
            },
        };
        let said = tokio::select! {
            said = self.hooks.after(&seen, &outcome) => said,
            () = cancelled_for(cancel, GRACE) => None,
        };
        with_context(ran, said)
    }
}

/// The result with what is added for the model.
fn with_context(ran: Result<Made, Stopped>, said: impl IntoIterator<Item = String>) -> Result<Made, Stopped> {
    said.into_iter().fold(ran, |ran, said| match ran {
        Ok(mut made) => {
            made.parts.push(Part::text(said));
            Ok(made)
        }
        Err(stopped) => Err(Stopped { say: format!("{}\n{said}", stopped.say), ..stopped }),
    })
}

impl Stopped {
    fn refused(say: String) -> Self {
        Self { end: End::Refused, say, cause: None }
    }

    fn hooked(why: &str) -> Self {
        Self { end: End::Hooked, say: format!("a hook refused this call: {why}"), cause: None }
    }

    fn cancelled() -> Self {
        let say = "the call was cancelled before it was done; what it had changed until then is not undone";
        Self { end: End::Cancelled, say: say.to_owned(), cause: None }
    }

    fn crashed(tool: &str, cause: String) -> Self {
        let say =
            format!("`{tool}` broke off, which is a fault of the tool and not of the call; try another way");
        Self { end: End::Crashed, say, cause: Some(cause) }
    }
}

/// The tools that were explained in this session.
#[derive(Default)]
struct Explained(std::sync::Mutex<std::collections::BTreeSet<String>>);

impl Explained {
    fn first(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name.to_owned())
    }
}

async fn cancelled_for(cancel: &CancellationToken, grace: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(grace).await;
}

/// Whether a name is one of an MCP server's tool.
fn is_foreign(name: &str) -> bool {
    name.starts_with("mcp__")
}
