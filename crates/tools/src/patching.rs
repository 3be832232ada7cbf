//! What a patch means for the files that are there: everything is looked at first, then everything is done, or undone again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rail_tool::{Expected, FileDiff, FileFault, OutputNote, Stale, Telling, ToolCx, ToolFault, shown};

use crate::change::{self, Held, memory_note, say};
use crate::style;
use crate::text::Text;
use rail_edit::diff::{file_diff, moved_diff};
use rail_edit::patch::{FilePatch, Patch, PatchHunk, patched};

/// What is to be done, and what will be said of it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    acts: Vec<Act>,
    done: Done,
}

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// A line for each file.
    pub(crate) says: Vec<String>,
    /// For front ends.
    pub(crate) diffs: Vec<FileDiff>,
    /// For the session.
    pub(crate) notes: Vec<OutputNote>,
}

/// One thing that is done to the file system and can be undone.
#[derive(Debug)]
enum Act {
    Write { path: PathBuf, bytes: Vec<u8>, before: Option<Vec<u8>> },
    Rename { from: PathBuf, to: PathBuf, bytes: Vec<u8> },
    Remove { path: PathBuf, before: Vec<u8> },
}

/// A file as it is, and as it will be so far.
struct Future {
    held: Option<Held>,
    text: Option<String>,
    to: Option<PathBuf>,
    differs: Option<&'static str>,
}

impl Plan {
    /// Looks at every file.
    ///
    /// # Errors
    /// The first change that can't be made.
    pub(crate) fn of(patch: &Patch, cx: &ToolCx) -> Result<Self, ToolFault> {
        let mut plan = Self::default();
        let mut futures: Vec<(PathBuf, Future)> = Vec::new();
        let mut removed = BTreeMap::new();
        for file in &patch.files {
            let path = cx.path(file.path());
            match file {
                FilePatch::Add { content, .. } => add(&mut futures, path, content, cx)?,
                FilePatch::Delete { .. } => {
                    futures.retain(|(other, _)| *other != path);
                    removed.insert(path.clone(), removable(&path, cx)?);
                }
                FilePatch::Update { to, hunks, .. } => {
                    let to = to.as_ref().map(|to| cx.path(to)).filter(|to| *to != path);
                    update(&mut futures, path, to, hunks, cx)?;
                }
            }
        }
        for (path, future) in futures {
            plan.change(&path, future)?;
        }
        // Removals come last: what is written can be undone without a trace.
        for (path, before) in removed {
            plan.remove(path, before);
        }
        Ok(plan)
    }

    fn change(&mut self, path: &Path, future: Future) -> Result<(), ToolFault> {
        let Some(text) = future.text else { return Ok(()) };
        let old = future.held.as_ref().map(|held| held.text.text.as_str());
        let bytes = match &future.held {
            Some(held) => held.encoded(path, &text)?.into_owned(),
            None => text.clone().into_bytes(),
        };
        let diff = match &future.to {
            Some(to) => moved_diff(path.to_owned(), to, old.unwrap_or_default(), &text),
            None => file_diff(path, old.unwrap_or_default(), &text),
        };
        let differs = future
            .differs
            .map(|what| format!("; old lines were found apart from {what}"))
            .unwrap_or_default();
        let name = shown(path);
        self.done.says.push(match (&future.held, &future.to) {
            (None, _) => format!("A `{name}` ({} added)", diff.added),
            (Some(_), Some(to)) => {
                format!(
                    "M `{name}` to `{}` ({} added, {} removed){differs}",
                    shown(to),
                    diff.added,
                    diff.removed
                )
            }
            (Some(_), None) => {
                format!("M `{name}` ({} added, {} removed){differs}", diff.added, diff.removed)
            }
        });
        self.done.diffs.push(diff);
        if old != Some(text.as_str()) {
            let before = future.held.map(Held::into_bytes);
            self.acts.push(Act::Write { path: path.to_owned(), bytes: bytes.clone(), before });
        }
        if let Some(to) = future.to {
            self.acts.push(Act::Rename { from: path.to_owned(), to, bytes });
        }
        Ok(())
    }

    fn remove(&mut self, path: PathBuf, before: Vec<u8>) {
        let text = Text::read(&before).map(|text| text.text).unwrap_or_default();
        let diff = file_diff(&path, &text, "");
        self.done.says.push(format!("D `{}` ({} removed)", shown(&path), diff.removed));
        self.done.diffs.push(diff);
        self.acts.push(Act::Remove { path, before });
    }

    /// Does everything. If something fails, what was done before it is undone.
    ///
    /// # Errors
    /// What failed, and what could not be undone.
    pub(crate) fn carry_out(mut self, cx: &ToolCx) -> Result<Done, ToolFault> {
        for (at, act) in self.acts.iter().enumerate() {
            match act.carry_out(cx) {
                Ok(notes) => self.done.notes.extend(notes),
                Err(fault) => return Err(undone(self.acts.get(..at).unwrap_or_default(), &fault, cx)),
            }
        }
        Ok(self.done)
    }
}

