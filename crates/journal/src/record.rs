use std::path::PathBuf;

use rail_model::{Json, Message, Part, ToolDecl, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Place, SessionId};

/// Makes the kinds of records with their names in the file.
macro_rules! records {
    ($($(#[$doc:meta])+ $variant:ident($content:ty) = $name:literal,)+) => {
        /// One thing that happened in a session.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Record {
            $($(#[$doc])+ $variant($content),)+
            /// A kind that a later version writes: kept as it is, and of no effect.
            Unknown {
                /// What it calls itself.
                kind: String,
                /// What it holds.
                data: Json,
            },
        }

        impl Record {
            /// The kind's name in the file.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Unknown { kind, .. } => kind,
                }
            }

            /// Reads what a record of this kind holds.
            pub(crate) fn read(kind: &str, data: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($name => serde_json::from_str(data).map(Self::$variant),)+
                    _ => Json::parse(data.to_owned()).map(|data| Self::Unknown { kind: kind.to_owned(), data }),
                }
            }

            /// What it holds, as it stands in the file.
            pub(crate) fn data(&self) -> Result<Json, serde_json::Error> {
                match self {
                    $(Self::$variant(content) => serde_json::to_string(content).and_then(Json::parse),)+
                    Self::Unknown { data, .. } => Ok(data.clone()),
                }
            }
        }
    };
}

records! {
    /// The session begins; always the first record, and only that.
    Opened(Opened) = "opened",
    /// What stands at the head of every request from here on.
    Prompt(Prompt) = "prompt",
    /// A message of the user, the model or the system.
    Message(Said) = "message",
    /// Something that the model is told on the user's behalf: a mode, a file that changed, to go on.
    Told(Said) = "told",
    /// A message of the user that waits for the next step.
    Queued(Said) = "queued",
    /// All messages that waited are part of the conversation from here on; the step that took them.
    Taken(u64) = "taken",
    /// More of an answer that is not complete, written before it is shown.
    Partial(Partial) = "partial",
    /// What was written of the incomplete answer of this step counts no more.
    Void(u64) = "void",
    /// These calls are about to run; synced before they do.
    Running(Running) = "running",
    /// Results of calls. Several of one step become one message, in the order of the calls.
    Results(Said) = "results",
    /// The conversation was replaced by a shorter one, which is all that is sent from here on.
    Compacted(Compacted) = "compacted",
    /// The conversation is again what it was at another place of the file.
    Rewound(Rewound) = "rewound",
    /// The workspace before and after a step.
    Snapshot(Snapshot) = "snapshot",
    /// What a request cost.
    Usage(Spent) = "usage",
    /// The permission mode from here on.
    Mode(String) = "mode",
    /// The model from here on, as the user names it.
    Model(String) = "model",
    /// The session's title from here on.
    Title(String) = "title",
    /// The todo list from here on.
    Todos(Value) = "todos",
    /// What was found out while planning, from here on.
    Findings(Value) = "findings",
    /// What the model knows of the world around the session from here on, so that only changes are told to it.
    Known(Value) = "known",
    /// The session was left.
    Ended(Ended) = "ended",
    /// Something for people and tools that read the journal; of no effect.
    Note(Note) = "note",
}

impl Record {
    /// The step it names, if it names one.
    pub(crate) fn step(&self) -> Option<u64> {
        match self {
            Self::Message(said) | Self::Told(said) | Self::Queued(said) | Self::Results(said) => {
                Some(said.step)
            }
            Self::Taken(step) | Self::Void(step) => Some(*step),
            Self::Partial(partial) => Some(partial.step),
            Self::Running(running) => Some(running.step),
            Self::Snapshot(snapshot) => Some(snapshot.step),
            Self::Usage(spent) => Some(spent.step),
            Self::Opened(_)
            | Self::Prompt(_)
            | Self::Compacted(_)
            | Self::Rewound(_)
            | Self::Mode(_)
            | Self::Model(_)
            | Self::Title(_)
            | Self::Todos(_)
            | Self::Findings(_)
            | Self::Known(_)
            | Self::Ended(_)
            | Self::Note(_)
            | Self::Unknown { .. } => None,
        }
    }
}

/// How a session began.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Opened {
    /// The form of the journal: [`VERSION`](crate::VERSION).
    pub version: u32,
    /// The session's id.
    pub id: SessionId,
    /// The working folder.
    #[serde(with = "path")]
    pub cwd: PathBuf,
    /// The model that was asked for.
    pub model: String,
    /// The session this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Fork>,
    /// The session whose sub-agent this one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_of: Option<SessionId>,
}

/// Where a session was forked from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fork {
    /// The session.
    pub id: SessionId,
    /// The last line that the fork knows.
    pub at: Place,
}

/// What stands at the head of every request, so that a resumed session sends the same bytes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prompt {
    /// The instructions.
    pub system: Vec<Part>,
    /// The declared tools, in their order.
    pub tools: Vec<ToolDecl>,
    /// The dialect that tools and prompt speak.
    pub dialect: String,
}

/// A message, and the step it belongs to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Said {
    /// The step: one request with all that came of it.
    pub step: u64,
    /// The message.
    pub message: Message,
}

/// More of an answer that is not complete.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Partial {
    /// The step.
    pub step: u64,
    /// The text.
    pub text: String,
    /// The reasoning. It was shown, but goes back to no model: it lacks its seal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
}

/// Calls that are about to run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Running {
    /// The step.
    pub step: u64,
    /// Their ids.
    pub calls: Vec<String>,
}

/// A conversation in the place of a longer one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compacted {
    /// All that is sent from here on, besides the head.
    pub window: Vec<Message>,
    /// Why.
    pub cause: Cause,
    /// The target that wrote the summary; none when no model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Why a conversation was replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The window was nearly full.
    Full,
    /// The user asked for it.
    Asked,
    /// Old output was cut away, without a model.
    Trimmed,
    /// A fork begins with what its origin had.
    Forked,
}

/// The conversation goes to another place.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rewound {
    /// The last line that counts.
    pub to: Place,
    /// Whether something was taken back or brought back.
    pub way: Way,
}

/// Whether something was taken back or brought back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Undo, rewind: what came after the place counts no more.
    Back,
    /// Redo: what was taken back counts again.
    Forth,
}

/// The workspace before and after a step, as the ids of two snapshots.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The step.
    pub step: u64,
    /// The snapshot before it.
    pub before: String,
    /// The snapshot after it.
    pub after: String,
}

/// What a request cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Spent {
    /// The step.
    pub step: u64,
    /// Who answered: `provider/model`.
    pub target: String,
    /// The tokens.
    pub usage: Usage,
    /// The price in dollars; none when it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The session was left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Why, in the words of the result: `answered`, `interrupted`, `budget` …
    pub reason: String,
}

/// Something for people and tools that read the journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// What it is about.
    pub about: String,
    /// What there is to say.
    pub value: Value,
}

/// Paths as texts, or as lists of bytes where they are none.
mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use rail_model::Json;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(serializer),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let written = Json::deserialize(deserializer)?;
        if let Ok(text) = serde_json::from_str::<String>(written.text()) {
            return Ok(text.into());
        }
        let bytes = serde_json::from_str(written.text()).map_err(D::Error::custom)?;
        Ok(OsString::from_vec(bytes).into())
    }
}
