//! How a task ends: whether it failed, and what a program is told by the exit status.

use anyhow::anyhow;
use rail_proto::{Done, Reason};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_was_asked_about_is_a_failure() {
        let done = Done { denials: vec![("one".to_owned(), "say --allow".to_owned())], ..Done::default() };
        assert!(failed(&done));
        assert_eq!(errors(&done).as_deref(), Some("not everything was allowed:\none: say --allow"));
        assert!(!failed(&Done::default()) && errors(&Done::default()).is_none());
    }
}
