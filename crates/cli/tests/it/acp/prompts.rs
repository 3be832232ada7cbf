//! What editors put into a prompt beside words: links, whole files, and what is told of them later.

use rail_testkit::{Turn, text};
use serde_json::{Value, json};

use super::{Editor, prompt, stops};

fn request(id: i64, blocks: &Value) -> Value {
    json!({"do": "request", "id": id, "method": "session/prompt",
        "params": {"sessionId": "${session}", "prompt": blocks}})
}

fn words(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn unsaved() -> Value {
    json!({"type": "resource", "resource": {"uri": "file://${work}/draft.txt", "text": "not on the disk\n"}})
}

/// The updates of a kind, in order.
fn updates(transcript: &str, kind: &str) -> Vec<Value> {
    let said = transcript.lines().filter_map(|line| line.strip_prefix("< "));
    let said = said.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let updates = said.map(|mut said| said["params"]["update"].take());
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}

#[test]
fn what_was_given_with_words_is_told_again_as_it_was_given() {
    let editor = Editor::open(vec![Turn::reply(vec![text("Seen.")])], &json!({}));
    editor.home.write("work/notes.txt", "on the disk\n");
    let link = json!({"type": "resource_link", "name": "notes", "uri": "file://${work}/notes.txt"});
    let editor = editor.play(&json!([
        request(1, &json!([words("Compare "), unsaved(), words(" and "), link])),
        stops(1, "end_turn"),
    ]));
    let before = editor.client.transcript().len();
    let load = json!({"sessionId": "${session}", "cwd": "${work}", "mcpServers": []});
    let editor = editor.play(&json!([
        {"do": "request", "id": 2, "method": "session/load", "params": load}, {"do": "await", "id": 2},
    ]));
    let transcript = editor.client.transcript();
    let again: Vec<Value> = updates(&transcript[before..], "user_message_chunk")
        .into_iter()
        .map(|mut update| update["content"].take())
        .collect();
    let resource = json!({"uri": "file://${work}/draft.txt", "text": "not on the disk\n"});
    assert_eq!(
        again,
        [
            words("Compare `${work}/draft.txt` and @${work}/notes.txt"),
            json!({"type": "resource", "resource": resource})
        ]
    );
    let (_, _, models) = editor.over();
    let asked = serde_json::to_string(&models.requests()[0].request().unwrap().messages).unwrap();
    assert!(asked.contains("on the disk") && asked.contains("not on the disk"), "{asked}");
}

#[test]
fn what_can_not_be_attached_is_told() {
    let editor =
        Editor::open(vec![Turn::reply(vec![text("I see nothing.")])], &json!({"session": {"notices": {}}}));
    editor.home.write("work/.env", "KEY=1\n");
    let editor = editor.play(&json!([prompt(1, "What is @.env?"), stops(1, "end_turn")]));
    let notices = updates(&editor.client.transcript(), "notice");
    let told: Vec<&str> = notices.iter().filter_map(|notice| notice["title"].as_str()).collect();
    assert!(
        told.iter().any(|told| told.starts_with("`@.env` is not attached: ")),
        "{}",
        editor.client.transcript()
    );
    assert_eq!(editor.over().0, "");
}

#[test]
fn a_command_is_one_with_a_file_behind_it_and_answers_are_messages_of_their_own() {
    let editor = Editor::open(vec![], &json!({}));
    let editor = editor.play(&json!([
        request(1, &json!([words("/help"), unsaved()])),
        stops(1, "end_turn"),
        prompt(2, "/help"),
        stops(2, "end_turn"),
    ]));
    let said = updates(&editor.client.transcript(), "agent_message_chunk");
    let [one, two] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(one["content"], two["content"]);
    assert_ne!(one["messageId"], two["messageId"]);
    assert!(editor.over().2.requests().is_empty());
}
