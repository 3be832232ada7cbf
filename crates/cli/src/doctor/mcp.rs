//! MCP servers: whether they may be used, and whether their programs are there. None is started.

use std::path::Path;

use rail_config::mcp::{Left, Reach, Standing, Which, servers};

use super::Cx;
use super::check::{Check, State};
use super::programs::{find, is_program};

pub(super) fn configured(cx: &Cx) -> Vec<Check> {
    let Some(loaded) = &cx.checked.loaded else { return Vec::new() };
    let all = servers(&cx.inputs, loaded, &[], Which::All);
    let mut checks: Vec<Check> = Vec::new();
    for problem in &all.problems {
        checks.push(Check::of_message("MCP servers", State::Problem, &problem.to_string()));
    }
    for server in &all.found {
        let name = format!("MCP {}", server.name);
        match &server.standing {
            Standing::Used(spec) => checks.push(reached(cx, name, &spec.reach)),
            Standing::Left(Left::Shadowed { .. } | Left::Disabled(_) | Left::Rejected) => {}
            Standing::Left(left) => {
                checks.push(Check::of_message(name, State::Warning, &left.why(&server.name)));
            }
        }
    }
    checks
}

fn reached(cx: &Cx, name: String, reach: &Reach) -> Check {
    match reach {
        Reach::Stdio { command, cwd, .. } => {
            let is_path = command.contains('/');
            let path = if is_path {
                Some(cwd.join(Path::new(command))).filter(|path| is_program(path))
            } else {
                find(&cx.inputs.env, command)
            };
            match path {
                Some(path) => Check::ok(name, cx.shown(&path)),
                None if is_path => Check::new(name, State::Problem, format!("{command} is no program"))
                    .with_fix("correct its path where the server is configured"),
                None => Check::new(name, State::Problem, format!("`{command}` is not on the PATH"))
                    .with_fix("install it, or write its whole path where the server is configured"),
            }
        }
        Reach::Http { url, .. } | Reach::Sse { url, .. } => Check::ok(name, rail_config::shown_address(url)),
    }
}
