//! JSON as people write it, with the place of every value: the one reader for our own files and for those of others.

use serde_json::Number;

/// Deeper than any configuration, and no danger to the stack.
const MAX_DEPTH: usize = 64;

/// How much is let pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syntax {
    /// JSON, with comments as in JavaScript.
    Json,
    /// JSON5: also bare keys, single quotes, a comma before a bracket that closes, numbers and escapes as in JavaScript.
    Json5,
}

/// A value and where it begins, in bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Json {
    pub(crate) at: usize,
    pub(crate) value: JsonValue,
}

/// What JSON can say.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum JsonValue {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    /// In the order of the text; a key may be there twice.
    Table(Vec<JsonMember>),
}

/// A key with its place, and its value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct JsonMember {
    pub(crate) at: usize,
    pub(crate) key: String,
    pub(crate) json: Json,
}

/// Where a text is no JSON, and what to do. Never tells what stands there: it may be a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JsonError {
    pub(crate) at: usize,
    pub(crate) text: String,
}

/// Reads a whole text.
pub(crate) fn read(text: &str, syntax: Syntax) -> Result<Json, JsonError> {
    let mut reader = Reader { text, syntax, at: 0 };
    reader.blank()?;
    let json = reader.value(0)?;
    reader.blank()?;
    match reader.peek() {
        None => Ok(json),
        Some(_) => Err(reader.wrong("there is more after the last value; remove it")),
    }
}

/// Where the value that begins at a place of a text ends.
pub(crate) fn end_of(text: &str, syntax: Syntax, at: usize) -> Result<usize, JsonError> {
    let mut reader = Reader { text, syntax, at };
    reader.value(0)?;
    Ok(reader.at)
}

