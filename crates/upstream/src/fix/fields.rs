//! Which field of the request a refusal names.

use serde_json::Value;

use super::Fix;
use super::path::{locate, squash};

/// Words by which a field is refused as such, and not for its value.
const REFUSED: &[&str] = &[
    "extra inputs",
    "extra_forbidden",
    "cannot find field",
    "unknown name",
    "unknown parameter",
    "unknown field",
    "unknown argument",
    "unrecognized",
    "unsupported",
    "not supported",
    "support parameter",
    "does not support",
    "doesn't support",
    "don't support",
    "found that support",
    "not permitted",
    "not allowed",
    "unexpected keyword",
    "was unexpected",
    "not a valid parameter",
    "is deprecated",
    "cannot both be specified",
    "only the default",
    "may only be set to",
    "only allowed when",
    "is allowed for this model",
    "unset when",
];

/// Fields without which a request says something else, or nothing.
const KEPT: &[&str] = &[
    "model",
    "messages",
    "contents",
    "input",
    "tools",
    "system",
    "systeminstruction",
    "instructions",
    "role",
    "content",
    "parts",
    "name",
    "function",
    "functiondeclarations",
    "functioncall",
    "functionresponse",
    "parameters",
    "parametersjsonschema",
    "inputschema",
    "properties",
    "required",
    "items",
    "args",
    "response",
    "inlinedata",
    "filedata",
    "data",
    "url",
    "mimetype",
    "mediatype",
    "arguments",
    "toolcalls",
    "toolcallid",
    "tooluseid",
    "id",
    "callid",
    "output",
    "text",
    "type",
    "source",
    "imageurl",
    "schema",
    "jsonschema",
];

/// Where a field may stand that a refusal names without saying where.
const PLACES: &[&[&str]] = &[
    &[],
    &["generationConfig"],
    &["messages"],
    &["messages", "content"],
    &["tools"],
    &["tools", "function"],
    &["input"],
    &["contents", "parts"],
    &["system"],
    &["thinking"],
    &["reasoning"],
    &["output_config"],
];

/// The field that is refused, left out.
pub(super) fn refused(
    text: &str,
    lower: &str,
    param: Option<&str>,
    sent: &Value,
    anthropic: bool,
) -> Option<Fix> {
    if !REFUSED.iter().any(|words| lower.contains(words)) {
        return None;
    }
    if lower.contains("cannot both be specified") {
        return locate(sent, &["top_p"]).map(|path| Fix::Drop { path });
    }
    let mut named = Vec::new();
    named.extend(proto(text));
    named.extend(locations(text));
    named.extend(before_extra(text));
    named.extend(param.map(segments));
    named.extend(quoted(text).into_iter().map(|word| segments(&word)));
    named.extend(bare(text).into_iter().map(|word| vec![word]));
    let found = named.iter().find_map(|named| find(sent, named))?;
    leave_out(found, anthropic)
}

/// The change that does without the field.
fn leave_out(path: String, anthropic: bool) -> Option<Fix> {
    match path.as_str() {
        "max_tokens" if anthropic => None,
        "max_tokens" => Some(Fix::MaxCompletionTokens),
        "max_completion_tokens" => Some(Fix::MaxTokens),
        "stream" => Some(Fix::Whole),
        "stream_options.include_usage" => Some(Fix::Drop { path: "stream_options".to_owned() }),
        _ => Some(Fix::Drop { path }),
    }
}

fn find(sent: &Value, named: &[String]) -> Option<String> {
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let last = squash(named.last()?);
    if KEPT.contains(&last.as_str()) {
        return None;
    }
    let whole = locate(sent, &named);
    let places = if named.len() == 1 { PLACES } else { &[] };
    whole.or_else(|| places.iter().find_map(|place| locate(sent, &[place, &named[..]].concat())))
}

