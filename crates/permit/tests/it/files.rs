use rail_permit::Decision::{Allow, AlwaysAsk, Ask, Deny};
use rail_permit::Verdict;

use crate::setup::{Call, Links, check, check_in, with};

#[test]
fn secrets_ask_even_for_reading() {
    check(&[
        (&[], "read /srv/ws/.env", Ask),
        (&[], "read /srv/ws/.env.production", Ask),
        (&[], "read /srv/ws/.env.example", Allow),
        (&[], "read /srv/ws/certs/server.pem", Ask),
        (&[], "read /srv/u/.ssh/id_ed25519", Ask),
        (&[], "cat .env", Ask),
        (&[], "cat ./src/../.env", Ask),
        (&["allow Read"], "read /srv/ws/.env", Ask),
        (&["allow Read(**)"], "read /srv/ws/.env", Ask),
        (&["allow Read(*)"], "read /srv/ws/.env", Ask),
        (&["allow Read(.*)"], "read /srv/ws/.env", Ask),
        (&["allow Read(//**)"], "read /srv/u/.ssh/id_rsa", Ask),
        (&["allow Read(~/**)"], "read /srv/u/.ssh/id_rsa", Ask),
        (&["allow Edit"], "write /srv/ws/.env", Ask),
        (&["allow Bash"], "cat .env", Ask),
        (&["allow Bash(cat:*)"], "cat .env", Ask),
        (&["allow Bash(cat .env)"], "cat .env", Ask),
        (&["allow Bash(mytool:*)"], "mytool .env", Ask),
        (&["allow Bash(mytool:*)"], "mytool --file=.env", Ask),
        // One that names them does allow them.
        (&["allow Read(.env)"], "read /srv/ws/.env", Allow),
        (&["allow Read(.env)"], "read /srv/ws/a/.env", Allow),
        (&["allow Read(.env)"], "cat .env", Allow),
        (&["allow Read(.env)"], "read /srv/other/.env", Ask),
        (&["allow Read(.env*)"], "read /srv/ws/.env", Allow),
        (&["allow Read(**/*.pem)"], "read /srv/ws/certs/server.pem", Allow),
        (&["allow Read(~/.ssh/id_rsa)"], "read /srv/u/.ssh/id_rsa", Allow),
        (&["allow Read(~/.ssh/**)"], "read /srv/u/.ssh/id_rsa", Allow),
        (&["allow Read(.env)"], "write /srv/ws/.env", Ask),
        (&["allow Edit(.env)"], "write /srv/ws/.env", Allow),
        (&["allow Read(.env)", "deny Read(.env)"], "read /srv/ws/.env", Deny),
        (&["allow Read(.env)", "ask Read(.env)"], "read /srv/ws/.env", Ask),
    ]);
}

#[test]
fn guarded_places_always_ask() {
    for path in [
        "/srv/ws/.git/hooks/pre-commit",
        "/srv/ws/.git/config",
        "/srv/ws/.git",
        "/srv/ws/sub/.git/index",
        "/srv/u/.bashrc",
        "/srv/u/.zshenv",
        "/srv/u/.ssh/authorized_keys",
        "/srv/ws/.switchrail/config.toml",
        "/srv/ws/.mcp.json",
        "/srv/ws/.vscode/tasks.json",
        "/srv/ws/.vscode/settings.json",
        "/srv/ws/.envrc",
        "/srv/u/.gitconfig",
        "/srv/ws/.npmrc",
        "/srv/ws/.yarnrc.yml",
        "/srv/ws/pip.conf",
        "/srv/ws/.cargo/config.toml",
        "/srv/u/state/rules",
        "/srv/ws",
        "/srv",
        "/",
        "/srv/u",
    ] {
        let call = format!("write {path}");
        check(&[
            (&[], &call, AlwaysAsk),
            (&["mode accept-edits", "allow Edit", "allow Edit(//**)"], &call, AlwaysAsk),
            (&["mode plan"], &call, Deny),
        ]);
    }
    check(&[(&[], "read /srv/ws/.git/config", Allow), (&[], "write /srv/ws/.github/x.yml", Ask)]);
}

#[test]
fn a_link_is_what_it_leads_to() {
    let world = Links::new(&[
        ("/srv/ws/out", "/etc"),
        ("/srv/ws/link.txt", "/srv/other/x"),
        ("/srv/ws/env.txt", ".env"),
        ("/srv/ws/.env.local", "plain.txt"),
        ("/srv/ws/hook", ".git/hooks/pre-commit"),
        ("/srv/ws/a", "b"),
        ("/srv/ws/b", "/etc/shadow"),
        ("/srv/ws/docs", "/srv/other/docs"),
        ("/srv/in", "/srv/ws/src"),
        ("/srv/ws/loop", "loop"),
    ]);
    check_in(
        &world,
        &[
            (&[], "read /srv/ws/out/hosts", Ask),
            (&[], "read /srv/ws/link.txt", Ask),
            (&[], "cat link.txt", Ask),
            (&[], "read /srv/ws/env.txt", Ask),
            (&["allow Read(env.txt)"], "read /srv/ws/env.txt", Ask),
            (&[], "read /srv/ws/.env.local", Ask),
            (&["mode accept-edits"], "write /srv/ws/link.txt", Ask),
            (&["mode accept-edits"], "write /srv/ws/hook", AlwaysAsk),
            (&["mode accept-edits"], "echo x > hook", AlwaysAsk),
            (&[], "read /srv/ws/a", Ask),
            // An allow rule is about what the file really is: a link put in the way does not widen it.
            (&["allow Edit(docs/**)"], "write /srv/ws/docs/x", Ask),
            (&["allow Edit(//srv/other/**)"], "write /srv/ws/docs/x", Allow),
            (&[], "read /srv/in/x", Allow),
            // A deny rule holds for both, and for what its own path leads to.
            (&["deny Read(out/**)"], "read /srv/ws/out/hosts", Deny),
            (&["deny Read(//etc/**)"], "read /srv/ws/out/hosts", Deny),
            (&["deny Read(out/**)"], "read /etc/hosts", Deny),
            (&["deny Read(link.txt)"], "read /srv/ws/sub/../link.txt", Deny),
            (&["deny Read(docs/**)"], "read /srv/ws/sub/../docs/x", Deny),
            (&["deny Read(src/**)"], "read /srv/in/x", Deny),
            (&["deny Read(src/**)"], "read /srv/in/../src/x", Deny),
            (&[], "read /srv/ws/loop", Allow),
        ],
    );
}

