//! What comes at once goes out at once.

use rail_testkit::{Models, Turn};

use super::world::{World, arrival, piece, protocol, question};

const FRAMES: usize = 60;

/// An answer in so many chunks of HTTP, one for each word, that are written together.
fn burst() -> String {
    let mut answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let mut chunk = |data: &str| {
        let frame = format!("data: {data}\n\n");
        answer.push_str(&format!("{:x}\r\n{frame}\r\n", frame.len()));
    };
    let head = r#""id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m""#;
    for at in 0..FRAMES {
        chunk(&format!(
            r#"{{{head}, "choices": [{{"index": 0, "delta": {{"content": "w{at} "}}, "finish_reason": null}}]}}"#
        ));
    }
    chunk(&format!(r#"{{{head}, "choices": [{{"index": 0, "delta": {{}}, "finish_reason": "stop"}}]}}"#));
    chunk("[DONE]");
    answer + "0\r\n\r\n"
}

#[tokio::test]
async fn a_burst_goes_out_in_few_pieces() {
    for client in ["openai-chat", "anthropic"] {
        let models = Models::start(vec![Turn::raw(burst())]).unwrap();
        let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
        let mut body = world.ask(arrival(protocol(client), &question(true))).await.into_body();
        let (mut pieces, mut said) = (0, String::new());
        while let Some(piece) = piece(&mut body).await {
            pieces += 1;
            said.push_str(&piece);
        }
        let told = (0..FRAMES).filter(|at| said.contains(&format!("\"w{at} \""))).count();
        assert_eq!(told, FRAMES, "{client}: {said}");
        assert!(pieces < FRAMES / 4, "{client}: {pieces} pieces");
        assert_eq!(world.record().await.relayed, client == "openai-chat");
    }
}
