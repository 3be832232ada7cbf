use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::path::{Case, Fence};
use crate::{Facet, Reason, places, shell};

/// Leave to do certain things, and no others; made by [`judge`](crate::judge()) and
/// [`Question::answer`](crate::Question::answer) alone.
#[derive(Clone, PartialEq, Debug)]
pub struct Grant {
    pub(crate) facets: Vec<Facet>,
    pub(crate) reason: Reason,
    pub(crate) walls: Arc<Walls>,
}

/// What a grant for a folder leaves out, and where commands may write.
#[derive(PartialEq, Debug, Default)]
pub(crate) struct Walls {
    /// What may not be read at all.
    pub(crate) denied: Vec<Fence>,
    /// What is asked about when it is read.
    pub(crate) asked: Vec<Fence>,
    /// Secrets that a rule names and allows.
    pub(crate) named: Vec<Fence>,
    /// Secrets that a rule names and allows to be written, and so to be read.
    pub(crate) named_to_write: Vec<Fence>,
    /// What may not be written.
    pub(crate) unwritable: Vec<Fence>,
    /// Whether secrets are kept.
    pub(crate) secrets: Secrets,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// Folders that a command may write in.
    pub(crate) writable: Vec<PathBuf>,
    /// The workspace and the folders added to it.
    pub(crate) folders: Vec<PathBuf>,
    /// What is this program's own.
    pub(crate) own: Vec<PathBuf>,
    /// Whether commands may use the network, whatever host they name.
    pub(crate) open_network: bool,
}

/// Whether secrets are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Secrets {
    /// They need a grant of their own.
    #[default]
    Kept,
    /// The user chose not to be asked.
    Open,
}

/// What the sandbox hides from a command.
#[derive(Clone, PartialEq, Debug)]
pub struct Hidden {
    /// Patterns of files that are hidden at any depth, as rules have them: `.env`, `*.pem`, `**/.ssh/**`.
    pub names: Vec<String>,
    /// Absolute paths, those of the home folder among them; not all need be there. Where [`Hidden::hides`] one, it is hidden with
    /// all under it; otherwise it is a folder with something hidden in it.
    pub paths: Vec<PathBuf>,
    walls: Arc<Walls>,
    granted: Vec<PathBuf>,
}

/// What stays read-only for a command inside of what it may write. Left out is what the grant lets write; not all of it need be
/// there.
///
/// Commands that run nothing but git may write what a checkout brings and git's settings, in which it notes branches and remotes,
/// but never its hooks, and nothing of this program's own.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'g> {
    grant: &'g Grant,
    only_git: bool,
}

impl Kept<'_> {
    /// This program's own, and what is kept in the workspace and the folders added to it.
    pub fn all(&self) -> Vec<PathBuf> {
        let walls = &self.grant.walls;
        let own = walls.own.iter().filter(|own| !self.grant.lets_write(own)).cloned();
        own.chain(walls.folders.iter().flat_map(|folder| self.in_project(folder))).collect()
    }

    /// What is kept in a project's folder: whatever others run or trust there, and is always asked about when a tool writes it,
    /// such as git's hooks and settings, lists of MCP servers and tasks of editors.
    pub fn in_project(&self, project: &Path) -> Vec<PathBuf> {
        let trusted = places::guarded_in(project).filter(|(name, _)| !self.only_git || *name == OWN);
        let trusted = trusted.map(|(_, path)| path).filter(|path| !self.grant.lets_write(path));
        self.of_git(&project.join(".git")).into_iter().chain(trusted).collect()
    }

    /// What is kept in the folder where a repository has its own.
    pub fn of_git(&self, git: &Path) -> Vec<PathBuf> {
        let names: &[&str] = if self.only_git { &["hooks"] } else { &["hooks", "config", "config.worktree"] };
        names.iter().map(|name| git.join(name)).filter(|path| !self.grant.lets_write(path)).collect()
    }

    /// Whether a command that makes one of these does what it is for: git makes repositories.
    pub fn may_be_made(&self, path: &Path) -> bool {
        self.only_git && path.iter().any(|name| name == ".git")
    }
}

impl Grant {
    /// What may be touched, links resolved.
    pub fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// Why it may be done.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Whether a file may be read; the path has its links resolved.
    ///
    /// That is a file which was granted itself, or one under a granted folder that is no secret and that no rule keeps back.
    pub fn reads(&self, real: &Path) -> bool {
        let mut under = false;
        for facet in &self.facets {
            match facet {
                Facet::Read(path) | Facet::Write(path) if real == path => return true,
                Facet::Read(path) => under = under || real.starts_with(path),
                Facet::Write(_) | Facet::Exec(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => {}
            }
        }
        under && self.walls.lets_read(real)
    }

    /// Whether a file may be written; the path has its links resolved.
    pub fn writes(&self, real: &Path) -> bool {
        self.facets.iter().any(|facet| matches!(facet, Facet::Write(path) if real == path))
    }

    /// Folders and files that a command may write: the workspace, the folders added to it, the one for temporary files, and what
    /// was granted besides. In plan mode only temporary files.
    pub fn writable(&self) -> Vec<PathBuf> {
        let mut writable = self.walls.writable.clone();
        for facet in &self.facets {
            match facet {
                Facet::Write(path) if !writable.iter().any(|folder| path.starts_with(folder)) => {
                    writable.push(path.clone())
                }
                Facet::Write(_)
                | Facet::Read(_)
                | Facet::Exec(_)
                | Facet::Net(_)
                | Facet::Foreign
                | Facet::Skill { .. } => {}
            }
        }
        writable
    }

    /// What stays read-only for a command inside of what it may write.
    pub fn kept(&self) -> Kept<'_> {
        let only_git = self.facets.iter().all(|facet| match facet {
            Facet::Exec(exec) => runs_only_git(&exec.command),
            Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => true,
        });
        Kept { grant: self, only_git }
    }

