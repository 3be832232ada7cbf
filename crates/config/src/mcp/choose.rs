//! Which of all servers are used. Pure: what was found comes in, each with whether it may be used goes out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::name::{plain_name, wrong_name};
use super::{Approval, Left, McpScope, Server, Spec, Standing};
use crate::Origin;
use crate::settings::{Mcp, McpServer};

/// A server of one place, as it was found.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) scope: McpScope,
    pub(crate) origin: Origin,
    /// The folder that brings it.
    pub(crate) folder: Option<PathBuf>,
    /// The folder that is to be trusted for that.
    pub(crate) to_trust: Option<PathBuf>,
    /// As it was written, or what is wrong with it.
    pub(crate) written: Result<McpServer, String>,
    pub(crate) content: String,
    pub(crate) trust: FolderTrust,
    pub(crate) approval: Approval,
}

/// Whether the folder that brings a server is trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FolderTrust {
    Trusted,
    Untrusted,
}

/// Says of each whether it is used; the strongest come first.
///
/// A server that may not be used leaves its name to a weaker one, so that no project can take a server of the user's away.
/// `make` is asked only for what will be used: it looks into variables and keys.
pub(crate) fn choose(
    mut found: Vec<Found>,
    settings: &Mcp,
    make: &dyn Fn(&Found, &McpServer) -> Result<Spec, String>,
) -> Vec<Server> {
    found.sort_by_key(|found| found.scope);
    let mut taken = Taken::default();
    let chosen = found.into_iter().map(|found| {
        let standing = match taken.left(&found, settings) {
            Some(left) => Standing::Left(left),
            None => match &found.written {
                Err(wrong) => Standing::Left(Left::Broken(wrong.clone())),
                Ok(written) => match make(&found, written) {
                    Ok(spec) => Standing::Used(Box::new(spec)),
                    Err(wrong) => Standing::Left(Left::Broken(wrong)),
                },
            },
        };
        taken.take(&found, &standing);
        let Found { name, scope, origin, folder, written, content, approval, .. } = found;
        Server { name, scope, origin, folder, written: written.ok(), content, approval, standing }
    });
    chosen.collect()
}

/// Names that are taken, as they stand in names of tools, and by whom.
#[derive(Default)]
struct Taken(BTreeMap<String, (String, Origin)>);

impl Taken {
    /// Why a server is not used, as far as that is known before it is looked into.
    fn left(&self, found: &Found, settings: &Mcp) -> Option<Left> {
        let name = &found.name;
        if let Some(wrong) = wrong_name(name) {
            return Some(Left::Name(wrong));
        }
        let is_enabled = settings.enabled_servers.as_ref().is_none_or(|names| names.contains(name));
        if !is_enabled {
            return Some(Left::Disabled("mcp.enabled_servers"));
        }
        if settings.disabled_servers.contains(name) {
            return Some(Left::Disabled("mcp.disabled_servers"));
        }
        if let Some((other, origin)) = self.0.get(&plain_name(name)) {
            return Some(match other == name {
                true => Left::Shadowed { by: origin.clone() },
                false => Left::Collides { with: other.clone() },
            });
        }
        match (found.trust, found.approval) {
            (FolderTrust::Untrusted, _) => {
                return Some(Left::Untrusted { folder: found.to_trust.clone().unwrap_or_default() });
            }
            // What can't be understood can't be approved either.
            (FolderTrust::Trusted, Approval::Pending) => {
                return Some(match &found.written {
                    Ok(_) => Left::Pending,
                    Err(wrong) => Left::Broken(wrong.clone()),
                });
            }
            (FolderTrust::Trusted, Approval::Rejected) => return Some(Left::Rejected),
            (FolderTrust::Trusted, Approval::Approved | Approval::NotNeeded) => {}
        }
        let is_off = found.written.as_ref().is_ok_and(|written| !written.enabled);
        is_off.then_some(Left::Disabled("enabled"))
    }

    /// What is used takes its name, and so does what somebody who may say so switched off.
    fn take(&mut self, found: &Found, standing: &Standing) {
        let takes = match standing {
            Standing::Used(_) | Standing::Left(Left::Disabled("enabled")) => true,
            Standing::Left(_) => false,
        };
        if takes {
            self.0.insert(plain_name(&found.name), (found.name.clone(), found.origin.clone()));
        }
    }
}
