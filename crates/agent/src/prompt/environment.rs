//! Where a session takes place, as it was when it began.

use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

use rail_config::Env;
use rail_tool::{Opened, shown};

use crate::memory::repository;

/// Where a session takes place. It is gathered once; what changes later is said in the conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    /// The working folder.
    pub folder: PathBuf,
    /// The git repository that it is in.
    pub git: Option<Git>,
    /// The system: `linux`, `macos`.
    pub platform: String,
    /// Its version, as it names itself; None where it does not say.
    pub version: Option<String>,
    /// The user's shell, by name.
    pub shell: Option<String>,
    /// The day, in UTC: `2026-03-01`.
    pub date: String,
}

/// What is known of a git repository without asking git.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Git {
    /// The root of the working tree.
    pub root: PathBuf,
    /// The branch; None when none is checked out.
    pub branch: Option<String>,
    /// The commit that is checked out; None before the first.
    pub commit: Option<String>,
    /// What is being done and not finished, such as a merge.
    pub unfinished: Option<&'static str>,
}

impl Environment {
    /// What this machine, this environment and this folder are at a moment in unix seconds. Only files are read, and no program is
    /// started.
    pub fn gather(env: &Env, folder: &Path, unix: u64) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let home = env.home().map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        let shell = env.get("SHELL").and_then(|shell| Path::new(shell).file_name());
        Self {
            git: repository(&folder, home.as_deref()).map(|root| Git::at(&root)),
            folder,
            platform: std::env::consts::OS.to_owned(),
            version: version(),
            shell: shell.map(|name| shown(Path::new(name))),
            date: rail_stdx::date(unix),
        }
    }

    /// The text of the prompt.
    pub fn text(&self) -> String {
        let mut out = String::from("# Environment\nAs it was when the session began.\n");
        let _ = writeln!(out, "- Working folder: {}", shown(&self.folder));
        let _ = writeln!(out, "- Git: {}", self.git_text().unwrap_or_else(|| "no repository".to_owned()));
        let version = self.version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
        let _ = writeln!(out, "- Platform: {}{version}", self.platform);
        if let Some(shell) = &self.shell {
            let _ = writeln!(out, "- The user's shell: {shell}");
        }
        let _ = writeln!(out, "- Date: {}", self.date);
        out
    }

    /// The state of git in a line; None without a repository.
    pub fn git_text(&self) -> Option<String> {
        self.git.as_ref().map(|git| git.text(&self.folder))
    }

    /// The least that a model must know. The folder has no name here: a small model would write it out in every call, and a server
    /// that keeps what it read of a prompt can use it in every folder.
    pub fn brief(&self) -> String {
        format!("Working folder: . Platform: {}. Date: {}.\n", self.platform, self.date)
    }
}

impl Git {
    /// What the files of git say at the root of a working tree.
    fn at(root: &Path) -> Self {
        let place = root.join(".git");
        // A further working tree, or a submodule, has a file that says where its folder is.
        let folder = match line(&place).as_deref().and_then(|text| text.strip_prefix("gitdir: ")) {
            Some(other) => root.join(other),
            None => place,
        };
        let common =
            line(&folder.join("commondir")).map_or_else(|| folder.clone(), |common| folder.join(common));
        let head = line(&folder.join("HEAD"));
        let reference = head.as_deref().and_then(|head| head.strip_prefix("ref: "));
        let commit = match reference {
            Some(reference) => commit_of(reference, &folder, &common),
            None => head.clone(),
        };
        Self {
            root: root.to_owned(),
            branch: reference.map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
            commit: commit.filter(|commit| is_commit(commit)),
            unfinished: UNFINISHED.iter().find(|(file, _)| folder.join(file).exists()).map(|(_, what)| *what),
        }
    }

    fn text(&self, folder: &Path) -> String {
        let mut out = match &self.branch {
            Some(branch) => format!("branch {branch}"),
            None => "no branch".to_owned(),
        };
        match &self.commit {
            Some(commit) => {
                let _ = write!(out, ", commit {}", commit.get(..12).unwrap_or(commit));
            }
            None => out.push_str(", no commit yet"),
        }
        if let Some(what) = self.unfinished {
            let _ = write!(out, ", {what} is not finished");
        }
        if self.root != folder {
            let _ = write!(out, ", root {}", shown(&self.root));
        }
        out
    }
}

