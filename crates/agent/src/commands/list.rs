use rail_stdx::nearest;

use super::custom::read_folder;
use super::{Builtin, CustomCommand, OwnedFolder, RemoteCommand, SlashCommand, parse};
use crate::skills::Skill;

/// The commands of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commands {
    custom: Vec<CustomCommand>,
    remote: Vec<RemoteCommand>,
    problems: Vec<String>,
}

/// What a message is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Typed<'a> {
    /// A text for the model.
    Text,
    /// A command of ours, with what it is given.
    Builtin(Builtin, String),
    /// A command of the user's, with what it is given.
    Custom(&'a CustomCommand, String),
    /// A prompt of an MCP server, with what it is given.
    Remote(&'a RemoteCommand, String),
    /// A command that nobody knows.
    Unknown {
        /// Its name.
        name: String,
        /// The name that was perhaps meant.
        nearest: Option<String>,
    },
}

impl Commands {
    /// Reads the commands of these folders; of two with one name the first counts.
    pub fn load(folders: &[OwnedFolder]) -> Self {
        let mut all = Self::default();
        for folder in folders {
            for command in read_folder(folder, &mut all.problems) {
                if Builtin::from_name(&command.name).is_some() {
                    let path = command.path.display();
                    all.problems.push(format!(
                        "the command {path} is left out: `/{}` is built in; give the file another name",
                        command.name
                    ));
                } else {
                    all.add(command);
                }
            }
        }
        all
    }

    /// The same, and the skills that the user may call for by name. A command of the same name counts.
    #[must_use]
    pub fn with_skills(mut self, skills: &[Skill]) -> Self {
        for command in skills.iter().filter_map(Skill::command) {
            match Builtin::from_name(&command.name) {
                None => self.add(command),
                Some(_) => self.problems.push(format!(
                    "the skill {} can't be called for by name: `/{}` is built in; a model may still load it",
                    command.path.display(),
                    command.name
                )),
            }
        }
        self
    }

    fn add(&mut self, command: CustomCommand) {
        if !self.custom.iter().any(|known| known.name == command.name) {
            self.custom.push(command);
        }
    }

    /// These are the prompts of MCP servers now.
    pub fn set_remote(&mut self, remote: Vec<RemoteCommand>) {
        self.remote = remote;
    }

    /// The prompts of MCP servers.
    pub fn remote(&self) -> &[RemoteCommand] {
        &self.remote
    }

    /// The user's and the project's commands, those that count first at the front.
    pub fn custom(&self) -> &[CustomCommand] {
        &self.custom
    }

    /// What is wrong with the files.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// What a message is.
    pub fn read(&self, text: &str) -> Typed<'_> {
        let Some(command) = parse(text) else { return Typed::Text };
        if command.is_mcp {
            return match self.find_remote(&command) {
                Some(remote) => Typed::Remote(remote, command.args),
                None => self.unknown(command),
            };
        }
        if let Some(builtin) = Builtin::from_name(&command.name) {
            return Typed::Builtin(builtin, command.args);
        }
        match (self.find(&command.name), self.find_remote(&command)) {
            (Some(custom), _) => Typed::Custom(custom, command.args),
            (None, Some(remote)) => Typed::Remote(remote, command.args),
            (None, None) if command.is_like_a_path() => Typed::Text,
            (None, None) => self.unknown(command),
        }
    }

    /// The prompt that is meant; of two with one name the first.
    fn find_remote(&self, command: &SlashCommand) -> Option<&RemoteCommand> {
        self.remote.iter().find(|remote| remote.is_meant(&command.name, command.is_mcp))
    }

    /// The command of a name: its whole one (`git:fix`, `git/fix`), or its last part.
    fn find(&self, name: &str) -> Option<&CustomCommand> {
        let whole = name.replace('/', ":");
        let exact = self.custom.iter().find(|command| command.name == whole);
        let last = || self.custom.iter().find(|command| command.name.rsplit(':').next() == Some(name));
        exact.or_else(last)
    }

    fn unknown(&self, command: SlashCommand) -> Typed<'_> {
        let custom = self.custom.iter().map(|command| command.name.as_str());
        let known = Builtin::ALL.iter().map(|builtin| builtin.name()).chain(custom);
        let remote: Vec<String> = self.remote.iter().map(RemoteCommand::word).collect();
        let known = known.filter(|_| !command.is_mcp).chain(remote.iter().map(String::as_str));
        Typed::Unknown { nearest: nearest(&command.name, known).map(str::to_owned), name: command.name }
    }
}
