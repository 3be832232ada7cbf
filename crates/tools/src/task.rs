use rail_tool::{
    AgentDone, AgentTask, Card, Display, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Telling,
    Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::words;

/// Sets another agent to work.
pub(crate) struct Task;

/// What an agent is to do.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TaskInput {
    /// The task in three to five words, which the user sees.
    #[serde(default)]
    description: String,
    /// All that the agent must know to do it.
    prompt: String,
    /// The type of agent; one that only looks when not said.
    #[serde(default)]
    subagent_type: Option<String>,
    /// The model to ask, instead of the type's own.
    #[serde(default)]
    model: Option<String>,
}

/// Words of a prompt that describe it where the call does not.
const DESCRIBED: usize = 8;

impl Tool for Task {
    type Input = TaskInput;

    const CARD: Card<'static> = Card {
        name: "task",
        title: "Task",
        summary: "Sets an agent to work on a task of its own and gives back its answer",
        prompt: include_str!("prompts/task.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(_: &TaskInput, _: &FacetCx<'_>) -> Vec<Facet> {
        // What the agent then does is judged call by call.
        Vec::new()
    }

    async fn run(input: TaskInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let TaskInput { description, prompt, subagent_type, model } = input;
        if prompt.trim().is_empty() {
            return Err(ToolFault::new("`prompt` is empty: say what the agent is to do"));
        }
        let said =
            |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let description = said(Some(description)).unwrap_or_else(|| first_words(&prompt));
        let kind = said(subagent_type).unwrap_or_default();
        let done = cx.delegate(AgentTask { description, prompt, kind, model: said(model) }).await?;
        let figures = figures(&done);
        Ok(ToolOutput::told(told(done, &figures)).shown(Display::Summary(figures)))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn first_words(prompt: &str) -> String {
    let words: Vec<&str> = prompt.split_whitespace().take(DESCRIBED).collect();
    words.join(" ")
}

/// What an agent took: `5 tool uses, 12,300 tokens, $0.0021, 34 s`; a price only where one is known.
pub fn figures(done: &AgentDone) -> String {
    let (uses, tokens) = (words::count(done.tool_uses, "tool use"), words::count(done.tokens, "token"));
    let cost = if done.cost_usd > 0.0 { format!("${:.4}, ", done.cost_usd) } else { String::new() };
    format!("{uses}, {tokens}, {cost}{}", words::time(done.took))
}

fn told(done: AgentDone, figures: &str) -> Telling {
    let text = done.text.trim_end().to_owned();
    let cut = done.cut.map(|why| format!("the agent did not come to its end: {why}; ")).unwrap_or_default();
    Telling::shown(text).then(Telling::said(format!("\n\n[{cut}{figures}]")))
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A search that takes several rounds",
        files: &[],
        read: &[],
        input: r#"{"description": "Find the retry logic", "prompt": "Where are failed requests sent again? Give file and line of each place. Change nothing.", "subagent_type": "general-purpose"}"#,
        output: "`general-purpose` was asked: Where are failed requests sent again? Give file and line of each place. Change nothing.\n\n[3 tool uses, 1,200 tokens, 500 ms]",
        after: &[],
    },
    Example {
        about: "Nothing to do",
        files: &[],
        read: &[],
        input: r#"{"prompt": " "}"#,
        output: "`prompt` is empty: say what the agent is to do",
        after: &[],
    },
];
