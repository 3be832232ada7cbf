use std::path::{Component, Path, PathBuf};

use super::offers;
use super::{Cx, Decision, Finding};
use crate::path::{Case, Fence, List, Step};
use crate::rule::{About, Cover, Holds};
use crate::{Facet, Mode, PartKind, Rule, World, places};

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A file as it is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File<'a> {
    pub(crate) access: Access,
    /// An absolute path, perhaps with `..` and links in it.
    pub(crate) path: &'a Path,
    /// A pattern under the path that a shell replaces by the names of files.
    pub(crate) pattern: &'a [Step],
    /// Who touches it.
    pub(crate) by: By<'a>,
}

/// Who touches a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By<'a> {
    /// A tool.
    Tool,
    /// A redirection: a write of its own, whatever command it stands behind.
    Redirection,
    /// A command, and the rule that allows it.
    Command(Option<(Cover, &'a Rule)>),
}

/// Judges a file that a tool touches.
pub(crate) fn of_tool(cx: &Cx<'_>, access: Access, path: &Path) -> Finding {
    // Tools give absolute paths; one that does not is judged as if it had meant the workspace.
    let path = cx.policy.folders.first().map_or_else(|| path.to_owned(), |folder| folder.join(path));
    file(cx, File { access, path: &path, pattern: &[], by: By::Tool })
}

/// Judges a file by what it really is. What forbids holds for the path as written and for the real one; what allows, for the
/// real one.
pub(crate) fn file(cx: &Cx<'_>, file: File<'_>) -> Finding {
    let forms = Forms::new(cx.world, file.path);
    let judged = Judged { cx, file, about: shown(cx, file.path), forms };
    let facet = match file.access {
        Access::Read => Facet::Read(judged.forms.real.clone()),
        Access::Write => Facet::Write(judged.forms.real.clone()),
    };
    judged.decide().granting(facet)
}

/// What keeps a file back from a program that may or may not read it: a rule, or that it is a secret.
pub(crate) fn kept_back(cx: &Cx<'_>, path: &Path) -> Option<Finding> {
    let file = File { access: Access::Read, path, pattern: &[], by: By::Command(None) };
    let judged = Judged { cx, file, about: shown(cx, path), forms: Forms::new(cx.world, path) };
    let denied = judged.denied();
    let asks = || judged.secret().or_else(|| judged.asked());
    let kept = denied.or_else(|| (cx.policy.mode != Mode::Bypass).then(asks).flatten())?;
    Some(kept.granting(Facet::Read(judged.forms.real.clone())))
}

/// A word of a command that could be any file.
pub(crate) fn unknown(cx: &Cx<'_>, access: Access, word: &str, covered: Option<&Rule>) -> Finding {
    let (kind, lists) = match access {
        Access::Read => (PartKind::Read, &cx.lists.read),
        Access::Write => (PartKind::Write, &cx.lists.write),
    };
    let found = |decision, why: &str| Finding::new(kind, word, decision, why);
    match (lists.deny_all, cx.policy.mode, access, covered) {
        (Some(rule), _, _, _) => found(Decision::Deny, "a rule denies it").by(rule),
        (None, Mode::Bypass, _, _) => found(Decision::Allow, "the mode `bypass` asks nothing"),
        (None, Mode::Plan, Access::Write, _) => found(Decision::Deny, PLAN),
        (None, _, _, Some(rule)) => found(Decision::Allow, "a rule allows exactly this command").by(rule),
        (None, _, _, None) => found(Decision::Ask, "which file it is, is known only when it runs"),
    }
}

struct Judged<'a> {
    cx: &'a Cx<'a>,
    file: File<'a>,
    about: String,
    forms: Forms,
}