impl Act {
    fn carry_out(&self, cx: &ToolCx) -> Result<Vec<OutputNote>, FileFault> {
        let stamps = &cx.session().stamps;
        match self {
            Self::Write { path, bytes, before } => {
                let expected = before.as_deref().map_or(Expected::Nothing, Expected::Bytes);
                let opened = cx.files().replace(path, bytes, expected)?;
                stamps.saw(&opened.real, &opened.meta, bytes);
                Ok(memory_note(cx, &opened.real))
            }
            Self::Rename { from, to, bytes } => {
                let real = cx.files().rename(from, to)?;
                stamps.forget(from);
                if let Ok(opened) = cx.files().open(&real) {
                    stamps.saw(&real, &opened.meta, bytes);
                }
                Ok([memory_note(cx, from), memory_note(cx, &real)].concat())
            }
            Self::Remove { path, .. } => {
                let real = cx.files().remove(path)?;
                stamps.forget(&real);
                Ok(memory_note(cx, &real))
            }
        }
    }

    /// Makes it as it was before.
    fn undo(&self, cx: &ToolCx) -> Result<(), FileFault> {
        let files = cx.files();
        match self {
            Self::Write { path, before: None, .. } => files.remove(path).map(drop),
            Self::Write { path, bytes, before: Some(before) } => {
                let opened = files.replace(path, before, Expected::Bytes(bytes))?;
                cx.session().stamps.saw(&opened.real, &opened.meta, before);
                Ok(())
            }
            Self::Rename { from, to, .. } => files.rename(to, from).map(drop),
            Self::Remove { path, before } => files.replace(path, before, Expected::Nothing).map(drop),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Remove { path, .. } => path,
            Self::Rename { to, .. } => to,
        }
    }
}

/// Undoes what was done, and says what failed.
fn undone(done: &[Act], fault: &FileFault, cx: &ToolCx) -> ToolFault {
    let stuck: Vec<String> = done
        .iter()
        .rev()
        .filter_map(|act| act.undo(cx).err().map(|fault| format!("`{}` ({fault})", shown(act.path()))))
        .collect();
    let ToolFault { say, cause } = say(fault);
    let begin = if stuck.is_empty() {
        "no file was changed".to_owned()
    } else {
        format!(
            "the patch failed halfway, and what it had done could not be undone everywhere; look at these files again: {}",
            stuck.join(", ")
        )
    };
    ToolFault { say: Telling::said(format!("{begin}: ")).then(say), cause }
}

fn add(
    futures: &mut Vec<(PathBuf, Future)>,
    path: PathBuf,
    content: &str,
    cx: &ToolCx,
) -> Result<(), ToolFault> {
    let twice = futures.iter().any(|(other, _)| *other == path);
    if twice || change::read(cx, &path)?.is_some() {
        let why = "there is such a file already: change it with `*** Update File:`";
        return Err(ToolFault::new(format!("`{}`: {why}", shown(&path))));
    }
    let text = Some(style::in_style(content, &path, cx));
    futures.push((path, Future { held: None, text, to: None, differs: None }));
    Ok(())
}

fn update(
    futures: &mut Vec<(PathBuf, Future)>,
    path: PathBuf,
    to: Option<PathBuf>,
    hunks: &[PatchHunk],
    cx: &ToolCx,
) -> Result<(), ToolFault> {
    if let Some(to) = &to {
        free(to, cx)?;
    }
    let at = match futures.iter().position(|(other, _)| *other == path) {
        Some(at) => at,
        None => {
            let held = Held::unread(cx, &path)?.ok_or_else(|| change::missing(cx, &path))?;
            let text = Some(held.text.text.clone());
            futures.push((path.clone(), Future { held: Some(held), text, to: None, differs: None }));
            futures.len() - 1
        }
    };
    let Some((_, future)) = futures.get_mut(at) else { return Ok(()) };
    let text = future.text.clone().unwrap_or_default();
    let made =
        patched(&text, hunks).map_err(|fault| ToolFault::new(format!("`{}`: {fault}", shown(&path))))?;
    future.text = Some(made.text);
    future.differs = made.differs.or(future.differs);
    future.to = to.or(future.to.take());
    Ok(())
}

/// A file is moved only to where nothing is.
fn free(to: &Path, cx: &ToolCx) -> Result<(), ToolFault> {
    match cx.files().open(to) {
        Err(FileFault::Missing { .. }) => Ok(()),
        Err(fault) => Err(say(&fault)),
        Ok(_) => {
            let why = "there is such a file already: remove it first, or move to another name";
            Err(ToolFault::new(format!("`{}`: {why}", shown(to))))
        }
    }
}

/// The bytes of a file that is to be removed. What was read and is another one now is not removed.
fn removable(path: &Path, cx: &ToolCx) -> Result<Vec<u8>, ToolFault> {
    let (opened, bytes) = change::read(cx, path)?.ok_or_else(|| change::missing(cx, path))?;
    match cx.session().stamps.check(&opened.real, &opened.meta, &bytes) {
        Ok(()) | Err(Stale::Unread) => Ok(bytes),
        Err(Stale::Changed) => Err(ToolFault::new(format!(
            "`{}` was changed since it was read: read it again with ‹read_file› before it is removed",
            shown(path)
        ))),
    }
}
