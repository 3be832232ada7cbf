//! What the model heard.

use rail_model::{Format, MediaKind, Part, PartBody, Request};
use rail_testkit::{Asked, Question};

use super::Played;
use super::scenes::SIGNATURE;

/// Names what of the requests that came to the model is not as the client meant it.
pub(super) fn check(played: &Played, failures: &mut Vec<String>) {
    let Played { of, scenario, models, .. } = played;
    let asked = models.requests();
    let expected = match scenario.mode {
        "loop" | "loop-whole" => 2,
        "models" | "retrieve" => 0,
        "count" if *of == "openai-chat" => 0,
        _ if scenario.name.starts_with("wrong key") => 0,
        _ => 1,
    };
    if asked.len() != expected {
        failures.push(format!("{} requests came to the model instead of {expected}", asked.len()));
    }
    for Asked { protocol, question, .. } in &asked {
        if protocol.name() != *of {
            failures.push(format!("a request came in {protocol}"));
        }
        if let Question::Unreadable(error) = question {
            failures.push(format!("a request could not be read: {error}"));
        }
    }
    match (scenario.ask, asked.last().and_then(Asked::request)) {
        ("image", Some(request)) => images(request, failures),
        ("rich", Some(request)) => rich(request, failures),
        _ => {}
    }
    if let (Some(expected), Some(request)) = (&scenario.sent_back, asked.get(1).and_then(Asked::request)) {
        sent_back(expected, request, failures);
    }
    if scenario.mode == "leave" && !asked.is_empty() {
        // The test fails here when nobody leaves.
        models.client_left(0);
    }
}

/// All parts, those inside of results too.
fn parts(request: &Request) -> Vec<&Part> {
    let outer = request.messages.iter().flat_map(|message| &message.parts);
    let inner = |part| match part {
        &Part { body: PartBody::ToolResult(ref result), .. } => result.content.iter().collect(),
        _ => Vec::new(),
    };
    outer.flat_map(|part| [vec![part], inner(part)].concat()).collect()
}

fn images(request: &Request, failures: &mut Vec<String>) {
    let is_image =
        |part: &&&Part| matches!(&part.body, PartBody::Media(media) if media.kind == MediaKind::Image);
    let images = parts(request).iter().filter(is_image).count();
    if images != 2 {
        failures.push(format!("{images} images came instead of 2: {request:?}"));
    }
}

fn rich(request: &Request, failures: &mut Vec<String>) {
    let schema = match &request.format {
        Some(Format::JsonSchema { schema: Some(schema), .. }) => schema.text().contains("\"sure\""),
        Some(Format::JsonSchema { .. } | Format::Text | Format::JsonObject | Format::Opaque(_)) | None => {
            false
        }
    };
    if !schema {
        failures.push(format!("the schema of the answer did not come: {:?}", request.format));
    }
    for name in ["read_file", "write_file"] {
        if !request.tools.iter().any(|tool| tool.name == name) {
            failures.push(format!("the tool {name} did not come"));
        }
    }
    let texts: Vec<&str> = parts(request).into_iter().filter_map(Part::as_text).collect();
    for text in ["Look at these.", "Go on."] {
        if !texts.contains(&text) {
            failures.push(format!("`{text}` did not come: {texts:?}"));
        }
    }
}

/// The calls of the first answer are in the second request, under the ids that the model gave them, with their seals and results.
fn sent_back(expected: &[Part], request: &Request, failures: &mut Vec<String>) {
    let (mut calls, mut results, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts(request) {
        match &part.body {
            PartBody::ToolCall(call) => {
                let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
                let sealed = part.seal.as_ref().is_some_and(|seal| seal.data == SIGNATURE);
                calls.push((call.id.as_str(), call.name.as_str(), arguments, sealed));
            }
            PartBody::ToolResult(result) => results.push(result.id.as_str()),
            PartBody::Text(text) => texts.push(text.as_str()),
            PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => {}
        }
    }
    let wanted = expected.iter().filter_map(|part| match &part.body {
        PartBody::ToolCall(call) => Some((call, part.seal.is_some())),
        _ => None,
    });
    let ids = ["call_1_1", "call_1_2"];
    let wanted: Vec<_> = wanted
        .zip(ids)
        .map(|((call, sealed), id)| {
            (id, call.name.as_str(), serde_json::from_str(&call.arguments).unwrap(), sealed)
        })
        .collect();
    if calls != wanted {
        failures.push(format!("calls came back as {calls:?}, should be {wanted:?}"));
    }
    if results != ids {
        failures.push(format!("results came for {results:?}"));
    }
    if !texts.contains(&"I will.") {
        failures.push(format!("the text did not come back: {texts:?}"));
    }
}
