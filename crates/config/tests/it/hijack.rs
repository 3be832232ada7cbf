//! The environment form of aliases: layers of variables in, backs, aliases and notes out.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use rail_config::dotenv;
use rail_config::hijack::{EnvLayer, EnvSource, Hijack, banner, switch};
use rail_route::AliasTo;

const SEED: &str = include_str!("data/seed.env");

fn file(source: EnvSource, text: &str) -> EnvLayer {
    let label = match source {
        EnvSource::Environment => "the environment",
        EnvSource::Project => ".switchrail/.env",
        EnvSource::User => "~/.config/switchrail/.env",
        EnvSource::Gemini => "~/.gemini/.env",
    };
    EnvLayer::file(source, label, &dotenv::read(text))
}

fn environment(pairs: &[(&str, &str)]) -> EnvLayer {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    EnvLayer::environment(&pairs.collect::<BTreeMap<_, _>>())
}

/// All that a `Hijack` says, keys revealed: tests must see where each one goes.
fn shown(layers: &[EnvLayer]) -> String {
    let hijack = Hijack::read(layers);
    let mut out =
        format!("enabled {}, active {:?}\n", hijack.enabled, hijack.active.as_deref().unwrap_or("-"));
    for provider in hijack.providers() {
        let keys: Vec<&str> = provider.keys.iter().map(|key| key.reveal()).collect();
        let models: Vec<&String> = provider.models.keys().collect();
        writeln!(
            out,
            "provider {} {} {} {keys:?} {models:?}",
            provider.name, provider.protocol, provider.base_url
        )
        .unwrap();
    }
    for alias in hijack.aliases() {
        let AliasTo::Chain(chain) = &alias.to else { panic!("an alias of a back is a chain") };
        writeln!(out, "alias {} = {chain}  [{}]", alias.name, alias.origin).unwrap();
    }
    for note in &hijack.notes {
        writeln!(out, "note {note}").unwrap();
    }
    out
}

