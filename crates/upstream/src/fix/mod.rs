//! What a target refuses in a request, read from its own words, and how to ask without it.

mod fields;
mod limits;
mod path;
mod schema;
mod words;

use std::fmt;

use rail_model::{Loss, Request};
use rail_route::{Target, Thinks};
use rail_wire::{ReasoningBack, TargetSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use words::{diagnose, may_be_fixable};

use crate::spec;

#[cfg(test)]
mod tests;

/// One change that makes a request acceptable to a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fix {
    /// A field is left out, such as `temperature` or `messages[].reasoning_content`.
    Drop {
        /// Where it stands; `[]` is every element of a list.
        path: String,
    },
    /// A field is given this value.
    Set {
        /// Where it stands.
        path: String,
        /// The value.
        value: Value,
    },
    /// Keywords are left out of every schema.
    SchemaKeys {
        /// The keywords.
        keys: Vec<String>,
    },
    /// At most so many tokens of output are asked for.
    MaxOutput {
        /// The figure.
        most: u64,
    },
    /// The output limit is called `max_completion_tokens`.
    MaxCompletionTokens,
    /// The output limit is called `max_tokens`.
    MaxTokens,
    /// The role `developer` is called `system`.
    SystemRole,
    /// Images stand in messages of the user's, not in tool results.
    ImagesToUser,
    /// Images are replaced by notes.
    NoImages,
    /// Reasoning is sent back on every assistant message.
    ReasoningBack,
    /// Thinking is asked for in another form, or not at all.
    Think {
        /// The form.
        how: Thinks,
    },
    /// The answer is asked for whole, not as a stream.
    Whole,
    /// The answer is asked for as a stream.
    Streamed,
    /// A value of the `anthropic-beta` header is left out, or the whole header.
    Beta {
        /// The value; None leaves the header out.
        value: Option<String>,
    },
}

/// A fix, and whether it holds for requests to come as well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remedy {
    /// The change.
    pub fix: Fix,
    /// True when the target refuses the thing as such; false when it is only too much for this one request.
    pub lasting: bool,
}

impl Fix {
    /// Changes what is asked, before it is written.
    pub(crate) fn prepare(&self, request: &mut Request, target: &mut TargetSpec) {
        match self {
            Self::MaxOutput { most } => {
                target.max_output = Some(target.max_output.unwrap_or(u64::MAX).min(*most));
                target.default_max_output = target.default_max_output.min(*most);
            }
            Self::ImagesToUser => target.quirks.image_in_tool_result = false,
            Self::NoImages => target.images = None,
            Self::ReasoningBack => target.quirks.reasoning_back = ReasoningBack::Always,
            Self::Think { how } => target.thinking = spec::thinking(*how),
            Self::Whole => request.stream = false,
            Self::Streamed => request.stream = true,
            Self::Drop { .. }
            | Self::Set { .. }
            | Self::SchemaKeys { .. }
            | Self::MaxCompletionTokens
            | Self::MaxTokens
            | Self::SystemRole
            | Self::Beta { .. } => {}
        }
    }

    /// Changes the body that was written; true when there was something to change.
    pub(crate) fn edit(&self, body: &mut Value) -> bool {
        match self {
            Self::Drop { path } => path::remove(body, path),
            Self::Set { path, value } => path::set(body, path, value),
            Self::SchemaKeys { keys } => schema::strip(body, keys),
            Self::MaxCompletionTokens => path::rename(body, "max_tokens", "max_completion_tokens"),
            Self::MaxTokens => path::rename(body, "max_completion_tokens", "max_tokens"),
            Self::SystemRole => system_role(body),
            Self::MaxOutput { .. }
            | Self::ImagesToUser
            | Self::NoImages
            | Self::ReasoningBack
            | Self::Think { .. }
            | Self::Whole
            | Self::Streamed
            | Self::Beta { .. } => false,
        }
    }

