//! Questions that nobody waits for any more are taken back.

use rail_agent::team::types;
use rail_permit::Mode;
use rail_proto::{Answer, Command, Reason, SessionEvent};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, Talk, texts};

fn bash(command: &str) -> Turn {
    Turn::reply(vec![call("bash", json!({"command": command}))])
}

fn question(event: &SessionEvent) -> Option<String> {
    match event {
        SessionEvent::Permission(ask) => Some(ask.id.clone()),
        SessionEvent::Choice { id, .. } => Some(id.clone()),
        _ => None,
    }
}

fn withdrawn(seen: &[SessionEvent]) -> Vec<&str> {
    let ids = seen.iter().filter_map(|event| match event {
        SessionEvent::Withdrawn { id } => Some(id.as_str()),
        _ => None,
    });
    ids.collect()
}

/// What is asked when the user says something.
async fn asked(talk: &mut Talk, words: &str) -> String {
    talk.say(words);
    talk.until(question).await
}

#[tokio::test]
async fn an_interruption_takes_questions_back_once() {
    let choose = json!({"questions": [{"question": "Which?", "header": "W", "multiSelect": false,
        "options": [{"label": "a", "description": ""}, {"label": "b", "description": ""}]}]});
    let mut bed =
        Bed::new(vec![bash("make"), Turn::reply(vec![call("ask_user_question", choose)]), bash("make")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    let mut ids = Vec::new();
    for words in ["one", "two"] {
        ids.push(asked(&mut talk, words).await);
        talk.send(Command::Interrupt);
        assert_eq!(talk.done().await.reason, Reason::Interrupted);
        assert_eq!(withdrawn(&talk.seen), ids, "before the task is over");
    }
    // The end of a session is one too.
    ids.push(asked(&mut talk, "three").await);
    assert_eq!(withdrawn(&talk.end().await), ids);
}

#[tokio::test]
async fn a_question_that_was_answered_is_not_taken_back() {
    let mut bed = Bed::new(vec![bash("touch made"), Turn::reply(vec![text("done")])]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    let ask = asked(&mut talk, "go").await;
    talk.send(Command::Answer { ask, answer: Answer::Once });
    assert_eq!(talk.done().await.reason, Reason::Answered);
    assert!(withdrawn(&talk.end().await).is_empty());
}

#[tokio::test]
async fn the_question_of_an_agent_that_is_stopped_is_taken_back_while_the_task_goes_on() {
    let first = |request: &rail_model::Request| texts(request).first().cloned().unwrap_or_default();
    let mut bed = Bed::on(
        Models::answering(move |request| match (first(request).as_str(), request.messages.len()) {
            ("go", 1) => {
                let task = json!({"description": "job", "prompt": "job", "subagent_type": "general-purpose"});
                Turn::reply(vec![call("task", task)])
            }
            ("job", 1) => bash("make"),
            (_, _) => Turn::reply(vec![text("done")]),
        })
        .unwrap(),
    );
    bed.agents = types::built_in();
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    let ask = asked(&mut talk, "go").await;
    let (call, _) = ask.split_once('/').unwrap();
    talk.send(Command::StopAgent { id: call.to_owned() });
    assert_eq!(talk.done().await.reason, Reason::Answered);
    assert_eq!(withdrawn(&talk.seen), [ask.as_str()]);
    assert_eq!(withdrawn(&talk.end().await), [ask.as_str()]);
}
