use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::{BTreeSet, MAX_WORDS, Words};
use crate::*;

const A: ProtocolId = ProtocolId::new("anthropic");

#[test]
fn what_nobody_said_is_not_written() {
    let mut sealed = Part::new(PartBody::Thinking("hm".into()));
    sealed.seal = Some(Seal { issuer: "anthropic".into(), data: "c2ln".into() });
    sealed.extras.mark(A, "as-string");
    sealed.extras.insert(A, "top_k", json!(4));
    let id = CallId::Minted("call_1".into());
    let call = ToolCall { id, name: "read".into(), arguments: "{}".into(), kind: CallKind::Function };
    let parts = vec![Part::text("hi"), sealed, PartBody::ToolCall(call).into()];
    assert_eq!(
        serde_json::to_string(&Message::new(Role::Assistant, parts)).unwrap(),
        concat!(
            r#"{"role":"assistant","parts":[{"body":{"text":"hi"}},"#,
            r#"{"body":{"thinking":"hm"},"seal":{"issuer":"anthropic","data":"c2ln"},"#,
            r#""extras":{"by":"anthropic","marks":["as-string"],"rest":{"top_k":4}}},"#,
            r#"{"body":{"tool_call":{"id":{"minted":"call_1"},"name":"read","arguments":"{}"}}}]}"#,
        )
    );
}

#[test]
fn a_null_that_was_said_is_not_nothing_said() {
    for parameters in
        [None, Some(Json::from(Value::Null)), Some(Json::parse("{ \"n\": 1.0 }".into()).unwrap())]
    {
        let decl = ToolDecl {
            name: "x".into(),
            description: None,
            kind: ToolKind::Function { parameters },
            strict: Some(false),
            cache: Some(CacheMark::default()),
            extras: Extras::NONE,
        };
        let text = serde_json::to_string(&decl).unwrap();
        let read: ToolDecl = serde_json::from_str(&text).unwrap();
        assert_eq!(read, decl);
        let ToolKind::Function { parameters: read } = read.kind else { panic!("{text}") };
        let ToolKind::Function { parameters } = decl.kind else { panic!("{text}") };
        assert_eq!(read.as_ref().map(Json::text), parameters.as_ref().map(Json::text), "with its spelling");
    }
}

#[test]
fn a_tree_may_be_as_deep_as_any_that_a_peer_sends() {
    // The deepest that the reader of answers takes.
    let text = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    let value: Value = serde_json::from_str(&text).unwrap();
    let inner = Part::new(PartBody::Opaque(Opaque { origin: A, value }));
    let result = ToolResult {
        id: CallId::Given("a".into()),
        name: None,
        content: vec![inner],
        is_error: None,
        kind: CallKind::Custom,
    };
    same(&Message::new(Role::Tool, vec![PartBody::ToolResult(result).into()]));
}

#[test]
fn names_of_protocols_are_kept_once_and_only_so_many() {
    let read: ProtocolId = serde_json::from_str("\"from-tomorrow\"").unwrap();
    assert_eq!(read, ProtocolId::new("from-tomorrow"));
    let mut words = Words(BTreeSet::new());
    let (one, other) = (words.keep("one").unwrap(), words.keep("one").unwrap());
    assert!(std::ptr::eq(one, other));
    assert_eq!(words.keep(&"x".repeat(65)), None);
    let many = (0..2_000).filter(|n| words.keep(&format!("name-{n}")).is_some()).count();
    assert_eq!(many, MAX_WORDS - 1);
    assert_eq!(words.keep("one"), Some("one"), "one that is known already is read");
}

fn same<T: Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, value, "{text}");
    assert_eq!(serde_json::to_string(&read).unwrap(), text, "with the same spelling");
}

