//! The stages of a call. Each takes what the one before gave, by types that nobody else can make: none can be left out.

use std::sync::Arc;
use std::time::Duration;

use rail_model::ToolCall;
use rail_permit::{Answered, Asked, Grant, Level, Question, Scope, Verdict, judge};
use rail_repair::{CallFault, Found, Problem, Repair, Settled, settle};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Executor, truncate::truncate};
use crate::{
    Admitted, AnyTool, Disk, End, FacetCx, HookSay, HookedCall, Outcome, Progress, Shown, ToolCx, ToolEvent,
    ToolOutput, shape,
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

impl Executor {
    pub(super) async fn stages(
        &self,
        call: &ToolCall,
        cancel: &CancellationToken,
        repairs: &mut Vec<Repair>,
    ) -> Result<ToolOutput, Stopped> {
        let looked = self.lookup(call)?;
        let repaired = self.repair(looked, call, repairs)?;
        let hooked = self.before_hooks(repaired, cancel).await?;
        let valid = self.validate(hooked)?;
        let permitted = self.permission(valid, call, cancel).await?;
        let (seen, ran) = self.run_tool(permitted, call, cancel).await;
        let ran = self.after_hooks(seen, call, ran).await;
        ran.map(|output| truncate(output, call, &self.session))
    }

    fn lookup(&self, call: &ToolCall) -> Result<Looked, Stopped> {
        let closest = match self.catalog.find(&call.name) {
            Found::Tool(found, _) => match self.registry.get(&found.name) {
                Some(tool) => return Ok(Looked { tool: Arc::clone(tool) }),
                None => Vec::new(),
            },
            Found::Unknown(closest) => closest,
        };
        Err(Stopped::refused(CallFault::Unknown { name: call.name.clone(), closest }.to_string()))
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
                return Err(Stopped::refused(fault.to_string()));
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
    ) -> Result<Repaired, Stopped> {
        let call = HookedCall {
            id: repaired.call.id.as_str().to_owned(),
            tool: repaired.tool.card().name.to_owned(),
            input: repaired.arguments.clone(),
        };
        let before = tokio::select! {
            before = self.hooks.before(&call) => before,
            () = cancel.cancelled() => return Err(Stopped::cancelled()),
        };
        if let Some(HookSay::Deny(why)) = before.say {
            return Err(Stopped {
                end: End::Hooked,
                say: format!("a hook refused this call: {why}"),
                cause: None,
            });
        }
        let Some(input) = before.input else { return Ok(Repaired { say: before.say, ..repaired }) };
        let call = ToolCall { arguments: input.to_string(), ..repaired.call };
        match settle(&call, &self.catalog, rail_repair::End::Closed) {
            Ok(Settled { call, arguments, .. }) => {
                Ok(Repaired { call, arguments, problems: Vec::new(), say: before.say, ..repaired })
            }
            Err(fault) => {
                Err(Stopped::refused(format!("a hook changed this call to one that can't be run: {fault}")))
            }
        }
    }

    fn validate(&self, hooked: Repaired) -> Result<Valid, Stopped> {
        let Repaired { tool, call, arguments, problems, say } = hooked;
        if !problems.is_empty() {
            let settled = Box::new(Settled { call, arguments, repairs: Vec::new() });
            return Err(Stopped::refused(CallFault::Invalid { settled, problems }.to_string()));
        }
        match tool.admit(arguments.clone()) {
            Ok(admitted) => Ok(Valid { tool, arguments, admitted, say }),
            Err(fault) => {
                let name = tool.card().name;
                Err(Stopped::refused(format!("the arguments of `{name}` do not fit: {fault}")))
            }
        }
    }

    async fn permission(
        &self,
        valid: Valid,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Permitted, Stopped> {
        let Valid { tool, arguments, admitted, say } = valid;
        let card = tool.card();
        let cwd = self.session.cwd();
        let facets = admitted.facets(&FacetCx { cwd: &cwd, home: self.session.home.as_deref() });
        let asked = Asked { tool: card.name, level: card.level, facets: &facets };
        let grant = match judge(&self.policy(), &asked, &Disk) {
            Verdict::Deny(denial) => return Err(Stopped { end: End::Denied, say: denial.say, cause: None }),
            Verdict::Allow(grant) => match say {
                Some(HookSay::Ask(why)) => self.ask(Question::by_hook(grant, &why), call, cancel).await?,
                Some(HookSay::Allow | HookSay::Deny(_)) | None => grant,
            },
            Verdict::Ask(question) => match say {
                Some(HookSay::Allow) if !question.always_asks => question.granted_by("a hook allowed it"),
                Some(HookSay::Allow | HookSay::Ask(_) | HookSay::Deny(_)) | None => {
                    self.ask(question, call, cancel).await?
                }
            },
        };
        Ok(Permitted { tool, arguments, admitted, grant })
    }

    async fn ask(
        &self,
        question: Question,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Grant, Stopped> {
        let id = call.id.as_str();
        self.watch.event(ToolEvent::Asked { id: id.to_owned(), question: question.clone() });
        let answer = tokio::select! {
            answer = self.asks.ask(id, &question) => answer,
            () = cancel.cancelled() => return Err(Stopped::cancelled()),
        };
        match question.answer(answer) {
            Answered::Denied(denial) => Err(Stopped { end: End::Denied, say: denial.say, cause: None }),
            Answered::Granted(grant, None) => Ok(grant),
            Answered::Granted(grant, Some((rules, scope))) => {
                if scope == Scope::Always
                    && let Err(why) = self.asks.keep(&rules)
                {
                    let text =
                        format!("this is allowed for this session only, since it could not be kept: {why}");
                    self.watch.event(ToolEvent::Progress { id: id.to_owned(), text });
                }
                self.change_policy(|policy| policy.rules.allow.extend(rules));
                Ok(grant)
            }
        }
    }

    /// Runs the tool in a task of its own, so that a panic is a result, and gives it a moment to end when it is cancelled.
    async fn run_tool(
        &self,
        permitted: Permitted,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> (HookedCall, Result<ToolOutput, Stopped>) {
        let Permitted { tool, arguments, admitted, grant } = permitted;
        let card = tool.card();
        let seen =
            HookedCall { id: call.id.as_str().to_owned(), tool: card.name.to_owned(), input: arguments };
        if cancel.is_cancelled() {
            return (seen, Err(Stopped::cancelled()));
        }
        let shape = if card.level == Level::Execute || shape::runs(&grant) {
            shape::of(&self.session, &grant)
        } else {
            rail_sandbox::Shape::Free
        };
        let (watch, id) = (Arc::clone(&self.watch), seen.id.clone());
        let progress = Progress(Arc::new(move |text| {
            watch.event(ToolEvent::Progress { id: id.clone(), text: text.to_owned() });
        }));
        let token = cancel.child_token();
        let cx = ToolCx::new(grant, Arc::clone(&self.session), shape, progress, token);
        // The set ends its task when it is dropped: nothing runs on that nobody waits for.
        let mut task = JoinSet::new();
        task.spawn(admitted.run(cx));
        let joined = tokio::select! {
            joined = task.join_next() => joined,
            () = cancelled_for(cancel, GRACE) => {
                task.abort_all();
                None
            }
        };
        let ran = match joined {
            Some(Ok(Ok(mut output))) => {
                output.parts.extend(self.explained(tool.as_ref()).map(rail_model::Part::text));
                Ok(output)
            }
            // What the tool says of its end is more than we know: how far it was, what it had printed.
            Some(Ok(Err(fault))) if cancel.is_cancelled() => {
                Err(Stopped { end: End::Cancelled, say: fault.say, cause: fault.cause })
            }
            Some(Ok(Err(fault))) => {
                let explained =
                    self.explained(tool.as_ref()).map(|how| format!("\n{how}")).unwrap_or_default();
                Err(Stopped { end: End::Failed, say: fault.say + &explained, cause: fault.cause })
            }
            None if cancel.is_cancelled() => Err(Stopped::cancelled()),
            Some(Err(error)) => Err(Stopped::crashed(card.name, error.to_string())),
            None => Err(Stopped::crashed(card.name, "it ended without a result".to_owned())),
        };
        (seen, ran)
    }

    /// A tool that was declared in short is explained when it is first used, whether that went well or not.
    fn explained(&self, tool: &dyn AnyTool) -> Option<String> {
        let card = tool.card();
        let first = card.shown == Shown::Brief && self.session.services.get::<Explained>().first(card.name);
        first.then(|| format!("How `{}` is used:\n{}", card.name, card.prompt.trim_end()))
    }

    async fn after_hooks(
        &self,
        seen: HookedCall,
        call: &ToolCall,
        ran: Result<ToolOutput, Stopped>,
    ) -> Result<ToolOutput, Stopped> {
        let outcome = match &ran {
            Ok(output) => Outcome {
                end: End::Done,
                parts: output.parts.clone(),
                ..super::of(call.clone(), Vec::new(), Duration::ZERO)
            },
            Err(stopped) => Outcome {
                end: stopped.end,
                parts: vec![rail_model::Part::text(stopped.say.clone())],
                ..super::of(call.clone(), Vec::new(), Duration::ZERO)
            },
        };
        let Some(said) = self.hooks.after(&seen, &outcome).await else { return ran };
        match ran {
            Ok(mut output) => {
                output.parts.push(rail_model::Part::text(said));
                Ok(output)
            }
            Err(stopped) => Err(Stopped { say: format!("{}\n{said}", stopped.say), ..stopped }),
        }
    }
}

impl Stopped {
    fn refused(say: String) -> Self {
        Self { end: End::Refused, say, cause: None }
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
struct Explained(std::sync::Mutex<std::collections::BTreeSet<&'static str>>);

impl Explained {
    fn first(&self, name: &'static str) -> bool {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(name)
    }
}

async fn cancelled_for(cancel: &CancellationToken, grace: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(grace).await;
}
