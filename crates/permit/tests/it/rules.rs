use proptest::prelude::*;
use rail_permit::Decision::{Allow, Ask, Deny};
use rail_permit::Rule;

use crate::setup::{check, native, rule};

#[test]
fn a_rule_is_given_back_as_written() {
    for text in [
        "Bash",
        "Bash(git commit:*)",
        "Bash(npm run *)",
        "run_shell_command(ls -la)",
        "Edit(src/**)",
        "Edit(app/(group)/[id]/page.tsx)",
        "Read(~/.zshrc)",
        "Read(//etc/hosts)",
        "WebFetch(domain:docs.rs)",
        "Skill(pdf)",
        "Skill(git-*)",
        "mcp__github",
        "mcp__github__*",
    ] {
        assert_eq!(rule(text).to_string(), text);
    }
    assert_eq!(rule(" Bash( ls ) ").to_string(), "Bash( ls )");
}

#[test]
fn wrong_rules_say_what_to_write() {
    let wrong: Vec<String> = [
        "",
        "()",
        "Bash(",
        "Bash)",
        "Bash()",
        "Bash(:*)",
        "Bash(* --version)",
        "Bash(a && b)",
        "Bash(ls > x)",
        "Bash(echo 'x)",
        "Bsh(ls)",
        "Nothing like it",
        "Quux",
        "*",
        "Edit*",
        "mcp__",
        "mcp__a(x)",
        "Skill(../x)",
        "Skill(a b)",
        "Skill()",
        "Task(x)",
        "Edit(!x)",
        "Edit(../x)",
        "Edit(~bob/x)",
        "WebFetch(docs.rs)",
        "WebFetch(domain:https://docs.rs/x)",
    ]
    .iter()
    .map(|text| Rule::parse(text, "a test", &native).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(wrong.join("\n"));
}

#[test]
fn patterns_of_paths() {
    check(&[
        // From the workspace.
        (&["allow Edit(src/**)"], "write /srv/ws/src/a/b.rs", Allow),
        (&["allow Edit(/src/**)"], "write /srv/ws/src/a/b.rs", Allow),
        (&["allow Edit(./src/**)"], "write /srv/ws/src/a/b.rs", Allow),
        (&["allow Edit(src/**)"], "write /srv/ws/lib/src/a.rs", Ask),
        (&["allow Edit(src/**)"], "write /srv/added/src/a.rs", Ask),
        (&["allow Edit(src)"], "write /srv/ws/src/a/b.rs", Allow),
        (&["allow Edit(src/)"], "write /srv/ws/src/a/b.rs", Allow),
        (&["allow Edit(/a.rs)"], "write /srv/ws/a.rs", Allow),
        (&["allow Edit(/a.rs)"], "write /srv/ws/src/a.rs", Ask),
        // At any depth.
        (&["allow Edit(a.rs)"], "write /srv/ws/src/a.rs", Allow),
        (&["allow Edit(*.rs)"], "write /srv/ws/src/x/a.rs", Allow),
        (&["allow Edit(**/*.rs)"], "write /srv/ws/a.rs", Allow),
        (&["allow Edit(*.rs)"], "write /srv/other/a.rs", Ask),
        (&["deny Edit(*.rs)"], "write /srv/other/a.rs", Deny),
        // One level: what allows does not reach below, what forbids does.
        (&["allow Edit(src/*)"], "write /srv/ws/src/a.rs", Allow),
        (&["allow Edit(src/*)"], "write /srv/ws/src/x/a.rs", Ask),
        (&["deny Edit(src/*)"], "write /srv/ws/src/x/a.rs", Deny),
        (&["allow Edit(**)"], "write /srv/ws/src/x/a.rs", Allow),
        (&["allow Edit(*)"], "write /srv/ws/src/x/a.rs", Allow),
        (&["allow Edit(/**)"], "write /srv/added/a.rs", Ask),
        // From the root and from home.
        (&["allow Read(//etc/hosts)"], "read /etc/hosts", Allow),
        (&["allow Read(/etc/hosts)"], "read /etc/hosts", Ask),
        (&["allow Read(~/notes/**)"], "read /srv/u/notes/a", Allow),
        (&["allow Read(~/notes/**)"], "read /srv/u/other", Ask),
        (&["deny Read(//**)"], "read /srv/ws/a", Deny),
        // Names with brackets.
        (&["allow Edit(app/[id]/**)"], "write /srv/ws/app/[id]/page.tsx", Allow),
        (&[r"allow Edit(app/\[id\]/**)"], "write /srv/ws/app/[id]/page.tsx", Allow),
        (&[r"allow Edit(app/\[id\]/**)"], "write /srv/ws/app/i/page.tsx", Ask),
    ]);
}

#[test]
fn which_calls_a_rule_holds_for() {
    check(&[
        (&["allow Write(src/**)"], "write /srv/ws/src/a", Allow),
        (&["allow MultiEdit(src/**)"], "write /srv/ws/src/a", Allow),
        (&["allow replace(src/**)"], "write /srv/ws/src/a", Allow),
        (&["allow Edit"], "write /etc/motd", Allow),
        (&["deny Write"], "write /srv/ws/a", Deny),
        (&["allow Read"], "read /etc/hosts", Allow),
        (&["allow Read"], "write /srv/ws/a", Ask),
        (&["allow Read(//etc/**)"], "grep-in /etc", Allow),
        (&["deny Read(src/**)"], "grep-in /srv/ws/src/x", Deny),
        (&["deny Read(src/**)"], "write /srv/ws/src/x", Deny),
        (&["deny Edit(src/**)"], "read /srv/ws/src/x", Allow),
        (&["allow Edit(//etc/motd)"], "read /etc/motd", Allow),
        (&["deny Read"], "read /srv/ws/a", Deny),
        (&["deny Read"], "cat a", Deny),
        // A rule of another tool holds for that tool alone.
        (&["allow Grep(//etc/**)"], "grep-in /etc", Allow),
        (&["allow Grep(//etc/**)"], "read /etc/hosts", Ask),
        (&["allow Grep"], "grep-in /etc", Allow),
        (&["deny Grep"], "grep-in /srv/ws", Deny),
        (&["deny Grep"], "read /srv/ws/a", Allow),
        (&["ask Grep"], "grep-in /srv/ws", Ask),
        (&["deny Task"], "none task", Deny),
        (&["ask Task"], "none task", Ask),
        // Hosts.
        (&["allow WebFetch(domain:docs.rs)"], "host docs.rs", Allow),
        (&["allow WebFetch(domain:docs.rs)"], "host DOCS.rs.", Allow),
        (&["allow WebFetch(domain:docs.rs)"], "host a.docs.rs", Ask),
        (&["allow WebFetch(domain:*.docs.rs)"], "host a.docs.rs", Allow),
        (&["allow WebFetch"], "host evil.example", Allow),
        (&["deny WebFetch(domain:docs.rs)", "allow WebFetch"], "host docs.rs", Deny),
        (&["ask WebFetch(domain:docs.rs)", "allow WebFetch"], "host docs.rs", Ask),
        // Tools of servers.
        (&["allow Skill(pdf)"], "skill pdf", Allow),
        (&["allow Skill(pdf)"], "skill pdf2", Ask),
        (&["allow Skill(pdf)"], "skill PDF", Ask),
        (&["allow Skill(p*)"], "skill pdf", Allow),
        (&["allow Skill(*)"], "skill pdf", Allow),
        (&["allow Skill"], "skill pdf", Allow),
        (&["allow activate_skill(pdf)"], "skill pdf", Allow),
        (&["allow Skill", "ask Skill(pdf)"], "skill pdf", Ask),
        (&["allow Skill", "deny Skill(p*)"], "skill pdf", Deny),
        (&["deny Skill(*)"], "skill pdf", Deny),
        (&["deny Skill"], "skill pdf", Deny),
        (&["mode bypass", "deny Skill(pdf)"], "skill pdf", Deny),
        (&["mode bypass"], "skill pdf", Allow),
        (&["allow mcp__github__search"], "mcp mcp__github__search", Allow),
        (&["allow mcp__github__search"], "mcp mcp__github__search2", Ask),
        (&["allow mcp__github__*"], "mcp mcp__github__search", Allow),
        (&["allow mcp__github"], "mcp mcp__github__search", Allow),
        (&["allow mcp__github"], "mcp mcp__github2__search", Ask),
        (&["allow mcp__git*"], "mcp mcp__github__search", Allow),
        (&["deny mcp__github__delete_*", "allow mcp__github"], "mcp mcp__github__delete_repo", Deny),
        (&["ask mcp__github__delete_*", "allow mcp__github"], "mcp mcp__github__delete_repo", Ask),
    ]);
}

#[test]
fn deny_beats_ask_beats_allow() {
    for call in ["write /srv/ws/src/a", "read /srv/ws/src/a", "cargo test", "host docs.rs", "mcp mcp__a__b"] {
        let rules =
            ["Edit(src/**)", "Read(src/**)", "Bash(cargo test:*)", "WebFetch(domain:docs.rs)", "mcp__a__b"];
        let list = |list: &str| rules.map(|rule| format!("{list} {rule}"));
        let (allow, ask, deny) = (list("allow"), list("ask"), list("deny"));
        let all =
            |lists: &[&[String; 5]]| -> Vec<String> { lists.iter().flat_map(|list| list.to_vec()).collect() };
        for (lines, expected) in [
            (all(&[&allow]), Allow),
            (all(&[&ask, &allow]), Ask),
            (all(&[&allow, &ask]), Ask),
            (all(&[&allow, &ask, &deny]), Deny),
            (all(&[&deny, &allow]), Deny),
        ] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check(&[(&lines, call, expected)]);
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_refused(text in r"(Bash|Edit|Read|WebFetch|mcp__a|[a-z]{0,4})(\(.{0,20}\)?)?") {
        if let Ok(rule) = Rule::parse(&text, "a test", &native) {
            prop_assert_eq!(rule.to_string(), text.trim());
        }
    }
}
