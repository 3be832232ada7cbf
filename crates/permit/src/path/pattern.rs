use std::path::{Path, PathBuf};

use super::glob::overlap;
use super::{Case, Glob};
use crate::World;

/// A pattern of paths, as `.gitignore` has them, with a beginning that says where it starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PathPattern {
    anchor: Anchor,
    steps: Vec<Step>,
}

/// One step of a pattern whose items are names of a path, or words of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Any number of items.
    Many,
    /// One item.
    One(Glob),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Anchor {
    /// `.env`, `**/x`: at any depth.
    AnyDepth,
    /// `src/x`, `/x`, `./x`
    Workspace,
    /// `//etc/x`
    Root,
    /// `~/x`
    Home,
}

/// The list in which a pattern stands: what forbids reaches further than what allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum List {
    /// Only files that the pattern names: a last part with a wildcard does not stand for what is under a folder, and patterns
    /// for any depth begin at the workspace.
    Allow,
    /// What fits, all that is under it, and at any depth of the whole system.
    Forbid,
}

/// Where patterns start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases<'a> {
    /// The workspace, links resolved.
    pub(crate) workspace: Option<&'a Path>,
    /// The home folder, links resolved.
    pub(crate) home: Option<&'a Path>,
}

/// A pattern with its beginning found: ready to be asked about real paths, without allocating.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fence {
    base: PathBuf,
    steps: Vec<Step>,
    below: bool,
}

impl PathPattern {
    /// Reads a pattern; the error says what is wrong and what to write.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(rest) = text.strip_prefix('!') {
            return Err(format!("begins with `!`, which no rule knows; allow `{rest}` by a rule of its own"));
        }
        let (anchor, rest) = anchored(text)?;
        let mut steps = Vec::new();
        for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                ".." => {
                    return Err("holds `..`; write the path from the root, with `//` before it".to_owned());
                }
                "**" if steps.last() == Some(&Step::Many) => {}
                "**" => steps.push(Step::Many),
                name => steps.push(Step::One(Glob::new(name))),
            }
        }
        if steps.is_empty() && anchor == Anchor::AnyDepth {
            return Err("names no file; write a path such as `src/**`".to_owned());
        }
        // `name*/` is a folder: what is meant is in it.
        if rest.ends_with('/') && steps.last() != Some(&Step::Many) {
            steps.push(Step::Many);
        }
        let anywhere =
            anchor == Anchor::Workspace && !text.starts_with('/') && steps.first() == Some(&Step::Many);
        Ok(Self { anchor: if anywhere { Anchor::AnyDepth } else { anchor }, steps })
    }

    /// The pattern with its beginning found; None if that is not known.
    pub(crate) fn fence(&self, bases: Bases<'_>, list: List) -> Option<Fence> {
        let base = match (self.anchor, list) {
            (Anchor::Root, _) | (Anchor::AnyDepth, List::Forbid) => Path::new("/"),
            (Anchor::AnyDepth, List::Allow) | (Anchor::Workspace, _) => bases.workspace?,
            (Anchor::Home, _) => bases.home?,
        };
        let deep = (self.anchor == Anchor::AnyDepth && self.steps.first() != Some(&Step::Many))
            .then_some(Step::Many);
        let steps: Vec<Step> = deep.into_iter().chain(self.steps.iter().cloned()).collect();
        let named = match steps.last() {
            Some(Step::One(glob)) => glob.name().is_some(),
            Some(Step::Many) | None => true,
        };
        Some(Fence { base: base.to_owned(), steps, below: list == List::Forbid || named })
    }

    /// Whether it names what it covers, rather than covering whatever is there: its text, stars left as they are or left out,
    /// is a path that `is_such` knows.
    pub(crate) fn names(&self, bases: Bases<'_>, is_such: &dyn Fn(&Path) -> bool) -> bool {
        let Some(fence) = self.fence(bases, List::Allow) else { return false };
        let spelled = |with_stars: bool| {
            let mut path = fence.base.clone();
            for step in &fence.steps {
                match step {
                    Step::Many => {}
                    Step::One(glob) if with_stars => path.push(glob.text()),
                    Step::One(glob) => path.push(glob.text().replace(['*', '?'], "")),
                }
            }
            path
        };
        [spelled(true), spelled(false)].iter().any(|path| is_such(path))
    }
}

