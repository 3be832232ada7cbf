//! The validator, trap by trap (the numbers are those of spec 20).

use rail_model::{
    CacheMark, CallKind, Effort, Extras, Json, MediaKind, MediaSource, Message, Opaque, Part, PartBody,
    ProtocolId, Request, Role, Sampling, Seal, Thinking, ThinkingMode, ToolChoice, ToolKind,
};
use rail_wire::fit::{Rules, fit};
use rail_wire::{ImageLimits, Quirks, TargetSpec, ThinkingStyle};
use serde_json::json;

use crate::fit_common::*;

const OTHER: ProtocolId = ProtocolId::new("other");

/// Fits messages from nowhere and gives what goes out, with the losses.
fn sent(rules: &Rules, messages: impl Into<Vec<Message>>) -> (Vec<Message>, String) {
    let fitted = fitted(&asked(messages), &target(), rules);
    let said = losses(&fitted);
    (fitted.request.messages, said)
}

fn marked(mut part: Part) -> Part {
    part.cache = Some(CacheMark::default());
    part
}

fn extras(origin: ProtocolId, keys: &[&str]) -> Extras {
    let mut extras = Extras::default();
    keys.iter().for_each(|key| extras.insert(origin, *key, json!(1)));
    extras
}

fn opaque(origin: ProtocolId) -> Opaque {
    Opaque { origin, value: json!({ "type": "x_search" }) }
}

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

#[test]
fn trap_19_the_billing_line_is_for_anthropic_only() {
    let system = vec![text("x-anthropic-billing-header: cc_version=2"), text("You are…")];
    let request = Request { system: system.clone(), ..own(&ANTHROPIC, [user([text("q")])]) };
    assert_eq!(fitted(&request, &target(), &ANTHROPIC).request.system, system);
    let elsewhere = fitted(&request, &target(), &CHAT);
    assert_eq!(elsewhere.request.system, system[1..]);
    assert_eq!(
        losses(&elsewhere),
        "system[0]: the billing line of Claude Code is for Anthropic only; left out"
    );
}

#[test]
fn trap_20_instructions_in_mid_conversation_become_marked_user_text() {
    let reminder = text("<system-reminder>\nbe brief\n</system-reminder>");
    let (out, losses) =
        sent(&GEMINI, [user([text("q")]), assistant([text("a")]), system("be brief"), user([text("r")])]);
    assert_eq!(out[2..], [user([reminder.clone(), text("r")])]);
    assert_eq!(losses, "messages[2].role: instructions in mid-conversation, sent as marked user text");
    let (out, _) =
        sent(&GEMINI, [user([text("q")]), assistant([call("a")]), system("be brief"), tool([result("a")])]);
    assert_eq!(out[2].parts[1..], [reminder], "after the result, not before it");
    let (out, _) = sent(&CHAT, [assistant([call("a")]), system("be brief"), tool([result("a")])]);
    assert_eq!(out[1..], [tool([result("a")]), system("be brief")]);
}

#[test]
fn trap_20_a_prefill_is_trimmed_where_there_is_none() {
    let (out, losses) = sent(&GEMINI, [user([text("q")]), assistant([text("The answer is")])]);
    assert_eq!(out, [user([text("q")])]);
    assert_eq!(losses, "messages[1]: the conversation can't end with the assistant's words here; left out");
    let (out, _) = sent(&GEMINI, [assistant([text("Hello!")])]);
    assert_eq!(out[1..], [assistant([text("Hello!")]), user([text("Continue.")])]);
}

#[test]
fn trap_21_the_budget_stays_below_the_output() {
    let ask = |output, budget, most| {
        let mut request = asked([user([text("q")])]);
        request.sampling = Sampling { max_output: output, ..Sampling::default() };
        request.thinking =
            Some(Thinking { mode: Some(ThinkingMode::On), budget: Some(budget), ..Thinking::default() });
        let request = fitted(&request, &TargetSpec { max_output: most, ..target() }, &ANTHROPIC).request;
        let thinking = request.thinking.unwrap();
        (request.sampling.max_output, thinking.mode, thinking.budget)
    };
    let on = Some(ThinkingMode::On);
    assert_eq!(ask(Some(4000), 2000, None), (Some(4000), on, Some(2000)));
    assert_eq!(ask(Some(4000), 8000, None), (Some(12000), on, Some(8000)), "raised");
    assert_eq!(ask(Some(4000), 8000, Some(6000)), (Some(6000), on, Some(4500)), "raised and lowered");
    assert_eq!(ask(None, 8000, Some(64000)), (None, on, Some(8000)));
    assert_eq!(ask(Some(900), 8000, Some(900)), (Some(900), Some(ThinkingMode::Off), None), "no room");
}