/// `Unknown name "topK" at 'generation_config': Cannot find field.`
fn proto(text: &str) -> Option<Vec<String>> {
    let (_, rest) = text.split_once("Unknown name \"")?;
    let (name, rest) = rest.split_once('"')?;
    let place = rest.strip_prefix(" at '").and_then(|rest| rest.split_once('\'')).map(|(place, _)| place);
    let mut all = place.map(segments).unwrap_or_default();
    all.push(name.to_owned());
    Some(all)
}

/// `"loc": ["body", "store"]`, and the same as Python prints it.
fn locations(text: &str) -> Vec<Vec<String>> {
    let places = text.match_indices("loc").filter_map(|(at, _)| {
        let rest = text.get(at + 3..)?.trim_start_matches(['"', '\'', '\\', ':', ' ']);
        let inner = rest.strip_prefix(['[', '('])?;
        let end = inner.find([']', ')'])?;
        let names =
            inner.get(..end)?.split(',').map(|name| name.trim().trim_matches(['"', '\'', '\\']).to_owned());
        Some(names.filter(|name| !name.is_empty()).collect())
    });
    places.collect()
}

/// `tools.0.custom.input_examples: Extra inputs are not permitted`
fn before_extra(text: &str) -> Option<Vec<String>> {
    let (head, _) = text.split_once(": Extra inputs")?;
    head.split_whitespace().next_back().map(segments)
}

/// A path in any spelling, cut at dots and brackets.
fn segments(path: &str) -> Vec<String> {
    let cut = path.split(['.', '[', ']']).map(|segment| segment.trim_matches(['"', '\'', '`', ' ', ':']));
    cut.filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// What stands in quotes of any kind.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['\'', '`', '"'] {
        // An apostrophe inside a word opens no quote.
        let mut rest = text;
        while let Some(at) = rest.find(quote) {
            let inside_word = rest.get(..at).is_some_and(|head| head.ends_with(char::is_alphanumeric));
            let Some(tail) = rest.get(at + 1..) else { break };
            rest = tail;
            if inside_word {
                continue;
            }
            let Some(end) = tail.find(quote) else { break };
            let word = tail.get(..end).unwrap_or_default();
            if !word.is_empty() && !word.contains(char::is_whitespace) {
                found.push((text.len() - tail.len(), word.to_owned()));
            }
            rest = tail.get(end + 1..).unwrap_or_default();
        }
    }
    found.sort();
    found.into_iter().map(|(_, word)| word).collect()
}

/// Words after which any word may be a field's name.
const BEFORE: &[&str] = &[
    "parameter",
    "parameters",
    "argument",
    "arguments",
    "field",
    "property",
    "supplied",
    "model",
    "support",
    "invalid",
];

/// Words that can only be names: `reasoning_effort`, `presencePenalty`; and any word that is called a parameter.
fn bare(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    let is_name = |word: &str| {
        let inner_capital =
            word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        word.contains('_') || (inner_capital && word.starts_with(char::is_lowercase))
    };
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map(|word| word.to_ascii_lowercase());
    let called = |at: usize| {
        let before = word(at.checked_sub(1)).unwrap_or_default();
        let after = (word(Some(at + 1)).unwrap_or_default(), word(Some(at + 2)).unwrap_or_default());
        let is_refused = after.0 == "is" && ["not", "deprecated", "unsupported"].contains(&after.1.as_str());
        BEFORE.contains(&before.as_str()) || is_refused || after.0 == "parameter"
    };
    let names = words.iter().enumerate().filter(|(at, word)| is_name(word) || called(*at));
    names.map(|(_, word)| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes() {
        assert_eq!(quoted("it's 'a' or `b.c` and \"d\", 'two words' 'e"), ["a", "b.c", "d"]);
        assert_eq!(
            bare("Model grok-4 does not support parameter stop, nor topK, nor a_b"),
            ["grok", "support", "parameter", "stop", "topK", "a_b"]
        );
        assert_eq!(
            locations("[{'type': 'x', 'loc': ('body', 'messages', 2, 'a')}]"),
            [["body", "messages", "2", "a"]]
        );
        assert_eq!(locations("{\"loc\":[\"body\",\"store\"]}"), [["body", "store"]]);
    }
}
