//! This agent's own tools, for other programs.
//!
//! Every client has a session of its own, which ends with its connection. A call goes through the whole executor; what would be asked
//! about is asked of the client, if it can ask a person, and refused otherwise.

mod answer;
mod ask;
mod clients;
mod door;
mod form;
mod http;
mod offer;
mod room;
mod server;

use std::sync::Arc;

use rail_config::settings::Generation;
use rail_permit::Policy;
use rail_tool::{BoxFuture, Dialect, Hooks, Limits, Registry, Session};
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use clients::Clients;
pub use http::{Http, ServeError, serve_http};
use server::Server;

/// The longest message that is taken.
const MAX_MESSAGE: usize = 16 << 20;

/// What is offered, the same to every client.
pub struct Offer {
    /// The tools there are; see [`offered`].
    pub registry: Registry,
    /// The names in which they are shown.
    pub dialect: Dialect,
    /// The limits in force.
    pub limits: Limits,
    /// What the user allows.
    pub policy: Policy,
    /// Who is asked about the rest.
    pub asked: Asked,
    /// The version of this program.
    pub version: String,
    /// What a client's model is told of all of it.
    pub instructions: String,
}

/// Who is asked whether a call may be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// The client, if it can ask a person.
    Client,
    /// Nobody: what would be asked about is refused.
    Nobody,
}

/// Who opens sessions for clients, and ends them.
pub trait Sessions: Send + Sync {
    /// Opens a session, when a client first calls a tool.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn open(&self) -> Result<Opened, String>;

    /// Ends what a session left behind. No call of it runs any more.
    fn end(&self, session: Arc<Session>) -> BoxFuture<'static, ()>;
}

/// A session of a client.
pub struct Opened {
    /// What all its calls share.
    pub session: Session,
    /// What the user runs around calls, made for the session.
    pub hooks: HooksFor,
}

/// Makes the hooks of a session.
pub type HooksFor = Box<dyn FnOnce(&Arc<Session>) -> Arc<dyn Hooks> + Send>;

/// The tools of a generation that can be offered: what the policy bars is left out, and so is what needs a person in front of the
/// session or the agent around it.
pub fn offered(registry: &Registry, generation: Generation, policy: &Policy) -> Registry {
    offer::offered(registry, generation, policy)
}

/// Serves one client on a pair of streams until it leaves, or until it is told to stop. All that the client began has ended when it
/// returns.
pub async fn serve_streams<R, W>(
    offer: Offer,
    sessions: Arc<dyn Sessions>,
    (read, write): (R, W),
    stop: CancellationToken,
) where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let clients = Clients::new(offer, sessions);
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_MESSAGE);
    let serving = Server::new(&clients).serve_with_ct(transport, stop);
    // A client that leaves before it has said who it is has begun nothing.
    if let Ok(running) = serving.await {
        // How it ended makes no difference: what is left is ended.
        let _ = running.waiting().await;
    }
    clients.end().await;
}
