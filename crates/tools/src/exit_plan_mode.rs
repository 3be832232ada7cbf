use rail_tool::{
    About, Card, Choice, ChoiceOption, Choices, Chosen, Display, Edits, Example, Facet, FacetCx, Generation,
    Lane, Level, OutputNote, Pick, Picked, PlanStep, Shown, Telling, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Has a plan approved.
pub(crate) struct ExitPlanMode;

/// The plan.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExitPlanModeInput {
    /// Markdown.
    plan: String,
}

impl Tool for ExitPlanMode {
    type Input = ExitPlanModeInput;

    const CARD: Card<'static> = Card {
        name: "exit_plan_mode",
        title: "Plan",
        summary: "Shows the user the plan; if they approve it, plan mode ends",
        prompt: include_str!("prompts/exit_plan_mode.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(_: &ExitPlanModeInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: ExitPlanModeInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let plan = input.plan;
        if !cx.is_planning() {
            return Err(ToolFault::new(
                "plan mode is not on, so there is nothing to leave: go on with the work, or propose to plan first with ‹plan_mode›",
            ));
        }
        if plan.trim().is_empty() {
            return Err(ToolFault::new("‹plan› is empty: write down what you will do, then call this again"));
        }
        let chosen = cx.choose(&choices(&plan)).await?;
        let shown = Display::Preview { text: plan.clone(), lines: plan.lines().count() };
        Ok(decided(chosen, plan).shown(shown))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn choices(plan: &str) -> Choices {
    let option = |label: &str, description: &str| ChoiceOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    Choices {
        about: About::LeavePlan { plan: plan.to_owned() },
        questions: vec![Choice {
            question: "Go ahead with this plan?".to_owned(),
            header: "Plan".to_owned(),
            options: vec![
                option("Yes, and accept edits", "Files of the workspace are edited without asking"),
                option("Yes, and ask for each edit", "Each edit is shown to you first"),
                option("No, keep planning", "Say what should be different"),
            ],
            pick: Pick::One,
        }],
    }
}

fn decided(chosen: Chosen, plan: String) -> ToolOutput {
    match chosen {
        Chosen::Answered { answers } => {
            let Picked { options, said } = answers.into_iter().next().unwrap_or_default();
            // Only a clear yes is one.
            match options.as_slice() {
                [0] => approved(plan, Edits::Accepted, said),
                [1] => approved(plan, Edits::Asked, said),
                _ => refused(said),
            }
        }
        Chosen::Dismissed { said } => refused(said),
        Chosen::Nobody => ToolOutput::told(
            "Nobody is there to approve the plan, and plan mode stays on. The plan is your final answer: give it as your answer and stop here.",
        ),
    }
}

fn approved(plan: String, edits: Edits, said: Option<String>) -> ToolOutput {
    let how = match edits {
        Edits::Accepted => "files of the workspace are edited without asking",
        Edits::Asked => "the user is asked about each edit",
    };
    let text = Telling::said(format!("The user approved the plan; plan mode is off, and {how}."));
    let text = match said {
        Some(said) => text.then(" They add: ").then(Telling::shown(said)),
        None => text,
    };
    let next = " Carry it out now; if it has several steps, keep them with ‹todo_write›.";
    ToolOutput::told(text.then(next)).noted([OutputNote::Plan(PlanStep::Leave { plan, edits })])
}

fn refused(said: Option<String>) -> ToolOutput {
    let next = match said {
        Some(said) => Telling::said("They say: ")
            .then(Telling::shown(said))
            .then("\nChange the plan accordingly, then call this again."),
        None => Telling::said("Ask what should be different, change the plan, then call this again."),
    };
    ToolOutput::told(Telling::said("The user did not approve the plan; plan mode stays on. ").then(next))
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "In plan mode; here the user takes the first option",
        files: &[],
        read: &[],
        input: r##"{"plan": "# Faster start\n1. Read the settings once\n2. Measure again"}"##,
        output: "The user approved the plan; plan mode is off, and files of the workspace are edited without asking. Carry it out now; if it has several steps, keep them with `todo_write`.",
        after: &[],
    },
    Example {
        about: "No plan at all",
        files: &[],
        read: &[],
        input: r#"{"plan": " "}"#,
        output: "`plan` is empty: write down what you will do, then call this again",
        after: &[],
    },
];
