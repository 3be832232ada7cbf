//! The validator: calls and results, their ids and names (the numbers are those of spec 20).

use rail_model::{Extras, Message, Opaque, Part, PartBody, Request, Role, ToolChoice};
use rail_wire::fit::{check, fit};
use rail_wire::{Quirks, TargetSpec};
use serde_json::json;

use crate::fit_common::*;

#[test]
fn what_is_valid_in_its_own_protocol_stays_as_it_is() {
    let answers = [result("b"), result("a")];
    let in_user = |rules| {
        let calls =
            assistant([thinking(Some("anthropic")), text("Let me see."), call("a"), call("b"), text("so")]);
        let after = user([answers[0].clone(), answers[1].clone(), text("and?")]);
        own(rules, [assistant([text("first")]), user([text("hi")]), calls, after, assistant([text("it")])])
    };
    let own_messages = |rules| {
        let [b, a] = answers.clone();
        let calls = assistant([text(""), call("a"), call("b")]);
        own(
            rules,
            [system("s"), user([text("")]), calls, tool([b]), tool([a]), user([text("and?")]), assistant([])],
        )
    };
    let spread = [user([result("a")]), user([result("b"), text("and?")])];
    let table = [
        (ANTHROPIC, in_user(&ANTHROPIC)),
        (
            ANTHROPIC,
            own(&ANTHROPIC, [vec![assistant([call("a")]), assistant([call("b")])], spread.into()].concat()),
        ),
        (CHAT, own_messages(&CHAT)),
        (
            CHAT,
            own(
                &CHAT,
                [user([text("q")]), assistant([call("functions.f:0")]), tool([result("functions.f:0")])],
            ),
        ),
        (RESPONSES, own_messages(&RESPONSES)),
        (RESPONSES, own(&RESPONSES, [assistant([call("a")]), user([text("wait")]), tool([result("a")])])),
    ];
    for (rules, request) in table {
        let fitted = fitted(&request, &target(), &rules);
        assert_eq!(fitted.request, request);
        assert_eq!(losses(&fitted), "");
        assert!(fitted.restore.is_empty());
    }
}

#[test]
fn an_own_clients_choice_of_tools_it_declared_elsewhere_stays() {
    let mut request = own(&RESPONSES, [user([text("q")])]);
    (request.tool_choice, request.parallel_tools) = (Some(ToolChoice::Named("stored".into())), Some(false));
    assert_eq!(fitted(&request, &target(), &RESPONSES).request, request);
}

#[test]
fn results_may_answer_calls_that_the_server_keeps() {
    let mut request = own(&RESPONSES, [tool([result("a")]), user([text("go on")])]);
    request.extras.insert(RESPONSES.protocol, "previous_response_id", json!("resp_1"));
    assert_eq!(fitted(&request, &target(), &RESPONSES).request, request);
    request.extras = Extras::NONE;
    assert_ne!(fitted(&request, &target(), &RESPONSES).request, request);
}

#[test]
fn results_may_answer_calls_of_a_kind_we_do_not_know() {
    let macro_call = Opaque { origin: CHAT.protocol, value: json!({ "type": "x_macro", "id": "m" }) };
    let calls = assistant([call("a"), Part::new(PartBody::Opaque(macro_call))]);
    let request = own(&CHAT, [calls, tool([result("a")]), tool([result("m")])]);
    assert_eq!(fitted(&request, &target(), &CHAT).request, request);
    let elsewhere = fitted(&request, &target(), &ANTHROPIC).request;
    assert_eq!(elsewhere.messages[2].parts.len(), 2, "{elsewhere:?}");
    assert!(elsewhere.messages[2].parts[1].as_text().is_some_and(|text| text.contains("`m`")));
}

#[test]
fn trap_14_results_come_first_and_then_the_users_text() {
    let messages = [
        user([text("q")]),
        assistant([call("a"), call("b"), text("after")]),
        user([text("and"), result("b"), result("a")]),
    ];
    let said = [user([text("q")]), assistant([call("a"), call("b"), text("after")])];
    let (out, _) = sent(&ANTHROPIC, messages.clone());
    assert_eq!(out[..2], said);
    assert_eq!(out[2].parts.len(), 3);
    assert_eq!(out[2].parts[..2], [result("a"), result("b")]);
    let (out, losses) = sent(&CHAT, messages);
    assert_eq!(out[..2], said);
    assert_eq!(out[2..], [tool([result("a")]), tool([result("b")]), user([text("and")])]);
    assert_eq!(losses, "", "nothing is lost by putting it in order");
}

#[test]
fn trap_14_messages_of_results_join_the_user_message_after_them() {
    let asks = assistant([call("a"), call("b")]);
    let (out, _) = sent(
        &GEMINI,
        [user([text("q")]), asks, tool([result("a")]), tool([result("b")]), user([text("go")])],
    );
    assert_eq!(out.len(), 3);
    assert_eq!(out[2].role, Role::User);
    assert_eq!(out[2].parts.len(), 3);
}