    /// Whether it changes the body after it was written.
    pub(crate) fn edits(&self) -> bool {
        match self {
            Self::Drop { .. }
            | Self::Set { .. }
            | Self::SchemaKeys { .. }
            | Self::MaxCompletionTokens
            | Self::MaxTokens
            | Self::SystemRole => true,
            Self::MaxOutput { .. }
            | Self::ImagesToUser
            | Self::NoImages
            | Self::ReasoningBack
            | Self::Think { .. }
            | Self::Whole
            | Self::Streamed
            | Self::Beta { .. } => false,
        }
    }

    /// Changes the headers that were written.
    pub(crate) fn head(&self, headers: &mut Vec<(String, String)>) {
        let Self::Beta { value } = self else { return };
        headers.retain_mut(|(name, said)| {
            if !name.eq_ignore_ascii_case("anthropic-beta") {
                return true;
            }
            let Some(refused) = value else { return false };
            let kept: Vec<&str> = said.split(',').map(str::trim).filter(|beta| beta != refused).collect();
            *said = kept.join(",");
            !said.is_empty()
        });
    }

    /// What a target is not told because of it, where nobody else says so.
    pub(crate) fn loss(&self, target: &Target) -> Option<Loss> {
        let lost = |path: &str, what: &str| Some(Loss::new(path, format!("{target} {what}")));
        match self {
            Self::Drop { path } => lost(path, "does not take it; left out"),
            Self::Set { path, value } => lost(path, &format!("takes only {value} here")),
            Self::SchemaKeys { keys } => {
                lost("tools", &format!("does not take {} in schemas; left out", keys.join(", ")))
            }
            Self::MaxOutput { .. }
            | Self::MaxCompletionTokens
            | Self::MaxTokens
            | Self::SystemRole
            | Self::ImagesToUser
            | Self::NoImages
            | Self::ReasoningBack
            | Self::Think { .. }
            | Self::Whole
            | Self::Streamed
            | Self::Beta { .. } => None,
        }
    }
}

fn system_role(body: &mut Value) -> bool {
    let role = |value: &mut Value| {
        let meant = value.as_str() == Some("developer");
        if meant {
            *value = Value::from("system");
        }
        meant
    };
    let mut changed = false;
    for path in ["messages[].role", "input[].role"] {
        changed |= path::each(body, path, &role);
    }
    changed
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop { path } => write!(f, "leaves out `{path}`"),
            Self::Set { path, value } => write!(f, "sets `{path}` to {value}"),
            Self::SchemaKeys { keys } => write!(f, "leaves {} out of schemas", keys.join(", ")),
            Self::MaxOutput { most } => write!(f, "asks for at most {most} tokens of output"),
            Self::MaxCompletionTokens => f.write_str("says `max_completion_tokens`"),
            Self::MaxTokens => f.write_str("says `max_tokens`"),
            Self::SystemRole => f.write_str("says `system` for `developer`"),
            Self::ImagesToUser => f.write_str("puts images beside tool results"),
            Self::NoImages => f.write_str("replaces images by notes"),
            Self::ReasoningBack => f.write_str("sends reasoning back"),
            Self::Think { how: Thinks::Never } => f.write_str("does not ask for thinking"),
            Self::Think { how: Thinks::AsAsked } => f.write_str("asks for thinking as the client did"),
            Self::Think { how: Thinks::Budget } => f.write_str("asks for thinking by a budget"),
            Self::Think { how: Thinks::Adaptive } => f.write_str("lets it decide how much to think"),
            Self::Think { how: Thinks::Effort } => f.write_str("asks for thinking by effort"),
            Self::Whole => f.write_str("asks for whole answers"),
            Self::Streamed => f.write_str("asks for streams"),
            Self::Beta { value: Some(value) } => write!(f, "leaves `{value}` out of `anthropic-beta`"),
            Self::Beta { value: None } => f.write_str("leaves out `anthropic-beta`"),
        }
    }
}
