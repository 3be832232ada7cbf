//! What is needed from outside: who opens sessions, and what a session is.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use agent_client_protocol_schema::v1::McpServer;
use rail_model::Message;
use rail_proto::{Command, Mode, Prompt, SessionEvent};

use crate::Editor;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who opens sessions.
pub trait Host: Send + Sync + 'static {
    /// Our version, as clients are told it.
    fn version(&self) -> String;

    /// Whether a model can be asked at all.
    fn ready(&self) -> BoxFuture<'_, Result<(), Refused>>;

    /// Whether a session could be opened; nothing is changed by that.
    fn check(&self, wanted: Wanted) -> BoxFuture<'_, Result<(), Refused>>;

    /// Opens a session. It is given the editor's side, for files and terminals.
    fn open(&self, wanted: Wanted, editor: Arc<Editor>) -> BoxFuture<'_, Result<Opened, Refused>>;

    /// An id for a session that begins.
    fn new_id(&self) -> Result<String, Refused>;

    /// The sessions there are, of one folder or of all, the latest first.
    fn list(&self, cwd: Option<PathBuf>) -> BoxFuture<'_, Result<Vec<Listed>, Refused>>;

    /// Deletes a session.
    fn delete(&self, id: String) -> BoxFuture<'_, Result<(), Refused>>;
}

/// Why something was not done.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// No model can be asked: there is no provider.
    #[error("{0}")]
    NoProvider(String),
    /// There is no such session.
    #[error("there is no session `{0}`")]
    Unknown(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// It went wrong.
    #[error("{0}")]
    Failed(String),
}

/// A session that is wanted.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// Its id.
    pub id: String,
    /// Whether it is new.
    pub begin: Begin,
    /// The working folder.
    pub cwd: PathBuf,
    /// Further folders that count as the workspace.
    pub folders: Vec<PathBuf>,
    /// MCP servers besides the configured ones.
    pub servers: Vec<McpServer>,
}

/// Whether a session is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// It is.
    New,
    /// It goes on, and what was said is wanted.
    Load,
    /// It goes on.
    Resume,
}

/// A session that was opened.
pub struct Opened {
    /// The session.
    pub session: Box<dyn Session>,
    /// What is known of it.
    pub facts: Facts,
    /// What was said in it, where that was wanted.
    pub history: Box<dyn Iterator<Item = Message> + Send>,
}

/// What is known of a session.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// The permission mode.
    pub mode: Mode,
    /// Why nothing may be left unasked, if it may not.
    pub bypass_refused: Option<String>,
    /// The model asked for; empty is what routing decides.
    pub model: String,
    /// The models that can be asked for.
    pub models: Vec<String>,
    /// The slash commands.
    pub commands: Vec<Offered>,
}

/// A slash command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offered {
    /// Its name.
    pub name: String,
    /// What may be typed behind the name.
    pub hint: String,
    /// What it does, in a line.
    pub help: String,
}

/// A session. Dropping it ends it and all that it started.
pub trait Session: Send {
    /// Takes up what the user says, commands and names of files included; the next [`SessionEvent::Done`] is its end. What a command
    /// says itself comes as text.
    fn submit(&mut self, prompt: Prompt);

    /// Wants something else of it.
    fn command(&mut self, command: Command);

    /// What happens next; nothing once it is over. Nothing happens but while this is awaited, and nothing is lost when it is dropped.
    fn next(&mut self) -> BoxFuture<'_, Option<SessionEvent>>;

    /// What a file says now, if it is a text of moderate length: a question shows what would change.
    fn current(&self, path: &Path) -> Option<String>;
}

/// A session in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub cwd: PathBuf,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// When something last happened in it, in milliseconds since 1970.
    pub last_ms: u64,
}