/// Files of git that are there as long as something is being done.
const UNFINISHED: &[(&str, &str)] = &[
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
];

/// The commit that a reference stands for: in a file of its own, or among the packed ones.
fn commit_of(reference: &str, folder: &Path, common: &Path) -> Option<String> {
    // What a repository says is no reason to look elsewhere.
    if !reference.starts_with("refs/") || reference.split('/').any(|part| part == "..") {
        return None;
    }
    if let Some(commit) = line(&folder.join(reference)).or_else(|| line(&common.join(reference))) {
        return Some(commit);
    }
    let packed = text(&common.join("packed-refs"), PACKED)?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, name)| *name == reference).map(|(commit, _)| commit.to_owned())
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The longest line that a file of git or of the system has.
const LINE: u64 = 4096;
/// The most that is read of packed references.
const PACKED: u64 = 4 << 20;

/// The first line of a small file.
fn line(path: &Path) -> Option<String> {
    let text = text(path, LINE)?;
    let line = text.lines().next()?.trim();
    // It goes to a model, in a line of its own.
    (!line.is_empty() && !line.contains(char::is_control)).then(|| line.to_owned())
}

/// What a regular file begins with.
fn text(path: &Path, at_most: u64) -> Option<String> {
    let opened = Opened::if_real(path, |_| true).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(at_most).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// How the system names itself and its version.
fn version() -> Option<String> {
    let kernel = line(Path::new("/proc/sys/kernel/osrelease")).map(|release| format!("kernel {release}"));
    let name = text(Path::new("/etc/os-release"), LINE).as_deref().and_then(pretty_name);
    let apple = || {
        text(Path::new("/System/Library/CoreServices/SystemVersion.plist"), LINE)
            .as_deref()
            .and_then(product_version)
    };
    match (name, kernel) {
        (Some(name), Some(kernel)) => Some(format!("{name}, {kernel}")),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) => apple(),
    }
}

/// `PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"`.
fn pretty_name(os_release: &str) -> Option<String> {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = name.trim().trim_matches(['"', '\'']);
    (!name.is_empty() && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// `<key>ProductVersion</key> <string>15.1</string>`.
fn product_version(plist: &str) -> Option<String> {
    let (_, after) = plist.split_once("<key>ProductVersion</key>")?;
    let (_, after) = after.split_once("<string>")?;
    let (version, _) = after.split_once("</string>")?;
    (!version.is_empty() && !version.contains(char::is_control)).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_name_themselves() {
        assert_eq!(
            pretty_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
            Some("Debian GNU/Linux 12".into())
        );
        assert_eq!(pretty_name("ID=debian"), None);
        assert_eq!(pretty_name("PRETTY_NAME=\"\""), None);
        let plist = "<key>ProductVersion</key>\n\t<string>15.1</string>";
        assert_eq!(product_version(plist), Some("15.1".into()));
        assert_eq!(product_version("<string>15.1</string>"), None);
    }

    #[test]
    fn only_what_is_known_is_said() {
        let bare = Environment {
            folder: "/w".into(),
            platform: "linux".into(),
            date: "2026-03-01".into(),
            ..Environment::default()
        };
        insta::assert_snapshot!(bare.text(), @r"
        # Environment
        As it was when the session began.
        - Working folder: /w
        - Git: no repository
        - Platform: linux
        - Date: 2026-03-01
        ");
        let git = Git { root: "/".into(), unfinished: Some("a merge"), ..Git::default() };
        let full =
            Environment { git: Some(git), version: Some("one".into()), shell: Some("zsh".into()), ..bare };
        insta::assert_snapshot!(full.text(), @r"
        # Environment
        As it was when the session began.
        - Working folder: /w
        - Git: no branch, no commit yet, a merge is not finished, root /
        - Platform: linux (one)
        - The user's shell: zsh
        - Date: 2026-03-01
        ");
    }
}
