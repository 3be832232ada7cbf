use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rail_stdx::Secret;
use rail_tool::BoxFuture;
use sha2::{Digest, Sha256};

/// A server, as it is configured.
#[derive(Clone)]
pub struct ServerSpec {
    /// Its name; the names of its tools begin with it.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// How long it is waited for.
    pub times: TimeLimits,
    /// What gives the tokens that it wants, if it wants any.
    pub tokens: Option<Arc<dyn Tokens>>,
    /// Why it is not to be started, such as that nobody approved it; its state says so.
    pub off: Option<String>,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// It is started here, and spoken with over its input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, besides what all servers get.
        env: Vec<(String, Secret)>,
        /// The folder it starts in; the hub's if none is given.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, Secret)>,
    },
    /// The older HTTP transport: a stream of events, and an address for messages that it names.
    Sse {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, Secret)>,
    },
}

/// How long a server is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimits {
    /// From its start until its tools are known; calls that come before wait as long.
    pub start: Duration,
    /// For the result of a call that says nothing of its progress; each word of progress begins it anew.
    pub idle: Duration,
    /// For the result of a call, whatever is said.
    pub total: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(30 * 60),
        }
    }
}

/// Where the tokens for a server come from.
pub trait Tokens: Send + Sync {
    /// The token to be sent; none if there is none to send. With `refused`, the last one was refused (or none was sent), and
    /// this is what the server's `WWW-Authenticate` said: a token that was made anew is tried once more.
    ///
    /// # Errors
    /// What the user has to do, in a sentence: the server's state is then that it needs a login.
    fn token<'a>(&'a self, refused: Option<&'a str>) -> BoxFuture<'a, Result<Option<Secret>, String>>;
}

impl ServerSpec {
    /// A server with the usual limits, without tokens.
    pub fn new(name: impl Into<String>, way: Way) -> Self {
        Self { name: name.into(), way, times: TimeLimits::default(), tokens: None, off: None }
    }

    /// What tells it from any other, for what is kept of it on the disk. Secrets are no part of it.
    pub(crate) fn key(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&self.name);
        match &self.way {
            Way::Stdio { command, args, env, cwd } => {
                add("stdio");
                add(command);
                args.iter().for_each(|arg| add(arg));
                add("env");
                env.iter().for_each(|(name, _)| add(name));
                add(&cwd.as_deref().unwrap_or_else(|| "".as_ref()).to_string_lossy());
            }
            Way::Http { url, headers } | Way::Sse { url, headers } => {
                add(url);
                headers.iter().for_each(|(name, _)| add(name));
            }
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSpec").field("name", &self.name).field("way", &self.way).finish_non_exhaustive()
    }
}
