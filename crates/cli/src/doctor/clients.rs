//! The clients that `rail run` starts: which are here, and where their own settings lead.

use std::path::PathBuf;

use super::Cx;
use super::check::{Check, State};
use super::pointers::elsewhere;
use super::programs::{find, versions};
use crate::run::{CLIENTS, Client};

/// One check for each client that is here.
pub(super) fn installed(cx: &Cx) -> Vec<Check> {
    let here: Vec<(&Client, PathBuf)> = CLIENTS
        .into_iter()
        .filter_map(|client| find(&cx.inputs.env, client.name).map(|path| (client, path)))
        .collect();
    let paths: Vec<PathBuf> = here.iter().map(|(_, path)| path.clone()).collect();
    let versions = versions(cx, &paths);
    here.iter().zip(versions).map(|((client, path), version)| one(cx, client, path, version)).collect()
}

fn one(cx: &Cx, client: &Client, path: &std::path::Path, version: Result<String, String>) -> Check {
    let (name, shown) = (client.name, cx.shown(path));
    let version = match version {
        Ok(version) => version,
        Err(why) => {
            return Check::new(name, State::Warning, format!("{shown} does not run: {why}"))
                .with_fix(format!("install it anew: npm install -g {}", client.package));
        }
    };
    let mut says = format!("{version}, {shown}");
    let elsewhere = elsewhere(cx, name);
    if elsewhere.is_empty() {
        return Check::ok(name, says);
    }
    for pointer in &elsewhere {
        says += &format!("\nby itself it goes elsewhere: {pointer}");
    }
    Check::new(name, State::Warning, says).with_fix(format!(
        "nothing, if you start it by `rail run {name}`, which leads it past this; else take it out"
    ))
}

/// Those that are not here, in one line.
pub(super) fn missing(cx: &Cx) -> Vec<Check> {
    let missing: Vec<&Client> =
        CLIENTS.into_iter().filter(|client| find(&cx.inputs.env, client.name).is_none()).collect();
    let names: Vec<&str> = missing.iter().map(|client| client.name).collect();
    match missing.first() {
        None => Vec::new(),
        Some(first) => {
            let fix = format!("to use one, install it, such as by `npm install -g {}`", first.package);
            vec![Check::skipped("not installed", names.join(", ")).with_fix(fix)]
        }
    }
}