/// Where a pattern starts, and what stands behind that.
fn anchored(text: &str) -> Result<(Anchor, &str), String> {
    if let Some(rest) = text.strip_prefix("//") {
        return Ok((Anchor::Root, rest));
    }
    if let Some(rest) = text.strip_prefix('~') {
        return match rest.strip_prefix('/') {
            Some(rest) => Ok((Anchor::Home, rest)),
            None if rest.is_empty() => Ok((Anchor::Home, rest)),
            None => {
                Err("begins with the home folder of another user; write its path with `//` before it"
                    .to_owned())
            }
        };
    }
    match text.strip_prefix('/').or_else(|| text.strip_prefix("./")) {
        Some(rest) => Ok((Anchor::Workspace, rest)),
        None if text.trim_end_matches('/').contains('/') => Ok((Anchor::Workspace, text)),
        None => Ok((Anchor::AnyDepth, text)),
    }
}

impl Fence {
    /// Whether a path is behind it; the path is absolute and has no `..`.
    pub(crate) fn holds(&self, path: &Path, case: Case) -> bool {
        let Ok(rest) = path.strip_prefix(&self.base) else { return false };
        run(&self.steps, names(rest), self.below, |glob, name| glob.fits(name, case))
    }

    /// Whether a file that a shell puts in the place of `pattern`, under `folder`, could be behind it.
    pub(crate) fn may_hold(&self, folder: &Path, pattern: &[Step]) -> bool {
        let shell: Vec<Step> = exactly(folder).chain(pattern.iter().cloned()).collect();
        let below = self.below.then_some(Step::Many);
        let own: Vec<Step> = exactly(&self.base).chain(self.steps.iter().cloned()).chain(below).collect();
        overlap(
            &own,
            &shell,
            |step| *step == Step::Many,
            |one, other| match (one, other) {
                (Step::One(one), Step::One(other)) => one.overlaps(other),
                (Step::Many, _) | (_, Step::Many) => true,
            },
        )
    }

    /// The same behind the real path of its fixed beginning, if a link leads elsewhere.
    pub(crate) fn behind_links(&self, world: &dyn World) -> Option<Self> {
        let (fixed, steps) = self.fixed();
        let real = world.real(&fixed);
        (real != fixed).then(|| Self { base: real, steps: steps.to_vec(), below: self.below })
    }

    /// The part without wildcards, as a path, and the steps behind it.
    pub(crate) fn fixed(&self) -> (PathBuf, &[Step]) {
        let mut path = self.base.clone();
        let mut steps = self.steps.as_slice();
        while let [Step::One(glob), rest @ ..] = steps
            && let Some(name) = glob.name()
        {
            path.push(name);
            steps = rest;
        }
        (path, steps)
    }

    /// Whether paths at any depth of the whole system are behind it.
    pub(crate) fn at_any_depth(&self) -> bool {
        self.base == Path::new("/") && self.steps.first() == Some(&Step::Many)
    }

    /// The first name that every path behind it has, beginning aside.
    pub(crate) fn first_name(&self) -> Option<&str> {
        let first = self.steps.iter().find_map(|step| match step {
            Step::Many => None,
            Step::One(glob) => Some(glob),
        });
        first.and_then(Glob::name)
    }

    /// The steps behind its beginning, as text.
    pub(crate) fn text(&self) -> String {
        let parts = self.steps.iter().map(|step| match step {
            Step::Many => "**",
            Step::One(glob) => glob.text(),
        });
        parts.collect::<Vec<_>>().join("/")
    }
}

/// The names that a path consists of, as bytes: cheaper than its components, and no path here has `..`.
fn names(path: &Path) -> impl Iterator<Item = &[u8]> + Clone {
    let parts = path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/');
    parts.filter(|name| !name.is_empty() && *name != b".")
}

/// The steps that a path alone fits.
fn exactly(path: &Path) -> impl Iterator<Item = Step> {
    names(path).map(|name| Step::One(Glob::exactly(&String::from_utf8_lossy(name))))
}

/// Whether items fit steps: all of them, or with `below` the first of them.
pub(crate) fn run<I: Iterator + Clone>(
    steps: &[Step],
    items: I,
    below: bool,
    fits: impl Fn(&Glob, &I::Item) -> bool,
) -> bool {
    let (mut steps, mut items) = (steps, items);
    // Where to go on if it fails: behind the last `**`, which then takes one more item.
    let mut back: Option<(&[Step], I)> = None;
    loop {
        match steps {
            [Step::Many] => return true,
            [] if below => return true,
            [Step::Many, rest @ ..] => {
                back = Some((rest, items.clone()));
                steps = rest;
                continue;
            }
            [] | [Step::One(_), ..] => {}
        }
        let item = items.next();
        match (steps, &item) {
            ([], None) => return true,
            ([Step::One(glob), rest @ ..], Some(item)) if fits(glob, item) => steps = rest,
            (_, _) => {
                let Some((after, mut from)) = back else { return false };
                if from.next().is_none() {
                    return false;
                }
                steps = after;
                items = from.clone();
                back = Some((after, from));
            }
        }
    }
}
