//! Where MCP servers come from, and whether they may be used.

use std::fs;

use rail_config::mcp::{self, Given, McpAnswer, McpScope, Replace, Server, Servers, Standing, Which};
use rail_config::settings::McpServer;
use rail_config::{Inputs, Places, ProjectTrust, Trusted, load, set_trusted, trust_root, trust_wishes};

use crate::machine::{LOCAL, Machine, PROJECT, USER};

const LIST: &str = "repo/.mcp.json";

fn found(inputs: &Inputs) -> Servers {
    mcp::servers(inputs, &load(inputs).unwrap(), &[], Which::All)
}

/// Each server with its scope and its state, one a line.
fn states(machine: &Machine, servers: &Servers) -> String {
    let state = |server: &Server| {
        let state = match &server.standing {
            Standing::Used(spec) => format!("used: {:?}", spec.reach),
            Standing::Left(left) => format!("{}: {}", left.word(), left.why(&server.name)),
        };
        let Server { name, scope, origin, .. } = server;
        format!("{name} ({}, {origin}) {state}", scope.word())
    };
    let mut lines: Vec<String> =
        servers.problems.iter().map(|problem| format!("problem {problem}")).collect();
    lines.extend(servers.found.iter().map(state));
    machine.told(lines.join("\n"))
}

fn trust(machine: &Machine, inputs: &Inputs) -> Places {
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    set_trusted(&places, &machine.0.path().join("repo"), Trusted::Yes).unwrap();
    places
}

fn approve(places: &Places, servers: &Servers, name: &str) {
    for server in servers.found.iter().filter(|server| server.name == name && server.scope.is_brought()) {
        let answer = McpAnswer::Approved(server.content.clone());
        mcp::answer_mcp(places, server.folder.as_deref().unwrap(), name, answer).unwrap();
    }
}

fn stdio(command: &str) -> McpServer {
    McpServer { command: Some(command.to_owned()), ..McpServer::default() }
}

