use super::args::{Call, Live, Params};
use super::cx::Cx;
use super::families::Found;
use super::json::{self, Scanned};
use super::marks::{self, Dialect, Head, Mark};
use super::raw::{self, Ended, Raw};

/// A call that was read; the cursor is behind it.
pub(super) struct Read {
    /// None when it was given out while it was read.
    pub(super) call: Option<Call>,
    /// Its own closer was there.
    pub(super) closed: bool,
}

impl Read {
    /// Adds it to what was found.
    pub(super) fn add_to(self, found: &mut Found) {
        match self.call {
            Some(call) => found.calls.push(call),
            None => found.given = true,
        }
    }
}

/// Reads a block of calls from its opener on, which was just passed: `<wrapper><call>…</call></wrapper>`.
pub(super) async fn wrapped(cx: &mut Cx, dialect: &Dialect) -> Option<Found> {
    marks::back_to_opener(cx);
    match marks::mark(cx, dialect).await? {
        Mark::Wrap => calls(cx, dialect).await,
        Mark::Unwrap | Mark::Call(_) | Mark::Uncall | Mark::Param { .. } | Mark::Unparam { .. } => None,
    }
}

/// Reads one call without anything around it from its opener on, which was just passed.
pub(super) async fn bare(cx: &mut Cx, dialect: &Dialect) -> Option<Found> {
    marks::back_to_opener(cx);
    let Mark::Call(head) = marks::mark(cx, dialect).await? else { return None };
    let found = bare_call(cx, dialect, head).await?;
    // What was around the calls may have lost its beginning only.
    unwraps(cx, dialect).await;
    Some(found)
}

/// Moves over closers of what holds calls.
async fn unwraps(cx: &mut Cx, dialect: &Dialect) {
    loop {
        let from = cx.at();
        marks::blanks(cx, dialect).await;
        if marks::mark(cx, dialect).await != Some(Mark::Unwrap) {
            cx.rewind(from);
            return;
        }
    }
}

/// Reads one call without anything around it behind the tag that begins it. Only a declared tool can be meant, and nothing is
/// given out early, because only its closer proves the call.
pub(super) async fn bare_call(cx: &mut Cx, dialect: &Dialect, head: Head) -> Option<Found> {
    cx.tool(head.name.as_deref()?)?;
    let may_stream = std::mem::replace(&mut cx.may_stream, false);
    let read = call(cx, dialect, head).await;
    cx.may_stream = may_stream;
    let Read { call, closed } = read?;
    Some(Found { calls: call.into_iter().collect(), given: false, closed })
}

/// Reads calls up to the end of what holds them. What was read before a call that is broken stands.
pub(super) async fn calls(cx: &mut Cx, dialect: &Dialect) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let after = cx.at();
        marks::blanks(cx, dialect).await;
        match marks::mark(cx, dialect).await {
            Some(Mark::Call(head)) => match call(cx, dialect, head).await {
                Some(read) => read.add_to(&mut found),
                None => {
                    cx.rewind(after);
                    break;
                }
            },
            // Some models say the opener twice.
            Some(Mark::Wrap) => {}
            Some(Mark::Unwrap) => {
                found.closed = true;
                // An opener that was said twice may be closed twice.
                unwraps(cx, dialect).await;
                break;
            }
            Some(Mark::Uncall | Mark::Param { .. } | Mark::Unparam { .. }) | None => {
                cx.rewind(after);
                break;
            }
        }
    }
    (found.given || !found.calls.is_empty()).then_some(found)
}

/// Reads a call behind the tag that begins it; None when it is none.
pub(super) async fn call(cx: &mut Cx, dialect: &Dialect, head: Head) -> Option<Read> {
    let Head { name, whole, residue } = head;
    let live = Live::new(name?, dialect.format);
    if whole {
        return Some(Read { call: Params::new(live).end(cx), closed: true });
    }
    marks::blanks(cx, dialect).await;
    if cx.sees("{").await {
        return json_body(cx, dialect, live).await;
    }
    params(cx, dialect, Params::new(live), residue).await
}

/// Reads arguments that are one JSON object, and the closer of the call.
pub(super) async fn json_body(cx: &mut Cx, dialect: &Dialect, live: Live) -> Option<Read> {
    let (call, end) = json::arguments(cx, live, dialect.closers).await?;
    if end == Scanned::Over {
        return Some(Read { call, closed: false });
    }
    let after = cx.at();
    marks::blanks(cx, dialect).await;
    let closed = marks::mark(cx, dialect).await == Some(Mark::Uncall);
    if !closed {
        cx.rewind(after);
    }
    Some(Read { call, closed })
}

/// Reads the value of a parameter that began already, and then as [`params`] does.
pub(super) async fn params_from_value(cx: &mut Cx, dialect: &Dialect, mut begun: Params) -> Option<Read> {
    let raw = Raw { dialect, space: "", residue: false };
    if value(cx, &raw, &mut begun).await == Ended::Over {
        return Some(Read { call: begun.end_of_text(cx), closed: false });
    }
    params(cx, dialect, begun, false).await
}

async fn value(cx: &mut Cx, raw: &Raw<'_>, params: &mut Params) -> Ended {
    let ended = match raw.read_cdata(cx, params).await {
        Some(ended) => ended,
        None => raw.read(cx, params).await,
    };
    if ended != Ended::Over {
        params.end_value(cx);
    }
    ended
}

/// Reads parameters and the closer of their call. None when something stands between them that does not belong there.
pub(super) async fn params(
    cx: &mut Cx,
    dialect: &Dialect,
    mut params: Params,
    residue: bool,
) -> Option<Read> {
    loop {
        let after = cx.at();
        marks::blanks(cx, dialect).await;
        let begun = cx.at();
        match marks::mark(cx, dialect).await {
            Some(Mark::Param { key, said, space, whole }) => {
                params.begin(cx, &key, said);
                if whole {
                    params.end_value(cx);
                    continue;
                }
                let raw = Raw { dialect, space: &space, residue };
                if value(cx, &raw, &mut params).await == Ended::Over {
                    return Some(Read { call: params.end_of_text(cx), closed: false });
                }
            }
            Some(Mark::Uncall) => return Some(Read { call: params.end(cx), closed: true }),
            Some(Mark::Unparam { .. }) => {}
            // The closer of the call is missing.
            Some(Mark::Unwrap | Mark::Wrap | Mark::Call(_)) => {
                cx.rewind(after);
                return Some(Read { call: params.end(cx), closed: false });
            }
            None if marks::is_torn(cx, dialect).await || raw::ends_text(cx).await => {
                let rest = cx.rest().len();
                cx.advance(rest);
                return Some(Read { call: params.end_of_text(cx), closed: false });
            }
            // It is out already, so all that is left is to say that it is not whole.
            None if params.is_given() => {
                cx.rewind(begun);
                return Some(Read { call: params.cut(cx), closed: false });
            }
            None => return None,
        }
    }
}
