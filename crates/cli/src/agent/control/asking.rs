//! Questions to the client: whether a call may be done, and what the user chooses.

use rail_agent::hooks::{claude_name, native_input};
use rail_proto::{
    About, Answer, Choices, Chosen, Command, Lasting, Leave, Mode, PermissionAsk, Pick, Picked,
};
use serde_json::{Map, Value, json};

use super::line;

/// The question whether a call may be done.
pub(crate) fn permission(ask: &PermissionAsk) -> Value {
    let suggestions: Vec<Value> = ask.offers.iter().map(suggestion).collect();
    json!({
        "subtype": "can_use_tool",
        "tool_name": claude_name(&ask.tool),
        "input": ask.input,
        "permission_suggestions": suggestions,
        "tool_use_id": ask.id,
        "decision_reason": ask.why,
    })
}

/// Leave for longer, in Claude Code's words.
fn suggestion(offer: &Leave) -> Value {
    let rules: Vec<Value> = offer.rules.iter().map(|rule| rule_value(rule)).collect();
    json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"})
}

fn rule_value(rule: &str) -> Value {
    match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, content)) => json!({"toolName": tool, "ruleContent": content}),
        None => json!({"toolName": rule}),
    }
}

/// Whether an answer may bring this: no mode that a request could not.
pub(crate) fn may_bring(command: &Command, bypass_refused: Option<&str>) -> bool {
    *command != Command::SetMode(Mode::Bypass) || bypass_refused.is_none()
}

/// What the client's answer to a question about a call comes to, in order.
pub(crate) fn permitted(ask: &PermissionAsk, said: Result<Value, String>) -> Vec<Command> {
    let id = || ask.id.clone();
    let no = |why: String| Command::Answer { ask: id(), answer: Answer::No { why: Some(why) } };
    let nobody =
        |why: &str| vec![Command::Answer { ask: id(), answer: Answer::Nobody { why: Some(why.to_owned()) } }];
    let said = match said {
        Ok(said) => said,
        Err(why) => return nobody(&why),
    };
    match said.get("behavior").and_then(Value::as_str) {
        Some("allow") => allowed(ask, &said),
        Some("deny") => {
            let why = said.get("message").and_then(Value::as_str).unwrap_or("the user said no").to_owned();
            let stops = said.get("interrupt") == Some(&Value::Bool(true));
            [Some(no(why)), stops.then_some(Command::Interrupt)].into_iter().flatten().collect()
        }
        // Who can't be understood has not said yes.
        Some(_) | None => nobody("the answer could not be understood"),
    }
}

fn allowed(ask: &PermissionAsk, said: &Value) -> Vec<Command> {
    let updates =
        said.get("updatedPermissions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mode = updates
        .iter()
        .filter(|update| update["type"] == "setMode")
        .find_map(|update| update["mode"].as_str());
    let mode = mode.and_then(|word| line::mode(word).ok()).map(Command::SetMode);
    let changed = said.get("updatedInput").filter(|input| **input != ask.input).and_then(Value::as_object);
    let answer = match changed {
        Some(input) => Answer::Changed { input: native_input(&ask.tool, input.clone()) },
        None => offered(ask, updates).unwrap_or(Answer::Once),
    };
    let answer = Command::Answer { ask: ask.id.clone(), answer };
    [mode, Some(answer)].into_iter().flatten().collect()
}

/// The offer that the client takes, if it does. Other rules than offered ones are not taken: nobody judged how far they go.
fn offered(ask: &PermissionAsk, updates: &[Value]) -> Option<Answer> {
    let taken =
        updates.iter().find(|update| update["type"] == "addRules" && update["behavior"] == "allow")?;
    let at = ask.offers.iter().position(|offer| suggestion(offer)["rules"] == taken["rules"])?;
    let lasting = if taken["destination"] == "session" { Lasting::Session } else { Lasting::Always };
    Some(Answer::Offer { at, lasting })
}

/// What the user is asked to choose, as Claude Code's own tools ask it.
pub(crate) fn choice(id: &str, choices: &Choices) -> Value {
    let (tool, input) = match &choices.about {
        About::Question => ("AskUserQuestion", json!({"questions": questions(choices)})),
        About::EnterPlan => ("EnterPlanMode", json!({})),
        About::LeavePlan { plan } => ("ExitPlanMode", json!({ "plan": plan })),
    };
    json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "permission_suggestions": [], "tool_use_id": id})
}

