use memchr::memchr2;

use super::args::{Call, Live};
use super::cx::Cx;
use super::families::Found;
use super::{fence, shape};
use crate::Step;

/// How a JSON value ended in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scanned {
    /// By itself.
    Whole,
    /// A closer stood where the value should have gone on.
    Closer,
    /// The text ended inside it.
    Over,
    /// There was no value.
    Nothing,
}

/// A JSON envelope: one or more call objects or lists of them after an opener, perhaps fenced, up to a closer or the end.
pub(super) async fn envelope(cx: &mut Cx, format: &'static str, closers: &[&str]) -> Option<Found> {
    let mut found = Found::default();
    cx.blanks().await;
    let fenced = fence::take_open(cx).await;
    while item(cx, found.any()).await {
        let begun = cx.at();
        match object(cx, format, closers).await? {
            Body::Given => found.given = true,
            Body::Held(end) => {
                let calls = shape::strong(cx.slice(begun, cx.at()), &cx.catalog, end);
                match calls {
                    Some(calls) => found.add(cx, calls, format),
                    None if !found.any() => return None,
                    // What was read so far stands; the rest is text.
                    None => {
                        cx.rewind(begun);
                        return Some(found);
                    }
                }
            }
        }
    }
    if !found.any() {
        return None;
    }
    // One closing bracket too many is the commonest slip of all.
    while matches!(cx.peek().await, Some(b'}' | b']')) {
        cx.advance(1);
        cx.blanks().await;
    }
    if fenced {
        fence::take_close(cx).await;
        cx.blanks().await;
    }
    found.closed = cx.take_any(closers).await;
    Some(found)
}

/// Moves over the first of two braces where one is meant: small models copy them from a template that escapes braces so.
pub(super) async fn doubled(cx: &mut Cx) -> bool {
    let doubled = cx.sees("{{").await;
    cx.advance(usize::from(doubled));
    doubled
}

/// Moves over what stands before the next object: brackets of lists, and once there was a call, what separates calls.
async fn item(cx: &mut Cx, any: bool) -> bool {
    loop {
        cx.blanks().await;
        match cx.peek().await {
            Some(b'{') => {
                doubled(cx).await;
                return true;
            }
            Some(b'[') => {
                let begun = cx.at();
                cx.advance(1);
                cx.blanks().await;
                if !matches!(cx.peek().await, Some(b'{' | b'[')) {
                    cx.rewind(begun);
                    return false;
                }
            }
            Some(b',' | b';' | b']') if any => cx.advance(1),
            Some(_) | None => return false,
        }
    }
}

/// What became of a JSON value that should hold calls.
pub(super) enum Body {
    /// It is in the text up to the cursor, and ended so.
    Held(Scanned),
    /// It was given out while it was read.
    Given,
}

/// Moves over a JSON value that should hold calls. The arguments of a long call are given out as they come, if its name came
/// before them.
pub(super) async fn object(cx: &mut Cx, format: &'static str, closers: &[&str]) -> Option<Body> {
    if !cx.sees("{").await {
        return Some(Body::Held(value(cx, closers, None).await));
    }
    let begun = cx.at();
    cx.advance(1);
    let mut name: Option<String> = None;
    let mut given = false;
    loop {
        cx.blanks().await;
        let Some(quote @ (b'"' | b'\'')) = cx.peek().await else { break };
        let key_from = cx.at();
        if !string(cx, quote, closers, None).await {
            break;
        }
        let key = cx.slice(key_from + 1, cx.at() - 1).to_owned();
        cx.blanks().await;
        if !cx.take(":").await {
            break;
        }
        cx.blanks().await;
        let value_from = cx.at();
        let is_object = cx.peek().await == Some(b'{');
        let mut live = name
            .clone()
            .filter(|_| is_object && shape::is_arguments_key(&key))
            .map(|name| Live::new(name, format));
        let end = value(cx, closers, live.as_mut()).await;
        if let Some(live) = live.filter(Live::is_given) {
            given = true;
            live.end(cx, end == Scanned::Over);
        }
        if end != Scanned::Whole {
            return Some(if given { Body::Given } else { Body::Held(end) });
        }
        if shape::is_name_key(&key) && !given {
            name = serde_json::from_str(cx.slice(value_from, cx.at())).ok();
        }
        cx.blanks().await;
        if cx.take("}").await {
            return Some(if given { Body::Given } else { Body::Held(Scanned::Whole) });
        }
        if !cx.take(",").await {
            break;
        }
    }
    if given {
        // The call is out; what is odd behind its arguments is only the rest of its envelope.
        rest_of_object(cx, closers).await;
        return Some(Body::Given);
    }
    cx.rewind(begun);
    Some(Body::Held(value(cx, closers, None).await))
}

async fn rest_of_object(cx: &mut Cx, closers: &[&str]) {
    loop {
        match value(cx, closers, None).await {
            Scanned::Whole | Scanned::Nothing if cx.take("}").await => return,
            Scanned::Whole | Scanned::Nothing => {
                if !cx.take_any(&[",", ":", "]"]).await {
                    return;
                }
            }
            Scanned::Closer | Scanned::Over => return,
        }
        cx.blanks().await;
    }
}

