//! Calls as JSON between two tags: formats that differ in nothing but the tags.

use super::{Evidence, Family, Found, bare_json};
use crate::text::cx::Cx;
use crate::text::json;

/// Declares the formats: name, openers, closers. The closers of a call may all be missing.
macro_rules! envelopes {
    ($($name:literal: [$($opener:literal),+] [$($closer:literal),*] $read:ident $evidence:ident;)*) => {
        /// The formats of the table.
        pub(super) const FAMILIES: &[Family] = &[$(Family {
            name: $name,
            openers: &[$($opener),+],
            evidence: Evidence::$evidence,
            read: |cx| Box::pin($read(cx, $name, &[$($closer),*])),
        }),*];
    };
}

envelopes! {
    // Granite 20B function calling, and Qwen 2.5 Coder when it forgets its own tag.
    "granite_20b": ["<function_call>"] ["</function_call>"] strong Strong;
    // Granite 3.0, Phi-4-mini; the second closer is a slip of Phi's.
    "granite": ["<|tool_call|>"] ["<|/tool_call|>", "</|tool_call|>"] strong Strong;
    "phi": ["functools["] ["<|/tool_call|>", "<|end|>"] strong Strong;
    "llama": ["<|python_tag|>"] ["<|eom_id|>", "<|eot_id|>"] strong Strong;
    "llama_4": ["<|python_start|>"] ["<|python_end|>"] strong Strong;
    "lfm2": ["<|tool_call_start|>"] ["<|tool_call_end|>"] strong Strong;
    "cohere": ["<|START_ACTION|>"] ["<|END_ACTION|>"] strong Strong;
    // MiniMax M1 one a line; Jamba, Hunyuan A13B and Apriel as a list; the tag of Hermes inside is seen too.
    "tool_calls": ["<tool_calls>"] ["</tool_calls>"] nested Strong;
    "internlm": ["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>", "<|action_start|>\n<|plugin|>"]
        ["<|action_end|>"] strong Strong;
    "nemotron": ["<TOOLCALL>"] ["</TOOLCALL>"] strong Strong;
    "gigachat": ["<|function_call|>", "function call<|role_sep|>"] ["<|message_sep|>"] strong Strong;
    "inkling": ["<|content_invoke_tool_json|>"] ["<|end_message|>"] strong Strong;
    // Tags that Qwen 2.5 Coder makes up; they may mean anything, so only the exact shape counts.
    "tool": ["<tool>"] ["</tool>", "</tool_call>"] exact Tag;
    "tools": ["<tools>"] ["</tools>", "</tool_call>"] exact Tag;
    "json_tag": ["<json>"] ["</json>", "</tool_call>"] exact Tag;
    "response": ["<response>"] ["</response>", "</tool_call>"] exact Tag;
}

async fn strong(cx: &mut Cx, format: &'static str, closers: &[&str]) -> Option<Found> {
    json::envelope(cx, format, closers).await
}

/// Calls one by one or as a list, or each in a tag of its own.
async fn nested(cx: &mut Cx, format: &'static str, closers: &[&str]) -> Option<Found> {
    const INNER: (&str, &str) = ("<tool_call>", "</tool_call>");
    cx.blanks().await;
    if !cx.sees(INNER.0).await {
        return json::envelope(cx, format, closers).await;
    }
    let mut all = Found::default();
    loop {
        let before = cx.at();
        cx.blanks().await;
        if !cx.take(INNER.0).await {
            break;
        }
        match json::envelope(cx, format, &[INNER.1]).await {
            Some(found) => {
                all.given |= found.given;
                all.calls.extend(found.calls);
            }
            None if !all.any() => return None,
            // What was read so far stands; the rest is text.
            None => {
                cx.rewind(before);
                return Some(all);
            }
        }
    }
    cx.blanks().await;
    all.closed = cx.take_any(closers).await;
    Some(all)
}

/// Calls in their exact shape, of declared tools, up to the closer.
async fn exact(cx: &mut Cx, _: &'static str, closers: &[&str]) -> Option<Found> {
    let mut all = Found::default();
    loop {
        cx.blanks().await;
        if all.any() && cx.take_any(closers).await {
            all.closed = true;
            return Some(all);
        }
        match cx.peek().await {
            Some(b',' | b';') if all.any() => cx.advance(1),
            Some(b'{' | b'[') => all.calls.extend(bare_json::read(cx, closers).await?.calls),
            None if all.calls.last().is_some_and(|call| call.cut) => return Some(all),
            Some(_) | None => return None,
        }
    }
}
