use rail_config::settings::Generation;
use rail_permit::Level;

/// What is known of a tool without running it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Card<'a> {
    /// Its name in the native dialect, `edit_file`.
    pub name: &'a str,
    /// Its name for people, `Edit`.
    pub title: &'a str,
    /// What it is for, in a sentence without a full stop.
    pub summary: &'a str,
    /// What a model must know to use it well; it lives in a file beside the tool's.
    pub prompt: &'a str,
    /// The generation it came with.
    pub generation: Generation,
    /// What kind of thing it does.
    pub level: Level,
    /// Whether calls of it may run beside others.
    pub lane: Lane,
    /// How it is declared to a model.
    pub shown: Shown,
}

/// Whether calls of a tool may run beside others of the same answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// It only reads: it may.
    Shared,
    /// It changes something: it runs alone, in order.
    Exclusive,
}

/// How a tool is declared to a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// With its whole prompt.
    Whole,
    /// With its summary, and without what its parameters mean; both this and the prompt come with the first call's result.
    Brief,
    /// Only to models that are shown this dialect, with its whole prompt.
    InDialect(&'static str),
}

/// A call and what it gives: part of the documentation, and a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Example {
    /// What it shows, in a few words.
    pub about: &'static str,
    /// Files that are there before it, path under the workspace and content.
    pub files: &'static [(&'static str, &'static str)],
    /// Files of those that were read in this session.
    pub read: &'static [&'static str],
    /// The input as JSON; `{workspace}` stands for the workspace's path.
    pub input: &'static str,
    /// What the model is given, with `{workspace}` for the workspace's path and `{ms}` for a duration.
    pub output: &'static str,
    /// Files as they are after it.
    pub after: &'static [(&'static str, &'static str)],
}

impl<'a> Card<'a> {
    /// What a model is told in the tool's declaration.
    pub fn description(&self) -> &'a str {
        match self.shown {
            Shown::Whole | Shown::InDialect(_) => self.prompt,
            Shown::Brief => self.summary,
        }
    }
}
