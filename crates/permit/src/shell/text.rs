use std::collections::BTreeMap;
use std::ops::Range;

use super::redirect::Input;
use super::{Place, Simple, Unclear};

/// How deep commands, quotes and wrappers may stand in one another.
const MAX_DEPTH: usize = 40;
/// How many commands a script may have.
const MAX_COMMANDS: usize = 4_000;
/// The longest text that is read.
const MAX_BYTES: usize = 1 << 20;

/// What continues a line.
pub(super) const CONTINUED: &str = "\\\n";

/// Which shell reads a text: they differ in small things that matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// bash, which runs what the model writes.
    Bash,
    /// `sh -c` and the like: what bash alone knows has no certain meaning.
    Other,
}

/// What has been found so far; shared by all texts that are read for one command line.
#[derive(Default)]
pub(super) struct Found {
    pub(super) commands: Vec<Simple>,
    depth: usize,
}

/// A here-document whose body comes after the next line end.
pub(super) struct Pending {
    /// Where its end is named.
    pub(super) from: usize,
    pub(super) end: String,
    /// The body is taken as it stands.
    pub(super) quoted: bool,
    /// `<<-`: tabs before a line do not count.
    pub(super) strip: bool,
    /// Where commands in the body stand.
    pub(super) place: Place,
    /// A shell reads the body as its script.
    pub(super) feeds: Option<(Place, Dialect)>,
}

/// Reads one text: the command line, or an argument that is a script of its own.
pub(super) struct Reader<'t, 'f> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) found: &'f mut Found,
    /// For an argument: its place in the command line.
    pub(super) span: Option<Range<usize>>,
    pub(super) dialect: Dialect,
    pub(super) place: Place,
    pub(super) pending: Vec<Pending>,
    /// What commands of this text read, by their index.
    pub(super) inputs: BTreeMap<usize, Input>,
    /// How many of `pending` belong to what is around a substitution.
    pub(super) outer_pending: usize,
    /// How many here-documents have been read, and how many `;` between commands.
    pub(super) documents: usize,
    pub(super) semicolons: usize,
}

pub(super) type Read<T> = Result<T, Unclear>;

