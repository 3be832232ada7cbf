//! `edit_file`: a text in a file is replaced by another.

use std::path::Path;

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{self, Changed, Held, diff_shown, snippet};
use crate::style;
use crate::words;
use rail_edit::diff::file_diff;
use rail_edit::edit::{Applied, Edit, Extent, Places, Step, Told, apply};
use rail_edit::lines::{count, line_at};

/// Replaces text in a file.
pub(crate) struct EditFile;

/// What `edit_file` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Absolute path.
    pub(crate) file_path: String,
    /// The text to replace.
    pub(crate) old_string: String,
    /// The text that takes its place.
    pub(crate) new_string: String,
    /// Replace it everywhere.
    #[serde(default)]
    pub(crate) replace_all: bool,
    /// How many places there must be, if more than one.
    #[serde(default)]
    pub(crate) expected_replacements: Option<usize>,
}

impl Tool for EditFile {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "edit_file",
        title: "Edit",
        summary: "Replaces a text in a file by another",
        prompt: include_str!("prompts/edit_file.md"),
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        let mut facets = vec![Facet::Write(cx.path(&input.file_path))];
        if input.old_string.is_empty() {
            facets.extend(style::facets(&cx.path(&input.file_path), cx));
        }
        facets
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let held = cx.clone();
        cx.blocking(move || run(&input, &held)).await
    }

    fn examples() -> &'static [Example] {
        &[
            Example {
                about: "a text that is there once",
                files: &[("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n")],
                read: &["src/main.rs"],
                input: r#"{"file_path": "{workspace}/src/main.rs", "old_string": "\"hello\"", "new_string": "\"hello, world\""}"#,
                output: "`{workspace}/src/main.rs` was changed at line 2:\n1\tfn main() {\n2\t    println!(\"hello, world\");\n3\t}",
                after: &[("src/main.rs", "fn main() {\n    println!(\"hello, world\");\n}\n")],
            },
            Example {
                about: "a text that is indented otherwise: the new one is shifted likewise",
                files: &[("a.py", "def f():\n    if x:\n        y()\n")],
                read: &["a.py"],
                input: r#"{"file_path": "{workspace}/a.py", "old_string": "if x:\n    y()\n", "new_string": "if x:\n    y()\n    z()\n"}"#,
                output: "`{workspace}/a.py` was changed at line 2; the old text was found apart from indentation:\n1\tdef f():\n2\t    if x:\n3\t        y()\n4\t        z()",
                after: &[("a.py", "def f():\n    if x:\n        y()\n        z()\n")],
            },
            Example {
                about: "a text that is at several places",
                files: &[("a.txt", "one\ntwo\none\n")],
                read: &["a.txt"],
                input: r#"{"file_path": "{workspace}/a.txt", "old_string": "one", "new_string": "three"}"#,
                output: "`{workspace}/a.txt` was left as it is: `old_string` is at 2 places (lines 1 and 3): add lines around the one you mean, or set `replace_all`",
                after: &[("a.txt", "one\ntwo\none\n")],
            },
            Example {
                about: "a file that was not read",
                files: &[("a.txt", "one\n")],
                read: &[],
                input: r#"{"file_path": "{workspace}/a.txt", "old_string": "one", "new_string": "two"}"#,
                output: "`{workspace}/a.txt` was not read in this session, so it was left as it is. It says:\none\nMake the change anew, with the old text copied from this",
                after: &[("a.txt", "one\n")],
            },
        ]
    }
}

fn run(input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let path = cx.path(&input.file_path);
    no_notebook(&path)?;
    if input.old_string.is_empty() {
        return create(input, &path, cx);
    }
    let held = Held::existing(cx, &path)?;
    let applied =
        apply(&held.text.text, &edit(input)).map_err(|fault| left(&path, &fault.say(Told::Parameter)))?;
    let changed = held.write(cx, &path, &applied.text)?;
    let about = about(&path, &applied);
    Ok(done(&about, &held, changed, &applied, cx))
}

/// The edit that an input means.
pub(crate) fn edit(input: &Input) -> Edit<'_> {
    Edit { old: &input.old_string, new: &input.new_string, places: places(input), extent: Extent::Anywhere }
}

fn places(input: &Input) -> Places {
    match (input.expected_replacements, input.replace_all) {
        (Some(count), _) if count > 1 => Places::Exactly(count),
        (Some(_) | None, true) => Places::All,
        (Some(_) | None, false) => Places::One,
    }
}

/// An empty old text makes a file; one that holds something is not overwritten so.
fn create(input: &Input, path: &Path, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let content = style::in_style(&input.new_string, path, cx);
    let changed = match Held::of(cx, path)? {
        None => change::create(cx, path, &content)?,
        Some(held) if held.text.text.is_empty() => held.write(cx, path, &content)?,
        Some(_) => {
            let why = "there is text in it, and an empty ‹old_string› only makes new files: give the text that is to be replaced";
            return Err(left(path, why));
        }
    };
    let say = format!("`{}` was made, with {}", shown(path), lines_of(&content));
    let diff = file_diff(&changed.real, "", &content);
    Ok(ToolOutput::text(with_remarks(say, &changed)).shown(diff_shown(vec![diff], cx)).noted(changed.notes))
}

/// Notebooks are JSON that is easily broken.
pub(crate) fn no_notebook(path: &Path) -> Result<(), ToolFault> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb")) {
        return Err(left(path, "it is a notebook: change its cells with ‹notebook_edit›"));
    }
    Ok(())
}

/// A fault after which the file is what it was.
pub(crate) fn left(path: &Path, why: &str) -> ToolFault {
    ToolFault::new(format!("`{}` was left as it is: {why}", shown(path)))
}

/// `1 line`, `3 lines`.
pub(crate) fn lines_of(text: &str) -> String {
    words::count(count(text) as u64, "line")
}

fn about(path: &Path, applied: &Applied) -> String {
    let path = shown(path);
    let line = |place: usize| line_at(&applied.text, place);
    let places = match applied.places.as_slice() {
        [one] => format!("line {}", line(one.start)),
        several => format!("{} places", several.len()),
    };
    format!("`{path}` was changed at {places}{}", step_words(applied.step))
}

/// How a place was found, if not by the exact text.
pub(crate) fn step_words(step: Step) -> String {
    step.differs().map(|what| format!("; the old text was found apart from {what}")).unwrap_or_default()
}

/// What a changed file gives.
pub(crate) fn done(about: &str, held: &Held, changed: Changed, applied: &Applied, cx: &ToolCx) -> ToolOutput {
    let diff = file_diff(&changed.real, &held.text.text, &applied.text);
    let snippet = snippet(&applied.text, &applied.places, cx.session().limits.edit_lines);
    let say =
        if snippet.is_empty() { format!("{about}; it is empty now") } else { format!("{about}:\n{snippet}") };
    ToolOutput::text(with_remarks(say, &changed)).shown(diff_shown(vec![diff], cx)).noted(changed.notes)
}

/// What is said, and what else the model should know.
pub(crate) fn with_remarks(say: String, changed: &Changed) -> String {
    changed.remarks.iter().fold(say, |say, remark| format!("{say}\n{remark}"))
}
