//! What the environment and this machine have to offer, and the chains made of it.

use std::collections::BTreeMap;
use std::fmt::Write;

use rail_config::found::{Local, catalog, default_chains, from_environment, known, servers_to_ask};
use rail_config::settings::{Address, Discovery};
use rail_config::{Which, With, load, show_toml};
use rail_model::ProtocolId;
use rail_route::Provider;

use crate::machine::{Machine, USER};

/// The providers and chains of an environment, keys revealed: tests must see which one goes where.
fn shown(pairs: &[(&str, &str)], local: &[Local]) -> String {
    let env: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let found = from_environment(&env);
    let mut out = String::new();
    for found in &found {
        let provider = &found.provider;
        let keys: Vec<&str> = provider.keys.iter().map(|key| key.reveal()).collect();
        let headers: Vec<_> = provider.headers.iter().map(|(name, value)| (name, value.reveal())).collect();
        writeln!(
            out,
            "{} {} {} {keys:?} {headers:?}: {}",
            provider.name, provider.protocol, provider.base_url, found.because
        )
        .unwrap();
    }
    for (name, chain) in default_chains(&found, local) {
        writeln!(out, "{name} = {chain}").unwrap();
    }
    out
}

fn server(name: &str, models: &[&str]) -> Local {
    let provider = Provider::new(name, ProtocolId::new("openai-chat"), "http://127.0.0.1:1/v1");
    Local { provider, models: models.iter().map(|model| (*model).to_owned()).collect() }
}

#[test]
fn nothing_gives_nothing() {
    assert_eq!(shown(&[("HOME", "/srv/me"), ("OPENAI_API_KEY", " ")], &[]), "");
}

