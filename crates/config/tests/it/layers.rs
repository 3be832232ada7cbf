use std::fs;

use rail_config::{Env, FileFound, Inputs, Layer, Layers, Scope, check, compose, load, set_active};
use rail_route::{AliasTo, Target};

use crate::machine::{LOCAL, Machine, PROJECT, USER};
use crate::{Quiet, source, user};

#[test]
fn the_seeds_example_loads_verbatim() {
    let text = include_str!("data/seed.json");
    let layers = Layers { files: vec![source(Layer::User, "config.json", text)], ..Layers::default() };
    let composed = compose(&layers, &Quiet::default()).unwrap();
    let chains: Vec<(&str, String)> =
        composed.routing.chains.iter().map(|(name, chain)| (name.as_str(), chain.to_string())).collect();
    assert_eq!(
        chains,
        [
            ("coding", "modelscope,qwen3-480b;qwen,qwen3-coder-plus".to_owned()),
            ("default", "qwen,qwen3-coder-plus;modelscope,qwen3-480b;shuaihong,gemini-2.5-pro".to_owned()),
            ("imageProcessing", "shuaihong,gemini-2.5-pro;qwen,qwen3-coder-plus".to_owned()),
            ("longContext", "shuaihong,gemini-2.5-pro;qwen,qwen3-coder-plus".to_owned()),
            ("reasoning", "qwen,qwen3-coder-plus;modelscope,qwen3-480b".to_owned()),
            ("webSearch", "modelscope,qwen3-480b;qwen,qwen3-coder-plus".to_owned()),
        ]
    );
    assert_eq!(composed.routing.security["coding"].0, [Target::new("shuaihong", "gemini-2.5-pro")]);
    let warnings: Vec<String> = composed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings[0],
        "config.json:3:16: router.default: no provider `modelscope` is configured, so that its targets are skipped; \
         add [providers.modelscope]"
    );
}

#[test]
fn later_layers_win_and_each_value_knows_its_own() {
    let machine = Machine::new();
    machine
        .write(USER, "[router]\ndefault = \"u,1\"\ncoding = \"u,2\"\nreasoning = \"u,3\"\nwebSearch = \"u,4\"\nlongContext = \"u,5\"\nimageProcessing = \"u,6\"\n")
        .write(PROJECT, "[router]\ncoding = \"p,2\"\nreasoning = \"p,3\"\nwebSearch = \"p,4\"\nlongContext = \"p,5\"\nimageProcessing = \"p,6\"\n")
        .write(LOCAL, "[router]\nreasoning = \"l,3\"\nwebSearch = \"l,4\"\nlongContext = \"l,5\"\nimageProcessing = \"l,6\"\n")
        .write("given.json", "{\"router\": {\"webSearch\": \"g,4\", \"longContext\": \"g,5\", \"imageProcessing\": \"g,6\"}}");
    let mut inputs = machine.inputs(&[
        ("SWITCHRAIL_ROUTER__LONGCONTEXT", "e,5"),
        ("SWITCHRAIL_ROUTER__IMAGE_PROCESSING", "e,6"),
        ("SWITCHRAIL_ROUTER__OPTIONS__LONG_CONTEXT_THRESHOLD", "80000"),
    ]);
    inputs.config = Some("../../given.json".into());
    inputs.flags = vec![("router.imageProcessing".into(), "f,6".into(), "--image-model")];
    let loaded = load(&inputs).unwrap();
    let said: Vec<String> = ["default", "coding", "reasoning", "webSearch", "longContext", "imageProcessing"]
        .iter()
        .map(|name| {
            let node = loaded.tree.find(&["router", name]).unwrap();
            format!("{} # {}", node.text().unwrap().value, node.origin.brief())
        })
        .collect();
    assert_eq!(
        said,
        [
            "u,1 # user config.toml:2",
            "p,2 # project config.toml:2",
            "l,3 # project-local config.local.toml:2",
            "g,4 # --config given.json:1",
            "e,5 # SWITCHRAIL_ROUTER__LONGCONTEXT",
            "f,6 # --image-model",
        ]
    );
    assert_eq!(loaded.settings.router.options.long_context_threshold, 80_000);
    let read: Vec<String> = loaded
        .files
        .iter()
        .filter(|file| file.found == FileFound::Read)
        .map(|file| machine.told(format!("{} {}", file.layer, file.path.display())))
        .collect();
    assert_eq!(
        read,
        [
            "user /user/.config/switchrail/config.toml",
            "project /repo/.switchrail/config.toml",
            "project-local /repo/.switchrail/config.local.toml",
            "--config /repo/src/../../given.json",
        ]
    );
}

