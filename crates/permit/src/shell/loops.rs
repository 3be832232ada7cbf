//! Loops over words that are known: `for f in *.rs; do wc -l "$f"; done` is `wc -l *.rs`.

use super::script::Loop;
use super::text::CONTINUED;
use super::word::is_name;
use super::{Redirect, Script, Simple, Word, wrapped};

/// How many ways a command may be read in at most; with more it stays as it is.
const MOST_WAYS: usize = 32;
/// How many commands there may be with all ways of all of them.
const MOST_COMMANDS: usize = 400;

/// Builtins that may set a variable whose name is known only when they run, or run a text that does.
const SETTERS: &[&str] = &[
    ".",
    "((",
    "alias",
    "declare",
    "eval",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "source",
    "trap",
    "typeset",
    "unset",
    "wait",
];

/// The script with the variables of its loops replaced by what they stand for, one command for each value, wherever it is certain
/// that nothing else sets them. What stays unknown stays as it is. `command` is the text that the script was read from.
pub fn unrolled(script: &Script, command: &str) -> Script {
    let may_set = |simple: &Simple| match simple.words.split_first() {
        Some((Word::Literal(program), rest)) => {
            let into = |word: &Word| word.literal().is_none_or(|word| word.starts_with("-v"));
            SETTERS.contains(&program.as_str()) || program == "printf" && rest.first().is_some_and(into)
        }
        Some((Word::Pattern(_) | Word::Dynamic { .. }, _)) => true,
        None => false,
    };
    let in_loop = script.commands.iter().any(|simple| !simple.place.loops.is_empty());
    // A name that a line end cuts in two is not found in the text.
    let hides = command.contains("${!") || command.contains(CONTINUED);
    if !in_loop || hides || script.commands.iter().any(may_set) {
        return script.clone();
    }
    let ways: Vec<Vec<Simple>> = script.commands.iter().map(|simple| ways(simple, command)).collect();
    if ways.iter().map(Vec::len).sum::<usize>() > MOST_COMMANDS {
        return script.clone();
    }
    // A pipe leads from a command's first way.
    let mut firsts = Vec::with_capacity(ways.len());
    let mut next = 0;
    for ways in &ways {
        firsts.push(next);
        next += ways.len();
    }
    let mut commands: Vec<Simple> = ways.into_iter().flatten().collect();
    for simple in &mut commands {
        simple.place.piped_from = simple.place.piped_from.and_then(|from| firsts.get(from).copied());
    }
    Script { commands }
}

/// Every command that this one can be.
fn ways(simple: &Simple, command: &str) -> Vec<Simple> {
    let program = simple.words.first().and_then(Word::literal).unwrap_or_default();
    // What such a program runs stands in the script by itself, as it was read.
    let name = program.rsplit('/').next().unwrap_or(program);
    if wrapped::is_wrapper(name) {
        return vec![simple.clone()];
    }
    let mut ways = vec![simple.clone()];
    for variable in &simple.place.loops {
        if !uses(simple, variable) || !is_certain(variable, command) {
            continue;
        }
        let filled =
            ways.iter().flat_map(|way| variable.words.iter().map(|value| fill(way, variable, value)));
        ways = filled.collect();
        if ways.len() > MOST_WAYS {
            return vec![simple.clone()];
        }
    }
    ways
}

/// Whether a word is this variable and nothing else.
fn is_variable(word: &Word, variable: &Loop) -> bool {
    let Word::Dynamic { text, .. } = word else { return false };
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    // Without quotes the name of a file may come to several words, and to options among them.
    let plain = |word: &Word| {
        word.literal().is_some_and(|text| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-+@%,:".contains(c))
        })
    };
    let Some(text) = quoted.or_else(|| variable.words.iter().all(plain).then_some(text)) else {
        return false;
    };
    let name = text.strip_prefix('$').unwrap_or_default();
    name == variable.name
        || name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) == Some(&variable.name)
}

fn uses(simple: &Simple, variable: &Loop) -> bool {
    let files = simple.redirects.iter().map(|redirect| &redirect.file);
    simple.words.iter().skip(1).chain(files).any(|word| is_variable(word, variable))
}

fn fill(simple: &Simple, variable: &Loop, value: &Word) -> Simple {
    let put = |word: &Word| if is_variable(word, variable) { value.clone() } else { word.clone() };
    let redirect = |redirect: &Redirect| Redirect { kind: redirect.kind, file: put(&redirect.file) };
    let mut words: Vec<Word> = simple.words.iter().take(1).cloned().collect();
    words.extend(simple.words.iter().skip(1).map(put));
    Simple { words, redirects: simple.redirects.iter().map(redirect).collect(), ..simple.clone() }
}