fn number() -> impl Strategy<Value = serde_json::Number> {
    let spelled =
        prop::sample::select(vec!["1.0", "1e400", "-0", "0.10", "123456789012345678901234567890", "1E-7"]);
    prop_oneof![spelled.prop_map(str::to_owned), any::<i64>().prop_map(|n| n.to_string())]
        .prop_map(|text| serde_json::from_str(&text).unwrap())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(Value::Number),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn origin() -> impl Strategy<Value = ProtocolId> {
    prop::sample::select(vec![A, ProtocolId::new("openai-chat"), ProtocolId::new("gemini")])
}

fn extras() -> impl Strategy<Value = Extras> {
    let marks = prop::collection::vec(prop::sample::select(vec!["object", "again", "as-string"]), 0..3);
    let rest = prop::collection::vec((any::<String>(), value()), 0..3);
    (origin(), marks, rest).prop_map(|(origin, marks, rest)| {
        let mut extras = Extras::NONE;
        marks.into_iter().for_each(|mark| extras.mark(origin, mark));
        rest.into_iter().for_each(|(key, value)| extras.insert(origin, key, value));
        extras
    })
}

fn seal() -> impl Strategy<Value = Seal> {
    any::<(String, String)>().prop_map(|(issuer, data)| Seal { issuer, data })
}

fn call_id() -> impl Strategy<Value = CallId> {
    prop_oneof![any::<String>().prop_map(CallId::Given), any::<String>().prop_map(CallId::Minted)]
}

fn call_kind() -> impl Strategy<Value = CallKind> {
    prop_oneof![Just(CallKind::Function), Just(CallKind::Custom)]
}

fn media() -> impl Strategy<Value = Media> {
    let kinds = vec![MediaKind::Image, MediaKind::Document, MediaKind::Audio, MediaKind::Video];
    let source = (0..4, any::<String>()).prop_map(|(which, text)| match which {
        0 => MediaSource::Base64(text),
        1 => MediaSource::Text(text),
        2 => MediaSource::Url(text),
        _ => MediaSource::FileId(text),
    });
    (prop::sample::select(kinds), any::<Option<String>>(), source, any::<Option<String>>())
        .prop_map(|(kind, mime, source, name)| Media { kind, mime, source, name })
}

fn logprob() -> impl Strategy<Value = Logprob> {
    let one = || {
        (any::<String>(), number(), prop::option::of(value()), extras()).prop_map(
            |(token, logprob, bytes, extras)| Logprob {
                token,
                logprob,
                bytes: bytes.map(Json::from),
                top: Vec::new(),
                extras,
            },
        )
    };
    (one(), prop::collection::vec(one(), 0..2)).prop_map(|(logprob, top)| Logprob { top, ..logprob })
}

fn part(body: impl Strategy<Value = PartBody>) -> impl Strategy<Value = Part> {
    let cache = (any::<Option<String>>(), extras()).prop_map(|(ttl, extras)| CacheMark { ttl, extras });
    (
        body,
        prop::option::of(seal()),
        prop::option::of(cache),
        prop::collection::vec(logprob(), 0..2),
        extras(),
    )
        .prop_map(|(body, seal, cache, logprobs, extras)| Part { body, seal, cache, logprobs, extras })
}

fn leaf() -> impl Strategy<Value = PartBody> {
    prop_oneof![
        any::<String>().prop_map(PartBody::Text),
        any::<String>().prop_map(PartBody::Refusal),
        any::<String>().prop_map(PartBody::Thinking),
        seal().prop_map(PartBody::Redacted),
        (call_id(), any::<(String, String)>(), call_kind()).prop_map(|(id, (name, arguments), kind)| {
            PartBody::ToolCall(ToolCall { id, name, arguments, kind })
        }),
        media().prop_map(PartBody::Media),
        (origin(), value()).prop_map(|(origin, value)| PartBody::Opaque(Opaque { origin, value })),
    ]
}

fn body() -> impl Strategy<Value = PartBody> {
    let content = prop::collection::vec(part(leaf()), 0..3);
    let result = (call_id(), any::<(Option<String>, Option<bool>)>(), content, call_kind());
    let result = result.prop_map(|(id, (name, is_error), content, kind)| {
        PartBody::ToolResult(ToolResult { id, name, content, is_error, kind })
    });
    prop_oneof![4 => leaf(), 1 => result]
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    (role, prop::collection::vec(part(body()), 0..4), extras()).prop_map(|(role, parts, extras)| Message {
        role,
        parts,
        extras,
    })
}

fn decl() -> impl Strategy<Value = ToolDecl> {
    let kind = prop_oneof![
        prop::option::of(value()).prop_map(|v| ToolKind::Function { parameters: v.map(Json::from) }),
        prop::option::of(value()).prop_map(|v| ToolKind::Custom { format: v.map(Json::from) }),
        (origin(), value()).prop_map(|(origin, value)| ToolKind::Server(Opaque { origin, value })),
    ];
    (any::<(String, Option<String>, Option<bool>)>(), kind, extras()).prop_map(
        |((name, description, strict), kind, extras)| ToolDecl {
            name,
            description,
            kind,
            strict,
            cache: None,
            extras,
        },
    )
}

fn stop() -> impl Strategy<Value = Stop> {
    prop_oneof![
        prop::sample::select(vec![
            Stop::EndTurn,
            Stop::MaxTokens,
            Stop::StopSequence(None),
            Stop::ToolUse,
            Stop::Refusal,
            Stop::Pause,
            Stop::ContextFull,
            Stop::MalformedCall,
        ]),
        any::<String>().prop_map(|text| Stop::StopSequence(Some(text))),
        any::<String>().prop_map(Stop::Other),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_message_comes_back_equal(message in message()) {
        same(&message);
    }

    #[test]
    fn any_declaration_comes_back_equal(decl in decl(), stop in stop()) {
        same(&decl);
        same(&stop);
    }

    #[test]
    fn any_usage_comes_back_equal(figures: [Option<u64>; 5], extras in extras()) {
        let [input, cache_read, cache_write, output, reasoning] = figures;
        same(&Usage { input, cache_read, cache_write, output, reasoning, extras });
    }

    #[test]
    fn any_text_is_a_message_or_refused(text in r#"[a-z":{}\[\], ]{0,60}|.*"#) {
        let _ = serde_json::from_str::<Message>(&text);
    }
}