impl Judged<'_> {
    fn decide(&self) -> Finding {
        if let Some(denied) = self.denied() {
            return denied;
        }
        if self.is_stream() {
            return self.found(Decision::Allow, "it keeps nothing and holds nothing");
        }
        let mode = self.cx.policy.mode;
        match (mode, self.file.access) {
            (Mode::Bypass, _) => return self.found(Decision::Allow, "the mode `bypass` asks nothing"),
            (Mode::Plan, Access::Write) => return self.found(Decision::Deny, PLAN),
            (Mode::Plan | Mode::Default | Mode::AcceptEdits, _) => {}
        }
        self.always()
            .or_else(|| self.secret())
            .or_else(|| self.asked())
            .or_else(|| self.allowed())
            .unwrap_or_else(|| self.by_place())
    }

    fn denied(&self) -> Option<Finding> {
        let lists = self.lists();
        let held = |fence: &Fence| {
            self.forms.all().any(|path| fence.holds(path, Case::Counts))
                || (!self.file.pattern.is_empty()
                    && self.forms.all().any(|path| fence.may_hold(path, self.file.pattern)))
        };
        let by_path = lists.deny.iter().find(|(fence, _)| held(fence)).map(|(_, rule)| *rule);
        let rule = lists.deny_all.or(by_path)?;
        let why = match self.file.access {
            Access::Read => "a rule denies reading it",
            Access::Write => "a rule denies writing it",
        };
        Some(self.found(Decision::Deny, why).by(rule))
    }

    /// What asks each time, whatever rules allow.
    fn always(&self) -> Option<Finding> {
        if self.forms.unresolved() || (self.is_of_command() && is_unresolved(self.file.path)) {
            let why = "it leads through a process or an open file, so nobody can tell which file it is";
            return Some(self.found(Decision::AlwaysAsk, why));
        }
        if self.file.access == Access::Read {
            return None;
        }
        let own = self.forms.all().any(|path| self.cx.policy.own.iter().any(|own| path.starts_with(own)));
        if own {
            return Some(
                self.found(Decision::AlwaysAsk, "it is this program's own: its configuration or state"),
            );
        }
        let by_pattern = |path: &Path| places::may_be_guarded(path, self.file.pattern);
        if let Some(what) =
            self.forms.all().find_map(|path| places::guarded(path).or_else(|| by_pattern(path)))
        {
            return Some(self.found(Decision::AlwaysAsk, format!("it is {what}")));
        }
        let roots = self.cx.policy.folders.iter().chain(&self.cx.policy.home).chain(&self.cx.policy.own);
        // A command that writes in the folder where it stands is asked about as any other; what deletes it is a danger.
        let holds = |root: &PathBuf| {
            root.starts_with(&self.forms.real) && (!self.is_of_command() || *root != self.forms.real)
        };
        let holds_root = self.file.pattern.is_empty() && roots.into_iter().any(holds);
        holds_root.then(|| self.found(Decision::AlwaysAsk, "it is a whole folder with everything in it"))
    }

    fn secret(&self) -> Option<Finding> {
        let naming = self.cx.lists.naming.iter().filter(|(_, rule)| self.is_about(rule));
        let naming: Vec<&Fence> = naming.map(|(fence, _)| fence).collect();
        let named = |path: &Path| naming.iter().any(|fence| fence.holds(path, Case::Counts));
        let mut kept = self.forms.all().filter_map(|path| places::secret(path).filter(|_| !named(path)));
        let what = kept.next().or_else(|| self.secret_by_pattern())?;
        Some(self.found(Decision::Ask, format!("it is {what}; only a rule that names it allows it")))
    }

    /// A pattern such as `.e*` could be a secret's name.
    fn secret_by_pattern(&self) -> Option<&'static str> {
        self.forms.all().find_map(|path| places::may_be_secret(path, self.file.pattern))
    }

    fn asked(&self) -> Option<Finding> {
        let lists = self.lists();
        let held = |fence: &Fence| self.forms.all().any(|path| fence.holds(path, Case::Counts));
        let by_path = lists.ask.iter().find(|(fence, _)| held(fence)).map(|(_, rule)| *rule);
        let rule = lists.ask_all.or(by_path)?;
        Some(self.found(Decision::Ask, "a rule asks about it").by(rule))
    }

    fn allowed(&self) -> Option<Finding> {
        if let Some(rule) = Cx::rule(&self.cx.policy.rules.allow, |rule| self.is_allowed_by(rule)) {
            return Some(self.found(Decision::Allow, "a rule allows it").by(rule));
        }
        match self.file.by {
            By::Command(Some((Cover::Exact, rule))) => {
                Some(self.found(Decision::Allow, "a rule allows exactly this command").by(rule))
            }
            By::Command(Some((Cover::Broad, rule))) if self.is_inside() => Some(
                self.found(Decision::Allow, "a rule allows the command, and it is in the workspace").by(rule),
            ),
            By::Command(_) | By::Tool | By::Redirection => None,
        }
    }

    fn is_allowed_by(&self, rule: &Rule) -> bool {
        self.is_about(rule)
            && match &rule.about {
                About::Anything => true,
                About::Path(pattern) => pattern
                    .fence(self.cx.bases(), List::Allow)
                    .is_some_and(|fence| fence.holds(&self.forms.real, Case::Counts)),
                About::Command(_) | About::Host(_) | About::Name(_) => false,
            }
    }

    /// Whether an allow rule speaks of what is done here.
    fn is_about(&self, rule: &Rule) -> bool {
        match (rule.holds(), self.file.access) {
            (Holds::Reads, Access::Read) | (Holds::Writes, Access::Write) => true,
            // Who may write a file may read it.
            (Holds::Writes, Access::Read) => !self.is_write_denied(),
            (Holds::Tool, _) => rule.is_for(self.cx.asked.tool),
            (Holds::Reads, Access::Write) | (Holds::Commands | Holds::Hosts, _) => false,
        }
    }

    fn is_write_denied(&self) -> bool {
        let list = &self.cx.lists.write;
        let held = |fence: &Fence| self.forms.all().any(|path| fence.holds(path, Case::Counts));
        list.deny_all.is_some() || list.deny.iter().any(|(fence, _)| held(fence))
    }

    /// The defaults: what holds when no rule speaks.
    fn by_place(&self) -> Finding {
        let inside = self.is_inside();
        let accepts = self.cx.policy.mode == Mode::AcceptEdits;
        match (self.file.access, inside) {
            (Access::Read, true) => self.found(Decision::Allow, "it is in the workspace"),
            (Access::Read, false) => self.asking("it is outside the workspace and the folders added to it"),
            (Access::Write, true) if accepts => {
                self.found(Decision::Allow, "the mode `accept-edits` lets files of the workspace be written")
            }
            (Access::Write, true) => self.asking("writing a file asks"),
            (Access::Write, false) => {
                self.asking("it would write outside the workspace and the folders added to it")
            }
        }
    }

    fn asking(&self, why: &str) -> Finding {
        let proposals = match self.file.by {
            By::Tool | By::Redirection | By::Command(_) if self.file.pattern.is_empty() => {
                offers::of_file(self.cx, self.file.access, &self.forms.real)
            }
            By::Tool | By::Redirection | By::Command(_) => Vec::new(),
        };
        self.found(Decision::Ask, why).proposing(proposals)
    }

    fn found(&self, decision: Decision, why: impl Into<String>) -> Finding {
        let kind = match self.file.access {
            Access::Read => PartKind::Read,
            Access::Write => PartKind::Write,
        };
        let mut why: String = why.into();
        if decision != Decision::Allow && self.forms.is_elsewhere() {
            why = format!("{why} (it really is `{}`)", self.forms.real.display());
        }
        Finding::new(kind, self.about.clone(), decision, why)
    }

    fn lists(&self) -> &super::lists::Forbidding<'_> {
        match self.file.access {
            Access::Read => &self.cx.lists.read,
            Access::Write => &self.cx.lists.write,
        }
    }

    fn is_inside(&self) -> bool {
        self.cx.policy.folders.iter().any(|folder| self.forms.real.starts_with(folder))
    }

    fn is_of_command(&self) -> bool {
        match self.file.by {
            By::Tool => false,
            By::Redirection | By::Command(_) => true,
        }
    }

    /// Devices that lose what is written and give nothing away. The streams of a command are its own.
    fn is_stream(&self) -> bool {
        let path = self.file.path;
        let device = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/full"]
            .iter()
            .any(|it| path == Path::new(it));
        let stream = ["/dev/stdout", "/dev/stderr"].iter().any(|it| path == Path::new(it));
        (device && self.forms.real == path)
            || (stream && self.is_of_command() && self.file.access == Access::Write)
    }
}

