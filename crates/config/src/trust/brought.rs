//! What a project brings that agents run, besides our own files.

use std::fs;
use std::path::{Path, PathBuf};

use super::kept::reaches;
use super::{Wish, could, whole};
use crate::env::{candidates, found_project};
use crate::import::read_json;
use crate::regular::read_text;
use crate::{Env, Inputs, PROJECT_FOLDER};

/// A file, the key in it that can run something, and the section of ours that it is like.
const FILES: [(&str, &str, &str); 4] = [
    (".mcp.json", "mcpServers", "mcp"),
    (".mcprc", "", "mcp"),
    (".claude/settings.json", "hooks", "hooks"),
    (".claude/settings.local.json", "hooks", "hooks"),
];

/// A folder in the project's own whose files are programs.
const TOOLS: &str = "tools";
const MAY_RUN: &str = "run programs that it brings as tools";

/// The folder of the project that is trusted or not: the one that holds `.switchrail`, else the nearest that brings what other agents
/// read; None where there is neither. What other agents read in the home itself is the user's own.
pub fn trust_root(env: &Env, working_folder: &Path) -> Option<PathBuf> {
    let home = env.home();
    if let Some(project) = found_project(working_folder, home) {
        return project.parent().map(Path::to_owned);
    }
    let folders = candidates(working_folder, home).filter_map(|inner| inner.parent().map(Path::to_owned));
    let brings = |folder: &PathBuf| FILES.iter().any(|(file, ..)| folder.join(file).is_file());
    folders.filter(|folder| Some(folder.as_path()) != home).find(brings)
}

/// What the files of a folder could do that are not our configuration.
pub(super) fn wishes(root: &Path) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for (file, key, like) in FILES {
        let path = root.join(file);
        let Ok(text) = read_text(&path) else { continue };
        if says(&text, key) {
            wishes.push(Wish { origin: whole(&path), key: key.to_owned(), may: could(like) });
        }
    }
    let tools = root.join(PROJECT_FOLDER).join(TOOLS);
    if fs::read_dir(&tools).is_ok_and(|mut entries| entries.next().is_some()) {
        wishes.push(Wish { origin: whole(&tools), key: String::new(), may: MAY_RUN });
    }
    wishes
}

/// The same of lists of MCP servers in other folders that the trust of this one reaches.
pub(super) fn list_wishes(inputs: &Inputs, root: &Path) -> Vec<Wish> {
    let lists = crate::mcp::brought(inputs).into_iter().filter(|path| {
        let folder = path.parent();
        folder.is_some_and(|folder| folder != root && folder.starts_with(root) && reaches(root, folder))
    });
    let says_something = lists.filter(|path| {
        let is_list = |(file, ..): &&(&str, &str, &str)| path.file_name().is_some_and(|name| name == *file);
        let key = FILES.iter().find(is_list).map_or("", |(_, key, _)| key);
        read_text(path).is_ok_and(|text| says(&text, key))
    });
    says_something.map(|path| Wish { origin: whole(&path), key: String::new(), may: could("mcp") }).collect()
}

/// Whether a file says something under a key. One that can't be read may be readable for others.
fn says(text: &str, key: &str) -> bool {
    let Ok(value) = read_json(text) else { return !text.trim().is_empty() };
    let value = if key.is_empty() { Some(&value) } else { value.get(key) };
    value.is_some_and(|value| match value {
        serde_json::Value::Object(map) => !map.is_empty(),
        serde_json::Value::Array(list) => !list.is_empty(),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::String(_) => false,
    })
}
