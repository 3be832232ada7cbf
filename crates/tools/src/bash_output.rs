use std::sync::Arc;
use std::time::Duration;

use rail_sandbox::Shape;
use rail_tool::{
    Card, Display, Example, Exec, Facet, FacetCx, Generation, Held, Lane, Level, Shown, Telling, Tool,
    ToolCx, ToolFault, ToolOutput,
};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shell::said;
use crate::shell::shells::{Background, Shells};
use crate::words;

/// How long the answer to an input is waited for when the call does not say.
const ANSWER: Duration = Duration::from_secs(1);
/// How long a command has to read its input.
const READING: Duration = Duration::from_secs(5);
/// Output comes in pieces: after the first of it, it is waited for this long until nothing more comes.
const QUIET: Duration = Duration::from_millis(100);
/// And this long in all.
const SETTLED: Duration = Duration::from_secs(1);

/// Reads what a command in the background printed.
pub(crate) struct BashOutput;

/// A command in the background, and what is wanted of it.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct BashOutputInput {
    /// The id that `bash` gave.
    bash_id: String,
    /// A regular expression: new lines that do not fit are left out for good.
    filter: Option<String>,
    /// Text for the command, written as it is: end a line with `\n`.
    input: Option<String>,
    /// End its input, after `input`.
    #[serde(default)]
    close_input: bool,
    /// Milliseconds to wait for new output, {max_command_timeout} at most.
    wait: Option<u64>,
    /// Needed to give input to a command outside the sandbox; the user is asked.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    outside: bool,
}

impl Tool for BashOutput {
    type Input = BashOutputInput;

    const CARD: Card<'static> = Card {
        name: "bash_output",
        title: "Bash output",
        summary: "Reads what a command in the background printed, and gives it input",
        prompt: include_str!("prompts/bash_output.md"),
        generation: Generation::Gen1,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    /// Reading what a command printed touches nothing; what a shell or an interpreter is given is run by it.
    fn facets(input: &BashOutputInput, cx: &FacetCx<'_>) -> Vec<Facet> {
        let held = if input.outside { Held::Outside } else { Held::Sandbox };
        let given = input.input.as_ref();
        given
            .map(|text| Facet::Exec(Exec { command: text.clone(), cwd: cx.cwd.to_owned(), held }))
            .into_iter()
            .collect()
    }

    async fn run(input: BashOutputInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let filter = input.filter.as_deref().map(pattern).transpose()?;
        let shells = cx.session().services.get::<Shells>();
        let shell = shells.find(&input.bash_id)?;
        let mut read = shell.read.lock().await;
        if let Some(text) = &input.input {
            give(&shell, text, &cx).await?;
        }
        if input.close_input {
            shell.process.close_input().await;
        }
        let asked = input.wait.map(Duration::from_millis);
        let answer = if input.input.is_some() || input.close_input { ANSWER } else { Duration::ZERO };
        wait(&shell, *read, asked.unwrap_or(answer).min(cx.session().limits.command_at_most), &cx).await;
        let news = news(&shell, &mut read, filter.as_ref(), &cx);
        if shell.process.ended().is_some() {
            shells.forget(&shell);
        }
        Ok(news)
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A command that is not there",
        files: &[],
        read: &[],
        input: r#"{"bash_id": "bash_7"}"#,
        output: "there is no command `bash_7` in the background; one that ended is forgotten when its end was read. There are none.",
        after: &[],
    },
    Example {
        about: "A filter that is wrong",
        files: &[],
        read: &[],
        input: r#"{"bash_id": "bash_1", "filter": "error("}"#,
        output: "`filter` is no regular expression: regex parse error:\n    error(\n         ^\nerror: unclosed group; nothing was read. Mend it, or leave it out",
        after: &[],
    },
];

fn pattern(filter: &str) -> Result<Regex, ToolFault> {
    Regex::new(filter).map_err(|error| {
        ToolFault::new(format!(
            "‹filter› is no regular expression: {error}; nothing was read. Mend it, or leave it out"
        ))
    })
}

async fn give(shell: &Background, text: &str, cx: &ToolCx) -> Result<(), ToolFault> {
    if shell.shape == Shape::Free && *cx.shape() != Shape::Free {
        return Err(ToolFault::new(format!(
            "`{}` runs outside the sandbox, so it got no input; to give it some, call again with `dangerouslyDisableSandbox: true`, which asks the user",
            shell.id()
        )));
    }
    shell.process.write(text.as_bytes(), READING).await.map_err(|error| {
        ToolFault::new(format!(
            "`{}` got no input: {error}. Read its output with ‹bash_output› without ‹input›, or start it again with ‹bash› and ‹run_in_background›",
            shell.id()
        ))
    })
}

/// Waits for news, but no longer than asked.
async fn wait(shell: &Background, read: u64, at_most: Duration, cx: &ToolCx) {
    let first = shell.process.printed_more_than(read);
    tokio::select! {
        biased;
        () = cx.cancel().cancelled() => return,
        waited = tokio::time::timeout(at_most, first) => if waited.is_err() { return },
    }
    let settled = async {
        while shell.process.ended().is_none() {
            let more = shell.process.printed_more_than(shell.process.printed());
            if tokio::time::timeout(QUIET, more).await.is_err() {
                return;
            }
        }
    };
    // A command that never stops printing is read as far as it came; the time over is no error.
    let _ = tokio::time::timeout(at_most.min(SETTLED), settled).await;
}

/// The lines that fit.
fn fitting(text: &str, filter: &Regex) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| filter.is_match(line)).collect();
    lines.join("\n")
}

/// What was printed since it was last read, and how far the command is.
pub(crate) fn news(
    shell: &Arc<Background>,
    read: &mut u64,
    filter: Option<&Regex>,
    cx: &ToolCx,
) -> ToolOutput {
    let ended = shell.process.ended();
    let piece = shell.process.since(*read);
    let (kept, fresh) = (shell.process.kept(), !piece.is_empty());
    *read = piece.next;
    let mut text = piece.text();
    if let Some(filter) = filter {
        // Before it is cut: what fits may stand in what would be left out.
        (text.head, text.tail) = (fitting(&text.head, filter), fitting(&text.tail, filter));
    }
    let printed = shell.process.printed();
    let output = said::output(text, kept.as_ref(), printed, cx.session().limits.output_chars);
    let mut notes: Vec<Telling> = Vec::new();
    let nothing = match (fresh, output.is_empty()) {
        (false, _) => ", no new output",
        (true, true) => ", no new line fits the filter",
        (true, false) => "",
    };
    match &ended {
        None => notes.push(format!("`{}` is running{nothing}", shell.id()).into()),
        Some(ended) => {
            let how = if ended.exit.success() { "done".to_owned() } else { ended.exit.to_string() };
            let took = words::time(ended.took);
            notes.push(format!("`{}` has ended: {how} in {took}{nothing}", shell.id()).into());
            notes.extend(said::left_behind(ended));
        }
    }
    let text = said::with_notes(output, notes);
    let lines = cx.session().limits.preview_command_lines;
    let preview = Display::Preview { text: text.to_string(), lines };
    ToolOutput::told(text).shown(preview)
}
