use std::ops::Range;

/// All simple commands of a command line, in the order in which they stand.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    /// Every one of them, those in substitutions, subshells, functions, here-documents and arguments (`bash -c`, `xargs`,
    /// `find -exec`, `sudo`, `env`) included. A wrapper and what it runs are two commands.
    pub commands: Vec<Simple>,
}

/// One program with its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Simple {
    /// The program and its arguments, quotes and escapes taken off. Never empty, unless only assignments or redirections stand there.
    pub words: Vec<Word>,
    /// `NAME=value` before it.
    pub assignments: Vec<Assignment>,
    /// Where its input and output go.
    pub redirects: Vec<Redirect>,
    /// Its bytes in the command line; for what stands in an argument, those of the argument.
    pub source: Range<usize>,
    /// How it comes to be run.
    pub place: Place,
}

/// How a simple command comes to be run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// The command before it in the same pipe, as an index into [`Script::commands`].
    pub piped_from: Option<usize>,
    /// The programs that run it, the outermost first: `sudo`, `env`, `xargs`, `bash -c`.
    pub wrappers: Vec<Wrapper>,
    /// It is in a `$( )`, in back quotes or in `<( )`.
    pub substituted: bool,
    /// It is in a subshell, a pipe or a substitution: a `cd` in it does not last.
    pub subshell: bool,
    /// It is left running, by `&`.
    pub background: bool,
    /// The functions in whose bodies it stands, the outermost first.
    pub functions: Vec<String>,
    /// The loops in whose bodies it stands, the outermost first, as far as the same shell runs them.
    pub loops: Vec<Loop>,
}

/// `for NAME in WORDS`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The variable.
    pub name: String,
    /// What it stands for, one after the other; empty if that is known only when it runs.
    pub words: Vec<Word>,
}

/// A program whose arguments are a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrapper {
    /// Its name, without a folder.
    pub program: String,
    /// It gives more arguments to what it runs than stand there (`xargs`, `find -exec … {}`).
    pub adds_arguments: bool,
}

/// One word of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    /// Its value is known: no expansion changes it.
    Literal(String),
    /// A pattern that the shell replaces by file names; the text with its quotes taken off.
    Pattern(String),
    /// Its value is known only when it runs; the text as it stands, and what is certain to be its beginning.
    Dynamic {
        /// As it stands in the command.
        text: String,
        /// The known beginning of its value (`/etc/` of `/etc/$NAME`).
        known: String,
    },
}

/// A variable that is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

/// A redirection to or from a file; `2>&1` and the like are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redirect {
    /// What it does to the file.
    pub kind: RedirectKind,
    /// The file.
    pub file: Word,
}

/// What a redirection does to its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `<>`
    Write,
}

/// Something in a command that has no certain meaning.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} at `{at}`")]
pub struct Unclear {
    /// What it is, such as "an unfinished quote".
    pub what: String,
    /// The text there.
    pub at: String,
}

impl Word {
    /// Its value, if it is known.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Pattern(_) | Self::Dynamic { .. } => None,
        }
    }
    /// As it is shown to a person: its value, or the text that stands there.
    pub fn shown(&self) -> String {
        match self {
            Self::Literal(text) | Self::Pattern(text) | Self::Dynamic { text, .. } => text.clone(),
        }
    }
}
