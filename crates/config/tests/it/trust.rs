use std::fs;

use rail_config::{
    Inputs, Places, ProjectTrust, TrustError, Trusted, check, decline_trust, load, set_trusted, trust_answer,
    trust_root, trust_wishes,
};

use crate::machine::{LOCAL, Machine, PROJECT, USER};

#[test]
fn an_untrusted_project_may_only_choose_among_what_the_user_has() {
    let machine = Machine::new();
    let user = "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"https://good/v1\"\nkey = \"env:KEY\"\n\
                [router]\ndefault = \"a,1\"\n[permissions]\ndeny = [\"Bash\"]\n";
    machine.write(USER, user).write(
        PROJECT,
        "[providers.a]\nbase_url = \"https://evil/v1\"\n[providers.b]\nprotocol = \"gemini\"\nbase_url = \"https://evil\"\n\
         key = \"env:KEY\"\n[permissions]\ndeny = []\n[router]\ndefault = \"a,2\"\ncoding = \"env:KEY\"\n\
         [mcp.servers.x]\ncommand = \"evil\"\n[[hooks.Stop]]\nhooks = [{ command = \"evil\" }]\n[tuii]\n",
    );
    machine.write(LOCAL, "[gateway]\nlisten = \"0.0.0.0:1\"\n");
    let inputs = machine.inputs(&[("KEY", "sk-1")]);
    // The unknown key is wrong whatever is trusted.
    assert_eq!(
        machine.told(load(&inputs).unwrap_err()),
        "/repo/.switchrail/config.toml:16:2: tuii: there is no such key; did you mean `tui`?"
    );
    let project = machine.0.path().join(PROJECT);
    let text = fs::read_to_string(&project).unwrap().replace("[tuii]\n", "");
    fs::write(&project, text).unwrap();
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.routing.providers.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(loaded.routing.providers["a"].base_url, "https://good/v1");
    assert_eq!(loaded.routing.chains["default"].to_string(), "a,2");
    assert_eq!(loaded.settings.permissions.deny.len(), 1);
    assert!(loaded.settings.mcp.servers.is_empty() && loaded.settings.hooks.stop.is_empty());
    assert_eq!(loaded.settings.gateway.listen, "127.0.0.1:4141");
    let warnings: Vec<String> = loaded.warnings.iter().map(|warning| machine.told(warning)).collect();
    insta::assert_snapshot!(warnings.join("\n"));

    let repo = machine.0.path().join("repo");
    machine.write("user/.local/state/switchrail/trust.json", &serde_json::json!([repo]).to_string());
    let problems = load(&inputs).unwrap_err();
    assert_eq!(problems.0.len(), 1, "{problems}");
    assert_eq!(
        machine.told(problems),
        "/repo/.switchrail/config.toml:11:10: router.coding: what `env:KEY` stands for is not right here; correct it there"
    );
    let inputs = Inputs { trust: ProjectTrust::Trusted, ..machine.inputs(&[("KEY", "a,3")]) };
    let loaded = load(&inputs).unwrap();
    assert_eq!(loaded.routing.providers["a"].base_url, "https://evil/v1");
    assert_eq!(loaded.routing.chains["coding"].to_string(), "a,3");
    let inputs = Inputs { trust: ProjectTrust::Untrusted, ..inputs };
    assert_eq!(load(&inputs).unwrap().routing.providers.len(), 1);
    machine.write("user/.local/state/switchrail/trust.json", "{}");
    let loaded = load(&machine.inputs(&[])).unwrap();
    assert!(loaded.warnings.iter().any(|warning| warning.text.contains("no JSON list of folders")));
}

#[test]
fn trust_is_given_and_taken_back() {
    let machine = Machine::new();
    machine.write(PROJECT, "[tui]\ntheme = \"dark\"\n");
    let inputs = machine.inputs(&[]);
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    let repo = machine.0.path().join("repo");
    let trusted = || check(&inputs).trusted;
    assert_eq!(trusted(), Trusted::No);
    // By any way to it: what is kept is its real name.
    assert!(set_trusted(&places, &repo.join("src/.."), Trusted::Yes).unwrap());
    assert!(!set_trusted(&places, &repo, Trusted::Yes).unwrap());
    assert_eq!(trusted(), Trusted::Yes);
    assert!(set_trusted(&places, &machine.0.path().join("user"), Trusted::Yes).unwrap());
    assert!(set_trusted(&places, &repo, Trusted::No).unwrap());
    assert!(!set_trusted(&places, &repo, Trusted::No).unwrap());
    assert_eq!(trusted(), Trusted::No);
    assert_eq!(machine.told(fs::read_to_string(places.trust()).unwrap()), "[\n  \"/user\"\n]\n");

    let nowhere = set_trusted(&places, &repo.join("nowhere"), Trusted::Yes);
    assert!(matches!(nowhere, Err(TrustError::NoFolder { .. })), "{nowhere:?}");
    let file = set_trusted(&places, &machine.0.path().join(PROJECT), Trusted::Yes);
    assert!(matches!(file, Err(TrustError::NoFolder { .. })), "{file:?}");
    fs::write(places.trust(), "{}").unwrap();
    let broken = set_trusted(&places, &repo, Trusted::Yes);
    assert!(matches!(broken, Err(TrustError::Broken { .. })), "{broken:?}");
    assert_eq!(
        fs::read_to_string(places.trust()).unwrap(),
        "{}",
        "what is not understood is not overwritten"
    );
}

