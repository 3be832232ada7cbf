//! `rail mcp`: servers added, listed, shown, removed, approved and rejected.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::scratch::{CONFIG, Home, is_private};

const LIST: &str = "repo/.mcp.json";
const LOCAL: &str = "repo/.switchrail/config.local.toml";
const ANSWERS: &str = "state/switchrail/mcp-servers.json";

fn home() -> Home {
    Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// What the commands say, one after the other.
fn said(home: &Home, commands: &[&[&str]]) -> String {
    let one = |args: &&[&str]| {
        let said = home.rail(&[&["mcp"], *args].concat(), "");
        let code =
            said.code.filter(|code| *code != 0).map(|code| format!("exit {code}\n")).unwrap_or_default();
        format!("$ rail mcp {}\n{}{}{code}", args.join(" "), said.out, said.err)
    };
    commands.iter().map(one).collect::<Vec<_>>().join("")
}

#[test]
fn a_server_is_added_for_this_project_by_default() {
    let home = home();
    insta::assert_snapshot!(said(&home, &[
        &["list"],
        &["add", "files", "--", "npx", "-y", "server-files", "a b"],
        &["add", "docs", "https://docs.example.com/mcp", "-H", "Authorization: Bearer s3cret"],
        &["add", "old", "-t", "sse", "http://127.0.0.1:9/sse"],
        &["add", "git", "-e", "TOKEN=s3cret", "-e", "OTHER=${OTHER}", "/bin/true"],
        &["list"],
        &["get", "git"],
        &["get", "docs"],
    ]), @"
    $ rail mcp list
    there are no MCP servers; add one with `rail mcp add NAME -- COMMAND` or `rail mcp add NAME URL`
    $ rail mcp add files -- npx -y server-files a b
    added `files` in /repo/.switchrail/config.local.toml: npx -y server-files 'a b'
    $ rail mcp add docs https://docs.example.com/mcp -H Authorization: Bearer s3cret
    added `docs` in /repo/.switchrail/config.local.toml: https://docs.example.com/mcp
    $ rail mcp add old -t sse http://127.0.0.1:9/sse
    added `old` in /repo/.switchrail/config.local.toml: http://127.0.0.1:9/sse
    $ rail mcp add git -e TOKEN=s3cret -e OTHER=${OTHER} /bin/true
    added `git` in /repo/.switchrail/config.local.toml: /bin/true
    rail: `git` is not used yet: the variable `OTHER` is not set; export it, or write `${OTHER:-default}`
    $ rail mcp list
    name   scope  transport  state   what
    docs   local  http       used    https://docs.example.com/mcp
    files  local  stdio      used    npx -y server-files 'a b'
    git    local  stdio      broken  /bin/true
    old    local  sse        used    http://127.0.0.1:9/sse

    Not used:
    git (local): the variable `OTHER` is not set; export it, or write `${OTHER:-default}`
    $ rail mcp get git
    git
      scope      local
      file       /repo/.switchrail/config.local.toml:13
      transport  stdio
      command    /bin/true
      env        OTHER=${OTHER}
      env        TOKEN=***
      approval   not needed
      state      broken: the variable `OTHER` is not set; export it, or write `${OTHER:-default}`
    $ rail mcp get docs
    docs
      scope      local
      file       /repo/.switchrail/config.local.toml:5
      transport  http
      url        https://docs.example.com/mcp
      header     Authorization: ***
      approval   not needed
      state      used
    ");
    insta::assert_snapshot!(home.read(LOCAL), @r#"
    [mcp.servers.files]
    command = "npx"
    args = ["-y", "server-files", "a b"]

    [mcp.servers.docs]
    url = "https://docs.example.com/mcp"
    headers = { Authorization = "Bearer s3cret" }

    [mcp.servers.old]
    type = "sse"
    url = "http://127.0.0.1:9/sse"

    [mcp.servers.git]
    command = "/bin/true"
    env = { OTHER = "${OTHER}", TOKEN = "s3cret" }
    "#);
    assert!(is_private(&home.path(LOCAL)) && is_private(&home.path(ANSWERS)));
    assert_eq!(home.read("repo/.switchrail/.gitignore"), "config.local.toml\n");
    // Nothing that needs trust was brought by anybody else.
    assert_eq!(home.rail(&["config", "check"], "").err.matches("trusted").count(), 0);
    assert!(!home.rail(&["mcp", "list", "--json"], "").out.contains("s3cret"));
}

#[test]
fn a_server_of_the_user_keeps_the_file_as_it_is() {
    let home = home();
    home.write(CONFIG, "# mine\n[tui] # look\ntheme = \"dark\"\n");
    insta::assert_snapshot!(said(&home, &[
        &["add", "-s", "user", "-e", "K=v", "x", "--", "/bin/true", "--flag"],
        &["add", "-s", "user", "x", "--", "/bin/false"],
        &["add", "-s", "user", "--force", "x", "--", "/bin/false"],
        &["add-json", "-s", "user", "y", r#"{"type": "http", "url": "https://h/mcp", "headers": {"A": "b"}, "autoApprove": ["*"]}"#],
        &["get", "y", "--json"],
    ]), @r#"
    $ rail mcp add -s user -e K=v x -- /bin/true --flag
    added `x` in /config/switchrail/config.toml: /bin/true --flag
    $ rail mcp add -s user x -- /bin/false
    rail: /config/switchrail/config.toml has a server `x` already; `rail mcp get x` shows it, and `--force` replaces it
    exit 1
    $ rail mcp add -s user --force x -- /bin/false
    replaced `x` in /config/switchrail/config.toml: /bin/false
    $ rail mcp add-json -s user y {"type": "http", "url": "https://h/mcp", "headers": {"A": "b"}, "autoApprove": ["*"]}
    added `y` in /config/switchrail/config.toml: https://h/mcp
    rail: warning: `autoApprove` does nothing here
    $ rail mcp get y --json
    [
      {
        "name": "y",
        "scope": "user",
        "transport": "http",
        "approval": "not needed",
        "state": "used",
        "why": null,
        "origin": "user config.toml:8",
        "file": "/config/switchrail/config.toml",
        "line": 8,
        "command": null,
        "args": [],
        "env": {},
        "cwd": null,
        "url": "https://h/mcp",
        "headers": {
          "A": "***"
        },
        "login": {
          "state": "none"
        }
      }
    ]
    "#);
    insta::assert_snapshot!(home.read(CONFIG), @r#"
    # mine
    [tui] # look
    theme = "dark"

    [mcp.servers.x]
    command = "/bin/false"

    [mcp.servers.y]
    type = "http"
    url = "https://h/mcp"
    headers = { A = "b" }
    "#);
    assert!(is_private(&home.path(CONFIG)));
    insta::assert_snapshot!(said(&home, &[&["remove", "x"], &["remove", "y"], &["remove", "y"]]), @"
    $ rail mcp remove x
    removed `x` from /config/switchrail/config.toml
    $ rail mcp remove y
    removed `y` from /config/switchrail/config.toml
    $ rail mcp remove y
    rail: there is no MCP server `y`; see `rail mcp list`
    exit 1
    ");
    assert_eq!(home.read(CONFIG), "# mine\n[tui] # look\ntheme = \"dark\"\n");
}

#[test]
fn a_list_of_the_project_is_changed_as_it_was_found() {
    let home = home();
    home.write(LIST, "{\n    // ours\n    \"mcpServers\": {\n        \"a\": {\"command\": \"/bin/true\"}, // first\n        \"b\": {\"command\": \"/bin/true\"}\n    },\n    \"other\": 1\n}\n");
    fs::set_permissions(home.path(LIST), fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(said(&home, &[
        &["add", "-s", "project", "c", "-e", "TOKEN=s3cret", "-e", "K=${K}", "--", "/bin/true", "x"],
        &["remove", "a"],
        &["add", "-s", "project", "--force", "b", "https://h/mcp"],
    ]), @"
    $ rail mcp add -s project c -e TOKEN=s3cret -e K=${K} -- /bin/true x
    added `c` in /repo/.mcp.json: /bin/true x
    rail: warning: the value of `TOKEN` stands in a file that is meant for git; write `${TOKEN}` there, and set the variable
    rail: `c` is not used yet: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    $ rail mcp remove a
    removed `a` from /repo/.mcp.json
    $ rail mcp add -s project --force b https://h/mcp
    replaced `b` in /repo/.mcp.json: https://h/mcp
    rail: `b` is not used yet: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    ");
    insta::assert_snapshot!(home.read(LIST), @r#"
    {
        // ours
        "mcpServers": {
            // first
            "b": {
                "type": "http",
                "url": "https://h/mcp"
            },
            "c": {
                "type": "stdio",
                "command": "/bin/true",
                "args": [
                    "x"
                ],
                "env": {
                    "K": "${K}",
                    "TOKEN": "s3cret"
                }
            }
        },
        "other": 1
    }
    "#);
    let mode = fs::metadata(home.path(LIST)).unwrap().permissions().mode();
    assert_eq!(mode & 0o044, 0o044);
    insta::assert_snapshot!(said(&home, &[&["remove", "b", "-s", "project"], &["remove", "c"]]), @"
    $ rail mcp remove b -s project
    removed `b` from /repo/.mcp.json
    $ rail mcp remove c
    removed `c` from /repo/.mcp.json
    ");
    insta::assert_snapshot!(home.read(LIST), @r#"
    {
        // ours
        "mcpServers": {
            // first
        },
        "other": 1
    }
    "#);
}

#[test]
fn what_a_project_brings_waits_for_trust_and_approval() {
    let home = home();
    home.write(LIST, r#"{"mcpServers": {"a": {"command": "/bin/true", "args": ["one"]}, "b": {"command": "/bin/true"}, "c": {"command": "x", "args": 5}}}"#);
    home.write("repo/.mcprc", r#"{"d": {"url": "https://h/mcp?key=s3cret"}}"#);
    insta::assert_snapshot!(said(&home, &[&["approve", "a"], &["list"]]), @"
    $ rail mcp approve a
    approved `a` (/repo/.mcp.json:1): /bin/true one
    rail: `a` is not used yet: its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    $ rail mcp list
    name  scope    transport  state      what
    a     project  stdio      untrusted  /bin/true one
    b     project  stdio      untrusted  /bin/true
    c     project             untrusted
    d     mcprc    http       untrusted  https://h/mcp?…

    Not used:
    a (project): its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    b (project): its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    c (project): its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    d (mcprc): its folder is not trusted; read what it brings, and trust it with `rail config trust /repo`
    ");
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    insta::assert_snapshot!(said(&home, &[&["list"], &["reject", "b"], &["approve", "--all"], &["approve", "--all"], &["list"]]), @"
    $ rail mcp list
    name  scope    transport  state    what
    a     project  stdio      used     /bin/true one
    b     project  stdio      pending  /bin/true
    c     project             broken
    d     mcprc    http       pending  https://h/mcp?…

    Not used:
    b (project): it waits for your approval; look at it with `rail mcp get b`, and let it be used with `rail mcp approve b`
    c (project): `args` is no list of texts; correct it
    d (mcprc): it waits for your approval; look at it with `rail mcp get d`, and let it be used with `rail mcp approve d`
    $ rail mcp reject b
    rejected `b` (/repo/.mcp.json:1); it is not used, whatever it comes to say
    $ rail mcp approve --all
    approved `d` (/repo/.mcprc:1): https://h/mcp?…
    $ rail mcp approve --all
    no MCP server waits for approval
    $ rail mcp list
    name  scope    transport  state     what
    a     project  stdio      used      /bin/true one
    b     project  stdio      rejected  /bin/true
    c     project             broken
    d     mcprc    http       used      https://h/mcp?…

    Not used:
    b (project): you rejected it; `rail mcp approve b` lets it be used
    c (project): `args` is no list of texts; correct it
    ");
    assert!(is_private(&home.path(ANSWERS)));
    // Another command under the same name is another server.
    let text = home.read(LIST).replace("one", "two");
    home.write(LIST, &text);
    insta::assert_snapshot!(said(&home, &[&["get", "a"], &["get", "a", "--json"]]), @r#"
    $ rail mcp get a
    a
      scope      project
      file       /repo/.mcp.json:1
      transport  stdio
      command    /bin/true two
      approval   pending
      state      pending: it waits for your approval; look at it with `rail mcp get a`, and let it be used with `rail mcp approve a`
    $ rail mcp get a --json
    [
      {
        "name": "a",
        "scope": "project",
        "transport": "stdio",
        "approval": "pending",
        "state": "pending",
        "why": "it waits for your approval; look at it with `rail mcp get a`, and let it be used with `rail mcp approve a`",
        "origin": "project .mcp.json:1",
        "file": "/repo/.mcp.json",
        "line": 1,
        "command": "/bin/true",
        "args": [
          "two"
        ],
        "env": {},
        "cwd": null,
        "url": null,
        "headers": {}
      }
    ]
    "#);
    insta::assert_snapshot!(said(&home, &[&["approve", "nobody"], &["approve", "aa"], &["approve"], &["approve", "c"]]), @"
    $ rail mcp approve nobody
    rail: there is no MCP server `nobody`; see `rail mcp list`
    exit 1
    $ rail mcp approve aa
    rail: there is no MCP server `aa`; did you mean `a`?
    exit 1
    $ rail mcp approve
    error: the following required arguments were not provided:
      <NAME>...

    Usage: rail mcp approve <NAME>...

    For more information, try '--help'.
    exit 2
    $ rail mcp approve c
    rail: `c` can't be understood and not be approved; see `rail mcp get c`
    exit 1
    ");
}

#[test]
fn the_same_name_in_several_places_is_asked_about() {
    let home = home();
    said(&home, &[&["add", "x", "--", "/bin/true"], &["add", "-s", "user", "x", "--", "/bin/false"]]);
    insta::assert_snapshot!(said(&home, &[
        &["list"],
        &["remove", "x"],
        &["remove", "x", "-s", "project"],
        &["remove", "x", "-s", "local"],
        &["remove", "x"],
        &["approve", "x"],
    ]), @"
    $ rail mcp list
    name  scope  transport  state     what
    x     local  stdio      used      /bin/true
    x     user   stdio      shadowed  /bin/false

    Not used:
    x (user): a stronger one of the same name is used, of /repo/.switchrail/config.local.toml:1:14
    $ rail mcp remove x
    rail: `x` stands in several places: local (/repo/.switchrail/config.local.toml:1), user (/config/switchrail/config.toml:1); say which is meant with `-s`
    exit 2
    $ rail mcp remove x -s project
    rail: `x` does not stand there, but here: local (/repo/.switchrail/config.local.toml:1), user (/config/switchrail/config.toml:1); say where with `-s`
    exit 1
    $ rail mcp remove x -s local
    removed `x` from /repo/.switchrail/config.local.toml
    $ rail mcp remove x
    removed `x` from /config/switchrail/config.toml
    $ rail mcp approve x
    rail: there is no MCP server `x`; see `rail mcp list`
    exit 1
    ");
}

#[test]
fn wrong_words_are_told() {
    let home = home();
    insta::assert_snapshot!(said(&home, &[
        &["add", "x"],
        &["add", "a/b", "--", "c"],
        &["add", "a__b", "--", "c"],
        &["add", "x", "https://h", "--", "c"],
        &["add", "x", "-e", "NOVALUE", "--", "c"],
        &["add", "x", "-e", "K=v", "https://h"],
        &["add", "x", "-H", "nothing", "https://h"],
        &["add", "x", "-H", "A: b", "--", "c"],
        &["add", "x", "-t", "http", "not a url"],
        &["add", "x", "-t", "stdio", "https://h"],
        &["add-json", "x", "{"],
        &["add-json", "x", r#"{"args": []}"#],
        &["get", "x"],
        &["remove", "x"],
    ]), @r#"
    $ rail mcp add x
    rail: say what is started or asked: `rail mcp add x -- COMMAND` or `rail mcp add x URL`
    exit 2
    $ rail mcp add a/b -- c
    rail: `a/b`: a server's name is no path; take a name of letters, digits, `-` and `_`
    exit 2
    $ rail mcp add a__b -- c
    rail: `a__b`: tools are called `mcp__SERVER__TOOL`, so that a name can't begin or end with `_` or another sign, or hold two of them in a row; take a name of letters, digits, `-` and `_`
    exit 2
    $ rail mcp add x https://h -- c
    rail: a URL and a command do not go together; say one of them
    exit 2
    $ rail mcp add x -e NOVALUE -- c
    rail: `--env` names no variable; write it as `-e NAME=VALUE`
    exit 2
    $ rail mcp add x -e K=v https://h
    rail: `--env` is for a command, and this is a URL; `-H "NAME: VALUE"` sends a header
    exit 2
    $ rail mcp add x -H nothing https://h
    rail: `--header` has no `:`; write it as `-H "Name: value"`
    exit 2
    $ rail mcp add x -H A: b -- c
    rail: `--header` is for a URL, and this is a command; `-e NAME=VALUE` gives it a variable
    exit 2
    $ rail mcp add x -t http not a url
    rail: the server `x`: `url`: an address holds no blanks; write it as `https://host/path`
    exit 2
    $ rail mcp add x -t stdio https://h
    rail: the server `x`: `stdio` needs a `command`; write one, or take `http` for the `url`
    exit 2
    $ rail mcp add-json x {
    rail: the server `x`: this is no JSON: a key in double quotes, or `}`, is missing here
    exit 2
    $ rail mcp add-json x {"args": []}
    rail: the server `x`: it has neither a `command` nor a `url`; write the one that it is reached by
    exit 2
    $ rail mcp get x
    rail: there is no MCP server `x`; see `rail mcp list`
    exit 1
    $ rail mcp remove x
    rail: there is no MCP server `x`; see `rail mcp list`
    exit 1
    "#);
    assert!(!home.path(LOCAL).exists());
}

#[test]
fn headless_runs_tell_once_what_waits_and_go_on() {
    let home = home();
    home.write(LIST, r#"{"mcpServers": {"a": {"command": "/bin/true"}, "b b": {"command": "/bin/true"}}}"#);
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    let said = home.rail(&["-p", "/mcp"], "");
    insta::assert_snapshot!(said.whole(), @"
    exit 0
    === stdout
    name  scope    transport  state    what
    a     project  stdio      pending  /bin/true
    b b   project  stdio      pending  /bin/true

    Not used:
    a (project): it waits for your approval; look at it with `rail mcp get a`, and let it be used with `rail mcp approve a`
    b b (project): it waits for your approval; look at it with `rail mcp get 'b b'`, and let it be used with `rail mcp approve 'b b'`
    === stderr
    rail: warning: the MCP servers `a`, `b b` that this project brings are left out until you approve them; look at them with `rail mcp list`, and let them be used with `rail mcp approve a 'b b'`
    ");
    let strict = home.rail(
        &[
            "-p",
            "/mcp",
            "--strict-mcp-config",
            "--mcp-config",
            r#"{"mcpServers": {"given": {"command": "/bin/true"}, "calc": {"type": "sdk"}}}"#,
        ],
        "",
    );
    insta::assert_snapshot!(strict.whole(), @"
    exit 0
    === stdout
    name   scope         transport  state  what
    given  --mcp-config  stdio      used   /bin/true
    === stderr
    ");
    let wrong = home.rail(&["-p", "/mcp", "--mcp-config", "{\"servers\": {}}"], "");
    insta::assert_snapshot!(wrong.whole(), @r#"
    exit 2
    === stdout
    === stderr
    rail: --mcp-config: there is no `mcpServers`; write the servers as `{"mcpServers": {"NAME": {…}}}`
    "#);
    let missing = home.rail(&["-p", "/mcp", "--mcp-config", "none.json"], "");
    insta::assert_snapshot!(missing.whole(), @"
    exit 2
    === stdout
    === stderr
    rail: --mcp-config: /repo/none.json can't be read: No such file or directory (os error 2); name a file that is there, or write JSON
    ");
}

#[test]
fn the_doctor_looks_at_servers_and_starts_none() {
    let home = home();
    home.write(
        CONFIG,
        "[mcp.servers]\ngood.command = \"sh\"\ngone.command = \"no-such-program\"\npath.command = \"./none\"\nfar.url = \"https://h/mcp?key=s3cret\"\n",
    );
    home.write(LIST, r#"{"mcpServers": {"brought": {"command": "/bin/true"}}}"#);
    let said = home.rail(&["doctor", "--offline"], "");
    let lines: Vec<&str> = said.out.lines().skip_while(|line| !line.contains("MCP")).take(9).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    warn MCP brought    its folder is not trusted
                        fix: read what it brings, and trust it with `rail config trust /repo`
    ok   MCP far        https://h/mcp?…
    FAIL MCP gone       `no-such-program` is not on the PATH
                        fix: install it, or write its whole path where the server is configured
    ok   MCP good       /usr/bin/sh
    FAIL MCP path       ./none is no program
                        fix: correct its path where the server is configured
    ");
    assert!(!said.out.contains("s3cret"));
}

/// A server that answers what it is asked, in a few lines of Python.
const SERVER: &str = r#"
import json, sys
has = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}, "resources": {}}, "serverInfo": {"name": "small", "version": "1"}},
    "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "write")]},
    "prompts/list": {"prompts": [{"name": "hello"}]},
    "resources/list": {"resources": [{"uri": "note:1", "name": "one"}]},
    "resources/templates/list": {"resourceTemplates": []},
}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": has.get(asked["method"], {})}), flush=True)
"#;

/// How long something took is another time each run.
fn timeless(text: &str) -> String {
    let words = text.split_inclusive(' ').collect::<Vec<_>>();
    let is_time = |at: usize| {
        words
            .get(at + 1)
            .is_some_and(|next| next.trim_end().trim_end_matches(':') == "ms" || next.starts_with("ms"))
    };
    let word = |(at, word): (usize, &&str)| {
        let is_number = word.trim().parse::<u64>().is_ok();
        if is_number && is_time(at) { "N ".to_owned() } else { (*word).to_owned() }
    };
    words.iter().enumerate().map(word).collect()
}

#[test]
fn a_server_is_tested_by_starting_it() {
    let home = home();
    home.write("repo/small.py", SERVER).write("repo/dies.sh", "echo 'no database' >&2; exit 3\n");
    home.write(
        CONFIG,
        "[mcp.servers.small]\ncommand = \"python3\"\nargs = [\"small.py\"]\ndisabled_tools = [\"wr*\"]\n\
         [mcp.servers.dies]\ncommand = \"sh\"\nargs = [\"dies.sh\"]\n[mcp.servers.gone]\ncommand = \"no-such-program\"\n\
         [mcp.servers.off]\ncommand = \"sh\"\nenabled = false\n",
    );
    home.write(LIST, r#"{"mcpServers": {"brought": {"command": "touch", "args": ["started"]}}}"#);
    let told =
        timeless(&said(&home, &[&["test", "small"], &["test"], &["test", "off"], &["test", "brought"]]));
    let ready =
        "small: ready in N ms (small 1)\n  tools (1): read\n  prompts (1): hello\n  resources (1): note:1\n";
    assert!(told.contains(ready), "{told}");
    for part in [
        "dies: failed after N ms",
        "  it said last:\n    no database\n",
        "gone: failed after N ms",
        "exit 1\n",
        "`off` is not used",
        "its folder is not trusted",
    ] {
        assert!(told.contains(part), "{part}\n{told}");
    }
    // Neither trust nor approval was given.
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    said(&home, &[&["test"], &["test", "brought"]]);
    assert!(!home.path("repo/started").exists());
    said(&home, &[&["approve", "brought"], &["test", "brought"]]);
    assert!(home.path("repo/started").exists());
}

#[test]
fn a_server_that_is_not_reached_names_its_own_setting() {
    let home = home();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.write(CONFIG, &format!("[mcp.servers.far]\nurl = \"http://{nobody}/mcp\"\n"));
    let told = said(&home, &[&["test", "far"]]);
    assert!(told.contains("and is `mcp.servers.far.url` right?") && !told.contains("providers."), "{told}");
}
