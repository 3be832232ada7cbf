//! Foreign configurations in, whole texts out.

use proptest::prelude::*;
use rail_config::import::{Imported, ccr, claude, claude_with, gemini_env};
use rail_config::{compose, dotenv};
use serde_json::{Value, json};

use crate::{Quiet, user};

/// All that an import gives, in one text. It must be TOML, and hold no key.
fn shown(imported: &Imported, secrets: &[&str]) -> String {
    let parsed: Result<toml::Table, _> = toml::from_str(&imported.toml);
    assert!(parsed.is_ok(), "{parsed:?}\n{}", imported.toml);
    let notes: String = imported.notes.iter().map(|note| format!("- {note}\n")).collect();
    for secret in secrets {
        assert!(!imported.toml.contains(secret) && !notes.contains(secret), "{secret} is shown");
    }
    format!("{}\n=== .env ===\n{}\n=== notes ===\n{notes}", imported.toml, imported.env_text())
}

#[test]
fn ccr_of_the_first_version() {
    let imported = ccr(include_str!("data/ccr-1.json")).unwrap();
    insta::assert_snapshot!(shown(&imported, &["sk-deepseek-plain", "gateway-secret"]));
}

#[test]
fn ccr_of_the_second_version() {
    let imported = ccr(include_str!("data/ccr-2.json")).unwrap();
    insta::assert_snapshot!(shown(&imported, &["sk-ant-plain", "sk-plain"]));
}

#[test]
fn ccr_of_the_oldest_form() {
    insta::assert_snapshot!(shown(&ccr(include_str!("data/ccr-0.json")).unwrap(), &["sk-first-version"]));
}

#[test]
fn gemini_env_of_the_seed() {
    insta::assert_snapshot!(shown(&gemini_env(include_str!("data/seed.env")), &["1234567890"]));
}

#[test]
fn gemini_env_that_is_off_and_has_more() {
    let text = "\
GEMINI_API_KEY=AIza-plain
GOOGLE_CLOUD_PROJECT=my-project
A_API_ENDPOINT=https://generativelanguage.googleapis.com/v1beta
A_ACTUAL_MODEL=gemini-4-argon
A_API_KEY=key-of-a
B_ACTUAL_MODEL=b
nonsense
";
    insta::assert_snapshot!(shown(&gemini_env(text), &["AIza-plain", "key-of-a", "my-project"]));
}

