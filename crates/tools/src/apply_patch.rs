//! `apply_patch`: changes of several files in one text, all or none.

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Telling, Tool, ToolCx, ToolFault,
    ToolOutput,
};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::change::diff_shown;
use crate::patching::Plan;
use crate::style;
use rail_edit::patch::{FilePatch, Patch, parse};

/// Changes several files by a patch.
pub(crate) struct ApplyPatch;

/// What `apply_patch` takes: an object with the patch, or the patch alone.
#[derive(Debug, JsonSchema)]
pub(crate) struct Input {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    #[schemars(with = "String")]
    pub(crate) patch: Patch,
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Object { patch: String },
        }
        let (Form::Text(patch) | Form::Object { patch }) = Form::deserialize(from)?;
        // A patch that can't be read is refused here, before anybody is asked whether it may be applied.
        parse(&patch).map(|patch| Self { patch }).map_err(D::Error::custom)
    }
}

impl Tool for ApplyPatch {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "apply_patch",
        title: "Patch",
        summary: "Changes several files by one patch, all or none",
        prompt: include_str!("prompts/apply_patch.md"),
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::InDialect("codex"),
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        let mut facets = Vec::new();
        for file in &input.patch.files {
            let path = cx.path(file.path());
            match file {
                FilePatch::Add { .. } => facets.extend(style::facets(&path, cx)),
                FilePatch::Update { to: Some(to), .. } => facets.push(Facet::Write(cx.path(to))),
                FilePatch::Update { to: None, .. } | FilePatch::Delete { .. } => {}
            }
            facets.push(Facet::Write(path));
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
                about: "a file changed, one made and one removed",
                files: &[("src/a.rs", "fn a() {\n    one();\n}\n"), ("old.txt", "gone\n")],
                read: &[],
                input: r#"{"patch": "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a() {\n-    one();\n+    two();\n*** Add File: new.txt\n+hello\n*** Delete File: old.txt\n*** End Patch"}"#,
                output: "the patch was applied:\nM `{workspace}/src/a.rs` (1 added, 1 removed)\nA `{workspace}/new.txt` (1 added)\nD `{workspace}/old.txt` (1 removed)",
                after: &[("src/a.rs", "fn a() {\n    two();\n}\n"), ("new.txt", "hello\n")],
            },
            Example {
                about: "a change that does not fit: no file is changed",
                files: &[("a.txt", "one\n")],
                read: &[],
                input: r#"{"patch": "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** Update File: a.txt\n-xyz\n+two\n*** End Patch"}"#,
                output: "no file was changed: `{workspace}/a.txt`: the hunk at line 5 of the patch: the old text of the hunk is not in the file, nor anything like it: search for it with `grep`, or read the file again with `read_file`",
                after: &[("a.txt", "one\n")],
            },
        ]
    }
}

fn run(input: &Input, cx: &ToolCx) -> Result<ToolOutput, ToolFault> {
    let plan = Plan::of(&input.patch, cx).map_err(|fault| ToolFault {
        say: Telling::said("no file was changed: ").then(fault.say),
        cause: fault.cause,
    })?;
    if cx.cancel().is_cancelled() {
        return Err(ToolFault::new("no file was changed: the call was cancelled"));
    }
    let done = plan.carry_out(cx)?;
    let say = format!("the patch was applied:\n{}", done.says.join("\n"));
    Ok(ToolOutput::text(say).shown(diff_shown(done.diffs, cx)).noted(done.notes))
}
