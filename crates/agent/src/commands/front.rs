//! Front matter: lines of `key: value` between two lines of `---` at the beginning of a Markdown file.
//!
//! What people write there is not always YAML: `argument-hint: [file] [line]` and `description: Fix: the bug` are in use everywhere
//! and no YAML reader takes them. So this reads a simple subset in which a value is the rest of its line: texts with or without
//! quotes, lists, blocks behind `|` and `>`, and lines that go on further in.

use std::collections::BTreeMap;

use rail_stdx::front_matter;

/// What stands before a text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Front {
    fields: BTreeMap<String, Field>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Field {
    Text(String),
    List(Vec<String>),
}

/// What is wrong in front matter.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct FrontError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there, and what to write instead.
    pub what: String,
}

/// Reads the front matter of a text, and gives the text behind it. A text that does not begin with `---`, or has no second one, has none.
///
/// # Errors
/// The first line that can't be understood.
pub fn front(text: &str) -> Result<(Front, &str), FrontError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((head, body)) = front_matter(text) else { return Ok((Front::default(), text)) };
    let mut lines: Lines<'_> = head.lines().zip(2..).peekable();
    let mut fields = BTreeMap::new();
    while let Some((line, number)) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| FrontError { line: number, what: what.to_owned() };
        let (key, value) = line.split_once(':').ok_or_else(|| wrong("it has no `:`; write `key: value`"))?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
        if !is_key {
            return Err(wrong(
                "there is no key before the `:`; write `key: value`, and what belongs to it further in",
            ));
        }
        let field = field(value.trim(), &mut lines);
        if fields.insert(key.to_owned(), field).is_some() {
            return Err(wrong(&format!("`{key}` is there twice; keep one of them")));
        }
    }
    Ok((Front { fields }, body))
}

type Lines<'a> = std::iter::Peekable<std::iter::Zip<std::str::Lines<'a>, std::ops::RangeFrom<usize>>>;

/// The value of a key, with the lines that belong to it.
fn field(value: &str, lines: &mut Lines<'_>) -> Field {
    let block = matches!(value.trim_end_matches(['-', '+']), "|" | ">");
    let mut more = Vec::new();
    let goes_on = |line: &str| {
        let item = value.is_empty() && (line.starts_with("- ") || line == "-");
        line.starts_with([' ', '\t']) || item || (block && line.is_empty())
    };
    while let Some((line, _)) = lines.next_if(|(line, _)| goes_on(line)) {
        more.push(line);
    }
    if block {
        let glue = if value.starts_with('|') { "\n" } else { " " };
        let depth = more.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min();
        let rest = more.iter().map(|line| line.get(depth.unwrap_or(0)..).unwrap_or_default().trim_end());
        return Field::Text(rest.collect::<Vec<_>>().join(glue).trim_end().to_owned());
    }
    let items: Option<Vec<String>> =
        more.iter().map(|line| line.trim().strip_prefix('-').map(|item| unquoted(item.trim()))).collect();
    match items {
        Some(items) if value.is_empty() && !items.is_empty() => Field::List(items),
        Some(_) | None => {
            let all = std::iter::once(value).chain(more.iter().map(|line| line.trim()));
            let all: Vec<&str> = all.filter(|line| !line.is_empty()).collect();
            Field::Text(unquoted(&all.join(" ")))
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> String {
    let inside = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    if let Some(text) = inside('\'') {
        return text.replace("''", "'");
    }
    let Some(text) = inside('"') else { return value.to_owned() };
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(kept) => out.push(kept),
                None => out.push('\\'),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

impl Front {
    /// The keys that are there, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    /// The text of a key; nothing where it is not there or empty.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Field::Text(text) => text.clone(),
            Field::List(items) => items.join(", "),
        };
        (!text.is_empty()).then_some(text)
    }

    /// The list of a key: one line for each, or with commas between them. A comma in brackets, as in `Bash(a, b)`, parts nothing.
    pub fn list(&self, key: &str) -> Vec<String> {
        let items = match self.fields.get(key) {
            None => Vec::new(),
            Some(Field::List(items)) => items.clone(),
            Some(Field::Text(text)) => {
                let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                parted(inside.unwrap_or(text))
            }
        };
        items.into_iter().filter(|item| !item.is_empty()).collect()
    }

    /// The switch of a key.
    ///
    /// # Errors
    /// It is neither on nor off.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.text(key).as_deref().map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "yes" | "on") => Ok(Some(true)),
            Some("false" | "no" | "off") => Ok(Some(false)),
            Some(other) => Err(format!("`{key}` is `{other}`; write `true` or `false`")),
        }
    }
}

