//! `write_file`: a file with new content, or a new file.

use std::path::Path;

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{self, Held, diff_shown};
use crate::edit_file::{lines_of, with_remarks};
use crate::style;
use rail_edit::diff::file_diff;
use rail_edit::edit::rewritten;

/// Writes a whole file.
pub(crate) struct WriteFile;

/// What `write_file` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Absolute path.
    pub(crate) file_path: String,
    /// All that is to stand in it.
    pub(crate) content: String,
}

impl Tool for WriteFile {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "write_file",
        title: "Write",
        summary: "Writes a whole file",
        prompt: include_str!("prompts/write_file.md"),
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        let path = cx.path(&input.file_path);
        let around = style::facets(&path, cx);
        [Facet::Write(path)].into_iter().chain(around).collect()
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let held = cx.clone();
        cx.blocking(move || run(&input, &held)).await
    }

    fn examples() -> &'static [Example] {
        &[
            Example {
                about: "a new file in a new folder",
                files: &[],
                read: &[],
                input: r#"{"file_path": "{workspace}/docs/notes.md", "content": "one\ntwo\n"}"#,
                output: "`{workspace}/docs/notes.md` was made, with 2 lines",
                after: &[("docs/notes.md", "one\ntwo\n")],
            },
            Example {
                about: "line endings stay as they were",
                files: &[("a.bat", "@echo off\r\necho 1\r\n")],
                read: &["a.bat"],
                input: r#"{"file_path": "{workspace}/a.bat", "content": "@echo off\necho 2\n"}"#,
                output: "`{workspace}/a.bat` was written, with 2 lines (1 added, 1 removed)",
                after: &[("a.bat", "@echo off\r\necho 2\r\n")],
            },
            Example {
                about: "a file that was not read",
                files: &[("a.txt", "one\n")],
                read: &[],
                input: r#"{"file_path": "{workspace}/a.txt", "content": "two\n"}"#,
                output: "`{workspace}/a.txt` was not read in this session: read it with `read_file` first, then change it",
                after: &[("a.txt", "one\n")],
            },
        ]
    }
}

fn run(input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let path = cx.path(&input.file_path);
    match Held::of(cx, &path)? {
        Some(held) => overwrite(input, &path, &held, cx),
        None => make(input, &path, cx),
    }
}

fn make(input: &Input, path: &Path, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let content = style::in_style(&input.content, path, cx);
    let changed = change::create(cx, path, &content)?;
    let say = format!("`{}` was made, with {}", shown(path), lines_of(&content));
    let diff = file_diff(&changed.real, "", &content);
    Ok(ToolOutput::text(say).shown(diff_shown(vec![diff], cx)).noted(changed.notes))
}

fn overwrite(input: &Input, path: &Path, held: &Held, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let content = rewritten(&held.text.text, &input.content);
    let changed = held.write(cx, path, &content)?;
    let diff = file_diff(&changed.real, &held.text.text, &content);
    let (path, lines) = (shown(path), lines_of(&content));
    let say = format!("`{path}` was written, with {lines} ({} added, {} removed)", diff.added, diff.removed);
    Ok(ToolOutput::text(with_remarks(say, &changed)).shown(diff_shown(vec![diff], cx)).noted(changed.notes))
}
