//! What is left behind by requests that nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rail_testkit::{chunk, http_whole, sse_head};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{attempt, plan, provider, request, text, upstream};

const HELLO: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hello\"}}]}\n\n";

/// A server that counts its open connections. A request whose path has `stall` gets what the path names, and no end.
async fn server(open: Arc<AtomicUsize>, asked: Arc<tokio::sync::Notify>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let (open, asked) = (Arc::clone(&open), Arc::clone(&asked));
            tokio::spawn(async move {
                open.fetch_add(1, Ordering::SeqCst);
                serve(socket, &asked).await.ok();
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    address
}

async fn serve(mut socket: TcpStream, asked: &tokio::sync::Notify) -> std::io::Result<()> {
    let mut read = Vec::new();
    loop {
        if socket.read_buf(&mut read).await? == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&read).into_owned();
        // The question is small: its body comes with its head, or right after it.
        if !text.contains("\"question\"") {
            continue;
        }
        let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
        read.clear();
        if !path.contains("stall") {
            let whole = http_whole(200, "text/event-stream", format!("{HELLO}data: [DONE]\n\n"));
            socket.write_all(&whole).await?;
            continue;
        }
        if path.contains("headers") {
            socket.write_all(&sse_head()).await?;
        }
        if path.contains("content") {
            socket.write_all(&[sse_head(), chunk(HELLO.replace("hello", "left"))].concat()).await?;
        }
        asked.notify_one();
    }
}

/// Requests are dropped at each point of their way; then none of their connections is open, and none of their answers comes to
/// those who ask later.
#[tokio::test]
async fn a_thousand_cancelled_requests_leave_no_connection() {
    let (open, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
    let address = server(Arc::clone(&open), Arc::clone(&asked)).await;
    let (upstream, question) = (upstream(), request());
    let to = |path: &str| plan([attempt(provider("a", format!("{address}/{path}/v1")))]);
    for round in 0..1000 {
        match round % 3 {
            0 | 1 => {
                let plan = to(if round % 3 == 0 { "stall" } else { "stall-headers" });
                let asking = upstream.ask(&plan, &question, &());
                tokio::select! {
                    _ = asking => panic!("it stalls"),
                    () = asked.notified() => {}
                }
            }
            _ => {
                let reply = upstream.ask(&to("stall-content"), &question, &()).await.unwrap();
                asked.notified().await;
                drop(reply);
            }
        }
        if round % 100 == 0 {
            let mut reply = upstream.ask(&to("good"), &question, &()).await.unwrap();
            assert_eq!(text(&mut reply).await.unwrap(), "hello");
        }
    }
    // One connection is kept for the next request.
    while open.load(Ordering::SeqCst) > 1 {
        tokio::task::yield_now().await;
    }
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert!(tasks < 10, "{tasks} tasks are left");
}
