//! `rail mcp get`.

use std::collections::BTreeMap;

use clap::Args;
use rail_config::mcp::{Server, Standing, shown};
use rail_config::settings::{McpServer, SecretText};

use super::{found, kind, list, named, place, quoted, tell_problems};
use crate::setup::Common;
use crate::table::{Side, lines};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Get {
    /// Its name.
    name: String,
    /// Print JSON: all that stand under this name, the strongest first.
    #[arg(long)]
    json: bool,
}

impl Get {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (_, servers) = found(common)?;
        tell_problems(&servers);
        let named = named(&servers, &self.name)?;
        if self.json {
            return output::print_json(&named.iter().map(|server| list::json(server)).collect());
        }
        let texts: Vec<String> = named.iter().map(|server| text(server)).collect();
        output::print(&texts.join("\n"))
    }
}

fn text(server: &Server) -> String {
    let mut rows = Rows(vec![vec![server.name.clone()]]);
    rows.add("scope", server.scope.word());
    rows.add("file", place(&server.origin));
    rows.add("transport", kind(server));
    if let Some(written) = &server.written {
        rows.server(&shown(written));
    }
    rows.add("approval", server.approval.word());
    match &server.standing {
        Standing::Used(_) => rows.add("state", "used"),
        Standing::Left(left) => rows.add("state", format!("{}: {}", left.word(), left.why(&server.name))),
    }
    lines(&[Side::Left; 2], &rows.0)
}

struct Rows(Vec<Vec<String>>);

impl Rows {
    fn add(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push(vec![format!("  {key}"), value]);
        }
    }

    fn server(&mut self, server: &McpServer) {
        let words = server.command.iter().chain(&server.args);
        self.add("command", words.map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        self.add("url", server.url.clone().unwrap_or_default());
        self.secrets("env", "=", &server.env);
        self.secrets("header", ": ", &server.headers);
        self.add("cwd", server.cwd.clone().unwrap_or_default());
        self.add("timeout", server.timeout.map(|wait| wait.to_string()).unwrap_or_default());
        self.add("start timeout", server.start_timeout.map(|wait| wait.to_string()).unwrap_or_default());
        self.add("only tools", server.enabled_tools.clone().unwrap_or_default().join(", "));
        self.add("not tools", server.disabled_tools.join(", "));
    }

    fn secrets(&mut self, key: &str, between: &str, all: &BTreeMap<String, SecretText>) {
        for (name, text) in all {
            // What is shown is no secret any more.
            self.add(key, format!("{name}{between}{}", text.0.reveal()));
        }
    }
}
