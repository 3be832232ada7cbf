use super::Source;
use crate::tree::{Member, Node, Table, Value};
use crate::{Problem, Problems};

/// Deeper than any configuration, and no danger to the stack.
const MAX_DEPTH: usize = 64;

/// Reads JSON; comments as in JavaScript are let pass.
pub(super) fn read(source: &Source<'_>) -> Result<Node, Problems> {
    let mut reader = Reader { source, at: 0 };
    reader.document().map_err(Problems::from)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Node, Problem> {
        self.blank()?;
        if self.peek() != Some('{') {
            return Err(self.wrong("a configuration begins with `{`"));
        }
        let node = self.value(0)?;
        self.blank()?;
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.wrong("there is more after the last `}`; remove it")),
        }
    }

    fn rest(&self) -> &'a str {
        self.source.text.get(self.at..).unwrap_or_default()
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

    fn wrong(&self, text: &str) -> Problem {
        self.wrong_at(self.at, text)
    }

    fn wrong_at(&self, at: usize, text: &str) -> Problem {
        self.source.problem(at, format!("this is no JSON: {text}"))
    }

    /// Goes over white space and comments.
    fn blank(&mut self) -> Result<(), Problem> {
        loop {
            let rest = self.rest();
            let text = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - text.len();
            if text.starts_with("//") {
                self.at += text.find('\n').unwrap_or(text.len());
            } else if text.starts_with("/*") {
                let end = text.find("*/").ok_or_else(|| self.wrong("the comment has no end; write `*/`"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Problem> {
        let begin = self.at;
        if depth > MAX_DEPTH {
            return Err(self.wrong("it is nested too deeply"));
        }
        let value = match self.peek() {
            Some('{') => Value::Table(self.table(depth)?),
            Some('[') => Value::List(self.list(depth)?),
            Some('"') => Value::text(&self.string()?),
            Some('\'') => return Err(self.wrong("text stands in double quotes")),
            Some('}' | ']' | ',' | ':') => return Err(self.wrong("a value is missing here")),
            None => return Err(self.wrong("the file ends before a value; it may have been cut off")),
            Some(_) => self.word()?,
        };
        Ok(Node { origin: self.source.origin(begin), value })
    }

    fn table(&mut self, depth: usize) -> Result<Table, Problem> {
        let mut table = Table::new();
        self.skip('{');
        loop {
            self.blank()?;
            if self.skip('}') {
                return Ok(table);
            }
            let begin = self.at;
            if self.peek() != Some('"') {
                return Err(self.wrong("a key in double quotes, or `}`, is missing here"));
            }
            let key = self.string()?;
            self.blank()?;
            if !self.skip(':') {
                return Err(self.wrong("`:` is missing after the key"));
            }
            self.blank()?;
            let node = self.value(depth + 1)?;
            let member = Member { key: self.source.origin(begin), node };
            if let Some(first) = table.insert(key.clone(), member) {
                let text =
                    format!("the key `{key}` is there already, at {}; remove one of the two", first.key);
                return Err(self.wrong_at(begin, &text));
            }
            self.next('}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Problem> {
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
    fn next(&mut self, closer: char) -> Result<(), Problem> {
        self.blank()?;
        let begin = self.at;
        if self.skip(',') {
            self.blank()?;
            if self.peek() == Some(closer) {
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

    fn string(&mut self) -> Result<String, Problem> {
        let begin = self.at;
        let mut escaped = false;
        let body = self.rest().char_indices().skip(1);
        let mut ends = body.skip_while(|(_, c)| {
            let goes_on = *c != '\n' && (escaped || *c != '"');
            escaped = *c == '\\' && !escaped;
            goes_on
        });
        let Some((end, '"')) = ends.next() else {
            return Err(self.wrong("the text has no end on its line; write `\"` after it"));
        };
        let raw = self.rest().get(..=end).unwrap_or_default();
        self.at += raw.len();
        serde_json::from_str(raw).map_err(|error| {
            // The reader's own words, without the place in the piece that it was given.
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            self.wrong_at(begin, &format!("in this text, {text}; write `\\\\` for a `\\`"))
        })
    }

    /// `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<Value, Problem> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Other("null"),
            word => match serde_json::from_str::<serde_json::Number>(word) {
                Ok(number) => match (number.as_i64(), number.as_f64()) {
                    (Some(number), _) => Value::Integer(number),
                    (None, Some(number)) if !word.contains(['.', 'e', 'E']) || !number.is_finite() => {
                        Value::Other("a number that is too large")
                    }
                    (None, Some(number)) => Value::Float(number),
                    (None, None) => Value::Other("a number that is too large"),
                },
                // The word itself is not told: it may be a key that lacks its quotes.
                Err(_) => return Err(self.wrong("this is no value; write text in double quotes")),
            },
        };
        self.at += word.len();
        Ok(value)
    }
}
