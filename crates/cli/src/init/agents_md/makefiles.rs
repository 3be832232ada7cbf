//! Targets of Makefiles and recipes of justfiles.

use super::commands::{Found, Purpose};
use super::manifests::is_plain;

pub(super) fn find(found: &mut Found<'_>) {
    for name in ["Makefile", "makefile", "GNUmakefile"] {
        for target in targets(&found.text(name)) {
            if let Some(purpose) = Purpose::of_name(&target) {
                found.add(purpose, format!("make {target}"));
            }
        }
    }
    for name in ["justfile", "Justfile", ".justfile"] {
        for recipe in recipes(&found.text(name)) {
            if let Some(purpose) = Purpose::of_name(&recipe) {
                found.add(purpose, format!("just {recipe}"));
            }
        }
    }
}

/// The targets of a Makefile that somebody may ask for.
pub(super) fn targets(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in text.lines() {
        if line.starts_with(['\t', ' ', '#', '.']) {
            continue;
        }
        let Some((names, rest)) = line.split_once(':') else { continue };
        // `NAME := value` and `NAME ::= value` are no rules.
        if rest.trim_start_matches(':').starts_with('=') {
            continue;
        }
        all.extend(names.split_whitespace().filter(|name| is_target(name)).map(str::to_owned));
    }
    once(all)
}

/// A file is a target too, but nobody asks for it by name.
fn is_target(name: &str) -> bool {
    is_plain(name) && !name.contains(['/', '.'])
}

/// The recipes of a justfile that somebody may ask for.
pub(super) fn recipes(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut is_private = false;
    for line in text.lines() {
        if line.trim_start().starts_with('[') {
            is_private |= line.contains("private");
            continue;
        }
        if line.starts_with(['\t', ' ', '#']) || line.trim().is_empty() {
            continue;
        }
        let hidden = std::mem::take(&mut is_private);
        let line = line.strip_prefix('@').unwrap_or(line);
        let Some((head, rest)) = line.split_once(':') else { continue };
        let mut words = head.split_whitespace();
        let Some(name) = words.next() else { continue };
        // A parameter without a default is needed: what it would be, nobody knows.
        let is_whole = words.all(|word| word.contains('=') || word.starts_with('*'));
        let is_keyword =
            matches!(name, "set" | "alias" | "export" | "import" | "mod") || rest.starts_with('=');
        if !hidden && is_whole && !is_keyword && !name.starts_with('_') && is_target(name) {
            all.push(name.to_owned());
        }
    }
    once(all)
}

/// Each once, in the order of the file.
fn once(all: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for name in all {
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn targets_are_rules_that_have_names() {
        let text = ".PHONY: all test\nCC := gcc\nX ::= y\nall: build\nbuild test: dep\n\tcc: x\n%.o: %.c\nout/a.o: a.c\n\
                    # lint: no\nall:: more\nlint:\n$(X): y\n";
        assert_eq!(targets(text), ["all", "build", "test", "lint"]);
    }

    #[test]
    fn recipes_are_those_that_can_be_run_as_they_are() {
        let text = "set shell := [\"bash\"]\nversion := \"1\"\nalias t := test\n# run\ntest *args: build\n  cargo test\n\
                    @lint:\n    x: y\n[private]\nhelp:\n_hidden:\nbuild target='all':\ndeploy where:\ntest:\n";
        assert_eq!(recipes(text), ["test", "lint", "build"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,300}", lines in "([a-z:= \t@%.\\[\\]\n]){0,200}") {
            for text in [text, lines] {
                for name in targets(&text).iter().chain(&recipes(&text)) {
                    prop_assert!(is_target(name));
                }
            }
        }
    }
}
