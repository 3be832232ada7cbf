//! Answers of every protocol to clients of every protocol, and what is told and recorded of them.

use rail_ledger::{Ending, Money};
use rail_model::{
    ApiError, CallId, CallKind, ErrorKind, Message, Part, PartBody, Reply, Role, Stop, ToolResult, Usage,
};
use rail_testkit::{Models, Turn, call, text};
use rail_wire::{ALL, BodyKind, HttpCall, Operation, Protocol};
use serde_json::{Value, json};

use super::world::{World, arrival, body, from, header, protocol, provider, question, read};

/// What an answer says, in short.
fn said(reply: &Reply) -> Vec<String> {
    let part = |part: &Part| match &part.body {
        PartBody::Text(text) => text.clone(),
        PartBody::ToolCall(call) => format!("{} {}", call.name, call.arguments),
        other => format!("{other:?}"),
    };
    reply.parts.iter().map(part).collect()
}

fn answers() -> Vec<Turn> {
    let parts = vec![text("I look."), call("read", json!({"path": "a.txt"}))];
    let usage = Usage { input: Some(900), cache_read: Some(100), output: Some(50), ..Usage::default() };
    vec![Turn::reply(parts).usage(usage).repeat()]
}

async fn asked(client: &'static Protocol, server: &Protocol, stream: bool) {
    let about = format!("{} on {}, stream {stream}", client.id, server.id);
    let models = Models::start(answers()).unwrap();
    let world = World::on(&[("a", server, &models)]).await;
    let response = world.ask(arrival(client, &question(stream))).await;
    assert_eq!(header(&response, "x-switchrail-target"), Some("a,m"), "{about}");
    assert_eq!(header(&response, "x-switchrail-virtual-model"), Some("coding"), "{about}");
    let content = if stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    assert_eq!(header(&response, "content-type"), Some(content), "{about}");
    let kind = if stream { BodyKind::Stream } else { BodyKind::Whole };
    let reply = read(client, kind, response).await.unwrap();
    assert_eq!(said(&reply), ["I look.", r#"read {"path":"a.txt"}"#], "{about}");
    assert_eq!((&reply.stop, reply.model.as_deref()), (&Stop::ToolUse, Some("asked")), "{about}");
    let entry = world.record().await;
    assert_eq!((entry.ending, entry.status, entry.stream), (Ending::Answered, 200, stream), "{about}");
    assert_eq!((entry.asked.as_str(), entry.target.as_deref()), ("asked", Some("a,m")), "{about}");
    assert_eq!(
        (entry.protocol.as_str(), entry.operation.as_str()),
        (client.id.name(), "generate"),
        "{about}"
    );
    let tokens = entry.tokens;
    assert_eq!((tokens.input, tokens.cache_read, tokens.output), (900, 100, 50), "{about}");
    assert_eq!(entry.cost, Some(Money(1_100_000)), "{about}");
    assert_eq!((entry.sent.len(), entry.sent[0].outcome.as_str()), (1, "answered"), "{about}");
    assert!(entry.first_ms.is_some() && entry.route.is_some() && entry.bodies.is_none(), "{about}");
    assert_eq!(world.gateway.sessions().lock().unwrap().len(), 1, "{about}");
}

#[tokio::test]
async fn every_client_on_every_protocol() {
    for client in ALL {
        for server in ALL {
            for stream in [true, false] {
                asked(client, server, stream).await;
            }
        }
    }
}

#[tokio::test]
async fn a_gemini_stream_without_sse_is_an_array() {
    let gemini = protocol("gemini");
    let models = Models::start(answers()).unwrap();
    let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
    let mut arrival = arrival(gemini, &question(true));
    arrival.call.query.clear();
    let response = world.ask(arrival).await;
    assert_eq!(header(&response, "content-type"), Some("application/json"));
    let reply = read(gemini, BodyKind::Array, response).await.unwrap();
    assert_eq!(said(&reply)[0], "I look.");
}

#[tokio::test]
async fn a_target_asked_for_by_its_own_name_names_itself() {
    let models = Models::start(answers()).unwrap();
    let chat = protocol("openai-chat");
    let world = World::on(&[("a", chat, &models)]).await;
    let request = rail_model::Request { model: "m".to_owned(), ..question(false) };
    let reply = read(chat, BodyKind::Whole, world.ask(arrival(chat, &request)).await).await.unwrap();
    assert_eq!(reply.model.as_deref(), Some("m"), "as the scripted model calls itself");
    assert_eq!(world.record().await.virtual_model, None);
}

#[tokio::test]
async fn another_target_answers_where_the_first_fails() {
    for stream in [true, false] {
        let broken = Models::start(vec![Turn::error(ApiError::new(ErrorKind::Overloaded, "busy"))]).unwrap();
        let good = Models::start(answers()).unwrap();
        let (chat, anthropic) = (protocol("openai-chat"), protocol("anthropic"));
        let world = World::on(&[("a", chat, &broken), ("b", anthropic, &good)]).await;
        let response = world.ask(arrival(chat, &question(stream))).await;
        assert_eq!(header(&response, "x-switchrail-target"), Some("b,m"));
        drop(body(response).await);
        let entry = world.record().await;
        let sent: Vec<_> =
            entry.sent.iter().map(|sent| (sent.target.as_str(), sent.outcome.as_str())).collect();
        assert_eq!(sent, [("a,m", "failed"), ("b,m", "answered")]);
        assert_eq!((entry.sent[0].status, entry.ending), (Some(503), Ending::Answered));
    }
}

#[tokio::test]
async fn what_a_protocol_cannot_say_is_told_in_the_head_and_recorded() {
    let models = Models::start(answers()).unwrap();
    let world = World::on(&[("a", protocol("openai-responses"), &models)]).await;
    let anthropic = protocol("anthropic");
    let mut arrival = arrival(anthropic, &question(true));
    let mut sent: Value = serde_json::from_slice(&arrival.call.body).unwrap();
    sent["strange\r\nx-evil: 1"] = json!(7);
    arrival.call.body = sent.to_string().into_bytes();
    let response = world.ask(arrival).await;
    let told = header(&response, "x-switchrail-losses").unwrap();
    assert!(told.contains("strange??x-evil: 1"), "{told}");
    assert_eq!(header(&response, "x-evil"), None);
    drop(body(response).await);
    let losses = world.record().await.losses;
    assert!(losses.iter().any(|loss| loss.starts_with("strange\r\nx-evil: 1")), "{losses:?}");
}

#[tokio::test]
async fn calls_in_text_are_recorded_as_mended() {
    let wrote = "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n</tool_call>";
    for stream in [true, false] {
        let models = Models::start(vec![Turn::reply(vec![text(wrote)])]).unwrap();
        let mixed = provider("a", protocol("openai-chat"), &models).replace("native", "mixed");
        let world = World::new(&format!("{mixed}[router]\ndefault = \"a,m\"\n")).await;
        let kind = if stream { BodyKind::Stream } else { BodyKind::Whole };
        let response = world.ask(arrival(protocol("anthropic"), &question(stream))).await;
        let reply = read(protocol("anthropic"), kind, response).await.unwrap();
        assert_eq!(said(&reply), [r#"read {"path": "a.txt"}"#]);
        let repairs = world.record().await.repairs;
        assert_eq!(repairs.len(), 1, "{repairs:?}");
        let repair = repairs[0].value();
        assert_eq!(repair["tool"], "read");
        assert!(repair["done"][0]["step"].as_str().unwrap().starts_with("found:"), "{repair}");
    }
}

#[tokio::test]
async fn bodies_are_kept_only_if_so_configured() {
    for stream in [true, false] {
        let models = Models::start(answers()).unwrap();
        let chat = protocol("openai-chat");
        let world = World::with(&[("a", chat, &models)], "[gateway]\nlog_bodies = true\n").await;
        let arrival = arrival(chat, &question(stream));
        let sent = String::from_utf8(arrival.call.body.clone()).unwrap();
        let got = body(world.ask(arrival).await).await;
        let bodies = world.record().await.bodies.unwrap();
        assert_eq!((bodies.request, bodies.answer.as_bytes()), (sent, &got[..]));
    }
}

#[tokio::test]
async fn failures_before_content_have_their_own_status_in_the_clients_protocol() {
    for client in ALL {
        for stream in [true, false] {
            let error = ApiError::new(ErrorKind::ContextLength, "too many tokens");
            let models = Models::start(vec![Turn::error(error)]).unwrap();
            let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
            let response = world.ask(arrival(client, &question(stream))).await;
            assert_eq!(header(&response, "content-type"), Some("application/json"));
            let error = read(client, BodyKind::Whole, response).await.unwrap_err();
            assert_eq!((error.kind, error.status), (ErrorKind::ContextLength, 400), "{}", client.id);
            let entry = world.record().await;
            assert_eq!((entry.ending, entry.status), (Ending::Failed, 400));
            assert_eq!((entry.tokens.input, entry.cost), (0, Some(Money(0))));
            assert!(entry.problem.unwrap().contains("too many tokens"));
        }
    }
}

#[tokio::test]
async fn an_anthropic_error_reaches_an_anthropic_client_as_it_was_said() {
    let said = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no","more":[1]},"request_id":"q"}"#;
    let raw = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{said}",
        said.len()
    );
    let models = Models::start(vec![Turn::raw(raw)]).unwrap();
    let anthropic = protocol("anthropic");
    let world = World::on(&[("a", anthropic, &models)]).await;
    let response = world.ask(arrival(anthropic, &question(true))).await;
    assert_eq!(response.status(), 400);
    let body: Value = serde_json::from_slice(&body(response).await).unwrap();
    assert_eq!(body, serde_json::from_str::<Value>(said).unwrap());
}

#[tokio::test]
async fn what_cannot_be_read_or_served_is_said_in_the_clients_protocol() {
    let models = Models::start(vec![]).unwrap();
    for client in ALL {
        let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
        let mut wrong = arrival(client, &question(true));
        wrong.call.body = b"{\"model\": ".to_vec();
        let error = read(client, BodyKind::Whole, world.ask(wrong).await).await.unwrap_err();
        assert_eq!(error.status, 400, "{}", client.id);
        assert_eq!(world.record().await.ending, Ending::Refused);

        let world = World::new("").await;
        let response = world.ask(arrival(client, &question(true))).await;
        let error = read(client, BodyKind::Whole, response).await.unwrap_err();
        assert!(error.message.contains("run `rail init`"), "{}", error.message);
        assert_eq!((error.status, world.record().await.ending), (404, Ending::Failed));

        let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
        let nowhere = rail_model::Request { model: "none,such".to_owned(), ..question(false) };
        let error =
            read(client, BodyKind::Whole, world.ask(arrival(client, &nowhere)).await).await.unwrap_err();
        assert!(error.message.contains("the provider `none` is not configured"), "{}", error.message);
    }
    assert_eq!(models.requests().len(), 0);
}

#[tokio::test]
async fn codex_is_not_told_that_a_limit_cut_its_answer() {
    let responses = protocol("openai-responses");
    let turn = Turn::reply(vec![text("half an ans")]).stop(Stop::MaxTokens).repeat();
    let models = Models::start(vec![turn]).unwrap();
    let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
    for (agent, end) in [("codex_cli_rs/0.60.1", "response.completed"), ("curl/8", "response.incomplete")] {
        let mut arrival = arrival(responses, &question(true));
        arrival.call.headers.push(("user-agent".to_owned(), agent.to_owned()));
        let text = String::from_utf8(body(world.ask(arrival).await).await.to_vec()).unwrap();
        assert!(text.contains(&format!("event: {end}\n")), "{agent}: {text}");
    }
    assert_eq!(world.records().await[0].client, "codex");
}

#[tokio::test]
async fn a_call_that_is_no_post_of_json_is_refused_and_recorded() {
    let models = Models::start(vec![]).unwrap();
    let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
    let empty =
        HttpCall { method: "POST".to_owned(), path: "/v1/messages".to_owned(), ..HttpCall::default() };
    let response = world.ask(from(protocol("anthropic"), Operation::Generate, empty)).await;
    assert_eq!((response.status().as_u16(), world.record().await.status), (400, 400));
}

#[tokio::test]
async fn a_call_has_an_id_that_no_call_before_it_has() {
    let called = || {
        let mut part = call("read", json!({"path": "a.txt"}));
        if let PartBody::ToolCall(call) = &mut part.body {
            call.id = CallId::Given("call_0".to_owned());
        }
        part
    };
    let result = ToolResult {
        id: CallId::Given("call_0".to_owned()),
        name: None,
        content: vec![Part::text("nothing")],
        is_error: None,
        kind: CallKind::Function,
    };
    let models = Models::start(vec![Turn::reply(vec![called()]).repeat()]).unwrap();
    let (chat, anthropic) = (protocol("openai-chat"), protocol("anthropic"));
    // Translated, repaired, and passed on as it came.
    for (client, tools, id) in
        [(anthropic, "native", "call_0_2"), (chat, "mixed", "call_0_2"), (chat, "native", "call_0")]
    {
        let provider = provider("a", chat, &models).replace("native", tools);
        let world = World::new(&format!("{provider}[router]\ndefault = \"a,m\"\n")).await;
        for stream in [true, false] {
            let mut request = question(stream);
            request.messages.extend([
                Message::new(Role::Assistant, vec![called()]),
                Message::new(Role::User, vec![Part::new(PartBody::ToolResult(result.clone()))]),
            ]);
            let response = world.ask(arrival(client, &request)).await;
            let kind = if stream { BodyKind::Stream } else { BodyKind::Whole };
            let reply = read(client, kind, response).await.unwrap();
            let ids: Vec<&str> = reply.parts.iter().filter_map(id_of).collect();
            assert_eq!(ids, [id], "{} on {tools}, stream {stream}", client.id);
        }
    }
}

fn id_of(part: &Part) -> Option<&str> {
    if let PartBody::ToolCall(call) = &part.body { Some(call.id.as_str()) } else { None }
}
