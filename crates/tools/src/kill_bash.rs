use std::time::Duration;

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Given, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::bash_output::news;
use crate::shell::shells::Shells;

/// How long a command has to end by itself when it is asked to.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Ends a command in the background.
pub(crate) struct KillBash;

/// A command in the background.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct KillBashInput {
    /// The id that `bash` gave.
    shell_id: String,
}

impl Tool for KillBash {
    type Input = KillBashInput;

    const CARD: Card<'static> = Card {
        name: "kill_bash",
        title: "Kill bash",
        summary: "Ends a command in the background",
        prompt: include_str!("prompts/kill_bash.md"),
        generation: Generation::Gen1,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    /// It ends nothing but what this session has started.
    fn facets(_: &KillBashInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: KillBashInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let shells = cx.session().services.get::<Shells>();
        let shell = shells.find(&input.shell_id)?;
        let running = shell.process.ended().is_none();
        if shell.kill(GRACE).await.is_none() {
            return Err(ToolFault::new(format!(
                "`{}` could not be ended: the system holds its process {}. Try again later",
                shell.id(),
                shell.process.id()
            )));
        }
        let mut read = shell.read.lock().await;
        let mut output = news(&shell, &mut read, None, &cx);
        shells.forget(&shell);
        if !running {
            output.parts.push(Given::Text("It had ended before.".into()));
        }
        Ok(output)
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

const EXAMPLES: &[Example] = &[Example {
    about: "A command that is not there",
    files: &[],
    read: &[],
    input: r#"{"shell_id": "bash_7"}"#,
    output: "there is no command `bash_7` in the background; one that ended is forgotten when its end was read. There are none.",
    after: &[],
}];
