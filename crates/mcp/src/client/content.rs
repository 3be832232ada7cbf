//! Results in our words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_tool::{Given, Telling, ToolFault, ToolOutput, size};
use serde_json::Value;

/// What a call gave, in our words. At most so many bytes of media are kept.
///
/// # Errors
/// The tool says that it failed, or what it gave is no result.
pub fn given(result: &Value, media: usize) -> Result<ToolOutput, ToolFault> {
    if !result.is_object() {
        let said =
            Telling::said("the server's answer is no result: ").then(Telling::shown(result.to_string()));
        return Err(ToolFault::new(said));
    }
    let mut parts = match result.get("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(content) => parts_of_content(content, media)?,
    };
    if let Some(structured) = result.get("structuredContent").filter(|value| !value.is_null()) {
        let written = |part: &Part| {
            part.as_text().is_some_and(|text| {
                serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured)
            })
        };
        // Most servers write it as a text as well.
        if !parts.iter().any(written) {
            parts.push(Part::text(structured.to_string()));
        }
    }
    if [Some(&Value::Bool(true)), Some(&Value::from("true"))].contains(&result.get("isError")) {
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        let text = texts.join("\n");
        // A server's own words: names in them are not ours to change.
        let say = if text.is_empty() {
            Telling::said("the tool failed and gave no reason")
        } else {
            Telling::shown(text)
        };
        return Err(ToolFault { say, cause: None });
    }
    if parts.is_empty() {
        return Ok(ToolOutput::told("The tool gave no output."));
    }
    Ok(ToolOutput { parts: parts.into_iter().map(Given::Part).collect(), ..ToolOutput::default() })
}

/// Content blocks as parts: a list of them, a single one, or a plain text. At most so many bytes of media are kept.
///
/// # Errors
/// It is none of these.
pub fn parts_of_content(content: &Value, media: usize) -> Result<Vec<Part>, ToolFault> {
    let mut left = media;
    match content {
        Value::Array(blocks) => Ok(blocks.iter().map(|block| part(block, &mut left)).collect()),
        Value::Object(_) => Ok(vec![part(content, &mut left)]),
        Value::String(text) => Ok(vec![Part::text(text)]),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let said = Telling::said("the content of the server's answer is no list: ");
            Err(ToolFault::new(said.then(Telling::shown(content.to_string()))))
        }
    }
}

/// One block. What is neither text nor a medium is told as it is.
fn part(block: &Value, left: &mut usize) -> Part {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text") => match block.get("text") {
            Some(Value::String(text)) => Part::text(text),
            Some(other) => Part::text(other.to_string()),
            None => Part::text(""),
        },
        Some(kind @ ("image" | "audio")) => {
            let usual = if kind == "image" { "image/png" } else { "audio/wav" };
            medium(text("data"), text("mimeType").unwrap_or(usual), None, left)
        }
        Some("resource") => block
            .get("resource")
            .map_or_else(|| Part::text(block.to_string()), |resource| resource_part(resource, left)),
        Some("resource_link") => link(block),
        Some(_) | None => Part::text(block.to_string()),
    }
}

/// What a resource holds.
pub(crate) fn resource_part(resource: &Value, left: &mut usize) -> Part {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    match (text("text"), text("blob")) {
        (Some(text), _) => Part::text(text),
        (None, Some(blob)) => {
            medium(Some(blob), text("mimeType").unwrap_or("application/octet-stream"), text("uri"), left)
        }
        (None, None) => Part::text(resource.to_string()),
    }
}

fn link(block: &Value) -> Part {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let Some(uri) = text("uri") else { return Part::text(block.to_string()) };
    let name = text("title").or_else(|| text("name")).map_or_else(String::new, |name| format!(" ({name})"));
    let says = text("description").map_or_else(String::new, |says| format!(": {says}"));
    Part::text(format!("[resource {uri}{name}{says}]"))
}

