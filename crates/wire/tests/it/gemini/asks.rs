//! Any request that a client could send comes back as it was.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::frames::{maybe, object, part};
use super::{body, decode, encode};

fn one_of(values: Vec<Value>) -> impl Strategy<Value = Value> {
    prop::sample::select(values)
}

fn asked_part() -> impl Strategy<Value = Value> {
    let response = one_of(vec![
        json!({"output": "a"}),
        json!({"error": "e"}),
        json!({"result": 1}),
        json!({}),
        json!({"a": {"$ref": "x"}}),
    ]);
    let results =
        (response, prop::option::of(prop::sample::select(vec!["i", "j"])), any::<bool>(), any::<bool>())
            .prop_map(|(response, id, named, media)| {
                let parts = json!([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"x": 1}]);
                json!({"functionResponse": object(vec![
                    Some(("response".to_owned(), response)),
                    id.map(|id| ("id".to_owned(), json!(id))),
                    named.then(|| ("name".to_owned(), json!("f"))),
                    media.then(|| ("parts".to_owned(), parts)),
                ])})
            });
    prop_oneof![3 => part(), 2 => results]
}

fn content() -> impl Strategy<Value = Value> {
    let role = one_of(vec![json!("user"), json!("model"), json!("function"), json!("narrator")]);
    let parts =
        prop_oneof![4 => prop::collection::vec(asked_part(), 0..4).prop_map(Value::Array), 1 => asked_part()];
    (maybe("role", role), prop::option::weighted(0.9, parts))
        .prop_map(|(role, parts)| object(vec![role, parts.map(|parts| ("parts".to_owned(), parts))]))
}

fn tool() -> impl Strategy<Value = Value> {
    let schema = one_of(vec![
        json!({"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": true}}}),
        json!({"type": "object", "properties": {"type": {"type": "string"}}}),
        json!({"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "2"}),
        json!({"any_of": [{"type": "STRING"}]}),
        json!(null),
    ]);
    let declaration = (
        maybe("parameters", schema),
        maybe("parametersJsonSchema", Just(json!({"type": ["string", "null"]}))),
        maybe("description", Just(json!(""))),
    )
        .prop_map(|(parameters, json, text)| {
            object(vec![Some(("name".to_owned(), json!("f"))), parameters, json, text])
        })
        .boxed();
    let declared = prop_oneof![3 => prop::collection::vec(declaration.clone(), 0..3).prop_map(Value::Array), 1 => declaration];
    (
        maybe("functionDeclarations", declared),
        maybe("googleSearch", Just(json!({}))),
        maybe("x", Just(json!(1))),
    )
        .prop_map(|(a, b, c)| object(vec![a, b, c]))
}

fn settings() -> impl Strategy<Value = Value> {
    let thinking = (
        maybe("thinkingBudget", one_of(vec![json!(-1), json!(0), json!(9), json!(-7)])),
        maybe(
            "thinkingLevel",
            one_of(vec![json!("LOW"), json!("high"), json!("Low"), json!("XHIGH"), json!("ODD")]),
        ),
        maybe("includeThoughts", one_of(vec![json!(true), json!(null)])),
    );
    let schemas = one_of(vec![
        json!({"type": "OBJECT", "nullable": true}),
        json!({"type": "string"}),
        json!({"minItems": "1"}),
    ])
    .boxed();
    let fields = (
        maybe("temperature", one_of(vec![json!(1), json!(null), serde_json::from_str("0.70").unwrap()])),
        maybe("stopSequences", one_of(vec![json!([]), json!(["a", "b", "c", "d", "e", "f"])])),
        maybe("logprobs", one_of(vec![json!(0), json!(3)])),
        maybe(
            "responseMimeType",
            one_of(vec![json!("application/json"), json!("text/plain"), json!("text/x.enum")]),
        ),
        maybe("responseSchema", schemas.clone()),
        maybe("responseJsonSchema", schemas),
        maybe("thinkingConfig", thinking.prop_map(|(a, b, c)| object(vec![a, b, c]))),
        maybe("speechConfig", Just(json!({"a": 1}))),
    );
    fields.prop_map(|(a, b, c, d, e, f, g, h)| object(vec![a, b, c, d, e, f, g, h]))
}

fn request() -> impl Strategy<Value = Value> {
    let contents =
        prop_oneof![5 => prop::collection::vec(content(), 0..5).prop_map(Value::Array), 1 => content()];
    let calling = (
        maybe(
            "mode",
            one_of(vec![json!("AUTO"), json!("ANY"), json!("NONE"), json!("VALIDATED"), json!("X")]),
        ),
        maybe("allowedFunctionNames", one_of(vec![json!([]), json!(["f"]), json!(["f", "g"])])),
    );
    let config =
        calling.prop_map(|(mode, names)| json!({"functionCallingConfig": object(vec![mode, names])}));
    let fields = (
        contents,
        maybe("systemInstruction", content()),
        maybe("tools", prop::collection::vec(tool(), 0..3).prop_map(Value::Array)),
        maybe("toolConfig", prop_oneof![config, Just(json!({})), Just(json!({"x": 1}))]),
        maybe("generationConfig", settings()),
        maybe("model", one_of(vec![json!("models/gemini-3-pro"), json!("gemini-3-pro")])),
        maybe("labels", Just(json!({"a": "b"}))),
    );
    fields.prop_map(|(contents, a, b, c, d, e, f)| {
        object(vec![Some(("contents".to_owned(), contents)), a, b, c, d, e, f])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_request_comes_back_the_same(request in request()) {
        let encoded = encode(&decode(&request));
        prop_assert_eq!(body(&encoded), request);
        prop_assert!(encoded.losses.is_empty(), "{:?}", encoded.losses);
    }
}