#[test]
fn the_variable_for_a_file_stands_for_the_flag() {
    let machine = Machine::new();
    machine.write("a.toml", "[router]\ndefault = \"a,1\"").write("b.toml", "[router]\ndefault = \"b,1\"");
    let a = machine.0.path().join("a.toml");
    let mut inputs = machine.inputs(&[("SWITCHRAIL_CONFIG", a.to_str().unwrap())]);
    assert_eq!(load(&inputs).unwrap().routing.chains["default"].to_string(), "a,1");
    inputs.config = Some(machine.0.path().join("b.toml"));
    assert_eq!(load(&inputs).unwrap().routing.chains["default"].to_string(), "b,1");
    inputs.config = Some("missing.toml".into());
    assert_eq!(
        machine.told(load(&inputs).unwrap_err()),
        "/repo/src/missing.toml:1:1: there is no such file; correct `--config`, or `SWITCHRAIL_CONFIG`"
    );
}

#[test]
fn variables_reach_every_kind_of_key() {
    let base = "[providers.my-own]\nprotocol = \"openai-chat\"\nbase_url = \"http://a/v1\"\n[router]\ndefault = \"my-own,m\"\n";
    let mut layers = user(base);
    layers.variables = [
        ("SWITCHRAIL_PROVIDERS__MY_OWN__BASE_URL", "http://b/v1/"),
        ("SWITCHRAIL_PROVIDERS__LOCAL__PROTOCOL", "gemini"),
        ("SWITCHRAIL_PROVIDERS__LOCAL__BASE_URL", "http://c"),
        ("SWITCHRAIL_PROVIDERS__LOCAL__KEY", "12345"),
        ("SWITCHRAIL_PROVIDERS__LOCAL__MODELS", "[\"a\", \"b\"]"),
        ("SWITCHRAIL_PROVIDERS__LOCAL__RETRY", "{ tries = 7 }"),
        ("SWITCHRAIL_PERMISSIONS__DENY", "[\"Bash\"]"),
        ("SWITCHRAIL_FEATURES__GEN8", "true"),
        ("SWITCHRAIL_AGENT__LIMITS__MAX_BUDGET_USD", "2"),
        ("SWITCHRAIL_HOOKS__PRE_TOOL_USE", "[{ hooks = [{ command = \"x\" }] }]"),
    ]
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .to_vec();
    let composed = compose(&layers, &Quiet::default()).unwrap();
    let providers = &composed.routing.providers;
    assert_eq!(providers.keys().collect::<Vec<_>>(), ["local", "my-own"]);
    assert_eq!(providers["my-own"].base_url, "http://b/v1");
    assert_eq!(providers["local"].keys[0].reveal(), "12345");
    assert_eq!(providers["local"].models.keys().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(providers["local"].retry.tries, 7);
    let settings = &composed.settings;
    assert_eq!(settings.permissions.deny[0].0, "Bash");
    assert!(settings.features.gen8);
    assert_eq!(settings.agent.limits.max_budget_usd, Some(2.0));
    assert_eq!(settings.hooks.pre_tool_use[0].hooks[0].command, "x");
}

#[test]
fn wrong_variables_and_flags_are_told_with_the_nearest() {
    let mut layers = user("[router]\ndefault = \"a,b\"");
    layers.variables = [
        ("SWITCHRAIL_AGENT__GENERATION", "gen0"),
        ("SWITCHRAIL_GATEWAY", "x"),
        ("SWITCHRAIL_GATEWAY__LISTEN__PORT", "1"),
        ("SWITCHRAIL_LOG", "debug"),
        ("SWITCHRAIL_ROUTER__OPTIONS__LONG_CONTEXT_THRESHOLD", "many"),
        ("SWITCHRAIL_ROUTER__OPTIONS__LONG_CONTEXT_TRESHOLD", "1"),
        ("SWITCHRAIL_ROUTR__DEFAULT", "a,b"),
    ]
    .map(|(name, text)| (name.to_owned(), text.to_owned()))
    .to_vec();
    layers.flags = vec![
        ("agent.generatoin".into(), "gen1".into(), "--generation"),
        ("agent.limits.max_turns".into(), "0".into(), "--max-turns"),
        ("agent..x".into(), "0".into(), "--other"),
    ];
    insta::assert_snapshot!(compose(&layers, &Quiet::default()).unwrap_err());
}

#[test]
fn key_and_keys_replace_each_other() {
    let base = "[providers.a]\nprotocol = \"gemini\"\nbase_url = \"http://a\"\n";
    let keys = |first: &str, second: &str| -> Vec<String> {
        let layers = Layers {
            files: vec![
                source(Layer::User, "config.toml", &format!("{base}{first}")),
                source(Layer::Given, "given.toml", &format!("[providers.a]\n{second}")),
            ],
            ..Layers::default()
        };
        let composed = compose(&layers, &Quiet::default()).unwrap();
        composed.routing.providers["a"].keys.iter().map(|key| key.reveal().to_owned()).collect()
    };
    assert_eq!(keys("key = \"1\"", "keys = [\"2\", \"3\"]"), ["2", "3"]);
    assert_eq!(keys("keys = [\"2\", \"3\"]", "key = \"1\""), ["1"]);
    assert_eq!(keys("key = \"1\"", "proxy = \"direct\""), ["1"]);
    assert_eq!(keys("keys = [\"2\", \"3\"]", "keys = [\"4\"]"), ["4"]);
}

#[test]
fn two_files_of_one_layer_and_files_that_are_no_text_are_told() {
    let machine = Machine::new();
    machine.write(USER, "").write("user/.config/switchrail/config.json", "{}");
    fs::create_dir_all(machine.0.path().join(PROJECT)).unwrap();
    let local = machine.0.path().join(LOCAL);
    fs::write(local, [0xff, 0xfe, 0x5b, 0]).unwrap();
    insta::assert_snapshot!(machine.told(load(&machine.inputs(&[])).unwrap_err()));
}

#[test]
fn without_a_home_the_other_layers_count() {
    let machine = Machine::new();
    machine.write("given.toml", "[router]\ndefault = \"a,b\"");
    let inputs = Inputs {
        env: Env::default(),
        working_folder: machine.0.path().to_owned(),
        config: Some("given.toml".into()),
        ..Inputs::default()
    };
    let loaded = load(&inputs).unwrap();
    assert_eq!((loaded.routing.chains["default"].to_string(), loaded.places), ("a,b".to_owned(), None));
}

#[test]
fn the_active_provider_is_chosen_and_taken_back() {
    let machine = Machine::new();
    machine.write(
        USER,
        "[router]\ndefault = \"a,b\"\n[providers.a]\nprotocol = \"gemini\"\nbase_url = \"http://a\"",
    );
    let inputs = machine.inputs(&[]);
    let loaded = load(&inputs).unwrap();
    assert_eq!((&loaded.routing.active, loaded.warnings.len()), (&None, 0));
    let places = loaded.places.unwrap();
    set_active(&places, Some("a")).unwrap();
    assert_eq!(fs::read_to_string(places.active()).unwrap(), "{\"provider\":\"a\"}");
    assert_eq!(load(&inputs).unwrap().routing.active.as_deref(), Some("a"));
    set_active(&places, Some("gone")).unwrap();
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.routing.active, None);
    assert_eq!(
        loaded.warnings[0].text,
        "the active provider is to be `gone`, which is not configured; run `rail provider use NAME` with another"
    );
    fs::write(places.active(), "{").unwrap();
    let loaded = load(&inputs).unwrap();
    assert_eq!(
        machine.told(&loaded.warnings[0]),
        "/user/.local/state/switchrail/active.json:1:1: it does not say {\"provider\": \"NAME\"}, so that no provider is \
         put in front; run `rail provider use NAME` to write it anew"
    );
    set_active(&places, None).unwrap();
    set_active(&places, None).unwrap();
    assert_eq!(load(&inputs).unwrap().warnings, []);
}

