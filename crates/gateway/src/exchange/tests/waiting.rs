//! Clients that wait: for the first content, and in the middle of an answer.

use std::pin::pin;
use std::time::Duration;

use rail_ledger::Ending;
use rail_model::{ApiError, ErrorKind, Event};
use rail_testkit::{Models, Turn, call, text};
use rail_wire::{ALL, BodyKind, Protocol};
use serde_json::json;
use tokio::time::{Instant, advance};

use super::world::{World, arrival, body, frozen, header, piece, protocol, question, telling};
use crate::body::Body;

const HOLD: Duration = Duration::from_secs(15);
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The events that a client reads.
fn events(client: &Protocol, text: &str) -> Vec<Event> {
    let (mut decoder, mut events) = (client.outbound.decoder(BodyKind::Stream), Vec::new());
    decoder.push(text.as_bytes(), &mut events).unwrap();
    decoder.finish(&mut events).unwrap();
    events
}

/// What an answer is called in a test: its first word.
fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| format!("{event:?}").split([' ', '(', '{']).next().unwrap().to_owned();
    let mut words: Vec<String> = events.iter().map(word).collect();
    words.dedup();
    words
}

/// Waits until the hold is over, and gives the head and the pieces so far.
async fn held(
    world: &World,
    client: &'static Protocol,
    models: &mut tokio::sync::mpsc::UnboundedReceiver<()>,
) -> Body {
    let mut answering = pin!(world.ask(arrival(client, &question(true))));
    tokio::select! {
        _ = &mut answering => panic!("nothing came yet"),
        come = models.recv() => come.unwrap(),
    }
    advance(HOLD).await;
    let response = answering.await;
    assert_eq!(response.status(), 200, "{}", client.id);
    assert_eq!(header(&response, "content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(header(&response, "x-switchrail-target"), None, "nobody has answered yet");
    response.into_body()
}

/// What the first event holds of a stream that begins before its content; nothing where there is no such event.
fn start(client: &Protocol) -> &'static str {
    match client.id.name() {
        "anthropic" => "event: message_start\n",
        "openai-responses" => "event: response.created\n",
        "openai-chat" => "\"role\":\"assistant\"",
        _ => "",
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_begins_without_content_and_goes_on() {
    for client in ALL {
        for server in ["anthropic", "openai-chat", "gemini", "openai-responses"] {
            let _held = frozen();
            let about = format!("{} on {server}", client.id);
            let (models, mut come) = telling(vec![Turn::reply(vec![text("late ok")]).gate("go")]);
            let world = World::on(&[("a", protocol(server), &models)]).await;
            let mut body = held(&world, client, &mut come).await;
            let mut all = String::new();
            if !start(client).is_empty() {
                all = piece(&mut body).await.unwrap();
                assert!(all.contains(start(client)), "{about}: {all}");
            }
            for _ in 0..2 {
                let mut waiting = pin!(piece(&mut body));
                tokio::select! {
                    biased;
                    more = &mut waiting => panic!("{about}: {more:?}"),
                    () = std::future::ready(()) => {}
                }
                advance(KEEP_ALIVE).await;
                let alive = waiting.await.unwrap();
                assert_eq!(alive.as_bytes(), client.inbound.keep_alive(), "{about}");
                all.push_str(&alive);
            }
            models.open("go");
            while let Some(more) = piece(&mut body).await {
                all.push_str(&more);
            }
            let events = events(client, &all);
            let starts = all.split_inclusive("\n\n").filter(|event| event.contains(start(client))).count();
            assert!(starts == 1 || start(client).is_empty(), "{about}: {all}");
            assert!(all.contains("late ok"), "{about}: {all}");
            assert!(matches!(events.last(), Some(Event::Finished { .. })), "{about}: {:?}", words(&events));
            let entry = world.record().await;
            assert_eq!((entry.ending, entry.target.as_deref()), (Ending::Answered, Some("a,m")), "{about}");
            assert_eq!(entry.first_ms, Some(35_000), "{about}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_begins_although_its_protocol_has_nothing_to_say_yet() {
    let _held = frozen();
    let turn = Turn::reply(vec![call("read", json!({"path": "a.txt"}))]).gate_before_end("end");
    let models = Models::start(vec![turn]).unwrap();
    let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
    let began = Instant::now();
    // A call is one piece in this protocol, and so it waits for its end.
    let response = world.ask(arrival(protocol("gemini"), &question(true))).await;
    assert_eq!((header(&response, "x-switchrail-target"), began.elapsed()), (Some("a,m"), Duration::ZERO));
    models.open("end");
    assert!(String::from_utf8_lossy(&body(response).await).contains("functionCall"));
}

#[tokio::test(start_paused = true)]
async fn failover_goes_on_behind_a_stream_that_has_begun() {
    let _held = frozen();
    let busy = Turn::error(ApiError::new(ErrorKind::Overloaded, "busy")).gate("fail");
    let (first, mut come) = telling(vec![busy]);
    let second = Models::start(vec![Turn::reply(vec![text("second")])]).unwrap();
    let (chat, anthropic) = (protocol("openai-chat"), protocol("anthropic"));
    let world = World::on(&[("a", chat, &first), ("b", anthropic, &second)]).await;
    let mut body = held(&world, anthropic, &mut come).await;
    let mut all = piece(&mut body).await.unwrap();
    first.open("fail");
    while let Some(more) = piece(&mut body).await {
        all.push_str(&more);
    }
    assert!(all.contains("second") && !all.contains("busy"), "{all}");
    let entry = world.record().await;
    assert_eq!((entry.ending, entry.sent.len(), entry.target.as_deref()), (Ending::Answered, 2, Some("b,m")));
}

#[tokio::test(start_paused = true)]
async fn a_failure_after_the_beginning_is_said_in_the_stream() {
    for client in ALL {
        let _held = frozen();
        let busy = Turn::error(ApiError::new(ErrorKind::Overloaded, "busy")).gate("fail");
        let (models, mut come) = telling(vec![busy]);
        let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
        let mut body = held(&world, client, &mut come).await;
        models.open("fail");
        let mut all = String::new();
        while let Some(more) = piece(&mut body).await {
            all.push_str(&more);
        }
        let events = events(client, &all);
        assert!(matches!(events.last(), Some(Event::Failed(_))), "{}: {events:?}", client.id);
        let entry = world.record().await;
        assert_eq!((entry.ending, entry.status), (Ending::Failed, 200), "{}", client.id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_is_told_that_it_waits_in_the_middle_of_an_answer() {
    for client in ALL {
        let _held = frozen();
        let turn = Turn::reply(vec![text("one two three")]).gate_before_end("end");
        let models = Models::start(vec![turn]).unwrap();
        let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
        let response = world.ask(arrival(client, &question(true))).await;
        let mut body = response.into_body();
        let mut all = String::new();
        while !all.contains("three") {
            all.push_str(&piece(&mut body).await.unwrap());
        }
        // What belongs to the same moment may come in more than one packet.
        let alive = {
            let mut waiting = pin!(piece(&mut body));
            loop {
                tokio::select! {
                    biased;
                    more = &mut waiting => break more.unwrap(),
                    () = advance(Duration::from_secs(1)) => {}
                }
            }
        };
        assert!(alive.as_bytes().ends_with(client.inbound.keep_alive()), "{}: {alive}", client.id);
        models.open("end");
        all.push_str(&alive);
        while let Some(more) = piece(&mut body).await {
            all.push_str(&more);
        }
        assert!(matches!(events(client, &all).last(), Some(Event::Finished { .. })), "{}: {all}", client.id);
    }
}

#[tokio::test(start_paused = true)]
async fn who_wants_no_stream_waits_without_a_byte() {
    let _held = frozen();
    let (models, mut come) = telling(vec![Turn::reply(vec![text("late")]).gate("go")]);
    let chat = protocol("openai-chat");
    let world = World::on(&[("a", chat, &models)]).await;
    let mut answering = pin!(world.ask(arrival(chat, &question(false))));
    tokio::select! {
        _ = &mut answering => panic!("nothing came yet"),
        come = come.recv() => come.unwrap(),
    }
    advance(HOLD + KEEP_ALIVE).await;
    tokio::select! {
        biased;
        _ = &mut answering => panic!("nothing came yet"),
        () = std::future::ready(()) => {}
    }
    models.open("go");
    let response = answering.await;
    assert_eq!(header(&response, "x-switchrail-target"), Some("a,m"));
    assert!(String::from_utf8_lossy(&body(response).await).contains("late"));
}
