//! Whether a call may be done: the policy's verdict, a hook's answer, the user's.

use std::sync::atomic::{AtomicBool, Ordering};

use rail_permit::{Answer, Answered, Asked, Facet, Grant, Question, Scope, Verdict, judge};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Permitted, Repaired, Stopped, Valid};
use crate::{Confine, Disk, End, Executor, HookAnswer, HookSay, HookedCall, Reply, ToolEvent};

impl Executor {
    pub(super) async fn permission(
        &self,
        valid: Valid,
        cancel: &CancellationToken,
    ) -> Result<Permitted, Stopped> {
        let question = match self.leave(&valid)? {
            Leave::Given(grant) => return Ok(valid.permitted(grant)),
            Leave::Asked(question) => question,
        };
        let seen = valid.seen();
        let answer = tokio::select! {
            answer = self.hooks.asked(&seen, &question) => answer,
            () = cancel.cancelled() => return Err(Stopped::cancelled()),
        };
        let (valid, leave) = match answer {
            None => (valid, Leave::Asked(question)),
            Some(HookAnswer::Deny(why)) => return Err(Stopped::hooked(&why)),
            Some(HookAnswer::Allow(None)) => (valid, Leave::by_hook(question)),
            Some(HookAnswer::Allow(Some(input))) => {
                let valid = self.changed(valid, &input, "a hook")?;
                let leave = self.leave(&valid)?;
                (valid, leave)
            }
        };
        match leave {
            Leave::Given(grant) => Ok(valid.permitted(grant)),
            Leave::Asked(question) => self.ask(valid, question, cancel).await,
        }
    }

    /// The call with another input, to be judged anew; whoever gave it wants it done.
    fn changed(&self, valid: Valid, input: &Value, by: &str) -> Result<Valid, Stopped> {
        let Valid { tool, call, arguments, .. } = valid;
        let (problems, say) = (Vec::new(), Some(HookSay::Allow));
        let before = Repaired { tool, call, arguments, problems, say };
        self.validate(self.with_input(before, input, by)?)
    }

    /// What the policy and the hooks before the call come to.
    fn leave(&self, valid: &Valid) -> Result<Leave, Stopped> {
        let card = valid.tool.card();
        let cwd = self.session.cwd();
        let facets = valid.admitted.facets(&self.session.facet_cx(&cwd));
        let asked = Asked { tool: card.name, level: card.level, facets: &facets };
        match judge(&self.policy(), &asked, &Disk) {
            Verdict::Deny(denial) => Err(Stopped { end: End::Denied, say: denial.say, cause: None }),
            Verdict::Allow(grant) => Ok(match &valid.say {
                Some(HookSay::Ask(why)) => Leave::Asked(Question::by_hook(grant, why)),
                Some(HookSay::Allow | HookSay::Deny(_)) | None => Leave::Given(grant),
            }),
            Verdict::Ask(question) => Ok(match &valid.say {
                Some(HookSay::Allow) => Leave::by_hook(question),
                Some(HookSay::Ask(_) | HookSay::Deny(_)) | None => Leave::Asked(question),
            }),
        }
    }

    async fn ask(
        &self,
        valid: Valid,
        mut question: Question,
        cancel: &CancellationToken,
    ) -> Result<Permitted, Stopped> {
        let seen = valid.seen();
        question.note = self.unconfined(&question);
        self.watch.event(ToolEvent::Asked { id: seen.id.clone(), question: question.clone() });
        let reply = tokio::select! {
            reply = self.asks.ask(&seen, &question) => reply,
            () = cancel.cancelled() => return Err(Stopped::cancelled()),
        };
        match reply {
            Reply::Answer(answer) => {
                let grant = self.answered(question, answer, &seen.id)?;
                Ok(valid.permitted(grant))
            }
            Reply::Changed(input) => {
                let valid = self.changed(valid, &input, "the user")?;
                let grant = match self.leave(&valid)? {
                    Leave::Given(grant) => grant,
                    // It is this very call that was allowed, also where it always asks.
                    Leave::Asked(question) => self.answered(question, Answer::Once, &seen.id)?,
                };
                Ok(valid.permitted(grant))
            }
        }
    }

    /// That commands can't be confined here as they should be; it is said with the first question about one.
    fn unconfined(&self, question: &Question) -> Option<String> {
        let runs = question.facets.iter().any(|facet| matches!(facet, Facet::Exec(_)));
        if !runs || self.session.confine == Confine::Off {
            return None;
        }
        let lacks = match &self.session.support {
            Some(support) => support.lacks(),
            None => rail_sandbox::support().lacks(),
        }?;
        let said = self.session.services.get::<Said>().0.swap(true, Ordering::Relaxed);
        (!said).then_some(lacks)
    }

    fn answered(&self, question: Question, answer: Answer, id: &str) -> Result<Grant, Stopped> {
        let end = if matches!(answer, Answer::No(_)) { End::Rejected } else { End::Denied };
        match question.answer(answer) {
            Answered::Denied(denial) => Err(Stopped { end, say: denial.say, cause: None }),
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
}

/// Whether it was said in this session what the system can't do.
#[derive(Default)]
struct Said(AtomicBool);

/// Leave to do a call, or the question that it takes.
enum Leave {
    Given(Grant),
    Asked(Question),
}

impl Leave {
    /// What a hook's leave makes of a question.
    fn by_hook(question: Question) -> Self {
        if question.always_asks {
            Self::Asked(question)
        } else {
            Self::Given(question.granted_by("a hook allowed it"))
        }
    }
}

impl Valid {
    /// The call as hooks and whoever is asked see it.
    fn seen(&self) -> HookedCall {
        HookedCall {
            id: self.call.id.as_str().to_owned(),
            tool: self.tool.card().name.to_owned(),
            input: self.arguments.clone(),
        }
    }

    fn permitted(self, grant: Grant) -> Permitted {
        let Self { tool, arguments, admitted, .. } = self;
        Permitted { tool, arguments, admitted, grant }
    }
}
