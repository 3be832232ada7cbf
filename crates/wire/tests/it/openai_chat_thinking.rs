//! OpenAI Chat: the many ways in which clients say whether and how much to think.

use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use rail_model::{Effort, Request, Thinking, ThinkingMode};
use rail_wire::openai_chat::PROTOCOL;
use rail_wire::{TargetSpec, ThinkingStyle, find};
use serde_json::{Map, Value, json};

use crate::corpus::{json as parsed, read_request, write_request};

fn body(fields: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

fn read(fields: Value) -> Request {
    read_request(&PROTOCOL, body(fields).to_string().as_bytes()).unwrap()
}

#[test]
fn every_spelling_is_understood() {
    let (on, off) = (Some(ThinkingMode::On), Some(ThinkingMode::Off));
    let table = [
        (json!({"reasoning": {"effort": "high"}}), (None, None, Some(Effort::High), None)),
        (
            json!({"reasoning": {"effort": "none", "exclude": true}}),
            (None, None, Some(Effort::None), Some(false)),
        ),
        (json!({"reasoning": {"max_tokens": 2000, "exclude": false}}), (on, Some(2000), None, Some(true))),
        (json!({"reasoning": {"max_tokens": 0}}), (off, None, None, None)),
        (json!({"reasoning": {"enabled": true}}), (on, None, None, None)),
        (json!({"reasoning": {"enabled": false, "effort": "high"}}), (off, None, None, None)),
        (json!({"thinking": {"type": "enabled"}}), (on, None, None, None)),
        (json!({"thinking": {"type": "enabled", "budget_tokens": 9}}), (on, Some(9), None, None)),
        (json!({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}), (off, None, None, None)),
        (json!({"thinking": {"type": "auto"}}), (Some(ThinkingMode::Adaptive), None, None, None)),
        (json!({"enable_thinking": true, "reasoning_effort": "none"}), (on, None, None, None)),
        (json!({"enable_thinking": true, "thinking_budget": 7}), (on, Some(7), None, None)),
        (json!({"enable_thinking": false, "thinking_budget": 7}), (off, None, None, None)),
        (json!({"thinking_budget": 7}), (on, Some(7), None, None)),
        (json!({"chat_template_kwargs": {"enable_thinking": false}}), (off, None, None, None)),
        (json!({"chat_template_kwargs": {"thinking": true}}), (on, None, None, None)),
        (
            json!({"reasoning_effort": "low", "reasoning": {"effort": "max"}, "enable_thinking": true, "chat_template_kwargs": {"enable_thinking": false}}),
            (on, None, Some(Effort::Max), None),
        ),
    ];
    for (fields, expected) in table {
        let Thinking { mode, budget, effort, show, .. } = read(fields.clone()).thinking.unwrap_or_default();
        assert_eq!((mode, budget, effort, show), expected, "{fields}");
    }
    for fields in
        [json!({"reasoning": {"exclude": true}}), json!({"thinking": "x"}), json!({"reasoning": {}})]
    {
        assert_eq!(read(fields.clone()).thinking, None, "{fields}");
    }
}

#[test]
fn a_wish_is_carried_like_an_effort() {
    let rows = [
        json!({"reasoning": {"effort": "high"}}),
        json!({"reasoning": {"max_tokens": 2000}}),
        json!({"thinking": {"type": "enabled"}}),
        json!({"enable_thinking": false}),
        json!({"reasoning": {"effort": "low", "x_odd": 1}, "chat_template_kwargs": {"x_odd": 2, "enable_thinking": true}}),
    ];
    let told = |fields: &Value, to: &str| {
        let (body, losses) = write_request(find(to).unwrap(), &read(fields.clone()));
        let said = ["thinking", "output_config", "reasoning", "generationConfig"]
            .iter()
            .filter_map(|key| Some(format!("{key}={}", body.get(*key)?)));
        let losses = losses.into_iter().map(|loss| format!("({}: {})", loss.path, loss.reason));
        format!("  {to} {}", said.chain(losses).collect::<Vec<_>>().join(" "))
    };
    let targets = ["anthropic", "openai-responses", "gemini"];
    let lines = rows
        .iter()
        .flat_map(|fields| std::iter::once(fields.to_string()).chain(targets.map(|to| told(fields, to))));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    {"reasoning":{"effort":"high"}}
      anthropic thinking={"type":"adaptive"} output_config={"effort":"high"}
      openai-responses reasoning={"effort":"high"}
      gemini generationConfig={"thinkingConfig":{"thinkingLevel":"HIGH"}}
    {"reasoning":{"max_tokens":2000}}
      anthropic thinking={"type":"enabled","budget_tokens":2000}
      openai-responses reasoning={"effort":"medium","summary":"auto"} (thinking.budget: only an effort can be said here; 2000 tokens became `medium`)
      gemini generationConfig={"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2000}}
    {"thinking":{"type":"enabled"}}
      anthropic thinking={"type":"adaptive"}
      openai-responses reasoning={"effort":"medium","summary":"auto"}
      gemini generationConfig={"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}}
    {"enable_thinking":false}
      anthropic thinking={"type":"disabled"}
      openai-responses reasoning={"effort":"none"}
      gemini generationConfig={"thinkingConfig":{"thinkingBudget":0}}
    {"reasoning":{"effort":"low","x_odd":1},"chat_template_kwargs":{"x_odd":2,"enable_thinking":true}}
      anthropic thinking={"type":"adaptive"} output_config={"effort":"low"} (reasoning: anthropic can't say it (x_odd)) (chat_template_kwargs: anthropic can't say it (x_odd))
      openai-responses reasoning={"effort":"low","summary":"auto"} (reasoning: openai-responses can't say it (x_odd)) (chat_template_kwargs: openai-responses can't say it (x_odd))
      gemini generationConfig={"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}} (reasoning: gemini can't say it (x_odd)) (chat_template_kwargs: gemini can't say it (x_odd))
    "#);
}

#[test]
fn a_model_that_cant_be_told_to_think_is_not_told() {
    let fields = json!({
        "reasoning_effort": "HIGH", "reasoning": {"max_tokens": 9, "x_odd": 1}, "thinking": {"type": "enabled", "clear_thinking": false},
        "enable_thinking": true, "thinking_budget": 9, "chat_template_kwargs": {"enable_thinking": true, "x_odd": 2},
    });
    let target = TargetSpec { thinking: ThinkingStyle::Never, ..TargetSpec::new("m") };
    let encoded = PROTOCOL.outbound.encode_request(&read(fields), &target);
    assert_eq!(parsed(&encoded.call.body), body(json!({"chat_template_kwargs": {"x_odd": 2}})));
    let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "reasoning",
            "thinking_budget",
            "thinking",
            "enable_thinking",
            "chat_template_kwargs.enable_thinking",
            "reasoning_effort"
        ]
    );
}

const FIELDS: &str = "reasoning thinking enable_thinking thinking_budget chat_template_kwargs";
/// What a field may be, read or not.
const VALUES: &str = r#"null true false 0 -1 4096 1.5 1e3 "enabled" "x_odd" [] {}"#;
/// What may stand inside one.
const INSIDE: &str = r#"effort:"high" effort:"HIGH" effort:null max_tokens:9 max_tokens:0 enabled:true enabled:1 exclude:true type:"enabled" type:"disabled" type:"x_odd" budget_tokens:9 budget_tokens:1.5 enable_thinking:false thinking:true x_odd:{}"#;

fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> + Clone {
    proptest::sample::select(words.split(' ').collect::<Vec<_>>())
}

fn value() -> impl Strategy<Value = Value> {
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let plain = one_of(VALUES).prop_map(value);
    let object = vec(one_of(INSIDE), 0..8).prop_map(move |pairs| {
        let pairs = pairs.into_iter().map(|pair| pair.split_once(':').unwrap());
        pairs.map(|(key, text)| (key.to_owned(), value(text))).collect::<Map<_, _>>().into()
    });
    prop_oneof![1 => plain, 3 => object]
}

proptest! {
    #[test]
    fn whatever_is_said_comes_back_word_for_word(
        fields in hash_map(one_of(FIELDS), value(), 0..6),
        effort in proptest::option::of(one_of("high HIGH none x_odd")),
    ) {
        let mut fields: Map<String, Value> =
            fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        fields.extend(effort.map(|word| ("reasoning_effort".to_owned(), json!(word))));
        let request = read(Value::Object(fields.clone()));
        let (written, losses) = write_request(&PROTOCOL, &request);
        prop_assert_eq!(losses, []);
        for (key, value) in &fields {
            prop_assert_eq!(written[key].to_string(), value.to_string(), "in the same order");
        }
        prop_assert_eq!(written, body(Value::Object(fields)));
    }
}
