//! Instructions that a model loads when it needs them.

use std::path::PathBuf;

use rail_permit::Rule;

/// A skill that a model may load: a folder with a `SKILL.md` in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillCard {
    /// What it is asked for by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its folder, links resolved.
    pub folder: PathBuf,
    /// Whose it is, in a few words: `yours`, `of this project, which is not trusted`.
    pub from: String,
    /// What may be done without asking once it is loaded, until the task is done. Of an owner who is not trusted, nothing.
    pub lends: Vec<Rule>,
}

impl SkillCard {
    /// The file with its instructions.
    pub const FILE: &'static str = "SKILL.md";

    /// The rule that lets its folder be read; nothing where no rule can name it.
    pub fn to_read(&self) -> Option<Rule> {
        Rule::to_read(&self.folder, format!("the skill {}", self.name))
    }

    /// The skill that a name means: exactly, with a slash before it, or in other letters.
    pub fn find<'a>(cards: &'a [Self], name: &str) -> Option<&'a Self> {
        let name = name.trim().trim_start_matches('/');
        let exact = cards.iter().find(|card| card.name == name);
        exact.or_else(|| {
            let mut alike = cards.iter().filter(|card| card.name.to_lowercase() == name.to_lowercase());
            alike.next().filter(|_| alike.next().is_none())
        })
    }
}

/// A skill was loaded: the executor allows what follows from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillLoaded {
    /// Its name.
    pub name: String,
    /// What is allowed as long as the session is open: reading its folder.
    pub kept: Vec<Rule>,
    /// What is allowed until the task is done.
    pub lent: Vec<Rule>,
}
