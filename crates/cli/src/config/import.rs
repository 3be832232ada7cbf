use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use rail_config::import::{ImportError, Imported, ccr, claude, claude_with, gemini_env};
use rail_config::{Existing, Inputs, Places, Saved, save};

use super::{print, tell, tell_state};
use crate::Failure;
use crate::setup::Common;

#[derive(Args)]
pub(crate) struct Import {
    /// Whose configuration it is.
    #[arg(value_name = "FROM")]
    from: Program,
    /// The file; where that program usually has it when not said.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Add it to your config.toml, and the keys to the .env file beside it. What is there already stays as it is.
    #[arg(long)]
    write: bool,
    /// With `--write`, replace your configuration; it is kept as config.toml.bak.
    #[arg(long, requires = "write")]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Program {
    /// claude-code-router: ~/.claude-code-router/config.json
    Ccr,
    /// Gemini CLI's variables, and the environment form of aliases: ~/.gemini/.env
    GeminiEnv,
    /// Claude Code: ~/.claude/settings.json, and the MCP servers of ./.mcp.json and ~/.claude.json
    Claude,
}

impl Program {
    /// Where that program usually has it, in the home.
    pub(crate) fn usual(self) -> &'static str {
        match self {
            Self::Ccr => ".claude-code-router/config.json",
            Self::GeminiEnv => ".gemini/.env",
            Self::Claude => ".claude/settings.json",
        }
    }

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ccr => "ccr",
            Self::GeminiEnv => "gemini-env",
            Self::Claude => "claude",
        }
    }
}

impl Import {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        let imported = self.read(&inputs)?;
        tell(&imported.notes.iter().map(|note| format!("note: {note}\n")).collect::<String>());
        if !self.write {
            print(&imported.toml)?;
            if !imported.env.is_empty() {
                let names: Vec<&str> = imported.env.iter().map(|(name, _)| name.as_str()).collect();
                tell(&format!("note: `--write` keeps these keys in .env: {}\n", names.join(", ")));
            }
            return Ok(());
        }
        let places = Places::find(&inputs.env, &inputs.working_folder);
        let places = places.map_err(|problem| Failure::Usage(anyhow!("{problem}")))?;
        let how = if self.force { Existing::Replace } else { Existing::Add };
        let saved = save(&places, &imported, how).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        print(&report(&saved))?;
        tell_state(&common.check()?)
    }

    fn read(&self, inputs: &Inputs) -> Result<Imported, Failure> {
        if let Some(file) = &self.file {
            let text = read(&inputs.working_folder.join(file))?;
            let text = text.ok_or_else(|| Failure::Usage(anyhow!("there is no file {}", file.display())))?;
            return match self.from {
                Program::Ccr => ccr(&text).map_err(|error| wrong(file, error)),
                Program::GeminiEnv => Ok(gemini_env(&text)),
                Program::Claude => claude(&text).map_err(|error| wrong(file, error)),
            };
        }
        let home = inputs.env.home();
        let home = home.ok_or_else(|| Failure::Usage(anyhow!("there is no home folder; name the file")))?;
        let usual = home.join(self.from.usual());
        let missing =
            || Failure::Usage(anyhow!("there is no file {}; name the one you mean", usual.display()));
        let text = read(&usual)?;
        match self.from {
            Program::Ccr => ccr(&text.ok_or_else(missing)?).map_err(|error| wrong(&usual, error)),
            Program::GeminiEnv => Ok(gemini_env(&text.ok_or_else(missing)?)),
            Program::Claude => {
                let beside = [inputs.working_folder.join(".mcp.json"), home.join(".claude.json")];
                let mut servers = Vec::new();
                for path in &beside {
                    servers.extend(read(path)?.map(|text| (path.display().to_string(), text)));
                }
                if text.is_none() && servers.is_empty() {
                    return Err(missing());
                }
                let servers: Vec<(&str, &str)> =
                    servers.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
                claude_with(text.as_deref(), &servers).map_err(|error| wrong(&usual, error))
            }
        }
    }
}

/// The text of a file; None when there is none.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Failure::Usage(anyhow!("{} can't be read: {error}", path.display()))),
    }
}

fn wrong(path: &Path, error: ImportError) -> Failure {
    Failure::Usage(anyhow!("{}: {error}", path.display()))
}

/// What was written where.
pub(crate) fn report(saved: &Saved) -> String {
    let mut text = match &saved.config {
        Some(config) => format!("written: {}\n", config.display()),
        None => "nothing to add: your configuration says all of it\n".to_owned(),
    };
    if let Some(env) = &saved.env {
        text.push_str(&format!("keys:    {}\n", env.display()));
    }
    for backup in &saved.backups {
        text.push_str(&format!("backup:  {}\n", backup.display()));
    }
    for key in &saved.added {
        text.push_str(&format!("added:   {key}\n"));
    }
    for key in &saved.kept {
        text.push_str(&format!("kept:    {key}, which you have already and which differs\n"));
    }
    text
}
