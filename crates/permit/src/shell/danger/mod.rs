mod delete;
mod files;
mod forks;
mod git;
mod network;
mod places;
mod tables;

use super::{Script, Simple, Word, program_name};

/// Something that a command would do and that needs more than an ordinary leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Danger {
    /// What becomes of it.
    pub weight: Weight,
    /// The command, as an index into [`Script::commands`].
    pub command: usize,
    /// What it would do, in a sentence without a full stop: "it deletes the root folder".
    pub what: String,
}

/// What becomes of a dangerous command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
    /// It is asked about, whatever is allowed.
    AlwaysAsk,
    /// It is refused in every mode.
    Refuse,
}

/// One command of a script, with what judging it needs.
#[derive(Clone, Copy)]
struct Seen<'a> {
    script: &'a Script,
    index: usize,
    simple: &'a Simple,
    /// The program without its folder; empty if it is known only when it runs.
    program: &'a str,
    arguments: &'a [Word],
    /// The home folder; one that no path names, if it is not known.
    home: &'a str,
}

/// What a rule found: how bad it is, and what would be done.
type Finding = (Weight, String);

/// The dangerous things that a script would do, in the order of its commands.
pub fn danger(script: &Script, home: Option<&str>) -> Vec<Danger> {
    let mut all = Vec::new();
    for (index, simple) in script.commands.iter().enumerate() {
        let (first, arguments) =
            simple.words.split_first().map_or((None, [].as_slice()), |(first, rest)| (Some(first), rest));
        let program = first.and_then(program_name).unwrap_or_default();
        let home = home.unwrap_or("/\0home").trim_end_matches('/');
        let seen = Seen { script, index, simple, program, arguments, home };
        let mut found: Vec<Finding> = Vec::new();
        for rule in RULES {
            found.extend(rule(&seen));
        }
        all.extend(found.into_iter().map(|(weight, what)| Danger {
            weight,
            command: index,
            what: format!("it {what}"),
        }));
    }
    all
}

const RULES: &[fn(&Seen<'_>) -> Option<Finding>] = &[
    delete::recursive,
    delete::by_find,
    delete::by_others,
    files::devices,
    files::formats,
    files::sensitive,
    files::rights,
    forks::bomb,
    forks::signals,
    git::git,
    network::into_interpreter,
    network::script_in_words,
    network::unknown_script,
    network::sockets,
    tables::programs,
];

impl Seen<'_> {
    /// The arguments whose value is known.
    fn literals(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(Word::literal)
    }

    /// Whether a letter stands among its short options, or one of these long ones is given.
    fn has(&self, letters: &str, long: &[&str]) -> bool {
        let before_files = self.literals().take_while(|word| *word != "--");
        before_files.into_iter().any(|word| match word.strip_prefix("--") {
            Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
            None => word.strip_prefix('-').is_some_and(|word| word.contains(|c| letters.contains(c))),
        })
    }

    /// The arguments that are no options.
    fn operands(&self) -> Vec<&Word> {
        let mut open = true;
        let mut all = Vec::new();
        for word in self.arguments {
            match word.literal() {
                Some("--") if open => open = false,
                Some(text) if open && text.starts_with('-') && text.len() > 1 => {}
                Some(_) | None => all.push(word),
            }
        }
        all
    }
}

fn ask(what: impl Into<String>) -> Option<Finding> {
    Some((Weight::AlwaysAsk, what.into()))
}

fn refuse(what: impl Into<String>) -> Option<Finding> {
    Some((Weight::Refuse, what.into()))
}
