//! How a client is started: arguments, variables, files, and nothing of it in the client's own configuration.

use std::io;
use std::path::{Path, PathBuf};

use rail_config::Env;
use rail_config::import::read_json;
use rail_stdx::Secret;
use serde_json::Value;

use super::aim::Aim;

/// What a client is told.
pub(crate) struct Pointing<'a> {
    /// The gateway, `http://127.0.0.1:PORT`.
    pub(crate) url: &'a str,
    /// What opens it.
    pub(crate) token: &'a Secret,
    /// Whom it is aimed at.
    pub(crate) aim: &'a Aim,
    /// Where files for it are.
    pub(crate) folder: &'a Path,
    /// The user's variables.
    pub(crate) env: &'a Env,
}

impl Pointing<'_> {
    /// The path of a file for the client.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// How a client is started.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Launch {
    /// Arguments before the user's.
    pub(crate) args: Vec<String>,
    /// Variables that it has.
    pub(crate) set: Vec<(String, String)>,
    /// Variables of the user that it must not have: with them it would go elsewhere.
    pub(crate) unset: Vec<&'static str>,
    /// Files, by name.
    pub(crate) files: Vec<(&'static str, Value)>,
    /// Names that lead to the user's own files.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// What the user should know.
    pub(crate) warnings: Vec<String>,
}

impl Launch {
    /// The same with a variable.
    pub(crate) fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set.push((name.to_owned(), value.into()));
        self
    }

    /// The same with a variable, unless the user has set it.
    pub(crate) fn set_unless_said(self, env: &Env, name: &str, value: impl Into<String>) -> Self {
        if env.get(name).is_some() { self } else { self.set(name, value) }
    }

    /// The same without these variables of the user.
    pub(crate) fn unset(mut self, names: &[&'static str]) -> Self {
        self.unset.extend(names);
        self
    }

    /// The same with a file.
    pub(crate) fn file(mut self, name: &'static str, content: Value) -> Self {
        self.files.push((name, content));
        self
    }

    /// The same with a file that says what a file of the user says, and more. Where there is none, it says just that.
    pub(crate) fn file_over(mut self, name: &'static str, own: &Path, more: Value) -> Self {
        let said = match std::fs::read_to_string(own) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
            read => read.map_err(|error| error.to_string()).and_then(|text| read_json(&text)),
        };
        if let Err(problem) = &said {
            self.warnings.push(format!(
                "{} can't be read, so that what it says does not count here: {problem}",
                own.display()
            ));
        }
        self.file(name, over(said.unwrap_or_default(), more))
    }

    /// The same where a folder has all that a folder of the user has, but for what is left out.
    pub(crate) fn like(mut self, folder: &Path, own: &Path, without: &str) -> Self {
        // A folder that is not there has nothing.
        let entries = std::fs::read_dir(own).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name()).filter(|name| name != without);
        self.links.extend(names.map(|name| (folder.join(&name), own.join(&name))));
        self
    }

    /// The same where no proxy stands between the client and this machine itself.
    pub(crate) fn past_proxies(mut self, env: &Env) -> Self {
        for name in ["NO_PROXY", "no_proxy"] {
            let said = env.get(name).map(|said| format!("{said},")).unwrap_or_default();
            self = self.set(name, format!("{said}127.0.0.1,localhost"));
        }
        self
    }
}

/// Lays settings over others: objects are joined, anything else is replaced.
pub(crate) fn over(base: Value, ours: Value) -> Value {
    match (base, ours) {
        (Value::Object(mut base), Value::Object(ours)) => {
            for (key, value) in ours {
                let below = base.remove(&key).unwrap_or(Value::Null);
                base.insert(key, over(below, value));
            }
            Value::Object(base)
        }
        (_, ours) => ours,
    }
}
