//! What an answer passes on its way: every protocol, whole and streamed, and the repair of calls.

use std::sync::Arc;

use rail_model::{Assembler, CallKind, Json, PartBody, Request, ToolCall, ToolDecl, ToolKind};
use rail_route::{ModelProfile, ToolStyle};
use rail_testkit::{Conversation, Models, Peer, Step, Turn, call, chunk, last_chunk, sse_head, text as say};
use rail_upstream::{Note, Reply};
use serde_json::json;

use crate::world::{
    ANTHROPIC, CHAT, Frozen, attempt, attempt_as, plan, profile, provider, record, request, rest, text,
    upstream,
};

fn tool(name: &str, kind: ToolKind) -> ToolDecl {
    let (description, strict, cache) = (None, None, None);
    ToolDecl { name: name.to_owned(), description, kind, strict, cache, extras: rail_model::Extras::NONE }
}

fn with_tools() -> Request {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let parameters = Some(Json::from(&schema));
    Request { tools: vec![tool("read_file", ToolKind::Function { parameters })], ..request() }
}

async fn calls(reply: &mut Reply) -> Vec<ToolCall> {
    let mut assembler = Assembler::default();
    rest(reply).await.unwrap().into_iter().for_each(|event| assembler.push(event));
    let parts = assembler.parts().iter();
    parts
        .filter_map(|part| if let PartBody::ToolCall(call) = &part.body { Some(call.clone()) } else { None })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn every_protocol_whole_and_streamed() {
    for protocol in rail_wire::ALL {
        for stream in [true, false] {
            let a = Models::start(vec![Turn::reply(vec![say("hello")]).pings(2)]).unwrap();
            let mut own = provider("a", a.base_url(protocol.id));
            own.protocol = protocol.id;
            let mut world = Frozen::new();
            let asked = Request { stream, ..request() };
            let mut reply = world.ask(&upstream(), &plan([attempt(own)]), &asked).await.unwrap();
            assert_eq!(text(&mut reply).await.unwrap(), "hello", "{} {stream}", protocol.id);
            assert_eq!(a.requests()[0].request().unwrap().stream, stream);
        }
    }
}

/// Asks a model of this style that writes its call as text.
async fn asked(style: ToolStyle) -> (Vec<ToolCall>, usize, Request) {
    let written = "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.rs\"}}\n</tool_call>";
    let a = Models::start(vec![Turn::reply(vec![say(written)])]).unwrap();
    let model = ModelProfile { tools: style, ..profile() };
    let mut world = Frozen::new();
    let plan = plan([attempt_as(provider("a", a.base_url(CHAT)), model)]);
    let mut reply = world.ask(&upstream(), &plan, &with_tools()).await.unwrap();
    let calls = calls(&mut reply).await;
    (calls, reply.repairs().notes.len(), a.requests()[0].request().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn calls_in_text_are_found_where_the_profile_says_so() {
    for style in [ToolStyle::Mixed, ToolStyle::Prompted] {
        let (calls, repairs, sent) = asked(style).await;
        assert_eq!(calls.len(), 1, "{style:?}");
        assert_eq!(
            (calls[0].name.as_str(), calls[0].arguments.as_str()),
            ("read_file", "{\"path\": \"a.rs\"}")
        );
        assert!(repairs > 0, "{style:?}");
        assert_eq!(sent.tools.is_empty(), style == ToolStyle::Prompted, "taught in the prompt instead");
    }
    for style in [ToolStyle::Native, ToolStyle::None] {
        let (calls, repairs, sent) = asked(style).await;
        assert_eq!(
            (calls.len(), repairs, sent.tools.len()),
            (0, 0, 1),
            "{style:?}: nothing touches its answers"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_encoding_changed_is_changed_back() {
    for tools in [ToolStyle::Native, ToolStyle::Mixed] {
        let a = Models::start(vec![Turn::reply(vec![call("apply_patch", json!({"input": "*** Begin"}))])])
            .unwrap();
        let model = ModelProfile { tools, custom_tools: false, ..profile() };
        let asked =
            Request { tools: vec![tool("apply_patch", ToolKind::Custom { format: None })], ..request() };
        let mut world = Frozen::new();
        let plan = plan([attempt_as(provider("a", a.base_url(CHAT)), model)]);
        let mut reply = world.ask(&upstream(), &plan, &asked).await.unwrap();
        let calls = calls(&mut reply).await;
        assert_eq!(
            (calls[0].kind, calls[0].arguments.as_str()),
            (CallKind::Custom, "*** Begin"),
            "{tools:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn losses_are_told_for_the_target_that_answers() {
    let a = Models::start(vec![Turn::reply(vec![say("hello")])]).unwrap();
    let mut asked = request();
    asked.sampling.temperature = Some(serde_json::Number::from(1));
    let model = ModelProfile { fixed_sampling: true, ..profile() };
    let mut world = Frozen::new();
    let plan = plan([attempt_as(provider("a", a.base_url(CHAT)), model)]);
    let reply = world.ask(&upstream(), &plan, &asked).await.unwrap();
    assert_eq!(reply.losses().len(), 1);
    let told = world.heard.notes().into_iter();
    let told: Vec<_> =
        told.filter_map(|note| if let Note::Lost { loss, .. } = note { Some(loss) } else { None }).collect();
    assert_eq!(told, reply.losses());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_held_back_for_repair_is_no_stall() {
    let piece = |text: &str| {
        let delta = json!({"id": "1", "choices": [{"index": 0, "delta": {"content": text}}]});
        chunk(format!("data: {delta}\n\n"))
    };
    let steps = [
        Step::ReadRequest,
        Step::Send([sse_head(), piece("<tool_call>\n{\"name\": \"read_file\", ")].concat()),
        Step::Gate("later"),
        Step::Send(
            [
                piece("\"arguments\": {\"path\": \"a.rs\"}}\n</tool_call>"),
                chunk("data: [DONE]\n\n"),
                last_chunk(),
            ]
            .concat(),
        ),
    ];
    let peer = Arc::new(Peer::start(vec![Conversation::new(steps)]).unwrap());
    let mut slow = provider("a", peer.url("/v1"));
    (slow.timeouts.first_token, slow.timeouts.idle) =
        (std::time::Duration::from_secs(2), std::time::Duration::from_secs(9));
    let counted = crate::counted::Counted::default();
    let plan = plan([attempt_as(slow, ModelProfile { tools: ToolStyle::Mixed, ..profile() })]);
    let mut world = Frozen::new();
    let test = async {
        counted.handed(10).await;
        tokio::time::advance(std::time::Duration::from_secs(5)).await;
        peer.open("later");
    };
    let mut reply =
        world.ask_while(&crate::world::upstream_over(&counted), &plan, &with_tools(), test).await.unwrap();
    assert_eq!(calls(&mut reply).await.len(), 1, "the model had begun to speak long before");
}

#[tokio::test(start_paused = true)]
async fn megabytes_of_noise_before_content_are_too_much() {
    let noise = format!("event: noise\ndata: {{\"type\":\"noise\",\"x\":\"{}\"}}\n\n", "x".repeat(1 << 20));
    let noise = Step::Send(chunk(&noise));
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m\",\"content\":[],\"usage\":{}}}\n\n";
    let steps = [Step::ReadRequest, Step::Send([sse_head(), chunk(start)].concat())].into_iter();
    let steps = steps.chain(std::iter::repeat_n(noise, 9)).chain([Step::Stall]);
    let peer = Peer::start(vec![Conversation::new(steps).repeat()]).unwrap();
    let b = Models::start(vec![Turn::reply(vec![say("from b")])]).unwrap();
    let mut loud = provider("a", peer.url("/v1"));
    loud.protocol = ANTHROPIC;
    loud.retry.tries = 0;
    let plan = plan([attempt(loud), attempt(provider("b", b.base_url(CHAT)))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 passing $", "b 200 answered"]);
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
}
