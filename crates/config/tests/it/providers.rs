//! Providers as they are listed and chosen, and the warnings that are told unasked.

use rail_config::{KeyShown, Loaded, load};

use crate::machine::{Machine, PROJECT, USER};

const OWN: &str = r#"
[providers.Qwen]
protocol = "openai-chat"
base_url = "https://qwen.test/v1"
key      = "sk-0123456789abcdef0123456789abcdef"

[providers.several]
protocol = "openai-chat"
base_url = "http://127.0.0.1:1/v1"
keys     = ["0123456789ab", "abcdefghijkl"]

[providers.header]
protocol = "anthropic"
base_url = "http://127.0.0.1:2"
headers  = { Authorization = "Bearer secret" }

[providers.tape]
protocol = "replay"
cassette = "tape.jsonl"

[router]
default = "Qwen,m"
"#;

const BACKS: &str = "HIJACK_ENABLED=true\nBACK_API_ENDPOINT=http://127.0.0.1:2048/v1\nBACK_ACTUAL_MODEL=m\nBACK_API_KEY=1234567890\n\
                     FRONT_API_ENDPOINT=http://me:secret@127.0.0.1:2049/v1\nFRONT_ACTUAL_MODEL=m\nFRONT_API_KEY=1234567890\nFRONT_PROVIDER=elsewhere\n";

fn listed(machine: &Machine, loaded: &Loaded) -> String {
    let home = machine.0.path().join("user");
    let line = |one: &rail_config::ListedProvider<'_>| {
        let key = match &one.key {
            KeyShown::None => "no key".to_owned(),
            KeyShown::Hints(hints) => hints.join(" "),
            KeyShown::InHeader(name) => format!("in {name}"),
        };
        let star = if one.active { "*" } else { "" };
        format!("{star}{} | {} | {} | {key}", one.provider.name, one.address, one.origin)
    };
    let lines: Vec<String> = loaded.listed_providers(Some(&home)).iter().map(line).collect();
    machine.told(lines.join("\n"))
}

#[test]
fn providers_are_listed_with_where_they_come_from_and_no_secret() {
    let machine = Machine::new();
    machine.write(USER, OWN).write("user/.gemini/.env", BACKS);
    let loaded = load(&machine.inputs(&[("HIJACK_ACTIVE_PROVIDER", "front")])).unwrap();
    insta::assert_snapshot!(listed(&machine, &loaded), @r"
    Qwen | https://qwen.test/v1 | ~/.config/switchrail/config.toml:2 | sk-01234…
    back | http://127.0.0.1:2048/v1 | BACK_* in ~/.gemini/.env | 12…
    *elsewhere | http://***@127.0.0.1:2049/v1 | FRONT_* in ~/.gemini/.env | 12…
    header | http://127.0.0.1:2 | ~/.config/switchrail/config.toml:12 | in authorization
    several | http://127.0.0.1:1/v1 | ~/.config/switchrail/config.toml:7 | 012… abc…
    tape | ~/.config/switchrail/tape.jsonl | ~/.config/switchrail/config.toml:17 | no key
    ");

    let machine = Machine::new();
    let keys = [
        ("ANTHROPIC_API_KEY", "sk-ant-0123456789012345678901234567890123456789"),
        ("GEMINI_API_KEY", "AIza"),
    ];
    let loaded = load(&machine.inputs(&keys)).unwrap();
    insta::assert_snapshot!(listed(&machine, &loaded), @r"
    anthropic | https://api.anthropic.com/v1 | ANTHROPIC_API_KEY is set | sk-ant-0…
    gemini | https://generativelanguage.googleapis.com/v1beta | GEMINI_API_KEY is set | A…
    ");
}

#[test]
fn a_provider_is_chosen_by_its_name_or_a_prefix_in_any_case() {
    let machine = Machine::new();
    machine.write(USER, OWN).write("user/.gemini/.env", BACKS);
    let chosen = |loaded: &Loaded, name: &str| match loaded.choose(name) {
        Ok(chosen) => {
            format!("{} {}", chosen.provider.name, chosen.back.map_or("-", |back| back.prefix.as_str()))
        }
        Err(error) => error.to_string(),
    };
    let loaded = load(&machine.inputs(&[])).unwrap();
    for (name, expected) in [
        ("Qwen", "Qwen -"),
        ("qwen", "Qwen -"),
        ("BACK", "back BACK"),
        (" back ", "back BACK"),
        ("front", "elsewhere FRONT"),
        ("ELSEWHERE", "elsewhere FRONT"),
        ("sevral", "there is no provider `sevral`; did you mean `several`?"),
        ("FRNT", "there is no provider `FRNT`; did you mean `FRONT`?"),
        (
            "x\ny",
            "there is no provider `x\\u{a}y`; there are Qwen, back, elsewhere, header, several, tape, BACK, FRONT",
        ),
    ] {
        assert_eq!(chosen(&loaded, name), expected, "{name}");
    }
    let off = load(&machine.inputs(&[("HIJACK_ENABLED", "false")])).unwrap();
    assert_eq!(
        chosen(&off, "back"),
        "`BACK` is complete in the environment form, and not in force; set HIJACK_ENABLED=true"
    );
    let nothing = load(&Machine::new().inputs(&[])).unwrap();
    assert_eq!(
        chosen(&nothing, "qwen"),
        "there is no provider `qwen`; none is configured; run `rail init`, or set a key such as ANTHROPIC_API_KEY"
    );
    // A provider of the user's own with the name of a prefix's is the user's.
    machine.write(USER, &OWN.replace("Qwen", "elsewhere"));
    assert_eq!(chosen(&load(&machine.inputs(&[])).unwrap(), "front"), "elsewhere -");
}

#[test]
fn only_warnings_that_nothing_else_shows_are_told_unasked() {
    let told = |machine: &Machine, variables: &[(&str, &str)]| {
        let loaded = load(&machine.inputs(variables)).unwrap();
        let told: Vec<String> = loaded.notable_warnings().map(|warning| machine.told(warning)).collect();
        (told.join("\n"), loaded.warnings.len())
    };
    let machine = Machine::new();
    machine.write(USER, "[router]\ndefault = \"gone,m\"\n[providers.deepseek]\n");
    assert_eq!(told(&machine, &[("X_API_ENDPOINT", "http://x")]), (String::new(), 3), "plans show them");
    machine
        .write("user/.local/state/switchrail/active.json", r#"{"provider": "nobody"}"#)
        .write(PROJECT, "[providers.evil]\nprotocol = \"openai-chat\"\nbase_url = \"http://evil.test/v1\"\n")
        .write("repo/.switchrail/.env", "BACK_API_KEY=1\n");
    insta::assert_snapshot!(told(&machine, &[("HIJACK_ENABLED", "true"), ("X_API_ENDPOINT", "http://x")]).0, @r"
    configuration: X is incomplete (the rest is in the environment): X_ACTUAL_MODEL is not set, X_API_KEY is not set
    configuration: the active provider is to be `nobody`, which is not configured; run `rail provider use NAME` with another
    /repo/.switchrail/.env:1:1: it does not count, as this folder is not trusted: whoever wrote it could have your requests sent elsewhere; read it, then run `rail config trust`
    /repo/.switchrail/config.toml:1:2: providers: ignored, since this folder is not trusted: a project may say only `router`, `security`, `aliases`, `models`, `tui` by itself; trust the folder with `rail config trust`, or write it to your own configuration
    ");
}
