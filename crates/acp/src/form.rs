//! Choices as a form that the client shows.

use std::collections::BTreeMap;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, CreateElicitationRequest, CreateElicitationResponse, ElicitationAction,
    ElicitationContentValue, ElicitationFormMode, ElicitationMode, ElicitationPropertySchema,
    ElicitationSchema, ElicitationSessionScope, EnumOption, MultiSelectPropertySchema, StringPropertySchema,
    ToolCallId,
};
use rail_proto::{Choice, ChoiceOption, Choices, Chosen, Pick, Picked};

use crate::client::Client;

/// Asks by a form.
pub(crate) async fn asked(client: &Client, session: &str, id: &str, choices: &Choices) -> Chosen {
    let request = request(session, id, choices);
    let said: Result<CreateElicitationResponse, _> =
        client.request(CLIENT_METHOD_NAMES.elicitation_create, &request).await;
    match said {
        Ok(response) => chosen(choices, response.action),
        Err(_) => Chosen::Nobody,
    }
}

/// The form: of each question its options, and a field for the user's own words.
fn request(session: &str, id: &str, choices: &Choices) -> CreateElicitationRequest {
    let mut schema = ElicitationSchema::new();
    for (at, choice) in choices.questions.iter().enumerate() {
        schema = schema.property(key(at), field(choice), false);
        let words = StringPropertySchema::new().title("Or in your own words".to_owned());
        schema = schema.property(words_key(at), ElicitationPropertySchema::String(words), false);
    }
    let scope = ElicitationSessionScope::new(session.to_owned()).tool_call_id(ToolCallId::new(id));
    let questions: Vec<&str> = choices.questions.iter().map(|choice| choice.question.as_str()).collect();
    let mode = ElicitationMode::Form(ElicitationFormMode::new(scope, schema));
    CreateElicitationRequest::new(mode, questions.join("\n"))
}

fn field(choice: &Choice) -> ElicitationPropertySchema {
    let option = |option: &ChoiceOption| {
        let described = (!option.description.is_empty()).then(|| option.description.clone());
        EnumOption::new(option.label.clone(), option.label.clone()).description(described)
    };
    let options: Vec<EnumOption> = choice.options.iter().map(option).collect();
    let title = choice.question.clone();
    match choice.pick {
        Pick::One => {
            ElicitationPropertySchema::String(StringPropertySchema::new().title(title).one_of(options))
        }
        Pick::Several => {
            ElicitationPropertySchema::Array(MultiSelectPropertySchema::titled(options).title(title))
        }
    }
}

fn key(at: usize) -> String {
    format!("question_{}", at + 1)
}

fn words_key(at: usize) -> String {
    format!("question_{}_words", at + 1)
}

fn chosen(choices: &Choices, action: ElicitationAction) -> Chosen {
    let content = match action {
        ElicitationAction::Accept(accepted) => accepted.content.unwrap_or_default(),
        _ => return Chosen::Dismissed { said: None },
    };
    let answers: Vec<Picked> =
        choices.questions.iter().enumerate().map(|(at, choice)| picked(choice, at, &content)).collect();
    if answers.iter().all(|answer| *answer == Picked::default()) {
        return Chosen::Dismissed { said: None };
    }
    Chosen::Answered { answers }
}

fn picked(choice: &Choice, at: usize, content: &BTreeMap<String, ElicitationContentValue>) -> Picked {
    let labels: Vec<&str> = match content.get(&key(at)) {
        Some(ElicitationContentValue::String(label)) => vec![label.as_str()],
        Some(ElicitationContentValue::StringArray(labels)) => labels.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let place = |label: &&str| choice.options.iter().position(|option| option.label == *label);
    let options: Vec<usize> = labels.iter().filter_map(place).collect();
    let odd = labels.iter().find(|label| place(label).is_none()).map(|label| (*label).to_owned());
    let said = match content.get(&words_key(at)) {
        Some(ElicitationContentValue::String(words)) if !words.trim().is_empty() => Some(words.clone()),
        _ => odd,
    };
    Picked { options, said }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::ElicitationAcceptAction;
    use rail_proto::About;
    use serde_json::json;

    use super::*;

    fn choices() -> Choices {
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: "d".to_owned() };
        let choice = |question: &str, pick| Choice {
            question: question.to_owned(),
            header: String::new(),
            options: vec![option("red"), option("blue")],
            pick,
        };
        Choices {
            about: About::Question,
            questions: vec![choice("One?", Pick::One), choice("Many?", Pick::Several)],
        }
    }

    #[test]
    fn a_form_has_a_field_for_each_question() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&request("s", "c", &choices())).unwrap());
    }

    #[test]
    fn forms_are_read() {
        let accept = |content: serde_json::Value| -> ElicitationAction {
            let content: BTreeMap<String, ElicitationContentValue> = serde_json::from_value(content).unwrap();
            ElicitationAction::Accept(ElicitationAcceptAction::new().content(content))
        };
        let said = accept(
            json!({"question_1": "blue", "question_2": ["red", "blue"], "question_2_words": "or both"}),
        );
        let both = Picked { options: vec![0, 1], said: Some("or both".to_owned()) };
        assert_eq!(chosen(&choices(), said), Chosen::Answered { answers: vec![Picked::option(1), both] });
        let own = accept(json!({"question_1": "green"}));
        assert_eq!(
            chosen(&choices(), own),
            Chosen::Answered { answers: vec![Picked::words("green"), Picked::default()] }
        );
        for nothing in [accept(json!({})), ElicitationAction::Decline, ElicitationAction::Cancel] {
            assert_eq!(chosen(&choices(), nothing), Chosen::Dismissed { said: None });
        }
    }
}
