//! How the name asked for is understood, in the order of the specification.

use rail_route::{Alias, AliasTo, Rule};
use serde_json::json;

use crate::setup::{Case, add_provider, order, tools};

fn alias(name: &str, to: AliasTo) -> Alias {
    Alias { name: name.into(), to, origin: "[aliases]".into() }
}

fn chain(text: &str) -> AliasTo {
    AliasTo::Chain(text.parse().unwrap())
}

/// A case of a request with a tool, so that it would be classified as `coding`.
fn asking(name: &str) -> Case {
    Case::new(json!({"model": name, "tools": tools(&["Bash"])}))
}

/// What a name becomes: the virtual model, why, and the first attempt.
fn becomes(case: &Case) -> (String, String, String) {
    let plan = case.plan();
    let first = order(&plan).into_iter().next().unwrap();
    (plan.virtual_model.unwrap_or_else(|| "-".into()), plan.why, first)
}

#[test]
fn names_are_understood_in_this_order() {
    let cases = [
        ("exact", "-", "`exact` is an alias ([aliases])", "lmstudio,gpt-oss-20b-mlx"),
        ("default", "-", "`default` is an alias ([aliases])", "lmstudio,gpt-oss-20b-mlx"),
        ("qwen,other", "-", "the target was asked for by name", "qwen,other"),
        ("reasoning", "reasoning", "the virtual model was asked for by name", "qwen,qwen3-coder-plus"),
        ("mine", "mine", "the virtual model was asked for by name", "qwen,qwen3-coder-plus"),
        (
            "gemini-2.5-pro",
            "-",
            "`gemini-2.5-pro` is an alias by `gemini-*` ([aliases])",
            "lmstudio,gpt-oss-20b-mlx",
        ),
        ("qwen3-480b", "-", "`qwen3-480b` is a model of modelscope", "modelscope,qwen3-480b"),
        (
            "unheard-of",
            "coding",
            "the tool `Bash` is declared, which is neither a web nor an image tool",
            "modelscope,qwen3-480b",
        ),
    ];
    for (name, virtual_model, why, first) in cases {
        let mut case = asking(name);
        case.routing.rules = vec![Rule { name: "mine".into(), priority: 1_000, ..Rule::default() }];
        case.routing.aliases = vec![
            alias("exact", chain("lmstudio,gpt-oss-20b-mlx")),
            alias("default", chain("lmstudio,gpt-oss-20b-mlx")),
            // A pattern comes behind targets and virtual models.
            alias("qwen,*", chain("lmstudio,gpt-oss-20b-mlx")),
            alias("reason*", chain("lmstudio,gpt-oss-20b-mlx")),
            alias("mi*", chain("lmstudio,gpt-oss-20b-mlx")),
            alias("gemini-*", chain("lmstudio,gpt-oss-20b-mlx")),
        ];
        let expected = (virtual_model.to_owned(), why.to_owned(), first.to_owned());
        assert_eq!(becomes(&case), expected, "{name}");
    }
}

#[test]
fn what_an_alias_may_stand_for() {
    for (to, virtual_model, why, first) in [
        (
            AliasTo::Classified,
            "coding",
            "`claude-opus` is an alias by `claude-*` ([aliases]) for what the request is: the tool `Bash` is declared, \
             which is neither a web nor an image tool",
            "modelscope,qwen3-480b",
        ),
        (
            AliasTo::Virtual("longContext".into()),
            "longContext",
            "`claude-opus` is an alias by `claude-*` ([aliases])",
            "shuaihong,gemini-2.5-pro",
        ),
        (chain("qwen,x;modelscope,y"), "-", "`claude-opus` is an alias by `claude-*` ([aliases])", "qwen,x"),
    ] {
        let mut case = asking("claude-opus");
        case.routing.aliases = vec![alias("claude-*", to)];
        assert_eq!(becomes(&case), (virtual_model.to_owned(), why.to_owned(), first.to_owned()));
        assert_eq!(case.plan().asked, "claude-opus", "the name asked for is kept");
    }
}

#[test]
fn the_most_specific_pattern_wins_and_of_equal_ones_the_first() {
    let mut case = asking("claude-haiku-4");
    case.routing.aliases = vec![
        alias("*", chain("a,all")),
        alias("claude-*", chain("a,claude")),
        alias("claude-haiku-*", chain("a,haiku")),
        alias("*-haiku-4*", chain("a,shorter")),
        alias("claude-haiku*4", chain("a,second")),
    ];
    add_provider(&mut case.routing, "a", &[]);
    assert_eq!(becomes(&case).2, "a,haiku");
}

#[test]
fn an_alias_is_not_looked_up_again() {
    let mut case = asking("one");
    case.routing.aliases =
        vec![alias("one", AliasTo::Virtual("two".into())), alias("two", AliasTo::Virtual("one".into()))];
    let plan = case.plan();
    assert_eq!(plan.virtual_model.as_deref(), Some("two"), "two aliases that name each other are no loop");
    assert_eq!(order(&plan)[0], "qwen,qwen3-coder-plus", "`two` has no chain, so `default` serves it");
}

#[test]
fn a_target_asked_for_is_followed_by_the_security_chain_of_what_the_request_is() {
    let case = asking("lmstudio , gpt-oss-20b-mlx");
    insta::assert_snapshot!(case.lines(), @r"
    -: the target was asked for by name
    + lmstudio,gpt-oss-20b-mlx: what was asked for
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
    let unknown = asking("nowhere,model");
    insta::assert_snapshot!(unknown.lines(), @r"
    -: the target was asked for by name
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    - nowhere,model: the provider `nowhere` is not configured
    ");
    let chain = asking("qwen,a;lmstudio,b");
    insta::assert_snapshot!(chain.lines(), @r"
    -: the chain was asked for by name
    + qwen,a: 1st of what was asked for
    + lmstudio,b: 2nd of what was asked for
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
}

#[test]
fn a_model_of_several_providers_gives_them_all_in_the_order_of_the_default_chain() {
    let mut case = asking("shared");
    for name in ["b-other", "a-other", "qwen", "modelscope"] {
        add_provider(&mut case.routing, name, &["shared"]);
    }
    case.routing.chains.insert("default".into(), "qwen,shared;modelscope,shared;qwen,else".parse().unwrap());
    let expected =
        ["qwen,shared", "modelscope,shared", "a-other,shared", "b-other,shared", "shuaihong,gemini-2.5-pro"];
    assert_eq!(order(&case.plan()), expected, "then by name, then the security chain of `coding`");
    case.routing.active = Some("b-other".into());
    assert_eq!(order(&case.plan())[0], "b-other,shared");
    let mut only_in_a_chain = asking("gemini-2.5-pro");
    add_provider(&mut only_in_a_chain.routing, "shuaihong", &[]);
    assert_eq!(becomes(&only_in_a_chain).2, "shuaihong,gemini-2.5-pro", "a chain's word is enough");
}