impl<'t, 'f> Reader<'t, 'f> {
    pub(super) fn new(text: &'t str, found: &'f mut Found) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            found,
            span: None,
            dialect: Dialect::Bash,
            place: Place::default(),
            pending: Vec::new(),
            inputs: BTreeMap::new(),
            outer_pending: 0,
            documents: 0,
            semicolons: 0,
        }
    }

    /// Reads the whole text as a script.
    pub(super) fn script(&mut self) -> Read<()> {
        check(self.text)?;
        if self.dialect == Dialect::Other
            && let Some(at) = joint(self.text)
        {
            return Err(self.unclear_at("a continued line in a word, which not every shell reads alike,", at));
        }
        self.deeper(|reader| reader.list())?;
        if self.peek().is_some() {
            return Err(self.unclear("a word or sign that does not belong there"));
        }
        match self.pending.is_empty() {
            true => Ok(()),
            false => Err(self.unclear("a here-document without its end")),
        }
    }

    /// Reads an argument as a script of its own.
    pub(super) fn nested(
        &mut self,
        text: &str,
        place: Place,
        dialect: Dialect,
        at: Range<usize>,
    ) -> Read<()> {
        let mut inner = Reader::new(text, self.found);
        inner.span = Some(at);
        inner.place = place;
        inner.dialect = dialect;
        inner.script()
    }

    /// Does something one level down; too deep has no certain meaning, and would overflow the stack.
    pub(super) fn deeper<T>(&mut self, then: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.found.depth >= MAX_DEPTH {
            return Err(self.unclear("commands too deep in one another"));
        }
        self.found.depth += 1;
        let done = then(self);
        self.found.depth -= 1;
        done
    }

    /// Does something with commands at another place.
    pub(super) fn placed<T>(&mut self, place: Place, then: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let outer = std::mem::replace(&mut self.place, place);
        let done = self.deeper(then);
        self.place = outer;
        done
    }

    /// Adds a command that is filled in later, so that what stands in its words comes after it.
    pub(super) fn reserve(&mut self) -> Read<usize> {
        let index = self.found.commands.len();
        if index >= MAX_COMMANDS {
            return Err(self.unclear("too many commands"));
        }
        let source = self.source(self.at..self.at);
        self.found.commands.push(Simple { place: self.place.clone(), source, ..Simple::default() });
        Ok(index)
    }

    /// A range of this text as one of the command line.
    pub(super) fn source(&self, range: Range<usize>) -> Range<usize> {
        self.span.clone().unwrap_or(range)
    }

    /// The characters from a place on as the shell sees them, each with the place after it.
    ///
    /// A `\` and the line end after it are nothing to it, in the middle of a word, of a sign and of a reserved word too. Where they
    /// do mean themselves, and after a `\` that may quote another, [`Self::take`] and [`Self::rest`] give the text as it stands.
    fn ahead(&self, mut at: usize) -> impl Iterator<Item = (usize, char)> {
        std::iter::from_fn(move || {
            while self.slice(at..self.end).starts_with(CONTINUED) {
                at += CONTINUED.len();
            }
            let next = self.slice(at..self.end).chars().next()?;
            at += next.len_utf8();
            Some((at, next))
        })
    }

    /// Where the next character stands.
    pub(super) fn next_place(&self) -> usize {
        self.ahead(self.at).next().map_or(self.at, |(after, next)| after - next.len_utf8())
    }

    /// The characters that are next.
    pub(super) fn coming(&self) -> impl Iterator<Item = char> {
        self.ahead(self.at).map(|(_, next)| next)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.coming().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.coming().nth(1)
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let (after, next) = self.ahead(self.at).next()?;
        self.at = after;
        Some(next)
    }

    /// The next character as it stands.
    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// The place after a text, if that is next.
    fn after(&self, text: &str) -> Option<usize> {
        let mut ahead = self.ahead(self.at);
        text.chars().try_fold(self.at, |_, expected| {
            ahead.next().filter(|(_, next)| *next == expected).map(|(after, _)| after)
        })
    }

    pub(super) fn looks_at(&self, text: &str) -> bool {
        self.after(text).is_some()
    }

    /// Steps over a text if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let after = self.after(text);
        self.at = after.unwrap_or(self.at);
        after.is_some()
    }

    /// Whether a whole word without quotes is next.
    pub(super) fn at_keyword(&self, keyword: &str) -> bool {
        let Some(after) = self.after(keyword) else { return false };
        self.ahead(after).next().is_none_or(|(_, next)| " \t\n;&|()<>".contains(next))
    }

    /// Steps over a whole word without quotes, if it is next.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        self.at_keyword(keyword) && self.eat(keyword)
    }

    /// Steps over a line end that is inside a word or an expansion.
    pub(super) fn inner_newline(&self) -> Read<()> {
        match self.pending.is_empty() {
            true => Ok(()),
            false => Err(self.unclear("a line end in a word after `<<`")),
        }
    }

    pub(super) fn unclear(&self, what: &str) -> Unclear {
        self.unclear_at(what, self.at)
    }

    pub(super) fn unclear_at(&self, what: &str, at: usize) -> Unclear {
        let text = self.text.get(at..).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        Unclear { what: what.to_owned(), at: line.chars().take(40).collect() }
    }
}

/// Characters that hide what a text says, to a reader or to a shell, and texts too long to judge.
fn check(text: &str) -> Read<()> {
    if text.len() > MAX_BYTES {
        return Err(Unclear { what: "a very long command".to_owned(), at: text.chars().take(40).collect() });
    }
    match text.char_indices().find(|(_, c)| hides(*c)) {
        None => Ok(()),
        Some((at, c)) => Err(Unclear {
            what: format!("the invisible character U+{:04X}", u32::from(c)),
            at: text.get(at..).unwrap_or_default().chars().skip(1).take(40).collect(),
        }),
    }
}

/// Where a continued line joins what stands before and after it: old shells do so in words, but not in all signs.
fn joint(text: &str) -> Option<usize> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n');
    text.match_indices(CONTINUED).map(|(at, _)| at).find(|at| {
        let (before, after) = text.split_at(*at);
        let after = after.trim_start_matches(CONTINUED);
        !before.is_empty() && !before.ends_with(blank) && !after.is_empty() && !after.starts_with(blank)
    })
}

/// Control characters, spaces that are none to a shell, and marks that turn or hide text.
fn hides(c: char) -> bool {
    let shown = matches!(c, '\n' | '\t' | ' ' | '\u{200d}');
    let hidden = c.is_control()
        || c.is_whitespace()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
        )
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    hidden && !shown
}
