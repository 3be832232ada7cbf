use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::Kept;

/// Where configuration comes from; what a later one says wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// What holds when nobody says anything.
    BuiltIn,
    /// The user's own file.
    User,
    /// The project's file, which may come from somebody else's repository.
    Project,
    /// The project's file that is not for git.
    ProjectLocal,
    /// The file named by `--config`.
    Given,
    /// Variables that begin with `SWITCHRAIL_`.
    Environment,
    /// The command line.
    Flags,
}

impl Layer {
    /// Whether somebody else may have written it.
    pub fn is_project(self) -> bool {
        match self {
            Self::Project | Self::ProjectLocal => true,
            Self::BuiltIn | Self::User | Self::Given | Self::Environment | Self::Flags => false,
        }
    }

    /// What the user said in a folder, if it may stand in this layer: it is written to the project-local file.
    pub(crate) fn kept(self, kept: &Kept) -> Option<&Kept> {
        match self {
            Self::ProjectLocal => Some(kept),
            Self::BuiltIn | Self::User | Self::Project | Self::Given | Self::Environment | Self::Flags => {
                None
            }
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "default",
            Self::User => "user",
            Self::Project => "project",
            Self::ProjectLocal => "project-local",
            Self::Given => "--config",
            Self::Environment => "environment",
            Self::Flags => "flag",
        })
    }
}

/// A place in a file, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

/// Who said a value. Ordered as layers are, then by place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// Nobody: it is the default.
    BuiltIn,
    /// What was found where nothing is configured, and why it counts.
    Found(String),
    /// A file.
    File {
        /// Its layer.
        layer: Layer,
        /// Its path.
        file: Arc<Path>,
        /// The place in it.
        at: Place,
    },
    /// An environment variable, by name.
    Variable(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl Origin {
    /// The layer it belongs to.
    pub fn layer(&self) -> Layer {
        match self {
            Self::BuiltIn | Self::Found(_) => Layer::BuiltIn,
            Self::File { layer, .. } => *layer,
            Self::Variable(_) => Layer::Environment,
            Self::Flag(_) => Layer::Flags,
        }
    }

    /// The folder that relative paths are meant from: that of the file.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::File { file, .. } => file.parent(),
            Self::BuiltIn | Self::Found(_) | Self::Variable(_) | Self::Flag(_) => None,
        }
    }

    /// In short, for a remark beside a value: `user config.toml:12`, `SWITCHRAIL_X`, `--model`, `default`.
    pub fn brief(&self) -> String {
        match self {
            Self::BuiltIn => Layer::BuiltIn.to_string(),
            Self::Found(why) => format!("found: {why}"),
            Self::File { layer, file, at } => {
                let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
                format!("{layer} {name}:{}", at.line)
            }
            Self::Variable(name) => name.clone(),
            Self::Flag(flag) => (*flag).to_owned(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("configuration"),
            Self::Found(why) => write!(f, "found: {why}"),
            Self::File { file, at, .. } => write!(f, "{}:{}:{}", file.display(), at.line, at.column),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}
