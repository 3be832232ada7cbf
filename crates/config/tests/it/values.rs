//! References, secrets and what is shown of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rail_config::settings::{ChainText, RouterSettings};
use rail_config::{Layer, Layers, Trusted, Which, With, compose, load, show_json, show_toml};
use rail_stdx::Secret;

use crate::machine::{LOCAL, Machine, PROJECT, USER};
use crate::{Quiet, source, user};

const PROVIDERS: &str = r#"
[providers.lit]
protocol = "openai-chat"
base_url = "https://host/v1"
key = "sk-literal-1"
headers = { X-Team = "blue", X-Env = "env:TEAM" }
proxy = "http://me:word@proxy:8080"

[providers.ref]
protocol = "anthropic"
base_url = "https://host/"
keys = ["env:KEY", "file:secrets/key.txt", "file:~/key"]
ca = "ca.pem"
timeouts = { connect = "250ms" }

[providers.tape]
protocol = "replay"
cassette = "~/tape.jsonl"

[router]
default = "lit,a;ref,b"

[[router.rules]]
name = "night"
chain = "ref,b"
headers = { x-shift = "night" }

[gateway]
listen = "127.0.0.1:4141"
"#;

fn machine() -> Machine {
    let machine = Machine::new();
    machine
        .write(USER, PROVIDERS)
        .write("user/.config/switchrail/secrets/key.txt", "sk-from-file\r\n")
        .write("user/key", "sk-from-home");
    machine
}

const VARIABLES: &[(&str, &str)] = &[("KEY", "sk-from-env"), ("TEAM", "crimson")];

#[test]
fn references_are_looked_up_where_they_stand() {
    let machine = machine();
    let loaded = load(&machine.inputs(VARIABLES)).unwrap();
    assert_eq!(loaded.warnings, []);
    let [lit, other, tape] = ["lit", "ref", "tape"].map(|name| loaded.routing.providers[name].clone());
    assert_eq!(lit.keys, [Secret::new("sk-literal-1")]);
    assert_eq!(
        lit.headers,
        [("x-env".to_owned(), Secret::new("crimson")), ("x-team".to_owned(), Secret::new("blue"))]
    );
    assert_eq!(lit.proxy.as_deref(), Some("http://me:word@proxy:8080"));
    assert_eq!(other.keys, ["sk-from-env", "sk-from-file", "sk-from-home"].map(Secret::new));
    assert_eq!(other.base_url, "https://host");
    assert_eq!(other.timeouts.connect.as_millis(), 250);
    assert_eq!(other.timeouts.idle.as_secs(), 60);
    let home = machine.0.path().join("user");
    assert_eq!(other.ca, Some(home.join(".config/switchrail/ca.pem")));
    assert_eq!(tape.cassette, Some(home.join("tape.jsonl")));
    assert!(loaded.watched.contains(&home.join("key")));
}

#[test]
fn a_provider_without_its_key_is_unusable_and_the_others_are_not() {
    let machine = machine();
    let loaded = load(&machine.inputs(&[("TEAM", "crimson")])).unwrap();
    let unusable = "`env:KEY` is not set; export it or run `rail init`";
    assert_eq!(loaded.routing.providers["ref"].unusable.as_deref(), Some(unusable));
    assert_eq!(loaded.routing.providers["lit"].unusable, None);
    let told: Vec<String> = loaded.warnings.iter().map(|warning| machine.told(warning)).collect();
    assert_eq!(
        told,
        [format!("/user/.config/switchrail/config.toml:12:9: providers.ref.keys[0]: {unusable}")]
    );

    let text = "[providers.a]\nprotocol = \"gemini\"\nbase_url = \"env:URL\"\nkey = \"keyring:a\"";
    let composed = compose(&user(text), &Quiet::default()).unwrap();
    let unusable = composed.routing.providers["a"].unusable.as_deref();
    assert_eq!(unusable, Some("`env:URL` is not set; export it or run `rail init`"));
    let loaded = compose(&user(text), &Quiet([("URL", "http://a")].into())).unwrap();
    assert_eq!(loaded.routing.providers["a"].unusable.as_deref(), Some("the keyring has no `a`"));
}