#[test]
fn dots_are_taken_from_the_real_folder() {
    let world = Links::new(&[("/srv/ws/far", "/srv/other/deep"), ("/srv/other/link", "/srv/third/x")]);
    check_in(
        &world,
        &[
            (&[], "read /srv/ws/../ws/a", Allow),
            (&[], "read /srv/ws/../other/a", Ask),
            (&[], "read /srv/ws/src/../../other/a", Ask),
            // From the text this would be in the workspace.
            (&[], "read /srv/ws/far/../a", Ask),
            (&["deny Read(//srv/other/a)"], "read /srv/ws/far/../a", Deny),
            (&["deny Read(//srv/other/l*)"], "read /srv/ws/far/../link", Deny),
            (&["allow Edit(src/**)"], "write /srv/ws/src/../lib/a", Ask),
            (&["allow Edit(src/**)"], "write /srv/ws/lib/../src/a", Allow),
            (&["mode accept-edits"], "write /srv/ws/src/../.git/config", AlwaysAsk),
        ],
    );
}

#[test]
fn ways_through_processes_ask() {
    check(&[
        (&["allow Read"], "read /proc/1/root/etc/x", AlwaysAsk),
        (&["allow Read(//**)"], "read /proc/self/cwd/x", AlwaysAsk),
        (&["allow Read"], "read /proc/self/task/1/root/x", AlwaysAsk),
        (&["allow Read"], "read /dev/fd/3", AlwaysAsk),
        (&["allow Read"], "read /dev/stdin", AlwaysAsk),
        (&["allow Read"], "read /proc/self/environ", Ask),
        (&["allow Read"], "read /proc/cpuinfo", Allow),
        (&["deny Read(//etc/**)", "mode bypass"], "cat /proc/self/root/etc/hosts", Deny),
        (&["deny Read(x)", "mode bypass"], "cat /proc/self/cwd/x", Deny),
        (&[], "cat /proc/self/cwd/x", AlwaysAsk),
        (&[], "read /dev/null", Allow),
        (&[], "echo x > /dev/stderr", Allow),
        (&["allow Edit"], "echo x > /dev/fd/5", AlwaysAsk),
    ]);
    // Where the system can tell, it is the file that it leads to.
    let world = Links::new(&[("/proc/self", "7"), ("/proc/7/root", "/"), ("/proc/7/cwd", "/srv/ws")]);
    check_in(
        &world,
        &[
            (&[], "read /proc/self/root/etc/shadow", Ask),
            (&["deny Read(//etc/**)"], "read /proc/self/root/etc/shadow", Deny),
            (&[], "read /proc/self/cwd/a", Allow),
            (&[], "read /proc/self/cwd/.env", Ask),
        ],
    );
}

#[cfg(unix)]
#[test]
fn names_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rail_permit::{Asked, Facet, Level, judge};

    let judged = |policy: &[&str], bytes: &[u8]| {
        let facets = [Facet::Write(Path::new(OsStr::from_bytes(bytes)).to_owned())];
        judge(
            &with(policy),
            &Asked { tool: "edit_file", level: Level::Write, facets: &facets },
            &Links::default(),
        )
    };
    let Verdict::Ask(question) = judged(&[], b"/srv/ws/\xff\xfe/x") else { panic!("it asks") };
    // The folder can't be spelled in a rule; the whole workspace can.
    let offers: Vec<_> = question.offers.iter().map(|offer| offer.rules[0].text.as_str()).collect();
    assert_eq!(offers, ["Edit(/**)"]);
    assert!(matches!(judged(&["allow Edit(**)"], b"/srv/ws/\xff/x"), Verdict::Allow(_)));
    assert!(matches!(judged(&["deny Edit(*.key)"], b"/srv/ws/\xff.key"), Verdict::Deny(_)));
    assert!(matches!(judged(&["deny Edit(\u{fffd}.x)"], b"/srv/ws/\xff.x"), Verdict::Ask(_)));
}

#[test]
fn a_path_that_is_not_absolute_is_taken_from_the_workspace() {
    check(&[(&[], "read a", Allow), (&[], "read ../a", Ask)]);
    let Verdict::Allow(grant) = Call::new("read a").judge(&with(&[]), &Links::default()) else {
        panic!("allowed")
    };
    assert!(grant.reads("/srv/ws/a".as_ref()));
}