fn questions(choices: &Choices) -> Vec<Value> {
    let question = |choice: &rail_proto::Choice| {
        let options = choice
            .options
            .iter()
            .map(|option| json!({"label": option.label, "description": option.description}));
        json!({
            "question": choice.question,
            "header": choice.header,
            "options": options.collect::<Vec<_>>(),
            "multiSelect": choice.pick == Pick::Several,
        })
    };
    choices.questions.iter().map(question).collect()
}

/// What the client's answer to choices comes to.
pub(crate) fn chosen(choices: &Choices, said: Result<Value, String>) -> Chosen {
    let Ok(said) = said else { return Chosen::Nobody };
    if said["behavior"] != "allow" {
        let said = said.get("message").and_then(Value::as_str).map(str::to_owned);
        return Chosen::Dismissed { said };
    }
    match &choices.about {
        About::EnterPlan | About::LeavePlan { .. } => {
            Chosen::Answered { answers: choices.questions.iter().map(|_| Picked::option(0)).collect() }
        }
        About::Question => {
            let none = Map::new();
            let answers = said["updatedInput"]["answers"].as_object().unwrap_or(&none);
            if answers.is_empty() {
                return Chosen::Dismissed { said: None };
            }
            let picked = choices.questions.iter().map(|choice| picked(choice, answers.get(&choice.question)));
            Chosen::Answered { answers: picked.collect() }
        }
    }
}

/// One answer: labels with commas between them, or the user's own words.
fn picked(choice: &rail_proto::Choice, answer: Option<&Value>) -> Picked {
    let Some(answer) = answer.and_then(Value::as_str) else { return Picked::default() };
    let place = |label: &str| choice.options.iter().position(|option| option.label == label.trim());
    if let Some(at) = place(answer) {
        return Picked::option(at);
    }
    let several: Option<Vec<usize>> = answer.split(',').map(place).collect();
    match several {
        Some(options) => Picked { options, said: None },
        None => Picked::words(answer),
    }
}

#[cfg(test)]
mod tests {
    use rail_proto::{Choice, ChoiceOption, Doing, Mode};

    use super::*;

    fn ask() -> PermissionAsk {
        PermissionAsk {
            id: "c1".to_owned(),
            tool: "bash".to_owned(),
            input: json!({"command": "touch a"}),
            doing: vec![Doing::Runs("touch a".to_owned())],
            changes: Vec::new(),
            why: "it runs a command".to_owned(),
            always_asks: false,
            offers: vec![Leave { rules: vec!["Bash(touch:*)".to_owned()], says: "touch".to_owned() }],
            without_anybody: String::new(),
        }
    }