    fn lets_write(&self, kept: &Path) -> bool {
        let folders = &self.walls.folders;
        self.facets.iter().any(|facet| match facet {
            Facet::Write(path) => {
                let around = kept.starts_with(path) && !folders.iter().any(|it| it.starts_with(path));
                path.starts_with(kept) || around
            }
            Facet::Read(_) | Facet::Exec(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => false,
        })
    }

    /// What the sandbox hides from a command: secrets and what may not be read, but for what this grant names itself.
    pub fn hidden(&self) -> Hidden {
        let granted = self.facets.iter().filter_map(|facet| match facet {
            Facet::Read(path) | Facet::Write(path) => Some(path.clone()),
            Facet::Exec(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => None,
        });
        let mut names = Vec::new();
        let mut paths = Vec::new();
        for fence in &self.walls.denied {
            match fence.at_any_depth() {
                true => names.push(fence.text()),
                false => paths.push(fence.fixed().0),
            }
        }
        if self.walls.secrets == Secrets::Kept {
            for text in places::secret_patterns() {
                match text.strip_prefix("//") {
                    // A process' own folder is made anew for each command.
                    Some(rest) if rest.starts_with("proc/") => {}
                    Some(rest) => paths.push(Path::new("/").join(fixed(rest))),
                    None => {
                        names.push(text.to_owned());
                        let at_home = fixed(text.trim_start_matches("**/"));
                        let home = self.walls.home.iter().filter(|_| !at_home.as_os_str().is_empty());
                        paths.extend(home.map(|home| home.join(&at_home)));
                    }
                }
            }
        }
        paths.sort();
        paths.dedup();
        Hidden { names, paths, walls: Arc::clone(&self.walls), granted: granted.collect() }
    }

    /// Whether a command may use the network: a host that it names was allowed, or all of them are.
    pub fn network(&self) -> bool {
        let allowed = self.facets.iter().any(|facet| match facet {
            Facet::Net(_) => true,
            Facet::Read(_) | Facet::Write(_) | Facet::Exec(_) | Facet::Foreign | Facet::Skill { .. } => false,
        });
        allowed || self.walls.open_network
    }
}

/// This program's own folder in a project.
const OWN: &str = ".switchrail";

/// Whether a shell command runs git, what only reads, and nothing else.
fn runs_only_git(command: &str) -> bool {
    let is_git = |simple: &shell::Simple| {
        let program = simple.words.first().and_then(shell::Word::literal);
        program == Some("git") && shell::influences(simple).is_none()
    };
    shell::read(command).is_ok_and(|script| {
        let all = script.commands.iter().all(|simple| is_git(simple) || shell::only_reads(simple));
        all && shell::danger(&script, None).is_empty()
    })
}

/// The beginning of a pattern that has no wildcard in it.
fn fixed(pattern: &str) -> PathBuf {
    pattern.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect()
}

impl Walls {
    fn lets_read(&self, real: &Path) -> bool {
        let behind = |fences: &[Fence]| fences.iter().any(|fence| fence.holds(real, Case::Counts));
        let kept =
            behind(&self.denied) || behind(&self.asked) || (self.keeps_secret(real) && !self.names(real));
        !kept
    }

    /// Whether a rule names this secret and lets it be read.
    fn names(&self, real: &Path) -> bool {
        let behind = |fences: &[Fence]| fences.iter().any(|fence| fence.holds(real, Case::Counts));
        behind(&self.named) || (behind(&self.named_to_write) && !behind(&self.unwritable))
    }

    fn keeps_secret(&self, real: &Path) -> bool {
        self.secrets == Secrets::Kept && places::secret(real).is_some()
    }
}

impl Hidden {
    /// Whether a file or a folder with all in it is hidden; the path has its links resolved.
    pub fn hides(&self, real: &Path) -> bool {
        let behind = |fences: &[Fence]| fences.iter().any(|fence| fence.holds(real, Case::Counts));
        if behind(&self.walls.denied) {
            return true;
        }
        // A folder is not hidden as a whole if something in it is granted.
        let named = [&self.walls.named, &self.walls.named_to_write];
        let holds_granted = self.granted.iter().any(|path| path.starts_with(real))
            || named.into_iter().flatten().any(|fence| fence.fixed().0.starts_with(real));
        self.walls.keeps_secret(real) && !holds_granted && !self.walls.names(real)
    }
}
