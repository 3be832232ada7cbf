use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person is asked to choose, all of it at once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Choices {
    /// What it is about; a front end may show some of it in a way of its own.
    pub about: About,
    /// The questions, in order.
    pub questions: Vec<Choice>,
}

/// What choices are about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum About {
    /// Something that the model wants to know.
    Question,
    /// Whether to plan first.
    EnterPlan,
    /// Whether to go ahead with a plan.
    LeavePlan {
        /// The plan, in Markdown; it is shown with the question.
        plan: String,
    },
}

/// One question with its options. Whatever they are, the person may answer in their own words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// The question.
    pub question: String,
    /// It in a word or two; it may be empty.
    pub header: String,
    /// What can be chosen.
    pub options: Vec<ChoiceOption>,
    /// How many of them.
    pub pick: Pick,
}

/// Something that can be chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChoiceOption {
    /// It in a few words.
    pub label: String,
    /// What it would mean; it may be empty.
    pub description: String,
}

/// How many options of a question can be chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// One.
    One,
    /// Any number of them.
    Several,
}

/// What became of choices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Chosen {
    /// They were answered.
    Answered {
        /// One answer for each question, in their order.
        answers: Vec<Picked>,
    },
    /// The person does not want to answer.
    Dismissed {
        /// What they said instead, if anything.
        said: Option<String>,
    },
    /// There is nobody who could answer.
    Nobody,
}

/// The answer to one question.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Picked {
    /// The options, by their place from 0.
    pub options: Vec<usize>,
    /// The person's own words, beside the options or instead of them.
    pub said: Option<String>,
}

impl Picked {
    /// One option and no words.
    pub fn option(at: usize) -> Self {
        Self { options: vec![at], said: None }
    }

    /// Words and no option.
    pub fn words(said: impl Into<String>) -> Self {
        Self { options: Vec::new(), said: Some(said.into()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn choices_are_plain_json() {
        let choices = Choices {
            about: About::LeavePlan { plan: "1. all".to_owned() },
            questions: vec![Choice {
                question: "Go ahead?".to_owned(),
                header: String::new(),
                options: vec![ChoiceOption { label: "Yes".to_owned(), description: "now".to_owned() }],
                pick: Pick::Several,
            }],
        };
        let written = json!({
            "about": {"kind": "leave_plan", "plan": "1. all"},
            "questions": [{
                "question": "Go ahead?",
                "header": "",
                "options": [{"label": "Yes", "description": "now"}],
                "pick": "several",
            }],
        });
        assert_eq!(serde_json::to_value(&choices).unwrap(), written);
        assert_eq!(serde_json::from_value::<Choices>(written).unwrap(), choices);
    }

    #[test]
    fn answers_are_plain_json() {
        let cases = [
            (
                Chosen::Answered { answers: vec![Picked::option(1), Picked::words("both")] },
                json!({"kind": "answered", "answers": [{"options": [1], "said": null}, {"options": [], "said": "both"}]}),
            ),
            (Chosen::Dismissed { said: None }, json!({"kind": "dismissed", "said": null})),
            (Chosen::Nobody, json!({"kind": "nobody"})),
        ];
        for (chosen, written) in cases {
            assert_eq!(serde_json::to_value(&chosen).unwrap(), written);
            assert_eq!(serde_json::from_value::<Chosen>(written).unwrap(), chosen);
        }
    }
}
