//! What the SDK sees of a transport: messages in and out, whatever carries them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::desk::{Desk, Received};

/// Messages that wait to be sent, or to be looked at: whoever is faster waits.
const QUEUE: usize = 16;
/// How long what carries messages has to say goodbye.
const FAREWELL: Duration = Duration::from_secs(1);

/// A message on its way out.
pub(crate) struct Letter {
    /// The id of a request of ours; none of anything else.
    pub(crate) id: Option<Value>,
    /// The method; none of an answer.
    pub(crate) method: Option<String>,
    /// The message.
    pub(crate) text: String,
}

/// Where what came is put.
#[derive(Clone)]
pub(crate) struct Inbox {
    pub(crate) desk: Arc<Desk>,
    messages: mpsc::Sender<Received>,
}

/// Nobody takes messages any more.
pub(crate) struct Closed;

impl Inbox {
    /// Takes a message as it came.
    pub(crate) async fn put(&self, bytes: &[u8]) -> Result<(), Closed> {
        for message in self.desk.read(bytes) {
            self.messages.send(message).await.map_err(|_| Closed)?;
        }
        if self.desk.is_over() { Err(Closed) } else { Ok(()) }
    }

    /// A request of ours gets no answer, for this reason.
    pub(crate) async fn fail(&self, id: &Value, why: impl Into<String>) -> Result<(), Closed> {
        match Desk::failed(id, why) {
            Some(message) => self.messages.send(message).await.map_err(|_| Closed),
            None => Ok(()),
        }
    }
}

/// A connection, as the SDK has it.
pub(crate) struct Link {
    desk: Arc<Desk>,
    letters: Option<mpsc::Sender<Letter>>,
    messages: mpsc::Receiver<Received>,
    carriers: JoinSet<()>,
}

impl Link {
    /// A connection that this carries. It is over once that ends.
    pub(crate) fn new<F>(desk: Arc<Desk>, carry: impl FnOnce(mpsc::Receiver<Letter>, Inbox) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (letters, outbox) = mpsc::channel(QUEUE);
        let (inbox, messages) = mpsc::channel(QUEUE);
        let mut carriers = JoinSet::new();
        let carried = carry(outbox, Inbox { desk: Arc::clone(&desk), messages: inbox });
        let closing = desk.closing();
        carriers.spawn(async move {
            carried.await;
            drop(closing);
        });
        Self { desk, letters: Some(letters), messages, carriers }
    }
}

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsent {
    #[error("the connection is closed")]
    Closed,
    #[error("the message can't be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

impl Transport<RoleClient> for Link {
    type Error = Unsent;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Unsent>> + Send + 'static {
        let (letter, letters) = (self.desk.sent(&item), self.letters.clone());
        let desk = Arc::clone(&self.desk);
        async move {
            let (letter, letters) = (letter?, letters.ok_or(Unsent::Closed)?);
            desk.waits(1);
            let sent = letters.send(letter).await;
            desk.waits(-1);
            sent.map_err(|_| Unsent::Closed)
        }
    }

    async fn receive(&mut self) -> Option<Received> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Unsent> {
        self.letters = None;
        self.messages.close();
        // Who does not end in time is broken off when this is dropped.
        let _ = tokio::time::timeout(FAREWELL, self.carriers.join_next()).await;
        Ok(())
    }
}
