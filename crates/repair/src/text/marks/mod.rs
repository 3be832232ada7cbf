//! The marks that calls in tags are made of, whatever they look like in a format: one reader of blocks serves them all.

mod keyed;
mod legacy;
mod tags;
mod xtml;

use super::args::Said;
use super::cx::Cx;

/// A format whose calls are tags and whose parameters are raw text between tags.
pub(super) struct Dialect {
    /// Its name in reports.
    pub(super) format: &'static str,
    pub(super) syntax: Syntax,
    /// Words of tags around calls.
    pub(super) wrappers: &'static [&'static str],
    /// The word of the tag around a call.
    pub(super) call: &'static str,
    /// The word of the tag around a parameter.
    pub(super) param: &'static str,
    pub(super) newlines: Newlines,
    /// What can end a JSON body.
    pub(super) closers: &'static [&'static str],
}

/// What marks look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// `<word …>` and `</word>`, perhaps with a namespace.
    Tags,
    /// The same with `｜DSML｜` before the word.
    Bars,
    /// The same, but the characters by which tokenizers write blanks may have been left in.
    Residue,
    /// `<invoke><tool_name>f</tool_name><parameters><k>v</k></parameters></invoke>`.
    Legacy,
    /// `<arg_key>k</arg_key><arg_value>v</arg_value>`.
    Keys,
    /// `<|open|>word …<|sep|>` and `<|close|>word<|sep|>`.
    Xtml,
}

/// What belongs to a value of the line ends at its edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Newlines {
    /// All of them.
    Verbatim,
    /// All but one on each side.
    One,
    /// All but one on each side, if there is one on both.
    Both,
}

/// One mark of the markup of calls.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Mark {
    /// Something that holds calls begins.
    Wrap,
    /// It ends.
    Unwrap,
    /// A call begins.
    Call(Head),
    /// It ends.
    Uncall,
    /// A parameter begins.
    Param {
        key: String,
        said: Said,
        /// The namespace of its tag, which its closer has too.
        space: String,
        /// It is empty and has no closer.
        whole: bool,
    },
    /// It ends.
    Unparam {
        /// The namespace of the tag.
        space: String,
    },
}

/// What the tag of a call says.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Head {
    /// The tool's name, unless it comes later.
    pub(super) name: Option<String>,
    /// The call has no parameters and no closer.
    pub(super) whole: bool,
    /// Blanks were left in the way tokenizers write them.
    pub(super) residue: bool,
}

/// No word in a tag is longer.
const LONGEST_WORD: usize = 128;

/// Moves over the mark at the cursor; None, and nothing moved, when there is none.
pub(super) async fn mark(cx: &mut Cx, dialect: &Dialect) -> Option<Mark> {
    let from = cx.at();
    let mark = match dialect.syntax {
        Syntax::Tags | Syntax::Bars | Syntax::Residue => tags::mark(cx, dialect).await,
        Syntax::Legacy => legacy::mark(cx).await,
        Syntax::Keys => keyed::mark(cx).await,
        Syntax::Xtml => xtml::mark(cx).await,
    };
    if mark.is_none() {
        cx.rewind(from);
    }
    mark
}

/// Moves over blanks between marks.
pub(super) async fn blanks(cx: &mut Cx, dialect: &Dialect) {
    cx.blanks().await;
    while dialect.syntax == Syntax::Residue && cx.take_any(RESIDUE).await {
        cx.blanks().await;
    }
}

/// How tokenizers of bytes write a space and a line end.
const RESIDUE: &[&str] = &["Ġ", "Ċ"];

/// Puts the blanks back that a tokenizer's characters stand for.
pub(super) fn without_residue(text: &str) -> String {
    text.replace('Ġ', " ").replace('Ċ', "\n")
}

/// Puts the cursor back to the `<` of the opener that was just passed, so that it is read as a mark like any other.
pub(super) fn back_to_opener(cx: &mut Cx) {
    let at = cx.at();
    let from = (at.saturating_sub(LONGEST_WORD)..at).rev().find(|place| cx.before(place + 1) == Some(b'<'));
    cx.rewind(from.unwrap_or(at));
}

/// Whether the text ends within a mark that begins at the cursor.
pub(super) async fn is_torn(cx: &mut Cx, dialect: &Dialect) -> bool {
    let from = cx.at();
    cx.hit_end = false;
    let torn = cx.sees("<").await && mark(cx, dialect).await.is_none() && cx.hit_end;
    cx.rewind(from);
    torn
}

pub(super) use keyed::{arg_key_closer, suffixed};
pub(super) use tags::word;
pub(super) use xtml::{channel, token};
