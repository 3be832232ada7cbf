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
    ]), @"");
    insta::assert_snapshot!(home.read(LOCAL), @"");
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
    ]), @"");
    insta::assert_snapshot!(home.read(CONFIG), @"");
    assert!(is_private(&home.path(CONFIG)));
    insta::assert_snapshot!(said(&home, &[&["remove", "x"], &["remove", "y"], &["remove", "y"]]), @"");
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
    ]), @"");
    insta::assert_snapshot!(home.read(LIST), @"");
    let mode = fs::metadata(home.path(LIST)).unwrap().permissions().mode();
    assert_eq!(mode & 0o044, 0o044);
    insta::assert_snapshot!(said(&home, &[&["remove", "b", "-s", "project"], &["remove", "c"]]), @"");
    insta::assert_snapshot!(home.read(LIST), @"");
}

#[test]
fn what_a_project_brings_waits_for_trust_and_approval() {
    let home = home();
    home.write(LIST, r#"{"mcpServers": {"a": {"command": "/bin/true", "args": ["one"]}, "b": {"command": "/bin/true"}, "c": {"command": "x", "args": 5}}}"#);
    home.write("repo/.mcprc", r#"{"d": {"url": "https://h/mcp?key=s3cret"}}"#);
    insta::assert_snapshot!(said(&home, &[&["approve", "a"], &["list"]]), @"");
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    insta::assert_snapshot!(said(&home, &[&["list"], &["reject", "b"], &["approve", "--all"], &["approve", "--all"], &["list"]]), @"");
    assert!(is_private(&home.path(ANSWERS)));
    // Another command under the same name is another server.
    let text = home.read(LIST).replace("one", "two");
    home.write(LIST, &text);
    insta::assert_snapshot!(said(&home, &[&["get", "a"], &["get", "a", "--json"]]), @"");
    insta::assert_snapshot!(said(&home, &[&["approve", "nobody"], &["approve", "aa"], &["approve"], &["approve", "c"]]), @"");
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
    ]), @"");
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
    ]), @"");
    assert!(!home.path(LOCAL).exists());
}

#[test]
fn headless_runs_tell_once_what_waits_and_go_on() {
    let home = home();
    home.write(LIST, r#"{"mcpServers": {"a": {"command": "/bin/true"}, "b b": {"command": "/bin/true"}}}"#);
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    let said = home.rail(&["-p", "/mcp"], "");
    insta::assert_snapshot!(said.whole(), @"");
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
    insta::assert_snapshot!(strict.whole(), @"");
    let wrong = home.rail(&["-p", "/mcp", "--mcp-config", "{\"servers\": {}}"], "");
    insta::assert_snapshot!(wrong.whole(), @"");
    let missing = home.rail(&["-p", "/mcp", "--mcp-config", "none.json"], "");
    insta::assert_snapshot!(missing.whole(), @"");
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
    insta::assert_snapshot!(lines.join("\n"), @"");
    assert!(!said.out.contains("s3cret"));
}
