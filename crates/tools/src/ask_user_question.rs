use rail_tool::{
    About, Card, Choice, ChoiceOption, Choices, Chosen, Display, Example, Facet, FacetCx, Generation, Lane,
    Level, Pick, Picked, Shown, Telling, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// How many questions a call may have.
const QUESTIONS: std::ops::RangeInclusive<usize> = 1..=4;
/// How many options a question may have.
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

/// Asks the user.
pub(crate) struct AskUserQuestion;

/// What the user is asked.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AskUserQuestionInput {
    /// 1 to 4.
    questions: Vec<Asked>,
}

/// One question.
#[derive(Deserialize, JsonSchema)]
struct Asked {
    question: String,
    /// It in a word or two.
    header: Option<String>,
    /// 2 to 4; "other" is always offered.
    options: Vec<Offered>,
    /// Several may be taken.
    #[serde(default, rename = "multiSelect")]
    multi_select: bool,
}

/// One option.
#[derive(Deserialize, JsonSchema)]
struct Offered {
    label: String,
    /// What it would mean.
    description: Option<String>,
}

impl Tool for AskUserQuestion {
    type Input = AskUserQuestionInput;

    const CARD: Card<'static> = Card {
        name: "ask_user_question",
        title: "Ask",
        summary: "Asks the user to choose, where only they can decide and the work depends on it",
        prompt: include_str!("prompts/ask_user_question.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(_: &AskUserQuestionInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: AskUserQuestionInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        check(&input.questions)
            .map_err(|why| ToolFault::new(Telling::said("the user was not asked: ").then(why)))?;
        let questions = input.questions.into_iter().map(choice).collect();
        let choices = Choices { about: About::Question, questions };
        Ok(match cx.choose(&choices).await? {
            Chosen::Answered { answers } => {
                let lines = answered(&choices.questions, &answers);
                let text = Telling::said("The user answered:\n").then(Telling::shown(lines.clone()));
                ToolOutput::told(text).shown(Display::Summary(lines))
            }
            Chosen::Dismissed { said: None } => ToolOutput::told(
                "The user does not want to answer this now. Go on without it if you can; else end your answer and say what you need to know.",
            ),
            Chosen::Dismissed { said: Some(said) } => ToolOutput::told(
                Telling::said("The user did not choose, but says: ").then(Telling::shown(said)),
            ),
            Chosen::Nobody => ToolOutput::told(
                "Nobody is there to answer. Do not ask again: go on by your best judgement, and say in your answer what you assumed.",
            ),
        })
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn check(questions: &[Asked]) -> Result<(), Telling> {
    if !QUESTIONS.contains(&questions.len()) {
        return Err(format!("there are {} questions; ask 1 to 4 at a time", questions.len()).into());
    }
    for (at, asked) in questions.iter().enumerate() {
        let nth = at + 1;
        if asked.question.trim().is_empty() {
            return Err(format!("question {nth} has no text: write it as a whole sentence").into());
        }
        if questions.iter().take(at).any(|other| other.question == asked.question) {
            return Err(format!("question {nth} is there twice: ask it once").into());
        }
        if !OPTIONS.contains(&asked.options.len()) {
            let count = asked.options.len();
            return Err(format!(
                "question {nth} has {count} of 2 to 4 options; an open question needs no tool: ask it in your answer"
            )
            .into());
        }
        for (at, option) in asked.options.iter().enumerate() {
            if option.label.trim().is_empty() {
                return Err(format!(
                    "option {} of question {nth} has no `label`: give it a few words",
                    at + 1
                )
                .into());
            }
            if asked.options.iter().take(at).any(|other| other.label == option.label) {
                let both = Telling::said(format!("two options of question {nth} are both `"));
                return Err(both.then(Telling::shown(&option.label)).then("`: make them differ"));
            }
        }
    }
    Ok(())
}

fn choice(asked: Asked) -> Choice {
    let option = |offered: Offered| ChoiceOption {
        label: offered.label,
        description: offered.description.unwrap_or_default(),
    };
    Choice {
        question: asked.question,
        header: asked.header.unwrap_or_default(),
        options: asked.options.into_iter().map(option).collect(),
        pick: if asked.multi_select { Pick::Several } else { Pick::One },
    }
}

/// Each question with its answer. A question that a front end left out has none.
fn answered(questions: &[Choice], answers: &[Picked]) -> String {
    let none = Picked::default();
    let lines = questions.iter().enumerate().map(|(at, choice)| {
        format!("- {} {}", choice.question.trim(), answer(choice, answers.get(at).unwrap_or(&none)))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn answer(choice: &Choice, picked: &Picked) -> String {
    let labels: Vec<&str> = picked
        .options
        .iter()
        .filter_map(|at| choice.options.get(*at))
        .map(|option| option.label.as_str())
        .collect();
    match (labels.as_slice(), &picked.said) {
        ([], None) if choice.pick == Pick::Several => "(none of the options)".to_owned(),
        ([], None) => "(no answer)".to_owned(),
        ([], Some(said)) => format!("(in their own words) {said}"),
        ([_, ..], None) => labels.join(", "),
        ([_, ..], Some(said)) => format!("{} (they add: {said})", labels.join(", ")),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A choice; here the user takes the first option",
        files: &[],
        read: &[],
        input: r#"{"questions": [{
  "question": "Where should sessions be kept?",
  "header": "Storage",
  "options": [
    {"label": "SQLite", "description": "One file, no server"},
    {"label": "PostgreSQL", "description": "Several machines"}
  ],
  "multiSelect": false
}]}"#,
        output: "The user answered:\n- Where should sessions be kept? SQLite",
        after: &[],
    },
    Example {
        about: "Nothing to choose from",
        files: &[],
        read: &[],
        input: r#"{"questions": [{"question": "What now?", "header": "Next", "options": []}]}"#,
        output: "the user was not asked: question 1 has 0 of 2 to 4 options; an open question needs no tool: ask it in your answer",
        after: &[],
    },
];
