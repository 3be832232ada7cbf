use rail_permit::Decision::{Allow, AlwaysAsk, Ask, Deny};
use rail_permit::{Contained, User, bypass_refused};

use crate::setup::check;

#[test]
fn levels_by_default() {
    check(&[
        (&[], "read /srv/ws/a", Allow),
        (&[], "read /srv/ws", Allow),
        (&[], "read /srv/added/a", Allow),
        (&[], "read /srv/other/a", Ask),
        (&[], "read /srv/wsx/a", Ask),
        (&[], "read /srv/tmp/a", Ask),
        (&[], "write /srv/ws/a", Ask),
        (&[], "write /srv/other/a", Ask),
        (&[], "cargo test", Ask),
        (&[], "host docs.rs", Ask),
        (&[], "mcp mcp__a__b", Ask),
        (&[], "mcp-reads mcp__a__b", Ask),
        (&[], "skill pdf", Ask),
        (&[], "none todo_write", Allow),
        (&[], "network web_search", Ask),
        (&[], "execute computer_use", Ask),
        (&["allow WebSearch"], "network web_search", Allow),
    ]);
}

#[test]
fn accept_edits() {
    check(&[
        (&["mode accept-edits"], "write /srv/ws/a", Allow),
        (&["mode accept-edits"], "write /srv/added/a", Allow),
        (&["mode accept-edits"], "write /srv/other/a", Ask),
        (&["mode accept-edits"], "write /srv/ws/.git/hooks/pre-commit", AlwaysAsk),
        (&["mode accept-edits"], "write /srv/ws/.envrc", AlwaysAsk),
        (&["mode accept-edits"], "write /srv/u/state/x", AlwaysAsk),
        (&["mode accept-edits"], "write /srv/ws/.env", Ask),
        (&["mode accept-edits", "ask Edit(src/**)"], "write /srv/ws/src/a", Ask),
        (&["mode accept-edits", "deny Edit(src/**)"], "write /srv/ws/src/a", Deny),
        (&["mode accept-edits"], "cargo test", Ask),
        (&["mode accept-edits"], "echo x > a", Allow),
        (&["mode accept-edits"], "echo x > ../a", Ask),
        (&["mode accept-edits"], "host docs.rs", Ask),
    ]);
}

#[test]
fn plan_only_reads() {
    check(&[
        (&["mode plan"], "read /srv/ws/a", Allow),
        (&["mode plan"], "read /srv/other/a", Ask),
        (&["mode plan"], "read /srv/ws/.env", Ask),
        (&["mode plan"], "write /srv/ws/a", Deny),
        (&["mode plan", "allow Edit"], "write /srv/ws/a", Deny),
        (&["mode plan"], "cargo test", Deny),
        (&["mode plan", "allow Bash"], "cargo test", Deny),
        (&["mode plan"], "cat a | grep x", Allow),
        (&["mode plan"], "cat a > b", Deny),
        (&["mode plan"], "cat a > $X", Deny),
        (&["mode plan"], "cat a 2> /dev/null", Allow),
        (&["mode plan"], "cd src && ls", Allow),
        (&["mode plan"], "cat 'a", Deny),
        (&["mode plan"], "host docs.rs", Ask),
        (&["mode plan", "allow WebFetch"], "host docs.rs", Allow),
        (&["mode plan"], "mcp mcp__a__b", Deny),
        (&["mode plan"], "mcp-reads mcp__a__b", Ask),
        (&["mode plan"], "skill pdf", Ask),
        (&["mode plan"], "none todo_write", Allow),
        (&["mode plan"], "execute computer_use", Deny),
    ]);
}

#[test]
fn bypass_asks_nothing_but_keeps_denials() {
    check(&[
        (&["mode bypass"], "write /etc/passwd", Allow),
        (&["mode bypass"], "write /srv/ws/.git/hooks/pre-commit", Allow),
        (&["mode bypass"], "read /srv/ws/.env", Allow),
        (&["mode bypass"], "cargo test", Allow),
        (&["mode bypass"], "git push --force", Allow),
        (&["mode bypass"], "rm $X", Allow),
        (&["mode bypass"], "PATH=/x ls", Allow),
        (&["mode bypass"], "host docs.rs", Allow),
        (&["mode bypass"], "mcp mcp__a__b", Allow),
        (&["mode bypass", "ask Bash", "ask Edit", "ask Read"], "cat a > b", Allow),
        (&["mode bypass"], "rm -rf /", Deny),
        (&["mode bypass"], "rm -rf /srv/u", Deny),
        (&["mode bypass", "allow Bash"], "ls && rm -rf /", Deny),
        (&["mode bypass", "deny Read(x)"], "read /srv/ws/x", Deny),
        (&["mode bypass", "deny Read(x)"], "cat x", Deny),
        (&["mode bypass", "deny Edit(x)"], "echo > x", Deny),
        (&["mode bypass", "deny Bash(curl:*)"], "ls; /usr/bin/curl y", Deny),
        (&["mode bypass", "deny WebFetch(domain:a.b)"], "host a.b", Deny),
        (&["mode bypass", "deny WebFetch(domain:a.b)"], "curl https://a.b/x", Deny),
        (&["mode bypass", "deny mcp__a"], "mcp mcp__a__b", Deny),
        // What can't be read could be anything.
        (&["mode bypass"], "ls 'x", AlwaysAsk),
    ]);
}

#[test]
fn bypass_as_root_needs_a_wall() {
    let refused = bypass_refused(User::Root, Contained::No).unwrap();
    assert!(refused.contains("as root") && refused.contains("container"), "{refused}");
    for (user, contained) in
        [(User::Root, Contained::Yes), (User::Other, Contained::No), (User::Other, Contained::Yes)]
    {
        assert_eq!(bypass_refused(user, contained), None);
    }
}