    #[test]
    fn a_question_has_claude_code_s_names() {
        insta::assert_snapshot!(permission(&ask()).to_string(), @r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch a"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*"}],"behavior":"allow","destination":"session"}],"tool_use_id":"c1","decision_reason":"it runs a command"}"#);
    }

    #[test]
    fn answers_are_understood() {
        let answer = |answer| Command::Answer { ask: "c1".to_owned(), answer };
        let no = |why: &str| answer(Answer::No { why: Some(why.to_owned()) });
        let nobody = |why: &str| answer(Answer::Nobody { why: Some(why.to_owned()) });
        let rules = json!([{"toolName": "Bash", "ruleContent": "touch:*"}]);
        let add = |rules: &Value, place: &str| json!([{"type": "addRules", "rules": rules, "behavior": "allow", "destination": place}]);
        let same = json!({"command": "touch a"});
        let cases = [
            (json!({"behavior": "allow", "updatedInput": same}), vec![answer(Answer::Once)]),
            (
                json!({"behavior": "allow", "updatedInput": {"command": "touch b", "background": true}}),
                vec![answer(Answer::Changed {
                    input: json!({"command": "touch b", "run_in_background": true}),
                })],
            ),
            (
                json!({"behavior": "allow", "updatedPermissions": add(&rules, "session")}),
                vec![answer(Answer::Offer { at: 0, lasting: Lasting::Session })],
            ),
            (
                json!({"behavior": "allow", "updatedPermissions": add(&rules, "localSettings")}),
                vec![answer(Answer::Offer { at: 0, lasting: Lasting::Always })],
            ),
            (
                json!({"behavior": "allow", "updatedPermissions": add(&json!([{"toolName": "Bash"}]), "session")}),
                vec![answer(Answer::Once)],
            ),
            (
                json!({"behavior": "allow", "updatedPermissions": [{"type": "setMode", "mode": "acceptEdits"}]}),
                vec![Command::SetMode(Mode::AcceptEdits), answer(Answer::Once)],
            ),
            (json!({"behavior": "deny", "message": "not this"}), vec![no("not this")]),
            (
                json!({"behavior": "deny", "message": "stop", "interrupt": true}),
                vec![no("stop"), Command::Interrupt],
            ),
            (json!({"behavior": "maybe"}), vec![nobody("the answer could not be understood")]),
        ];
        for (said, expected) in cases {
            assert_eq!(permitted(&ask(), Ok(said.clone())), expected, "{said}");
        }
        assert_eq!(permitted(&ask(), Err("gone".to_owned())), [nobody("gone")]);
    }

    #[test]
    fn choices_are_asked_and_answered() {
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: String::new() };
        let question = Choice {
            question: "Which?".to_owned(),
            header: "Colour".to_owned(),
            options: vec![option("red"), option("blue")],
            pick: Pick::Several,
        };
        let choices = Choices { about: About::Question, questions: vec![question] };
        insta::assert_snapshot!(choice("c2", &choices).to_string(), @r#"{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which?","header":"Colour","options":[{"label":"red","description":""},{"label":"blue","description":""}],"multiSelect":true}]},"permission_suggestions":[],"tool_use_id":"c2"}"#);
        let said = |answer: &str| {
            chosen(
                &choices,
                Ok(json!({"behavior": "allow", "updatedInput": {"answers": {"Which?": answer}}})),
            )
        };
        let one = |picked| Chosen::Answered { answers: vec![picked] };
        assert_eq!(said("blue"), one(Picked::option(1)));
        assert_eq!(said("red, blue"), one(Picked { options: vec![0, 1], said: None }));
        assert_eq!(said("green"), one(Picked::words("green")));
        assert_eq!(chosen(&choices, Err("gone".to_owned())), Chosen::Nobody);
        let no = json!({"behavior": "deny", "message": "later"});
        assert_eq!(chosen(&choices, Ok(no)), Chosen::Dismissed { said: Some("later".to_owned()) });
        let plan = Choices { about: About::LeavePlan { plan: "1".to_owned() }, ..choices };
        assert_eq!(chosen(&plan, Ok(json!({"behavior": "allow"}))), one(Picked::option(0)));
    }

    #[test]
    fn an_answer_brings_no_mode_that_is_refused() {
        let said = json!({"behavior": "allow", "updatedPermissions": [{"type": "setMode", "mode": "bypassPermissions"}]});
        for (refused, modes) in [(Some("you are root"), 0), (None, 1)] {
            let commands = permitted(&ask(), Ok(said.clone()));
            let brought = commands.iter().filter(|command| may_bring(command, refused));
            let modes_brought = brought.filter(|command| matches!(command, Command::SetMode(_))).count();
            assert_eq!(modes_brought, modes, "{refused:?}");
        }
    }
}
