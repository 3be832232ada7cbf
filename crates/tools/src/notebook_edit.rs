//! `notebook_edit`: one cell of a notebook is replaced, inserted or deleted.

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::change::{Held, diff_shown};
use crate::edit_file::{left, with_remarks};
use crate::notebook::{CellAct, CellEdit, CellKind, edited};
use rail_edit::diff::file_diff;

/// Changes one cell of a notebook.
pub(crate) struct NotebookEdit;

/// What `notebook_edit` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Absolute path of the `.ipynb` file.
    pub(crate) notebook_path: String,
    /// Its id as `read_file` shows it, or `cell-N`, from 0; a new cell comes after it, or first without it.
    #[serde(default)]
    pub(crate) cell_id: Option<String>,
    /// The new source.
    #[serde(default)]
    pub(crate) new_source: Option<String>,
    /// Needed for a new cell.
    #[serde(default)]
    pub(crate) cell_type: Option<CellType>,
    /// `replace` if not given.
    #[serde(default)]
    pub(crate) edit_mode: EditMode,
}

/// What a cell is.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CellType {
    Code,
    Markdown,
}

/// What is done with a cell.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl Tool for NotebookEdit {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "notebook_edit",
        title: "Edit notebook",
        summary: "Replaces, inserts or deletes one cell of a Jupyter notebook",
        prompt: include_str!("prompts/notebook_edit.md"),
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Write(cx.path(&input.notebook_path))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let held = cx.clone();
        cx.blocking(move || run(&input, &held)).await
    }

    fn examples() -> &'static [Example] {
        &[
            Example {
                about: "a code cell gets another source: what it gave is cleared",
                files: &[(
                    "a.ipynb",
                    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \"outputs\": [\n    1\n   ],\n   \"source\": [\n    \"x = 1\"\n   ]\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
                )],
                read: &["a.ipynb"],
                input: r#"{"notebook_path": "{workspace}/a.ipynb", "cell_id": "a1", "new_source": "x = 2"}"#,
                output: "the cell `a1` of `{workspace}/a.ipynb` was replaced",
                after: &[(
                    "a.ipynb",
                    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"x = 2\"\n   ]\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
                )],
            },
            Example {
                about: "a new cell in a notebook without ids",
                files: &[("a.ipynb", "{\"cells\": [], \"nbformat\": 4, \"nbformat_minor\": 4}\n")],
                read: &["a.ipynb"],
                input: r##"{"notebook_path": "{workspace}/a.ipynb", "new_source": "# Title", "cell_type": "markdown", "edit_mode": "insert"}"##,
                output: "the cell `cell-0` was inserted in `{workspace}/a.ipynb`",
                after: &[(
                    "a.ipynb",
                    "{\"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"metadata\": {},\n   \"source\": [\n    \"# Title\"\n   ]\n  }\n ], \"nbformat\": 4, \"nbformat_minor\": 4}\n",
                )],
            },
            Example {
                about: "a cell that is not there",
                files: &[("a.ipynb", "{\"cells\": [{\"id\": \"a1\"}], \"nbformat\": 4}\n")],
                read: &["a.ipynb"],
                input: r#"{"notebook_path": "{workspace}/a.ipynb", "cell_id": "b2", "edit_mode": "delete"}"#,
                output: "`{workspace}/a.ipynb` was left as it is: there is no cell `b2`; its cells are `a1`",
                after: &[("a.ipynb", "{\"cells\": [{\"id\": \"a1\"}], \"nbformat\": 4}\n")],
            },
        ]
    }
}

fn run(input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let path = cx.path(&input.notebook_path);
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("ipynb")) {
        return Err(left(&path, "it is no notebook (`.ipynb`): change it with ‹edit_file›"));
    }
    let act = act(input).map_err(|why| left(&path, why))?;
    let held = Held::existing(cx, &path)?;
    let edit = CellEdit { cell: input.cell_id.as_deref(), act };
    let made = edited(&held.text.text, &edit).map_err(|fault| left(&path, &fault.to_string()))?;
    if made.text == held.text.text {
        return Err(left(&path, "the cell has this source already: there is nothing to change"));
    }
    let changed = held.write(cx, &path, &made.text)?;
    let (cell, name) = (&made.cell, shown(&path));
    let say = match act {
        CellAct::Replace(..) => format!("the cell `{cell}` of `{name}` was replaced"),
        CellAct::Insert(..) => format!("the cell `{cell}` was inserted in `{name}`"),
        CellAct::Delete => format!("the cell `{cell}` of `{name}` was deleted"),
    };
    let diff = file_diff(&changed.real, &held.text.text, &made.text);
    Ok(ToolOutput::text(with_remarks(say, &changed)).shown(diff_shown(vec![diff], cx)).noted(changed.notes))
}

fn act(input: &Input) -> Result<CellAct<'_>, &'static str> {
    let kind = input.cell_type.map(|kind| match kind {
        CellType::Code => CellKind::Code,
        CellType::Markdown => CellKind::Markdown,
    });
    let source = input.new_source.as_deref();
    let missing = "‹new_source› is missing: give the source that the cell is to have";
    match input.edit_mode {
        EditMode::Replace => Ok(CellAct::Replace(source.ok_or(missing)?, kind)),
        EditMode::Insert => {
            let kind = kind.ok_or("‹cell_type› is missing: a new cell is `code` or `markdown`")?;
            Ok(CellAct::Insert(source.ok_or(missing)?, kind))
        }
        EditMode::Delete => Ok(CellAct::Delete),
    }
}
