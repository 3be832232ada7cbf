use super::lex::Quotes;
use super::text::{CONTINUED, Dialect, Read, Reader};
use super::word::Piece;
use super::{ansi, influence};

impl Reader<'_, '_> {
    /// Reads the inside of `$((…))` or `((…))`, its first brackets taken, up to both closing ones.
    pub(super) fn arithmetic(&mut self) -> Read<()> {
        self.deeper(|reader| {
            reader.expression(None)?;
            // `$((a) b)` is a subshell in a substitution to some shells and versions, and arithmetic to others;
            // so are closing brackets with a continued line between them.
            match reader.rest().starts_with("))") && reader.eat("))") {
                true => Ok(()),
                false => Err(reader.unclear("brackets that may be arithmetic or a subshell")),
            }
        })
    }

    /// Reads an arithmetic expression up to a closing bracket, or to the stop, of the same level.
    pub(super) fn expression(&mut self, stop: Option<char>) -> Read<()> {
        let mut open = 0_usize;
        let mut ignored = Vec::new();
        loop {
            let Some(next) = self.peek() else { return Err(self.unclear("unfinished arithmetic")) };
            match next {
                ')' if open == 0 => return Ok(()),
                _ if Some(next) == stop && open == 0 => return Ok(()),
                '$' => self.dollar(Quotes::Text, &mut ignored)?,
                '`' => self.back_quotes(Quotes::Text, &mut ignored)?,
                _ if next.is_ascii_alphabetic() || next == '_' => {
                    let start = self.at;
                    if influence::changes_what_runs(&self.name()) {
                        return Err(
                            self.unclear_at("a variable that changes what runs, in arithmetic,", start)
                        );
                    }
                }
                _ if next.is_ascii_alphanumeric() || " \t\n+-*/%<>=!&|^~?:,()[].#@".contains(next) => {
                    match next {
                        '(' => open += 1,
                        ')' => open -= 1,
                        '\n' => self.inner_newline()?,
                        _ => {}
                    }
                    self.bump();
                }
                _ => return Err(self.unclear("a sign that arithmetic does not have")),
            }
        }
    }

    /// Reads `${…}`, its first brace taken.
    pub(super) fn parameter(&mut self, quotes: Quotes) -> Read<Piece> {
        let start = self.at;
        let sign = self.peek();
        let plain = !matches!(sign, Some('#' | '!')) || self.peek_second() == Some('}');
        if !plain {
            self.bump();
        }
        let name = self.name();
        if name.is_empty() {
            match self.peek() {
                Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => self.bump(),
                Some(_) | None => return Err(self.unclear_at("an expansion of an unknown form", start)),
            };
        }
        let plain = plain && !self.looks_at("[");
        if self.eat("[") {
            self.subscript(quotes)?;
        }
        let operator = self.at;
        match self.peek() {
            Some('}') => {
                self.bump();
                return Ok(if name == "HOME" && plain { Piece::Home } else { Piece::Unknown });
            }
            Some('@') => {
                // `@P` expands the value as a prompt, with the commands in it.
                let harmless = self
                    .peek_second()
                    .is_some_and(|c| "QEAaUuLKk".contains(c) || (c == '}' && sign == Some('!')));
                if !harmless {
                    return Err(self.unclear_at("an expansion that runs what a variable holds", start));
                }
            }
            Some(':' | '-' | '=' | '?' | '+' | '#' | '%' | '/' | '^' | ',' | '*') => {}
            Some(_) | None => return Err(self.unclear_at("an expansion of an unknown form", start)),
        }
        self.until_brace(start, quotes)?;
        let operation = self.slice(operator..self.at).replace(CONTINUED, "");
        let operation = operation.trim_start_matches(':');
        let fallback = operation.starts_with(['-', '?']);
        if operation.starts_with('=') && influence::changes_what_runs(&name) {
            return Err(self.unclear_at("a variable that changes what runs, set in an expansion,", start));
        }
        Ok(if name == "HOME" && plain && fallback { Piece::Home } else { Piece::Unknown })
    }

    /// Reads the word of an expansion up to its closing brace.
    fn until_brace(&mut self, start: usize, quotes: Quotes) -> Read<()> {
        let mut ignored = Vec::new();
        loop {
            let Some(next) = self.peek() else {
                return Err(self.unclear_at("an expansion without its end", start));
            };
            match (next, quotes) {
                ('}', _) => break,
                ('$', _) => self.dollar(quotes, &mut ignored)?,
                ('`', _) => self.back_quotes(quotes, &mut ignored)?,
                ('"', Quotes::Double | Quotes::None) => {
                    self.bump();
                    self.double_quotes(&mut ignored)?;
                }
                ('\'', Quotes::None) => self.skip_single_quotes()?,
                ('\\', _) => {
                    self.bump();
                    if self.take().is_none() {
                        return Err(self.unclear_at("an expansion without its end", start));
                    }
                }
                // Shells differ in what these mean here.
                ('\'' | '"', Quotes::Double | Quotes::Text) | ('{', _) => {
                    return Err(self.unclear_at("a quote or brace in an expansion", start));
                }
                ('<' | '>', _) if self.peek_second() == Some('(') => {
                    return Err(self.unclear_at("a process substitution in an expansion", start));
                }
                ('\n', _) => {
                    self.inner_newline()?;
                    self.bump();
                }
                (_, _) => {
                    self.bump();
                }
            }
        }
        self.bump();
        Ok(())
    }

    /// Reads an array's index up to its closing bracket.
    pub(super) fn subscript(&mut self, quotes: Quotes) -> Read<()> {
        let start = self.at;
        let mut ignored = Vec::new();
        loop {
            let Some(next) = self.peek() else {
                return Err(self.unclear_at("an index without its end", start));
            };
            match next {
                ']' => break,
                '$' => self.dollar(quotes, &mut ignored)?,
                '`' => self.back_quotes(quotes, &mut ignored)?,
                '"' if quotes == Quotes::None => {
                    self.bump();
                    self.double_quotes(&mut ignored)?;
                }
                _ if next.is_ascii_alphanumeric() || "_+-*/%@.,:#!?^=".contains(next) => {
                    self.bump();
                }
                _ => return Err(self.unclear_at("an index of an unknown form", start)),
            }
        }
        self.bump();
        Ok(())
    }

    fn skip_single_quotes(&mut self) -> Read<()> {
        if self.dialect == Dialect::Other {
            return Err(self.unclear("a quote in an expansion"));
        }
        self.bump();
        ansi::skip_to_quote(self)
    }
}
