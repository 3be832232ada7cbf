//! `rail mcp list`.

use clap::Args;
use rail_config::Origin;
use rail_config::mcp::{Server, Servers, Standing, shown};
use serde_json::{Value, json};

use super::{found, kind, state, tell_problems, told};
use crate::setup::Common;
use crate::table::{Side, lines};
use crate::{Failure, output};

/// What is said where there is nothing.
const NONE: &str =
    "there are no MCP servers; add one with `rail mcp add NAME -- COMMAND` or `rail mcp add NAME URL`";
/// So much of a command is shown.
const WIDTH: usize = 60;

#[derive(Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (_, servers) = found(common)?;
        tell_problems(&servers);
        if self.json {
            return output::print_json(&servers.found.iter().map(json).collect());
        }
        output::print(&listed(&servers))
    }
}

/// The list, for people.
pub(crate) fn listed(servers: &Servers) -> String {
    if servers.found.is_empty() {
        return format!("{NONE}\n");
    }
    let mut rows = vec![["name", "scope", "transport", "state", "what"].map(str::to_owned).into()];
    rows.extend(servers.found.iter().map(row));
    let mut text = lines(&[Side::Left; 5], &rows);
    let left: Vec<String> = servers
        .left_out()
        .map(|(server, left)| {
            format!("{} ({}): {}\n", server.name, server.scope.word(), left.why(&server.name))
        })
        .collect();
    if !left.is_empty() {
        text += &format!("\nNot used:\n{}", left.concat());
    }
    text
}

fn row(server: &Server) -> Vec<String> {
    let what = server.written.as_ref().map(told).unwrap_or_default();
    let what = match what.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", what.get(..at).unwrap_or_default()),
        None => what,
    };
    let words = [server.name.as_str(), server.scope.word(), kind(server), state(server), &what];
    words.map(str::to_owned).into()
}

/// All that is known of a server, and no secret.
pub(super) fn json(server: &Server) -> Value {
    let Server { name, scope, origin, approval, standing, written, .. } = server;
    let (file, line) = match origin {
        Origin::File { file, at, .. } => (Some(file.display().to_string()), Some(at.line)),
        Origin::BuiltIn | Origin::Found(_) | Origin::Variable(_) | Origin::Flag(_) => (None, None),
    };
    let why = match standing {
        Standing::Used(_) => None,
        Standing::Left(left) => Some(left.why(name)),
    };
    let mut all = json!({
        "name": name,
        "scope": scope.word(),
        "transport": kind(server),
        "approval": approval.word(),
        "state": state(server),
        "why": why,
        "origin": origin.brief(),
        "file": file,
        "line": line,
    });
    if let (Value::Object(all), Some(written)) = (&mut all, written) {
        let shown = shown(written);
        let texts = |map: &std::collections::BTreeMap<String, rail_config::settings::SecretText>| -> Value {
            // What is shown is no secret any more.
            map.iter().map(|(name, text)| (name.clone(), Value::from(text.0.reveal()))).collect()
        };
        all.insert("command".to_owned(), shown.command.into());
        all.insert("args".to_owned(), shown.args.into());
        all.insert("env".to_owned(), texts(&shown.env));
        all.insert("cwd".to_owned(), shown.cwd.into());
        all.insert("url".to_owned(), shown.url.into());
        all.insert("headers".to_owned(), texts(&shown.headers));
    }
    all
}
