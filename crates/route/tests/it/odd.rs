//! Odd names and odd configurations: there is always a plan, and it says why.

use std::sync::Arc;

use rail_route::{Alias, AliasTo, Provider, Rule};
use serde_json::json;

use crate::setup::{Case, Lack, add_provider, lines, order, profiles, target, tools};

fn asking(name: &str) -> Case {
    Case::new(json!({"model": name, "tools": tools(&["Bash"])}))
}

#[test]
fn odd_names() {
    let of = |name: &str| {
        let mut case = asking(name);
        add_provider(&mut case.routing, "router", &["openai/gpt-5", "my model"]);
        let to = |chain: &str| AliasTo::Chain(chain.parse().unwrap());
        case.routing.aliases = vec![
            Alias { name: "claude-*".into(), to: AliasTo::Classified, origin: "[aliases]".into() },
            Alias { name: "claude-sonnet-4-5".into(), to: to("router,exact"), origin: "[aliases]".into() },
            Alias {
                name: "nothing-yet".into(),
                to: AliasTo::Virtual("cheap".into()),
                origin: "[aliases]".into(),
            },
        ];
        let plan = case.plan();
        let class = plan.virtual_model.as_deref().unwrap_or("-");
        format!("{name:?} => {class}, {}: {}", order(&plan)[0], plan.why)
    };
    let names = [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5[1m]",
        "CLAUDE-OPUS-4",
        "models/gemini-2.5-pro",
        "gemini-2.5-pro",
        "Gemini-2.5-Pro",
        "openai/gpt-5",
        "gpt-5",
        "my model",
        "  my model ",
        "",
        " ",
        "*",
        "longcontext",
        "virtual",
        "nothing-yet",
        "a;b",
        ",",
        "qwen,",
        "qwen , x/y:z",
        "qwen,a;qwen,a;",
        "模型",
    ];
    insta::assert_snapshot!(names.map(of).join("\n"), @r#"
    "claude-sonnet-4-5" => -, router,exact: `claude-sonnet-4-5` is an alias ([aliases])
    "claude-sonnet-4-5[1m]" => coding, modelscope,qwen3-480b: `claude-sonnet-4-5[1m]` is an alias by `claude-*` ([aliases]) for what the request is: the tool `Bash` is declared, which is neither a web nor an image tool
    "CLAUDE-OPUS-4" => coding, modelscope,qwen3-480b: `CLAUDE-OPUS-4` is an alias by `claude-*` ([aliases]) for what the request is: the tool `Bash` is declared, which is neither a web nor an image tool
    "models/gemini-2.5-pro" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "gemini-2.5-pro" => -, shuaihong,gemini-2.5-pro: `gemini-2.5-pro` is a model of shuaihong
    "Gemini-2.5-Pro" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "openai/gpt-5" => -, router,openai/gpt-5: `openai/gpt-5` is a model of router
    "gpt-5" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "my model" => -, router,my model: `my model` is a model of router
    "  my model " => -, router,my model: `my model` is a model of router
    "" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    " " => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "*" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "longcontext" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "virtual" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "nothing-yet" => cheap, qwen,qwen3-coder-plus: `nothing-yet` is an alias ([aliases])
    "a;b" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "," => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "qwen," => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "qwen , x/y:z" => -, qwen,x/y:z: the target was asked for by name
    "qwen,a;qwen,a;" => -, qwen,a: the chain was asked for by name
    "模型" => coding, modelscope,qwen3-480b: the tool `Bash` is declared, which is neither a web nor an image tool
    "#);
}

#[test]
fn security_chains_alone_serve() {
    let mut case = asking("some");
    case.routing.chains.clear();
    insta::assert_snapshot!(case.lines(), @r"
    coding: the tool `Bash` is declared, which is neither a web nor an image tool
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
}

#[test]
fn nobody_is_usable() {
    let mut case = asking("some");
    for provider in case.routing.providers.values_mut() {
        let broken = Provider {
            unusable: Some(format!("`env:{}_KEY` is not set", provider.name)),
            ..(**provider).clone()
        };
        *provider = Arc::new(broken);
    }
    insta::assert_snapshot!(case.lines(), @r"
    coding: the tool `Bash` is declared, which is neither a web nor an image tool
    - modelscope,qwen3-480b: `env:modelscope_KEY` is not set
    - qwen,qwen3-coder-plus: `env:qwen_KEY` is not set
    - shuaihong,gemini-2.5-pro: `env:shuaihong_KEY` is not set
    ");
}

#[test]
fn a_chain_of_fifty_keeps_its_order() {
    let mut case = asking("some");
    let chain: Vec<String> = (1..=50).map(|at| format!("qwen,m{at:02}")).collect();
    case.routing.chains.insert("coding".into(), chain.join(";").parse().unwrap());
    case.health.refused(&target("qwen,m01"), "401", case.now);
    let plan = case.plan();
    let names = order(&plan);
    assert_eq!(
        (names.len(), names[0].as_str(), names[49].as_str(), names[50].as_str()),
        (51, "qwen,m02", "shuaihong,gemini-2.5-pro", "qwen,m01")
    );
    assert_eq!(plan.attempts[48].why, "50th of chain `coding`");
}

#[test]
fn more_tokens_than_anybody_takes() {
    let mut case = asking("some");
    case.tokens = u64::MAX;
    case.routing.profiles = profiles(&[("gemini-2.5-pro", Lack::Window(1_000))]);
    insta::assert_snapshot!(lines(&case.plan()), @r"
    longContext: 18,446,744,073,709,551,615 tokens are more than the threshold of 60,000
    + shuaihong,gemini-2.5-pro: 1st of chain `longContext`; nothing else is left, although 18,446,744,073,709,551,615 tokens are more than the 0 that it takes beside 1,000 of output
    + qwen,qwen3-coder-plus: 2nd of chain `longContext`; nothing else is left, although 18,446,744,073,709,551,615 tokens are more than the 1,152,921,504,606,845,976 that it takes beside 1,000 of output
    + lmstudio,gpt-oss-20b-mlx: the security chain of `longContext`; nothing else is left, although 18,446,744,073,709,551,615 tokens are more than the 1,152,921,504,606,845,976 that it takes beside 1,000 of output
    ");
}

#[test]
fn rules_at_every_priority_of_the_built_in_ones() {
    for priority in [i64::MIN, 0, 1, 2, 3, 4, 5, 6, 98, 99, 100, i64::MAX] {
        let mut case = asking("some");
        case.routing.rules = vec![Rule { name: "mine".into(), priority, ..Rule::default() }];
        let expected = if priority <= 5 { "mine" } else { "coding" };
        assert_eq!(case.plan().virtual_model.as_deref(), Some(expected), "{priority}");
        case.request.tools.clear();
        let expected = if priority <= 99 { "mine" } else { "default" };
        assert_eq!(
            case.plan().virtual_model.as_deref(),
            Some(expected),
            "{priority}, with nothing else to match"
        );
    }
}
