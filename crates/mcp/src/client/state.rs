use std::fmt;
use std::time::Duration;

/// What is to be known of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerState {
    /// Its name.
    pub name: String,
    /// How it is.
    pub state: State,
    /// The name and version that it gives itself, once it was connected.
    pub calls_itself: Option<String>,
    /// What the server says of how it is used, once it was connected.
    pub instructions: Option<String>,
    /// What is wrong with what it says, each in a sentence: lists that were cut, schemas that were left out.
    pub notes: Vec<String>,
    /// Tools that are known of it, be it from an earlier time.
    pub tools: usize,
    /// The end of what it said of errors.
    pub stderr: String,
}

/// How a server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It is being started, or connected with.
    Connecting,
    /// It answers.
    Ready {
        /// Its tools.
        tools: usize,
        /// Its prompts.
        prompts: usize,
        /// Its resources and templates of resources.
        resources: usize,
    },
    /// It is tried again after a pause.
    Retrying {
        /// The pause, from its beginning.
        after: Duration,
        /// Why it is not there.
        why: String,
    },
    /// It is not tried again until somebody asks for it.
    Failed {
        /// Why.
        why: String,
    },
    /// The user has to log in first.
    NeedsLogin {
        /// What was said of it.
        why: String,
        /// What the server's `WWW-Authenticate` said.
        challenge: String,
    },
    /// It is not to be started.
    Disabled {
        /// Why.
        why: String,
    },
    /// The hub has stopped.
    Stopped,
}

/// In a few words, as a list of servers shows it.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => f.write_str("connecting"),
            Self::Ready { tools, prompts, resources } => {
                write!(f, "ready: {tools} tools, {prompts} prompts, {resources} resources")
            }
            Self::Retrying { after, why } => {
                write!(f, "is tried again after {} s: {why}", after.as_secs_f32())
            }
            Self::Failed { why } => write!(f, "failed: {why}"),
            Self::NeedsLogin { why, .. } => write!(f, "needs a login: {why}"),
            Self::Disabled { why } => write!(f, "disabled: {why}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
