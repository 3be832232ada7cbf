//! A row for everything that a rule of the user's can say, matched and not.

use rail_model::Purpose;
use rail_route::{Client, Routing, Rule, RulePurpose, classify, facts};
use serde_json::{Value, json};

use crate::setup::{Case, image, request, tools};

/// Classifies one fixed request by one rule.
fn why(rule: Rule, fields: Value) -> Option<String> {
    let routing = Routing { rules: vec![Rule { name: "mine".into(), ..rule }], ..Routing::default() };
    let mut request = request(fields);
    request.purpose = Purpose::Background;
    let headers = [
        ("user-agent".to_owned(), "codex_cli_rs/0.60".to_owned()),
        ("x-team".to_owned(), "blue-7".to_owned()),
    ];
    let facts = facts(&request, &Client { headers: &headers, name: None }, 5_000);
    let wanted = classify(&routing, &facts, None);
    wanted.rule.map(|_| wanted.why)
}

#[test]
fn every_condition_of_a_rule() {
    let some = |text: &str| Some(text.to_owned());
    let header = |pattern: &str| [("X-Team".to_owned(), pattern.to_owned())].into();
    let fields = json!({
        "model": "claude-haiku-4", "system": "You write titles.", "tools": tools(&["Bash", "mcp__db__query"]),
        "messages": [{"role": "user", "content": [image()]}],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    });
    let matched = |reason: &str| Some(format!("the rule `mine` matches: {reason}"));
    for (rule, expected) in [
        (Rule::default(), some("the rule `mine` takes every request")),
        (Rule { client: some("codex"), ..Rule::default() }, matched("the client is `codex`")),
        (Rule { client: some("claude-*"), ..Rule::default() }, None),
        (Rule { headers: header("blue-*"), ..Rule::default() }, matched("the header `X-Team` fits `blue-*`")),
        (Rule { headers: header("red"), ..Rule::default() }, None),
        (Rule { headers: [("x-none".to_owned(), "*".to_owned())].into(), ..Rule::default() }, None),
        (Rule { model: some("*haiku*"), ..Rule::default() }, matched("`claude-haiku-4` was asked for")),
        (Rule { model: some("gpt-*"), ..Rule::default() }, None),
        (Rule { min_tokens: Some(5_000), ..Rule::default() }, matched("5,000 tokens are at least 5,000")),
        (Rule { min_tokens: Some(5_001), ..Rule::default() }, None),
        (Rule { max_tokens: Some(5_000), ..Rule::default() }, matched("5,000 tokens are at most 5,000")),
        (Rule { max_tokens: Some(4_999), ..Rule::default() }, None),
        (
            Rule { tools: vec!["x".into(), "mcp__db__*".into()], ..Rule::default() },
            matched("the tool `mcp__db__query` is declared"),
        ),
        (Rule { tools: vec!["Edit".into()], ..Rule::default() }, None),
        (Rule { images: Some(true), ..Rule::default() }, matched("the conversation holds 1 image")),
        (Rule { images: Some(false), ..Rule::default() }, None),
        (Rule { thinking: Some(true), ..Rule::default() }, matched("thinking is asked for")),
        (Rule { thinking: Some(false), ..Rule::default() }, None),
        (Rule { system: some("titles"), ..Rule::default() }, matched("the system prompt holds \"titles\"")),
        (Rule { system: some("poems"), ..Rule::default() }, None),
        (
            Rule { purpose: Some(RulePurpose::Background), ..Rule::default() },
            matched("its purpose is background"),
        ),
        (Rule { purpose: Some(RulePurpose::SubAgent), ..Rule::default() }, None),
        (Rule { purpose: Some(RulePurpose::Main), ..Rule::default() }, None),
        (
            Rule { client: some("codex"), max_tokens: Some(9_000), ..Rule::default() },
            matched("the client is `codex`, 5,000 tokens are at most 9,000"),
        ),
        (Rule { client: some("codex"), max_tokens: Some(9), ..Rule::default() }, None),
    ] {
        assert_eq!(why(rule.clone(), fields.clone()), expected, "{rule:?}");
    }
}

#[test]
fn rules_stand_in_one_order_with_the_built_in_ones_and_the_users_first() {
    let taken = |rules: &[(&str, i64)]| {
        let rules = rules.iter().map(|(name, priority)| Rule {
            name: (*name).into(),
            priority: *priority,
            ..Rule::default()
        });
        let routing = Routing { rules: rules.collect(), ..Routing::default() };
        let request = request(json!({"tools": tools(&["Bash"])}));
        classify(&routing, &facts(&request, &Client::default(), 100), None).virtual_model
    };
    assert_eq!(taken(&[]), "coding");
    assert_eq!(taken(&[("mine", 5)]), "mine", "of equal ones the user's is first");
    assert_eq!(taken(&[("mine", 6)]), "coding");
    assert_eq!(taken(&[("later", 3), ("sooner", -1)]), "sooner");
    assert_eq!(taken(&[("one", 0), ("two", 0)]), "one", "of two equal ones the first");
    assert_eq!(taken(&[("mine", 100)]), "coding", "nothing comes behind `default`");
}

#[test]
fn a_rule_may_bring_its_chain_and_may_name_a_built_in_virtual_model() {
    let rule = |name: &str, chain: Option<&str>| Rule {
        name: name.into(),
        chain: chain.map(str::to_owned),
        ..Rule::default()
    };
    for (rules, expected) in [
        (vec![rule("cheap", Some("lmstudio,gpt-oss-20b-mlx"))], "cheap: lmstudio,gpt-oss-20b-mlx"),
        (vec![rule("reasoning", None)], "reasoning: qwen,qwen3-coder-plus modelscope,qwen3-480b"),
        (vec![rule("reasoning", Some("shuaihong,gemini-2.5-pro"))], "reasoning: shuaihong,gemini-2.5-pro"),
        (
            vec![rule("cheap", None)],
            "cheap: qwen,qwen3-coder-plus modelscope,qwen3-480b shuaihong,gemini-2.5-pro",
        ),
        (
            vec![rule("cheap", None), rule("cheap", Some("lmstudio,gpt-oss-20b-mlx"))],
            "cheap: lmstudio,gpt-oss-20b-mlx",
        ),
    ] {
        let mut case = Case::new(json!({}));
        case.routing.rules = rules;
        let plan = case.plan();
        let got =
            format!("{}: {}", plan.virtual_model.clone().unwrap(), crate::setup::order(&plan).join(" "));
        assert_eq!(got, expected);
    }
}
