//! Skills: folders with a `SKILL.md`, whose instructions a model or the user loads when they are needed.

use std::path::{Path, PathBuf};

use rail_config::Trusted;
use rail_permit::Rule;
use rail_tool::SkillCard;

use crate::commands::files::{checked, described};
use crate::commands::{ByModel, CustomCommand, OwnedFolder, Owner, front, rules};

/// A skill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skill {
    /// What it is asked for by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its folder, links resolved.
    pub folder: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// What may be typed behind its name.
    pub argument_hint: Option<String>,
    /// Rules for what may be done without asking once it is loaded, as they are written.
    pub allowed_tools: Vec<String>,
    /// The model that is to answer when the user calls for it.
    pub model: Option<String>,
    /// Whether a model may load it by itself.
    pub by_model: ByModel,
    /// Whether the user may call for it by its name.
    pub by_user: ByUser,
    /// Its text.
    pub body: String,
}

/// Whether the user may call for a skill by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByUser {
    /// They may.
    #[default]
    Allowed,
    /// It is for models alone.
    Never,
}

/// How many skills are read at most.
const MOST: usize = 500;
/// The longest description that is kept.
const DESCRIPTION: usize = 1_024;

/// The skills in these folders; of two with one name the first counts. What can't be read is a problem.
pub fn read(folders: &[OwnedFolder], problems: &mut Vec<String>) -> Vec<Skill> {
    let mut all: Vec<Skill> = Vec::new();
    for folder in folders {
        let found = folder.entries(&folder.path, "skills", problems);
        for path in found.into_iter().filter(|path| path.join(SkillCard::FILE).symlink_metadata().is_ok()) {
            if all.len() >= MOST {
                problems.push(format!("the skill {} is left out: there are {MOST} already", path.display()));
                continue;
            }
            match read_one(&path, folder) {
                Ok(skill) if all.iter().any(|known| known.name == skill.name) => {}
                Ok(skill) => all.push(skill),
                Err(why) => problems.push(format!("the skill {} is left out: {why}", path.display())),
            }
        }
    }
    all
}

fn read_one(path: &Path, folder: &OwnedFolder) -> Result<Skill, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let within = folder.within.as_ref().map(|within| within.canonicalize().unwrap_or(within.clone()));
    if within.is_some_and(|within| !real.starts_with(within)) {
        return Err(format!("it is `{}`, which is not in the project", real.display()));
    }
    // What is loaded is read from the folder alone, so the text has to lie in it.
    let inside = OwnedFolder { within: Some(real.clone()), ..folder.clone() };
    let (text, _) = inside.text(&real.join(SkillCard::FILE))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    of_text(&text, name, real, folder.owner)
}

/// Reads the text of a `SKILL.md`.
fn of_text(text: &str, folder_name: &str, folder: PathBuf, owner: Owner) -> Result<Skill, String> {
    let (front, body) = front(text).map_err(|error| error.to_string())?;
    let name = front.text("name").unwrap_or_else(|| folder_name.to_owned());
    checked(&name)?;
    let body = body.trim().to_owned();
    if body.is_empty() {
        return Err("it says nothing below its front matter; write there what is to be done".to_owned());
    }
    let description = front.text("description").unwrap_or_else(|| described(&body));
    Ok(Skill {
        name,
        description: description.chars().take(DESCRIPTION).collect(),
        folder,
        owner,
        argument_hint: front.text("argument-hint"),
        allowed_tools: front.list("allowed-tools"),
        model: front.text("model").filter(|model| model != "inherit"),
        by_model: match front.flag("disable-model-invocation")? {
            Some(true) => ByModel::Never,
            Some(false) | None => ByModel::Allowed,
        },
        by_user: match front.flag("user-invocable")? {
            Some(false) => ByUser::Never,
            Some(true) | None => ByUser::Allowed,
        },
        body,
    })
}

/// The skills that a model may load, as tools know them; what does not count in their files is a problem.
pub fn cards(skills: &[Skill], problems: &mut Vec<String>) -> Vec<SkillCard> {
    let by_model = skills.iter().filter(|skill| skill.by_model == ByModel::Allowed);
    by_model.map(|skill| skill.card(problems)).collect()
}

impl Skill {
    fn card(&self, problems: &mut Vec<String>) -> SkillCard {
        SkillCard {
            name: self.name.clone(),
            description: self.description.clone(),
            folder: self.folder.clone(),
            from: from(self.owner).to_owned(),
            lends: rules(&format!("the skill {}", self.name), self.owner, &self.allowed_tools, problems),
        }
    }

