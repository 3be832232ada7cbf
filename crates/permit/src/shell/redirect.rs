use super::lex::{Position, Quotes, is_variable};
use super::text::{CONTINUED, Dialect, Pending, Read, Reader};
use super::word::Piece;
use super::{Place, Redirect, RedirectKind, Word, influence};

/// Where a shell that reads its script from its input would find it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// In the here-document with this number among those that are open.
    Document(usize),
    /// In a here-string.
    Text(Word),
}

impl Reader<'_, '_> {
    /// Reads a redirection of the command with this index, if one is next.
    pub(super) fn redirect(&mut self, index: usize) -> Read<bool> {
        let start = self.at;
        let descriptor = self.descriptor();
        let Some(sign) = SIGNS.iter().find(|sign| self.looks_at(sign)).copied() else {
            self.at = start;
            return Ok(false);
        };
        // `<(` and `>(` begin a word.
        if matches!(sign, "<" | ">") && self.peek_second() == Some('(') {
            self.at = start;
            return Ok(false);
        }
        if self.dialect == Dialect::Other && matches!(sign, "&>" | "&>>" | "<<<") {
            return Err(self.unclear("a redirection that not every shell knows"));
        }
        if influence::changes_what_runs(descriptor.trim_matches(['{', '}'])) {
            return Err(self.unclear_at("a variable that changes what runs, set by a redirection,", start));
        }
        self.eat(sign);
        self.blanks()?;
        if matches!(sign, "<<" | "<<-") {
            self.document(index, sign == "<<-", &descriptor)?;
            return Ok(true);
        }
        if matches!(sign, "<&" | ">&") && self.eat("-") {
            // `<&-rm x`: to bash the `-` is all of the redirection, and `rm` the program; other shells take the whole word.
            return match self.peek().is_none_or(|c| " \t\n;&|()<>".contains(c)) {
                true => Ok(true),
                false => Err(self.unclear_at("a word that goes on after a closed descriptor", start)),
            };
        }
        let raw = self.word(Position::Argument)?;
        let (Some(words), false) = (raw.words(), raw.pieces.is_empty()) else {
            return Err(self.unclear_at("a redirection without its file", start));
        };
        let [word] = words.as_slice() else {
            return Err(self.unclear_at("a redirection to several files", start));
        };
        if sign == "<<<" {
            self.inputs(index, &descriptor, Input::Text(word.clone()));
        } else if let Some(kind) = kind(sign, word) {
            let file = word.clone();
            self.set(index, |simple| simple.redirects.push(Redirect { kind, file }));
        }
        Ok(true)
    }

    /// Steps over the number or `{name}` before a redirection.
    fn descriptor(&mut self) -> String {
        let start = self.at;
        let named = self.eat("{");
        let name = self.name();
        let whole = match named {
            true => is_variable(&name) && self.eat("}"),
            false => name.chars().all(|c| c.is_ascii_digit()),
        };
        if whole && matches!(self.peek(), Some('<' | '>')) {
            return if named { format!("{{{name}}}") } else { name };
        }
        self.at = start;
        String::new()
    }

    fn inputs(&mut self, index: usize, descriptor: &str, input: Input) {
        if matches!(descriptor, "" | "0") {
            self.inputs.insert(index, input);
        }
    }

    /// Reads the word after `<<`; the body comes after the line.
    fn document(&mut self, index: usize, strip: bool, descriptor: &str) -> Read<()> {
        let start = self.at;
        let raw = self.word(Position::Argument)?;
        let mut end = String::new();
        for piece in &raw.pieces {
            match piece {
                Piece::Plain(c) if *c != '$' => end.push(*c),
                Piece::Quoted(text) => end.push_str(text),
                Piece::Plain(_) | Piece::Home | Piece::Unknown => {
                    return Err(self.unclear_at("a here-document with an uncertain end", start));
                }
            }
        }
        if end.is_empty() || end.contains(['\n', '\\']) {
            return Err(self.unclear_at("a here-document with an uncertain end", start));
        }
        let place = Place { substituted: true, subshell: true, ..self.place.clone() };
        self.inputs(index, descriptor, Input::Document(self.pending.len()));
        self.pending.push(Pending { from: start, end, quoted: raw.is_quoted(), strip, place, feeds: None });
        Ok(())
    }