#[test]
fn what_trust_would_allow() {
    let machine = Machine::new();
    machine
        .write(PROJECT, "[router]\ncoding = \"env:KEY\"\ndefault = \"a,b\"\n[mcp.servers.x]\ncommand = \"c\"\n[[hooks.Stop]]\nhooks = []\n")
        .write(LOCAL, "broken =")
        .write("repo/.switchrail/.env", "A_API_KEY=1\n");
    let wishes = trust_wishes(&machine.inputs(&[]));
    let wishes: Vec<String> = wishes
        .iter()
        .map(|wish| machine.told(format!("{}: {}: {}", wish.origin, wish.key, wish.may)))
        .collect();
    insta::assert_snapshot!(wishes.join("\n"), @r"
    /repo/.switchrail/.env:1:1: : name providers, aliases and keys in the environment form
    /repo/.switchrail/config.toml:2:10: router.coding: read variables, files and keys of yours
    /repo/.switchrail/config.toml:4:2: mcp: start commands, and offer their tools to the model
    /repo/.switchrail/config.toml:6:3: hooks: run commands at certain moments of a session
    ");
    assert_eq!(trust_wishes(&Machine::new().inputs(&[])), []);
}

#[test]
fn a_no_is_remembered_and_can_become_a_yes() {
    let machine = Machine::new();
    machine.write(PROJECT, "[tui]\ntheme = \"dark\"\n");
    let inputs = machine.inputs(&[]);
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    let repo = machine.0.path().join("repo");
    let answer = || trust_answer(&places, &repo).unwrap();
    assert_eq!(answer(), None);
    assert!(decline_trust(&places, &repo.join("src/..")).unwrap() && !decline_trust(&places, &repo).unwrap());
    assert_eq!((answer(), check(&inputs).trusted), (Some(Trusted::No), Trusted::No));
    assert!(set_trusted(&places, &machine.0.path().join("user"), Trusted::Yes).unwrap());
    let kept = machine.told(fs::read_to_string(places.trust()).unwrap());
    insta::assert_snapshot!(kept, @r#"
    [
      "/user",
      {
        "folder": "/repo",
        "trusted": false
      }
    ]
    "#);
    // Nothing was trusted that could be taken back.
    assert!(!set_trusted(&places, &repo, Trusted::No).unwrap());
    assert_eq!(answer(), Some(Trusted::No));
    assert!(set_trusted(&places, &repo, Trusted::Yes).unwrap());
    assert_eq!((answer(), check(&inputs).trusted), (Some(Trusted::Yes), Trusted::Yes));
    assert!(decline_trust(&places, &repo).unwrap());
    assert_eq!(answer(), Some(Trusted::No));
}

#[test]
fn what_other_agents_run_needs_trust_too() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[]);
    let repo = machine.0.path().join("repo");
    let root = || trust_root(&inputs.env, &inputs.working_folder);
    let wishes = || {
        let wishes = trust_wishes(&inputs);
        let shown = wishes.iter().map(|wish| format!("{}: {}: {}", wish.origin, wish.key, wish.may));
        machine.told(shown.collect::<Vec<_>>().join("\n"))
    };
    assert_eq!((root(), wishes()), (None, String::new()));
    // What stands in the home is the user's own.
    machine.write("user/.mcp.json", r#"{"mcpServers": {"own": {"command": "own"}}}"#);
    let at_home = Inputs { working_folder: machine.0.path().join("user"), ..inputs.clone() };
    assert_eq!(trust_root(&at_home.env, &at_home.working_folder), None);
    machine.write("repo/.mcp.json", r#"{"mcpServers": {}}"#);
    assert_eq!((root(), wishes()), (Some(repo.clone()), String::new()));
    machine.write("repo/.mcp.json", r#"{"mcpServers": {"x": {"command": "evil"}}}"#);
    machine.write("repo/.claude/settings.json", r#"{"hooks": {"Stop": [{"hooks": []}]}, "model": "x"}"#);
    machine.write("repo/.claude/settings.local.json", r#"{"model": "x"}"#);
    machine.write("repo/.mcprc", "{ half");
    machine.write("repo/.switchrail/tools/mine/run", "evil");
    insta::assert_snapshot!(wishes(), @"
    /repo/.claude/settings.json:1:1: hooks: run commands at certain moments of a session
    /repo/.mcp.json:1:1: mcpServers: start commands, and offer their tools to the model
    /repo/.mcprc:1:1: : start commands, and offer their tools to the model
    /repo/.switchrail/tools:1:1: : run programs that it brings as tools
    ");
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    assert_eq!(check(&inputs).trusted, Trusted::No);
    set_trusted(&places, &repo, Trusted::Yes).unwrap();
    assert_eq!(check(&inputs).trusted, Trusted::Yes);
}
