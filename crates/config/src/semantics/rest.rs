use std::time::Duration;

use crate::mcp::{wrong_name, wrong_server};
use crate::settings::{Generation, SecretText, Size};
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
    for (at, name) in settings.agent.memory_files.iter().enumerate() {
        if !is_file_name(name) {
            let way = Way::from(["agent", "memory_files", &at.to_string()]);
            found.problems.push(
                input.problem(&way, "this is no file's name; write it without a folder, such as `AGENTS.md`"),
            );
        }
    }
    for (name, server) in &settings.mcp.servers {
        let way = Way::from(["mcp", "servers", name]);
        if !input.is_broken(&way) {
            found.problems.extend(wrong_server(server).map(|text| input.key_problem(&way, text)));
        }
        let wrong = wrong_name(name).map(|why| format!("this server is left out: {why}"));
        found.warnings.extend(wrong.map(|text| input.key_problem(&way, text)));
    }
    if settings.memory.url.as_ref().is_some_and(is_no_database) {
        found.problems.push(input.problem(&Way::from(["memory", "url"]), NO_DATABASE));
    }
    check_gateway(input, found);
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

const NO_DATABASE: &str =
    "this is no PostgreSQL database; write `postgres://user@host/name`, or remove it to use files";

fn is_no_database(url: &SecretText) -> bool {
    let scheme = url.0.reveal().split("://").next().unwrap_or_default();
    !matches!(scheme, "postgres" | "postgresql")
}

/// The smallest head that clients get along with.
const SMALLEST_HEAD: Size = Size(8_192);

fn check_gateway(input: &Input<'_>, found: &mut Found) {
    let gateway = &input.settings.gateway;
    if gateway.ledger.as_ref().is_some_and(is_no_database) {
        found.problems.push(input.problem(&Way::from(["gateway", "ledger"]), NO_DATABASE));
    }
    for (key, wait) in [("head_wait", gateway.limits.head_wait), ("body_wait", gateway.limits.body_wait)] {
        if wait.0.is_zero() {
            let text = "no client is that quick; write a longer time, such as \"60s\"";
            found.problems.push(input.problem(&Way::from(["gateway", "limits", key]), text));
        }
    }
    if gateway.keep_alive.0 < Duration::from_millis(100) {
        let text = "this would send nothing but signs of life; write at least \"100ms\"";
        found.problems.push(input.problem(&Way::from(["gateway", "keep_alive"]), text));
    }
    if gateway.limits.head < SMALLEST_HEAD {
        let text = "clients send more than that in their headers; write at least \"9KB\"";
        found.problems.push(input.problem(&Way::from(["gateway", "limits", "head"]), text));
    }
    for (at, host) in gateway.hosts.iter().enumerate() {
        if host.is_empty() || host.contains(['/', ':', '*', ' ', '@']) {
            let text = "this is no host's name; write it alone, such as `gateway.example.com`";
            found.problems.push(input.problem(&Way::from(["gateway", "hosts", &at.to_string()]), text));
        }
    }
}
