//! The validator: instructions, settings, reasoning and tools (the numbers are those of spec 20).

use rail_model::{
    CacheMark, CallKind, Effort, Extras, Json, Message, Part, PartBody, Request, Sampling, Seal, Thinking,
    ThinkingMode, ToolChoice, ToolKind,
};
use rail_wire::fit::Rules;
use rail_wire::{TargetSpec, ThinkingStyle};
use serde_json::json;

use crate::fit_common::*;

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
