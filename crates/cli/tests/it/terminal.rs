//! What servers and files say can't change the terminal.

use crate::scratch::{CONFIG, Home, answering};

#[test]
fn control_characters_of_others_are_shown_by_their_numbers() {
    let peer = answering(401, r#"{"error": {"message": "no\u001b[2J \u0007key"}}"#);
    let home = Home::new().naming("SERVER", &peer);
    home.write(
        CONFIG,
        &format!(
            "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nkey = \"k\"\n\n[router]\ndefault = \"a,m\"\n\n\
             [aliases]\n\"x\\u001b[31m\" = \"a,m\"\n",
            peer.url("/v1")
        ),
    );
    let body = r#"{"model": "x\u001b[31m", "messages": [{"role": "user", "content": "hi"}]}"#;
    insta::assert_snapshot!(home.rail(&["route", "explain"], body).whole(), @r"
    exit 0
    === stdout
    asked for  x\u{1b}[31m
    taken for  a target
    why        `x\u{1b}[31m` is an alias ([aliases], user config.toml:10)
    facts      5 tokens, 0 images, 0 tools, thinking unsaid
    attempts   1. a,m  what was asked for
    === stderr
    ");
    insta::assert_snapshot!(home.rail(&["provider", "test"], "").whole(), @r"
    exit 1
    === stdout
    failed  a,m: no\u{1b}[2J \u{7}key
            check the key of `a`: it is missing or wrong
    === stderr
    rail: 1 of 1 failed
    ");
    for args in [&["provider", "list"][..], &["config", "show"], &["config", "check"]] {
        let said = home.rail(args, "").whole();
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn a_choice_that_cannot_be_kept_says_where() {
    let home = Home::new();
    home.write(CONFIG, "[providers.ollama]\n[router]\ndefault = \"ollama,m\"\n");
    home.write("state/switchrail/active.json/in-its-place", "");
    insta::assert_snapshot!(home.rail(&["provider", "use", "ollama"], "").whole(), @r"
    exit 1
    === stdout
    === stderr
    rail: /state/switchrail/active.json can't be written: Is a directory (os error 21); make it yours, or move away what is in its place
    ");
}
