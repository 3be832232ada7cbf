//! Commands written to be misread, and everyday ones that must not be.

use rail_permit::shell::{Script, Weight, Word, danger, read};

use crate::everyday_table::EVERYDAY;
use crate::hostile_table::Mark::{Ask, Plain, Refuse, Unclear};
use crate::hostile_table::{HOSTILE, Row};

/// The home folder in these tables.
const HOME: &str = "/srv/people/ann";

#[test]
fn hostile_commands_are_seen_through() {
    assert!(HOSTILE.len() >= 200, "{}", HOSTILE.len());
    let wrong: Vec<String> = HOSTILE.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn everyday_commands_are_understood_exactly() {
    assert!(EVERYDAY.len() >= 60, "{}", EVERYDAY.len());
    let wrong = EVERYDAY.iter().filter_map(|(command, expected)| match read(command) {
        Ok(script) if shown(&script) == *expected => None,
        Ok(script) => Some(format!("{command}\n  is {:?}", shown(&script))),
        Err(unclear) => Some(format!("{command}\n  is unclear: {unclear}")),
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the table is for: cutting at signs, as a simple check would, misses most of these.
#[test]
fn cutting_at_signs_would_miss_most() {
    let naive = |command: &str| -> Vec<String> {
        let pieces = command.split([';', '&', '|', '\n']);
        pieces.map(|piece| piece.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let grave = HOSTILE.iter().filter(|(_, expected, mark)| *mark == Refuse && !expected.is_empty());
    let missed = grave.filter(|(command, expected, _)| {
        expected.iter().any(|expected| !naive(command).contains(&(*expected).to_owned()))
    });
    assert!(missed.count() > 100);
}

fn check((command, expected, mark): &Row) -> Option<String> {
    let script = match (read(command), mark) {
        (Err(_), Unclear) => return None,
        (Err(unclear), Plain | Ask | Refuse) => return Some(format!("{command}\n  is unclear: {unclear}")),
        (Ok(script), _) => script,
    };
    let seen = shown(&script);
    let missing: Vec<_> = expected.iter().filter(|command| !seen.contains(&(**command).to_owned())).collect();
    let weight = danger(&script, Some(HOME)).into_iter().map(|danger| danger.weight).max();
    let found = match weight {
        None => Plain,
        Some(Weight::AlwaysAsk) => Ask,
        Some(Weight::Refuse) => Refuse,
    };
    let right = missing.is_empty() && found == *mark;
    (!right).then(|| format!("{command}\n  is {found:?}, expected {mark:?}; missing {missing:?} of {seen:?}"))
}

fn shown(script: &Script) -> Vec<String> {
    let line = |words: &[Word]| words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    script.commands.iter().map(|simple| line(&simple.words)).collect()
}
