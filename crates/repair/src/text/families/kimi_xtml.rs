//! `<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>…`: Kimi K3. Its other channels are only unwrapped here;
//! reasoning is told elsewhere.

use super::{Evidence, Family, Found};
use crate::text::Ending;
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::{self, Dialect, Head, Mark, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<|open|>", "<|close|>"],
    evidence: Evidence::Channel,
    read: |cx| Box::pin(read(cx)),
};

static DIALECT: Dialect = Dialect {
    format: "kimi-xtml",
    syntax: Syntax::Xtml,
    wrappers: &[],
    call: "call",
    param: "argument",
    newlines: Newlines::Verbatim,
    closers: &["<|close|>call<|sep|>", "<|close|>tools<|sep|>"],
};

/// Channels that only say whose words these are; of one with calls, only the closer can be left over.
const CHANNELS: &[&str] = &["response", "message", "tools"];

/// Reads a channel from its opener on, which was just passed.
pub(super) async fn read(cx: &mut Cx) -> Option<Found> {
    marks::back_to_opener(cx);
    let from = cx.at();
    if cx.has_tools() {
        let found = match marks::mark(cx, &DIALECT).await {
            Some(Mark::Wrap) => block::calls(cx, &DIALECT).await,
            Some(Mark::Call(head)) => bare(cx, head).await,
            Some(Mark::Unwrap | Mark::Uncall | Mark::Param { .. } | Mark::Unparam { .. }) | None => None,
        };
        if found.is_some() {
            return found;
        }
        cx.rewind(from);
    }
    let (opens, word, _) = marks::channel(cx).await?;
    let is_calls = word == "tools";
    let is_wrapper = CHANNELS.contains(&word.as_str()) && !(is_calls && (opens || !cx.has_tools()));
    is_wrapper.then(Found::default)
}

/// A call whose section has no opener: it must be closed, unless the text was cut.
async fn bare(cx: &mut Cx, head: Head) -> Option<Found> {
    let found = block::bare_call(cx, &DIALECT, head).await?;
    let is_cut = cx.ending() == Ending::Cut && found.calls.iter().any(|call| call.cut);
    (found.closed || is_cut).then_some(found)
}
