//! What a gateway's memory does over very many requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rail_wire::{anthropic, openai_chat};
use tokio::task::JoinSet;

use super::load::Client;
use super::model::Manner;
use super::options::Options;
use super::process::Calls;
use super::table::mb;
use super::{Question, Stage, Via, request};
use crate::talk;

/// So many clients ask at once.
const CLIENTS: usize = 32;
/// Memory is looked at so often.
const LOOKS: usize = 10;

pub(super) async fn run(options: &Options) -> Result<(), String> {
    let stage = Stage::set(options)?;
    let Some(rail) = &stage.rail else { return Err("without `rail` there is nothing to measure".to_owned()) };
    println!("memory after start: {:.1} MB (aim: 20)", mb(rail.rss()));
    println!("{:>12} {:>10} {:>10}", "requests", "seconds", "MB");
    let (mix, start) = (Arc::new(Mix::new(rail.addr)), Instant::now());
    let mut looks = Vec::new();
    let mut odd = Vec::new();
    for look in 0..LOOKS {
        odd.extend(round(rail.addr, &mix, options.requests / LOOKS).await);
        let done = options.requests / LOOKS * (look + 1);
        looks.push(rail.rss());
        println!("{done:>12} {:>10.0} {:>10.1}", start.elapsed().as_secs_f64(), mb(rail.rss()));
    }
    // The first tenths fill pools, caches and tables that have a bound.
    if let (Some(early), Some(last)) = (looks.get(2), looks.last()) {
        let per_million = (mb(*last) - mb(*early)) * 1e6 / requests_between(options.requests);
        println!(
            "from the third tenth to the end: {:+.2} MB, {per_million:+.2} MB for a million requests",
            mb(*last) - mb(*early)
        );
    }
    println!("answers other than they should be: {}", odd.len());
    odd.iter().take(5).for_each(|odd| println!("    {odd}"));
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn requests_between(all: usize) -> f64 {
    (all / LOOKS * (LOOKS - 3)) as f64
}

/// So many requests of the mix; gives what was not as it should be.
async fn round(addr: SocketAddr, mix: &Arc<Mix>, requests: usize) -> Vec<String> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..CLIENTS {
        let (mix, next) = (Arc::clone(mix), Arc::clone(&next));
        tasks.spawn(async move {
            let (mut client, mut odd) = (None, Vec::new());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= requests {
                    return odd;
                }
                if let Err(problem) = mix.ask(addr, &mut client, number).await {
                    client = None;
                    odd.push(problem);
                }
            }
        });
    }
    tasks.join_all().await.into_iter().flatten().collect()
}

/// Whole answers, streams, clients that leave, and errors, to two protocols.
struct Mix {
    whole: [Arc<[u8]>; 2],
    burst: [Arc<[u8]>; 2],
    paced: [Arc<[u8]>; 2],
    refused: [Arc<[u8]>; 2],
    wrong: Arc<[u8]>,
    lost: Arc<[u8]>,
}

impl Mix {
    fn new(addr: SocketAddr) -> Self {
        let (from, size) = (&anthropic::PROTOCOL, talk::SMALL);
        let to = [(from, Calls::Trusted), (&openai_chat::PROTOCOL, Calls::Mended)];
        let both = |manner| {
            to.map(|(to, calls)| request(Via::Gateway, Question { from, to, calls, size, manner }, addr))
        };
        let plain = |path: &str, body: &str| {
            let length = body.len();
            format!("POST {path} HTTP/1.1\r\nhost: {addr}\r\ncontent-length: {length}\r\n\r\n{body}")
                .into_bytes()
                .into()
        };
        Self {
            whole: both(Manner::Whole),
            burst: both(Manner::Burst),
            paced: both(Manner::Paced),
            refused: both(Manner::Refuse),
            wrong: plain("/v1/messages", "{\"model\": "),
            lost: plain("/v1/nowhere", "{}"),
        }
    }

    /// One request, by its number.
    async fn ask(&self, addr: SocketAddr, kept: &mut Option<Client>, number: usize) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        let pick = |[one, other]: &[Arc<[u8]>; 2]| {
            Arc::clone(if (number / 20).is_multiple_of(2) { one } else { other })
        };
        let (request, expected) = match number % 20 {
            0 => {
                let mut client = Client::connect(addr).await.map_err(told)?;
                client.send(&pick(&self.paced)).await.map_err(told)?;
                return client.leave().await.map_err(told);
            }
            1 => (pick(&self.refused), 400),
            2 => (Arc::clone(&self.wrong), 400),
            3 => (Arc::clone(&self.lost), 404),
            4..9 => (pick(&self.burst), 200),
            _ => (pick(&self.whole), 200),
        };
        let mut client = match kept.take() {
            Some(client) => client,
            None => Client::connect(addr).await.map_err(told)?,
        };
        let status = client.ask(&request, &mut |_| {}).await.map_err(told)?;
        // A body that nobody reads ends the connection.
        *kept = Some(client).filter(|_| expected != 404);
        if status == expected { Ok(()) } else { Err(format!("status {status} instead of {expected}")) }
    }
}
