//! Finds model servers on this machine.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use rail_route::Provider;
use serde_json::Value;

use crate::models::fetch;
use crate::{Outgoing, Transport};

/// A program that serves models on a machine of one's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LocalKind {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp's server.
    LlamaCpp,
    /// vLLM.
    Vllm,
    /// Another one that lists its models as OpenAI does.
    Other,
}

/// A place where a server may listen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The address without a path, such as `http://127.0.0.1:11434`.
    pub address: String,
}

/// A server that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalServer {
    /// Which program it is.
    pub kind: LocalKind,
    /// Where it is asked, version included, in the protocol `openai-chat`.
    pub base_url: String,
    /// Its models, without those that only embed.
    pub models: Vec<String>,
}

/// Asks all candidates at once; those that are not there, or are something else, are left out.
pub async fn find_local(
    transport: &dyn Transport,
    candidates: &[Candidate],
    limit: Duration,
) -> Vec<LocalServer> {
    let asking = candidates.iter().map(|candidate| {
        let asked = look(transport, candidate.address.trim_end_matches('/'), limit);
        Box::pin(async move { tokio::time::timeout(limit, asked).await.ok().flatten() })
    });
    together(asking.collect()).await.into_iter().flatten().collect()
}

async fn look(transport: &dyn Transport, address: &str, limit: Duration) -> Option<LocalServer> {
    let list = ask(transport, address, "/v1/models", limit).await?;
    let listed = match list.get("data")? {
        Value::Array(listed) => listed.as_slice(),
        Value::Null => &[],
        _ => return None,
    };
    let kind = match listed.iter().find_map(owner) {
        Some(kind) => kind,
        None => unowned(transport, address, limit).await,
    };
    let names = listed.iter().filter_map(|model| model.get("id")?.as_str());
    let models = names.filter(|name| !only_embeds(name)).map(str::to_owned).collect();
    Some(LocalServer { kind, base_url: format!("{address}/v1"), models })
}

/// The program, by whom it says its models belong to.
fn owner(model: &Value) -> Option<LocalKind> {
    match model.get("owned_by")?.as_str()? {
        "llamacpp" => Some(LocalKind::LlamaCpp),
        "organization_owner" => Some(LocalKind::LmStudio),
        "vllm" => Some(LocalKind::Vllm),
        "library" => Some(LocalKind::Ollama),
        _ => None,
    }
}

/// The program, by what only it answers.
async fn unowned(transport: &dyn Transport, address: &str, limit: Duration) -> LocalKind {
    for (kind, path, field) in [
        (LocalKind::Ollama, "/api/version", "version"),
        (LocalKind::LmStudio, "/api/v0/models", "data"),
        (LocalKind::LlamaCpp, "/props", "default_generation_settings"),
    ] {
        if ask(transport, address, path, limit).await.is_some_and(|answer| answer.get(field).is_some()) {
            return kind;
        }
    }
    LocalKind::Other
}

async fn ask(transport: &dyn Transport, address: &str, path: &str, limit: Duration) -> Option<Value> {
    let protocol = rail_wire::openai_chat::PROTOCOL.id;
    let mut provider = Provider::new("local", protocol, address);
    provider.proxy = Some("direct".to_owned());
    provider.timeouts.connect = limit;
    let call = Outgoing {
        provider: Arc::new(provider),
        method: "GET".to_owned(),
        url: format!("{address}{path}"),
        headers: Vec::new(),
        body: Bytes::new(),
    };
    let reply = fetch(transport, call).await.ok()?;
    if reply.status == 200 { serde_json::from_slice(&reply.body).ok() } else { None }
}

fn only_embeds(name: &str) -> bool {
    let name = name.to_lowercase();
    ["embed", "minilm", "bge-", "e5-", "gte-", "rerank", "paraphrase-"].iter().any(|word| name.contains(word))
}

/// Drives all of them, and gives what they gave in their order.
async fn together<F: Future + Unpin>(mut tasks: Vec<F>) -> Vec<F::Output> {
    let mut done: Vec<Option<F::Output>> = tasks.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (task, done) in tasks.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(output) = Pin::new(task).poll(cx) {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_only_embed() {
        for name in
            ["text-embedding-nomic-embed-text-v1.5", "mxbai-embed-large:latest", "all-minilm:22m", "bge-m3"]
        {
            assert!(only_embeds(name), "{name}");
        }
        for name in ["qwen3-coder:30b", "gpt-oss-20b-mlx", "deepseek-r1", "gemma3:4b", "llama3.2-vision"] {
            assert!(!only_embeds(name), "{name}");
        }
    }
}
