//! The first use of a folder that brings things of its own.

use serde_json::json;

use crate::scratch::Home;

const TRUST: &str = "state/switchrail/trust.json";

/// A folder with two things that could run something.
fn home() -> Home {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("repo/.switchrail/config.toml", "[[hooks.Stop]]\nhooks = [{ command = \"c\" }]\n")
        .write("repo/.mcp.json", r#"{"mcpServers": {"x": {"command": "x"}}}"#)
        .write("repo/note.txt", "hello\n");
    home
}

/// A call that asks nothing itself.
const CALL: [&str; 5] = ["tool", "run", "Read", "--input", r#"{"file_path": "note.txt"}"#];

fn at_a_terminal(home: &Home, keys: &str) -> (Option<i32>, String) {
    let input = json!({"file_path": "note.txt"}).to_string();
    let command = format!("'{}' tool run Read --input '{input}'", env!("CARGO_BIN_EXE_rail"));
    let (code, shown) = home.script(&command, keys);
    (code, shown.replace('\r', ""))
}

#[test]
fn without_a_terminal_it_is_told_what_is_ignored() {
    let home = home();
    let said = home.rail(&CALL, "");
    insta::assert_snapshot!(said.err, @r"
    rail: /repo is not trusted, so that what its files say here is ignored; they want to:
      /repo/.mcp.json:1:1: mcpServers: start commands, and offer their tools to the model
      /repo/.switchrail/config.toml:1:3: hooks: run commands at certain moments of a session
    Read them, and trust the folder with `rail config trust /repo` if they may.
    ");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!home.path(TRUST).exists());
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    assert_eq!(home.rail(&CALL, "").err, "");
}

#[test]
fn the_agent_is_told_too_what_is_ignored() {
    let said = home().rail(&["-p", "hello"], "");
    assert!(said.err.starts_with("rail: /repo is not trusted"), "{said:?}");
}

#[test]
fn a_folder_that_brings_nothing_is_not_asked_about() {
    let home = Home::new();
    home.write("repo/note.txt", "hello\n").write("repo/.switchrail/config.toml", "[router]\n");
    home.write("repo/.claude/settings.json", r#"{"model": "x"}"#);
    assert_eq!(home.rail(&CALL, "").err, "");
}

#[test]
fn a_yes_is_asked_for_once_and_kept() {
    let home = home();
    let (code, shown) = at_a_terminal(&home, "perhaps\ny\n");
    let (question, rest) = shown.split_once("\n> ").unwrap();
    insta::assert_snapshot!(question, @r"
    /repo is new here, and brings files that could act for you. They want to:
      /repo/.mcp.json:1:1: mcpServers: start commands, and offer their tools to the model
      /repo/.switchrail/config.toml:1:3: hooks: run commands at certain moments of a session
    If you trust the folder, what its files say counts in full, also when they change. If not, the agent works without them.
    Do you trust it? (y/n)
    ");
    assert!(
        rest.contains("Do you trust it?") && rest.contains("rail: trusted;") && rest.contains("hello"),
        "{rest}"
    );
    assert_eq!(code, Some(0));
    assert_eq!(home.read(TRUST), "[\n  \"/repo\"\n]\n");
    let (code, shown) = at_a_terminal(&home, "");
    assert!(code == Some(0) && !shown.contains("trust"), "{shown}");
}

#[test]
fn a_no_is_kept_as_well_and_can_be_taken_back() {
    let home = home();
    let (code, shown) = at_a_terminal(&home, "n\n");
    assert!(code == Some(0) && shown.contains("not trusted, and not asked again"), "{shown}");
    let (_, shown) = at_a_terminal(&home, "");
    assert!(!shown.contains("trust"), "{shown}");
    assert_eq!(home.rail(&CALL, "").err, "");
    assert!(!home.rail(&["config", "show"], "").out.contains("hooks"));
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    assert!(home.rail(&["config", "show"], "").out.contains("hooks"));
}

#[test]
fn a_closed_terminal_is_no_answer() {
    let home = home();
    let (code, shown) = at_a_terminal(&home, "\u{4}");
    assert!(code == Some(0) && shown.contains("not trusted this time"), "{shown}");
    assert!(!home.path(TRUST).exists());
    let (code, _) = at_a_terminal(&home, "\u{3}");
    assert_eq!(code, Some(130));
}

#[test]
fn without_a_home_it_is_told_and_nothing_is_kept() {
    let home = home().with("HOME", "").with("XDG_STATE_HOME", "");
    let said = home.rail(&CALL, "");
    assert!(said.code == Some(0) && said.err.contains("is not trusted"), "{said:?}");
}
