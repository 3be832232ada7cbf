//! Any answer that the API could send, in any frames, comes back as it was.

use proptest::prelude::*;
use rail_model::Grammar;
use rail_wire::BodyKind;
use serde_json::{Map, Value, json};

use super::{events, payloads, written};

pub(crate) fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        5 => "[a-c]{0,3}".prop_map(|text| json!({"text": text})),
        3 => "[a-c]{0,3}".prop_map(|text| json!({"text": text, "thought": true})),
        1 => Just(json!({"text": "s", "thoughtSignature": "AAA="})),
        1 => Just(json!({"text": "", "thoughtSignature": "BBB="})),
        1 => Just(json!({"thoughtSignature": "CCC="})),
        1 => Just(json!({"thought": true, "thoughtSignature": "DDD="})),
        1 => Just(json!({"text": "", "thought": true, "thoughtSignature": "FFF="})),
        1 => Just(json!({"text": "t", "thought": true, "thoughtSignature": "GGG=", "partMetadata": {"a": 1}})),
        1 => Just(json!({"text": "x", "thought": false, "partMetadata": {"a": 1}})),
        2 => Just(json!({"functionCall": {"name": "f", "args": {"a": 1}}})),
        1 => Just(json!({"functionCall": {"name": "f", "id": "i", "x": 1}, "thoughtSignature": "EEE="})),
        1 => Just(json!({"functionCall": {"name": "f", "willContinue": true}})),
        1 => Just(json!({"functionResponse": {"name": "f", "response": {}}})),
        1 => Just(json!({"inlineData": {"mimeType": "image/png", "data": "_-8"}, "thought": true})),
        1 => Just(json!({"fileData": {"fileUri": "https://x.example/a.png"}})),
        1 => Just(json!({"executableCode": {"code": "1"}})),
        1 => Just(json!({})),
    ]
}

pub(crate) fn maybe(
    key: &'static str,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Option<(String, Value)>> {
    prop::option::weighted(0.5, value.prop_map(move |value| (key.to_owned(), value)))
}

pub(crate) fn object(fields: Vec<Option<(String, Value)>>) -> Value {
    Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>())
}

fn candidate(index: u64) -> impl Strategy<Value = Value> {
    let content =
        (prop::option::weighted(0.9, prop::collection::vec(part(), 0..4)), any::<bool>(), any::<bool>())
            .prop_map(|(parts, role, more)| {
                object(vec![
                    parts.map(|parts| ("parts".to_owned(), Value::Array(parts))),
                    role.then(|| ("role".to_owned(), json!("model"))),
                    (more && role).then(|| ("x".to_owned(), json!(1))),
                ])
            });
    let reason = prop::sample::select(vec!["STOP", "MAX_TOKENS", "SAFETY", "X_NEW"]).prop_map(Value::from);
    let probabilities = prop_oneof![
        Just(
            json!({"chosenCandidates": [{"token": "a", "logProbability": -0.5, "tokenId": 3}], "logProbabilitySum": -1})
        ),
        Just(
            json!({"chosenCandidates": [{"token": "a", "logProbability": -0.5}], "topCandidates": [{"candidates": [{"token": "b", "logProbability": -2}]}]})
        ),
        Just(json!({"chosenCandidates": [], "topCandidates": []})),
    ];
    let fields = (
        prop::option::weighted(0.9, content),
        prop::option::weighted(0.2, reason),
        prop::option::weighted(0.2, probabilities),
        maybe("groundingMetadata", Just(json!({"a": [1]}))),
        prop::option::weighted(0.8, Just(json!(index))),
    );
    fields.prop_map(move |(content, reason, probabilities, grounding, said)| {
        object(vec![
            content.map(|content| ("content".to_owned(), content)),
            reason.map(|reason| ("finishReason".to_owned(), reason)),
            probabilities.map(|value| ("logprobsResult".to_owned(), value)),
            grounding,
            if index > 0 {
                Some(("index".to_owned(), json!(index)))
            } else {
                said.map(|index| ("index".to_owned(), index))
            },
        ])
    })
}

fn tokens() -> impl Strategy<Value = Value> {
    let count = || prop::option::of(0..9u64);
    (count(), count(), count(), count(), count(), count(), any::<bool>()).prop_map(
        |(prompt, cached, out, thoughts, tool, total, details)| {
            let field = |key: &str, count: Option<u64>| count.map(|count| (key.to_owned(), json!(count)));
            object(vec![
                field("promptTokenCount", prompt),
                field("cachedContentTokenCount", cached),
                field("candidatesTokenCount", out),
                field("thoughtsTokenCount", thoughts),
                field("toolUsePromptTokenCount", tool),
                field("totalTokenCount", total),
                details.then(|| {
                    ("promptTokensDetails".to_owned(), json!([{"modality": "TEXT", "tokenCount": 1}]))
                }),
            ])
        },
    )
}

fn frame() -> impl Strategy<Value = Value> {
    let candidates = prop_oneof![
        6 => candidate(0).prop_map(|main| json!([main])),
        1 => candidate(1).prop_map(|other| json!([other])),
        1 => (candidate(0), candidate(1)).prop_map(|both| json!([both.0, both.1])),
        1 => Just(json!([])),
    ];
    let fields = (
        prop::option::weighted(0.9, candidates),
        maybe("usageMetadata", tokens()),
        maybe("modelVersion", Just(json!("m"))),
        maybe("responseId", prop::sample::select(vec![json!("r"), json!("s")])),
        maybe("createTime", Just(json!("2026"))),
        prop::option::weighted(0.1, Just(json!({"blockReason": "SAFETY"}))),
    );
    fields.prop_map(|(candidates, usage, model, id, time, feedback)| {
        object(vec![
            candidates.map(|list| ("candidates".to_owned(), list)),
            usage,
            model,
            id,
            time,
            feedback.map(|feedback| ("promptFeedback".to_owned(), feedback)),
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_frames_come_back_the_same(mut frames in prop::collection::vec(frame(), 0..5), step in 1usize..40) {
        frames.push(json!({"candidates": [{"finishReason": "STOP", "index": 0}]}));
        let body: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        let events = events(BodyKind::Stream, body.as_bytes(), step);
        let mut grammar = Grammar::default();
        for event in &events {
            prop_assert_eq!(grammar.accept(event), Ok(()));
        }
        prop_assert_eq!(grammar.end(), Ok(()));
        prop_assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), frames);
    }

    #[test]
    fn any_whole_answer_comes_back_the_same(frame in frame()) {
        let events = events(BodyKind::Whole, frame.to_string().as_bytes(), 1000);
        prop_assert_eq!(payloads(BodyKind::Whole, &written(BodyKind::Whole, &events)), vec![frame]);
    }
}
