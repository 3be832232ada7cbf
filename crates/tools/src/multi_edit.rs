//! `multi_edit`: several edits of one file, all or none.

use std::ops::Range;

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::Held;
use crate::edit_file::{done, left, no_notebook, step_words};
use crate::words;
use rail_edit::edit::{Applied, Edit, EditFault, Extent, Places, Step, Told, apply};

/// Makes several edits of one file.
pub(crate) struct MultiEdit;

/// What `multi_edit` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Absolute path.
    pub(crate) file_path: String,
    /// Made in order; each sees what the ones before it left.
    #[schemars(length(min = 1))]
    pub(crate) edits: Vec<OneEdit>,
}

/// One of the edits.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct OneEdit {
    /// The text to replace.
    pub(crate) old_string: String,
    /// The text that takes its place.
    pub(crate) new_string: String,
    /// Replace it everywhere.
    #[serde(default)]
    pub(crate) replace_all: bool,
}

impl Tool for MultiEdit {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "multi_edit",
        title: "Edit",
        summary: "Makes several edits of one file, all or none: `edits` is a list of `old_string` and `new_string` as in `edit_file`",
        prompt: include_str!("prompts/multi_edit.md"),
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Write(cx.path(&input.file_path))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let held = cx.clone();
        cx.blocking(move || run(&input, &held)).await
    }

    fn examples() -> &'static [Example] {
        &[
            Example {
                about: "two edits, the second sees what the first left",
                files: &[("a.txt", "one\ntwo\n")],
                read: &["a.txt"],
                input: r#"{"file_path": "{workspace}/a.txt", "edits": [{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "1\n2"}]}"#,
                output: "`{workspace}/a.txt` was changed by 2 edits:\n1\t1\n2\t2",
                after: &[("a.txt", "1\n2\n")],
            },
            Example {
                about: "one edit that can't be made: none is",
                files: &[("a.txt", "one\ntwo\n")],
                read: &["a.txt"],
                input: r#"{"file_path": "{workspace}/a.txt", "edits": [{"old_string": "one", "new_string": "1"}, {"old_string": "xyz", "new_string": "3"}]}"#,
                output: "`{workspace}/a.txt` was left as it is, no edit was made: edit 2 of 2: `old_string` is not in the file, nor anything like it: search for it with `grep`, or read the file again with `read_file`",
                after: &[("a.txt", "one\ntwo\n")],
            },
        ]
    }
}

fn run(input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let path = cx.path(&input.file_path);
    no_notebook(&path)?;
    if input.edits.is_empty() {
        return Err(left(&path, "‹edits› is empty: give at least one edit"));
    }
    let held = Held::existing(cx, &path)?;
    let applied = all(&held.text.text, &input.edits).map_err(|(nth, fault)| {
        let (nth, count, why) = (nth + 1, input.edits.len(), fault.say(Told::Parameter));
        ToolFault::new(format!(
            "`{}` was left as it is, no edit was made: edit {nth} of {count}: {why}",
            shown(&path)
        ))
    })?;
    if applied.text == held.text.text {
        return Err(left(&path, "the edits together change nothing"));
    }
    let changed = held.write(cx, &path, &applied.text)?;
    let edits = words::count(input.edits.len() as u64, "edit");
    let about = format!("`{}` was changed by {edits}{}", shown(&path), step_words(applied.step));
    Ok(done(&about, &held, changed, &applied, cx))
}

/// The edits one after the other; the step is the one that went furthest from the exact text.
pub(crate) fn all(text: &str, edits: &[OneEdit]) -> Result<Applied, (usize, EditFault)> {
    let mut all = Applied { text: text.to_owned(), step: Step::Exact, places: Vec::new() };
    for (nth, edit) in edits.iter().enumerate() {
        let places = if edit.replace_all { Places::All } else { Places::One };
        let edit = Edit { old: &edit.old_string, new: &edit.new_string, places, extent: Extent::Anywhere };
        let before = all.text.len();
        let next = apply(&all.text, &edit).map_err(|fault| (nth, fault))?;
        all.places = joined(&all.places, &next, before);
        all.step = all.step.max(next.step);
        all.text = next.text;
    }
    Ok(all)
}

/// Places of earlier edits as they are after the next one, together with its own, in order.
fn joined(earlier: &[Range<usize>], next: &Applied, before: usize) -> Vec<Range<usize>> {
    // With one new place everything behind it moves alike; with several, the snippet shows those alone.
    let [place] = next.places.as_slice() else { return next.places.clone() };
    let grown = next.text.len() as isize - before as isize;
    let moved =
        |at: usize| if at <= place.start { at } else { at.saturating_add_signed(grown).max(place.start) };
    let mut places: Vec<Range<usize>> =
        earlier.iter().map(|range| moved(range.start)..moved(range.end)).chain([place.clone()]).collect();
    places.sort_by_key(|range| (range.start, range.end));
    places
}
