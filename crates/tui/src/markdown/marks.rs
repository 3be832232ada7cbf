//! What a line of Markdown begins with. All take a line without the blanks before it.

/// The fence of a code block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Blanks before it, which its lines have too.
    pub(super) indent: usize,
}

/// The mark of an item of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) kind: ListKind,
    /// Bytes of the mark.
    pub(super) length: usize,
}

/// Items of the same kind make one list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ListKind {
    Bullets { mark: char },
    Numbers { first: u64, end: char },
}

impl ListKind {
    pub(super) fn goes_on_with(self, next: Self) -> bool {
        match (self, next) {
            (Self::Bullets { mark }, Self::Bullets { mark: next }) => mark == next,
            (Self::Numbers { end, .. }, Self::Numbers { end: next, .. }) => end == next,
            (Self::Bullets { .. }, Self::Numbers { .. }) | (Self::Numbers { .. }, Self::Bullets { .. }) => {
                false
            }
        }
    }
}

/// The level of a heading, and its text.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let apart = text.is_empty() || text.starts_with([' ', '\t']);
    if !(1..=6).contains(&level) || !apart {
        return None;
    }
    let text = text.trim_matches([' ', '\t']);
    let open = text.trim_end_matches('#');
    Some((level, if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text }))
}

/// The level of the heading that a paragraph is with this line below it.
pub(super) fn underline(line: &str) -> Option<usize> {
    let line = line.trim_end_matches([' ', '\t']);
    match line.chars().next()? {
        '=' if line.chars().all(|c| c == '=') => Some(1),
        '-' if line.chars().all(|c| c == '-') => Some(2),
        _ => None,
    }
}

/// A fence that opens a block, and the language of it.
pub(super) fn fence(line: &str, indent: usize) -> Option<(Fence, &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    if length < 3 || (mark == '`' && info.contains('`')) {
        return None;
    }
    let language = info.trim_start_matches([' ', '\t', '{', '.']);
    let language = language.split([' ', '\t', ',', '{', '}']).next().unwrap_or_default();
    Some((Fence { mark, length, indent }, language))
}

impl Fence {
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let rest = line.trim_start_matches(self.mark);
        line.len() - rest.len() >= self.length && rest.trim_matches([' ', '\t']).is_empty()
    }
}

/// Whether it is a line drawn across.
pub(super) fn is_rule(line: &str) -> bool {
    let Some(mark) = line.chars().next().filter(|c| matches!(c, '*' | '-' | '_')) else { return false };
    line.chars().all(|c| c == mark || matches!(c, ' ' | '\t'))
        && line.chars().filter(|c| *c == mark).nth(2).is_some()
}

/// The mark of an item.
pub(super) fn item(line: &str) -> Option<Item> {
    let (kind, length) = match line.chars().next()? {
        mark @ ('-' | '+' | '*') => (ListKind::Bullets { mark }, 1),
        '0'..='9' => {
            let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let digits = line.len() - rest.len();
            let end = rest.chars().next().filter(|c| matches!(c, '.' | ')'))?;
            // Longer ones are no numbers of items by the standard.
            let first = line.get(..digits).filter(|_| digits <= 9)?.parse().ok()?;
            (ListKind::Numbers { first, end }, digits + 1)
        }
        _ => return None,
    };
    let rest = line.get(length..)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(Item { kind, length })
}

/// The box of a task, with the blank behind it.
pub(super) fn task(text: &str) -> Option<&str> {
    let mark = text.get(..4)?;
    matches!(mark, "[ ] " | "[x] " | "[X] ").then_some(mark)
}

/// Tags that begin a block by themselves; others are a part of a text.
const HTML_BLOCKS: &[&str] = &[
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "details",
    "dialog",
    "dd",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "script",
    "section",
    "style",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// Whether HTML begins that is shown line by line.
pub(super) fn is_html(line: &str) -> bool {
    let Some(tag) = line.strip_prefix('<') else { return false };
    if tag.starts_with("!--") || tag.starts_with('?') {
        return true;
    }
    let tag = tag.strip_prefix('/').unwrap_or(tag);
    let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
    let ends_well =
        tag.get(end..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '>', '/']));
    // No tag of the list is longer; it keeps a very long word from being copied.
    let name = tag.get(..end.min(16)).unwrap_or_default().to_ascii_lowercase();
    ends_well && HTML_BLOCKS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings() {
        for (line, expected) in [
            ("# A", Some((1, "A"))),
            ("###### B ##", Some((6, "B"))),
            ("# C#", Some((1, "C#"))),
            ("#", Some((1, ""))),
            ("## ##", Some((2, ""))),
            ("#hash", None),
            ("####### seven", None),
        ] {
            assert_eq!(heading(line), expected, "{line}");
        }
    }

    #[test]
    fn fences_know_their_language_and_their_end() {
        for (line, language) in [
            ("```rust", Some("rust")),
            ("~~~~ {.python .numbers}", Some("python")),
            ("```rust,ignore", Some("rust")),
            ("```", Some("")),
            ("``` a`b", None),
            ("``", None),
        ] {
            assert_eq!(fence(line, 0).map(|(_, language)| language), language, "{line}");
        }
        let (four, _) = fence("````md", 0).unwrap();
        for (line, closed) in
            [("````", true), ("``````  ", true), ("```", false), ("```` a", false), ("~~~~", false)]
        {
            assert_eq!(four.is_closed_by(line), closed, "{line}");
        }
    }

    #[test]
    fn items_rules_and_html() {
        let number = |first, end| ListKind::Numbers { first, end };
        for (line, expected) in [
            ("- a", Some((ListKind::Bullets { mark: '-' }, 1))),
            ("*", Some((ListKind::Bullets { mark: '*' }, 1))),
            ("12) a", Some((number(12, ')'), 3))),
            ("1.a", None),
            ("1234567890. a", None),
            ("-a", None),
        ] {
            assert_eq!(item(line).map(|item| (item.kind, item.length)), expected, "{line}");
        }
        for (line, rule) in [("---", true), ("* * *", true), ("_ _", false), ("--*", false)] {
            assert_eq!(is_rule(line), rule, "{line}");
        }
        for (line, html) in
            [("<div>", true), ("</details>", true), ("<!-- a", true), ("<b>", false), ("<p1", false)]
        {
            assert_eq!(is_html(line), html, "{line}");
        }
    }
}
