//! `rail mcp approve` and `rail mcp reject`.

use anyhow::anyhow;
use clap::Args;
use rail_config::Places;
use rail_config::mcp::{Approval, Left, McpAnswer, Server, Standing, answer_mcp};

use super::{found, named, place, places, tell_problems, told};
use crate::setup::Common;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Approve {
    /// Their names.
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// All that wait for approval now.
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

#[derive(Args)]
pub(crate) struct Reject {
    /// Their names.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

impl Approve {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (inputs, servers) = found(common)?;
        tell_problems(&servers);
        let places = places(&inputs)?;
        let chosen: Vec<&Server> = if self.all {
            let mut chosen: Vec<&Server> = Vec::new();
            for server in servers.found.iter().filter(|server| waits(server)) {
                // Of one name the strongest is meant; a weaker one would take the place of its answer.
                if !chosen.iter().any(|there| there.name == server.name) {
                    chosen.push(server);
                }
            }
            chosen
        } else {
            let named = self.names.iter().map(|name| strongest(named(&servers, name)?, name));
            named.collect::<Result<_, Failure>>()?
        };
        if chosen.is_empty() {
            return output::print("no MCP server waits for approval\n");
        }
        for server in chosen {
            let Some(written) = &server.written else {
                let why = format!(
                    "`{}` can't be understood and not be approved; see `rail mcp get {}`",
                    server.name, server.name
                );
                return Err(Failure::Task(anyhow!(why)));
            };
            keep(&places, server, McpAnswer::Approved(server.content.clone()))?;
            output::print(&format!(
                "approved `{}` ({}): {}\n",
                server.name,
                place(&server.origin),
                told(written)
            ))?;
            if let Standing::Left(left @ Left::Untrusted { .. }) = &server.standing {
                output::tell(&format!("`{}` is not used yet: {}", server.name, left.why(&server.name)));
            }
        }
        Ok(())
    }
}

impl Reject {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (inputs, servers) = found(common)?;
        let places = places(&inputs)?;
        for name in &self.names {
            let server = strongest(named(&servers, name)?, name)?;
            keep(&places, server, McpAnswer::Rejected)?;
            output::print(&format!(
                "rejected `{name}` ({}); it is not used, whatever it comes to say\n",
                place(&server.origin)
            ))?;
        }
        Ok(())
    }
}

fn waits(server: &Server) -> bool {
    server.approval == Approval::Pending && server.written.is_some()
}

/// The strongest that a project brings.
fn strongest<'a>(named: Vec<&'a Server>, name: &str) -> Result<&'a Server, Failure> {
    let brought = named.into_iter().find(|server| server.scope.is_brought());
    brought.ok_or_else(|| {
        Failure::Task(anyhow!(
            "`{name}` is your own and needs no approval; `rail mcp remove {name}` takes it away"
        ))
    })
}

fn keep(places: &Places, server: &Server, answer: McpAnswer) -> Result<(), Failure> {
    let folder = server.folder.clone().unwrap_or_default();
    answer_mcp(places, &folder, &server.name, answer).map_err(|error| Failure::Task(anyhow!("{error}")))
}
