//! Which error a client is told when no target answered.

use rail_model::{ApiError, ErrorKind};
use rail_route::{Plan, Target};

use crate::failure::Class;

/// How the visit of one target ended without an answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Miss {
    pub(crate) target: Target,
    pub(crate) class: Class,
    pub(crate) error: ApiError,
}

/// The error that helps a client most: its own mistake if all say so, what makes it compact, what makes it wait.
pub(crate) fn verdict(plan: &Plan, misses: &[Miss]) -> ApiError {
    let Some((last, _)) = misses.split_last() else { return nobody(plan) };
    if misses.iter().all(|miss| is_request(&miss.class)) {
        return misses.first().unwrap_or(last).error.clone();
    }
    // No larger window was left to try, or those that were did not suffice either.
    if last.class == Class::TooLong || misses.len() == 1 {
        return last.error.clone();
    }
    let chosen = passing(misses)
        .or_else(|| misses.iter().find(|miss| is_request(&miss.class)).map(|miss| &miss.error));
    let chosen = chosen.unwrap_or(&last.error);
    // What one provider said is not what all of them said: it would hide the others.
    ApiError { message: listing(misses), said: None, code: None, param: None, ..chosen.clone() }
}

/// The failure that will pass first: clients wait for it and ask again.
fn passing(misses: &[Miss]) -> Option<&ApiError> {
    let passing =
        || misses.iter().filter(|miss| matches!(miss.class, Class::Passing { .. })).map(|miss| &miss.error);
    let other = passing().rfind(|error| error.kind != ErrorKind::RateLimited);
    // A time that was not named is the shortest: nobody said that it is long.
    other.or_else(|| passing().min_by_key(|error| error.retry_after))
}

fn is_request(class: &Class) -> bool {
    match class {
        Class::Request | Class::Fixable(_) => true,
        Class::Passing { .. } | Class::Stale | Class::Target | Class::TooLong => false,
    }
}

fn listing(misses: &[Miss]) -> String {
    let lines = misses.iter().map(|Miss { target, error, .. }| {
        let said: String = error.message.lines().next().unwrap_or_default().chars().take(300).collect();
        format!("\n- {target}: {} ({})", said, error.status)
    });
    format!("no target answered:{}", lines.collect::<String>())
}

fn nobody(plan: &Plan) -> ApiError {
    let skipped = plan.skipped.iter().map(|skipped| format!("\n- {}: {}", skipped.target, skipped.why));
    let skipped: String = skipped.collect();
    let asked = &plan.asked;
    let message = if skipped.is_empty() {
        format!("no target is configured for `{asked}`; add one under [router], or ask for `provider,model`")
    } else {
        format!("no target can serve `{asked}`:{skipped}")
    };
    ApiError::new(ErrorKind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rail_route::Skipped;

    use super::*;

    fn plan(skipped: Vec<Skipped>) -> Plan {
        let why = String::new();
        Plan { asked: "m".to_owned(), virtual_model: None, why, estimated: 0, attempts: Vec::new(), skipped }
    }

    fn miss(name: &str, kind: ErrorKind) -> Miss {
        let error = ApiError { code: Some("c".to_owned()), ..ApiError::new(kind, format!("{name} said no")) };
        let class = match kind {
            ErrorKind::InvalidRequest => Class::Request,
            ErrorKind::ContextLength => Class::TooLong,
            ErrorKind::Authentication => Class::Target,
            _ => Class::Passing { retry_after: None },
        };
        Miss { target: Target::new(name, "m"), class, error }
    }

    fn busy(name: &str, seconds: Option<u64>) -> Miss {
        let mut miss = miss(name, ErrorKind::RateLimited);
        miss.error.retry_after = seconds.map(Duration::from_secs);
        miss
    }

    #[test]
    fn the_error_that_helps_most() {
        use ErrorKind as K;
        let table: &[(&str, Vec<Miss>, K, &str)] = &[
            (
                "all call it invalid",
                vec![miss("a", K::InvalidRequest), miss("b", K::InvalidRequest)],
                K::InvalidRequest,
                "a said no",
            ),
            ("one only", vec![miss("a", K::Server)], K::Server, "a said no"),
            (
                "too long at the end",
                vec![miss("a", K::Server), miss("b", K::ContextLength)],
                K::ContextLength,
                "b said no",
            ),
            (
                "a larger one was busy",
                vec![miss("a", K::ContextLength), miss("b", K::Overloaded)],
                K::Overloaded,
                "no target answered:\n- a,m: a said no (400)\n- b,m: b said no (503)",
            ),
            (
                "waiting may help, a wrong key will not",
                vec![miss("a", K::Overloaded), miss("b", K::Authentication)],
                K::Overloaded,
                "no target answered:\n- a,m: a said no (503)\n- b,m: b said no (401)",
            ),
            (
                "the one that could be asked found it invalid",
                vec![miss("a", K::InvalidRequest), miss("b", K::Authentication)],
                K::InvalidRequest,
                "no target answered:\n- a,m: a said no (400)\n- b,m: b said no (401)",
            ),
            (
                "none can be used",
                vec![miss("a", K::Authentication), miss("b", K::Authentication)],
                K::Authentication,
                "no target answered:\n- a,m: a said no (401)\n- b,m: b said no (401)",
            ),
        ];
        for (about, misses, kind, message) in table {
            let error = verdict(&plan(Vec::new()), misses);
            assert_eq!((error.kind, error.message.as_str()), (*kind, *message), "{about}");
        }
    }

    #[test]
    fn when_all_are_busy_the_shortest_wait_counts() {
        let wait =
            |misses: &[Miss]| verdict(&plan(Vec::new()), misses).retry_after.map(|wait| wait.as_secs());
        assert_eq!(wait(&[busy("a", Some(30)), busy("b", Some(9)), busy("c", Some(60))]), Some(9));
        assert_eq!(wait(&[busy("a", Some(30)), busy("b", None)]), None);
        assert_eq!(wait(&[busy("a", Some(30)), miss("b", ErrorKind::Server)]), None);
    }

    #[test]
    fn a_plan_without_targets_says_why() {
        let error = verdict(&plan(Vec::new()), &[]);
        assert_eq!((error.kind, error.status), (ErrorKind::NotFound, 404));
        let skipped = Skipped { target: Target::new("p", "x"), why: "no key".to_owned() };
        assert_eq!(verdict(&plan(vec![skipped]), &[]).message, "no target can serve `m`:\n- p,x: no key");
    }
}
