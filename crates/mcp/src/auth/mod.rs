//! The authorisation of remote MCP servers: OAuth 2.1 as the protocol's revisions 2025-06-18 and 2025-11-25 have it.
//!
//! [`Tokens`] is one server's tokens. The client asks [`Tokens::token`] before each request and tells [`Tokens::refused`] what the
//! server answered with status 401 or 403; a person logs in by [`Tokens::login`], for which the browser is a port.
//!
//! The flow is our own, on the HTTP client that the rest of the program uses. That of the SDK brings a second HTTP client with
//! TLS, proxies and authorities of its own, and leaves it to others to keep tokens in a file, and two processes from spending one
//! refresh token twice.

mod address;
mod ask;
mod callback;
pub(crate) mod challenge;
mod client;
mod discover;
mod error;
mod form;
mod grant;
mod hidden;
mod login;
mod page;
mod pkce;
mod store;
mod tokens;

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use rail_stdx::Secret;
use rail_upstream::Transport;

pub use error::AuthError;
pub use login::{LoggedIn, LoggedOut};
pub use tokens::{Refusal, Status, Tokens, Verdict};

/// What the user has set for a server.
#[derive(Clone, Default, Debug)]
pub struct Settings {
    /// The address of the server.
    pub url: String,
    /// The client to be; None registers one.
    pub client: Option<OwnClient>,
    /// The address of a document that describes us, for authorisation servers that take one in place of a registration.
    pub client_metadata_url: Option<String>,
    /// The scopes to ask for; empty asks for what the server says.
    pub scopes: Vec<String>,
    /// The port on 127.0.0.1 that the browser leads back to; None takes a free one.
    pub redirect_port: Option<u16>,
    /// The proxy to go through; None asks the environment, `direct` goes through none.
    pub proxy: Option<String>,
    /// A PEM file with certificate authorities to trust besides the system's.
    pub authorities: Option<PathBuf>,
}

/// A client that was registered by hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnClient {
    /// Its id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<Secret>,
}

/// What tokens need of the outside.
#[derive(Clone)]
pub struct Outside {
    /// The HTTP client.
    pub transport: Arc<dyn Transport>,
    /// The file that keeps tokens; its folder is made.
    pub file: PathBuf,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Says what time it is.
pub trait Clock: Send + Sync {
    /// This moment in Unix seconds.
    fn unix(&self) -> u64;
}

/// The system's clock.
#[derive(Clone, Copy, Default, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "a driver: tokens end at a time of day")]
    fn unix(&self) -> u64 {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// Shows a person where to log in.
pub trait Browser: Send + Sync {
    /// Opens this address, or shows it.
    fn open(&self, url: &str);

    /// The next address that the person pasted, for a browser that can't lead back to this machine. None when there will be none.
    fn pasted(&self) -> Pin<Box<dyn Future<Output = Option<String>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }

    /// What was pasted is not what was wanted.
    fn unfit(&self, _problem: &AuthError) {}
}
