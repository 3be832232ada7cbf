//! Clients that go away, and answers that break.

use std::pin::pin;
use std::sync::Arc;

use rail_ledger::{Ending, Money};
use rail_model::{ApiError, ErrorKind, Event};
use rail_testkit::{Models, Turn, text};
use rail_wire::{ALL, BodyKind};

use super::world::{World, arrival, body, piece, protocol, question, telling};

/// Waits until the connection was left.
async fn left(models: &Arc<Models>) {
    let models = Arc::clone(models);
    tokio::task::spawn_blocking(move || models.client_left(0)).await.unwrap();
}

#[tokio::test]
async fn leaving_before_the_first_byte_ends_the_request() {
    for stream in [true, false] {
        let (models, mut come) = telling(vec![Turn::stall(vec![])]);
        let models = Arc::new(models);
        let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
        {
            let mut answering = pin!(world.ask(arrival(protocol("anthropic"), &question(stream))));
            tokio::select! {
                _ = &mut answering => panic!("the model stalls"),
                come = come.recv() => come.unwrap(),
            }
        }
        left(&models).await;
        let entry = world.record().await;
        assert_eq!((entry.ending, entry.status, entry.stream), (Ending::Left, 499, stream));
        let sent: Vec<_> =
            entry.sent.iter().map(|sent| (sent.outcome.as_str(), sent.possible_charge)).collect();
        assert_eq!(sent, [("left", true)]);
        assert!(entry.tokens.input > 20 && entry.tokens.output == 0, "{:?}", entry.tokens);
        assert_eq!(entry.cost, Some(Money(i64::try_from(entry.tokens.input).unwrap() * 1000)));
    }
}

#[tokio::test]
async fn leaving_in_the_middle_ends_the_request_and_counts_what_was_seen() {
    let models = Arc::new(Models::start(vec![Turn::stall(vec![text("partial")])]).unwrap());
    let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
    let response = world.ask(arrival(protocol("anthropic"), &question(true))).await;
    let mut body = response.into_body();
    let mut all = String::new();
    while !all.contains("partial") {
        all.push_str(&piece(&mut body).await.unwrap());
    }
    assert!(world.records().await.is_empty(), "it has no end yet");
    drop(body);
    left(&models).await;
    let entry = world.record().await;
    assert_eq!((entry.ending, entry.status), (Ending::Left, 200));
    assert_eq!((entry.target.as_deref(), entry.sent[0].outcome.as_str()), (Some("a,m"), "answered"));
    assert!(entry.tokens.input > 20 && entry.tokens.output > 0, "{:?}", entry.tokens);
    assert_eq!(world.gateway.sessions().lock().unwrap().len(), 0, "no complete answer");
}

#[tokio::test]
async fn an_answer_that_breaks_after_content_ends_with_the_protocols_own_error() {
    let error = || ApiError::new(ErrorKind::Overloaded, "out of memory");
    for client in ALL {
        for server in ["openai-chat", "anthropic"] {
            for turn in [
                Turn::breaks(vec![text("begun")], error()),
                Turn::cut(vec![text("begun")]),
                Turn::markerless(vec![text("begun")]),
            ] {
                let about = format!("{} on {server}: {turn:?}", client.id);
                let models = Models::start(vec![turn]).unwrap();
                let world = World::on(&[("a", protocol(server), &models)]).await;
                let response = world.ask(arrival(client, &question(true))).await;
                assert_eq!(response.status(), 200, "{about}");
                let body = body(response).await;
                let (mut decoder, mut events) = (client.outbound.decoder(BodyKind::Stream), Vec::new());
                decoder.push(&body, &mut events).unwrap();
                decoder.finish(&mut events).unwrap();
                assert!(matches!(events.last(), Some(Event::Failed(_))), "{about}: {events:?}");
                assert!(String::from_utf8_lossy(&body).contains("begun"), "{about}");
                let entry = world.record().await;
                assert_eq!((entry.ending, entry.status), (Ending::Broken, 200), "{about}");
                assert!(entry.problem.is_some() && entry.tokens.output > 0, "{about}");
            }
        }
    }
}

#[tokio::test]
async fn a_whole_answer_that_breaks_is_an_error_with_a_status() {
    let models = Models::start(vec![Turn::raw(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
         data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n",
    )])
    .unwrap();
    let chat = protocol("openai-chat");
    let world = World::on(&[("a", chat, &models)]).await;
    let response = world.ask(arrival(chat, &question(false))).await;
    assert_eq!(response.status(), 500);
    assert!(!String::from_utf8_lossy(&body(response).await).contains("begun"));
    assert_eq!(world.record().await.ending, Ending::Broken);
}
