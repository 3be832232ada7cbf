use super::text::{Dialect, Read, Reader};
use super::word::{Assigns, Piece, Raw, is_name};
use super::{ansi, influence};

/// Where a word stands, which decides what it may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// Before the program: it may be an assignment.
    Command,
    /// After the program.
    Argument,
    /// After `declare` and the like, which take `NAME=(…)`.
    Declared,
    /// After `=~`, where brackets and bars are signs of the expression.
    Expression,
}

/// Whether an expansion stands in double quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quotes {
    Double,
    /// As in double quotes, but quotes themselves are plain text: here-documents and arithmetic.
    Text,
    None,
}

impl Reader<'_, '_> {
    /// Reads one word; its pieces are empty if none is next.
    pub(super) fn word(&mut self, position: Position) -> Read<Raw> {
        let start = self.next_place();
        let mut raw = Raw::default();
        let mut open = 0_usize;
        while let Some(next) = self.peek() {
            let expression = position == Position::Expression;
            match next {
                '(' if expression => open += 1,
                ')' if expression && open > 0 => open -= 1,
                '|' if expression => {}
                ' ' | '\t' if expression && open > 0 => {}
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' if self.peek_second() != Some('(') => break,
                _ => {}
            }
            self.piece(next, position, &mut raw)?;
            if self.looks_at("(")
                && raw.assigns.as_ref().is_some_and(|assigns| assigns.value == raw.pieces.len())
            {
                self.array(position, &mut raw)?;
                break;
            }
        }
        raw.text = self.slice(start..self.at).to_owned();
        Ok(raw)
    }

    /// Reads one part of a word.
    fn piece(&mut self, next: char, position: Position, raw: &mut Raw) -> Read<()> {
        match next {
            '\'' => {
                let text = self.single_quotes()?;
                raw.pieces.push(Piece::Quoted(text));
            }
            '"' => {
                self.bump();
                self.double_quotes(&mut raw.pieces)?;
            }
            '\\' => self.escape(&mut raw.pieces)?,
            '$' => self.dollar(Quotes::None, &mut raw.pieces)?,
            '`' => self.back_quotes(Quotes::None, &mut raw.pieces)?,
            '<' | '>' => {
                if self.dialect == Dialect::Other {
                    return Err(self.unclear("a process substitution, which not every shell knows,"));
                }
                self.bump();
                self.bump();
                self.substitution()?;
                raw.pieces.push(Piece::Unknown);
            }
            '~' => self.tilde(raw),
            '=' => self.equals(raw),
            '[' if position == Position::Command && name_of(&raw.pieces).is_some() => {
                self.subscript_of(raw)?
            }
            _ => {
                self.bump();
                raw.pieces.push(Piece::Plain(next));
            }
        }
        Ok(())
    }

    fn single_quotes(&mut self) -> Read<String> {
        let start = self.at;
        self.bump();
        let Some(length) = self.rest().find('\'') else {
            return Err(self.unclear_at("an unfinished quote", start));
        };
        let text = self.slice(self.at..self.at + length);
        self.at += length + 1;
        if text.contains('\n') {
            self.inner_newline()?;
        }
        Ok(text.to_owned())
    }

    /// Reads up to the closing quote.
    pub(super) fn double_quotes(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        let start = self.at;
        let mut text = String::new();
        pieces.push(Piece::Quoted(String::new()));
        loop {
            let Some(next) = self.peek() else { return Err(self.unclear_at("an unfinished quote", start)) };
            if next == '$' || next == '`' {
                pieces.push(Piece::Quoted(std::mem::take(&mut text)));
            }
            match next {
                '"' => break,
                '$' => self.dollar(Quotes::Double, pieces)?,
                '`' => self.back_quotes(Quotes::Double, pieces)?,
                '\\' => {
                    self.bump();
                    match self.take() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                        Some(c) => text.extend(['\\', c]),
                        None => return Err(self.unclear_at("an unfinished quote", start)),
                    }
                }
                _ => {
                    if next == '\n' {
                        self.inner_newline()?;
                    }
                    self.bump();
                    text.push(next);
                }
            }
        }
        self.bump();
        pieces.push(Piece::Quoted(text));
        Ok(())
    }

