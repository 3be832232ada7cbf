use std::fmt;
use std::sync::Arc;

use crate::Problem;

/// One thing that was mended in a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// What was done.
    pub step: Step,
    /// Where, from the call: `name`, `arguments`, `arguments.items[0].done`.
    pub path: String,
}

impl Repair {
    /// Names a repair.
    pub fn new(step: Step, path: impl Into<String>) -> Self {
        Self { step, path: path.into() }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.step {
            Step::Found(format) => write!(f, "a call was found in text, as {format} writes it"),
            Step::Fragments => write!(f, "pieces of `{path}` were put together"),
            Step::Split => f.write_str("several calls stood in the place of one"),
            Step::Inferred => f.write_str("the tool's name was missing, and only one fits"),
            Step::Name => f.write_str("the tool's name was spelled differently"),
            Step::Alias => f.write_str("the tool was called by another name of it"),
            Step::Tolerant => write!(f, "`{path}` was no JSON and was read all the same"),
            Step::Closed => write!(f, "closing brackets were added to `{path}`"),
            Step::Unwrapped => write!(f, "`{path}` was wrapped in something"),
            Step::Entities => write!(f, "entities in `{path}` were decoded"),
            Step::Parameter => write!(f, "`{path}` had another name"),
            Step::Coerced => write!(f, "`{path}` had another type"),
            Step::Dropped => write!(f, "`{path}` was null and was left out"),
            Step::Alone => {
                f.write_str("the calls after it were left out, since they did not wait for its result")
            }
        }
    }
}

/// The kinds of repair, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// A call was found in text; the name of its format.
    Found(&'static str),
    /// Pieces of arguments were put together otherwise than by joining them.
    Fragments,
    /// One slot held several calls.
    Split,
    /// The name was missing and only one tool fits the arguments.
    Inferred,
    /// The tool's name was decorated or spelled differently.
    Name,
    /// The tool's name is another dialect's, or one that models invent.
    Alias,
    /// The arguments were not JSON and could be read all the same.
    Tolerant,
    /// Missing closing brackets were added.
    Closed,
    /// The arguments were wrapped: encoded twice, fenced, in a list, under a key of their own.
    Unwrapped,
    /// Entities of a provider that escapes them were decoded.
    Entities,
    /// A parameter had another name.
    Parameter,
    /// A value had another type than the schema asks for.
    Coerced,
    /// A null for an optional parameter was left out.
    Dropped,
    /// Further calls of the answer were left out.
    Alone,
}

impl Step {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Found(format) => format,
            Self::Fragments => "fragments",
            Self::Split => "split",
            Self::Inferred => "inferred",
            Self::Name => "name",
            Self::Alias => "alias",
            Self::Tolerant => "tolerant",
            Self::Closed => "closed",
            Self::Unwrapped => "unwrapped",
            Self::Entities => "entities",
            Self::Parameter => "parameter",
            Self::Coerced => "coerced",
            Self::Dropped => "dropped",
            Self::Alone => "alone",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(format) => write!(f, "found:{format}"),
            other => f.write_str(other.word()),
        }
    }
}

/// What a stage has to say about a call of the answer, by the call's id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// Something was mended.
    Repaired {
        /// The call.
        call: String,
        /// What was done, and where.
        repair: Repair,
    },
    /// No declared tool is meant, or more than one could be: not to be run.
    Unknown {
        /// The call.
        call: String,
        /// The name as the model spelled it.
        name: String,
        /// Declared names that come close, the closest first.
        closest: Vec<String>,
    },
    /// The call was cut off, or its arguments can't be read by any means: not to be run.
    Incomplete {
        /// The call.
        call: String,
        /// The tool's name as far as it is known.
        name: String,
    },
    /// The arguments do not keep the tool's schema, after all that could be mended: whoever runs it will refuse it.
    Invalid {
        /// The call.
        call: String,
        /// What does not fit.
        problems: Vec<Problem>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repaired { repair, .. } => write!(f, "a call was mended: {repair}"),
            Self::Unknown { name, closest, .. } if closest.is_empty() => {
                write!(f, "there is no tool `{name}`")
            }
            Self::Unknown { name, closest, .. } => {
                write!(f, "there is no tool `{name}`; close to it: {}", closest.join(", "))
            }
            Self::Incomplete { name, .. } => write!(f, "a call of `{name}` was cut off"),
            Self::Invalid { problems, .. } => {
                let problems: Vec<String> =
                    problems.iter().map(|problem| format!("`{}`: {}", problem.path, problem.what)).collect();
                write!(f, "the arguments of a call do not fit: {}", problems.join("; "))
            }
        }
    }
}

impl Note {
    /// The id of the call that it is about.
    pub fn call(&self) -> &str {
        match self {
            Self::Repaired { call, .. }
            | Self::Unknown { call, .. }
            | Self::Incomplete { call, .. }
            | Self::Invalid { call, .. } => call,
        }
    }

    pub(crate) fn call_mut(&mut self) -> &mut String {
        match self {
            Self::Repaired { call, .. }
            | Self::Unknown { call, .. }
            | Self::Incomplete { call, .. }
            | Self::Invalid { call, .. } => call,
        }
    }
}

/// The most bytes of a call that are kept of it as the model wrote it.
const MOST_WRITTEN: usize = 64 << 10;

/// A call that there is something to say about, as the model wrote it, or as much of it as is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// The call's id.
    pub call: String,
    /// What the model wrote.
    pub what: What,
}

/// How a model wrote a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// As a call.
    Call {
        /// The tool's name as the model spelled it.
        name: String,
        /// The arguments as they came.
        arguments: String,
    },
    /// In its text, with the markup around it. Calls that it wrote as one piece have the same text.
    Text(Arc<str>),
}

/// The beginning of a text, as much of it as is kept.
pub(crate) fn kept(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MOST_WRITTEN));
    text
}

/// Adds to a text as much as is kept of it.
pub(crate) fn keep(kept: &mut String, more: &str) {
    let room = MOST_WRITTEN.saturating_sub(kept.len());
    kept.push_str(more.get(..more.floor_char_boundary(room)).unwrap_or_default());
}
