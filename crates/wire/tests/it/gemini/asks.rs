//! Any request that a client could send comes back as it was.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::frames::{maybe, object, part};
use super::{body, decode, encode};

fn one_of(values: Vec<Value>) -> impl Strategy<Value = Value> {
    prop::sample::select(values)
}

fn result() -> impl Strategy<Value = Value> {
    let response = one_of(vec![
        json!({"output": "a"}),
        json!({"error": "e"}),
        json!({"result": 1}),
        json!({}),
        json!({"a": {"$ref": "x"}}),
    ]);
    (response, any::<bool>(), any::<bool>()).prop_map(|(response, id, media)| {
        let parts = json!([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}, {"x": 1}]);
        json!({"functionResponse": object(vec![
            Some(("response".to_owned(), response)),
            Some(("name".to_owned(), json!("f"))),
            id.then(|| ("id".to_owned(), json!("made-up"))),
            media.then(|| ("parts".to_owned(), parts)),
        ])})
    })
}

/// A part that is neither a call nor a result.
fn word() -> impl Strategy<Value = Value> {
    part().prop_filter("no call", |part| {
        part.get("functionCall").is_none() && part.get("functionResponse").is_none()
    })
}

fn is_of_user(part: &Value) -> bool {
    part.get("thought").is_none() && part.get("thoughtSignature").is_none()
}

fn list(parts: Vec<Value>) -> impl Strategy<Value = Value> {
    let alone = parts.first().filter(|_| parts.len() == 1).cloned();
    prop_oneof![4 => Just(Value::Array(parts.clone())), 1 => Just(alone.unwrap_or(Value::Array(parts)))]
}

/// What the user says, what the model answers, and the results of its calls.
fn turn() -> impl Strategy<Value = Vec<Value>> {
    let words =
        prop::collection::vec(word().prop_filter("of the user", is_of_user), 0..3).prop_flat_map(list);
    let role = one_of(vec![json!("user"), json!("narrator"), json!(null)]);
    let call = prop_oneof![
        Just(json!({"functionCall": {"name": "f", "args": {"a": 1}}})),
        Just(json!({"functionCall": {"name": "f", "x": 1}, "thoughtSignature": "EEE="})),
    ];
    let said = prop::collection::vec(word(), 0..3);
    let calls = prop::collection::vec((call, result()), 0..3);
    let after = prop::collection::vec(word().prop_filter("of the user", is_of_user), 0..2);
    (role, words, said, calls, after).prop_map(|(role, words, said, calls, after)| {
        let role = (!role.is_null()).then(|| ("role".to_owned(), role));
        let (calls, results): (Vec<Value>, Vec<Value>) = calls.into_iter().unzip();
        let answers = if results.is_empty() || !after.is_empty() { "user" } else { "function" };
        vec![
            object(vec![role, Some(("parts".to_owned(), words))]),
            json!({"role": "model", "parts": said.into_iter().chain(calls).collect::<Vec<_>>()}),
            json!({"role": answers, "parts": results.into_iter().chain(after).collect::<Vec<_>>()}),
        ]
    })
}

/// Names the declarations one after the other: two tools of one name are one too many.
fn named(mut tools: Vec<Value>) -> Value {
    let mut names = ["f", "g", "h", "i", "j", "k", "l", "m", "n", "o"].iter();
    for declared in tools.iter_mut().filter_map(|tool| tool.get_mut("functionDeclarations")) {
        let list = match declared {
            Value::Array(list) => list.iter_mut().collect::<Vec<_>>(),
            one => vec![one],
        };
        list.into_iter().zip(&mut names).for_each(|(declaration, name)| declaration["name"] = json!(name));
    }
    Value::Array(tools)
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
    let contents = prop::collection::vec(turn(), 0..3);
    let contents = contents.prop_map(|turns| Value::Array(turns.into_iter().flatten().collect()));
    let calling = (
        maybe(
            "mode",
            one_of(vec![json!("AUTO"), json!("ANY"), json!("NONE"), json!("VALIDATED"), json!("X")]),
        ),
        maybe("allowedFunctionNames", one_of(vec![json!([]), json!(["f"]), json!(["f", "g"])])),
    );
    let config =
        calling.prop_map(|(mode, names)| json!({"functionCallingConfig": object(vec![mode, names])}));
    let config = maybe("toolConfig", prop_oneof![config, Just(json!({})), Just(json!({"x": 1}))]);
    // A choice must be among tools that there are.
    let both = json!({"functionDeclarations": [{"name": "f"}, {"name": "g"}]});
    let tools = (prop::collection::vec(tool(), 0..3), config).prop_map(move |(mut tools, config)| {
        if config.is_some() {
            tools.insert(0, both.clone());
        }
        (named(tools), config)
    });
    let fields = (
        contents,
        maybe(
            "systemInstruction",
            one_of(vec![
                json!({"parts": [{"text": "S"}], "role": "system"}),
                json!({"parts": {"text": "S"}}),
                json!({"parts": []}),
            ]),
        ),
        tools,
        maybe("generationConfig", settings()),
        maybe("model", one_of(vec![json!("models/gemini-3-pro"), json!("gemini-3-pro")])),
        maybe("labels", Just(json!({"a": "b"}))),
    );
    fields.prop_map(|(contents, system, (tools, config), a, b, c)| {
        let tools = Some(("tools".to_owned(), tools));
        object(vec![Some(("contents".to_owned(), contents)), system, tools, config, a, b, c])
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
