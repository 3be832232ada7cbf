//! What a project's own files may say before the user trusts the folder.
//!
//! They come with a repository that anybody may have written. Until the folder is trusted they may only choose among
//! what the user has: which of the user's providers serve which request, and how it looks. They can't add or change a
//! provider, loosen a permission, start a command, or refer to variables, files and keys of the user.

mod answers;
mod brought;
mod kept;

pub use answers::{TrustError, decline_trust, set_trusted, trust_answer};
pub(crate) use answers::{existing, real};
pub use brought::trust_root;
pub(crate) use kept::{keep_rules, kept, reaches};

use std::path::Path;

use kept::{Left, only_kept, only_kept_servers};

use crate::hijack::EnvSource;
use crate::reference::{Keep, Reference, walk};
use crate::regular::read_text;
use crate::tree::{Node, Value};
use crate::way::Way;
use crate::{
    EnvFileFound, FileFound, Inputs, Kept, Layer, Origin, Place, Places, Problem, Trusted, load, read,
};

/// Sections that choose among what the user has.
pub(crate) const HARMLESS: &[&str] = &["router", "security", "aliases", "models", "tui"];

/// Whether what a project says counts in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProjectTrust {
    /// The user trusts the folder.
    Trusted,
    /// The user does not.
    Untrusted,
    /// As `trust.json` in the state folder has it.
    #[default]
    Stored,
}

/// Something that a project's file says and may not say before the folder is trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// Where it says so.
    pub origin: Origin,
    /// The path of the key; empty for a whole `.env` file.
    pub key: String,
    /// What it could do then, after "it may".
    pub may: &'static str,
}

const REFERS: &str = "read variables, files and keys of yours";
const ENV_FILE: &str = "name providers, aliases and keys in the environment form";

/// What a section can do that a project may not do by itself.
fn could(section: &str) -> &'static str {
    match section {
        "providers" => "send your requests to servers of its choice",
        "permissions" => "change what the agent does without asking",
        "hooks" => "run commands at certain moments of a session",
        "mcp" => "start commands, and offer their tools to the model",
        "memory" => "choose where memories are kept",
        "gateway" => "change where the gateway listens and what it keeps",
        "discovery" => "choose where model servers are looked for",
        _ => "change how the agent works",
    }
}

/// Takes out what an untrusted project may not say, and tells what it was. Rules that the user allowed there stay.
pub(crate) fn restrict(tree: &mut Node, kept: Option<&Kept>) -> Vec<Problem> {
    let refused = take_out(tree, kept).into_iter().map(|Wish { origin, key, may }| {
        let what = match may {
            REFERS => "a project may not read variables, files or keys of yours".to_owned(),
            _ => format!("a project may say only {} by itself", listed()),
        };
        let text = format!(
            "ignored, since this folder is not trusted: {what}; trust the folder with `rail config trust`, or write it to your own configuration"
        );
        Problem::new(&origin, key, text)
    });
    refused.collect()
}

fn take_out(tree: &mut Node, kept: Option<&Kept>) -> Vec<Wish> {
    let mut wishes = Vec::new();
    if let Value::Table(table) = &mut tree.value {
        table.retain(|key, member| {
            let is_harmless = HARMLESS.contains(&key.as_str());
            // An unknown key is no danger, and the check has better words for it.
            let is_known = crate::schema::Shape::root().keys().any(|(known, _)| known == key);
            let left = match (key.as_str(), kept) {
                ("permissions", _) => only_kept(&mut member.node, kept.map_or(&[], |kept| &kept.rules)),
                ("mcp", Some(kept)) => only_kept_servers(&mut member.node, kept),
                _ => Left::Nothing,
            };
            if !is_harmless && is_known && left != Left::All {
                let key_path = Way::from([key.as_str()]).to_string();
                wishes.push(Wish { origin: member.key.clone(), key: key_path, may: could(key) });
            }
            is_harmless || !is_known || left != Left::Nothing
        });
    }
    walk(tree, &Way::default(), &mut |node, way| {
        // What is left of the servers is what the user added, references and all.
        if way.keys().first() == Some(&"mcp") {
            return Keep::Yes;
        }
        let refers = node.text().is_some_and(|text| Reference::parse(&text.value).is_some());
        if refers {
            wishes.push(Wish { origin: node.origin.clone(), key: way.to_string(), may: REFERS });
        }
        if refers { Keep::No } else { Keep::Yes }
    });
    wishes
}

fn listed() -> String {
    let names: Vec<String> = HARMLESS.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// What the files of the project in the working folder say that counts only when the folder is trusted: our own, and those that other
/// agents read as well.
///
/// A file that can't be read says nothing here; loading tells what is wrong with it.
pub fn trust_wishes(inputs: &Inputs) -> Vec<Wish> {
    let checked = load::check(inputs);
    let kept = kept(inputs, checked.places.as_ref()).unwrap_or_default();
    let mut wishes = Vec::new();
    for file in checked.files.iter().filter(|file| file.layer.is_project()) {
        let Ok(text) = read_text(&file.path) else { continue };
        let Ok(mut tree) = read::read(file.layer, &file.path, &text) else { continue };
        wishes.append(&mut take_out(&mut tree, file.layer.kept(&kept)));
    }
    let env = checked.env_files.into_iter().find(|file| file.source == EnvSource::Project);
    if let Some(EnvFileFound { path, found: FileFound::Read, .. }) = env {
        wishes.push(Wish { origin: whole(&path), key: String::new(), may: ENV_FILE });
    }
    if let Some(root) = trust_root(&inputs.env, &inputs.working_folder) {
        wishes.append(&mut brought::wishes(&root));
        wishes.append(&mut brought::list_wishes(inputs, &root));
    }
    wishes.sort_by(|one, other| one.origin.cmp(&other.origin));
    wishes
}

/// Whether the user trusts the project's folder. What can't be read is no trust.
pub(crate) fn trusted(inputs: &Inputs, places: Option<&Places>, warnings: &mut Vec<Problem>) -> Trusted {
    match inputs.trust {
        ProjectTrust::Trusted => return Trusted::Yes,
        ProjectTrust::Untrusted => return Trusted::No,
        ProjectTrust::Stored => {}
    }
    let Some((places, root)) = places.zip(trust_root(&inputs.env, &inputs.working_folder)) else {
        return Trusted::No;
    };
    match trust_answer(places, &root) {
        Ok(answer) => answer.unwrap_or(Trusted::No),
        Err(TrustError::Broken { path }) => {
            let text = "it is no JSON list of folders, so that no folder is trusted; correct or remove it";
            warnings.push(load::whole_file(Layer::User, &path, text));
            Trusted::No
        }
        Err(TrustError::NoFolder { .. } | TrustError::BrokenAnswers { .. } | TrustError::Io { .. }) => {
            Trusted::No
        }
    }
}

/// Where a whole file stands.
fn whole(path: &Path) -> Origin {
    Origin::File { layer: Layer::Project, file: path.into(), at: Place { line: 1, column: 1 } }
}
