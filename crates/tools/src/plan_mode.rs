use rail_tool::{
    About, Card, Choice, ChoiceOption, Choices, Chosen, Example, Facet, FacetCx, Generation, Lane, Level,
    OutputNote, Pick, PlanStep, Shown, Telling, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Proposes to plan first.
pub(crate) struct PlanMode;

/// Why to plan.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PlanModeInput {
    /// Why, in a sentence for the user.
    reason: Option<String>,
}

impl Tool for PlanMode {
    type Input = PlanModeInput;

    const CARD: Card<'static> = Card {
        name: "plan_mode",
        title: "Plan",
        summary: "Proposes to the user to plan first, for large or unclear changes; nothing is changed until they approve the plan",
        prompt: include_str!("prompts/plan_mode.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(_: &PlanModeInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: PlanModeInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        if cx.is_planning() {
            return Ok(ToolOutput::told(
                "Plan mode is on already. Read what you need, then give the plan to ‹exit_plan_mode›.",
            ));
        }
        let no = |said: Option<String>| {
            let off = "The user does not want a plan first: plan mode is off, go on with the work.";
            ToolOutput::told(with_words(off, " They say: ", said))
        };
        Ok(match cx.choose(&choices(input.reason.as_deref())).await? {
            Chosen::Answered { answers } => match answers.into_iter().next() {
                Some(picked) if picked.options == [0] => {
                    let on = "Plan mode is on: nothing is changed until the user approves a plan. Read what you need, keep what you find with ‹findings›, then give the plan to ‹exit_plan_mode›.";
                    ToolOutput::told(with_words(on, " The user adds: ", picked.said))
                        .noted([OutputNote::Plan(PlanStep::Enter)])
                }
                other => no(other.and_then(|picked| picked.said)),
            },
            Chosen::Dismissed { said } => no(said),
            // Nobody could approve the plan either: the session would be stuck.
            Chosen::Nobody => ToolOutput::told(
                "Nobody is there to approve a plan, so plan mode stays off: go on by your best judgement.",
            ),
        })
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// A text, and what the user says besides.
fn with_words(text: &str, before: &str, said: Option<String>) -> Telling {
    let text = Telling::said(text);
    match said {
        Some(said) => text.then(before).then(Telling::shown(said)),
        None => text,
    }
}

fn choices(reason: Option<&str>) -> Choices {
    let option = |label: &str, description: &str| ChoiceOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let question = match reason.map(str::trim) {
        None | Some("") => "Plan first, before anything is changed?".to_owned(),
        Some(reason) => format!("Plan first, before anything is changed? {reason}"),
    };
    Choices {
        about: About::EnterPlan,
        questions: vec![Choice {
            question,
            header: "Plan mode".to_owned(),
            options: vec![
                option("Yes, plan first", "Only what reads is done until you approve a plan"),
                option("No, go ahead", "The work begins at once"),
            ],
            pick: Pick::One,
        }],
    }
}

const EXAMPLES: &[Example] = &[Example {
    about: "A plan is proposed; here the user agrees",
    files: &[],
    read: &[],
    input: r#"{"reason": "The change touches every crate."}"#,
    output: "Plan mode is on: nothing is changed until the user approves a plan. Read what you need, keep what you find with `findings`, then give the plan to `exit_plan_mode`.",
    after: &[],
}];
