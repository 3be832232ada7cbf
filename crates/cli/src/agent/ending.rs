//! How a task ends: whether it failed, and what a program is told by the exit status.

use std::collections::BTreeSet;

use anyhow::anyhow;
use rail_proto::{Done, Finish, Reason, SessionEvent};

use crate::Failure;

/// Whether a task failed. One that was answered did if a call was not allowed that nobody was asked about: what it was to do is not
/// all done, and a rule would have let it. What somebody was asked about and refused is as they wanted it.
pub(crate) fn failed(done: &Done) -> bool {
    done.reason != Reason::Answered || !done.denials.is_empty()
}

/// What a task failed of, in words; nothing where it did not.
pub(crate) fn errors(done: &Done) -> Option<String> {
    match done.reason {
        Reason::Answered if done.denials.is_empty() => None,
        Reason::Answered => {
            let denials = done.denials.iter().map(|(tool, way)| format!("{tool}: {way}"));
            Some(format!("not everything was allowed:\n{}", denials.collect::<Vec<_>>().join("\n")))
        }
        Reason::Interrupted | Reason::TurnLimit | Reason::Budget | Reason::Refused | Reason::Failed => {
            Some(done.text.clone())
        }
    }
}

/// The end as an exit code.
pub(crate) fn code(done: &Done) -> Result<(), Failure> {
    match (done.reason, errors(done)) {
        (Reason::Interrupted, _) => Err(Failure::Interrupted),
        (_, Some(why)) => Err(Failure::Task(anyhow!(why))),
        (_, None) => Ok(()),
    }
}

/// Which calls of a task somebody was asked about and refused.
#[derive(Default)]
pub(crate) struct Refusals {
    /// The calls that were refused.
    refused: BTreeSet<String>,
    /// Of each call that was not allowed, in order, whether it is one of them.
    denied: Vec<bool>,
}

impl Refusals {
    /// Somebody was asked about this call, and refused it.
    pub(crate) fn refuse(&mut self, call: &str) {
        self.refused.insert(call.to_owned());
    }

    /// Leaves of the denials of a task those that nobody was asked about.
    pub(crate) fn sort(&mut self, event: &mut SessionEvent) {
        match event {
            SessionEvent::ToolEnd(end) if end.end == Finish::Denied => {
                let refused = self.refused.remove(end.result.id.as_str());
                self.denied.push(refused);
            }
            SessionEvent::Done(done) => {
                let mut refused = std::mem::take(&mut self.denied).into_iter();
                done.denials.retain(|_| !refused.next().unwrap_or(false));
                self.refused.clear();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, ToolResult};
    use rail_proto::ToolEnd;

    use super::*;

    fn denied(id: &str) -> SessionEvent {
        let result = ToolResult {
            id: CallId::Given(id.to_owned()),
            name: None,
            content: Vec::new(),
            is_error: Some(true),
            kind: CallKind::Function,
        };
        SessionEvent::ToolEnd(ToolEnd {
            step: 1,
            result,
            success: false,
            end: Finish::Denied,
            shown: None,
            duration_ms: 0,
        })
    }

    #[test]
    fn what_somebody_refused_is_no_failure() {
        let mut refusals = Refusals::default();
        refusals.refuse("b");
        let way = |tool: &str| (tool.to_owned(), "say --allow".to_owned());
        for call in ["a", "b"] {
            refusals.sort(&mut denied(call));
        }
        let mut event = SessionEvent::Done(Done { denials: vec![way("one"), way("two")], ..Done::default() });
        refusals.sort(&mut event);
        let SessionEvent::Done(done) = event else { panic!("{event:?}") };
        assert_eq!(done.denials, [way("one")]);
        assert!(failed(&done));
        assert_eq!(errors(&done).as_deref(), Some("not everything was allowed:\none: say --allow"));
        assert!(!failed(&Done::default()) && errors(&Done::default()).is_none());
    }
}