/// A medium, or the words that stand for one that can't be given: a request with a broken image in it would be refused as a whole.
fn medium(data: Option<&str>, mime: &str, uri: Option<&str>, left: &mut usize) -> Part {
    let name = uri.map_or_else(String::new, |uri| format!("{uri}, "));
    let Some(bytes) = data.and_then(|data| STANDARD.decode(data.trim()).ok()) else {
        return Part::text(format!(
            "[{name}{mime}: what the server gave can't be read, since it is no base64]"
        ));
    };
    let length = size(bytes.len() as u64);
    let kind = match mime {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => MediaKind::Image,
        "application/pdf" => MediaKind::Document,
        mime if mime.starts_with("audio/") => MediaKind::Audio,
        // Text that a server calls a blob.
        mime if mime.starts_with("text/") || mime.ends_with("json") => {
            return match String::from_utf8(bytes) {
                Ok(text) => Part::text(text),
                Err(_) => Part::text(format!("[{name}{mime}, {length}: it is no text]")),
            };
        }
        _ => return Part::text(format!("[{name}{mime}, {length}: it can't be shown]")),
    };
    let data = data.unwrap_or_default().trim();
    if bytes.is_empty() || data.len() > *left {
        return Part::text(format!("[{name}{mime}, {length}: left out, since it is too large or empty]"));
    }
    *left -= data.len();
    Part::new(PartBody::Media(Media {
        kind,
        mime: Some(mime.to_owned()),
        source: MediaSource::Base64(data.to_owned()),
        name: uri.map(str::to_owned),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(result: &Value) -> String {
        match given(result, 100) {
            Ok(output) => {
                let parts = output.parts.iter().map(|part| match part {
                    Given::Part(part) => serde_json::to_string(&part.body).unwrap(),
                    Given::Text(text) => text.to_string(),
                });
                parts.collect::<Vec<_>>().join("\n")
            }
            Err(fault) => format!("failed: {fault}"),
        }
    }

    #[test]
    fn results_are_parts() {
        let all = json!({"content": [
            {"type": "text", "text": "42"},
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "image", "data": "AA==", "mimeType": "image/tiff"},
            {"type": "image", "data": "not base64", "mimeType": "image/png"},
            {"type": "image", "data": "A".repeat(200), "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "a:p", "mimeType": "application/pdf", "blob": "AAAA"}},
            {"type": "resource", "resource": {"uri": "a:t", "mimeType": "text/plain", "blob": "aGk="}},
            {"type": "resource", "resource": {"uri": "a:z", "mimeType": "application/zip", "blob": "AAAA"}},
            {"type": "resource"},
            {"type": "resource_link", "uri": "a:b", "name": "b", "description": "What b is."},
            {"type": "text", "text": 5},
            {"type": "from the future", "x": 1},
            "plain",
        ], "structuredContent": {"answer": 42}});
        insta::assert_snapshot!(shown(&all), @"");
    }

    #[test]
    fn wrong_types_are_results_of_errors() {
        let cases = [
            json!({}),
            json!({"content": []}),
            json!({"content": "a text"}),
            json!({"content": {"type": "text", "text": "one block"}}),
            json!({"content": 5}),
            json!([1]),
            json!({"content": [], "structuredContent": {"a": 1}}),
            json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}}),
            json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}),
            json!({"content": [], "isError": "true"}),
        ];
        let shown: Vec<String> = cases.iter().map(|case| format!("{case}\n  {}", shown(case))).collect();
        insta::assert_snapshot!(shown.join("\n"), @"");
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(text|image|audio|resource|resource_link|AAAA|image/png|.{0,6})".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let key = "(content|type|text|data|mimeType|resource|uri|blob|isError|structuredContent)";
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key, inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_answer_is_a_result(result in anything()) {
            if let Ok(output) = given(&result, 1_000) {
                prop_assert!(!output.parts.is_empty());
            }
        }
    }
}
