//! `rail permit`: what the permission rules say.

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use rail_permit::{Asked, Exec, Facet, Held, Level};
use rail_tool::FacetCx;

use crate::permission::{PermissionFlags, workspace};
use crate::setup::Common;
use crate::{Failure, output};

#[derive(Subcommand)]
pub(crate) enum PermitCommand {
    /// What the rules say to a shell command or a tool call, and which of them decided.
    Explain(Explain),
}

#[derive(Args)]
pub(crate) struct Explain {
    /// The shell command.
    #[arg(value_name = "COMMAND", required_unless_present = "tool")]
    command: Option<String>,
    /// A tool instead of a command, by any of its names.
    #[arg(long, value_name = "NAME", conflicts_with = "command", requires = "input")]
    tool: Option<String>,
    /// The tool's input, as JSON.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: PermissionFlags,
}

impl PermitCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Explain(explain) => explain.run(common),
        }
    }
}

impl Explain {
    fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        let loaded = rail_config::load(&inputs).map_err(crate::setup::wrong)?;
        let registry = rail_tools::registry();
        let policy = self.flags.policy(&loaded, &inputs.env, &registry)?;
        let cwd = workspace()?;
        let (tool, level, facets) = match (&self.command, &self.tool) {
            (Some(command), _) => {
                let exec = Exec { command: command.clone(), cwd: cwd.clone(), held: Held::Sandbox };
                ("bash", Level::Execute, vec![Facet::Exec(exec)])
            }
            (None, Some(name)) => {
                let call = registry.read_call(name, self.input.as_deref().unwrap_or("{}"));
                let (tool, arguments) = call.map_err(|fault| Failure::Usage(anyhow!("{fault}")))?;
                let card = tool.card();
                let admitted = tool.admit(arguments).map_err(|fault| Failure::Usage(anyhow!("{fault}")))?;
                let (home, confine) = (policy.home.as_deref(), self.flags.confine());
                let cx = FacetCx { cwd: &cwd, home, skills: &[], confine };
                (card.name, card.level, admitted.facets(&cx))
            }
            (None, None) => {
                return Err(Failure::Usage(anyhow!(
                    "say a command, or a tool by `--tool NAME --input JSON`"
                )));
            }
        };
        let asked = Asked { tool, level, facets: &facets };
        let explained = rail_permit::explain(&policy, &asked, &rail_tool::Disk);
        if self.json {
            let value =
                serde_json::to_value(&explained).context("the explanation can't be written as JSON")?;
            return output::print_json(&value);
        }
        output::print(&format!("{explained}"))
    }
}
