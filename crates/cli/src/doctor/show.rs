//! The list, for people and as JSON.

use std::fmt;
use std::io::{IsTerminal, stdout};

use rail_config::Env;
use serde_json::{Value, json};

use super::check::{Check, State};

/// How states and fixes are marked.
pub(super) struct Marks {
    ok: &'static str,
    warning: &'static str,
    problem: &'static str,
    skipped: &'static str,
    fix: &'static str,
}

const SIGNS: Marks = Marks { ok: "✓", warning: "!", problem: "✗", skipped: "–", fix: "→" };
/// For whoever can't show the others, and for scripts.
const WORDS: Marks = Marks { ok: "ok  ", warning: "warn", problem: "FAIL", skipped: "skip", fix: "fix:" };

impl Marks {
    /// Signs at a terminal that shows UTF-8, words elsewhere.
    pub(super) fn for_output(env: &Env) -> Self {
        if stdout().is_terminal() && is_utf8(env) { SIGNS } else { WORDS }
    }

    fn of(&self, state: State) -> &'static str {
        match state {
            State::Ok => self.ok,
            State::Warning => self.warning,
            State::Problem => self.problem,
            State::Skipped => self.skipped,
        }
    }
}

/// Whether the user's locale writes UTF-8: the first of the three variables that is set counts.
pub(super) fn is_utf8(env: &Env) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.get(name));
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// How wide names are, so that what is said stands in one column.
const NAMES: usize = 14;

/// A group under its title.
pub(super) fn group(title: &str, checks: &[Check], marks: &Marks) -> String {
    let mut out = format!("{title}\n");
    for Check { name, state, says, fix } in checks {
        let mark = marks.of(*state);
        let indent = " ".repeat(2 + mark.chars().count() + 1 + NAMES + 1);
        let mut lines = says.lines();
        let first = lines.next().unwrap_or_default();
        out += format!("  {mark} {name:<NAMES$} {first}").trim_end();
        out.push('\n');
        for line in lines {
            out += format!("{indent}{line}").trim_end();
            out.push('\n');
        }
        if let Some(fix) = fix {
            out += &format!("{indent}{} {fix}\n", marks.fix);
        }
    }
    out.push('\n');
    out
}

/// How many checks ended how.
pub(super) struct Counts(Vec<State>);

impl Counts {
    pub(super) fn of<'a>(checks: impl Iterator<Item = &'a Check>) -> Self {
        Self(checks.map(|check| check.state).collect())
    }

    pub(super) fn of_state(&self, state: State) -> usize {
        self.0.iter().filter(|one| **one == state).count()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        write!(
            f,
            "{} ok, {}, {}, {} skipped",
            self.of_state(State::Ok),
            plural(self.of_state(State::Warning), "warning"),
            plural(self.of_state(State::Problem), "problem"),
            self.of_state(State::Skipped),
        )
    }
}

/// All of it, for programs.
pub(super) fn json(groups: &[(&str, Vec<Check>)], counts: &Counts) -> Value {
    let word = |state: State| match state {
        State::Ok => "ok",
        State::Warning => "warning",
        State::Problem => "problem",
        State::Skipped => "skipped",
    };
    let checks = groups.iter().flat_map(|(group, checks)| {
        checks.iter().map(move |Check { name, state, says, fix }| {
            json!({"group": group, "name": name, "state": word(*state), "says": says, "fix": fix})
        })
    });
    json!({
        "ok": counts.of_state(State::Problem) == 0,
        "counts": {
            "ok": counts.of_state(State::Ok),
            "warning": counts.of_state(State::Warning),
            "problem": counts.of_state(State::Problem),
            "skipped": counts.of_state(State::Skipped),
        },
        "checks": checks.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_a_list_with_marks() {
        let checks = [
            Check::ok("one", "works\nin two lines"),
            Check::of_message("two", State::Problem, "is broken; mend it; soon"),
            Check::new("three", State::Warning, "so so"),
            Check::skipped("a-name-that-is-long", "not asked").with_fix("ask"),
        ];
        insta::assert_snapshot!(group("Things", &checks, &SIGNS), @r"
        Things
          ✓ one            works
                           in two lines
          ✗ two            is broken
                           → mend it; soon
          ! three          so so
          – a-name-that-is-long not asked
                           → ask
        ");
        insta::assert_snapshot!(group("Things", &checks, &WORDS), @r"
        Things
          ok   one            works
                              in two lines
          FAIL two            is broken
                              fix: mend it; soon
          warn three          so so
          skip a-name-that-is-long not asked
                              fix: ask
        ");
        let counts = Counts::of(checks.iter());
        assert_eq!(counts.to_string(), "1 ok, 1 warning, 1 problem, 1 skipped");
    }

    #[test]
    fn the_first_locale_that_is_set_counts() {
        let env = |all: &[(&str, &str)]| is_utf8(&all.iter().copied().collect());
        assert!(env(&[("LANG", "de_DE.UTF-8")]) && env(&[("LC_CTYPE", "C.utf8")]));
        assert!(!env(&[]) && !env(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]));
    }
}