#[test]
fn what_could_not_be_loaded_is_left_out_and_passwords_go_apart() {
    let odd_ccr = json!({
        "PROXY_URL": "http://me:s3cret@proxy:1",
        "Providers": [
            {"name": "my provider", "api_base_url": "https://h/v1", "models": ["x"]},
            {"name": "a", "api_base_url": "https://me:s3cret@h/v1/chat/completions", "api_key": "k", "models": ["x"]},
        ],
    });
    let odd_claude = json!({
        "permissions": {"allow": ["", "Bash", "Read("]},
        "mcpServers": {"b": {"url": "https://h/mcp?key=s3cret"}},
    });
    let odd_env = "HIJACK_ENABLED=true\nA_API_ENDPOINT=http://me:s3cret@h/v1\nA_ACTUAL_MODEL=m\nA_API_KEY=k\n\
                   A_PROVIDER=my own\nB_API_ENDPOINT=nonsense\nB_ACTUAL_MODEL=m\nC_API_ENDPOINT=http://c\n";
    let all = [
        ccr(&odd_ccr.to_string()).unwrap(),
        claude(&odd_claude.to_string()).unwrap(),
        gemini_env(odd_env),
        ccr(r#"{"Providers": {}}"#).unwrap(),
        gemini_env(""),
    ];
    let mut out = String::new();
    for imported in all {
        let compose = compose(&user(&imported.toml), &Quiet::default());
        assert!(compose.is_ok(), "{compose:?}");
        out += &shown(&Imported { env: Vec::new(), ..imported }, &["s3cret"]);
    }
    insta::assert_snapshot!(out);
}

#[test]
fn what_is_imported_loads() {
    for imported in [
        ccr(include_str!("data/ccr-0.json")).unwrap(),
        ccr(include_str!("data/ccr-1.json")).unwrap(),
        ccr(include_str!("data/ccr-2.json")).unwrap(),
        claude(include_str!("data/claude-settings.json")).unwrap(),
        claude(include_str!("data/claude-mcp.json")).unwrap(),
        gemini_env(include_str!("data/seed.env")),
    ] {
        let loaded = compose(&user(&imported.toml), &Quiet::default());
        assert!(loaded.is_ok(), "{}\n{}", loaded.unwrap_err(), imported.toml);
    }
}

#[test]
fn claude_servers_of_several_files() {
    let settings = r#"{"model": "opus", "mcpServers": {"one": {"command": "a"}}}"#;
    let project =
        r#"{"mcpServers": {"one": {"command": "b"}, "two": {"command": "c", "env": {"K": "sk-two"}}}}"#;
    let home = r#"{"numStartups": 7, "mcpServers": {"TWO": {"command": "d", "env": {"K": "sk-other"}}}}"#;
    let servers = [(".mcp.json", project), ("~/.claude.json", home)];
    let imported = claude_with(Some(settings), &servers).unwrap();
    insta::assert_snapshot!(shown(&imported, &["sk-two", "sk-other"]));
    assert_eq!(claude_with(None, &servers[1..]).unwrap().env.len(), 1);
    let broken = claude_with(None, &[("x.json", "[]")]).unwrap();
    assert_eq!(broken.notes, ["x.json is left out: it is no JSON object"]);
}

#[test]
fn claude_settings() {
    let imported = claude(include_str!("data/claude-settings.json")).unwrap();
    insta::assert_snapshot!(shown(&imported, &["token-in-the-settings", "secret-team", "postgres://secret"]));
}

#[test]
fn claude_servers() {
    let imported = claude(include_str!("data/claude-mcp.json")).unwrap();
    insta::assert_snapshot!(shown(&imported, &["ghp_plain", "secret-plain"]));
}

#[test]
fn claude_settings_without_an_env_block() {
    let imported =
        claude(r#"{"model": "sonnet", "permissions": {"allow": ["Edit"], "defaultMode": "auto"}}"#).unwrap();
    insta::assert_snapshot!(shown(&imported, &[]));
}

#[test]
fn what_can_not_be_read_says_why() {
    insta::assert_snapshot!(ccr("{\n  \"Providers\": [").unwrap_err(), @r"the configuration of claude-code-router can't be read: line 2, column 17: the file ends before a value; it may have been cut off");
    insta::assert_snapshot!(ccr("[]").unwrap_err(), @r"the configuration of claude-code-router can't be read: it is no JSON object");
    insta::assert_snapshot!(claude("nonsense here").unwrap_err(), @r"the settings of Claude Code can't be read: line 1, column 1: this is no value; write text in double quotes");
}

/// Texts that try to get out of where they are put.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,5}",
        "[\"'\\\\\\[\\]=#\n.,;$ {}]{0,8}",
        any::<String>(),
        Just("x\"\n[permissions]\nmode = \"bypass\"\n#".to_owned()),
        Just("https://h.example/v1/chat/completions".to_owned()),
        Just("p,m".to_owned()),
        Just("$NAME".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// The sections that an import may write; what a foreign text says must not make others.
fn only(imported: &Imported, sections: &[&str]) -> Result<(), TestCaseError> {
    let parsed: Result<toml::Table, _> = toml::from_str(&imported.toml);
    prop_assert!(parsed.is_ok(), "{:?}\n{}", parsed, imported.toml);
    let keys: Vec<String> = parsed.unwrap().keys().cloned().collect();
    prop_assert!(keys.iter().all(|key| sections.contains(&key.as_str())), "{:?}", keys);
    let file = dotenv::read(&imported.env_text());
    prop_assert_eq!((file.values.len(), file.notes.len()), (imported.env.len(), 0));
    Ok(())
}

proptest! {
    #[test]
    fn any_ccr_gives_toml(
        provider in (text(), text(), text(), value(), value()),
        route in (text(), value()),
        more in value(),
    ) {
        let (name, url, key, models, transformer) = provider;
        let text = json!({
            "Providers": [
                {"name": name, "api_base_url": url, "api_key": key, "models": models, "transformer": transformer},
                {"name": name, "api_base_url": "https://h.example/v1", "models": ["a", key], "transformer": {"use": [["maxtoken", {"max_tokens": 5}]]}},
            ],
            "Router": {"default": "p,m", "background": route.0, "think": url, "rules": [route.1], "image": more},
            "HOST": name,
            "PROXY_URL": key,
        }).to_string();
        only(&ccr(&text).unwrap(), &["providers", "router", "gateway"])?;
    }

    #[test]
    fn any_settings_of_claude_give_toml(env in prop::collection::vec((0..6usize, text()), 0..5), a in value(), b in text(), c in value()) {
        let names = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "X"];
        let env: serde_json::Map<String, Value> = env.into_iter().map(|(at, text)| (names[at].to_owned(), text.into())).collect();
        let text = json!({
            "env": env,
            "model": b,
            "hooks": {"PreToolUse": [{"matcher": b, "hooks": [{"command": b, "timeout": 3}, a]}], b.clone(): a},
            "permissions": {"allow": [b], "deny": c},
            "mcpServers": {b.clone(): {"command": b, "args": c, "env": {b.clone(): b}}, "x": a},
        }).to_string();
        only(&claude(&text).unwrap(), &["providers", "router", "aliases", "permissions", "hooks", "mcp"])?;
    }

    #[test]
    fn any_env_file_gives_toml(values in prop::collection::vec(("[AB]", 0..5usize, text()), 0..10), rest in any::<String>()) {
        let endings = ["_API_ENDPOINT", "_ACTUAL_MODEL", "_API_KEY", "_TARGET_MODEL", "_PROVIDER"];
        let lines: String = values.iter().map(|(prefix, ending, value)| {
            dotenv::line(&format!("{prefix}{}", endings[*ending]), &rail_stdx::Secret::new(value))
        }).collect();
        only(&gemini_env(&format!("HIJACK_ENABLED=true\n{lines}{rest}")), &["providers", "aliases"])?;
        only(&gemini_env(&rest), &["providers", "aliases"])?;
    }

    #[test]
    fn any_text_is_imported_or_refused(text in any::<String>()) {
        let _ = ccr(&text);
        let _ = claude(&text);
    }
}
