//! Kimi K2: a section of calls, each with a header `functions.NAME:N` that is the call's id and goes back as it is.

use super::{Evidence, Family, Found};
use crate::infer::infer;
use crate::json::State;
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};
use crate::text::json;

pub(super) const FAMILY: Family = Family {
    name: "kimi_k2",
    openers: &[SECTIONS[0], SECTIONS[1], BEGIN],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const SECTIONS: [&str; 2] = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
const BEGIN: &str = "<|tool_call_begin|>";
const ARGUMENTS: &str = "<|tool_call_argument_begin|>";
const END: &str = "<|tool_call_end|>";
const SECTION_ENDS: [&str; 2] = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
const ENDS: &[&str] = &[END, SECTION_ENDS[0], SECTION_ENDS[1], BEGIN];

/// Noise within a section is no longer.
const MAX_NOISE: usize = 4 << 10;

async fn read(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    let section = SECTIONS.iter().any(|section| cx.follows(section));
    if section {
        next(cx, section).await.filter(|begins| *begins)?;
    }
    loop {
        let before = cx.at();
        match one(cx).await {
            Some(Some(call)) => found.add(cx, [call], FAMILY.name),
            Some(None) => found.given = true,
            None if !found.any() => return None,
            // What was read so far stands; the rest is text.
            None => {
                cx.rewind(before);
                return Some(found);
            }
        }
        cx.blanks().await;
        cx.take(END).await;
        match next(cx, section).await {
            Some(true) => {}
            Some(false) => {
                found.closed = true;
                return Some(found);
            }
            None => return Some(found),
        }
    }
}

/// Moves over the start of the next call, or over the end of the section; true when it was a call. None when neither comes.
/// Whatever else a model says inside a section is noise.
async fn next(cx: &mut Cx, section: bool) -> Option<bool> {
    let before = cx.at();
    cx.blanks().await;
    let words = [BEGIN, SECTION_ENDS[0], SECTION_ENDS[1]];
    let most = if section { MAX_NOISE } else { 0 };
    if cx.until(&words, most).await.is_none() {
        cx.rewind(before);
        return None;
    }
    let begins = cx.take(BEGIN).await;
    Some(begins || !cx.take_any(&SECTION_ENDS).await)
}

/// The header and the arguments of one call; within, None is a call that was given out.
async fn one(cx: &mut Cx) -> Option<Option<Call>> {
    cx.blanks().await;
    let id = cx.until(&["<|", "{", "\n"], LONGEST_NAME).await?.trim().to_owned();
    cx.blanks().await;
    let marked = cx.take(ARGUMENTS).await;
    if !marked && !cx.sees("{").await {
        return None;
    }
    let Some(name) = name(&id) else { return unnamed(cx, &id).await };
    let header = Header { id: Some(id.clone()), ..Header::new(cx, name, FAMILY.name)? };
    match header::arguments(cx, &header, ENDS).await {
        Read::Call(call) => Some(call),
        Read::Nothing => None,
    }
}

/// The name in a header; None when the header only counts.
fn name(header: &str) -> Option<&str> {
    let counted =
        header.rsplit_once(':').filter(|(_, count)| count.bytes().all(|byte| byte.is_ascii_digit()));
    let name = counted.map_or(header, |(name, _)| name);
    let is_count = name.bytes().all(|byte| byte.is_ascii_digit());
    (!is_count && !matches!(name, "functions" | "functions.")).then_some(name)
}

/// A call whose header only counts: its tool is the only one that takes these arguments, if there is exactly one.
async fn unnamed(cx: &mut Cx, id: &str) -> Option<Option<Call>> {
    cx.blanks().await;
    if !cx.sees("{").await {
        return None;
    }
    let from = cx.at();
    json::value(cx, ENDS, None).await;
    let arguments = cx.slice(from, cx.at());
    let read = crate::json::read_tolerant(arguments).ok()?;
    if read.state != State::Complete {
        return None;
    }
    let tool =
        read.value.as_object().and_then(|keys| infer(keys, &cx.catalog)).map(|tool| tool.name.as_str());
    let name = tool.unwrap_or(id);
    (!name.is_empty()).then(|| Some(Call { id: Some(id.to_owned()), ..Call::new(name, arguments) }))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_header_has_a_name_or_only_counts() {
        let table = [
            ("functions.read_file:0", Some("functions.read_file")),
            ("read_file:12", Some("read_file")),
            ("read-file", Some("read-file")),
            ("mcp:files:read:3", Some("mcp:files:read")),
            ("0", None),
            ("functions.:0", None),
            ("functions:0", None),
            (":4", None),
        ];
        for (header, expected) in table {
            assert_eq!(name(header), expected, "{header}");
        }
    }
}
