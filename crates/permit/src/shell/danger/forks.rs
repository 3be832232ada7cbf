use std::collections::{BTreeMap, BTreeSet};

use super::super::{Simple, program_name};
use super::{Finding, Seen, ask, refuse};

/// A function that starts itself again and again, side by side.
pub(super) fn bomb(seen: &Seen<'_>) -> Option<Finding> {
    let own = seen.simple.place.functions.last()?;
    let calls = calls(&seen.script.commands);
    let again = |simple: &Simple| {
        simple.words.first().and_then(program_name).is_some_and(|called| reaches(&calls, called, own))
    };
    if !again(seen.simple) {
        return None;
    }
    let piped =
        seen.simple.place.piped_from.and_then(|from| seen.script.commands.get(from)).is_some_and(again);
    (seen.simple.place.background || piped)
        .then(|| refuse(format!("is a fork bomb: `{own}` starts itself side by side")))
        .flatten()
}

/// Which functions call which.
fn calls(commands: &[Simple]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for simple in commands {
        if let (Some(from), Some(to)) =
            (simple.place.functions.last(), simple.words.first().and_then(program_name))
        {
            calls.entry(from).or_default().insert(to);
        }
    }
    calls
}

fn reaches(calls: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        if next == to {
            return true;
        }
        if seen.insert(next) {
            open.extend(calls.get(next).into_iter().flatten());
        }
    }
    false
}

/// Signals to everything.
pub(super) fn signals(seen: &Seen<'_>) -> Option<Finding> {
    match seen.program {
        "kill" => {
            // The first `-1` may be a signal; as a process it is all of them.
            let mut words = seen.literals().skip_while(|word| {
                matches!(
                    *word,
                    "-9" | "-KILL" | "-SIGKILL" | "-TERM" | "-15" | "-s" | "-n" | "KILL" | "9" | "--"
                )
            });
            let first = seen.literals().next();
            let all = words.any(|word| word == "-1") && first != Some("-1")
                || seen.literals().filter(|word| *word == "-1").count() > 1;
            all.then(|| ask("ends every process")).flatten()
        }
        "killall" | "killall5" => ask("ends processes by their name, whose ever they are"),
        "pkill"
            if seen
                .literals()
                .any(|word| matches!(word, "-9" | "-KILL" | "-SIGKILL" | "-f" | "-u" | "--signal")) =>
        {
            ask("ends processes by a pattern")
        }
        _ => None,
    }
}
