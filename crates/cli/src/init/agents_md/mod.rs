//! What a repository is, seen without a model, and the AGENTS.md that says so.
//!
//! [`Listing::read`] looks; all behind it is pure: [`survey`] understands, [`write`] and [`improve`] make the file, and [`init_prompt`]
//! hands what was understood to a model that is to do better.

mod ci;
mod commands;
mod layout;
mod listing;
mod makefiles;
mod manifests;
mod prompt;
mod python;
mod sections;
mod style;

pub(crate) use commands::Command;
pub(crate) use layout::Part;
pub(crate) use listing::Listing;
pub(crate) use prompt::init_prompt;
pub(crate) use sections::{improve, write};

/// What was understood of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Survey {
    /// Its name.
    pub(crate) name: String,
    /// What it says that it is, in a sentence.
    pub(crate) about: Option<String>,
    /// Languages with their numbers of files, the most first.
    pub(crate) languages: Vec<(&'static str, usize)>,
    /// How it is built, tested and so on.
    pub(crate) commands: Vec<Command>,
    /// What its checks run besides.
    pub(crate) checks: Vec<String>,
    /// What is in its top folders.
    pub(crate) layout: Vec<Part>,
    /// How its code is written, each with the file that says so.
    pub(crate) style: Vec<(String, String)>,
    /// Rule files of other tools.
    pub(crate) rules: Vec<String>,
    /// Whether it is too large for all of it to have been seen.
    pub(crate) cut: bool,
    /// Whether it has an AGENTS.md.
    pub(crate) has_agents_md: bool,
}

/// The file that is written.
pub(crate) const AGENTS_MD: &str = "AGENTS.md";

/// Understands what a repository is.
pub(crate) fn survey(listing: &Listing) -> Survey {
    let commands = commands::commands(listing);
    Survey {
        name: manifests::name(listing).unwrap_or_else(|| listing.name.clone()),
        about: manifests::about(listing),
        languages: layout::languages(listing),
        checks: ci::checks(listing, &commands),
        commands,
        layout: layout::parts(listing),
        style: style::style(listing),
        rules: style::rules(listing),
        cut: listing.cut,
        has_agents_md: listing.has(AGENTS_MD),
    }
}
