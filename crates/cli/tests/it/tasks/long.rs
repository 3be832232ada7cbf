//! A session of ten thousand turns goes on.

use rail_journal::{
    Opened, Partial, Record, Running, Said, SessionId, UnixMillis, VERSION, Writer, session_folder,
};
use rail_model::{CallId, CallKind, Message, Part, PartBody, Role, ToolCall, ToolResult};
use rail_testkit::{Models, Turn, text};
use serde_json::json;

use super::{TaskBed, assert_valid};

const TURNS: u64 = 10_000;
/// All of it fits.
const WINDOW: u64 = 2_000_000;

/// A turn as the agent writes it: the user's words, a call, its result, and an answer.
fn turn(number: u64) -> Vec<Record> {
    let step = number * 2 + 1;
    let said = |step, role, parts| Said { step, message: Message::new(role, parts) };
    let id = CallId::Given(format!("call_{number}"));
    let arguments = json!({"command": format!("echo {number}")}).to_string();
    let call = ToolCall { id: id.clone(), name: "bash".to_owned(), arguments, kind: CallKind::Function };
    let result = ToolResult {
        id: id.clone(),
        name: Some("bash".to_owned()),
        content: vec![Part::text(format!("{number}\n"))],
        is_error: None,
        kind: CallKind::Function,
    };
    vec![
        Record::Message(said(step, Role::User, vec![Part::text(format!("question {number}"))])),
        Record::Partial(Partial { step, text: "I look.".to_owned(), ..Partial::default() }),
        Record::Message(said(
            step,
            Role::Assistant,
            vec![Part::text("I look."), Part::new(PartBody::ToolCall(call))],
        )),
        Record::Running(Running { step, calls: vec![id.as_str().to_owned()] }),
        Record::Results(said(step, Role::Tool, vec![Part::new(PartBody::ToolResult(result))])),
        Record::Message(said(step + 1, Role::Assistant, vec![Part::text(format!("It is {number}."))])),
    ]
}

#[test]
fn a_session_of_ten_thousand_turns_with_calls_goes_on() {
    let bed = TaskBed::on(Models::start(vec![Turn::reply(vec![text("I remember.")])]).unwrap(), WINDOW);
    let cwd = bed.home.path("work").canonicalize().unwrap();
    let id = SessionId::mint(UnixMillis(1_700_000_000_000)).unwrap();
    let folder = session_folder(&bed.home.path("state/switchrail/sessions"), &cwd, &id);
    let opened =
        Opened { version: VERSION, id, cwd, model: "anthropic,m".to_owned(), parent: None, agent_of: None };
    let mut writer = Writer::create(&folder, UnixMillis(1_700_000_000_000), opened).unwrap();
    for (number, at) in (0..TURNS).zip(1_700_000_000_001..) {
        for record in turn(number) {
            writer.append(UnixMillis(at), record).unwrap();
        }
    }
    writer.sync().unwrap();
    drop(writer);
    let result = bed.task(&["What was the last?", "-c"], "");
    assert_eq!(result["result"], "I remember.");
    let request = bed.requests().pop().unwrap();
    assert_valid(&request);
    let messages = format!("{:?}", request.messages);
    for words in ["question 9999", "It is 9999.", "What was the last?"] {
        assert!(messages.contains(words), "{words}");
    }
    assert_eq!(request.messages.len() as u64, TURNS * 4 + 1);
    assert!(bed.home.said(&["sessions", "verify"], "").contains("proved"));
}
