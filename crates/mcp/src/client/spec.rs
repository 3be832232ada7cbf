use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rail_stdx::Secret;
use rail_tool::BoxFuture;
use sha2::{Digest, Sha256};

use crate::auth::{self, AuthError, Refusal};

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
    /// Which of its tools are used.
    pub tools: ToolFilter,
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
    /// The token to be sent; none if there is none to send. With `refused`, this is what the server answered to the last one (or
    /// to none): a token that was made anew is tried once more.
    ///
    /// # Errors
    /// What the user has to do, and the server's state is then that it needs a login; or that nobody could be asked for a token now.
    fn token<'a>(&'a self, refused: Option<Refusal<'a>>) -> BoxFuture<'a, Result<Option<Secret>, AuthError>>;
}

impl Tokens for auth::Tokens {
    fn token<'a>(&'a self, refused: Option<Refusal<'a>>) -> BoxFuture<'a, Result<Option<Secret>, AuthError>> {
        Box::pin(async move {
            match refused {
                None => Self::token(self).await,
                Some(refusal) => self.token_after(refusal).await.map(Some),
            }
        })
    }
}

/// Which tools of a server are used, by the server's own names. The others are as if it did not have them.
#[derive(Clone)]
pub struct ToolFilter(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl ToolFilter {
    /// Those of which this is true.
    pub fn new(uses: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(uses))
    }

    /// Whether a tool is used.
    pub fn uses(&self, tool: &str) -> bool {
        (self.0)(tool)
    }
}

/// All are used.
impl Default for ToolFilter {
    fn default() -> Self {
        Self::new(|_| true)
    }
}

impl std::fmt::Debug for ToolFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToolFilter")
    }
}

impl ServerSpec {
    /// A server with the usual limits, without tokens, with all its tools.
    pub fn new(name: impl Into<String>, way: Way) -> Self {
        let (times, tools) = Default::default();
        Self { name: name.into(), way, times, tokens: None, tools, off: None }
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
