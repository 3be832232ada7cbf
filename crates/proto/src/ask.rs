use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::FileChange;

/// A question to the user: may this call be done?
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PermissionAsk {
    /// The question's id, which is the call's.
    #[serde(rename = "tool_call_id")]
    pub id: String,
    /// The tool's native name.
    pub tool: String,
    /// The input, in native names and as it would be done.
    pub input: serde_json::Value,
    /// What would be done, part by part.
    pub doing: Vec<Doing>,
    /// What would become of files, where that can be said before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// Why it is asked.
    pub why: String,
    /// Always asks, whatever rules would allow it: it can be allowed only this once.
    pub always_asks: bool,
    /// What can be allowed for longer, the narrowest first.
    pub offers: Vec<Leave>,
    /// What a script is told that has nobody to ask: the way to allow it.
    pub without_anybody: String,
}

/// One thing that a call would do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "does", content = "what", rename_all = "snake_case")]
pub enum Doing {
    /// A file or folder is read.
    Reads(String),
    /// A file or folder is written.
    Writes(String),
    /// A command is run.
    Runs(String),
    /// A host is spoken with.
    Speaks(String),
    /// A tool of somebody else is run.
    Foreign,
}

/// Leave that can be given for longer than one call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Leave {
    /// The rules that would be added to what is allowed.
    pub rules: Vec<String>,
    /// What they would allow, in a sentence.
    pub says: String,
}

/// For how long leave is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// Until the session ends.
    Session,
    /// For this project, from now on.
    Always,
}

/// The user's answer to a [`PermissionAsk`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// This time.
    Once,
    /// This time, with another input, which is judged anew.
    Changed {
        /// The input.
        input: serde_json::Value,
    },
    /// What the offer of this number (from 0) says.
    Offer {
        /// The offer's number.
        at: usize,
        /// For how long.
        lasting: Lasting,
    },
    /// Not this time.
    No {
        /// An explanation for the model.
        why: Option<String>,
    },
    /// There is nobody who could be asked.
    Nobody {
        /// What came instead of an answer, if somebody was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}
