use super::{Dialect, Head, LONGEST_WORD, Mark, RESIDUE, Syntax};
use crate::text::args::Said;
use crate::text::cx::Cx;

/// What stands around `DSML`, in all the ways it was seen.
const BARS: &[&str] = &["｜", "|", "‖", "∥"];

/// What a word means in a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Wrapper,
    Call,
    Param,
}

/// A mark that is a tag; the cursor may be anywhere when there is none.
pub(super) async fn mark(cx: &mut Cx, dialect: &Dialect) -> Option<Mark> {
    if !cx.take("<").await {
        return None;
    }
    let barred = dialect.syntax == Syntax::Bars;
    if barred {
        few_spaces(cx).await;
    }
    let mut closing = cx.take("/").await;
    if barred {
        bars(cx).await?;
        closing |= cx.take("/").await;
    }
    let spelled = word(cx).await?;
    let (space, name) = spelled.rsplit_once(':').unwrap_or(("", &spelled));
    let (role, collapsed) = role(dialect, name)?;
    if closing {
        return closer(cx, role, space).await;
    }
    let tag = Tag::read(cx, dialect, collapsed).await?;
    tag.mark(role, space)
}

/// A word of letters, digits and the like; None when there is none or it is too long.
pub(in crate::text) async fn word(cx: &mut Cx) -> Option<String> {
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.')) {
            break;
        }
        cx.advance(1);
        if cx.at() - from > LONGEST_WORD {
            return None;
        }
    }
    let word = cx.slice(from, cx.at());
    (!word.is_empty()).then(|| word.to_owned())
}

async fn few_spaces(cx: &mut Cx) {
    for _ in 0..4 {
        if !cx.take(" ").await {
            return;
        }
    }
}

/// Moves over `｜DSML｜`.
async fn bars(cx: &mut Cx) -> Option<()> {
    few_spaces(cx).await;
    run_of_bars(cx).await?;
    if !cx.take("DSML").await {
        return None;
    }
    few_spaces(cx).await;
    run_of_bars(cx).await
}

async fn run_of_bars(cx: &mut Cx) -> Option<()> {
    let mut any = None;
    for _ in 0..4 {
        if !cx.take_any(BARS).await {
            break;
        }
        any = Some(());
        few_spaces(cx).await;
    }
    any
}

/// What a word means, and whether `name` is glued to it.
fn role(dialect: &Dialect, word: &str) -> Option<(Role, bool)> {
    let plain = |word: &str| {
        if word == dialect.call {
            Some(Role::Call)
        } else if word == dialect.param {
            Some(Role::Param)
        } else if dialect.wrappers.contains(&word) {
            Some(Role::Wrapper)
        } else {
            None
        }
    };
    if let Some(role) = plain(word) {
        return Some((role, false));
    }
    plain(word.strip_suffix("name")?).filter(|role| *role != Role::Wrapper).map(|role| (role, true))
}

/// The rest of a closing tag; some models repeat the name in it.
async fn closer(cx: &mut Cx, role: Role, space: &str) -> Option<Mark> {
    few_spaces(cx).await;
    if cx.take("=").await {
        cx.until(&[">", "<", "\n"], LONGEST_WORD).await?;
    }
    if !cx.take(">").await {
        return None;
    }
    Some(match role {
        Role::Wrapper => Mark::Unwrap,
        Role::Call => Mark::Uncall,
        Role::Param => Mark::Unparam { space: space.to_owned() },
    })
}

/// What stands in an opening tag behind its word.
#[derive(Default)]
struct Tag {
    name: Option<String>,
    string: Option<String>,
    whole: bool,
    residue: bool,
}

impl Tag {
    async fn read(cx: &mut Cx, dialect: &Dialect, collapsed: bool) -> Option<Self> {
        let mut tag = Self::default();
        if cx.sees("=").await {
            tag.name = Some(value(cx, Edge::Tag).await?);
        }
        if collapsed && tag.name.is_none() {
            return None;
        }
        loop {
            tag.residue |= gap(cx, dialect).await;
            if cx.take(">").await {
                return Some(tag);
            }
            if cx.take("/>").await {
                tag.whole = true;
                return Some(tag);
            }
            let key = word(cx).await?;
            tag.residue |= gap(cx, dialect).await;
            let value = value(cx, Edge::Blank).await?;
            match key.as_str() {
                "name" if tag.name.is_none() => tag.name = Some(value),
                "string" => tag.string = Some(value),
                _ => {}
            }
        }
    }

    fn mark(self, role: Role, space: &str) -> Option<Mark> {
        match role {
            Role::Wrapper => (self.name.is_none() && !self.whole).then_some(Mark::Wrap),
            Role::Call => {
                Some(Mark::Call(Head { name: self.name, whole: self.whole, residue: self.residue }))
            }
            Role::Param => {
                let said = match self.string.as_deref() {
                    Some("true") => Said::String,
                    Some("false") => Said::Json,
                    Some(_) | None => Said::Nothing,
                };
                Some(Mark::Param { key: self.name?, said, space: space.to_owned(), whole: self.whole })
            }
        }
    }
}

/// Moves over blanks in a tag, and says whether some were written as a tokenizer writes them.
async fn gap(cx: &mut Cx, dialect: &Dialect) -> bool {
    let mut residue = false;
    for _ in 0..8 {
        cx.blanks().await;
        if dialect.syntax != Syntax::Residue || !cx.take_any(RESIDUE).await {
            break;
        }
        residue = true;
    }
    residue
}

/// What ends a value without quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The end of the tag.
    Tag,
    /// A blank, too.
    Blank,
}

/// `=` and a value, in double quotes, single quotes or none.
async fn value(cx: &mut Cx, edge: Edge) -> Option<String> {
    if !cx.take("=").await {
        return None;
    }
    cx.blanks().await;
    for quote in ["\"", "'"] {
        if cx.take(quote).await {
            let value = cx.until(&[quote, "\n", "<"], LONGEST_WORD).await?;
            return cx.take(quote).await.then_some(value);
        }
    }
    let words: &[&str] = match edge {
        Edge::Tag => &[">", "\n", "<"],
        Edge::Blank => &[">", "/>", " ", "\n", "<"],
    };
    let value = cx.until(words, LONGEST_WORD).await?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}
