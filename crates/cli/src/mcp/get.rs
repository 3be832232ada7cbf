//! `rail mcp get`.

use std::collections::BTreeMap;

use clap::Args;
use rail_config::mcp::{Server, Standing, Which, servers, shown};
use rail_config::settings::{McpServer, SecretText};
use rail_mcp::auth::{AuthError, Status};
use serde_json::{Value, json};

use super::hub::Logins;
use super::{kind, list, login, named, place, quoted, tell_problems};
use crate::setup::{Common, wrong};
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
        let inputs = common.inputs()?;
        let loaded = rail_config::load(&inputs).map_err(wrong)?;
        let servers = servers(&inputs, &loaded, &[], Which::All);
        tell_problems(&servers);
        let logins = Logins::new(&loaded, &inputs.env);
        let named = named(&servers, &self.name)?;
        if self.json {
            return output::print_json(&named.iter().map(|server| json(server, &logins)).collect());
        }
        let texts: Vec<String> = named.iter().map(|server| text(server, &logins)).collect();
        output::print(&texts.join("\n"))
    }
}

/// How things stand with the login to a server; None of one that has none.
fn status(server: &Server, logins: &Logins) -> Option<Result<Status, AuthError>> {
    let Standing::Used(spec) = &server.standing else { return None };
    Some(logins.of(spec)?.and_then(|tokens| tokens.status()))
}

fn json(server: &Server, logins: &Logins) -> Value {
    let mut all = list::json(server);
    if let (Value::Object(all), Some(status)) = (&mut all, status(server, logins)) {
        let login = match status {
            Err(error) => json!({"state": "unknown", "why": error.to_string()}),
            Ok(Status::LoggedOut) => json!({"state": "none"}),
            Ok(Status::Expired) => json!({"state": "ended"}),
            Ok(Status::NeedsScope(scope)) => json!({"state": "needs scope", "scope": scope}),
            Ok(Status::LoggedIn { issuer, scope, expires, renewable }) => json!({
                "state": "logged in",
                "issuer": issuer,
                "scope": scope,
                "expires": expires,
                "renewable": renewable,
            }),
        };
        all.insert("login".to_owned(), login);
    }
    all
}

fn text(server: &Server, logins: &Logins) -> String {
    let mut rows = Rows(vec![vec![server.name.clone()]]);
    rows.add("scope", server.scope.word());
    rows.add("file", place(&server.origin));
    rows.add("transport", kind(server));
    if let Some(written) = &server.written {
        rows.server(&shown(written));
    }
    match status(server, logins) {
        Some(Ok(status)) => rows.add("login", login::told(&status)),
        Some(Err(error)) => rows.add("login", format!("not possible: {error}")),
        None => {}
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