#[test]
fn trap_22_signatures_and_reasoning_go_to_their_issuer_only() {
    let sealed_call = Part { seal: Some(Seal { issuer: "gemini".into(), data: "s".into() }), ..call("a") };
    let messages = [
        user([text("q")]),
        assistant([thinking(Some("gemini")), thinking(None), sealed_call]),
        user([result("a")]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages.clone());
    assert_eq!(out[1].parts, [call("a")]);
    let expected = "messages[1].content[0].seal: only gemini can read its seals (2 times)\n\
                    messages[1].content[0]: reasoning without this target's own seal; left out\n\
                    messages[1].content[1]: reasoning without this target's own seal; left out";
    assert_eq!(losses, expected);
    assert_eq!(sent(&CHAT, messages.clone()).0[1].parts, [thinking(None), thinking(None), call("a")]);
    assert_eq!(sent(&GEMINI, messages.clone()).0[1], messages[1]);
    let narrow = TargetSpec { issuer: Some("gemini".into()), ..target() };
    assert_eq!(fitted(&asked(messages.clone()), &narrow, &CHAT).request.messages[1], messages[1]);
}

#[test]
fn trap_22_thinking_is_off_while_the_open_loop_has_lost_its_reasoning() {
    let turns = |first: Part| {
        let first = assistant([first, call("a")]);
        vec![user([text("q")]), first, user([result("a")]), assistant([call("b")]), user([result("b")])]
    };
    let on = Some(Thinking { mode: Some(ThinkingMode::On), budget: Some(2000), ..Thinking::default() });
    let mode = |messages: Vec<Message>, thinking: &Option<Thinking>, style| {
        let request = Request { thinking: thinking.clone(), ..asked(messages) };
        fitted(&request, &TargetSpec { thinking: style, ..target() }, &ANTHROPIC)
            .request
            .thinking
            .unwrap()
            .mode
    };
    let asked = ThinkingStyle::AsAsked;
    assert_eq!(mode(turns(thinking(Some("anthropic"))), &on, asked), Some(ThinkingMode::On));
    assert_eq!(mode(turns(thinking(Some("gemini"))), &on, asked), Some(ThinkingMode::Off));
    assert_eq!(mode(turns(thinking(Some("gemini"))), &on, ThinkingStyle::Adaptive), Some(ThinkingMode::On));
    let closed = [turns(thinking(None)), vec![assistant([text("done")]), user([text("next")])]].concat();
    assert_eq!(mode(closed, &on, asked), Some(ThinkingMode::On));
    let effort = Some(Thinking { effort: Some(Effort::High), ..Thinking::default() });
    assert_eq!(mode(turns(text("well")), &effort, asked), Some(ThinkingMode::Off), "it may become a budget");
}

#[test]
fn trap_23_hidden_reasoning_is_verbatim_or_gone() {
    let redacted =
        |issuer: &str| Part::new(PartBody::Redacted(Seal { issuer: issuer.into(), data: "d".into() }));
    let messages =
        [user([text("q")]), assistant([redacted("anthropic"), redacted("openai-responses"), text("a")])];
    assert_eq!(sent(&ANTHROPIC, messages.clone()).0[1].parts, [redacted("anthropic"), text("a")]);
    assert_eq!(sent(&CHAT, messages).0[1].parts, [text("a")]);
}

#[test]
fn trap_24_the_earliest_cache_marks_are_dropped() {
    let mut request =
        own(&ANTHROPIC, [user([marked(text("a")), marked(text("b"))]), assistant([marked(text("c"))])]);
    request.system = vec![marked(text("s"))];
    request.tools = vec![function("f")];
    request.tools[0].cache = Some(CacheMark { ttl: Some("1h".into()), extras: Extras::NONE });
    let fitted_ = fitted(&request, &target(), &ANTHROPIC);
    assert_eq!(losses(&fitted_), "tools[0].cache_control: anthropic takes at most 4 cache marks");
    assert_eq!(fitted_.request.system, request.system);
    let without = Rules { cache_marks: 0, ..CHAT };
    let none = fitted(&request, &target(), &without);
    assert_eq!(losses(&none), "", "a hint where there are none");
    assert!(none.request.tools[0].cache.is_none() && none.request.system[0].cache.is_none());
}

#[test]
fn trap_24_marks_are_set_where_nobody_set_any() {
    let messages = [
        user([text("1")]),
        assistant([text("2")]),
        user([text("3")]),
        assistant([text("4")]),
        user([text("5")]),
    ];
    let request = Request {
        system: vec![text("s"), text("t")],
        tools: vec![function("f"), function("g")],
        ..asked(messages)
    };
    let target = TargetSpec::new("m");
    let out = fitted(&request, &target, &ANTHROPIC).request;
    let marks = |parts: &[Part]| parts.iter().map(|part| part.cache.is_some()).collect::<Vec<_>>();
    assert_eq!(out.tools.iter().map(|tool| tool.cache.is_some()).collect::<Vec<_>>(), [false, true]);
    assert_eq!(marks(&out.system), [false, true]);
    assert_eq!(
        out.messages.iter().flat_map(|message| marks(&message.parts)).collect::<Vec<_>>(),
        [false, false, true, false, false]
    );
    let own = Request { origin: Some(ANTHROPIC.protocol), ..request };
    assert_eq!(fitted(&own, &target, &ANTHROPIC).request, own, "its own clients set their own");
}

#[test]
fn trap_25_tools_of_another_provider_go_and_the_choice_is_mended() {
    let search = rail_model::ToolDecl { kind: ToolKind::Server(opaque(OTHER)), ..function("web_search") };
    let mut request = asked([user([text("q"), Part::new(PartBody::Opaque(opaque(OTHER)))])]);
    request.tools = vec![search.clone(), function("f")];
    request.tool_choice = Some(ToolChoice::Named("web_search".into()));
    request.headers = vec![("anthropic-beta".into(), "web-search".into())];
    let both = fitted(&request, &target(), &CHAT);
    assert_eq!(both.request.tool_choice, Some(ToolChoice::Auto));
    let expected = "headers.anthropic-beta: openai-chat has no such header\n\
                    tools[0]: `web_search` is a tool of other only; left out\n\
                    tool_choice: `web_search` is not declared; the model decides\n\
                    messages[0].content[1]: `x_search` is known to other only; left out";
    assert_eq!(losses(&both), expected);
    assert!(both.request.headers.is_empty());
    (request.tools, request.parallel_tools) = (vec![search], Some(false));
    let none = fitted(&request, &target(), &CHAT).request;
    assert_eq!((none.tool_choice, none.parallel_tools), (None, None));
}

#[test]
fn trap_25_a_choice_among_tools_keeps_those_that_are_there() {
    let names = |names: &[&str]| ToolChoice::Among {
        names: names.iter().map(|name| (*name).into()).collect(),
        required: true,
    };
    let mut request = Request { tools: vec![function("f")], ..asked([user([text("q")])]) };
    request.tool_choice = Some(names(&["f", "gone"]));
    assert_eq!(fitted(&request, &target(), &CHAT).request.tool_choice, Some(names(&["f"])));
    request.tool_choice = Some(names(&["gone"]));
    assert_eq!(fitted(&request, &target(), &CHAT).request.tool_choice, Some(ToolChoice::Auto));
    request.tool_choice = Some(ToolChoice::Opaque(opaque(OTHER)));
    assert_eq!(fitted(&request, &target(), &CHAT).request.tool_choice, None);
}

#[test]
fn trap_26_the_output_limit_is_clamped() {
    let sampling = Sampling { max_output: Some(32_000), ..Sampling::default() };
    let request = Request { sampling, ..asked([user([text("q")])]) };
    let fitted = fitted(&request, &TargetSpec { max_output: Some(12_288), ..target() }, &CHAT);
    assert_eq!(fitted.request.sampling.max_output, Some(12_288));
    assert_eq!(losses(&fitted), "max_output: 32000 is more than the target gives; asked for 12288");
}

#[test]
fn trap_35_results_name_their_tool_and_the_user_begins() {
    let (out, _) = sent(&GEMINI, [assistant([call("a")]), user([result("a")])]);
    assert_eq!(out[0], user([text("[the conversation begins with the assistant's words]")]));
    let PartBody::ToolResult(answer) = &out[2].parts[0].body else { panic!("{out:?}") };
    assert_eq!(answer.name.as_deref(), Some("f"));
}

#[test]
fn trap_42_free_text_tools_become_functions_with_one_string() {
    let mut patch = call_of("a", "apply_patch");
    if let PartBody::ToolCall(call) = &mut patch.body {
        (call.kind, call.arguments) = (CallKind::Custom, "*** Begin \"Patch\"".into());
    }
    let format = Json::from(json!({"type": "grammar", "syntax": "lark", "definition": "start: hunk+"}));
    let mut tool_decl = function("apply_patch");
    (tool_decl.kind, tool_decl.description) =
        (ToolKind::Custom { format: Some(format) }, Some("Patches files.".into()));
    let request = Request {
        tools: vec![tool_decl],
        ..asked([user([text("q")]), assistant([patch]), tool([result("a")])])
    };
    assert_eq!(fitted(&request, &target(), &RESPONSES).request.tools, request.tools);
    let fitted = fitted(&request, &target(), &GEMINI);
    let tool = &fitted.request.tools[0];
    assert_eq!(
        tool.description.as_deref(),
        Some("Patches files.\n\n`input` must match this grammar:\n(lark)\nstart: hunk+")
    );
    let schema = json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"], "additionalProperties": false});
    assert_eq!(tool.kind, ToolKind::Function { parameters: Some(Json::from(schema)) });
    let PartBody::ToolCall(call) = &fitted.request.messages[1].parts[0].body else { panic!() };
    assert_eq!(
        (call.arguments.as_str(), call.kind),
        (r#"{"input":"*** Begin \"Patch\""}"#, CallKind::Function)
    );
    assert!(!fitted.restore.is_empty());
}

#[test]
fn blank_texts_and_empty_messages_go() {
    let messages = [
        user([text(""), text("q")]),
        assistant([text(" \n")]),
        user([text("")]),
        assistant([call("a")]),
        user([result_with("a", vec![text(""), text("r")])]),
        assistant([text("b")]),
        user([text("")]),
        assistant([text("c")]),
        user([]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages);
    let parts: Vec<_> = out.iter().map(|message| message.parts.len()).collect();
    assert_eq!(parts, [1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(out[2].parts, [result_with("a", vec![text("r")])]);
    assert_eq!(out[4].parts, [text("[empty message]")], "somebody must speak between the assistant's turns");
    let expected = "messages[1].content[0]: a text of white space only; left out\n\
                    messages[6]: nothing is left of this message but a note\n\
                    messages[8]: nothing is left of this message but a note";
    assert_eq!(losses, expected);
    let signed = Part { seal: Some(Seal { issuer: "gemini".into(), data: "s".into() }), ..text("") };
    let (out, _) =
        sent(&GEMINI, [user([text("q")]), assistant([text("a"), signed.clone()]), user([text("r")])]);
    assert_eq!(out[1].parts[1], signed, "the seal is what is said");
}

#[test]
fn images_within_the_targets_limits() {
    let limits = ImageLimits { count: 2, max_bytes: 6, max_edge: 8, max_pixels: 64 };
    let url = media(MediaKind::Image, MediaSource::Url("https://x/y.png".into()));
    let nested = result_with("a", vec![image("AAAA")]);
    let messages = [
        user([image("BBBB"), text("q")]),
        assistant([call("a")]),
        user([nested, url.clone(), image(&"C".repeat(12))]),
    ];
    let see = |images, shrink| {
        let target = TargetSpec { images, shrink, ..target() };
        fitted(&asked(messages.clone()), &target, &ANTHROPIC).request.messages
    };
    let blind = text("[image left out: this model can't see images]");
    let out = see(None, None);
    assert_eq!(out[0].parts[0], blind);
    assert_eq!(out[2].parts, [result_with("a", vec![blind.clone()]), blind.clone(), blind]);
    let older = text("[image left out: this model takes 2 images and there are newer ones]");
    let out = see(Some(limits), Some(halve));
    assert_eq!(out[0].parts[0], older);
    assert_eq!(out[2].parts[..2], [result_with("a", vec![older]), url]);
    let PartBody::Media(small) = &out[2].parts[2].body else { panic!("{out:?}") };
    assert_eq!(
        (small.mime.as_deref(), &small.source),
        (Some("image/jpeg"), &MediaSource::Base64("CCCC".into()))
    );
    let out = see(Some(limits), None);
    assert_eq!(out[2].parts[2], text("[image left out: it is larger than the 6 bytes this model takes]"));
    let out = see(Some(ImageLimits { max_bytes: 3, ..limits }), Some(halve));
    assert_eq!(out[2].parts[2], text("[image left out: it is no image]"));
}

#[test]
fn uploaded_files_stay_with_their_provider_and_its_siblings() {
    let file = media(MediaKind::Document, MediaSource::FileId("file_1".into()));
    let request = own(&RESPONSES, [user([file.clone()])]);
    assert_eq!(fitted(&request, &target(), &CHAT).request.messages[0].parts, [file]);
    let elsewhere = fitted(&request, &target(), &GEMINI);
    assert_eq!(elsewhere.request.messages[0].parts, [text("[document left out: it was uploaded elsewhere]")]);
    assert_eq!(
        losses(&elsewhere),
        "messages[0].content[0]: document left out: only the provider it was uploaded to has it"
    );
}

#[test]
fn extras_are_named_unless_they_are_carried_and_many_become_one() {
    let origin = RESPONSES.protocol;
    let noted = |text: &str| Part { extras: extras(origin, &["annotations", "detail"]), ..Part::text(text) };
    let messages: Vec<_> = (0..7).map(|_| user([noted("q")])).collect();
    let mut request = Request {
        origin: Some(origin),
        extras: extras(origin, &["metadata", "truncation"]),
        ..asked(messages)
    };
    request.messages[2].extras = extras(origin, &["status"]);
    request.tools = vec![rail_model::ToolDecl { extras: extras(origin, &["x_field"]), ..function("f") }];
    request.thinking = Some(Thinking { extras: extras(origin, &["summary"]), ..Thinking::default() });
    let expected = "truncation: openai-chat can't say it\n\
                    thinking.summary: openai-chat can't say it\n\
                    tools[0].x_field: openai-chat can't say it\n\
                    messages[0].content[0].annotations: openai-chat can't say it (7 times)\n\
                    messages[2].status: openai-chat can't say it";
    assert_eq!(losses(&fitted(&request, &target(), &CHAT)), expected);
    assert_eq!(losses(&fit(&request, &target(), &RESPONSES)), "");
}

#[test]
fn parts_stand_only_where_they_can() {
    let messages = [
        user([text("q"), thinking(Some("anthropic")), call("a")]),
        assistant([call("b"), result("b")]),
        user([text("r")]),
    ];
    let (out, losses) = sent(&ANTHROPIC, messages);
    assert_eq!(out[0].parts, [text("q"), text(r#"[call of `f`: {"x":1}]"#)]);
    assert_eq!(out[1].parts, [call("b")]);
    assert_eq!(out[2].parts, [result("b"), text("r")]);
    let expected = "messages[0].content[1]: reasoning is the assistant's; left out\n\
                    messages[0].content[2]: a tool call that is not the assistant's; sent as text";
    assert_eq!(losses, expected);
}

#[test]
fn a_compatible_server_without_free_text_tools_gets_a_function() {
    let chat = &rail_wire::openai_chat::PROTOCOL;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}],
        "tools": [{"type": "custom", "custom": {"name": "apply_patch", "description": "Patches."}}]});
    let request = crate::corpus::read_request(chat, body.to_string().as_bytes()).unwrap();
    let mut target = TargetSpec::new("m");
    target.quirks.custom_tools = false;
    let encoded = chat.outbound.encode_request(&request, &target);
    let sent = crate::corpus::json(&encoded.call.body);
    assert_eq!(sent["tools"][0]["function"]["parameters"]["required"], json!(["input"]));
    assert!(!encoded.restore.is_empty(), "the answer must come back as free text");
}
