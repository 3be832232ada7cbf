//! Hostile commands, damaged further, in a real bash: whatever it runs was seen. The programs only write down their calls, nothing
//! in the commands names a place outside, and all of it runs in the sandbox.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rail_permit::shell::{danger, read};

use crate::differential::{Ground, SIGNS, covers, damage, has_unknown_program, shown, wanted};
use crate::hostile_table::HOSTILE;

/// Spellings of what must not be meant, and what takes their place: `rq` is nobody's program, `_` nobody's root.
const DEFUSED: &[(&str, &str)] = &[
    ("rm", "rq"),
    ("r''m", "r''q"),
    ("r\\m", "r\\q"),
    ("r\\\nm", "r\\\nq"),
    ("\"r\"m", "\"r\"q"),
    ("\\x72m", "\\x72q"),
    ("\\162\\155", "\\162\\161"),
    ("\\x6d", "\\x71"),
    ("{r,}m", "{r,}q"),
    ("\\u002f", "\\u005f"),
    ("/", "_"),
    ("..", "_"),
    ("kill", "quell"),
];

/// Commands with these are left alone: they end by themselves only when their time is over, make processes without end, delete what
/// is around them, wait for a person, or say `{}` where another word will stand.
const LEFT_ALONE: &[&str] = &["while ", "()", "function ", "-delete", " -i ", "{}", "-I"];

/// Programs that the commands run, besides those of the table's own lists.
const OTHERS: &[&str] =
    &["curl", "wget", "which", "tee", "python3", "perl", "base64", "jq", "git", "npm", "docker"];

/// The table's commands that can do no harm any more.
fn harmless() -> Vec<String> {
    let left = HOSTILE.iter().filter(|(command, _, _)| !LEFT_ALONE.iter().any(|word| command.contains(word)));
    left.map(|(command, _, _)| defused(command)).collect()
}

fn defused(command: &str) -> String {
    DEFUSED.iter().fold((*command).to_owned(), |text, (from, to)| text.replace(from, to))
}

#[test]
fn nothing_that_is_run_could_harm() {
    for command in harmless() {
        assert!(!["rm", "/", "..", "kill"].iter().any(|word| command.contains(word)), "{command}");
    }
}

fn ground(name: &str) -> Option<Ground> {
    let ground = Ground::confined(name)?;
    let of_table = HOSTILE.iter().flat_map(|(_, commands, _)| commands.iter());
    let programs = of_table.filter_map(|command| command.split(' ').next()).map(defused);
    let is_name =
        |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    programs
        .filter(is_name)
        .chain(OTHERS.iter().map(|name| (*name).to_owned()))
        .for_each(|name| ground.add(&name));
    Some(ground)
}

/// What bash ran of a command; an error if something of it was neither seen nor always asked about.
fn run(ground: &Ground, command: &str) -> Result<Vec<Vec<String>>, String> {
    let Ok(seen) = read(command) else { return Ok(Vec::new()) };
    let calls = ground.calls(command);
    // Without a command `xargs` prints what it reads.
    let prints =
        seen.commands.iter().any(|simple| simple.words.iter().any(|word| word.literal() == Some("xargs")));
    let unseen = calls
        .iter()
        .find(|call| !(covers(&seen, call) || has_unknown_program(&seen) || (prints && call[0] == "echo")));
    match unseen {
        Some(call) if danger(&seen, None).is_empty() => {
            Err(format!("bash ran {call:?}, which was not seen in:\n{command}\n{}", shown(&seen)))
        }
        Some(_) | None => Ok(calls),
    }
}

#[test]
fn whatever_bash_runs_of_hostile_commands_is_seen() {
    let Some(ground) = ground("hostile") else { return };
    let commands = harmless();
    let mut reached = 0;
    for command in &commands {
        let calls = run(&ground, command).unwrap_or_else(|unseen| panic!("{unseen}"));
        reached += usize::from(calls.iter().any(|call| call[0] == "rq"));
    }
    assert!(reached > 100, "bash reached what was meant in {reached} of {} commands", commands.len());
}

#[test]
fn whatever_bash_runs_of_damaged_hostile_commands_is_seen() {
    let Some(ground) = ground("hostile-damaged") else { return };
    let edit = (any::<prop::sample::Index>(), prop::sample::select(SIGNS), 0..3_usize);
    let damaged = (prop::sample::select(harmless()), prop::collection::vec(edit, 1..4));
    let damaged = damaged.prop_map(|(command, edits)| {
        edits.iter().fold(command, |command, (at, sign, removed)| {
            damage(&command, at.index(command.chars().count() + 1), sign, *removed)
        })
    });
    let ran = std::cell::Cell::new(0);
    let cases = 250.max(wanted());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&damaged, |command| {
        let calls = run(&ground, &command).map_err(TestCaseError::fail)?;
        ran.set(ran.get() + usize::from(!calls.is_empty()));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(ran.get() > 25, "bash ran something in only {} of {cases} commands", ran.get());
}