/// Whether a variable has the values of its loop and no others: its name stands in the text only where the one loop over it begins
/// and where it is expanded. Names with capitals may be the shell's own.
fn is_certain(variable: &Loop, command: &str) -> bool {
    let name = variable.name.as_str();
    let known =
        !variable.words.is_empty() && variable.words.iter().all(|word| !matches!(word, Word::Dynamic { .. }));
    if !known || name == "_" || name.contains(|c: char| c.is_ascii_uppercase()) || command.contains("IFS") {
        return false;
    }
    let mut loops = 0;
    for (at, _) in command.match_indices(name) {
        let (before, after) =
            (command.get(..at).unwrap_or_default(), command.get(at + name.len()..).unwrap_or_default());
        if before.ends_with(is_name) || after.starts_with(is_name) {
            continue;
        }
        let expanded = before.ends_with('$') || (before.ends_with("${") && after.starts_with('}'));
        let tested = ["[ -", "[ ! -", "test -", "test ! -"].iter().any(|test| before.ends_with(test));
        let begins = before.trim_end().ends_with("for") && after.trim_start().starts_with("in");
        loops += usize::from(begins);
        if !expanded && !tested && !begins {
            return false;
        }
    }
    loops == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::read;

    fn commands(command: &str) -> Vec<String> {
        let script = unrolled(&read(command).unwrap(), command);
        let line = |words: &[Word]| words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
        script.commands.iter().map(|simple| line(&simple.words)).collect()
    }

    #[test]
    fn loops_over_known_words() {
        for (command, expected) in [
            ("for f in *.rs; do wc -l \"$f\"; done", &["wc -l *.rs"][..]),
            ("for f in a b; do wc -l $f; done", &["wc -l a", "wc -l b"]),
            ("for f in a b; do cp x \"${f}\"; done", &["cp x a", "cp x b"]),
            ("for f in a; do for g in b c; do diff $f $g; done; done", &["diff a b", "diff a c"]),
            (
                "for f in *; do [ -f \"$f\" ] && timeout 5 cat \"$f\"; done",
                &["[ -f * ]", "timeout 5 cat \"$f\"", "cat *"],
            ),
            ("for f in a b; do cat $f | head; done", &["cat a", "cat b", "head"]),
            // Not known, or not certain.
            ("for f in *.rs; do wc -l $f; done", &["wc -l $f"]),
            ("for f in $(ls); do cat \"$f\"; done", &["ls", "cat \"$f\""]),
            ("for f in a; do f=/etc/shadow; cat \"$f\"; done", &["", "cat \"$f\""]),
            ("for f in a; do read f; cat \"$f\"; done", &["read f", "cat \"$f\""]),
            ("for f in a; do read \"$x\"; cat \"$f\"; done", &["read \"$x\"", "cat \"$f\""]),
            ("for f in a; do printf -v \"$x\" y; cat \"$f\"; done", &["printf -v \"$x\" y", "cat \"$f\""]),
            (
                "for f in a; do : \"${f:=/etc/shadow}\"; cat \"$f\"; done",
                &[": \"${f:=/etc/shadow}\"", "cat \"$f\""],
            ),
            ("for f in a; do : \"${!x:=b}\"; cat \"$f\"; done", &[": \"${!x:=b}\"", "cat \"$f\""]),
            ("for f in a; do for f in /etc/*; do :; done; cat \"$f\"; done", &[":", "cat \"$f\""]),
            ("for f in a; do source x; cat \"$f\"; done", &["source x", "cat \"$f\""]),
            ("for f in a; do $x; cat \"$f\"; done", &["$x", "cat \"$f\""]),
            ("for f in 'rm -rf /'; do bash -c \"$f\"; done", &["bash -c \"$f\""]),
            ("for f in a; do bash -c 'cat \"$f\"'; done", &["bash -c cat \"$f\"", "cat \"$f\""]),
            ("for f in ls; do $f x; done", &["$f x", "x"]),
            ("for ff in a; do f\\\nf=/etc/shadow; cat \"$ff\"; done", &["", "cat \"$ff\""]),
            ("for f in a; do cat \"$f.bak\"; done", &["cat \"$f.bak\""]),
            ("for f in a; do :; done; cat \"$f\"", &[":", "cat \"$f\""]),
            ("for PWD in a; do cat \"$PWD\"; done", &["cat \"$PWD\""]),
            ("IFS=b; for f in abc; do cat $f; done", &["", "cat $f"]),
            ("for f; do cat \"$f\"; done", &["cat \"$f\""]),
        ] {
            assert_eq!(commands(command), expected, "{command}");
        }
        let many: String = (0..40).map(|n| format!(" w{n}")).collect();
        assert_eq!(commands(&format!("for f in{many}; do cat $f; done")), ["cat $f"]);
    }

    #[test]
    fn pipes_lead_to_the_same_commands() {
        let command = "for f in a b; do cat $f; ls | wc; done";
        let script = unrolled(&read(command).unwrap(), command);
        let piped: Vec<Option<usize>> =
            script.commands.iter().map(|simple| simple.place.piped_from).collect();
        assert_eq!(piped, [None, None, None, Some(2)]);
    }
}
