//! Rules that the user allowed for always in a folder that is not trusted: `allowed.json` in the state folder.
//!
//! The rules stand in the project-local file as all others do; this list says which of those there are the user's own. So whatever
//! comes into the folder later, with a pull or a copy, is no more trusted than before.

use std::path::{Path, PathBuf};

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

use super::answers::real;
use super::{ProjectTrust, TrustError, trust_root};
use crate::mcp::{Approval, McpAnswers, content, layered_server, of_layer};
use crate::regular::{is_missing, read_text};
use crate::tree::{Member, Node, Value};
use crate::{Inputs, Kept, Layer, Places};

/// What the user allowed in one folder.
#[derive(Clone, Serialize, Deserialize)]
struct Folder {
    folder: PathBuf,
    rules: Vec<String>,
}

/// What the user allowed for always, and added, in the project of the working folder.
///
/// # Errors
/// A list is there and can't be read.
pub(crate) fn kept(inputs: &Inputs, places: Option<&Places>) -> Result<Kept, TrustError> {
    let root = trust_root(&inputs.env, &inputs.working_folder);
    let (Some(places), Some(root), ProjectTrust::Stored) = (places, root, inputs.trust) else {
        return Ok(Kept::default());
    };
    if !reaches(&root, &inputs.working_folder) {
        return Ok(Kept::default());
    }
    let root = real(&root);
    let here = stored(places)?.into_iter().filter(|kept| kept.folder == root).collect::<Vec<_>>().into_iter();
    let rules = here.flat_map(|kept| kept.rules).collect();
    Ok(Kept { rules, servers: Some((root, McpAnswers::stored(places)?)) })
}

/// Whether what is allowed at a root is allowed in a folder below it: in a repository, which is one thing. Else a folder of downloads would
/// speak for all that is unpacked in it.
pub(crate) fn reaches(root: &Path, folder: &Path) -> bool {
    root.join(".git").exists() || real(root) == real(folder)
}

/// Remembers that the user allowed these rules in a folder.
///
/// # Errors
/// The list can't be read or written.
pub(crate) fn keep_rules(places: &Places, folder: &Path, rules: &[String]) -> Result<(), TrustError> {
    let mut folders = stored(places)?;
    let folder = super::answers::existing(folder)?;
    if !folders.iter().any(|kept| kept.folder == folder) {
        folders.push(Folder { folder: folder.clone(), rules: Vec::new() });
    }
    for kept in folders.iter_mut().filter(|kept| kept.folder == folder) {
        let new = rules.iter().filter(|rule| !kept.rules.contains(rule)).cloned().collect::<Vec<_>>();
        kept.rules.extend(new);
    }
    folders.sort_by(|one, other| one.folder.cmp(&other.folder));
    write(places, &folders)
}

/// Forgets what was allowed in a folder; whether something was.
///
/// # Errors
/// The list can't be read or written.
pub(super) fn forget_rules(places: &Places, folder: &Path) -> Result<bool, TrustError> {
    let mut folders = stored(places)?;
    let (before, folder) = (folders.len(), real(folder));
    folders.retain(|kept| kept.folder != folder);
    if folders.len() == before {
        return Ok(false);
    }
    write(places, &folders).map(|()| true)
}

/// How much of a section is left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    Some,
    All,
}

/// Takes out of a `permissions` section all but rules that the user allowed.
pub(super) fn only_kept(permissions: &mut Node, kept: &[String]) -> Left {
    let Value::Table(table) = &mut permissions.value else { return Left::Nothing };
    let mut all = true;
    table.retain(|key, member| match &mut member.node.value {
        Value::List(rules) if key == "allow" => {
            let before = rules.len();
            rules.retain(|rule| rule.text().is_some_and(|text| kept.contains(&text.value)));
            all &= rules.len() == before;
            !rules.is_empty()
        }
        _ => {
            all = false;
            false
        }
    });
    match (all, table.is_empty()) {
        (true, _) => Left::All,
        (false, false) => Left::Some,
        (false, true) => Left::Nothing,
    }
}

/// Takes out of an `mcp` section all but servers that the user added.
pub(super) fn only_kept_servers(mcp: &mut Node, kept: &Kept) -> Left {
    let Some((folder, answers)) = &kept.servers else { return Left::Nothing };
    let Value::Table(table) = &mut mcp.value else { return Left::Nothing };
    let member = Member {
        key: mcp.origin.clone(),
        node: Node { origin: mcp.origin.clone(), value: Value::Table(table.clone()) },
    };
    let whole = Node { origin: mcp.origin.clone(), value: Value::Table([("mcp".to_owned(), member)].into()) };
    let is_kept = |name: &str| {
        let server = of_layer(Layer::ProjectLocal, &whole).into_iter().find(|server| server.name == name);
        let server = server.and_then(|server| layered_server(&server).ok());
        server.is_some_and(|server| answers.of(folder, name, &content(&server)) == Approval::Approved)
    };
    let mut all = true;
    table.retain(|key, member| match &mut member.node.value {
        Value::Table(servers) if key == "servers" => {
            let before = servers.len();
            servers.retain(|name, _| is_kept(name));
            all &= servers.len() == before;
            !servers.is_empty()
        }
        _ => {
            all = false;
            false
        }
    });
    match (all, table.is_empty()) {
        (true, _) => Left::All,
        (false, false) => Left::Some,
        (false, true) => Left::Nothing,
    }
}

fn stored(places: &Places) -> Result<Vec<Folder>, TrustError> {
    let path = places.allowed();
    match read_text(&path) {
        Ok(text) => serde_json::from_str(&text).map_err(|_| TrustError::Broken { path }),
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        Err(source) => Err(TrustError::Io { path, source }),
    }
}

fn write(places: &Places, folders: &[Folder]) -> Result<(), TrustError> {
    let path = places.allowed();
    let io = |source| TrustError::Io { path: path.clone(), source };
    let mut text = serde_json::to_string_pretty(folders).map_err(|error| io(error.into()))?;
    text.push('\n');
    replace(&path, text.as_bytes(), Access::Owner).map_err(io)
}