#[test]
fn all_scopes_and_who_wins() {
    let machine = Machine::new();
    machine
        .write(USER, "[mcp.servers.x]\ncommand = \"user\"\nenv = { T = \"secret\" }\n[mcp.servers.u]\ncommand = \"u\"\n")
        .write(PROJECT, "[mcp.servers.x]\ncommand = \"project\"\n[mcp.servers.p]\nurl = \"https://h/mcp\"\n")
        .write(LOCAL, "[mcp.servers.x]\ncommand = \"local\"\n")
        .write(LIST, r#"{"mcpServers": {"x": {"command": "list"}, "m": {"command": "m"}, "r": {"command": "outer"}}}"#)
        .write("repo/src/.mcp.json", r#"{"mcpServers": {"r": {"command": "inner"}}}"#)
        .write("repo/.mcprc", r#"{"x": {"command": "rc"}, "rc": {"type": "sse", "url": "http://127.0.0.1:1/sse"}, "m": {"command": "rc"}}"#);
    let inputs = machine.inputs(&[]);
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @r#"
    x (local, /repo/.switchrail/config.local.toml:1:14) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    p (project, /repo/.switchrail/config.toml:3:14) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    x (project, /repo/.switchrail/config.toml:1:14) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    r (project, /repo/src/.mcp.json:1:17) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    x (project, /repo/.mcp.json:1:17) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    m (project, /repo/.mcp.json:1:43) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    r (project, /repo/.mcp.json:1:66) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    x (mcprc, /repo/.mcprc:1:2) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    rc (mcprc, /repo/.mcprc:1:26) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    m (mcprc, /repo/.mcprc:1:82) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    u (user, /user/.config/switchrail/config.toml:4:14) used: stdio "u" (0 arguments) [] in /repo/src
    x (user, /user/.config/switchrail/config.toml:1:14) used: stdio "user" (0 arguments) ["T"] in /repo/src
    "#);
    let places = trust(&machine, &inputs);
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @r#"
    x (local, /repo/.switchrail/config.local.toml:1:14) used: stdio "local" (0 arguments) [] in /repo
    p (project, /repo/.switchrail/config.toml:3:14) pending: it waits for your approval; look at it with `rail mcp get p`, and let it be used with `rail mcp approve p`
    x (project, /repo/.switchrail/config.toml:1:14) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    r (project, /repo/src/.mcp.json:1:17) pending: it waits for your approval; look at it with `rail mcp get r`, and let it be used with `rail mcp approve r`
    x (project, /repo/.mcp.json:1:17) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    m (project, /repo/.mcp.json:1:43) pending: it waits for your approval; look at it with `rail mcp get m`, and let it be used with `rail mcp approve m`
    r (project, /repo/.mcp.json:1:66) pending: it waits for your approval; look at it with `rail mcp get r`, and let it be used with `rail mcp approve r`
    x (mcprc, /repo/.mcprc:1:2) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    rc (mcprc, /repo/.mcprc:1:26) pending: it waits for your approval; look at it with `rail mcp get rc`, and let it be used with `rail mcp approve rc`
    m (mcprc, /repo/.mcprc:1:82) pending: it waits for your approval; look at it with `rail mcp get m`, and let it be used with `rail mcp approve m`
    u (user, /user/.config/switchrail/config.toml:4:14) used: stdio "u" (0 arguments) [] in /repo/src
    x (user, /user/.config/switchrail/config.toml:1:14) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    "#);
    for name in ["x", "p", "m", "r", "rc"] {
        approve(&places, &found(&inputs), name);
    }
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @r#"
    x (local, /repo/.switchrail/config.local.toml:1:14) used: stdio "local" (0 arguments) [] in /repo
    p (project, /repo/.switchrail/config.toml:3:14) used: http https://h/mcp []
    x (project, /repo/.switchrail/config.toml:1:14) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    r (project, /repo/src/.mcp.json:1:17) used: stdio "inner" (0 arguments) [] in /repo/src
    x (project, /repo/.mcp.json:1:17) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    m (project, /repo/.mcp.json:1:43) pending: it waits for your approval; look at it with `rail mcp get m`, and let it be used with `rail mcp approve m`
    r (project, /repo/.mcp.json:1:66) shadowed: a stronger one of the same name is used, of /repo/src/.mcp.json:1:17
    x (mcprc, /repo/.mcprc:1:2) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    rc (mcprc, /repo/.mcprc:1:26) used: sse http://127.0.0.1:1/sse []
    m (mcprc, /repo/.mcprc:1:82) used: stdio "rc" (0 arguments) [] in /repo
    u (user, /user/.config/switchrail/config.toml:4:14) used: stdio "u" (0 arguments) [] in /repo/src
    x (user, /user/.config/switchrail/config.toml:1:14) shadowed: a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    "#);
    let given = Given::read(
        r#"{"mcpServers": {"x": {"command": "given"}, "calc": {"type": "sdk"}}}"#,
        &inputs.working_folder,
    )
    .unwrap();
    let loaded = load(&inputs).unwrap();
    let only = mcp::servers(&inputs, &loaded, std::slice::from_ref(&given), Which::Given);
    insta::assert_snapshot!(states(&machine, &only), @r#"x (--mcp-config, --mcp-config) used: stdio "given" (0 arguments) [] in /repo/src"#);
    assert_eq!(only.sdk, ["calc"]);
    let all = mcp::servers(&inputs, &loaded, &[given], Which::All);
    assert_eq!(all.used().count(), 6);
    assert_eq!(all.used().next().map(|(server, _)| server.scope), Some(McpScope::Given));
    // The settings that are shown mix nothing either.
    assert!(loaded.settings.mcp.servers["x"].env.is_empty());
}

#[test]
fn a_changed_command_is_pending_again_and_a_rejection_stays() {
    let machine = Machine::new();
    machine.write(LIST, r#"{"mcpServers": {"a": {"command": "good"}, "b": {"command": "b"}}}"#);
    let inputs = machine.inputs(&[]);
    let places = trust(&machine, &inputs);
    approve(&places, &found(&inputs), "a");
    mcp::answer_mcp(&places, &machine.0.path().join("repo"), "b", McpAnswer::Rejected).unwrap();
    let state =
        || found(&inputs).found.iter().map(|server| server.approval.word()).collect::<Vec<_>>().join(" ");
    assert_eq!(state(), "approved rejected");
    // Spacing and order change nothing of what is started.
    machine.write(
        LIST,
        r#"{"mcpServers": {"a": {"type": "stdio", "command": "good", "args": []}, "b": {"command": "c"}}}"#,
    );
    assert_eq!(state(), "approved rejected");
    for changed in [
        r#"{"command": "evil"}"#,
        r#"{"command": "good", "args": ["-x"]}"#,
        r#"{"command": "good", "env": {"LD_PRELOAD": "x"}}"#,
        r#"{"command": "good", "cwd": "other"}"#,
        r#"{"url": "https://evil"}"#,
        r#"{"command": "${X:-good}"}"#,
    ] {
        machine.write(LIST, &format!("{{\"mcpServers\": {{\"a\": {changed}}}}}"));
        assert_eq!((state().as_str(), found(&inputs).used().count()), ("pending", 0), "{changed}");
    }
    machine.write(LIST, r#"{"mcpServers": {"a": {"command": "good"}}}"#);
    assert_eq!(state(), "approved");
    // Trust that is taken back takes the approvals along.
    set_trusted(&places, &machine.0.path().join("repo"), Trusted::No).unwrap();
    trust(&machine, &inputs);
    assert_eq!(state(), "pending");
    machine.write("user/.local/state/switchrail/mcp-servers.json", "{}");
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @"
    problem /user/.local/state/switchrail/mcp-servers.json:1:1: /user/.local/state/switchrail/mcp-servers.json is no JSON list of answers on MCP servers, so that none is approved; correct or remove it
    a (project, /repo/.mcp.json:1:17) pending: it waits for your approval; look at it with `rail mcp get a`, and let it be used with `rail mcp approve a`
    ");
}

#[test]
fn nothing_of_an_untrusted_folder_is_used_even_if_it_is_approved() {
    let machine = Machine::new();
    machine.write(LIST, r#"{"mcpServers": {"a": {"command": "evil", "env": {"K": "${SECRET}"}}}}"#);
    machine
        .write(PROJECT, "[mcp.servers.b]\ncommand = \"evil\"\n")
        .write(LOCAL, "[mcp.servers.c]\ncommand = \"evil\"\n");
    let inputs = machine.inputs(&[("SECRET", "s3cret")]);
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    for name in ["a", "b"] {
        approve(&places, &found(&inputs), name);
    }
    let servers = found(&inputs);
    assert_eq!((servers.used().count(), servers.found.len()), (0, 3));
    assert!(
        servers
            .found
            .iter()
            .all(|server| matches!(&server.standing, Standing::Left(left) if left.word() == "untrusted"))
    );
    assert!(!format!("{servers:?}").contains("s3cret"));
    // A folder above the one that is trusted is none that is trusted.
    machine.write("repo/src/.switchrail/config.toml", "");
    set_trusted(&places, &machine.0.path().join("repo/src"), Trusted::Yes).unwrap();
    assert_eq!(found(&inputs).used().count(), 0);
    // Nor does a folder of downloads speak for what is unpacked in it.
    machine
        .write("user/down/.switchrail/config.toml", "")
        .write("user/down/x/.mcp.json", r#"{"mcpServers": {"a": {"command": "evil"}}}"#);
    set_trusted(&places, &machine.0.path().join("user/down"), Trusted::Yes).unwrap();
    let below = Inputs { working_folder: machine.0.path().join("user/down/x"), ..inputs.clone() };
    approve(&places, &found(&below), "a");
    assert_eq!((found(&below).found.len(), found(&below).used().count()), (1, 0));
    let forced = Inputs { trust: ProjectTrust::Trusted, ..below };
    assert_eq!(found(&forced).used().count(), 1);
}

#[test]
fn what_the_user_adds_for_a_project_works_in_a_folder_that_is_not_trusted() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[("TOKEN", "t0ken")]);
    let mut server = stdio("mine");
    server.env =
        [("T".to_owned(), rail_config::settings::SecretText(rail_stdx::Secret::new("env:TOKEN")))].into();
    let edited = mcp::add(&inputs, McpScope::Local, "mine", &server, Replace::No).unwrap();
    assert_eq!(machine.told(edited.path.display()), "/repo/.switchrail/config.local.toml");
    assert_eq!(
        fs::read_to_string(&edited.path).unwrap(),
        "[mcp.servers.mine]\ncommand = \"mine\"\nenv = { T = \"env:TOKEN\" }\n"
    );
    assert_eq!(trust_root(&inputs.env, &inputs.working_folder), Some(machine.0.path().join("repo")));
    assert_eq!(trust_wishes(&inputs), []);
    assert!(load(&inputs).unwrap().warnings.iter().all(|warning| warning.key == "router"));
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @r#"mine (local, /repo/.switchrail/config.local.toml:1:14) used: stdio "mine" (0 arguments) ["T"] in /repo"#);
    // What else comes into the file counts no more than before.
    machine.write(LOCAL, "[mcp]\ndeclare_tokens = 1\n[mcp.servers.mine]\ncommand = \"evil\"\n[mcp.servers.other]\ncommand = \"evil\"\n");
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @"
    mine (local, /repo/.switchrail/config.local.toml:3:14) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    other (local, /repo/.switchrail/config.local.toml:5:14) untrusted: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    ");
    assert_eq!(trust_wishes(&inputs).len(), 1);
    assert_eq!(load(&inputs).unwrap().settings.mcp.declare_tokens, 6000);
}

#[test]
fn variables_are_put_in_and_a_missing_one_leaves_its_server_out() {
    let machine = Machine::new();
    machine.write(
        LIST,
        r#"{"mcpServers": {
  "a": {"command": "${BIN:-npx}", "args": ["${ARG}", "$X"], "env": {"K": "${ARG}"}, "cwd": "sub"},
  "b": {"command": "x", "env": {"K": "${GONE}"}},
  "c": {"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${ARG}"}},
  "d": {"url": "https://h/mcp", "headers": {"X": "${BAD}"}}
}}"#,
    );
    let inputs = Inputs {
        trust: ProjectTrust::Trusted,
        ..machine.inputs(&[("ARG", "v"), ("HOST", "h"), ("BAD", "x\r\nY: z")])
    };
    let places = Places::find(&inputs.env, &inputs.working_folder).unwrap();
    ["a", "b", "c", "d"].iter().for_each(|name| approve(&places, &found(&inputs), name));
    let servers = found(&inputs);
    insta::assert_snapshot!(states(&machine, &servers), @r#"
    a (project, /repo/.mcp.json:2:3) used: stdio "npx" (2 arguments) ["K"] in /repo/sub
    b (project, /repo/.mcp.json:3:3) broken: the variable `GONE` is not set; export it, or write `${GONE:-default}`
    c (project, /repo/.mcp.json:4:3) used: http https://h/mcp ["Authorization"]
    d (project, /repo/.mcp.json:5:3) broken: a header's value holds control characters; remove them
    "#);
    let (_, spec) = servers.used().next().unwrap();
    let mcp::Reach::Stdio { command, args, env, cwd } = &spec.reach else { panic!("{spec:?}") };
    assert_eq!((command.as_str(), args.join(" ").as_str(), env["K"].reveal()), ("npx", "v $X", "v"));
    assert!(cwd.ends_with("repo/sub"));
    assert_eq!(servers.notices().iter().map(|text| machine.told(text)).collect::<Vec<_>>().len(), 2);
}

#[test]
fn servers_are_switched_off_and_on() {
    let machine = Machine::new();
    machine.write(
        USER,
        "[mcp]\nenabled_servers = [\"a\", \"b\", \"c\"]\ndisabled_servers = [\"b\"]\n[mcp.servers]\na.command = \"a\"\nb.command = \"b\"\nd.command = \"d\"\n\
         [mcp.servers.c]\ncommand = \"c\"\nenabled = false\n",
    );
    insta::assert_snapshot!(states(&machine, &found(&machine.inputs(&[]))), @r#"
    a (user, /user/.config/switchrail/config.toml:5:1) used: stdio "a" (0 arguments) [] in /repo/src
    b (user, /user/.config/switchrail/config.toml:6:1) disabled: it is switched off by `mcp.disabled_servers`; change that list to use it
    c (user, /user/.config/switchrail/config.toml:8:14) disabled: it is switched off; write `enabled = true` where it stands
    d (user, /user/.config/switchrail/config.toml:7:1) disabled: it is switched off by `mcp.enabled_servers`; change that list to use it
    "#);
    let inputs = machine.inputs(&[
        ("SWITCHRAIL_MCP__SERVERS__C__ENABLED", "true"),
        ("SWITCHRAIL_MCP__SERVERS__A__TIMEOUT", "5s"),
    ]);
    let servers = found(&inputs);
    let used: Vec<_> = servers
        .used()
        .map(|(server, spec)| (server.name.as_str(), spec.timeout.map(|wait| wait.as_secs())))
        .collect();
    assert_eq!(used, [("a", Some(5)), ("c", None)]);
}

#[test]
fn names_that_collide_or_lie_are_refused() {
    let machine = Machine::new();
    machine.write(
        USER,
        "[mcp.servers.\"a b\"]\ncommand = \"1\"\n[mcp.servers.a_b]\ncommand = \"2\"\n[mcp.servers.\"..\"]\ncommand = \"3\"\n\
         [mcp.servers.\"x\\u001b[2J\"]\ncommand = \"4\"\n[mcp.servers.git__evil]\ncommand = \"5\"\n",
    );
    let inputs = machine.inputs(&[]);
    insta::assert_snapshot!(states(&machine, &found(&inputs)), @r#"
    .. (user, /user/.config/switchrail/config.toml:5:14) broken: a server's name is no path; take a name of letters, digits, `-` and `_`
    a b (user, /user/.config/switchrail/config.toml:1:14) used: stdio "1" (0 arguments) [] in /repo/src
    a_b (user, /user/.config/switchrail/config.toml:3:14) collides: its tools would have the same names as those of `a b`; give it another name
    git__evil (user, /user/.config/switchrail/config.toml:9:14) broken: tools are called `mcp__SERVER__TOOL`, so that a name can't begin or end with `_` or another sign, or hold two of them in a row; take a name of letters, digits, `-` and `_`
    x[2J (user, /user/.config/switchrail/config.toml:7:14) broken: a server's name holds no control characters; take a name of letters, digits, `-` and `_`
    "#);
    let warnings = load(&inputs).unwrap().warnings;
    assert_eq!(warnings.iter().filter(|warning| warning.key.starts_with("mcp")).count(), 3);
}

#[cfg(unix)]
#[test]
fn odd_files_are_told_and_take_nothing_away() {
    let machine = Machine::new();
    machine.write(USER, "[mcp.servers.own]\ncommand = \"own\"\n");
    machine.write("user/elsewhere.json", r#"{"mcpServers": {"linked": {"command": "x"}}}"#);
    let list = machine.0.path().join(LIST);
    let inputs = Inputs { trust: ProjectTrust::Trusted, ..machine.inputs(&[]) };
    let told = || states(&machine, &found(&inputs));
    // What a link leads to is judged as any other text, and nothing is written through it.
    std::os::unix::fs::symlink(machine.0.path().join("user/elsewhere.json"), &list).unwrap();
    insta::assert_snapshot!(told(), @r#"
    linked (project, /repo/.mcp.json:1:17) pending: it waits for your approval; look at it with `rail mcp get linked`, and let it be used with `rail mcp approve linked`
    own (user, /user/.config/switchrail/config.toml:1:14) used: stdio "own" (0 arguments) [] in /repo/src
    "#);
    let refused = mcp::add(&inputs, McpScope::Project, "new", &stdio("c"), Replace::No).unwrap_err();
    insta::assert_snapshot!(machine.told(refused), @"/repo/.mcp.json is a link, and what is written through it may be another project's; write to the file that it leads to");
    fs::remove_file(&list).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &list).unwrap();
    insta::assert_snapshot!(told(), @r#"
    problem /repo/.mcp.json:1:1: it can't be read: it is no regular file; make it readable, or move it away
    own (user, /user/.config/switchrail/config.toml:1:14) used: stdio "own" (0 arguments) [] in /repo/src
    "#);
    fs::remove_file(&list).unwrap();
    fs::write(&list, format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"{}\"}}}}}}", "x".repeat(10 << 20)))
        .unwrap();
    insta::assert_snapshot!(told(), @r#"
    problem /repo/.mcp.json:1:1: it can't be read: it is longer than 1 MiB; make it readable, or move it away
    own (user, /user/.config/switchrail/config.toml:1:14) used: stdio "own" (0 arguments) [] in /repo/src
    "#);
    fs::write(&list, b"\xff").unwrap();
    insta::assert_snapshot!(told(), @r#"
    problem /repo/.mcp.json:1:1: it can't be read: it is no UTF-8 text; make it readable, or move it away
    own (user, /user/.config/switchrail/config.toml:1:14) used: stdio "own" (0 arguments) [] in /repo/src
    "#);
    fs::write(&list, "{\n  \"mcpServers\": {\"a\": }").unwrap();
    insta::assert_snapshot!(told(), @r#"
    problem /repo/.mcp.json:2:23: this is no JSON: a value is missing here
    own (user, /user/.config/switchrail/config.toml:1:14) used: stdio "own" (0 arguments) [] in /repo/src
    "#);
}

#[test]
fn a_server_is_written_and_taken_out_and_all_else_stays() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[]);
    machine
        .write(USER, "# mine\n[router] # r\ndefault = \"a,b\"\n\n[mcp.servers.old] # o\ncommand = \"old\"\n");
    let before = fs::read_to_string(machine.0.path().join(USER)).unwrap();
    let server = McpServer { args: vec!["-y".to_owned(), "a \"b\"".to_owned()], ..stdio("npx") };
    mcp::add(&inputs, McpScope::User, "new", &server, Replace::No).unwrap();
    insta::assert_snapshot!(fs::read_to_string(machine.0.path().join(USER)).unwrap(), @r#"
    # mine
    [router] # r
    default = "a,b"

    [mcp.servers.old] # o
    command = "old"

    [mcp.servers.new]
    command = "npx"
    args = ["-y", 'a "b"']
    "#);
    let exists = mcp::add(&inputs, McpScope::User, "new", &server, Replace::No).unwrap_err();
    insta::assert_snapshot!(machine.told(exists), @"/user/.config/switchrail/config.toml has a server `new` already; `rail mcp get new` shows it, and `--force` replaces it");
    assert!(mcp::add(&inputs, McpScope::User, "new", &stdio("other"), Replace::Yes).unwrap().replaced);
    let servers = found(&inputs);
    let new = servers.found.iter().find(|server| server.name == "new").unwrap();
    assert_eq!(new.written, Some(stdio("other")));
    mcp::remove(&inputs, new).unwrap();
    assert_eq!(fs::read_to_string(machine.0.path().join(USER)).unwrap(), before);
    assert!(mcp::remove(&inputs, new).is_err());
    let home = Inputs { working_folder: machine.0.path().join("user"), ..inputs.clone() };
    insta::assert_snapshot!(machine.told(mcp::add(&home, McpScope::Project, "x", &server, Replace::No).unwrap_err()), @"/user is your home and no project; change to one, or take `-s user`");
    insta::assert_snapshot!(mcp::add(&inputs, McpScope::User, "a/b", &server, Replace::No).unwrap_err(), @"`a/b`: a server's name is no path; take a name of letters, digits, `-` and `_`");
}
