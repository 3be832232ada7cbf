use super::super::{Word, arguments};
use super::{Finding, Seen, ask};

/// Settings that name a program, a folder of programs or another file of settings: beginning, and end if it has a middle.
const RUNS: &[(&str, &str)] = &[
    ("alias.", ""),
    ("browser.", ".cmd"),
    ("core.askpass", ""),
    ("core.editor", ""),
    ("core.fsmonitor", ""),
    ("core.gitproxy", ""),
    ("core.hookspath", ""),
    ("core.pager", ""),
    ("core.sshcommand", ""),
    ("credential.", "helper"),
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("diff.external", ""),
    ("difftool.", ".cmd"),
    ("filter.", ".clean"),
    ("filter.", ".process"),
    ("filter.", ".smudge"),
    ("gpg.", "program"),
    ("include.", "path"),
    ("includeif.", ".path"),
    ("init.templatedir", ""),
    ("interactive.difffilter", ""),
    ("merge.", ".driver"),
    ("mergetool.", ".cmd"),
    ("pager.", ""),
    ("protocol.", ".allow"),
    ("remote.", ".receivepack"),
    ("remote.", ".uploadpack"),
    ("remote.", ".vcs"),
    ("sendemail.", "cmd"),
    ("sequence.editor", ""),
    ("submodule.", ".update"),
    ("trailer.", ".command"),
    ("uploadpack.packobjectshook", ""),
    ("url.", "insteadof"),
];

/// What `git` would lose for good, send away, or be made to run.
pub(super) fn git(seen: &Seen<'_>) -> Option<Finding> {
    if seen.program != "git" {
        return None;
    }
    let mut rest = seen.arguments;
    while let Some((Word::Literal(option), after)) =
        rest.split_first().filter(|(word, _)| word.literal().is_none_or(|word| word.starts_with('-')))
    {
        let takes = matches!(
            option.as_str(),
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env"
        );
        if matches!(option.as_str(), "-c" | "--config-env") || option.starts_with("--config-env=") {
            let setting = after.first().map(Word::shown).unwrap_or_default();
            let setting = option.strip_prefix("--config-env=").unwrap_or(&setting);
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if runs(key, value) {
                return ask(format!("makes git run a program, by `{key}`"));
            }
        }
        if option.starts_with("--exec-path") {
            return ask("makes git run programs of another folder");
        }
        rest = if takes { after.get(1..).unwrap_or_default() } else { after };
    }
    let (Word::Literal(subcommand), words) = rest.split_first()? else { return None };
    by_subcommand(subcommand, words)
}

fn by_subcommand(subcommand: &str, words: &[Word]) -> Option<Finding> {
    let texts: Vec<&str> = words.iter().filter_map(Word::literal).collect();
    let has = |options: &[&str]| texts.iter().any(|word| options.contains(word));
    let begins = |beginnings: &[&str]| {
        texts.iter().any(|word| beginnings.iter().any(|beginning| word.starts_with(beginning)))
    };
    let letter = |letter: char| {
        texts.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    if begins(&["--upload-pack", "--receive-pack", "--exec", "ext::", "--upload-p", "--receive-p"]) {
        return ask("makes git run a program");
    }
    match subcommand {
        "push" => push(&texts),
        "reset" if has(&["--hard"]) => ask("throws changes away"),
        "clean" if letter('f') || begins(&["--f"]) => ask("deletes files that git does not know"),
        "checkout" if has(&["--", ".", "--force"]) || letter('f') => ask("throws changes away"),
        "switch" if has(&["--discard-changes", "--force"]) || letter('f') => ask("throws changes away"),
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => ask("throws changes away"),
        "branch" if letter('D') || has(&["--force"]) => ask("deletes a branch, merged or not"),
        "stash" if has(&["clear", "drop"]) => ask("throws kept changes away"),
        "reflog" if has(&["expire", "delete"]) => ask("deletes history"),
        "filter-branch" | "filter-repo" => ask("rewrites history"),
        "update-ref" if has(&["-d", "--stdin"]) => ask("deletes a reference"),
        "config" => config(&texts),
        "submodule" if has(&["foreach"]) => ask("makes git run a command in every submodule"),
        "bisect" if has(&["run"]) => ask("makes git run a command at every step"),
        "rebase" if letter('x') => ask("makes git run a command at every step"),
        "difftool" if letter('x') || begins(&["--extcmd"]) => ask("makes git run a program"),
        "grep" if letter('O') || begins(&["--open-files"]) => ask("makes git run a program"),
        _ => None,
    }
}

fn push(texts: &[&str]) -> Option<Finding> {
    let forced = |word: &&str| {
        word.starts_with("--force")
            || word.starts_with("--mirror")
            || word.starts_with("--delete")
            || word.starts_with("--prune")
            || word.starts_with('+')
            || word.starts_with(':')
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['f', 'd'])
    };
    if texts.iter().any(forced) {
        return ask("rewrites or deletes what others have");
    }
    let url = |word: &&str| {
        word.contains("://")
            || arguments::remote_host(word).is_some_and(|_| word.contains('@'))
            || word.starts_with(['/', '.'])
    };
    texts.iter().any(url).then(|| ask("sends the repository to an address of its own")).flatten()
}

fn config(texts: &[&str]) -> Option<Finding> {
    let mut operands = texts
        .iter()
        .filter(|word| !word.starts_with('-') && !matches!(**word, "set" | "get" | "unset" | "list"));
    let reads = texts.iter().any(|word| {
        word.starts_with("--get") || matches!(*word, "--list" | "-l" | "--unset" | "get" | "list" | "unset")
    });
    if texts.iter().any(|word| matches!(*word, "--edit" | "-e" | "edit")) {
        return ask("opens git's settings in an editor");
    }
    let (key, value) = (operands.next()?, operands.next()?);
    let file = texts.iter().any(|word| word.starts_with("--file") || *word == "-f");
    ((runs(key, value) || file) && !reads)
        .then(|| ask(format!("makes git run a program later, by `{key}`")))
        .flatten()
}

/// Whether a setting makes git run something.
fn runs(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let names = |(begin, end): &&(&str, &str)| {
        key.starts_with(begin)
            && key.ends_with(end)
            && (!end.is_empty() || begin.ends_with('.') || key == *begin)
    };
    let plain = key.starts_with("pager.") && matches!(value, "false" | "true" | "cat" | "")
        || key == "core.pager" && matches!(value, "cat" | "");
    // An alias of a subcommand is as harmless as that; `!` runs a shell.
    let alias = key.starts_with("alias.") && !value.trim_start().starts_with('!');
    let off = key == "core.fsmonitor" && matches!(value, "true" | "false");
    RUNS.iter().any(|setting| names(&setting)) && !plain && !alias && !off
}
