//! What a real weak model answered, whole and as a stream, and the calls that a careful reader sees in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

/// What the questions must be about, each by at least one.
const KINDS: &[&str] = &[
    "bare",
    "boolean",
    "chinese",
    "choice-named",
    "choice-none",
    "choice-required",
    "code-json",
    "code-markdown",
    "code-python",
    "code-shell",
    "cut",
    "eight-tools",
    "explain",
    "format-talk",
    "german",
    "history",
    "long",
    "nested",
    "no-parameters",
    "no-tools",
    "number",
    "parallel",
    "prompted",
    "prose-before",
    "refusal",
    "single",
    "talk",
    "temperature",
    "two-tools",
    "unicode",
];

/// One question with its two answers. `cargo xtask real-model record` writes the answers, people the expectations.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Cassette {
    id: String,
    about: BTreeSet<String>,
    /// What a reader of the file should know.
    #[serde(default)]
    #[expect(dead_code, reason = "it is there for people")]
    note: Option<String>,
    request: Value,
    /// The tools of a request that teaches them in its system prompt instead of declaring them.
    #[serde(default)]
    tools: Vec<Value>,
    /// Whether a weak shape of calls was taught in the system prompt: then it counts anywhere in the answer.
    #[serde(default)]
    prompted: bool,
    /// For both answers, if they hold the same.
    expect: Option<Expect>,
    expect_whole: Option<Expect>,
    expect_stream: Option<Expect>,
    whole: Value,
    stream: Vec<Value>,
}

/// What a careful reader sees in an answer.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// In the order in which they were made.
    #[serde(default)]
    calls: Vec<Call>,
    /// The names of calls that were cut off.
    #[serde(default)]
    incomplete: Vec<String>,
    /// What must be left as text.
    #[serde(default)]
    content_contains: Vec<String>,
    /// Said outright where the answer only talks.
    #[serde(default)]
    no_calls: bool,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    arguments: Value,
}

/// Which of the two recorded answers is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Whole,
    Stream,
}

const ANSWERS: [Answer; 2] = [Answer::Whole, Answer::Stream];

/// Every cassette of every model, by file name.
fn cassettes() -> BTreeMap<String, Cassette> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes");
    let mut found = BTreeMap::new();
    for model in std::fs::read_dir(folder).unwrap() {
        for file in std::fs::read_dir(model.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let cassette =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned(), cassette);
        }
    }
    found
}

/// The deltas of an answer, in order; a whole answer is one delta.
fn chunks(cassette: &Cassette, answer: Answer) -> Vec<Value> {
    match answer {
        Answer::Whole => {
            let mut delta = cassette.whole["choices"][0]["message"].clone();
            let calls = delta.get_mut("tool_calls").and_then(Value::as_array_mut);
            for (index, call) in calls.into_iter().flatten().enumerate() {
                call["index"] = json!(index);
            }
            vec![delta]
        }
        Answer::Stream => {
            cassette.stream.iter().filter_map(|piece| piece.pointer("/choices/0/delta")).cloned().collect()
        }
    }
}

fn finish_reason(cassette: &Cassette, answer: Answer) -> Option<&str> {
    let reason =
        |piece: &'_ Value| piece.pointer("/choices/0/finish_reason").and_then(Value::as_str).is_some();
    let last = match answer {
        Answer::Whole => Some(&cassette.whole),
        Answer::Stream => cassette.stream.iter().rev().find(|piece| reason(piece)),
    };
    last?.pointer("/choices/0/finish_reason")?.as_str()
}

fn expected(cassette: &Cassette, answer: Answer) -> Option<&Expect> {
    let own = match answer {
        Answer::Whole => &cassette.expect_whole,
        Answer::Stream => &cassette.expect_stream,
    };
    own.as_ref().or(cassette.expect.as_ref())
}

/// The declared tools, as `{name, parameters}`.
fn tools(cassette: &Cassette) -> Vec<Value> {
    let declared = cassette.request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let declared = declared.iter().map(|tool| tool["function"].clone());
    declared.chain(cassette.tools.iter().cloned()).collect()
}

/// The text of the deltas, joined.
fn text(deltas: &[Value]) -> String {
    deltas.iter().filter_map(|delta| delta["content"].as_str()).collect()
}

/// The names of calls that the server itself made of the text.
fn native_names(deltas: &[Value]) -> Vec<String> {
    let calls = deltas.iter().filter_map(|delta| delta["tool_calls"].as_array()).flatten();
    calls.filter_map(|call| call["function"]["name"].as_str()).map(str::to_owned).collect()
}

#[test]
fn cassettes_are_whole() {
    let cassettes = cassettes();
    assert!(cassettes.len() >= 40, "{} cassettes", cassettes.len());
    for (name, cassette) in &cassettes {
        assert_eq!(name, &cassette.id, "the file is named by its id");
        assert_eq!(cassette.request.get("stream"), None, "{name}: it is asked both ways");
        assert!(
            cassette.request["messages"].as_array().is_some_and(|messages| !messages.is_empty()),
            "{name}: a question"
        );
        assert!(!cassette.prompted || !cassette.tools.is_empty(), "{name}: it says which tools were taught");
        for answer in ANSWERS {
            assert!(!chunks(cassette, answer).is_empty(), "{name}: {answer:?} holds nothing");
            assert!(finish_reason(cassette, answer).is_some(), "{name}: {answer:?} has no end");
        }
    }
}

#[test]
fn cassettes_cover_every_kind() {
    let about: BTreeSet<_> = cassettes().into_values().flat_map(|cassette| cassette.about).collect();
    let missing: Vec<_> = KINDS.iter().filter(|kind| !about.contains(**kind)).collect();
    assert!(missing.is_empty(), "no question is about {missing:?}");
}

#[test]
fn expectations_can_be_met() {
    for (name, cassette) in &cassettes() {
        let both = cassette.expect_whole.is_some() && cassette.expect_stream.is_some();
        let neither = cassette.expect_whole.is_none() && cassette.expect_stream.is_none();
        assert!(
            if cassette.expect.is_some() { neither } else { both },
            "{name}: either `expect`, or both `expect_whole` and `expect_stream`"
        );
        let declared = tools(cassette);
        for answer in ANSWERS {
            let expect = expected(cassette, answer).unwrap();
            let deltas = chunks(cassette, answer);
            let (said, native) = (text(&deltas), native_names(&deltas));
            let called = expect.calls.iter().map(|call| &call.name).chain(&expect.incomplete);
            assert_eq!(
                called.clone().next().is_none(),
                expect.no_calls,
                "{name}: `no_calls` says so outright"
            );
            for called in called {
                assert!(
                    declared.iter().any(|tool| tool["name"] == *called),
                    "{name}: `{called}` is declared"
                );
                let held = said.contains(called.as_str()) || native.contains(called);
                assert!(held, "{name}: {answer:?} does not hold `{called}`");
            }
            for call in &expect.calls {
                assert!(call.arguments.is_object(), "{name}: arguments of `{}`", call.name);
            }
            for part in &expect.content_contains {
                assert!(said.contains(part.as_str()), "{name}: {answer:?} does not hold {part:?}");
            }
        }
    }
}
