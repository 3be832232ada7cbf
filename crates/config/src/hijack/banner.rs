use super::{Hijack, available};
use crate::endpoint::{plain, shown};

/// The lines that the agent prints at its start; empty unless the environment form is in force.
///
/// `active` is the choice of `rail provider use`, which counts before `HIJACK_ACTIVE_PROVIDER`. Of the key only the first
/// characters are shown: at most 8, and never more than a quarter of it.
pub fn banner(hijack: &Hijack, active: Option<&str>) -> String {
    let chosen = active.and_then(|name| hijack.back(name));
    let back = chosen.or_else(|| hijack.active.as_deref().and_then(|name| hijack.back(name)));
    let Some(back) = back.filter(|_| hijack.enabled) else { return String::new() };
    let mut lines = vec![
        format!("Active Provider: {}", back.prefix),
        format!("Available Providers: {}", available(hijack)),
    ];
    let mut others: Vec<&str> = hijack.backs.iter().map(|other| other.prefix.as_str()).collect();
    others.sort_unstable();
    if let Some(other) = others.into_iter().find(|other| *other != back.prefix) {
        lines.push(format!("Switch providers using: rail provider use {other}"));
    }
    lines.push(format!("Target Model: {}", plain(&back.target_model)));
    lines.push(format!("Configured To: {}", plain(&back.actual_model)));
    lines.push(format!("Endpoint: {}", shown(&back.endpoint)));
    lines.push(format!("Using API Key: {}", plain(&back.key.hint())));
    lines.push(String::new());
    lines.join("\n")
}
