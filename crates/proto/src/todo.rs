use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry of the list of things to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// What to do.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// While it is done: "Fixing the parser".
    #[serde(rename = "activeForm", default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// How far something to do is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// The entry in a line with its mark, as front ends without a look of their own show it.
impl fmt::Display for Todo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            TodoStatus::Pending => write!(f, "[ ] {}", self.content),
            TodoStatus::InProgress => {
                write!(f, "[>] {}", self.active_form.as_deref().unwrap_or(&self.content))
            }
            TodoStatus::Completed => write!(f, "[x] {}", self.content),
        }
    }
}
