//! What a project's own files may say before the user trusts the folder.
//!
//! They come with a repository that anybody may have written. Until the folder is trusted they may only choose among
//! what the user has: which of the user's providers serve which request, and how it looks. They can't add or change a
//! provider, loosen a permission, start a command, or refer to variables, files and keys of the user.

use crate::reference::{Keep, Reference, walk};
use crate::tree::{Node, Value};
use crate::way::Way;
use crate::{Origin, Problem};

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

/// Takes out what an untrusted project may not say, and tells what it was.
pub(crate) fn restrict(tree: &mut Node) -> Vec<Problem> {
    let mut refused = Vec::new();
    let mut refuse = |origin: &Origin, key: String, what: &str| {
        let text = format!(
            "ignored, since this folder is not trusted: {what}; trust the folder, or write it to your own configuration"
        );
        refused.push(Problem::new(origin, key, text));
    };
    if let Value::Table(table) = &mut tree.value {
        table.retain(|key, member| {
            let is_harmless = HARMLESS.contains(&key.as_str());
            // An unknown key is no danger, and the check has better words for it.
            let is_known = crate::schema::Shape::root().keys().any(|(known, _)| known == key);
            if !is_harmless && is_known {
                let what = format!("a project may say only {} by itself", listed());
                refuse(&member.key, Way::from([key.as_str()]).to_string(), &what);
            }
            is_harmless || !is_known
        });
    }
    walk(tree, &Way::default(), &mut |node, way| {
        let refers = node.text().is_some_and(|text| Reference::parse(&text.value).is_some());
        if refers {
            refuse(&node.origin, way.to_string(), "a project may not read variables, files or keys of yours");
        }
        if refers { Keep::No } else { Keep::Yes }
    });
    refused
}

fn listed() -> String {
    let names: Vec<String> = HARMLESS.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