    fn escape(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.bump();
        match self.take() {
            Some(c) => {
                pieces.push(Piece::Quoted(c.to_string()));
                Ok(())
            }
            None => Err(self.unclear("a `\\` with nothing after it")),
        }
    }

    /// Reads what begins with `$`.
    pub(super) fn dollar(&mut self, quotes: Quotes, pieces: &mut Vec<Piece>) -> Read<()> {
        let start = self.at;
        self.bump();
        match self.peek() {
            Some('(') if self.peek_second() == Some('(') => {
                self.eat("((");
                self.arithmetic()?;
                pieces.push(Piece::Unknown);
            }
            Some('(') => {
                self.bump();
                self.substitution()?;
                pieces.push(Piece::Unknown);
            }
            Some('{') => {
                self.bump();
                let piece = self.deeper(|reader| reader.parameter(quotes))?;
                pieces.push(piece);
            }
            Some('\'') if quotes == Quotes::None => {
                if self.dialect == Dialect::Other {
                    return Err(self.unclear_at("a `$'…'`, which not every shell knows,", start));
                }
                self.bump();
                let text = ansi::read(self)?;
                pieces.push(Piece::Quoted(text));
            }
            Some('"') if quotes == Quotes::None => {
                return Err(self.unclear_at("a text that is translated before it is used", start));
            }
            Some('[') => return Err(self.unclear_at("arithmetic of an old form", start)),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                pieces.push(if name == "HOME" { Piece::Home } else { Piece::Unknown });
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.bump();
                pieces.push(Piece::Unknown);
            }
            Some(_) | None => pieces.push(Piece::Plain('$')),
        }
        Ok(())
    }

    /// Steps over a name.
    pub(super) fn name(&mut self) -> String {
        let name: String = self.coming().take_while(|c| is_name(*c)).collect();
        self.eat(&name);
        name
    }

    /// Reads the commands of a `$(` or `<(` up to its bracket.
    pub(super) fn substitution(&mut self) -> Read<()> {
        let start = self.at;
        let mut place = self.place.clone();
        place.substituted = true;
        place.subshell = true;
        let outer = std::mem::replace(&mut self.outer_pending, self.pending.len());
        let (documents, semicolons) = (self.documents, self.semicolons);
        self.placed(place, |reader| reader.list())?;
        // bash 5.2 writes such a substitution down anew before it runs it, and forgets a `;` behind a here-document: the commands
        // around it become one.
        if self.documents > documents && self.semicolons > semicolons {
            return Err(self.unclear_at("a `;` in a substitution with a here-document", start));
        }
        if self.pending.len() != self.outer_pending {
            return Err(self.unclear_at("a here-document without its body", start));
        }
        self.outer_pending = outer;
        match self.eat(")") {
            true => Ok(()),
            false => Err(self.unclear_at("a substitution without its end", start)),
        }
    }

    /// Reads a script in back quotes.
    pub(super) fn back_quotes(&mut self, quotes: Quotes, pieces: &mut Vec<Piece>) -> Read<()> {
        let start = self.at;
        self.bump();
        let mut script = String::new();
        loop {
            match self.take() {
                Some('`') => break,
                Some('\\') => match self.take() {
                    Some(c @ ('$' | '`' | '\\')) => script.push(c),
                    // In quotes and comments too: it is taken out before they are looked at.
                    Some('\n') => {}
                    Some('"') if quotes == Quotes::Double => script.push('"'),
                    Some('"') if quotes == Quotes::Text => {
                        return Err(self.unclear_at("an escaped quote in back quotes", start));
                    }
                    Some(c) => script.extend(['\\', c]),
                    None => return Err(self.unclear_at("a back quote without its end", start)),
                },
                Some(c) => {
                    if c == '\n' {
                        self.inner_newline()?;
                    }
                    script.push(c);
                }
                None => return Err(self.unclear_at("a back quote without its end", start)),
            }
        }
        let mut place = self.place.clone();
        place.substituted = true;
        place.subshell = true;
        let (source, dialect) = (self.source(start..self.at), self.dialect);
        self.nested(&script, place, dialect, source)?;
        pieces.push(Piece::Unknown);
        Ok(())
    }

    /// `~` is the home folder where a word or a value begins.
    fn tilde(&mut self, raw: &mut Raw) {
        self.bump();
        let value = raw.assigns.is_some() && matches!(raw.pieces.last(), Some(Piece::Plain('=' | ':')));
        let begins = raw.pieces.is_empty() || value;
        let alone = self
            .peek()
            .is_none_or(|c| matches!(c, '/' | ':' | ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '<' | '>'));
        raw.pieces.push(match (begins, alone) {
            (true, true) => Piece::Home,
            (true, false) => Piece::Unknown,
            (false, _) => Piece::Plain('~'),
        });
    }

    /// `=` ends the name of an assignment.
    fn equals(&mut self, raw: &mut Raw) {
        self.bump();
        let before = match raw.pieces.split_last() {
            Some((Piece::Plain('+'), before)) => before,
            Some(_) | None => raw.pieces.as_slice(),
        };
        if raw.assigns.is_none()
            && let Some(name) = name_of(before)
        {
            raw.assigns = Some(Assigns { name, value: raw.pieces.len() + 1 });
        }
        raw.pieces.push(Piece::Plain('='));
    }

    /// `NAME[…]` before `=`: the index may hold commands.
    fn subscript_of(&mut self, raw: &mut Raw) -> Read<()> {
        let name = name_of(&raw.pieces);
        let start = self.at;
        self.bump();
        raw.pieces.push(Piece::Plain('['));
        self.subscript(Quotes::None)?;
        let more = self.eat("+=") || self.eat("=");
        if let (true, Some(name)) = (more, name) {
            raw.pieces.push(Piece::Unknown);
            raw.assigns = Some(Assigns { name, value: raw.pieces.len() });
            return Ok(());
        }
        Err(self.unclear_at("an index without an assignment", start))
    }

    /// `NAME=(…)`: its words are read, and what stands in them is found.
    fn array(&mut self, position: Position, raw: &mut Raw) -> Read<()> {
        let start = self.at;
        let may = matches!(position, Position::Command | Position::Declared) && self.dialect == Dialect::Bash;
        if !may {
            return Err(self.unclear("a bracket that does not belong there"));
        }
        self.bump();
        loop {
            self.newlines()?;
            if self.eat(")") {
                break;
            }
            let element = self.deeper(|reader| reader.word(Position::Argument))?;
            if element.pieces.is_empty() {
                return Err(self.unclear_at("an unfinished list", start));
            }
            self.evaluates_nothing(&element)?;
        }
        raw.pieces.push(Piece::Unknown);
        match self.peek().is_none_or(|c| " \t\n;&|)".contains(c)) {
            true => Ok(()),
            false => Err(self.unclear("a word that goes on after a list")),
        }
    }

    /// A text that the shell may take for an arithmetic expression must not hold commands.
    pub(super) fn evaluates_nothing(&self, raw: &Raw) -> Read<()> {
        match influence::holds_command(&raw.fixed()) {
            true => Err(self.unclear("a text that may be evaluated again, with a command in it,")),
            false => Ok(()),
        }
    }
}

/// The variable's name that these pieces spell.
fn name_of(pieces: &[Piece]) -> Option<String> {
    let name: Option<String> =
        pieces.iter().map(|piece| if let Piece::Plain(c) = piece { Some(*c) } else { None }).collect();
    name.filter(|name| is_variable(name))
}

/// Whether a text is the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name)
}
