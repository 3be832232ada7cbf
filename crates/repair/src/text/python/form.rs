use super::call::{self, Read, Unnamed};
use super::loose;
use crate::text::Ending;
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::families::Found;

/// A place where calls stand, and what holds there.
#[derive(Clone, Copy, Debug)]
pub(in crate::text) struct Form {
    /// The format's name in reports.
    pub(in crate::text) name: &'static str,
    /// What may end the block.
    pub(in crate::text) closers: &'static [&'static str],
    pub(in crate::text) unnamed: Unnamed,
    pub(in crate::text) extent: Extent,
}

/// How many calls a place holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::text) enum Extent {
    /// All up to the end of the block.
    Block,
    /// One list in square brackets.
    List,
    /// One, on a line of its own.
    Line,
}

/// Quotes that nobody escaped are sorted out in no more text than this.
const MAX_LOOSE: usize = 64 << 10;

/// Moves over blanks, line ends and comments.
pub(in crate::text) async fn blanks(cx: &mut Cx) {
    loop {
        cx.blanks().await;
        match cx.peek().await {
            Some(b'#') => {
                while !matches!(cx.peek().await, None | Some(b'\n')) {
                    cx.step();
                }
            }
            Some(b'\\') if cx.sees("\\\n").await => cx.advance(2),
            Some(_) | None => return,
        }
    }
}

/// Reads the calls of a form. What was read stands, even if what follows can't be read; the cursor is before that then.
pub(in crate::text) async fn calls(cx: &mut Cx, form: Form) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let begun = cx.at();
        let any = !found.calls.is_empty() || found.given;
        if any && form.extent == Extent::Line {
            return Some(found);
        }
        blanks(cx).await;
        match cx.peek().await {
            Some(b'[') if !any => {
                cx.advance(1);
                continue;
            }
            Some(b']') if any => {
                cx.advance(1);
                if form.extent == Extent::List {
                    found.closed = true;
                    return Some(found);
                }
                continue;
            }
            Some(b',' | b';') if any => {
                cx.advance(1);
                continue;
            }
            None => return any.then_some(found),
            Some(_) => {}
        }
        if any && cx.take_any(form.closers).await {
            found.closed = true;
            return Some(found);
        }
        match one(cx, form).await {
            One::Whole(calls) => {
                found.given |= calls.is_empty();
                found.calls.extend(calls);
            }
            One::Cut(call) => {
                found.given |= call.is_none();
                found.calls.extend(call);
                return Some(found);
            }
            One::No if any => {
                cx.rewind(begun);
                return Some(found);
            }
            One::No => return None,
        }
    }
}

/// What stands where a call should.
enum One {
    /// Calls; none where one was given out already.
    Whole(Vec<Call>),
    Cut(Option<Call>),
    No,
}

async fn one(cx: &mut Cx, form: Form) -> One {
    let begun = cx.at();
    let Some((name, printed)) = head(cx).await else { return One::No };
    match call::arguments(cx, &name, form.name, form.unnamed).await {
        Read::Whole(call) => {
            if printed {
                blanks(cx).await;
                if !cx.take(")").await && !cx.is_over().await {
                    return One::No;
                }
            }
            One::Whole(call.into_iter().collect())
        }
        Read::Cut(Some(call)) if cx.ending() == Ending::Stopped && !cx.is_tired() => {
            // A quote too many looks like a string that never ends.
            let over = cx.at();
            cx.rewind(begun);
            match again(cx, form, &name).await {
                // What ends with the text may be half of a call, which is too little for a tool that acts.
                whole @ One::Whole(_) if !cx.acts(&name) || !ends_open(cx).await => whole,
                One::Whole(_) | One::Cut(_) | One::No => {
                    cx.rewind(begun);
                    cx.advance(over - begun);
                    One::Cut(Some(call))
                }
            }
        }
        Read::Cut(call) => One::Cut(call),
        Read::Broken if cx.is_tired() => One::No,
        Read::Broken => {
            cx.rewind(begun);
            again(cx, form, &name).await
        }
    }
}

/// Whether the text is over, and the list that the cursor stands behind was not closed.
async fn ends_open(cx: &mut Cx) -> bool {
    cx.is_over().await && cx.before(cx.at()) != Some(b']')
}

/// Moves over the name of a call and its opening bracket; Gemini prints what a call returns, and the call is what is meant.
async fn head(cx: &mut Cx) -> Option<(String, bool)> {
    let name = call::name(cx).await?;
    cx.advance(1);
    if name != "print" || cx.tool(&name).is_some() {
        return Some((name, false));
    }
    let inside = cx.at();
    blanks(cx).await;
    match call::name(cx).await {
        Some(inner) => {
            cx.advance(1);
            Some((inner, true))
        }
        None => {
            cx.rewind(inside);
            Some((name, false))
        }
    }
}

/// Reads calls that can't be read as they come: all up to the end of the block at once.
async fn again(cx: &mut Cx, form: Form, name: &str) -> One {
    let from = cx.at();
    let ends = match form.extent {
        Extent::Block => form.closers,
        Extent::List => &["<|"],
        Extent::Line => &["\n"],
    };
    if cx.until(ends, MAX_LOOSE).await.is_none() && !cx.is_over().await {
        return One::No;
    }
    let text = cx.slice(from, cx.at()).trim_end();
    match loose::calls(text, &cx.catalog, form.unnamed) {
        Some(calls) => One::Whole(calls),
        // The text was cut before it could be read; that a call began is sure.
        None if cx.is_over().await && cx.ending() == Ending::Cut && form.extent == Extent::Block => {
            One::Cut(Some(Call { cut: true, ..Call::new(name, "{\"") }))
        }
        None => One::No,
    }
}
