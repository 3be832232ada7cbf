//! `rail sessions export`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use rail_journal::Form;
use rail_stdx::{Access, Mask, replace};

use super::{Kept, pick};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Export {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    id: String,
    /// The form; that of the file's name if not given, else Markdown.
    #[arg(long, value_name = "FORM")]
    format: Option<Format>,
    /// Write to this file instead of stdout; one that is there is replaced.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The form of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Markdown,
    /// For programs.
    Json,
}

impl Format {
    /// The form that a file's name says.
    pub(crate) fn of(file: Option<&Path>) -> Self {
        let is_json = file.and_then(Path::extension).is_some_and(|end| end.eq_ignore_ascii_case("json"));
        if is_json { Self::Json } else { Self::Markdown }
    }
}

impl Export {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let folder = pick(&kept.sessions, &self.id)?;
        let format = self.format.unwrap_or_else(|| Format::of(self.output.as_deref()));
        let text = exported(&folder, format, &kept.mask)?;
        match &self.output {
            Some(file) => write(file, &text),
            None => output::print(&text),
        }
    }
}

/// A session as text, with secrets covered.
pub(crate) fn exported(folder: &Path, format: Format, mask: &Mask) -> Result<String, Failure> {
    let form = match format {
        Format::Markdown => Form::Markdown,
        Format::Json => Form::Json,
    };
    let mut bytes = Vec::new();
    let cover = |text: &str| mask.cover(text).into_owned();
    rail_journal::export(folder, form, &cover, &mut bytes).context("the session can't be exported")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes an export to a file that only its owner can read.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let written = replace(file, text.as_bytes(), Access::Owner);
    Ok(written.with_context(|| format!("{} can't be written", file.display()))?)
}
