//! `rail config`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::process::start;
use crate::scratch::{CONFIG, ENV, Home, is_private, server};

const PROJECT: &str = "repo/.switchrail/config.toml";

#[test]
fn with_nothing_it_says_so() {
    let home = Home::new();
    insta::assert_snapshot!(home.rail(&["config", "show", "--no-origins"], "").whole(), @r"
    exit 0
    === stdout
    [discovery]
    servers = []
    === stderr
    ");
    insta::assert_snapshot!(home.rail(&["config", "check"], "").whole(), @r#"
    exit 0
    === stdout
    warning: configuration: router: there is no `default` chain, so that requests without a chain of their own have no target; write default = "provider,model" under [router], or run `rail init`
    ok: 0 providers, 0 chains
    === stderr
    "#);
}

#[test]
fn every_file_and_place_is_named() {
    let home = Home::new();
    home.write(CONFIG, "broken =")
        .write(PROJECT, "")
        .write("user/.gemini/.env", "")
        .write("repo/.switchrail/.env", "");
    insta::assert_snapshot!(home.rail(&["config", "path"], "").whole());
    insta::assert_snapshot!(home.rail(&["config", "path", "--json", "--config", "gone.toml"], "").whole());
    let nowhere = Home::new();
    insta::assert_snapshot!(nowhere.rail(&["config", "path"], "").whole());
}

#[test]
fn what_was_found_is_shown_with_the_reason() {
    let ollama = server("library", &["llama3.3:70b", "nomic-embed-text", "qwen3-coder:30b"]);
    let lmstudio = server("organization_owner", &["qwen3-vl-8b"]);
    let llamacpp = server("llamacpp", &["gpt-oss-20b.gguf"]);
    let home = Home::new()
        .with("DEEPSEEK_API_KEY", "sk-deep-s3cret")
        .with("ANTHROPIC_AUTH_TOKEN", "token-s3cret")
        .with("ANTHROPIC_BASE_URL", "https://me:s3cret@proxy.corp/anthropic")
        .with_servers(&[("OLLAMA", &ollama), ("LMSTUDIO", &lmstudio), ("LLAMACPP", &llamacpp)]);
    insta::assert_snapshot!(home.rail(&["config", "show"], "").whole());
    insta::assert_snapshot!(home.rail(&["config", "check"], "").whole(), @r"
    exit 0
    === stdout
    ok: 5 providers, 6 chains
    === stderr
    ");
    // With a provider of one's own, nobody else is asked.
    let asked = ollama.connections();
    home.write(CONFIG, "[providers.deepseek]\n[router]\ndefault = \"deepseek,m\"\n");
    insta::assert_snapshot!(home.rail(&["config", "show", "--no-origins"], "").out, @r#"
    [discovery]
    servers = ["http://OLLAMA", "http://LMSTUDIO", "http://LLAMACPP"]
    wait = "20s"

    [providers]
    deepseek = {}

    [router]
    default = "deepseek,m"
    "#);
    insta::assert_snapshot!(home.rail(&["config", "check"], "").out, @"ok: 1 provider, 1 chain");
    assert_eq!(ollama.connections(), asked);
}

#[test]
fn ollama_is_found_where_its_variable_says() {
    let ollama = server("library", &["qwen3-coder:30b"]);
    let home = Home::new().naming("OLLAMA", &ollama).with("OLLAMA_HOST", &ollama.addr().to_string());
    insta::assert_snapshot!(home.rail(&["config", "show"], "").out);
}

/// Every place where a secret can stand; each has this word in it.
const SECRET: &str = "s3cret";

#[test]
fn no_secret_is_ever_shown() {
    let home = Home::new()
        .with("LITERAL_KEY", "s3cret-variable")
        .with("SWITCHRAIL_PROVIDERS__FROM_ENV__KEY", "s3cret-setting")
        .with("SWITCHRAIL_MEMORY__URL", "postgres://me:s3cret@db/x")
        .with("HIJACK_ENABLED", "true")
        .with("BACK_API_ENDPOINT", "http://me:s3cret@back/v1?key=s3cret")
        .with("BACK_ACTUAL_MODEL", "m")
        .with("BACK_API_KEY", "s3cret-back");
    home.write("config/switchrail/key.txt", "s3cret-file").write(ENV, "IN_FILE=s3cret-env-file\n");
    home.write(
        CONFIG,
        r#"
[providers.one]
protocol = "openai-chat"
base_url = "https://host/v1"
key = "s3cret-literal"
headers = { X-Token = "s3cret-header", X-Other = "env:LITERAL_KEY" }
proxy = "http://me:s3cret@proxy:8080"
[providers.many]
protocol = "anthropic"
base_url = "https://host/v1"
keys = ["s3cret-first", "env:LITERAL_KEY", "file:key.txt", "env:IN_FILE"]
[providers.from-env]
protocol = "gemini"
base_url = "https://host/v1beta"
[providers.gone]
protocol = "gemini"
base_url = "https://host/v1beta"
key = "keyring:s"
[mcp.servers.local]
command = "server"
args = ["--db", "postgres://me:s3cret@db/x", "--url=https://host/?token=s3cret"]
env = { TOKEN = "s3cret-mcp" }
[mcp.servers.far]
url = "https://me:s3cret@host/mcp?token=s3cret"
headers = { Authorization = "Bearer s3cret" }
[[hooks.Stop]]
hooks = [{ command = "curl 'https://me:s3cret@host/?k=s3cret' https://me:s3cret@other" }]
[router]
default = "one,a"
"#,
    );
    for all in [&["--all"][..], &[]] {
        for json in [&["--json"][..], &[]] {
            for origins in [&["--no-origins"][..], &[]] {
                let said = home.rail(&[&["config", "show"], all, json, origins].concat(), "");
                assert_eq!(said.code, Some(0), "{said:?}");
                assert!(!said.whole().contains(SECRET), "{}", said.whole());
            }
        }
    }
    for args in [
        &["config", "check"][..],
        &["config", "check", "--json"],
        &["config", "path"],
        &["config", "check", "../config/switchrail/config.toml"],
    ] {
        let said = home.rail(args, "");
        assert!(!said.whole().contains(SECRET), "{}", said.whole());
    }
    insta::assert_snapshot!(home.rail(&["config", "show"], "").out);
}

#[test]
fn problems_and_warnings_are_told_and_problems_fail() {
    let home = Home::new();
    home.write(CONFIG, "[router]\ndefault = \"gone,a\"\n[tuii]\n[gateway]\nlisten = 5\n");
    insta::assert_snapshot!(home.rail(&["config", "check"], "").whole());
    insta::assert_snapshot!(home.rail(&["config", "check", "--json"], "").whole());
    insta::assert_snapshot!(home.rail(&["config", "show"], "").whole());
    home.write(
        "repo/one.json",
        r#"{"router": {"default": "deepseek,m"}, "providers": {"deepseek": {"key": "env:K"}}}"#,
    );
    insta::assert_snapshot!(home.rail(&["config", "check", "one.json"], "").whole());
    insta::assert_snapshot!(home.rail(&["config", "check", "gone.toml"], "").whole());
}

#[test]
fn the_schema_is_printed() {
    let said = Home::new().rail(&["config", "schema"], "");
    let schema: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(schema["title"], "Switchrail configuration");
    // A reader that has seen enough is no failure.
    let mut child = start(&["config", "schema"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_folder_is_trusted_and_told_what_that_means() {
    let home = Home::new();
    insta::assert_snapshot!(home.rail(&["config", "trust"], "").whole(), @r"
    exit 2
    === stdout
    === stderr
    rail: there is no folder `.switchrail` from here up, so that there is nothing to trust; name the folder
    ");
    home.write(PROJECT, "[permissions]\nmode = \"bypass\"\n[router]\ndefault = \"a,b\"\n[[hooks.Stop]]\nhooks = [{ command = \"c\" }]\n");
    insta::assert_snapshot!(home.rail(&["config", "trust"], "").whole(), @r"
    exit 0
    === stdout
    trusted: /repo
    What its files say counts in full from now on. They may:
      /repo/.switchrail/config.toml:1:2: permissions: change what the agent does without asking
      /repo/.switchrail/config.toml:5:3: hooks: run commands at certain moments of a session
    === stderr
    ");
    assert_eq!(home.read("state/switchrail/trust.json"), "[\n  \"/repo\"\n]\n");
    assert!(home.rail(&["config", "show"], "").out.contains("mode = \"bypass\""));
    assert_eq!(home.rail(&["config", "trust", "."], "").out.lines().next(), Some("trusted already: /repo"));
    assert_eq!(home.rail(&["config", "trust", "--remove"], "").out, "not trusted any more: /repo\n");
    assert!(!home.rail(&["config", "show"], "").out.contains("bypass"));
    assert_eq!(home.rail(&["config", "trust", "nowhere"], "").code, Some(2));
}

fn data(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/tests/it/data").join(file))
        .unwrap()
}

#[test]
fn configurations_of_others_are_printed() {
    let home = Home::new();
    insta::assert_snapshot!(home.rail(&["config", "import", "ccr"], "").whole(), @r"
    exit 2
    === stdout
    === stderr
    rail: there is no file /user/.claude-code-router/config.json; name the one you mean
    ");
    home.write("user/.claude-code-router/config.json", &data("ccr-1.json"));
    home.write("user/.gemini/.env", &data("seed.env"));
    home.write("user/.claude/settings.json", &data("claude-settings.json"));
    home.write("user/.claude.json", "broken").write("repo/.mcp.json", &data("claude-mcp.json"));
    for program in ["ccr", "gemini-env", "claude"] {
        let said = home.rail(&["config", "import", program], "");
        assert_eq!(said.code, Some(0), "{said:?}");
        for secret in [
            "sk-deepseek-plain",
            "gateway-secret",
            "1234567890",
            "token-in-the-settings",
            "secret-plain",
            "ghp_plain",
        ] {
            assert!(!said.whole().contains(secret), "{secret} in {}", said.whole());
        }
        insta::assert_snapshot!(program, said.whole());
    }
    home.write("repo/own.json", "{\"Providers\": [");
    insta::assert_snapshot!(home.rail(&["config", "import", "ccr", "own.json"], "").whole(), @r"
    exit 2
    === stdout
    === stderr
    rail: own.json: the configuration of claude-code-router can't be read: line 1, column 16: the file ends before a value; it may have been cut off
    ");
    assert!(!home.path(CONFIG).exists());
}

#[test]
fn an_import_is_written_and_keeps_what_is_there() {
    let home = Home::new();
    home.write("repo/ccr.json", &data("ccr-0.json"));
    let said = home.rail(&["config", "import", "ccr", "ccr.json", "--write"], "");
    insta::assert_snapshot!(said.whole());
    assert!(is_private(&home.path(CONFIG)) && is_private(&home.path(ENV)));
    assert_eq!(home.rail(&["config", "check"], "").code, Some(0));
    let again = home.rail(&["config", "import", "ccr", "ccr.json", "--write"], "");
    assert_eq!(again.out, "nothing to add: your configuration says all of it\n");

    home.write(CONFIG, "# mine\n[router]\ndefault = \"a,b\" # good\n");
    insta::assert_snapshot!(home.rail(&["config", "import", "ccr", "ccr.json", "--write"], "").whole());
    insta::assert_snapshot!(home.read(CONFIG));

    home.write(ENV, &home.read(ENV).replace("sk-first-version", "sk-other"));
    let said = home.rail(&["config", "import", "ccr", "ccr.json", "--write"], "");
    insta::assert_snapshot!(said.err);
    assert_eq!(said.code, Some(2));
    let said = home.rail(&["config", "import", "ccr", "ccr.json", "--write", "--force"], "");
    assert!(said.out.contains("backup:  /config/switchrail/config.toml.bak\n"), "{}", said.out);
    assert!(home.read("config/switchrail/config.toml.bak").starts_with("# mine\n"));
    assert!(!home.read(CONFIG).contains("mine") && !home.read(ENV).contains("sk-other"));
}
