//! The older HTTP transport: one stream brings all messages, and its first event names the address for ours.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use super::desk::Fault;
use super::link::{Inbox, Letter};
use super::post::{Parcel, Post, StreamEnd, complaint, is_stream, stream};

/// Carries messages until the stream is over.
pub(crate) async fn carry(post: Post, letters: mpsc::Receiver<Letter>, inbox: Inbox) {
    let (named, endpoint) = watch::channel(None);
    let fault = tokio::select! {
        fault = listen(&post, &inbox, named) => Some(fault),
        fault = speak(&post, letters, endpoint, &inbox) => fault,
    };
    if let Some(fault) = fault {
        inbox.desk.over(fault);
    }
}

async fn listen(post: &Post, inbox: &Inbox, named: watch::Sender<Option<String>>) -> Fault {
    let headers = vec![("accept", "text/event-stream".to_owned())];
    let parcel = Parcel { method: "GET", url: &post.url, headers, body: Bytes::new() };
    let answer = match post.send(&parcel).await {
        Ok(answer) => answer,
        Err(fault) => return fault,
    };
    if answer.status != 200 || !is_stream(&answer) {
        return Fault::Gone(format!("it gives no stream of events: {}", complaint(answer).await));
    }
    let wrong: Arc<Mutex<Option<String>>> = Arc::default();
    let note = Arc::clone(&wrong);
    let heard = stream(answer.body, inbox, |event| {
        if event.name == "endpoint" {
            let told = String::from_utf8_lossy(&event.data).into_owned();
            match resolve(&post.url, told.trim()) {
                Some(address) => {
                    named.send_replace(Some(address));
                }
                None => *note.lock().unwrap_or_else(PoisonError::into_inner) = Some(told),
            }
        }
    });
    let why = match heard.await {
        StreamEnd::Over(_) => "it ended its stream of events".to_owned(),
        StreamEnd::Broken { why, .. } => why,
        StreamEnd::Closed => "the talk was ended".to_owned(),
    };
    let wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner).take();
    Fault::Gone(
        wrong.map_or(why, |told| format!("it names an address on another host for messages, `{told}`")),
    )
}

async fn speak(
    post: &Post,
    mut letters: mpsc::Receiver<Letter>,
    mut endpoint: watch::Receiver<Option<String>>,
    inbox: &Inbox,
) -> Option<Fault> {
    let named = endpoint.wait_for(Option::is_some).await.ok().and_then(|address| address.clone());
    let Some(address) = named else {
        // The stream is over, and says why.
        return std::future::pending().await;
    };
    while let Some(Letter { id, text, .. }) = letters.recv().await {
        let headers = vec![("content-type", "application/json".to_owned())];
        let parcel = Parcel { method: "POST", url: &address, headers, body: Bytes::from(text) };
        match post.send(&parcel).await {
            Ok(answer) if (200..300).contains(&answer.status) => {}
            Ok(answer) => {
                let why = complaint(answer).await;
                if let Some(id) = &id {
                    // Nobody who waits is no fault.
                    let _ = inbox.fail(id, why).await;
                }
            }
            Err(fault) => return Some(fault),
        }
    }
    None
}

/// The address that a server names for messages. It must be on the same host: keys go there.
fn resolve(base: &str, told: &str) -> Option<String> {
    let (scheme, rest) = base.split_once("://")?;
    let (host, path) = rest.split_once(['/', '?', '#']).map_or((rest, ""), |(host, path)| (host, path));
    let origin = format!("{scheme}://{host}");
    if told.contains("://") && !told.starts_with('/') && !told.starts_with('?') {
        let behind = told.strip_prefix(&origin)?;
        return (behind.is_empty() || behind.starts_with(['/', '?'])).then(|| told.to_owned());
    }
    if told.starts_with("//") || told.is_empty() {
        return None;
    }
    if told.starts_with('/') {
        return Some(format!("{origin}{told}"));
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if told.starts_with('?') {
        return Some(format!("{origin}/{path}{told}"));
    }
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Some(format!("{origin}/{folder}{told}"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn messages_go_to_the_same_host_only() {
        let base = "http://127.0.0.1:9/mcp/sse?x=1";
        for (told, expected) in [
            ("/message?sessionId=1", Some("http://127.0.0.1:9/message?sessionId=1")),
            ("message?s=1", Some("http://127.0.0.1:9/mcp/message?s=1")),
            ("?s=1", Some("http://127.0.0.1:9/mcp/sse?s=1")),
            ("http://127.0.0.1:9/m", Some("http://127.0.0.1:9/m")),
            ("/m?to=http://a.test", Some("http://127.0.0.1:9/m?to=http://a.test")),
            ("http://127.0.0.1:99/m", None),
            ("http://a.test/m", None),
            ("https://127.0.0.1:9/m", None),
            ("//a.test/m", None),
            ("", None),
        ] {
            assert_eq!(resolve(base, told).as_deref(), expected, "{told}");
        }
        assert_eq!(resolve("http://h", "m").as_deref(), Some("http://h/m"));
    }
}