#[test]
fn trap_14_each_message_has_its_own_results_where_turns_are_not_joined() {
    let messages = [assistant([call("a")]), assistant([call("b")]), tool([result("a")]), tool([result("b")])];
    let (out, losses) = sent(&CHAT, messages);
    assert_eq!(
        out,
        [assistant([call("a")]), tool([result("a")]), assistant([call("b")]), tool([result("b")])]
    );
    assert_eq!(losses, "messages[2].content[0]: a result apart from its call; moved up to it");
}

#[test]
fn trap_15_orphan_result_becomes_text() {
    let (out, losses) = sent(&ANTHROPIC, [user([result("gone"), text("q")])]);
    let told = "[result of the tool call `gone`, which is not in this conversation]\nresult of gone";
    assert_eq!(out[0].parts[0], text(told));
    assert_eq!(losses, "messages[0].content[0]: a result without a call; sent as user text");
    let (out, _) = sent(&CHAT, [tool([result("gone")]), user([text("q")])]);
    assert_eq!(out, [user([text(told)]), user([text("q")])]);
}

#[test]
fn trap_15_missing_result_is_made_up() {
    let (out, losses) = sent(
        &ANTHROPIC,
        [user([text("q")]), assistant([call("a"), call("b")]), user([result("b"), text("stop")])],
    );
    assert_eq!(out[2].parts[..2], [interrupted("a"), result("b")]);
    assert_eq!(losses, "messages[1].content[0]: a call without a result; one that says so was added");
    let (out, _) = sent(&CHAT, [user([text("q")]), assistant([call("a")])]);
    let said = result_with("a", vec![text("The call was interrupted and has no result.")]);
    assert_eq!(out[2..], [tool([said])], "this protocol has no flag for it");
}

#[test]
fn trap_15_second_result_is_dropped_and_a_late_one_moves_up() {
    let messages = [
        user([text("q")]),
        assistant([call("a"), call("b")]),
        user([result("a"), text("wait")]),
        assistant([text("hm")]),
        user([result("b"), result("a"), text("go")]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages);
    assert_eq!(out[2].parts[..2], [result("a"), result("b")]);
    assert_eq!(out[4].parts.len(), 1);
    let expected = "messages[4].content[0]: a result apart from its call; moved up to it\n\
                    messages[4].content[1]: a second result of one call; the first stays";
    assert_eq!(losses, expected);
}

#[test]
fn trap_15_a_result_without_content_stays() {
    let request =
        own(&ANTHROPIC, [user([text("q")]), assistant([call("a")]), user([result_with("a", vec![])])]);
    assert_eq!(fitted(&request, &target(), &ANTHROPIC).request, request);
}

#[test]
fn trap_16_media_of_results_follow_in_a_user_message() {
    let shot = result_with("a", vec![text("shot"), image("AAAA")]);
    let messages = [
        user([text("q")]),
        assistant([call("a"), call("b")]),
        tool([shot]),
        tool([result("b")]),
        user([text("so?")]),
    ];
    let (out, losses) = sent(&CHAT, messages.clone());
    let note = text("[image: in the user message that follows]");
    assert_eq!(out[2..4], [tool([result_with("a", vec![text("shot"), note])]), tool([result("b")])]);
    assert_eq!(out[4], user([text("[image of the result of tool call `a`:]"), image("AAAA"), text("so?")]));
    assert_eq!(losses, "messages[2].content[0].content[1]: image moved to the user message that follows");
    let quirks = Quirks { image_in_tool_result: false, ..target().quirks };
    let target = TargetSpec { quirks, ..target() };
    let out = fitted(&asked(messages), &target, &ANTHROPIC).request.messages;
    assert_eq!(out[2].parts.len(), 5);
    assert_eq!(out[2].parts[3], image("AAAA"));
}

#[test]
fn trap_16_an_image_the_assistant_made_is_shown_by_the_user() {
    let messages = [user([text("draw")]), assistant([image("AAAA")]), user([text("darker")])];
    let (out, _) = sent(&CHAT, messages.clone());
    assert_eq!(out[1], assistant([text("[image: in the user message that follows]")]));
    assert_eq!(
        out[2],
        user([text("[image of the assistant's message above:]"), image("AAAA"), text("darker")])
    );
    assert_eq!(sent(&GEMINI, messages.clone()).0, messages);
}

#[test]
fn trap_17_ids_are_legal_and_the_same_for_call_and_result() {
    let messages = [user([text("q")]), assistant([call("functions.f:0")]), tool([result("functions.f:0")])];
    let (out, _) = sent(&ANTHROPIC, messages.clone());
    assert_eq!(out[1].parts, [call("rail-functions_2ef_3a0")]);
    let PartBody::ToolResult(answer) = &out[2].parts[0].body else { panic!("{out:?}") };
    assert_eq!(answer.id.as_str(), "rail-functions_2ef_3a0");
    assert_eq!(sent(&CHAT, messages.clone()).0, messages, "others take any id");
    let long = "x".repeat(100);
    let (out, _) = sent(&CHAT, [assistant([call(&long)]), tool([result(&long)])]);
    let PartBody::ToolCall(cut) = &out[0].parts[0].body else { panic!("{out:?}") };
    assert_eq!(cut.id.as_str().len(), 40);
}

#[test]
fn trap_17_an_id_used_twice_gets_a_suffix() {
    let messages = [
        assistant([call("a"), call("a")]),
        tool([result("a")]),
        tool([result("a")]),
        assistant([call("a")]),
        tool([result("a")]),
    ];
    let (out, losses) = sent(&CHAT, messages);
    let named = |id: &str| tool([result_with(id, vec![text("result of a")])]);
    assert_eq!(
        out,
        [
            assistant([call("a"), call("a_2")]),
            named("a"),
            named("a_2"),
            assistant([call("a_3")]),
            named("a_3")
        ]
    );
    assert_eq!(losses, "messages[0].content[1].id: openai-chat takes no such id; sent as another (2 times)");
}

#[test]
fn trap_18_names_are_made_legal_everywhere_and_come_back() {
    let long = "n".repeat(90);
    let messages = [
        user([text("q")]),
        assistant([call_of("a", &long), call_of("b", "mcp.x/y")]),
        tool([result("a")]),
        tool([result("b")]),
    ];
    let tools = vec![function(&long), function("mcp.x/y"), function("ok"), function("ok")];
    let request = Request { tools, tool_choice: Some(ToolChoice::Named(long)), ..asked(messages) };
    let fitted = fitted(&request, &target(), &CHAT);
    let names: Vec<_> = fitted.request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), 3);
    assert!(names[0].len() == 64 && names[1].starts_with("mcp_x_y_") && names[2] == "ok");
    assert_eq!(fitted.request.tool_choice, Some(ToolChoice::Named(names[0].into())));
    assert_eq!(fitted.request.messages[1].parts, [call_of("a", names[0]), call_of("b", names[1])]);
    assert!(!fitted.restore.is_empty());
    assert!(losses(&fitted).contains("tools[3]: `ok` is declared twice; the first stays"));
}