/// Moves over one JSON value, be it good JSON or not: brackets and quotes decide where it ends. What is read goes to `live`.
pub(super) async fn value(cx: &mut Cx, closers: &[&str], mut live: Option<&mut Live>) -> Scanned {
    let begun = cx.at();
    let mut sent = begun;
    let mut depth = 0_usize;
    let end = loop {
        if cx.known().is_none() {
            sent = send(cx, sent, live.as_deref_mut());
        }
        let Some(byte) = cx.peek().await else { break Scanned::Over };
        match byte {
            b'<' | b'[' | b'`' | b'~' if cx.sees_any(closers).await => break Scanned::Closer,
            b'"' | b'\'' if depth > 0 || byte == b'"' || cx.at() == begun => {
                let closed =
                    string(cx, byte, closers, live.as_deref_mut().map(|live| (live, &mut sent))).await;
                if !closed {
                    break Scanned::Over;
                }
                if depth == 0 {
                    break Scanned::Whole;
                }
            }
            b'{' | b'[' => {
                depth += 1;
                cx.advance(1);
            }
            b'}' | b']' if depth <= 1 => {
                cx.advance(depth);
                break if cx.at() == begun { Scanned::Nothing } else { Scanned::Whole };
            }
            b'}' | b']' => {
                depth -= 1;
                cx.advance(1);
            }
            b',' | b':' | b';' if depth == 0 => {
                break if cx.at() == begun { Scanned::Nothing } else { Scanned::Whole };
            }
            _ if depth == 0 && byte.is_ascii_whitespace() => {
                break if cx.at() == begun { Scanned::Nothing } else { Scanned::Whole };
            }
            _ => {
                cx.step();
            }
        }
    };
    send(cx, sent, live);
    end
}

/// Moves over a string. A quote closes it only where JSON can go on, so that quotes nobody escaped stay inside.
async fn string(cx: &mut Cx, quote: u8, closers: &[&str], mut live: Option<(&mut Live, &mut usize)>) -> bool {
    cx.advance(1);
    loop {
        let rest = cx.rest();
        let Some(next) = memchr2(quote, b'\\', rest.as_bytes()) else {
            cx.advance(rest.len());
            if let Some((live, sent)) = &mut live {
                **sent = send(cx, **sent, Some(live));
            }
            if !cx.more().await {
                return false;
            }
            continue;
        };
        cx.advance(next);
        if cx.sees("\\").await {
            cx.advance(1);
            if cx.peek().await.is_none() {
                return false;
            }
            cx.step();
            continue;
        }
        let closes = closes(cx, closers).await;
        cx.advance(1);
        if closes {
            return true;
        }
    }
}

/// Whether the quote at the cursor ends its string: something follows that can follow a string.
async fn closes(cx: &mut Cx, closers: &[&str]) -> bool {
    let mut ahead = 1;
    let mut new_line = false;
    while let Some(byte) = cx.peek_at(ahead).await {
        match byte {
            b'\n' => new_line = true,
            b' ' | b'\t' | b'\r' => {}
            b',' | b':' | b'}' | b']' => return true,
            b'"' | b'\'' => return new_line,
            b'/' => return matches!(cx.peek_at(ahead + 1).await, Some(b'/' | b'*')),
            b'<' | b'[' | b'`' | b'~' => {
                let quote = cx.at();
                cx.advance(ahead);
                let closer = cx.sees_any(closers).await;
                cx.rewind(quote);
                return closer;
            }
            _ => return false,
        }
        ahead += 1;
    }
    true
}

fn send(cx: &mut Cx, sent: usize, live: Option<&mut Live>) -> usize {
    let at = cx.at();
    if let Some(live) = live
        && sent < at
    {
        let piece = cx.slice(sent, at).to_owned();
        live.push(cx, &piece);
    }
    at
}

/// A JSON object of arguments after a name that was read already. None when there is no object.
pub(super) async fn arguments(
    cx: &mut Cx,
    mut live: Live,
    closers: &[&str],
) -> Option<(Option<Call>, Scanned)> {
    cx.blanks().await;
    let fenced = fence::take_open(cx).await;
    cx.blanks().await;
    if !matches!(cx.peek().await, Some(b'{' | b'"' | b'[')) {
        return None;
    }
    let end = value(cx, closers, Some(&mut live)).await;
    if fenced && end == Scanned::Whole {
        cx.blanks().await;
        fence::take_close(cx).await;
    }
    if end == Scanned::Nothing {
        return None;
    }
    let mut call = live.end(cx, end == Scanned::Over);
    if end == Scanned::Closer
        && let Some(call) = &mut call
    {
        // The model closed the call itself, so only brackets are missing; what is missing is added here, where that is known.
        let read = crate::json::read_tolerant(&call.arguments).ok()?;
        call.arguments = read.value.to_string();
        call.mended.push(Step::Closed);
    }
    Some((call, end))
}
