//! The first use of a folder that brings things of its own: whether it is trusted is asked once.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write as _, stderr, stdin};
use std::path::Path;

use anyhow::anyhow;
use rail_config::{
    Inputs, Places, ProjectTrust, Trusted, Wish, decline_trust, set_trusted, trust_answer, trust_root,
    trust_wishes,
};

use crate::Failure;
use crate::output::{harmless, tell};

/// Asks at a terminal whether the folder is trusted, if it brings what needs that and nobody answered yet, and keeps the answer. Without
/// a terminal nothing is asked, and it is told what is ignored.
///
/// Every front end of the agent calls it before it loads the configuration; `rail config trust` changes the answer.
pub(crate) fn first_use(inputs: &Inputs) -> Result<(), Failure> {
    if inputs.trust != ProjectTrust::Stored {
        return Ok(());
    }
    let Some(root) = trust_root(&inputs.env, &inputs.working_folder) else { return Ok(()) };
    let places = Places::find(&inputs.env, &inputs.working_folder).ok();
    let answered = places.as_ref().map(|places| trust_answer(places, &root));
    // A list that can't be read is told when the configuration is loaded; nothing can be added to it.
    if let Some(Ok(Some(_)) | Err(_)) = answered {
        return Ok(());
    }
    let wishes = trust_wishes(inputs);
    if wishes.is_empty() {
        return Ok(());
    }
    let somebody = stdin().is_terminal() && stderr().is_terminal();
    match places.filter(|_| somebody) {
        Some(places) => asked(&places, &root, &wishes),
        None => {
            tell(&ignored(&root, &wishes));
            Ok(())
        }
    }
}

/// What a project's files may do, one a line.
pub(crate) fn listed(wishes: &[Wish]) -> String {
    let mut text = String::new();
    for Wish { origin, key, may } in wishes {
        let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {origin}: {key}{may}");
    }
    text
}

fn ignored(root: &Path, wishes: &[Wish]) -> String {
    let listed = listed(wishes);
    format!(
        "{} is not trusted, so that what its files say here is ignored; they want to:\n{listed}\
         Read them, and trust the folder with `rail config trust {}` if they may.",
        root.display(),
        quoted(root)
    )
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

fn question(root: &Path, wishes: &[Wish]) -> String {
    format!(
        "{} is new here, and brings files that could act for you. They want to:\n{}\
         If you trust the folder, what its files say counts in full, also when they change. If not, the agent works without them.\n\
         Do you trust it? (y/n)\n> ",
        root.display(),
        listed(wishes)
    )
}

fn asked(places: &Places, root: &Path, wishes: &[Wish]) -> Result<(), Failure> {
    let unkept = |error: rail_config::TrustError| Failure::Usage(anyhow!("{error}"));
    match answer(&question(root, wishes)) {
        Some(Trusted::Yes) => {
            set_trusted(places, root, Trusted::Yes).map_err(unkept)?;
            tell("trusted; `rail config trust --remove` takes it back");
        }
        Some(Trusted::No) => {
            decline_trust(places, root).map_err(unkept)?;
            tell("not trusted, and not asked again; `rail config trust` trusts the folder later");
        }
        None => tell("not trusted this time"),
    }
    Ok(())
}

/// What is answered; None where the terminal is closed before that.
fn answer(question: &str) -> Option<Trusted> {
    loop {
        let mut err = stderr().lock();
        err.write_all(harmless(question).as_bytes()).and_then(|()| err.flush()).ok()?;
        drop(err);
        let mut line = String::new();
        if stdin().lock().read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(Trusted::Yes),
            "n" | "no" => return Some(Trusted::No),
            _ => {}
        }
    }
}