#[test]
fn trap_18_a_call_without_a_name_is_never_sent() {
    let (out, losses) = sent(
        &ANTHROPIC,
        [user([text("q")]), assistant([call_of("a", ""), call("b")]), user([result("a"), result("b")])],
    );
    assert_eq!(out[1].parts, [text(r#"[call without a tool's name: {"x":1}]"#), call("b")]);
    assert_eq!(out[2].parts[0], result("b"));
    assert_eq!(out[2].parts[1], text("[result of the tool call `a`, which had no tool's name]\nresult of a"));
    assert_eq!(losses, "messages[1].content[0]: a call without a tool's name; sent as text");
}

/// A result of the tool `f`, as Gemini's own client writes it.
fn named(id: &str) -> Part {
    let mut part = result(id);
    if let PartBody::ToolResult(result) = &mut part.body {
        result.name = Some("f".into());
    }
    part
}

#[test]
fn results_may_answer_parts_we_cannot_read_that_came_before_them() {
    let unread = || Part::new(PartBody::Opaque(opaque(GEMINI.protocol)));
    let told = |id: &str| {
        text(&format!("[result of the tool call `{id}`, which is not in this conversation]\nresult of {id}"))
    };
    let cases: Vec<(&str, Vec<Message>, Vec<Message>)> = vec![
        (
            "the part before the result",
            vec![user([text("q")]), assistant([unread()]), user([named("a")])],
            vec![user([text("q")]), assistant([unread()]), user([named("a")])],
        ),
        (
            "the same in a message with a role of its own",
            vec![user([text("q")]), assistant([unread()]), tool([named("a")])],
            vec![user([text("q")]), assistant([unread()]), tool([named("a")])],
        ),
        (
            "the part goes, as the conversation can't end with it",
            vec![tool([named("a")]), assistant([unread()])],
            vec![user([told("a")])],
        ),
        (
            "the part goes, as the only thing after it is empty",
            vec![user([named("a")]), assistant([unread()]), tool([])],
            vec![user([told("a")])],
        ),
        (
            "a second result keeps the part",
            vec![user([named("a")]), assistant([unread()]), tool([named("a")])],
            vec![user([told("a")]), assistant([unread()]), tool([named("a")])],
        ),
        (
            "the result in the assistant's message, of which nothing else is left",
            vec![user([unread()]), assistant([named("a")])],
            vec![user([named("a"), unread()])],
        ),
        (
            "the same between words of the user",
            vec![user([unread()]), assistant([named("a")]), user([text("q")])],
            vec![user([named("a"), unread()]), user([text("q")])],
        ),
    ];
    for (name, messages, expected) in cases {
        let once = fit(&own(&GEMINI, messages), &target(), &GEMINI).request;
        assert_eq!(once.messages, expected, "{name}");
        assert_eq!(check(&once, &target(), &GEMINI), [""; 0], "{name}");
        assert_eq!(fit(&once, &target(), &GEMINI).request, once, "{name}");
    }
}
