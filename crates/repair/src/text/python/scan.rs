use super::form::blanks;
use super::string::{self, MAX_PREFIX, Style};
use crate::text::cx::Cx;

/// Names are no longer than this.
pub(super) const MAX_NAME: usize = 128;

/// How something in the text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Whole,
    /// The text was over first.
    Over,
    Broken,
}

/// Moves over a word of letters, digits and these.
pub(super) async fn word(cx: &mut Cx, also: &[u8]) -> Option<String> {
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        let first = cx.at() == from;
        let is_part = byte == b'_'
            || byte.is_ascii_alphabetic()
            || !first && (byte.is_ascii_digit() || also.contains(&byte));
        if !is_part {
            break;
        }
        if cx.at() - from >= MAX_NAME {
            return None;
        }
        cx.advance(1);
    }
    Some(cx.slice(from, cx.at()).to_owned()).filter(|word| !word.is_empty())
}

/// The string literal that begins at the cursor, if one does.
pub(super) async fn style(cx: &mut Cx) -> Option<(Style, usize)> {
    for ahead in 0..=MAX_PREFIX {
        let byte = cx.peek_at(ahead).await?;
        if matches!(byte, b'"' | b'\'') {
            if cx.peek_at(ahead + 1).await == Some(byte) {
                cx.peek_at(ahead + 2).await;
            }
            return Style::at(cx.rest().as_bytes());
        }
        if !byte.is_ascii_alphabetic() {
            return None;
        }
    }
    None
}

/// Moves over a list, tuple, set or dict.
pub(super) async fn container(cx: &mut Cx) -> End {
    let mut depth = 0_usize;
    loop {
        let Some(byte) = cx.peek().await else { return End::Over };
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    cx.advance(1);
                    return End::Whole;
                }
            }
            b'#' => {
                blanks(cx).await;
                continue;
            }
            b'"' | b'\'' => {
                if !skip_string(cx).await {
                    return End::Over;
                }
                continue;
            }
            _ => {
                cx.step();
                continue;
            }
        }
        cx.advance(1);
    }
}

/// Moves over a string literal from its quote on; false when the text ends in it.
async fn skip_string(cx: &mut Cx) -> bool {
    let Some((style, opener)) = style(cx).await else { return false };
    cx.advance(opener);
    loop {
        let rest = cx.rest();
        let Some(plain) = memchr::memchr2(style.quote, b'\\', rest.as_bytes()) else {
            cx.advance(rest.len());
            if !cx.more().await {
                return false;
            }
            continue;
        };
        cx.advance(plain);
        if cx.sees("\\").await {
            cx.advance(1);
            if cx.is_over().await {
                return false;
            }
            cx.step();
        } else if !style.triple || closes_triple(cx, style.quote).await {
            cx.advance(style.closer());
            return true;
        } else {
            cx.advance(1);
        }
    }
}

async fn closes_triple(cx: &mut Cx, quote: u8) -> bool {
    for ahead in 1..3 {
        if cx.peek_at(ahead).await != Some(quote) {
            return false;
        }
    }
    cx.peek_at(3).await;
    string::closes_triple(cx.rest().as_bytes(), quote)
}

/// Whether the quote at the cursor ends the string of an argument: only what may follow an argument follows.
pub(super) async fn closes(cx: &mut Cx, style: Style, unnamed: bool, given: bool) -> bool {
    if style.triple {
        return closes_triple(cx, style.quote).await;
    }
    let quote = cx.at();
    cx.advance(1);
    let closes = ends_argument(cx, unnamed, given).await;
    cx.rewind(quote);
    closes
}

async fn ends_argument(cx: &mut Cx, unnamed: bool, given: bool) -> bool {
    cx.blanks().await;
    match cx.peek().await {
        None => true,
        // A comment is looked for only where one wrong quote ends the reading, or every quote would look to the end of the line.
        Some(b'#') => !given,
        Some(b')') if given => {
            cx.advance(1);
            let from = cx.at();
            blanks(cx).await;
            cx.slice(from, cx.at()).contains('\n')
                || matches!(cx.peek().await, None | Some(b',' | b';' | b']' | b')' | b'<' | b'`'))
        }
        Some(b')') => true,
        Some(b',') if unnamed => true,
        Some(b',') => {
            cx.advance(1);
            blanks(cx).await;
            if matches!(cx.peek().await, None | Some(b')' | b'*')) {
                return true;
            }
            if word(cx, b"").await.is_none() {
                return false;
            }
            blanks(cx).await;
            matches!(cx.peek().await, None | Some(b'='))
        }
        Some(_) => style(cx).await.is_some(),
    }
}