#[test]
fn the_example_of_the_seed() {
    insta::assert_snapshot!(shown(&[file(EnvSource::Gemini, SEED)]), @r#"
    enabled true, active "HIJACK"
    provider lmstudio openai-chat http://192.168.123.149:1234/v1 ["lm-studio"] ["unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf"]
    provider back openai-chat http://127.0.0.1:2048/v1 ["1234567890"] ["gemini-2.5-pro"]
    alias gemini-2.5-flash = lmstudio,unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf;back,gemini-2.5-pro  [HIJACK_* in ~/.gemini/.env; BACK_* in ~/.gemini/.env]
    "#);
}

#[test]
fn the_banner_of_the_seed() {
    let hijack = Hijack::read(&[file(EnvSource::Gemini, SEED)]);
    insta::assert_snapshot!(banner(&hijack, None), @r"
    Active Provider: HIJACK
    Available Providers: BACK, HIJACK
    Switch providers using: rail provider use BACK
    Target Model: gemini-2.5-flash
    Configured To: unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf
    Endpoint: http://192.168.123.149:1234/v1
    Using API Key: lm…
    ");
    insta::assert_snapshot!(banner(&hijack, Some("back")), @r"
    Active Provider: BACK
    Available Providers: BACK, HIJACK
    Switch providers using: rail provider use HIJACK
    Target Model: gemini-2.5-flash
    Configured To: gemini-2.5-pro
    Endpoint: http://127.0.0.1:2048/v1
    Using API Key: 12…
    ");
    let off = Hijack::read(&[file(EnvSource::Gemini, SEED), environment(&[("HIJACK_ENABLED", "false")])]);
    assert_eq!(banner(&off, None), "");
}

#[test]
fn appending_a_line_switches_as_in_the_seed() {
    let text = format!("{SEED}HIJACK_ACTIVE_PROVIDER=BACK\n");
    let hijack = Hijack::read(&[file(EnvSource::Gemini, &text)]);
    assert_eq!(hijack.active.as_deref(), Some("BACK"));
    assert_eq!(
        format!("{:?}", hijack.aliases()[0].to),
        "Chain(Chain([Target { provider: \"back\", model: \"gemini-2.5-pro\" }, Target { provider: \"lmstudio\", model: \
         \"unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf\" }]))"
    );
}

#[test]
fn each_variable_counts_from_the_first_source_that_has_it() {
    insta::assert_snapshot!(shown(&[
        file(EnvSource::Gemini, "A_API_ENDPOINT=http://gemini/v1\nA_ACTUAL_MODEL=g\nA_API_KEY=kg\nHIJACK_ENABLED=false"),
        file(EnvSource::User, "A_ACTUAL_MODEL=u\nA_API_KEY=ku\nHIJACK_ENABLED=TRUE"),
        file(EnvSource::Project, "A_ACTUAL_MODEL=p\nA_TARGET_MODEL=claude-x"),
        environment(&[("A_API_KEY", "ke")]),
    ]), @r#"
    enabled true, active "A"
    provider a openai-chat http://gemini/v1 ["ke"] ["p"]
    alias claude-x = a,p  [A_* in ~/.gemini/.env, .switchrail/.env, the environment]
    "#);
}

#[test]
fn protocols_follow_from_endpoints_and_targets_make_aliases() {
    insta::assert_snapshot!(shown(&[file(EnvSource::User, "\
HIJACK_ENABLED=true
G_API_ENDPOINT=https://generativelanguage.googleapis.com/v1beta
G_ACTUAL_MODEL=gemini-4-argon
G_API_KEY=kg
C_API_ENDPOINT=https://api.anthropic.com
C_ACTUAL_MODEL=claude-sonnet-5-5
C_API_KEY=kc
C_TARGET_MODEL=gpt-x
O_API_ENDPOINT=http://localhost:8080/v1/chat/completions
O_ACTUAL_MODEL=local
O_API_KEY=ko
HIJACK_ACTIVE_PROVIDER=o
")]), @r#"
    enabled true, active "O"
    provider g gemini https://generativelanguage.googleapis.com/v1beta ["kg"] ["gemini-4-argon"]
    provider c anthropic https://api.anthropic.com/v1 ["kc"] ["claude-sonnet-5-5"]
    provider o openai-chat http://localhost:8080/v1 ["ko"] ["local"]
    alias gemini-2.5-flash = o,local;g,gemini-4-argon  [O_* in ~/.config/switchrail/.env; G_* in ~/.config/switchrail/.env]
    alias gpt-x = c,claude-sonnet-5-5  [C_* in ~/.config/switchrail/.env]
    "#);
}

#[test]
fn a_project_can_not_send_a_key_from_elsewhere_to_its_own_address() {
    let evil = "A_API_ENDPOINT=http://evil.example/v1\nA_ACTUAL_MODEL=m\nHIJACK_ENABLED=true\n";
    let key = [("A_API_KEY", "from-the-environment")];
    insta::assert_snapshot!(shown(&[environment(&key), file(EnvSource::Project, evil)]), @r#"
    enabled true, active "-"
    note A_API_ENDPOINT of .switchrail/.env is refused: A_API_KEY comes from the environment, and a project may not send it to an address of its own
    "#);
    insta::assert_snapshot!(shown(&[file(EnvSource::User, "A_API_KEY=of-the-user"), file(EnvSource::Project, evil)]), @r#"
    enabled true, active "-"
    note A_API_ENDPOINT of .switchrail/.env is refused: A_API_KEY comes from ~/.config/switchrail/.env, and a project may not send it to an address of its own
    "#);
    let user = "A_API_ENDPOINT=http://good.example/v1\nA_ACTUAL_MODEL=good\nA_API_KEY=of-the-user\n";
    insta::assert_snapshot!(shown(&[file(EnvSource::User, user), file(EnvSource::Project, evil)]), @r#"
    enabled true, active "A"
    provider a openai-chat http://good.example/v1 ["of-the-user"] ["good"]
    alias gemini-2.5-flash = a,good  [A_* in ~/.config/switchrail/.env]
    note A_API_ENDPOINT of .switchrail/.env is refused: A_API_KEY comes from ~/.config/switchrail/.env, and a project may not send it to an address of its own; what the other sources say of A stands
    "#);
    let own = format!("{evil}A_API_KEY=its-own\n");
    insta::assert_snapshot!(shown(&[environment(&[]), file(EnvSource::Project, &own)]), @r#"
    enabled true, active "A"
    provider a openai-chat http://evil.example/v1 ["its-own"] ["m"]
    alias gemini-2.5-flash = a,m  [A_* in .switchrail/.env]
    "#);
}

#[test]
fn what_is_left_out_is_named() {
    insta::assert_snapshot!(shown(&[
        environment(&[("OPENAI_API_KEY", "sk-x"), ("A_API_KEY", "")]),
        file(EnvSource::Gemini, "\
HIJACK_ENABLED=true
A_API_ENDPOINT=http://a/v1
A_ACTUAL_MODEL=a
B_ACTUAL_MODEL=b
C_TARGET_MODEL=c
D_API_ENDPOINT=localhost:1234
D_ACTUAL_MODEL=d
D_API_KEY=kd
E_API_ENDPOINT=http://e/v1
E_ACTUAL_MODEL=e,f
E_API_KEY=ke
GOOD_API_ENDPOINT=http://good/v1
GOOD_ACTUAL_MODEL=good
GOOD_API_KEY=kgood
GOOD_PROVIDER=a;b
HIJACK_ACTIVE_PROVIDER=GOD
"),
    ]), @r#"
    enabled true, active "GOOD"
    provider good openai-chat http://good/v1 ["kgood"] ["good"]
    alias gemini-2.5-flash = good,good  [GOOD_* in ~/.gemini/.env]
    note A is incomplete (the rest is in ~/.gemini/.env): A_API_KEY is blank in the environment
    note B is incomplete (the rest is in ~/.gemini/.env): B_API_ENDPOINT is not set, B_API_KEY is not set
    note C is incomplete (the rest is in ~/.gemini/.env): C_API_ENDPOINT is not set, C_ACTUAL_MODEL is not set, C_API_KEY is not set
    note D_API_ENDPOINT in ~/.gemini/.env is no http address; D is left out
    note E_ACTUAL_MODEL in ~/.gemini/.env holds `,` or `;`, which no model's name may; E is left out
    note GOOD_PROVIDER is no provider's name; `good` is used
    note HIJACK_ACTIVE_PROVIDER is `GOD`, which is no complete prefix (did you mean GOOD?); GOOD answers
    "#);
}

#[test]
fn two_prefixes_with_one_provider_name_stay_apart() {
    let text = "\
HIJACK_ENABLED=true
A_API_ENDPOINT=http://a/v1
A_ACTUAL_MODEL=a
A_API_KEY=ka
A_PROVIDER=lmstudio
B_API_ENDPOINT=http://b/v1
B_ACTUAL_MODEL=b
B_API_KEY=kb
B_PROVIDER=LMStudio
C_API_ENDPOINT=http://c/v1
C_ACTUAL_MODEL=c
C_API_KEY=kc
C_PROVIDER=lmstudio-b
";
    insta::assert_snapshot!(shown(&[file(EnvSource::User, text)]), @r#"
    enabled true, active "A"
    provider lmstudio openai-chat http://a/v1 ["ka"] ["a"]
    provider LMStudio-b openai-chat http://b/v1 ["kb"] ["b"]
    provider lmstudio-b-c openai-chat http://c/v1 ["kc"] ["c"]
    alias gemini-2.5-flash = lmstudio,a;LMStudio-b,b;lmstudio-b-c,c  [A_* in ~/.config/switchrail/.env; B_* in ~/.config/switchrail/.env; C_* in ~/.config/switchrail/.env]
    note A and B name the same provider `LMStudio`: that of B is called `LMStudio-b`
    note B and C name the same provider `lmstudio-b`: that of C is called `lmstudio-b-c`
    "#);
}

#[test]
fn a_project_can_not_take_a_provider_name_from_the_user() {
    let back = |host: &str, prefix: &str| {
        format!(
            "{prefix}_API_ENDPOINT=http://{host}/v1\n{prefix}_ACTUAL_MODEL=m\n{prefix}_API_KEY=k\n{prefix}_PROVIDER=x\n"
        )
    };
    let project = format!("HIJACK_ENABLED=true\n{}", back("evil.example", "A"));
    insta::assert_snapshot!(shown(&[file(EnvSource::Project, &project), file(EnvSource::User, &back("good.example", "B"))]), @r#"
    enabled true, active "A"
    provider x-a openai-chat http://evil.example/v1 ["k"] ["m"]
    provider x openai-chat http://good.example/v1 ["k"] ["m"]
    alias gemini-2.5-flash = x-a,m;x,m  [A_* in .switchrail/.env; B_* in ~/.config/switchrail/.env]
    note B and A name the same provider `x`: that of A is called `x-a`
    "#);
}

#[test]
fn a_back_is_switched_to_by_prefix_or_provider() {
    let hijack = Hijack::read(&[file(EnvSource::Gemini, SEED)]);
    for (name, prefix) in [("BACK", "BACK"), ("back", "BACK"), ("LMStudio", "HIJACK"), (" hijack ", "HIJACK")]
    {
        assert_eq!(switch(&hijack, name).unwrap().prefix, prefix, "{name}");
    }
    insta::assert_snapshot!(switch(&hijack, "x").unwrap_err(), @r"no provider `x` is complete in the environment or a `.env` file; there is BACK, HIJACK");
    insta::assert_snapshot!(switch(&Hijack::default(), "x").unwrap_err(), @r"no provider `x` is complete in the environment or a `.env` file; there is none");
}

#[test]
fn hostile_text_stays_on_its_line_of_the_banner() {
    let text = "\
HIJACK_ENABLED=true
A_API_ENDPOINT=https://me:pass@a/v1?key=secret
A_ACTUAL_MODEL=\"a\\n\\u001b[31m\u{1b}[2J\"
A_API_KEY=0123456789012345678901234567890123456789
";
    let banner = banner(&Hijack::read(&[file(EnvSource::Project, text)]), None);
    insta::assert_snapshot!(banner, @r#"
    Active Provider: A
    Available Providers: A
    Target Model: gemini-2.5-flash
    Configured To: a\u{a}\u001b[31m\u{1b}[2J
    Endpoint: https://***@a/v1?…
    Using API Key: 01234567…
    "#);
}

proptest! {
    #[test]
    fn no_project_gets_a_key_that_is_not_its_own(
        layers in prop::collection::vec(
            (0..4usize, prop::collection::vec(("[AB]", 0..5usize, "[xyz]"), 0..8)), 1..4),
    ) {
        let endings = ["_API_ENDPOINT", "_ACTUAL_MODEL", "_API_KEY", "_TARGET_MODEL", "_PROVIDER"];
        let sources = [EnvSource::Environment, EnvSource::Project, EnvSource::User, EnvSource::Gemini];
        let layers: Vec<EnvLayer> = layers.iter().map(|(source, lines)| {
            let source = sources[*source];
            let side = if source == EnvSource::Project { "evil" } else { "good" };
            let text: String = lines.iter().map(|(prefix, ending, value)| match endings[*ending] {
                ending @ "_API_ENDPOINT" => format!("{prefix}{ending}=http://{side}-{value}/v1\n"),
                ending @ "_API_KEY" => format!("{prefix}{ending}={side}-key-{value}\n"),
                ending => format!("{prefix}{ending}={value}\n"),
            }).collect();
            file(source, &format!("{text}HIJACK_ENABLED=true\n"))
        }).collect();
        let hijack = Hijack::read(&layers);
        for provider in hijack.providers() {
            let evil = provider.base_url.contains("evil");
            prop_assert!(!(evil && provider.keys[0].reveal().starts_with("good")), "{:?}", provider.base_url);
        }
        let names: std::collections::BTreeSet<_> = hijack.backs.iter().map(|back| &back.provider).collect();
        prop_assert_eq!(names.len(), hijack.backs.len());
        prop_assert_eq!(hijack.active.is_some(), !hijack.backs.is_empty());
    }
}
