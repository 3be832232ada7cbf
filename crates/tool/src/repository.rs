//! Programs that a repository's own settings make git run, whatever it is asked for.

use std::fs;
use std::path::{Path, PathBuf};

/// What of the repository around a folder makes git run a program even when it only looks: a key of its settings, or a hook.
pub(crate) fn runs(folder: &Path) -> Option<String> {
    let (top, git) = folder.ancestors().find_map(|top| Some((top, git_folder(top)?)))?;
    let common = common_folder(&git);
    let mut hooks = vec![common.join("hooks")];
    for file in [common.join("config"), git.join("config.worktree")] {
        let Ok(text) = fs::read(&file) else { continue };
        match of_settings(&String::from_utf8_lossy(&text)) {
            Settings::Run(key) => return Some(key),
            Settings::Quiet { hooks: named } => hooks.extend(named.map(|path| top.join(path))),
        }
    }
    // The one hook that runs when git only looks: it may write down what it saw.
    let hook = hooks.into_iter().map(|hooks| hooks.join("post-index-change")).find(|hook| hook.is_file())?;
    Some(hook.strip_prefix(top).unwrap_or(&hook).display().to_string())
}

/// What settings come to.
#[derive(Debug, PartialEq)]
enum Settings {
    /// This key makes git run a program.
    Run(String),
    /// None does; hooks may stand in another folder.
    Quiet { hooks: Option<String> },
}

/// The folder where a repository has its own: `.git`, what a file of that name leads to, or a bare one.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    if let Ok(text) = fs::read_to_string(&git) {
        let path = text.strip_prefix("gitdir:")?.trim();
        return Some(folder.join(path));
    }
    let bare =
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir();
    bare.then(|| folder.to_owned())
}

/// Of a worktree, the folder that it shares with others.
fn common_folder(git: &Path) -> PathBuf {
    match fs::read_to_string(git.join("commondir")) {
        Ok(text) => git.join(text.trim()),
        Err(_) => git.to_owned(),
    }
}

/// The first key of git's settings that makes it run a program when it only looks. Settings that other files are added to are taken
/// for such. Pagers are not: without a terminal there is none.
fn of_settings(config: &str) -> Settings {
    let mut section = String::new();
    let mut hooks = None;
    for line in config.lines().map(str::trim) {
        let mut rest = line;
        if let Some(head) = line.strip_prefix('[') {
            let (head, after) = head.split_once(']').unwrap_or((head, ""));
            section = head.to_owned();
            // A key may stand behind the section's head.
            rest = after.trim();
        }
        let (key, value) = rest.split_once('=').map_or((rest, ""), |(key, value)| (key.trim(), value.trim()));
        if is_program(&section, key, value) {
            let section = section.replace('"', "").replace(' ', ".");
            return Settings::Run(format!("{section}.{key}"));
        }
        if section.eq_ignore_ascii_case("core") && key.eq_ignore_ascii_case("hookspath") {
            hooks = Some(value.trim_matches('"').to_owned());
        }
    }
    Settings::Quiet { hooks }
}

fn is_program(section: &str, key: &str, value: &str) -> bool {
    let section = section.to_ascii_lowercase();
    let name = section.split([' ', '.', '"']).next().unwrap_or_default();
    match (name, key.to_ascii_lowercase().as_str()) {
        ("core", "fsmonitor") => {
            !matches!(value.to_ascii_lowercase().as_str(), "" | "true" | "false" | "0" | "1")
        }
        ("diff", "external" | "command" | "textconv") => true,
        // What `git lfs` writes.
        ("filter", "clean" | "smudge" | "process") => !value.starts_with("git-lfs "),
        ("include" | "includeif", "path") | ("gpg", "program") => true,
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn settings_that_run_programs() {
        for (config, expected) in [
            ("[core]\n\tfsmonitor = ./x\n", Some("core.fsmonitor")),
            ("[CORE]\nFsMonitor=./x", Some("CORE.FsMonitor")),
            ("[core] fsmonitor = ./x", Some("core.fsmonitor")),
            ("[core]\nfsmonitor = true\nbare = false\n", None),
            ("[diff]\nexternal = ./x", Some("diff.external")),
            ("[diff \"png\"]\ntextconv = ./x", Some("diff.png.textconv")),
            ("[filter \"x\"]\nclean = ./x", Some("filter.x.clean")),
            ("[filter.x]\nclean = ./x", Some("filter.x.clean")),
            ("[filter \"lfs\"]\nclean = git-lfs clean -- %f\nprocess = git-lfs filter-process\n", None),
            ("[include]\npath = x", Some("include.path")),
            ("[includeIf \"gitdir:/\"]\npath = x", Some("includeIf.gitdir:/.path")),
            ("[pager]\nlog = ./x\n[core]\nworktree = ../x\nhooksPath = .husky/_\n", None),
            ("[remote \"origin\"]\nurl = x\n[branch \"main\"]\nremote = origin\n[user]\nname = x\n", None),
            ("", None),
        ] {
            let found = match of_settings(config) {
                Settings::Run(key) => Some(key),
                Settings::Quiet { .. } => None,
            };
            assert_eq!(found.as_deref(), expected, "{config}");
        }
    }

    #[test]
    fn repositories_are_found_from_inside() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["repo/.git/hooks", "repo/sub", "repo/bare/objects", "repo/bare/refs", "tree"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::create_dir_all(at("repo/.git/worktrees/tree")).unwrap();
        fs::write(at("repo/.git/worktrees/tree/commondir"), "../..\n").unwrap();
        fs::write(at("tree/.git"), format!("gitdir: {}\n", at("repo/.git/worktrees/tree").display()))
            .unwrap();
        fs::write(at("repo/bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(at("repo/bare/config"), "[core]\nfsmonitor = ./x\n").unwrap();
        assert_eq!(runs(&at("repo/sub")), None);
        assert_eq!(runs(&at("repo/bare")).as_deref(), Some("core.fsmonitor"));
        fs::write(at("repo/.git/config"), "[diff]\nexternal = ./x\n").unwrap();
        assert_eq!(runs(&at("repo/sub")).as_deref(), Some("diff.external"));
        assert_eq!(runs(&at("tree")).as_deref(), Some("diff.external"));
        fs::write(at("repo/.git/config"), "").unwrap();
        fs::write(at("repo/.git/hooks/post-index-change"), "").unwrap();
        assert_eq!(runs(&at("repo")).as_deref(), Some(".git/hooks/post-index-change"));
        fs::remove_file(at("repo/.git/hooks/post-index-change")).unwrap();
        fs::write(at("repo/.git/config"), "[core]\nhooksPath = sub\n").unwrap();
        assert_eq!(runs(&at("repo")), None);
        fs::write(at("repo/sub/post-index-change"), "").unwrap();
        assert_eq!(runs(&at("repo")).as_deref(), Some("sub/post-index-change"));
    }

    proptest! {
        #[test]
        fn any_settings_are_read(config in "(\\[|\\]|\"|=|\n| |core|fsmonitor|[a-z]{1,3}){0,20}") {
            of_settings(&config);
        }
    }
}
