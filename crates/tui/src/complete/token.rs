use std::ops::Range;

/// What is being typed that can be completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it names.
    pub kind: TokenKind,
    /// Where it stands, with its sign and its quotes: what a completion replaces.
    pub range: Range<usize>,
    /// What is typed of the name, up to the cursor.
    pub query: String,
}

/// What a token names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A file or a folder, `@path`.
    File,
    /// A command, `/name`.
    Command,
}

/// What may stand before the `@` of a file besides white space.
const OPENERS: &[char] = &['(', '[', '{', '<', '"', '\''];

/// The token in which the cursor is, if there is one.
pub fn token_at(text: &str, cursor: usize) -> Option<Token> {
    let cursor = text.floor_char_boundary(cursor);
    command(text, cursor).or_else(|| file(text, cursor))
}

/// Whether the text is a command for the shell.
pub fn is_shell(text: &str) -> bool {
    text.starts_with('!')
}

/// Whether the text is a note for the memory file.
pub fn is_note(text: &str) -> bool {
    text.starts_with('#')
}

/// A command is the first word of the whole text.
fn command(text: &str, cursor: usize) -> Option<Token> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let query = text.get(..cursor)?.strip_prefix('/')?;
    (cursor <= end).then(|| Token { kind: TokenKind::Command, range: 0..end, query: query.to_owned() })
}

/// A mention in the line of the cursor.
fn file(text: &str, cursor: usize) -> Option<Token> {
    let line = text.get(..cursor)?.rfind('\n').map_or(0, |newline| newline + 1);
    let mut at = line;
    while let Some(next) = text.get(at..cursor)?.find('@') {
        let start = at + next;
        at = start + 1;
        let before = text.get(line..start)?.chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && !OPENERS.contains(&c)) {
            continue;
        }
        let Name { end, is_closed } = name(text, at);
        // Behind its second quote a name is complete.
        if cursor < end || cursor == end && !is_closed {
            let query = plain(text.get(at..cursor)?);
            return Some(Token { kind: TokenKind::File, range: start..end, query });
        }
        at = end;
    }
    None
}

/// The extent of a name.
struct Name {
    end: usize,
    /// Whether it is in quotes, and the second is there.
    is_closed: bool,
}

fn name(text: &str, start: usize) -> Name {
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    if let Some(quoted) = line.strip_prefix('"') {
        return match quoted.find('"') {
            Some(close) => Name { end: start + close + 2, is_closed: true },
            None => Name { end: start + line.len(), is_closed: false },
        };
    }
    let mut is_escaped = false;
    let len = line.find(|c: char| {
        let ends = c.is_whitespace() && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    Name { end: start + len.unwrap_or(line.len()), is_closed: false }
}

/// A name without its quotes and backslashes.
fn plain(name: &str) -> String {
    if let Some(quoted) = name.strip_prefix('"') {
        return quoted.to_owned();
    }
    let mut is_escaped = false;
    let kept = |c: &char| {
        is_escaped = *c == '\\' && !is_escaped;
        !is_escaped
    };
    name.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_proto::mention;

    use super::*;

    #[test]
    fn tokens_are_told_from_what_is_none() {
        use TokenKind::{Command, File};
        type Found<'a> = Option<(TokenKind, &'a str, &'a str)>;
        let cases: &[(&str, Found<'_>)] = &[
            ("@|", Some((File, "@", ""))),
            ("see @src/ma|", Some((File, "@src/ma", "src/ma"))),
            ("see @sr|c/main.rs now", Some((File, "@src/main.rs", "sr"))),
            ("see @src/main.rs| now", Some((File, "@src/main.rs", "src/main.rs"))),
            ("see @src/main.rs |now", None),
            ("(@a|)", Some((File, "@a)", "a"))),
            ("me@example|.com", None),
            ("@a@b|", Some((File, "@a@b", "a@b"))),
            ("@\"a b|", Some((File, "@\"a b", "a b"))),
            ("@\"a b|c\" d", Some((File, "@\"a bc\"", "a b"))),
            ("@\"a b\"|", None),
            ("@\"a b\" x|", None),
            ("@a\\ b|", Some((File, "@a\\ b", "a b"))),
            ("one\n@t|wo", Some((File, "@two", "t"))),
            ("@one\nt|wo", None),
            ("|@a", None),
            ("/|", Some((Command, "/", ""))),
            ("/mo|del fast", Some((Command, "/model", "mo"))),
            ("/model fa|st", None),
            (" /model|", None),
            ("|/model", None),
            ("/add @f|", Some((File, "@f", "f"))),
            ("a /b|", None),
            ("@übung/ä|", Some((File, "@übung/ä", "übung/ä"))),
        ];
        for (marked, expected) in cases {
            let (cursor, text) = (marked.find('|').unwrap(), marked.replacen('|', "", 1));
            let token = token_at(&text, cursor);
            let found = token.as_ref().map(|t| (t.kind, &text[t.range.clone()], t.query.as_str()));
            assert_eq!(found, *expected, "{marked}");
        }
    }

    #[test]
    fn the_first_sign_says_what_a_text_is() {
        assert!(is_shell("!ls") && !is_shell(" !ls") && is_note("# it") && !is_note("a #1"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[@/a-c\\\\\" \\né(]{0,20}", cursor in 0_usize..24) {
            if let Some(token) = token_at(&text, cursor) {
                prop_assert!(text.get(token.range).is_some());
            }
        }

        #[test]
        fn what_is_mentioned_is_a_token(path in "[a-z/. \"\\\\]{1,12}") {
            let text = mention(&path);
            let cursor = if text.ends_with('"') && text.starts_with("@\"") { text.len() - 1 } else { text.len() };
            prop_assert_eq!(token_at(&text, cursor).map(|token| token.query), Some(path));
        }
    }
}
