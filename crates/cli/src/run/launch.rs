//! How a client is started: arguments, variables, files, and nothing of it in the client's own configuration.

use std::path::{Path, PathBuf};

use rail_config::Env;
use rail_stdx::Secret;
use serde_json::{Map, Value};

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

    /// A file of settings that the user has already named by a variable, or that is where such files are, as JSON; an empty
    /// object when there is none.
    pub(crate) fn settings(&self, variable: &str, usual: &str) -> Value {
        let path = self.env.get(variable).unwrap_or(usual);
        let read = std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok());
        read.filter(Value::is_object).unwrap_or_else(|| Value::Object(Map::new()))
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