struct Reader<'a> {
    text: &'a str,
    syntax: Syntax,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, c: char) -> bool {
        let is_there = self.peek() == Some(c);
        if is_there {
            self.at += c.len_utf8();
        }
        is_there
    }

    fn wrong(&self, text: &str) -> JsonError {
        self.wrong_at(self.at, text)
    }

    fn wrong_at(&self, at: usize, text: &str) -> JsonError {
        JsonError { at, text: text.to_owned() }
    }

    fn is_blank(&self, c: char) -> bool {
        matches!(c, ' ' | '\t' | '\r' | '\n') || (self.syntax == Syntax::Json5 && c.is_whitespace())
    }

    /// Goes over white space and comments.
    fn blank(&mut self) -> Result<(), JsonError> {
        loop {
            let rest = self.rest();
            let text = rest.trim_start_matches(|c| self.is_blank(c));
            self.at += rest.len() - text.len();
            if text.starts_with("//") {
                self.at += text.find('\n').unwrap_or(text.len());
            } else if let Some(inside) = text.strip_prefix("/*") {
                let end =
                    inside.find("*/").ok_or_else(|| self.wrong("the comment has no end; write `*/`"))?;
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn is_quote(&self, c: char) -> bool {
        c == '"' || (c == '\'' && self.syntax == Syntax::Json5)
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        let at = self.at;
        if depth > MAX_DEPTH {
            return Err(self.wrong("it is nested too deeply"));
        }
        let value = match self.peek() {
            Some('{') => JsonValue::Table(self.table(depth)?),
            Some('[') => JsonValue::List(self.list(depth)?),
            Some(c) if self.is_quote(c) => JsonValue::Text(self.string()?),
            Some('\'') => return Err(self.wrong("text stands in double quotes")),
            Some('}' | ']' | ',' | ':') => return Err(self.wrong("a value is missing here")),
            None => return Err(self.wrong("the file ends before a value; it may have been cut off")),
            Some(_) => self.plain_word()?,
        };
        Ok(Json { at, value })
    }

    fn table(&mut self, depth: usize) -> Result<Vec<JsonMember>, JsonError> {
        let mut members = Vec::new();
        self.skip('{');
        loop {
            self.blank()?;
            if self.skip('}') {
                return Ok(members);
            }
            let at = self.at;
            let key = self.key()?;
            self.blank()?;
            if !self.skip(':') {
                return Err(self.wrong("`:` is missing after the key"));
            }
            self.blank()?;
            members.push(JsonMember { at, key, json: self.value(depth + 1)? });
            self.next('}')?;
        }
    }

    fn key(&mut self) -> Result<String, JsonError> {
        match (self.peek(), self.syntax) {
            (Some(c), _) if self.is_quote(c) => self.string(),
            (Some(c), Syntax::Json5) if is_word(c) => {
                let word = self.word();
                self.at += word.len();
                Ok(word.to_owned())
            }
            _ => Err(self.wrong("a key in double quotes, or `}`, is missing here")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Json>, JsonError> {
        let mut list = Vec::new();
        self.skip('[');
        loop {
            self.blank()?;
            if self.skip(']') {
                return Ok(list);
            }
            list.push(self.value(depth + 1)?);
            self.next(']')?;
        }
    }

    /// Goes over the `,` between two values; the closer stays.
    fn next(&mut self, closer: char) -> Result<(), JsonError> {
        self.blank()?;
        let begin = self.at;
        if self.skip(',') {
            self.blank()?;
            if self.peek() == Some(closer) && self.syntax == Syntax::Json {
                let text = format!("nothing stands between this `,` and the `{closer}`; remove the `,`");
                return Err(self.wrong_at(begin, &text));
            }
            return Ok(());
        }
        match self.peek() {
            Some(c) if c == closer => Ok(()),
            Some(_) => Err(self.wrong(&format!("`,` or `{closer}` is missing here"))),
            None => Err(self.wrong(&format!("the file ends before `{closer}`; it may have been cut off"))),
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let begin = self.at;
        let quote = self.peek().unwrap_or('"');
        let mut escaped = false;
        let body = self.rest().char_indices().skip(1);
        let mut ends = body.skip_while(|(_, c)| {
            let ends_line = *c == '\n' && !(escaped && self.syntax == Syntax::Json5);
            let goes_on = !ends_line && (escaped || *c != quote);
            escaped = *c == '\\' && !escaped;
            goes_on
        });
        let end = ends.next().filter(|(_, c)| *c == quote);
        let Some((end, _)) = end else {
            return Err(self.wrong(&format!("the text has no end on its line; write `{quote}` after it")));
        };
        let inside = self.rest().get(1..end).unwrap_or_default();
        self.at += end + 1;
        let strict = match self.syntax {
            Syntax::Json => inside.to_owned(),
            Syntax::Json5 => strict(inside),
        };
        serde_json::from_str(&format!("\"{strict}\"")).map_err(|error| {
            // The parser's own words, without the place in the piece that it was given.
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            self.wrong_at(begin, &format!("in this text, {text}; write `\\\\` for a `\\`"))
        })
    }

    /// What stands here up to a blank or a bracket.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len())).unwrap_or_default()
    }

    /// `true`, `false`, `null` or a number.
    fn plain_word(&mut self) -> Result<JsonValue, JsonError> {
        let word = self.word();
        let number = match self.syntax {
            Syntax::Json => word.to_owned(),
            Syntax::Json5 => strict_number(word),
        };
        let value = match word {
            "true" => JsonValue::Bool(true),
            "false" => JsonValue::Bool(false),
            "null" => JsonValue::Null,
            // The word itself is not told: it may be a key that lacks its quotes.
            _ => serde_json::from_str(&number)
                .map(JsonValue::Number)
                .map_err(|_| self.wrong("this is no value; write text in double quotes"))?,
        };
        self.at += word.len();
        Ok(value)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '+' | '-' | '.')
}

/// The inside of a text of JSON5 as JSON has it.
fn strict(inside: &str) -> String {
    let mut out = String::new();
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\t' => out.push_str("\\t"),
            '\\' => match chars.next() {
                // A text goes on after a line that ends with a backslash.
                Some('\n') | None => {}
                Some('v') => out.push_str("\\u000b"),
                Some('0') => out.push_str("\\u0000"),
                Some('x') => out.push_str("\\u00"),
                Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => out.extend(['\\', c]),
                Some(c) => out.push(c),
            },
            c => out.push(c),
        }
    }
    out
}

/// A number of JavaScript as JSON has it.
fn strict_number(word: &str) -> String {
    let unsigned = word.trim_start_matches(['+', '-']);
    let minus = if word.starts_with('-') { "-" } else { "" };
    let hex = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X"));
    if let Some(number) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return format!("{minus}{number}");
    }
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    let end = if unsigned.ends_with('.') { "0" } else { "" };
    format!("{minus}{zero}{unsigned}{end}")
}
