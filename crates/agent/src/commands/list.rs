use rail_stdx::nearest;

use super::custom::read_folder;
use super::{Builtin, CustomCommand, OwnedFolder, SlashCommand, parse};

/// The commands of a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commands {
    custom: Vec<CustomCommand>,
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
                } else if !all.custom.iter().any(|known| known.name == command.name) {
                    all.custom.push(command);
                }
            }
        }
        all
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
        if let Some(builtin) = Builtin::from_name(&command.name) {
            return Typed::Builtin(builtin, command.args);
        }
        match self.find(&command.name) {
            Some(custom) => Typed::Custom(custom, command.args),
            None if command.is_like_a_path() => Typed::Text,
            None => self.unknown(command),
        }
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
        Typed::Unknown { nearest: nearest(&command.name, known).map(str::to_owned), name: command.name }
    }
}
