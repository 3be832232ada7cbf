//! The text of a command, read once: what is put in later is never read again.

use rail_proto::mentions;

/// A piece of a command's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// As it stands.
    Text(String),
    /// Something that the user gives.
    Given(Given),
    /// A command whose output stands here.
    Command(Vec<Piece>),
    /// A file that is attached; it may be given by the user.
    File(Vec<Piece>),
}

/// Something that the user gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Given {
    /// All that stands behind the name.
    All,
    /// One word of it, counted from 1.
    Word(usize),
}

/// Reads a command's text.
pub(super) fn template(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut files = mentions(text).into_iter().peekable();
    let (mut from, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        while files.next_if(|mention| mention.range.start < at).is_some() {}
        let found = if let Some(mention) = files.next_if(|mention| mention.range.start == at) {
            Some((mention.range.len(), Piece::File(with_given(&mention.path))))
        } else {
            let free = text.get(..at).and_then(|before| before.chars().next_back());
            command(rest).filter(|_| free.is_none_or(char::is_whitespace)).or_else(|| given(rest))
        };
        match found {
            Some((len, piece)) => {
                pieces.extend(as_text(text.get(from..at)));
                pieces.push(piece);
                at += len;
                from = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    pieces.extend(as_text(text.get(from..)));
    pieces
}

/// Whether a text says where what the user gives is to stand.
pub(super) fn has_given(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Text(_) => false,
        Piece::Given(_) => true,
        Piece::Command(inner) | Piece::File(inner) => has_given(inner),
    })
}

fn as_text(text: Option<&str>) -> Option<Piece> {
    text.filter(|text| !text.is_empty()).map(|text| Piece::Text(text.to_owned()))
}

/// A command at the beginning of a text, `` !`git status` ``, and how long it is.
fn command(rest: &str) -> Option<(usize, Piece)> {
    let (command, _) = rest.strip_prefix("!`")?.split_once('`')?;
    let is_command = !command.trim().is_empty();
    is_command.then(|| (command.len() + 3, Piece::Command(with_given(command))))
}

/// `$ARGUMENTS` or `$1` to `$9` at the beginning of a text. `$10` and `$ARGUMENTS_2` are something else.
fn given(rest: &str) -> Option<(usize, Piece)> {
    let name = rest.strip_prefix('$')?;
    let (given, name_len) = match name.strip_prefix("ARGUMENTS") {
        Some(_) => (Given::All, "ARGUMENTS".len()),
        None => {
            let digit = name.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
            (Given::Word(usize::try_from(digit).ok()?), 1)
        }
    };
    let goes_on = name.get(name_len..)?.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (!goes_on).then_some((name_len + 1, Piece::Given(given)))
}

/// A text in which only what the user gives is put in.
fn with_given(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match given(rest) {
            Some((len, piece)) => {
                pieces.extend(as_text(text.get(from..at)));
                pieces.push(piece);
                at += len;
                from = at;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    pieces.extend(as_text(text.get(from..)));
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A template in few words.
    fn shown(pieces: &[Piece]) -> String {
        let each = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => format!("{text:?}"),
            Piece::Given(Given::All) => "all".to_owned(),
            Piece::Given(Given::Word(word)) => format!("word {word}"),
            Piece::Command(inner) => format!("run({})", shown(inner)),
            Piece::File(inner) => format!("file({})", shown(inner)),
        });
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_text_is_read_once() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            ("Fix $ARGUMENTS now", r#""Fix " all " now""#),
            (
                "$1, $2 and $9; $0 $10 $1x $ $ARGUMENTS_X $$3",
                r#"word 1 ", " word 2 " and " word 9 "; $0 $10 $1x $ $ARGUMENTS_X $" word 3"#,
            ),
            (
                "State: !`git status`\n!`git log $1 -- @x`",
                r#""State: " run("git status") "\n" run("git log " word 1 " -- @x")"#,
            ),
            ("x!`no` !`` !`open", r#""x!`no` !`` !`open""#),
            ("!important ![image](a.png)", r#""!important ![image](a.png)""#),
            (
                "See @src/a.rs, @$1 and me@x.org.",
                r#""See " file("src/a.rs") ", " file(word 1) " and me@x.org.""#,
            ),
            ("", ""),
        ] {
            assert_eq!(shown(&template(text)), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[$!@`A-C1-3 ./\\nARGUMENTS\"\\\\é]{0,40}") {
            template(&text);
        }

        #[test]
        fn a_text_without_signs_stays(text in "[a-z \\n.,!`]{0,40}") {
            prop_assume!(!text.contains("!`"));
            let expected: Vec<Piece> = as_text(Some(&text)).into_iter().collect();
            prop_assert_eq!(template(&text), expected);
        }
    }
}
