use super::Step;
use super::nearest::Nearest;

/// Why an edit can't be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditFault {
    /// There is no old text.
    Empty,
    /// The new text is what is there.
    Same,
    /// The old text is at several places, and one was meant.
    Several {
        /// The step at which they were found.
        step: Step,
        /// How many places there are, as far as they were counted.
        count: usize,
        /// The lines of the first of them, from 1.
        lines: Vec<usize>,
    },
    /// There are more or fewer places than were expected.
    Count {
        /// What was expected.
        expected: usize,
        /// What is there.
        found: usize,
        /// The lines of the first of them, from 1.
        lines: Vec<usize>,
    },
    /// The old text is not there; this is like it.
    Missing(Option<Nearest>),
}

/// How the old text is called when a fault is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// It was given as a parameter.
    Parameter,
    /// It is a hunk of a patch.
    Hunk,
}

impl EditFault {
    /// The fault for the model: what happened, and what to do next. Names of tools and parameters stand between `‹` and `›`, since
    /// models know them by different ones.
    pub fn say(&self, told: Told) -> String {
        let (old, narrow) = match told {
            Told::Parameter => ("‹old_string›", "add lines around the one you mean, or set ‹replace_all›"),
            Told::Hunk => {
                ("the old text of the hunk", "add lines around the one you mean, or a line `@@` before it")
            }
        };
        match self {
            Self::Empty => format!("{old} is empty: give the text that is to be replaced"),
            Self::Same => "the new text is the same as the old one: there is nothing to change".to_owned(),
            Self::Several { step, count, lines } => {
                let differs = step
                    .differs()
                    .map(|what| format!("is not there as written, and apart from {what} "))
                    .unwrap_or_default();
                format!("{old} {differs}is at {count} places ({}): {narrow}", shown(lines, *count))
            }
            Self::Count { expected, found: 0, .. } => {
                format!(
                    "{old} was expected {expected} times and is not there at all: read the file again and copy the text from it"
                )
            }
            Self::Count { expected, found, lines } => format!(
                "{old} was expected {expected} times and is there {found} times ({}): correct ‹expected_replacements›, or {narrow}",
                shown(lines, *found)
            ),
            Self::Missing(None) => format!(
                "{old} is not in the file, nor anything like it: search for it with ‹grep›, or read the file again with ‹read_file›"
            ),
            Self::Missing(Some(nearest)) => format!(
                "{old} is not in the file. The nearest is at line {} (`-` as written, `+` as the file has it):\n{}{}: copy the text from the file as it is",
                nearest.line, nearest.diff, nearest.differs
            ),
        }
    }

    /// The same, in a text that has so many lines before the one that was looked at.
    #[must_use]
    pub fn below(mut self, before: usize) -> Self {
        match &mut self {
            Self::Several { lines, .. } | Self::Count { lines, .. } => {
                lines.iter_mut().for_each(|line| *line += before);
            }
            Self::Missing(Some(nearest)) => nearest.line += before,
            Self::Empty | Self::Same | Self::Missing(None) => {}
        }
        self
    }
}

/// `lines 1, 5 and 9`.
fn shown(lines: &[usize], count: usize) -> String {
    let numbers: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match numbers.split_last() {
        Some((_, _)) if count > lines.len() => format!("lines {} and so on", numbers.join(", ")),
        Some((last, [])) => format!("line {last}"),
        Some((last, others)) => format!("lines {} and {last}", others.join(", ")),
        None => String::new(),
    }
}