#[test]
fn a_second_name_of_a_key_counts() {
    let composed =
        compose(&user("[features]\nenableGen8 = true\n[agent]\ngeneration = \"gen8\""), &Quiet::default());
    assert!(composed.unwrap().settings.features.gen8);
}

#[test]
fn aliases_lead_to_chains_virtual_models_and_classification() {
    let text = "[router]\ndefault = \"a,b\"\n[[router.rules]]\nname = \"own\"\nmodel = \"x\"\nchain = \"a,c\"\n\
                [aliases]\n\"claude-*\" = \"virtual\"\nmini = \"a,b;c,d\"\nfast = \"own\"\n";
    let composed = compose(&user(text), &Quiet::default()).unwrap();
    let aliases: Vec<_> =
        composed.routing.aliases.iter().map(|alias| (alias.name.as_str(), &alias.to)).collect();
    assert_eq!(
        aliases,
        [
            ("claude-*", &AliasTo::Classified),
            ("fast", &AliasTo::Virtual("own".to_owned())),
            ("mini", &AliasTo::Chain("a,b;c,d".parse().unwrap())),
        ]
    );
    assert_eq!(composed.routing.aliases[0].origin, "[aliases], user config.toml:8");
    assert_eq!(composed.routing.chains["own"].to_string(), "a,c");
}

