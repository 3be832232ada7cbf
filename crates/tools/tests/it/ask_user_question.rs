//! Questions for the user.

use rail_tool::{About, Choice, ChoiceOption, Choices, Chosen, End, Pick, Picked};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::person::Person;
use crate::scratch::{Scratch, unexplained};

fn question(text: &str, labels: &[&str]) -> Value {
    let options: Vec<Value> =
        labels.iter().map(|label| json!({"label": label, "description": format!("takes {label}")})).collect();
    json!({"question": text, "header": "Head", "options": options, "multiSelect": text.ends_with("all?")})
}

fn two() -> Value {
    json!({"questions": [question("Which one?", &["A", "B"]), question("Which of all?", &["C", "D", "E"])]})
}

#[test]
fn the_user_sees_what_was_asked_and_the_model_what_they_chose() {
    let person = Person::picking(vec![Picked::option(1), Picked { options: vec![0, 2], said: None }]);
    let scratch = Scratch::asking(person.clone());
    assert_eq!(
        scratch.says("AskUserQuestion", &two()).split("\nHow `").next().unwrap(),
        "ok: The user answered:\n- Which one? B\n- Which of all? C, E"
    );
    let option =
        |label: &str| ChoiceOption { label: label.to_owned(), description: format!("takes {label}") };
    let choice = |question: &str, labels: &[&str], pick| Choice {
        question: question.to_owned(),
        header: "Head".to_owned(),
        options: labels.iter().map(|label| option(label)).collect(),
        pick,
    };
    let questions = vec![
        choice("Which one?", &["A", "B"], Pick::One),
        choice("Which of all?", &["C", "D", "E"], Pick::Several),
    ];
    assert_eq!(person.asked(), [("call_1".to_owned(), Choices { about: About::Question, questions })]);
}

#[test]
fn every_kind_of_answer_is_told() {
    let answered = |answers: &[Picked]| Chosen::Answered { answers: answers.to_vec() };
    let both = Picked { options: vec![0], said: Some("but soon".to_owned()) };
    let cases = [
        (
            answered(&[Picked::words("neither"), both]),
            "ok: The user answered:\n- Which one? (in their own words) neither\n- Which of all? C (they add: but soon)",
        ),
        (
            answered(&[Picked::default(), Picked::default()]),
            "ok: The user answered:\n- Which one? (no answer)\n- Which of all? (none of the options)",
        ),
        // A front end that answers too little, or what was not offered.
        (
            answered(&[Picked::option(9)]),
            "ok: The user answered:\n- Which one? (no answer)\n- Which of all? (none of the options)",
        ),
        (
            Chosen::Dismissed { said: None },
            "ok: The user does not want to answer this now. Go on without it if you can; else end your answer and say what you need to know.",
        ),
        (
            Chosen::Dismissed { said: Some("let us talk".to_owned()) },
            "ok: The user did not choose, but says: let us talk",
        ),
        (
            Chosen::Nobody,
            "ok: Nobody is there to answer. Do not ask again: go on by your best judgement, and say in your answer what you assumed.",
        ),
    ];
    for (chosen, expected) in cases {
        let scratch = Scratch::asking(Person::saying(chosen));
        assert_eq!(scratch.says("ask_user_question", &two()), expected);
    }
}

#[test]
fn without_anybody_a_session_goes_on() {
    // The port's own default.
    let said = Scratch::new().says("ask_user_question", &two());
    assert!(said.starts_with("ok: Nobody is there to answer."), "{said}");
}

#[test]
fn questions_that_nobody_could_answer_are_not_asked() {
    let person = Person::first();
    let scratch = Scratch::asking(person.clone());
    let five: Vec<Value> = (0..5).map(|nth| question(&format!("{nth}?"), &["A", "B"])).collect();
    let twice = [question("Which?", &["A", "B"]), question("Which?", &["C", "D"])];
    let cases = [
        (json!([]), "there are 0 questions; ask 1 to 4 at a time"),
        (json!(five), "there are 5 questions; ask 1 to 4 at a time"),
        (json!([question(" ", &["A", "B"])]), "question 1 has no text: write it as a whole sentence"),
        (json!(twice), "question 2 is there twice: ask it once"),
        (
            json!([question("Which?", &["A"])]),
            "question 1 has 1 of 2 to 4 options; an open question needs no tool: ask it in your answer",
        ),
        (
            json!([question("Which?", &["A", "B", "C", "D", "E"])]),
            "question 1 has 5 of 2 to 4 options; an open question needs no tool: ask it in your answer",
        ),
        (
            json!([question("Which?", &["A", ""])]),
            "option 2 of question 1 has no `label`: give it a few words",
        ),
        (
            json!([question("Which?", &["A", "A"])]),
            "two options of question 1 are both `A`: make them differ",
        ),
    ];
    for (questions, why) in cases {
        let said = scratch.says("ask_user_question", &json!({ "questions": questions }));
        assert_eq!(said, format!("error: the user was not asked: {why}"));
    }
    assert_eq!(person.asked(), []);
}

#[test]
fn an_open_question_is_taken_back() {
    let cancel = CancellationToken::new();
    let scratch = Scratch::asking(Person::cancelling(cancel.clone()));
    let outcome = scratch.run_cancelled_by("ask_user_question", &two(), &cancel);
    assert_eq!(outcome.end, End::Cancelled);
    assert_eq!(
        unexplained("ask_user_question", &outcome.text()),
        "the question was taken back before it was answered"
    );
}
