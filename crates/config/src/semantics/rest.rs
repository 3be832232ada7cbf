use crate::settings::{Generation, McpServer, McpTransport};
use crate::way::Way;

use super::{Found, Input};

pub(super) fn check(input: &Input<'_>, found: &mut Found) {
    let settings = input.settings;
    if settings.agent.generation == Generation::Gen8 && !settings.features.gen8 {
        let way = Way::from(["agent", "generation"]);
        found.problems.push(
            input.problem(&way, "`gen8` is switched off; write gen8 = true under [features], or take `gen7`"),
        );
    }
    for (name, server) in &settings.mcp.servers {
        let way = Way::from(["mcp", "servers", name]);
        if !input.is_broken(&way) {
            found.problems.extend(wrong_server(server).map(|text| input.key_problem(&way, text)));
        }
    }
    if let Some(url) = &settings.memory.url {
        let scheme = url.0.reveal().split("://").next().unwrap_or_default();
        if !matches!(scheme, "postgres" | "postgresql") {
            let text = "this is no PostgreSQL database; write `postgres://user@host/name`, or remove it to use files";
            found.problems.push(input.problem(&Way::from(["memory", "url"]), text));
        }
    }
}

/// What does not fit together in a server.
fn wrong_server(server: &McpServer) -> Option<&'static str> {
    let is_local = match server.transport {
        Some(McpTransport::Stdio) => true,
        Some(McpTransport::Http | McpTransport::Sse) => false,
        None => server.url.is_none(),
    };
    match (is_local, &server.command, &server.url) {
        (_, Some(_), Some(_)) => Some("it has a `command` and a `url`; keep the one that it is reached by"),
        (true, None, None) => {
            Some("it has neither a `command` nor a `url`; write the one that it is reached by")
        }
        (true, None, Some(_)) => Some("`stdio` needs a `command`; write one, or take `http` for the `url`"),
        (false, _, None) => {
            Some("`http` and `sse` need a `url`; write one, or take `stdio` for the `command`")
        }
        (true, Some(_), None) | (false, None, Some(_)) => None,
    }
}