    /// The command that the user calls for it by; nothing where it is for models alone.
    pub fn command(&self) -> Option<CustomCommand> {
        // What follows from it is for this task, as with any command.
        let reads = Rule::to_read(&self.folder, String::new()).map(|rule| rule.text);
        let reads = reads.filter(|_| self.owner != Owner::Project(Trusted::No));
        let command = || CustomCommand {
            name: self.name.clone(),
            path: self.folder.join(SkillCard::FILE),
            owner: self.owner,
            description: self.description.clone(),
            argument_hint: self.argument_hint.clone(),
            allowed_tools: self.allowed_tools.iter().cloned().chain(reads.clone()).collect(),
            model: self.model.clone(),
            by_model: self.by_model,
            body: format!(
                "{}\n\nThe files of this skill are in `{}`, from which paths in it start.",
                self.body,
                self.folder.display()
            ),
        };
        (self.by_user == ByUser::Allowed).then(command)
    }
}

/// Whose a skill is, in words.
pub fn from(owner: Owner) -> &'static str {
    match owner {
        Owner::User => "yours",
        Owner::Project(Trusted::Yes) => "of this project",
        Owner::Project(Trusted::No) => "of this project, which is not trusted",
        Owner::BuiltIn => "built in",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str, owner: Owner) -> Result<Skill, String> {
        of_text(text, "folder", "/s/folder".into(), owner)
    }

    #[test]
    fn a_file_is_read_with_all_it_says() {
        let text = "---\nname: pdf\ndescription: Fills forms: PDF\nargument-hint: [file]\nallowed-tools: Bash(python fill.py:*), Read\nmodel: fast\ndisable-model-invocation: true\nuser-invocable: yes\nlicense: MIT\n---\n\nFill $ARGUMENTS.\n";
        let skill = Skill {
            name: "pdf".to_owned(),
            description: "Fills forms: PDF".to_owned(),
            folder: "/s/folder".into(),
            owner: Owner::User,
            argument_hint: Some("[file]".to_owned()),
            allowed_tools: vec!["Bash(python fill.py:*)".to_owned(), "Read".to_owned()],
            model: Some("fast".to_owned()),
            by_model: ByModel::Never,
            by_user: ByUser::Allowed,
            body: "Fill $ARGUMENTS.".to_owned(),
        };
        assert_eq!(of(text, Owner::User), Ok(skill));
        let plain = of("# Look at it\nwell", Owner::User).unwrap();
        assert_eq!((plain.name.as_str(), plain.description.as_str()), ("folder", "Look at it"));
        assert_eq!((plain.by_model, plain.by_user), (ByModel::Allowed, ByUser::Allowed));
        let hidden = of("---\nuser-invocable: false\n---\nx", Owner::User).unwrap();
        assert_eq!(hidden.command(), None);
    }

    #[test]
    fn what_is_no_skill_is_refused() {
        let name = "its name can't be used; take letters, digits, `-` and `_`, 64 bytes at most";
        for (text, expected) in [
            ("---\nname: ../x\n---\nx", name),
            ("---\nname: a b\n---\nx", name),
            (
                "---\nname: x\n---\n\n",
                "it says nothing below its front matter; write there what is to be done",
            ),
            (
                "---\nuser-invocable: perhaps\n---\nx",
                "`user-invocable` is `perhaps`; write `true` or `false`",
            ),
            ("---\n- bomb\n---\nx", "line 2: it has no `:`; write `key: value`"),
        ] {
            assert_eq!(of(text, Owner::User), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn only_a_trusted_owner_lends() {
        let text = "---\nname: x\nallowed-tools: Bash(git log:*), Nonsense\n---\nx";
        for (owner, lends, problems) in
            [(Owner::User, 1, 1), (Owner::Project(Trusted::Yes), 1, 1), (Owner::Project(Trusted::No), 0, 1)]
        {
            let mut said = Vec::new();
            let cards = cards(&[of(text, owner).unwrap()], &mut said);
            assert_eq!((cards[0].lends.len(), said.len()), (lends, problems), "{owner:?}: {said:?}");
        }
        let hidden = of("---\ndisable-model-invocation: true\n---\nx", Owner::User).unwrap();
        assert_eq!(cards(&[hidden], &mut Vec::new()), Vec::new());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(---\n)?((name|description|allowed-tools|user-invocable): [a-zA-Z*_,()./ -]{0,12}\n){0,4}(---\n)?[a-z \n]{0,8}") {
            if let Ok(skill) = of(&text, Owner::Project(Trusted::No)) {
                prop_assert!(checked(&skill.name).is_ok() && !skill.body.is_empty());
                prop_assert_eq!(skill.card(&mut Vec::new()).lends, Vec::new());
            }
        }
    }
}
