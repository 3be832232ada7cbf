use crate::path::{Case, Glob, Step, run};
use crate::shell::{Simple, Word};

/// Commands that a rule speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CommandPattern {
    /// As it was written, without `:*`.
    text: String,
    /// Its words; a `*` of its own is any number of words.
    words: Vec<Step>,
    /// More words may follow.
    open: bool,
}

/// How far a rule that allows a command goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cover {
    /// Commands that begin so, or fit a pattern: what they touch outside the workspace is asked about all the same.
    Broad,
    /// This command, word for word.
    Exact,
}

/// Whether a rule that forbids speaks of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hit {
    /// No.
    No,
    /// It depends on a word whose value is known only when it runs.
    Maybe,
    /// Yes.
    Yes,
}

impl CommandPattern {
    /// Reads what stands in the brackets of `Bash( )`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (text, open) = match text.strip_suffix(":*") {
            Some(prefix) => (prefix.trim_end(), true),
            None => (text, false),
        };
        let words = words(text)?;
        let Some(first) = words.first() else {
            return Err("names no command before `:*`; write `Bash` for every command".to_owned());
        };
        if first.wild {
            return Err("has `*` in the program's name; write the program out, `Bash(cargo test:*)`, or `Bash` for every command".to_owned());
        }
        let step = |word: RuleWord| match (word.wild, word.text.as_str()) {
            (true, "*") => Step::Many,
            (true, text) => Step::One(Glob::new(text)),
            (false, text) => Step::One(Glob::exactly(text)),
        };
        let words = words.into_iter().map(step).collect();
        Ok(Self { text: text.to_owned(), words, open })
    }

    /// A prefix of whole words.
    pub(crate) fn prefix(words: &[String]) -> Self {
        let steps = words.iter().map(|word| Step::One(Glob::exactly(word))).collect();
        Self { text: words.join(" "), words: steps, open: true }
    }

    /// Whether it allows a command, and how far that goes; `source` is the command as it stands.
    pub(crate) fn allows(&self, simple: &Simple, source: &str) -> Option<Cover> {
        let exact = !self.open && self.words.iter().all(is_plain);
        if exact && source.trim() == self.text {
            return Some(Cover::Exact);
        }
        let fits = |glob: &Glob, word: &&Word| match word {
            Word::Literal(text) => glob.fits(text.as_bytes(), Case::Counts),
            Word::Pattern(_) | Word::Dynamic { .. } => false,
        };
        let fitting = run(&self.words, simple.words.iter(), self.open, fits);
        fitting.then_some(if exact && simple.assignments.is_empty() { Cover::Exact } else { Cover::Broad })
    }

    /// Whether it forbids a command. The program's folder and options before a sub-command do not hide it.
    pub(crate) fn forbids(&self, simple: &Simple, source: &str) -> Hit {
        if source.trim() == self.text {
            return Hit::Yes;
        }
        let Some((program, rest)) = simple.words.split_first() else { return Hit::No };
        let starts = sub_commands(rest);
        let reaches = |unknown: bool| {
            starts.iter().any(|start| {
                let words = [program].into_iter().chain(rest.iter().skip(*start)).enumerate();
                run(&self.words, words, self.open, |glob, (at, word)| match word.literal() {
                    Some(text) => glob.fits(name_of(text, *at).as_bytes(), Case::Counts),
                    None => unknown,
                })
            })
        };
        match (reaches(false), reaches(true)) {
            (true, _) => Hit::Yes,
            (false, true) => Hit::Maybe,
            (false, false) => Hit::No,
        }
    }
}

fn is_plain(step: &Step) -> bool {
    match step {
        Step::Many => false,
        Step::One(glob) => glob.name().is_some(),
    }
}

/// Options before a sub-command that are looked through at most.
const MOST_OPTIONS: usize = 64;

