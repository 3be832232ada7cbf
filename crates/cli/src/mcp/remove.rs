//! `rail mcp remove`.

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use rail_config::Origin;
use rail_config::mcp::{self, McpScope, Server};

use super::{add, found, named, place};
use crate::setup::Common;
use crate::{Failure, output};

/// Where a server can be taken out of.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    Local,
    Project,
    Mcprc,
    User,
}

impl From {
    fn has(self, scope: McpScope) -> bool {
        match self {
            Self::Local => scope == McpScope::Local,
            Self::Project => matches!(scope, McpScope::Project | McpScope::ProjectConfig),
            Self::Mcprc => scope == McpScope::Mcprc,
            Self::User => scope == McpScope::User,
        }
    }
}

#[derive(Args)]
pub(crate) struct Remove {
    /// Its name.
    name: String,
    /// The file that it is taken out of, if several have it.
    #[arg(short, long, value_name = "SCOPE")]
    scope: Option<From>,
}

impl Remove {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (inputs, servers) = found(common)?;
        let all = named(&servers, &self.name)?;
        let is_meant = |server: &&&Server| self.scope.is_none_or(|from| from.has(server.scope));
        let in_files = |server: &&&Server| matches!(server.origin, Origin::File { .. });
        let meant: Vec<&Server> = all.iter().filter(is_meant).filter(in_files).copied().collect();
        let places = |servers: &[&Server]| {
            let told =
                servers.iter().map(|server| format!("{} ({})", server.scope.word(), place(&server.origin)));
            told.collect::<Vec<_>>().join(", ")
        };
        let name = &self.name;
        match meant.as_slice() {
            [one] => {
                let edited = mcp::remove(&inputs, one).map_err(add::failure)?;
                output::print(&format!("removed `{name}` from {}\n", edited.path.display()))
            }
            [] => Err(Failure::Task(anyhow!(
                "`{name}` does not stand there, but here: {}; say where with `-s`",
                places(&all)
            ))),
            [_, _, ..] if self.scope.is_some() => Err(Failure::Task(anyhow!(
                "`{name}` stands in several files of that scope: {}; take it out of one of them by hand",
                places(&meant)
            ))),
            [_, _, ..] => Err(Failure::Usage(anyhow!(
                "`{name}` stands in several places: {}; say which is meant with `-s`",
                places(&meant)
            ))),
        }
    }
}