#[test]
fn what_is_shown_has_origins_and_no_secrets() {
    let machine = machine();
    let inputs = machine.inputs(&[VARIABLES, &[("SWITCHRAIL_PROVIDERS__LIT__MODELS", "[\"m\"]")]].concat());
    let loaded = load(&inputs).unwrap();
    insta::assert_snapshot!(show_toml(&loaded, Which::Changed, With::Origins));
    insta::assert_snapshot!(show_toml(&loaded, Which::All, With::Origins));
    let json = |which, with| machine.told(format!("{:#}", show_json(&loaded, which, with)));
    insta::assert_snapshot!(json(Which::Changed, With::Origins));
    for which in [Which::Changed, Which::All] {
        for with in [With::Origins, With::ValuesOnly] {
            let shown = [show_toml(&loaded, which, with), json(which, with)].concat();
            for secret in ["literal", "blue", "crimson", "sk-from", "word"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
        }
    }
    let shown = format!("{loaded:?}");
    assert!(!shown.contains("sk-from-home"), "debugging must not show it: {shown}");
}

#[test]
fn what_is_shown_is_a_configuration_again() {
    let text = "[router]\ndefault = \"a,b\"\n[models.\"qwen*\"]\nwindow = 5\n[aliases]\n\"a.b \\\"c\" = \"virtual\"\n\
                [[router.rules]]\nname = \"default\"\nmodel = \"x\"\n[[hooks.Stop]]\nhooks = [{ command = \"a\\nb\" }]\n\
                [agent.limits]\nmax_budget_usd = 1.5\n[mcp.servers.x]\ncommand = \"c\"\nargs = [\"-a\", \"#\"]\n";
    let machine = Machine::new();
    machine.write(USER, text);
    let loaded = load(&machine.inputs(&[])).unwrap();
    for which in [Which::Changed, Which::All] {
        let toml = show_toml(&loaded, which, With::Origins);
        let again =
            compose(&user(&toml), &Quiet::default()).unwrap_or_else(|problems| panic!("{problems}\n{toml}"));
        assert_eq!(again.settings, loaded.settings, "{toml}");
        let json = show_json(&loaded, which, With::ValuesOnly).to_string();
        let layers = Layers { files: vec![source(Layer::User, "c.json", &json)], ..Layers::default() };
        assert_eq!(compose(&layers, &Quiet::default()).unwrap().settings, loaded.settings, "{json}");
    }
}

#[test]
fn secrets_where_others_can_read_them_are_told() {
    let machine = machine();
    let secret = "[providers.x]\nprotocol = \"gemini\"\nbase_url = \"http://a\"\nkey = \"sk-1\"\n";
    machine.write(PROJECT, secret).write(LOCAL, "[providers.x]\nheaders = { a = \"b\" }\n");
    for file in [USER, PROJECT] {
        fs::set_permissions(machine.0.path().join(file), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let inputs =
        rail_config::Inputs { trust: rail_config::ProjectTrust::Trusted, ..machine.inputs(VARIABLES) };
    let told: Vec<String> =
        load(&inputs).unwrap().warnings.iter().map(|warning| machine.told(warning)).collect();
    assert_eq!(
        told,
        [
            "/user/.config/switchrail/config.toml:6:22: providers.lit.headers.X-Team: others can read this secret; \
             run `chmod 600 /user/.config/switchrail/config.toml`",
            "/repo/.switchrail/config.toml:4:7: providers.x.key: a secret stands in a file that is meant for git; \
             write `env:NAME` here, or move it to config.local.toml",
        ]
    );
}

#[test]
fn what_will_not_work_is_warned_of() {
    let text = "[providers.qwen]\nprotocol = \"openai-chat\"\nbase_url = \"http://a/v1\"\n\
                [router]\ncoding = \"qwn,a;other,b;other,c\"\n[[router.rules]]\nname = \"all\"\nchain = \"qwen,a\"\n[aliases]\nx = \"gone,a\"\n";
    let composed = compose(&Layers { trusted: Trusted::No, ..user(text) }, &Quiet::default()).unwrap();
    let told: Vec<String> = composed.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn protocols_are_those_that_are_spoken() {
    let schema = rail_config::schema();
    let words = schema.pointer("/$defs/ProviderSettings/properties/protocol/enum").unwrap();
    let spoken: Vec<&str> =
        rail_wire::ALL.iter().map(|protocol| protocol.id.name()).chain(["replay"]).collect();
    assert_eq!(*words, serde_json::json!(spoken));
}

#[test]
fn every_built_in_virtual_model_has_a_key() {
    let chain = |name: &str| (name.to_owned(), toml::Value::from("a,b"));
    let table: toml::Table = rail_route::built_in_virtual_models().map(chain).collect();
    let router: RouterSettings = table.try_into().unwrap();
    assert_eq!(router.own, [].into());
    assert_eq!(router.chains().filter(|(_, chain)| **chain == ChainText("a,b".to_owned())).count(), 6);
}

#[test]
fn the_key_by_which_editors_find_the_schema_says_nothing() {
    let of = |text: &str| {
        let files = vec![source(Layer::User, "config.json", text)];
        compose(&Layers { files, ..Layers::default() }, &Quiet::default())
    };
    let plain = of(r#"{"router": {"default": "a,b"}}"#).unwrap();
    let with = of(r#"{"$schema": "schema.json", "router": {"default": "a,b"}}"#).unwrap();
    assert_eq!(with.settings, plain.settings);
    assert!(of(r#"{"$schema": 5}"#).is_err());
    assert!(of(r#"{"router": {"$schema": "x"}}"#).is_err());
}