    /// Reads the here-documents that begin on this line.
    pub(super) fn documents(&mut self) -> Read<()> {
        // Shells differ in where the line of such a command ends.
        if self.pending.first().is_some_and(|first| self.slice(first.from..self.at).contains(CONTINUED)) {
            return Err(self.unclear("a continued line after `<<`"));
        }
        self.documents += self.pending.len();
        for document in std::mem::take(&mut self.pending) {
            let start = self.at;
            let body = self.lines_of(&document)?;
            let after = self.at;
            let text = match document.quoted {
                true => Some(body),
                false => {
                    let place = document.place.clone();
                    let end = std::mem::replace(&mut self.end, start + body.len());
                    self.at = start;
                    let text = self.placed(place, |reader| reader.expanded());
                    self.end = end;
                    self.at = after;
                    text?
                }
            };
            let Some((place, dialect)) = document.feeds else { continue };
            let Some(text) = text else {
                return Err(self.unclear_at("a script with expansions for a shell's input", start));
            };
            let text: String = match document.strip {
                true => text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect(),
                false => text,
            };
            let source = self.source(start..after);
            self.nested(&text, place, dialect, source)?;
        }
        Ok(())
    }

    /// Steps over the lines of a here-document and its end, and gives the lines.
    fn lines_of(&mut self, document: &Pending) -> Read<String> {
        let start = self.at;
        let mut continued = false;
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err(self.unclear_at("a here-document without its end", start));
            }
            let whole = rest.split('\n').next().unwrap_or_default();
            let line = if document.strip { whole.trim_start_matches('\t') } else { whole };
            // Shells differ in where such a document ends.
            let doubtful = continued || self.place.substituted;
            if doubtful && line.starts_with(&document.end) && (continued || line != document.end) {
                return Err(self.unclear("a here-document with an uncertain end"));
            }
            if line == document.end {
                let body = self.slice(start..self.at).to_owned();
                self.at += whole.len();
                // The line end after it is the shell's again.
                if self.looks_at("\n") {
                    self.bump();
                }
                return Ok(body);
            }
            let slashes = line.len() - line.trim_end_matches('\\').len();
            continued = !document.quoted && slashes % 2 == 1;
            if continued && document.end.starts_with(line.trim_end_matches('\\')) {
                return Err(self.unclear("a here-document with an uncertain end"));
            }
            self.at = (self.at + whole.len() + 1).min(self.end);
        }
    }

    /// Reads the body of a here-document that is expanded; its text, if nothing in it was.
    fn expanded(&mut self) -> Read<Option<String>> {
        let mut text = String::new();
        let mut pieces = Vec::new();
        while let Some(next) = self.peek() {
            let start = self.next_place();
            match next {
                '$' => self.dollar(Quotes::Text, &mut pieces)?,
                '`' => self.back_quotes(Quotes::Text, &mut pieces)?,
                '\\' => {
                    self.bump();
                    match self.take() {
                        Some(c @ ('$' | '`' | '\\')) => text.push(c),
                        Some(c) => text.extend(['\\', c]),
                        None => text.push('\\'),
                    }
                }
                _ => {
                    self.bump();
                    text.push(next);
                }
            }
            // It is taken out before anything else is looked at, also where quotes and comments in a substitution would keep it.
            if matches!(next, '$' | '`') && self.slice(start..self.at).contains(CONTINUED) {
                return Err(self.unclear_at("a continued line in an expansion", start));
            }
            if pieces.last() == Some(&Piece::Plain('$')) {
                pieces.pop();
                text.push('$');
            }
        }
        Ok(pieces.is_empty().then_some(text))
    }
}

/// The redirections, the longer before those that begin like them.
const SIGNS: &[&str] = &["&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">&", ">|", ">"];

/// What a redirection does to its file; `None` if its word names no file.
fn kind(sign: &str, word: &Word) -> Option<RedirectKind> {
    let number = word.literal().is_some_and(|word| {
        word == "-" || word.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()) && !word.is_empty()
    });
    match sign {
        "<" => Some(RedirectKind::Read),
        "<&" => None,
        ">&" if number => None,
        _ => Some(RedirectKind::Write),
    }
}
