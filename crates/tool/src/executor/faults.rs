//! What a model is told of a call that can't be run, in the names of its dialect.

use rail_repair::{CallFault, Problem};

use super::Executor;
use crate::words::Names;

impl Executor {
    /// Why a call can't be run, and what to do instead.
    pub(super) fn told(&self, fault: CallFault) -> String {
        let tool = |native: &str| self.spoken.tool(native).to_owned();
        let fault = match fault {
            CallFault::Unknown { name, closest } if closest.is_empty() => {
                let shown = self.registry.in_dialect(self.spoken.dialect().name());
                let names: Vec<&str> = shown.map(|tool| self.spoken.tool(tool.card().name)).collect();
                return format!("there is no tool `{name}`; there are `{}`", names.join("`, `"));
            }
            CallFault::Unknown { name, closest } => {
                CallFault::Unknown { name, closest: closest.iter().map(|native| tool(native)).collect() }
            }
            CallFault::Incomplete { name } => CallFault::Incomplete { name: tool(&name) },
            CallFault::Malformed { name, why } => CallFault::Malformed { name: tool(&name), why },
            CallFault::Invalid { mut settled, problems } => {
                let names = self.spoken.names(&settled.call.name);
                let problems = problems.into_iter().map(|problem| renamed(problem, &names)).collect();
                settled.call.name = tool(&settled.call.name);
                CallFault::Invalid { settled, problems }
            }
        };
        fault.to_string()
    }

    /// A parameter, or a place in one, as the dialect calls it.
    pub(super) fn parameter(&self, tool: &str, path: &str) -> String {
        renamed_path(path, &self.spoken.names(tool))
    }
}

fn renamed(problem: Problem, names: &Names<'_>) -> Problem {
    let Problem { path, what } = problem;
    // The parameters that there are; nothing else in it is a name.
    let what = match what.strip_prefix(PARAMETERS) {
        Some(known) => format!("{PARAMETERS}{}", crate::words::renamed(known, names)),
        None => what,
    };
    Problem { path: renamed_path(&path, names), what }
}

const PARAMETERS: &str = "is not a parameter; there are: ";

fn renamed_path(path: &str, names: &Names<'_>) -> String {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at_checked(end).unwrap_or((path, ""));
    format!("{}{rest}", names.own(name).unwrap_or(name))
}