fn parted(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|part| unquoted(part.trim())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = "---\r
# a comment\r
description: Fix: the \"bug\"\r
argument-hint: [file] [line]

quoted: \"a \\\"b\\\"\\n\"
single: 'it''s'
allowed-tools: Bash(git add:*), Bash(a, b), Read
listed:
  - Bash(git log:*)
  - \"Read\"
flat:
- one
flow: [a, \"b\", c]
block: |
  first
    second

  third
folded: >-
  one
  two
long: begins
  and goes on
empty:
on: True
---
# Body
---
more";

    #[test]
    fn every_form_is_read() {
        let (front, body) = front(WHOLE).unwrap();
        assert_eq!(body, "# Body\n---\nmore");
        for (key, expected) in [
            ("description", Some("Fix: the \"bug\"")),
            ("argument-hint", Some("[file] [line]")),
            ("quoted", Some("a \"b\"\n")),
            ("single", Some("it's")),
            ("listed", Some("Bash(git log:*), Read")),
            ("block", Some("first\n  second\n\nthird")),
            ("folded", Some("one two")),
            ("long", Some("begins and goes on")),
            ("empty", None),
            ("missing", None),
        ] {
            assert_eq!(front.text(key).as_deref(), expected, "{key}");
        }
        for (key, expected) in [
            ("allowed-tools", &["Bash(git add:*)", "Bash(a, b)", "Read"][..]),
            ("listed", &["Bash(git log:*)", "Read"]),
            ("flat", &["one"]),
            ("flow", &["a", "b", "c"]),
            ("empty", &[]),
            ("missing", &[]),
        ] {
            assert_eq!(front.list(key), expected, "{key}");
        }
        assert_eq!(front.flag("on"), Ok(Some(true)));
        assert_eq!(front.flag("missing"), Ok(None));
        assert_eq!(front.flag("flat"), Err("`flat` is `one`; write `true` or `false`".to_owned()));
    }

    #[test]
    fn a_text_without_front_matter_is_all_body() {
        for text in ["", "body", "---", "---\nnever: closed\n", "----\na: b\n---\n", " ---\na: b\n---\n"] {
            assert_eq!(front(text), Ok((Front::default(), text)), "{text:?}");
        }
        assert_eq!(front("---\n---\nbody"), Ok((Front::default(), "body")));
        assert_eq!(front("\u{feff}---\n---"), Ok((Front::default(), "")));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("---\na: b\nno colon\n---\n", "line 3: it has no `:`; write `key: value`"),
            (
                "---\n  a: b\n---\n",
                "line 2: there is no key before the `:`; write `key: value`, and what belongs to it further in",
            ),
            ("---\na: b\na: c\n---\n", "line 3: `a` is there twice; keep one of them"),
        ] {
            assert_eq!(front(text).unwrap_err().to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(---\n)?[a-c:>|'\"\\[\\](),\\\\ \n-]{0,40}(\n---\n)?x?") {
            if let Ok((front, body)) = front(&text) {
                prop_assert!(text.ends_with(body));
                for key in front.keys() {
                    let _ = (front.text(key), front.list(key), front.flag(key));
                }
            }
        }

        #[test]
        fn a_plain_value_comes_back(value in "[a-zA-Z][a-zA-Z0-9 :#$()/.-]{0,20}[a-z]") {
            let text = ["---\nkey: ", &value, "\n---\nbody"].concat();
            let (front, body) = front(&text).unwrap();
            prop_assert_eq!((front.text("key"), body), (Some(value), "body"));
        }
    }
}