/// What is said where plan mode refuses.
pub(crate) const PLAN: &str =
    "the mode `plan` only reads; finish the plan first, changes come after it is accepted";

/// The spellings of one file.
struct Forms {
    /// As written, without `..`: each is taken from where its folder really is.
    named: PathBuf,
    /// The name in the real folder: a link is not followed.
    linked: PathBuf,
    /// What it really is.
    real: PathBuf,
}

impl Forms {
    fn new(world: &dyn World, path: &Path) -> Self {
        let named = without_dots(world, path);
        let linked = match (named.parent(), named.file_name()) {
            (Some(folder), Some(name)) => world.real(folder).join(name),
            (Some(_) | None, _) => named.clone(),
        };
        let real = world.real(path);
        Self { named, linked, real }
    }

    fn all(&self) -> impl Iterator<Item = &Path> + Clone {
        [&self.real, &self.linked, &self.named].into_iter().map(PathBuf::as_path)
    }

    fn is_elsewhere(&self) -> bool {
        self.named != self.real
    }

    fn unresolved(&self) -> bool {
        is_unresolved(&self.real)
    }
}

/// The path without `..`. They are taken back from the real folder, as the system does, never from the text.
fn without_dots(world: &dyn World, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean = world.real(&clean);
                clean.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(component),
        }
    }
    clean
}

/// Whether a path leads through a process' folder or an open file, which another process sees as another file.
fn is_unresolved(path: &Path) -> bool {
    let names: Vec<&str> = path.iter().take(6).map(|name| name.to_str().unwrap_or("?")).collect();
    let through = |name: &str| matches!(name, "root" | "cwd" | "fd" | "fdinfo" | "exe" | "map_files");
    match names.as_slice() {
        ["/", "proc", _, "task", _, name, ..] | ["/", "proc", _, name, ..] => through(name),
        ["/", "dev", name, ..] => matches!(*name, "fd" | "stdin" | "stdout" | "stderr"),
        _ => false,
    }
}

/// A path as it is shown: from the workspace or the home folder where it is in them.
pub(crate) fn shown(cx: &Cx<'_>, path: &Path) -> String {
    let inner = |folder: &Path| path.strip_prefix(folder).ok().filter(|rest| !rest.as_os_str().is_empty());
    let bases = cx.bases();
    if let Some(rest) = bases.workspace.and_then(inner) {
        return rest.display().to_string();
    }
    match bases.home.and_then(inner) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