/// Where a sub-command could begin: behind any number of options, each with a value of its own or without.
fn sub_commands(words: &[Word]) -> Vec<usize> {
    let mut starts = vec![0];
    for at in 0..MOST_OPTIONS {
        let option = match words.get(at) {
            Some(Word::Literal(text)) => text.starts_with('-'),
            Some(Word::Pattern(_) | Word::Dynamic { .. }) => true,
            None => break,
        };
        if option && starts.contains(&at) {
            starts.extend([at + 1, at + 2]);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// A word as it is compared: of the program, only the name.
fn name_of(text: &str, at: usize) -> &str {
    match at {
        0 => text.rsplit('/').next().unwrap_or(text),
        _ => text,
    }
}

struct RuleWord {
    text: String,
    /// A `*` in it stands for any text.
    wild: bool,
}

/// Splits the text of a rule into words; quotes and escapes are taken off, what makes a second command is refused.
fn words(text: &str) -> Result<Vec<RuleWord>, String> {
    let mut words = Vec::new();
    let mut word: Option<RuleWord> = None;
    let mut quote: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let blank = quote.is_none() && c.is_whitespace();
        if blank {
            words.extend(word.take());
            continue;
        }
        if quote.is_none() && second_command(c, letters.peek().copied()) {
            return Err(format!(
                "holds `{c}`, but a rule speaks of one command; write one rule for each, and `Edit( )` for files they write"
            ));
        }
        let now = word.get_or_insert_with(|| RuleWord { text: String::new(), wild: false });
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => now.text.extend(letters.next()),
            ('*', None) => {
                now.wild = true;
                now.text.push('*');
            }
            (_, _) => now.text.push(c),
        }
    }
    if quote.is_some() {
        return Err("has a quote that does not end; write the second quote".to_owned());
    }
    words.extend(word);
    Ok(words)
}

/// Whether a letter outside of quotes begins another command or a redirection.
fn second_command(c: char, next: Option<char>) -> bool {
    matches!(c, ';' | '|' | '&' | '<' | '>' | '`' | '\n') || (c == '$' && next == Some('('))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn simple(command: &str) -> Simple {
        let word = |text: &str| match text.strip_prefix('$') {
            Some(_) => Word::Dynamic { text: text.to_owned(), known: String::new() },
            None => Word::Literal(text.to_owned()),
        };
        Simple { words: command.split_whitespace().map(word).collect(), ..Simple::default() }
    }

    #[test]
    fn allowed_commands() {
        for (rule, command, expected) in [
            ("git commit:*", "git commit", Some(Cover::Broad)),
            ("git commit:*", "git commit -m x", Some(Cover::Broad)),
            ("git commit:*", "git commits", None),
            ("git commit:*", "git  push", None),
            ("git commit:*", "git -C x commit", None),
            ("git commit:*", "/bin/git commit", None),
            ("git commit:*", "git $X", None),
            ("git commit:*", "git commit $X", Some(Cover::Broad)),
            ("npm run *", "npm run build", Some(Cover::Broad)),
            ("npm run *", "npm run", Some(Cover::Broad)),
            ("npm run *", "npm runner", None),
            ("npm run test-*", "npm run test-unit", Some(Cover::Broad)),
            ("npm run test-*", "npm run test-unit --x", None),
            ("npm run test-*:*", "npm run test-unit --x", Some(Cover::Broad)),
            ("git * main", "git push origin main", Some(Cover::Broad)),
            ("git * main", "git push origin main x", None),
            ("ls -la", "ls -la", Some(Cover::Exact)),
            ("ls -la", "ls  -la", Some(Cover::Exact)),
            ("ls -la", "ls -la x", None),
            ("ls -la", "ls", None),
            ("ls '*'", "ls *", Some(Cover::Exact)),
            ("ls '*'", "ls x", None),
        ] {
            let pattern = CommandPattern::parse(rule).unwrap();
            assert_eq!(pattern.allows(&simple(command), command), expected, "{rule} on {command}");
        }
    }

    #[test]
    fn forbidden_commands() {
        for (rule, command, expected) in [
            ("rm:*", "rm x", Hit::Yes),
            ("rm:*", "/bin/rm x", Hit::Yes),
            ("rm:*", "../../bin/rm x", Hit::Yes),
            ("rm:*", "rmdir x", Hit::No),
            ("rm:*", "$X x", Hit::Maybe),
            ("git push:*", "git push", Hit::Yes),
            ("git push:*", "git -C x push", Hit::Yes),
            ("git push:*", "git -C x -p push --force", Hit::Yes),
            ("git push:*", "git -p -c a=b push", Hit::Yes),
            ("git push:*", "git commit -m push", Hit::No),
            ("git push:*", "git $X", Hit::Maybe),
            ("git push:*", "git $X origin", Hit::Maybe),
            ("git push:*", "git status $X", Hit::No),
            ("npm run *", "npm run", Hit::Yes),
        ] {
            let pattern = CommandPattern::parse(rule).unwrap();
            assert_eq!(pattern.forbids(&simple(command), command), expected, "{rule} on {command}");
        }
    }

    #[test]
    fn refused_patterns() {
        for text in [
            ":*",
            "",
            "* --version",
            "*",
            "*curl*",
            "a && b",
            "a; b",
            "a | b",
            "a > b",
            "a `b`",
            "a $(b)",
            "a 'b",
        ] {
            assert!(CommandPattern::parse(text).is_err(), "{text}");
        }
        assert!(CommandPattern::parse("git commit -m 'a; b'").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_refused(rule in ".{0,30}", command in "[a-z$ /-]{0,30}") {
            if let Ok(pattern) = CommandPattern::parse(&rule) {
                pattern.allows(&simple(&command), &command);
                pattern.forbids(&simple(&command), &command);
            }
        }

        #[test]
        fn what_is_allowed_would_be_forbidden(rule in "[ab]( [ab*]){0,3}(:\\*)?", command in "[ab]( [ab]){0,4}") {
            let pattern = CommandPattern::parse(&rule).unwrap();
            let (allowed, hit) = (pattern.allows(&simple(&command), &command), pattern.forbids(&simple(&command), &command));
            prop_assert!(allowed.is_none() || hit == Hit::Yes);
        }
    }
}