#[test]
fn one_key_is_enough() {
    insta::assert_snapshot!(shown(&[("ANTHROPIC_API_KEY", "ka")], &[]), @r#"
    anthropic anthropic https://api.anthropic.com/v1 ["ka"] []: ANTHROPIC_API_KEY is set
    coding = anthropic,claude-sonnet-5-5
    default = anthropic,claude-sonnet-5-5
    imageProcessing = anthropic,claude-sonnet-5-5
    longContext = anthropic,claude-sonnet-5-5
    reasoning = anthropic,claude-opus-5-5
    webSearch = anthropic,claude-sonnet-5-5
    "#);
    insta::assert_snapshot!(shown(&[("OPENAI_API_KEY", "ko")], &[]), @r#"
    openai openai-responses https://api.openai.com/v1 ["ko"] []: OPENAI_API_KEY is set
    coding = openai,gpt-6.1-sol
    default = openai,gpt-6.1-sol
    imageProcessing = openai,gpt-6.1-sol
    longContext = openai,gpt-6.1-sol
    reasoning = openai,gpt-6.1-sol
    webSearch = openai,gpt-6.1-sol
    "#);
    insta::assert_snapshot!(shown(&[("GOOGLE_API_KEY", "second"), ("GEMINI_API_KEY", "first")], &[]), @r#"
    gemini gemini https://generativelanguage.googleapis.com/v1beta ["first"] []: GEMINI_API_KEY is set
    coding = gemini,gemini-4-argon
    default = gemini,gemini-3.8-flash
    imageProcessing = gemini,gemini-3.8-flash
    longContext = gemini,gemini-4-argon
    reasoning = gemini,gemini-4-argon
    webSearch = gemini,gemini-3.8-flash
    "#);
    insta::assert_snapshot!(shown(&[("GROQ_API_KEY", "kg")], &[]), @r#"
    groq openai-chat https://api.groq.com/openai/v1 ["kg"] []: GROQ_API_KEY is set
    coding = groq,openai/gpt-oss-120b
    default = groq,openai/gpt-oss-120b
    imageProcessing = groq,qwen/qwen3.8-27b
    reasoning = groq,openai/gpt-oss-120b
    webSearch = groq,openai/gpt-oss-120b
    "#);
}

#[test]
fn several_keys_make_chains() {
    let env = [
        ("GEMINI_API_KEY", "kg"),
        ("ANTHROPIC_API_KEY", "ka"),
        ("DEEPSEEK_API_KEY", "kd"),
        ("OPENROUTER_API_KEY", "kr"),
    ];
    insta::assert_snapshot!(shown(&env, &[server("ollama", &["nomic-embed-text", "qwen3-coder:30b"])]), @r#"
    anthropic anthropic https://api.anthropic.com/v1 ["ka"] []: ANTHROPIC_API_KEY is set
    gemini gemini https://generativelanguage.googleapis.com/v1beta ["kg"] []: GEMINI_API_KEY is set
    deepseek openai-chat https://api.deepseek.com/v1 ["kd"] []: DEEPSEEK_API_KEY is set
    openrouter openai-chat https://openrouter.ai/api/v1 ["kr"] []: OPENROUTER_API_KEY is set
    coding = anthropic,claude-sonnet-5-5;gemini,gemini-4-argon;deepseek,deepseek-v4-pro;openrouter,anthropic/claude-sonnet-5.5;ollama,qwen3-coder:30b
    default = anthropic,claude-sonnet-5-5;gemini,gemini-3.8-flash;deepseek,deepseek-v4-pro;openrouter,anthropic/claude-sonnet-5.5;ollama,qwen3-coder:30b
    imageProcessing = gemini,gemini-3.8-flash;anthropic,claude-sonnet-5-5;deepseek,deepseek-v4-flash;openrouter,google/gemini-3.8-flash
    longContext = gemini,gemini-4-argon;anthropic,claude-sonnet-5-5;deepseek,deepseek-v4-pro;openrouter,anthropic/claude-sonnet-5.5;ollama,qwen3-coder:30b
    reasoning = anthropic,claude-opus-5-5;gemini,gemini-4-argon;deepseek,deepseek-v4-pro;openrouter,anthropic/claude-opus-5.5;ollama,qwen3-coder:30b
    webSearch = gemini,gemini-3.8-flash;anthropic,claude-sonnet-5-5;deepseek,deepseek-v4-flash;openrouter,google/gemini-3.8-flash;ollama,qwen3-coder:30b
    "#);
}

#[test]
fn a_key_is_tried_in_both_regions_unless_an_address_is_set() {
    insta::assert_snapshot!(shown(&[("DASHSCOPE_API_KEY", "kd")], &[]), @r#"
    dashscope openai-chat https://dashscope.aliyuncs.com/compatible-mode/v1 ["kd"] []: DASHSCOPE_API_KEY is set
    dashscope-intl openai-chat https://dashscope-intl.aliyuncs.com/compatible-mode/v1 ["kd"] []: DASHSCOPE_API_KEY is set
    coding = dashscope,qwen3-coder-plus;dashscope-intl,qwen3-coder-plus
    default = dashscope,qwen3.8-max;dashscope-intl,qwen3.8-max
    imageProcessing = dashscope,qwen3.8-max;dashscope-intl,qwen3.8-max
    longContext = dashscope,qwen3.8-max;dashscope-intl,qwen3.8-max
    reasoning = dashscope,qwen3.8-max;dashscope-intl,qwen3.8-max
    webSearch = dashscope,qwen3.8-flash;dashscope-intl,qwen3.8-flash
    "#);
    let intl = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1";
    insta::assert_snapshot!(shown(&[("DASHSCOPE_API_KEY", "kd"), ("DASHSCOPE_BASE_URL", intl)], &[]), @r#"
    dashscope openai-chat https://dashscope-intl.aliyuncs.com/compatible-mode/v1 ["kd"] []: DASHSCOPE_API_KEY and DASHSCOPE_BASE_URL are set
    coding = dashscope,qwen3-coder-plus
    default = dashscope,qwen3.8-max
    imageProcessing = dashscope,qwen3.8-max
    longContext = dashscope,qwen3.8-max
    reasoning = dashscope,qwen3.8-max
    webSearch = dashscope,qwen3.8-flash
    "#);
}

#[test]
fn addresses_and_models_from_the_environment_count() {
    insta::assert_snapshot!(shown(&[
        ("ANTHROPIC_BASE_URL", "https://api.z.ai/api/anthropic"),
        ("ANTHROPIC_AUTH_TOKEN", "token"),
        ("ANTHROPIC_API_KEY", "of-anthropic"),
        ("ANTHROPIC_MODEL", "glm-5.3[1m]"),
    ], &[]), @r#"
    anthropic anthropic https://api.z.ai/api/anthropic/v1 [] [("authorization", "Bearer token")]: ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL and ANTHROPIC_MODEL are set
    coding = anthropic,glm-5.3
    default = anthropic,glm-5.3
    imageProcessing = anthropic,glm-5.3
    longContext = anthropic,glm-5.3
    reasoning = anthropic,glm-5.3
    webSearch = anthropic,glm-5.3
    "#);
    insta::assert_snapshot!(shown(&[
        ("OPENAI_BASE_URL", "http://localhost:8000/v1/"),
        ("OPENAI_API_KEY", "none"),
        ("OPENAI_MODEL", "qwen3-coder"),
        ("GEMINI_API_KEY", "kg"),
        ("GOOGLE_GEMINI_BASE_URL", "http://localhost:4141"),
        ("ANTHROPIC_API_KEY", "ka"),
        ("ANTHROPIC_AUTH_TOKEN", "unused at home"),
        ("ANTHROPIC_MODEL", "Opus"),
    ], &[]), @r#"
    anthropic anthropic https://api.anthropic.com/v1 ["ka"] []: ANTHROPIC_API_KEY is set
    openai openai-chat http://localhost:8000/v1 ["none"] []: OPENAI_API_KEY and OPENAI_BASE_URL and OPENAI_MODEL are set
    gemini gemini http://localhost:4141/v1beta ["kg"] []: GEMINI_API_KEY and GOOGLE_GEMINI_BASE_URL are set
    coding = anthropic,claude-sonnet-5-5;openai,qwen3-coder;gemini,gemini-4-argon
    default = anthropic,claude-sonnet-5-5;openai,qwen3-coder;gemini,gemini-3.8-flash
    imageProcessing = gemini,gemini-3.8-flash;anthropic,claude-sonnet-5-5;openai,qwen3-coder
    longContext = gemini,gemini-4-argon;anthropic,claude-sonnet-5-5;openai,qwen3-coder
    reasoning = anthropic,claude-opus-5-5;openai,qwen3-coder;gemini,gemini-4-argon
    webSearch = gemini,gemini-3.8-flash;anthropic,claude-sonnet-5-5;openai,qwen3-coder
    "#);
}

#[test]
fn where_ollama_is() {
    for (host, expected) in [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234/v1"),
        (":1234", "http://127.0.0.1:1234/v1"),
        ("box.lan", "http://box.lan:11434/v1"),
        ("https://box.lan:443/", "https://box.lan:443/v1"),
        ("[::]:1234", "http://[::1]:1234/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
    ] {
        let env = BTreeMap::from([("OLLAMA_HOST".to_owned(), host.to_owned())]);
        let found = from_environment(&env);
        assert_eq!(found[0].provider.base_url, expected, "{host}");
        assert_eq!((found.len(), found[0].because.as_str()), (1, "OLLAMA_HOST is set"));
        assert!(default_chains(&found, &[]).is_empty(), "its models are not known before it is asked");
    }
}

#[test]
fn a_server_on_this_machine_comes_first_if_there_is_nothing_else() {
    let lmstudio = server(
        "lmstudio",
        &[
            "text-embedding-nomic",
            "gpt-oss-20b-mlx",
            "qwen2.5-coder-7b",
            "qwen3-coder-30b-a3b",
            "qwen3-vl-8b",
            "bad,name-coder",
        ],
    );
    insta::assert_snapshot!(shown(&[], &[lmstudio, server("ollama", &["llama3.3:70b", "llama3.2:3b"]), server("vllm", &["bge-m3"])]), @r"
    coding = lmstudio,qwen3-coder-30b-a3b;ollama,llama3.3:70b
    default = lmstudio,qwen3-coder-30b-a3b;ollama,llama3.3:70b
    imageProcessing = lmstudio,qwen3-vl-8b
    longContext = lmstudio,qwen3-coder-30b-a3b;ollama,llama3.3:70b
    reasoning = lmstudio,qwen3-coder-30b-a3b;ollama,llama3.3:70b
    webSearch = lmstudio,qwen3-coder-30b-a3b;ollama,llama3.3:70b
    ");
}

#[test]
fn providers_are_known_by_their_names() {
    for (name, expected) in [
        ("Qwen", "dashscope openai-chat https://dashscope.aliyuncs.com/compatible-mode/v1 DASHSCOPE_API_KEY"),
        ("z.ai", "zai openai-chat https://api.z.ai/api/paas/v4 ZAI_API_KEY,Z_AI_API_KEY"),
        ("claude", "anthropic anthropic https://api.anthropic.com/v1 ANTHROPIC_API_KEY,ANTHROPIC_AUTH_TOKEN"),
        (
            "gemini",
            "gemini gemini https://generativelanguage.googleapis.com/v1beta GEMINI_API_KEY,GOOGLE_API_KEY",
        ),
        ("lmstudio", "lmstudio openai-chat http://127.0.0.1:1234/v1 "),
    ] {
        let it = known(name).unwrap();
        assert_eq!(format!("{} {} {} {}", it.name, it.protocol, it.base_url, it.keys.join(",")), expected);
    }
    assert_eq!(known("nobody"), None);
    let local = catalog().into_iter().filter(|known| known.local);
    let names: Vec<String> = local.map(|server| server.name).collect();
    assert_eq!(names, ["lmstudio", "ollama", "llamacpp", "vllm"]);
}

#[test]
fn where_servers_are_looked_for() {
    let asked = |env: &[(&str, &str)], servers: &[&str]| {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let servers = servers.iter().map(|server| Address((*server).to_owned())).collect();
        servers_to_ask(&env, &Discovery { servers, ..Discovery::default() })
    };
    assert_eq!(asked(&[], &[]), Vec::<String>::new());
    assert_eq!(
        asked(&[("OLLAMA_HOST", "box:1")], &["http://a:2/v1/", "http://box:1"]),
        ["http://box:1", "http://a:2"]
    );
    let usual: Vec<String> = Discovery::default().servers.into_iter().map(|server| server.0).collect();
    assert_eq!(
        usual,
        [
            "http://127.0.0.1:1234",
            "http://127.0.0.1:11434",
            "http://127.0.0.1:8080",
            "http://127.0.0.1:18081",
            "http://127.0.0.1:8000"
        ]
    );
}

#[test]
fn servers_of_one_kind_have_names_of_their_own() {
    let at = |name: &str, port: u16| {
        let provider =
            Provider::new(name, ProtocolId::new("openai-chat"), format!("http://127.0.0.1:{port}/v1"));
        Local { provider, models: vec![format!("m{port}")] }
    };
    let machine = Machine::new();
    machine.write("user/.gemini/.env", "HIJACK_ENABLED=true\nX_API_ENDPOINT=http://far/v1\nX_ACTUAL_MODEL=m\nX_API_KEY=sk-hijack\nX_PROVIDER=llamacpp\n");
    let mut inputs = machine.inputs(&[("OLLAMA_HOST", "127.0.0.1:3")]);
    inputs.local = vec![at("llamacpp", 1), at("llamacpp", 2), at("ollama", 3), at("ollama", 4)];
    let loaded = load(&inputs).unwrap();
    insta::assert_snapshot!(machine.told(show_toml(&loaded, Which::Changed, With::Origins)));
    let targets = loaded.routing.chains.values().flat_map(|chain| chain.0.clone());
    for target in targets.filter(|target| target.provider != "llamacpp") {
        let provider = &loaded.routing.providers[&target.provider];
        assert!(provider.models.contains_key(&target.model), "{target}");
    }
}

#[test]
fn keys_in_the_users_env_file_count_as_set() {
    let machine = Machine::new();
    machine.write("user/.config/switchrail/.env", "DEEPSEEK_API_KEY=sk-kept\n");
    let loaded = load(&machine.inputs(&[])).unwrap();
    assert_eq!(loaded.routing.providers["deepseek"].keys[0].reveal(), "sk-kept");
    let loaded = load(&machine.inputs(&[("DEEPSEEK_API_KEY", "sk-set")])).unwrap();
    assert_eq!(loaded.routing.providers["deepseek"].keys[0].reveal(), "sk-set");
}

#[test]
fn a_well_known_name_is_enough() {
    let machine = Machine::new();
    machine.write(USER, "[providers.deepseek]\n[providers.Qwen]\n[router]\ndefault = \"deepseek,m\"\n");
    let loaded = load(&machine.inputs(&[("DEEPSEEK_API_KEY", "sk-d")])).unwrap();
    let deepseek = &loaded.routing.providers["deepseek"];
    assert_eq!(
        (deepseek.base_url.as_str(), deepseek.keys[0].reveal()),
        ("https://api.deepseek.com/v1", "sk-d")
    );
    assert_eq!(deepseek.protocol, ProtocolId::new("openai-chat"));
    let qwen = &loaded.routing.providers["Qwen"];
    assert_eq!(
        qwen.unusable.as_deref(),
        Some("`env:DASHSCOPE_API_KEY` is not set; export it or run `rail init`")
    );
}