#[test]
fn a_wrong_configuration_tells_its_warnings_too() {
    let machine = Machine::new();
    machine.write(USER, "[router]\ndefault = \"gone,a\"\n[tuii]\n[providers.deepseek]\n");
    let checked = check(&machine.inputs(&[]));
    assert!(checked.loaded.is_none());
    assert_eq!(checked.problems.0.len(), 1, "{}", checked.problems);
    let warnings: Vec<String> = checked.warnings.iter().map(|warning| machine.told(warning)).collect();
    assert_eq!(
        warnings,
        [
            "/user/.config/switchrail/config.toml:2:11: router.default: no provider `gone` is configured, so that its targets are skipped; add [providers.gone]"
        ]
    );
}

#[test]
fn a_file_is_checked_by_itself() {
    let machine = Machine::new();
    machine.write(USER, "broken =").write("user/.config/switchrail/.env", "MY_KEY=sk-1\n");
    machine.write(
        "alone.toml",
        "[providers.deepseek]\nkey = \"env:MY_KEY\"\n[router]\ndefault = \"deepseek,m\"\n",
    );
    let inputs = machine.inputs(&[
        ("SWITCHRAIL_TUI__THEME", "dark"),
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("SWITCHRAIL_NO", "1"),
    ]);
    assert!(load(&inputs).is_err());
    let alone =
        Inputs { config: Some(machine.0.path().join("alone.toml")), scope: Scope::GivenFile, ..inputs };
    let checked = check(&alone);
    assert_eq!((checked.problems.0.as_slice(), checked.warnings.as_slice()), (&[][..], &[][..]));
    let loaded = checked.loaded.unwrap();
    assert_eq!(loaded.routing.providers.keys().collect::<Vec<_>>(), ["deepseek"]);
    assert_eq!(loaded.routing.providers["deepseek"].keys[0].reveal(), "sk-1");
    assert_eq!(loaded.settings.tui, Default::default());
    let missing = check(&Inputs { config: Some("gone.toml".into()), ..alone });
    assert_eq!(
        machine.told(missing.problems),
        "/repo/src/gone.toml:1:1: there is no such file; correct its path"
    );
}

#[test]
fn an_mcp_server_without_its_value_is_left_out_and_the_others_are_not() {
    let machine = Machine::new();
    machine.write(USER, "[mcp.servers.a]\ncommand = \"x\"\nenv = { T = \"env:GONE\" }\n[mcp.servers.b]\ncommand = \"y\"\n[router]\ndefault = \"a,b\"\n");
    let loaded = load(&machine.inputs(&[])).unwrap();
    assert_eq!(loaded.settings.mcp.servers.keys().collect::<Vec<_>>(), ["b"]);
    assert_eq!(
        machine.told(&loaded.warnings[0]),
        "/user/.config/switchrail/config.toml:3:13: mcp.servers.a.env.T: `env:GONE` is not set; export it or run `rail init`. Until then this server is left out"
    );
}

#[test]
fn hooks_of_all_layers_count() {
    let machine = Machine::new();
    let hook =
        |event: &str, command: &str| format!("[[hooks.{event}]]\nhooks = [{{ command = \"{command}\" }}]\n");
    machine
        .write(USER, &[hook("PreToolUse", "guard"), hook("Stop", "ring")].concat())
        .write(PROJECT, &[hook("PreToolUse", "lint"), hook("SessionEnd", "clean")].concat())
        .write(LOCAL, &hook("PreToolUse", "mine"));
    let inputs = Inputs { trust: rail_config::ProjectTrust::Trusted, ..machine.inputs(&[]) };
    let hooks = load(&inputs).unwrap().settings.hooks;
    let commands = |groups: &[rail_config::settings::HookGroup]| -> Vec<String> {
        groups.iter().flat_map(|group| &group.hooks).map(|hook| hook.command.clone()).collect()
    };
    assert_eq!(commands(&hooks.pre_tool_use), ["guard", "lint", "mine"]);
    assert_eq!(
        (commands(&hooks.stop), commands(&hooks.session_end)),
        (vec!["ring".into()], vec!["clean".into()])
    );
}
