//! `rail init --agents-md`: the repository is looked at, and AGENTS.md written.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use rail_config::{Inputs, plain};
use rail_stdx::{Access, replace};

use super::agents_md::{AGENTS_MD, Listing, improve, init_prompt, survey, write};
use super::{Init, usage};
use crate::Failure;
use crate::clock::Now;
use crate::config::print;

impl Init {
    /// Writes AGENTS.md at the root of the repository, or adds to it what it lacks.
    pub(super) fn write_agents_md(&self, inputs: &Inputs) -> Result<(), Failure> {
        let root = root(&inputs.working_folder, inputs.env.home());
        let survey = survey(&Listing::read(&root, Now::read().instant));
        if self.prompt {
            return print(&init_prompt(&survey));
        }
        // A link leads to the file that is meant.
        let path = root.join(AGENTS_MD);
        let path = path.canonicalize().unwrap_or(path);
        let shown = plain(&path.display().to_string());
        let there = match std::fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(usage(format!(
                    "{shown} can't be read: {error}; make it readable, or move it away"
                )));
            }
        };
        let said = match there {
            Some(bytes) if !self.force => match improve(&bytes, &survey) {
                None => return print(&format!("nothing to add: {shown} says all of it\n")),
                Some(improved) => {
                    put(&path, &improved.text)?;
                    format!("added to {shown}: {}\n", improved.added.join(", "))
                }
            },
            old => {
                if let Some(bytes) = old {
                    put(&path.with_extension("md.bak"), &bytes)?;
                }
                let text = write(&survey);
                put(&path, text.as_bytes())?;
                format!("written: {shown}, {} lines\n", text.lines().count())
            }
        };
        print(&said)?;
        print("next:    read it, and correct what a look at names can't know\n")
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = replace(path, bytes, Access::Usual);
    let shown = path.display();
    written
        .with_context(|| anyhow!("{shown} can't be written; make its folder writable"))
        .map_err(Failure::Task)
}

/// The root of the repository that a folder is in, not above the home; the folder itself where there is none.
fn root(folder: &Path, home: Option<&Path>) -> PathBuf {
    let mut inside = folder.ancestors().take_while(|folder| Some(*folder) != home);
    inside.find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_owned()
}
