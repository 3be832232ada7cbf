//! Which files a search leaves out, against a plain walk.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use crate::scratch::Scratch;

fn listed(scratch: &Scratch, input: &serde_json::Value) -> Vec<String> {
    let said = scratch.says("glob", input);
    let mut rows: Vec<String> = said.lines().skip(1).map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

fn matching(scratch: &Scratch, pattern: &str) -> Vec<String> {
    let said = scratch.says("grep", &json!({"pattern": pattern}));
    let mut rows: Vec<String> = said.lines().skip(1).map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn ignore_files_are_obeyed() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path(".git/info")).unwrap();
    scratch.write(".git/info/exclude", "local.txt\n");
    scratch.write(".git/config.txt", "x");
    scratch.write(".gitignore", "*.log\n/out/\n!keep.log\n");
    scratch.write("src/.gitignore", "gen.txt\n");
    scratch.write(".ignore", "noise.txt\n");
    scratch.write(".rgignore", "loud.txt\n");
    for name in [
        "a.txt",
        "a.log",
        "keep.log",
        "out/o.txt",
        "src/out/o.txt",
        "src/gen.txt",
        "gen.txt",
        "local.txt",
        "noise.txt",
        "loud.txt",
        ".hidden/h.txt",
    ] {
        scratch.write(name, "x");
    }
    let kept = [".hidden/h.txt", "a.txt", "gen.txt", "keep.log", "src/out/o.txt"];
    assert_eq!(listed(&scratch, &json!({"pattern": "*.{txt,log}"})), kept);
    assert_eq!(matching(&scratch, "^x$"), kept);
    let all = listed(&scratch, &json!({"pattern": "*.{txt,log}", "respect_git_ignore": false}));
    assert_eq!(all.len(), 11);
    // A folder that is named is meant.
    assert_eq!(listed(&scratch, &json!({"pattern": "out/*.txt"})), ["out/o.txt"]);
    assert_eq!(listed(&scratch, &json!({"pattern": "a.log"})), [""; 0]);
    assert_eq!(listed(&scratch, &json!({"pattern": "./a.log"})), ["a.log"]);
}

#[test]
fn a_gitignore_counts_in_a_repository_only() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "a.txt\n");
    scratch.write("a.txt", "x");
    assert_eq!(listed(&scratch, &json!({"pattern": "*.txt"})), ["a.txt"]);
    std::fs::create_dir(scratch.path(".git")).unwrap();
    assert_eq!(listed(&scratch, &json!({"pattern": "*.txt"})), [""; 0]);
}

/// One line of an ignore file, of the kinds that the plain walk below understands.
#[derive(Clone, Debug)]
struct Line {
    negated: bool,
    anchored: bool,
    folders: bool,
    name: String,
}

impl Line {
    fn text(&self) -> String {
        let Self { negated, anchored, folders, name } = self;
        let mark = |yes: bool, mark: &'static str| if yes { mark } else { "" };
        format!("{}{}{name}{}", mark(*negated, "!"), mark(*anchored, "/"), mark(*folders, "/"))
    }

    /// Whether it speaks of an entry, whose path is given from the ignore file's folder.
    fn fits(&self, below: &str, is_folder: bool) -> bool {
        let name = below.rsplit('/').next().unwrap_or(below);
        let named = match self.name.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == self.name,
        };
        named && (!self.anchored || !below.contains('/')) && (!self.folders || is_folder)
    }
}

type Rules = BTreeMap<String, Vec<Line>>;

/// Whether an entry is ignored by itself: the nearest ignore file that speaks of it decides, and in it the last line.
fn ignored(path: &str, is_folder: bool, rules: &Rules) -> bool {
    let mut folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        let below = path.strip_prefix(folder).unwrap().trim_start_matches('/');
        let lines = rules.get(folder).into_iter().flatten();
        if let Some(line) = lines.rev().find(|line| line.fits(below, is_folder)) {
            return !line.negated;
        }
        if folder.is_empty() {
            return false;
        }
        folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
}

/// Whether a file is left out: it is ignored, or a folder on the way to it.
fn left_out(path: &str, rules: &Rules) -> bool {
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    folders.into_iter().any(|folder| ignored(folder, true, rules)) || ignored(path, false, rules)
}

fn line() -> impl Strategy<Value = Line> {
    (any::<bool>(), any::<bool>(), any::<bool>(), "a|b|c|a\\.x|b\\.y|\\*\\.x|\\*\\.y")
        .prop_map(|(negated, anchored, folders, name)| Line { negated, anchored, folders, name })
}

fn rules() -> impl Strategy<Value = Rules> {
    prop::collection::btree_map("(a|b)?|a/b|c/a", prop::collection::vec(line(), 0..4), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_plain_walk_finds_the_same(
        files in prop::collection::btree_map("((a|b|c)/){0,3}(a|b)\\.(x|y)", "(foo|bar|\n){0,4}", 1..16),
        rules in rules(),
    ) {
        let scratch = Scratch::new();
        std::fs::create_dir(scratch.path(".git")).unwrap();
        for (folder, lines) in &rules {
            let text: Vec<String> = lines.iter().map(Line::text).collect();
            scratch.write(Path::new(folder).join(".gitignore").to_str().unwrap(), text.join("\n"));
        }
        for (name, content) in &files {
            scratch.write(name, content);
        }
        let plain = |fits: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
            let fitting = files.iter().filter(|(name, content)| fits(name, content) && !left_out(name, &rules));
            fitting.map(|(name, _)| name.clone()).collect()
        };
        prop_assert_eq!(listed(&scratch, &json!({"pattern": "*.x"})), plain(&|name, _| name.ends_with(".x")));
        prop_assert_eq!(
            matching(&scratch, "oba"),
            plain(&|_, content| content.lines().any(|line| line.contains("oba")))
        );
    }
}
