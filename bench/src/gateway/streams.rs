//! What very many waiting streams cost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_wire::{anthropic, openai_chat};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::task::JoinSet;

use super::load::Client;
use super::model::Manner;
use super::options::Options;
use super::process::{Calls, Server};
use super::{Question, Stage, Via, request};
use crate::talk::{self, Size};

/// Behind the time after which a gateway begins an answer that has no content yet, and keeps its client alive.
const LONG: Duration = Duration::from_secs(28);
/// Nothing takes longer than this.
const MOST: Duration = Duration::from_secs(60);

pub(super) async fn run(options: &Options) -> Result<(), String> {
    // A stream is two sockets of the proxy.
    let needed = u64::try_from(options.streams * 2 + 500).unwrap_or(u64::MAX);
    let mut limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|most| most < needed) {
        return Err(format!(
            "{needed} open files are needed; raise the hard limit (`ulimit -Hn`), or say `--streams N`"
        ));
    }
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).map_err(|error| format!("the limit of open files stays: {error}"))?;
    println!("{} streams wait for a silent model; aim: 64 KiB each\n", options.streams);
    println!(
        "{:<30} {:>14} {:>14} {:>14} {:>10}",
        "", "KiB each, new", "KiB each, kept", "KiB each, done", "answered"
    );
    for size in [talk::SMALL, talk::USUAL] {
        let stage = Stage::set(options)?;
        let from = &anthropic::PROTOCOL;
        let silent = |to, calls| Question { from, to, calls, size, manner: Manner::Silent };
        let straight = request(Via::Straight, silent(from, Calls::Trusted), stage.bare.addr);
        show("bare", size, &stage, &stage.bare, straight, options.streams).await?;
        let Some(rail) = &stage.rail else { continue };
        for (to, calls) in [(from, Calls::Trusted), (&openai_chat::PROTOCOL, Calls::Mended)] {
            // Memory that was given back by one may serve the next: each has a process of its own.
            let stage = Stage::set(options)?;
            let rail = stage.rail.as_ref().unwrap_or(rail);
            let asked = request(Via::Gateway, silent(to, calls), rail.addr);
            show(&format!("anthropic -> {}", to.id), size, &stage, rail, asked, options.streams).await?;
        }
    }
    Ok(())
}

async fn show(
    name: &str,
    size: Size,
    stage: &Stage,
    server: &Server,
    request: Arc<[u8]>,
    streams: usize,
) -> Result<(), String> {
    let before = server.rss();
    let each = |now: u64| now.saturating_sub(before) / u64::try_from(streams).unwrap_or(1).max(1);
    let mut waiting = JoinSet::new();
    for _ in 0..streams {
        let mut client = Client::connect(server.addr).await.map_err(|error| format!("{name}: {error}"))?;
        let request = Arc::clone(&request);
        waiting.spawn(async move { client.ask(&request, &mut |_| {}).await });
    }
    let start = Instant::now();
    while waiting_at(stage.model.addr).await? < streams {
        if start.elapsed() > MOST {
            return Err(format!("{name}: not all of the streams reached the model\n{}", server.log()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let fresh = each(server.rss());
    if name != "bare" {
        tokio::time::sleep(LONG).await;
    }
    let kept = each(server.rss());
    model(stage.model.addr, "/release").await?;
    let mut answered = 0;
    let ends = async {
        while let Some(done) = waiting.join_next().await {
            answered += usize::from(matches!(done, Ok(Ok(200))));
        }
    };
    // Whatever does not come in time is not answered.
    let _ = tokio::time::timeout(MOST, ends).await;
    println!(
        "{:<30} {fresh:>14} {kept:>14} {:>14} {answered:>10}",
        format!("{name}, {}", size.name),
        each(server.rss())
    );
    Ok(())
}

async fn waiting_at(addr: SocketAddr) -> Result<usize, String> {
    model(addr, "/waiting").await?.parse().map_err(|_| "the model does not say who waits".to_owned())
}

/// Says something to the model itself.
async fn model(addr: SocketAddr, path: &str) -> Result<String, String> {
    let mut client = Client::connect(addr).await.map_err(|error| error.to_string())?;
    let request = format!("POST {path} HTTP/1.1\r\nhost: {addr}\r\ncontent-length: 0\r\n\r\n");
    let mut said = Vec::new();
    client
        .ask(request.as_bytes(), &mut |bytes| said.extend_from_slice(bytes))
        .await
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
