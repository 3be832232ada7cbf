use std::path::{Path, PathBuf};

use rail_permit::{Answer, Answered, Facet, Grant, Verdict};

use crate::setup::{Call, Links, with};

/// The grant of a call; a question is answered with yes.
fn grant_in(world: &Links, policy: &[&str], call: &str) -> Grant {
    match Call::new(call).judge(&with(policy), world) {
        Verdict::Allow(grant) => grant,
        Verdict::Ask(question) => match question.answer(Answer::Once) {
            Answered::Granted(grant, None) => grant,
            other => panic!("granted once, not {other:?}"),
        },
        Verdict::Deny(denial) => panic!("`{call}` is not denied: {}", denial.say),
    }
}

fn grant(policy: &[&str], call: &str) -> Grant {
    grant_in(&Links::default(), policy, call)
}

#[test]
fn a_folder_is_granted_without_what_is_kept_back() {
    let reads = |policy: &[&str], path: &str| grant(policy, "grep-in /srv/ws").reads(Path::new(path));
    for (policy, path, expected) in [
        (&[][..], "/srv/ws/src/a.rs", true),
        (&[], "/srv/ws", true),
        (&[], "/srv/wsx", false),
        (&[], "/etc/hosts", false),
        (&[], "/srv/added/a", false),
        (&[], "/srv/ws/.env", false),
        (&[], "/srv/ws/a/.ENV", false),
        (&[], "/srv/ws/.env.example", true),
        (&[], "/srv/ws/certs/x.pem", false),
        (&[], "/srv/ws/.ssh/x", false),
        (&["allow Read(.env)"], "/srv/ws/.env", true),
        (&["allow Read"], "/srv/ws/.env", false),
        (&["allow Read(**)"], "/srv/ws/.env", false),
        (&["mode bypass"], "/srv/ws/.env", true),
        (&["deny Read(src/**)"], "/srv/ws/src/a.rs", false),
        (&["deny Read(src/**)", "mode bypass"], "/srv/ws/src/a.rs", false),
        (&["deny Read(secret)"], "/srv/ws/secret/a", false),
        (&["ask Read(src/**)"], "/srv/ws/src/a.rs", false),
        (&["ask Read(src/**)", "mode bypass"], "/srv/ws/src/a.rs", true),
        (&["deny Edit(src/**)"], "/srv/ws/src/a.rs", true),
    ] {
        assert_eq!(reads(policy, path), expected, "{policy:?} {path}");
    }
}

#[test]
fn a_file_is_granted_as_it_really_is() {
    let world = Links::new(&[("/srv/ws/link", "/srv/other/x")]);
    let read = grant_in(&world, &[], "read /srv/ws/link");
    assert_eq!(read.facets(), [Facet::Read("/srv/other/x".into())]);
    assert!(read.reads("/srv/other/x".as_ref()) && !read.reads("/srv/ws/link".as_ref()));
    assert!(!read.writes("/srv/other/x".as_ref()));

    let write = grant_in(&world, &[], "write /srv/ws/src/../link");
    assert!(write.writes("/srv/other/x".as_ref()) && write.reads("/srv/other/x".as_ref()));
    assert!(!write.writes("/srv/other/x/y".as_ref()) && !write.writes("/srv/other".as_ref()));
    assert!(!write.reads("/srv/other/x/y".as_ref()));

    // A secret that the user said yes to is that file, and no other.
    let secret = grant(&[], "read /srv/ws/.env");
    assert!(secret.reads("/srv/ws/.env".as_ref()) && !secret.reads("/srv/ws/a/.env".as_ref()));
}

#[test]
fn a_command_writes_where_it_may() {
    let writable = |policy: &[&str], call: &str| grant(policy, call).writable();
    let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(writable(&[], "cargo test"), paths(&["/srv/ws", "/srv/added", "/srv/tmp"]));
    assert_eq!(writable(&[], "echo x > a"), paths(&["/srv/ws", "/srv/added", "/srv/tmp"]));
    assert_eq!(
        writable(&[], "echo x > /srv/other/a"),
        paths(&["/srv/ws", "/srv/added", "/srv/tmp", "/srv/other/a"])
    );
    assert_eq!(writable(&["mode plan"], "ls"), paths(&["/srv/tmp"]));
}

#[test]
fn a_command_does_not_see_what_is_kept_back() {
    let hidden =
        grant(&["deny Read(private/**)", "deny Read(~/diary)", "deny Read(*.bak)"], "cargo test").hidden();
    for (path, expected) in [
        ("/srv/ws/.env", true),
        ("/srv/ws/src/a.rs", false),
        ("/srv/ws/private", true),
        ("/srv/ws/private/x", true),
        ("/srv/u/diary", true),
        ("/srv/u/.ssh", true),
        ("/srv/u/.ssh/id_rsa", true),
        ("/srv/u/.ssh/known_hosts", false),
        ("/srv/u/.aws/credentials", true),
        ("/srv/ws/x.bak", true),
        ("/etc/shadow", true),
        ("/etc/passwd", false),
    ] {
        assert_eq!(hidden.hides(Path::new(path)), expected, "{path}");
    }
    for path in ["/srv/ws/private", "/srv/u/diary", "/etc/shadow"] {
        assert!(hidden.paths.contains(&path.into()), "{path} in {:?}", hidden.paths);
    }
    for name in [".env", "*.pem", "**/.ssh/**", "**/*.bak"] {
        assert!(hidden.names.iter().any(|known| known == name), "{name} in {:?}", hidden.names);
    }
    for path in
        ["/srv/u/.ssh", "/srv/u/.aws/credentials", "/srv/u/.netrc", "/srv/u/.config/gcloud", "/etc/sudoers.d"]
    {
        let path = Path::new(path);
        assert!(
            hidden.paths.iter().any(|known| known == path) && hidden.hides(path),
            "{path:?} in {:?}",
            hidden.paths
        );
    }
    assert!(!hidden.paths.iter().any(|path| path.starts_with("/proc") || path == Path::new("/srv/u")));
    // A folder with something granted in it is there, without the rest.
    for hidden in [
        grant(&[], "cat /srv/u/.ssh/id_rsa").hidden(),
        grant(&["allow Read(~/.ssh/id_rsa)"], "cargo test").hidden(),
    ] {
        let hides = |path: &str| hidden.hides(Path::new(path));
        assert!(!hides("/srv/u/.ssh") && !hides("/srv/u/.ssh/id_rsa") && hides("/srv/u/.ssh/id_ed25519"));
    }
    // What the user said yes to is there, and what a rule names.
    assert!(!grant(&[], "cat .env").hidden().hides("/srv/ws/.env".as_ref()));
    assert!(grant(&[], "cat .env").hidden().hides("/srv/ws/a/.env".as_ref()));
    assert!(!grant(&["allow Read(.env)"], "cargo test").hidden().hides("/srv/ws/.env".as_ref()));
    let bypass = grant(&["mode bypass", "deny Read(private/**)"], "cargo test").hidden();
    assert!(bypass.hides("/srv/ws/private/x".as_ref()) && !bypass.hides("/srv/ws/.env".as_ref()));
}

#[test]
fn the_network_is_off_unless_allowed() {
    assert!(!grant(&["allow Bash"], "cargo test").network());
    assert!(grant(&[], "curl https://docs.rs").network());
    assert!(grant(&["allow Bash(curl:*)"], "curl https://docs.rs").network());
    assert!(grant(&["allow WebFetch"], "cargo test").network());
    assert!(grant(&["allow WebFetch(domain:*)"], "cargo test").network());
    assert!(!grant(&["allow WebFetch(domain:docs.rs)"], "cargo test").network());
    assert!(grant(&["mode bypass"], "cargo test").network());
}

#[test]
fn what_git_and_rail_trust_stays_read_only_for_commands() {
    const ALL: &[&str] = &[
        "/srv/ws/.git/hooks",
        "/srv/ws/.git/config",
        "/srv/ws/.git/config.worktree",
        "/srv/added/.git/hooks",
        "/srv/added/.git/config",
        "/srv/added/.git/config.worktree",
    ];
    const HOOKS: &[&str] = &[ALL[0], ALL[3]];
    for (call, expected) in [
        ("npm test", ALL),
        ("git checkout -b x origin/main", HOOKS),
        ("git status && git push -u origin x | tail -1", HOOKS),
        ("git push && npm test", ALL),
        ("GIT_SSH_COMMAND=./x git fetch", ALL),
        ("git -c core.pager=./x log", ALL),
        ("git rebase --exec ./x main", ALL),
        ("chmod -R u+w .", ALL),
        ("echo x > .git/hooks/pre-commit", &[ALL[1], ALL[2], ALL[3], ALL[4], ALL[5]]),
        ("rm -r .git", &[ALL[3], ALL[4], ALL[5]]),
    ] {
        let kept = grant(&[], call).kept().all();
        let of_git: Vec<&Path> =
            kept.iter().map(PathBuf::as_path).filter(|path| path.iter().any(|name| name == ".git")).collect();
        assert_eq!(of_git, expected.iter().map(Path::new).collect::<Vec<_>>(), "{call}");
        assert!(kept.contains(&"/srv/ws/.switchrail".into()), "our own is kept: {call}");
    }
}

#[test]
fn what_others_run_stays_read_only_for_commands() {
    let kept =
        |call: &str, name: &str| grant(&[], call).kept().all().contains(&Path::new("/srv/ws").join(name));
    for name in [".mcp.json", ".envrc", ".claude/settings.json", ".vscode/tasks.json", ".bashrc", ".husky"] {
        assert!(kept("npm test", name), "{name}");
        assert!(!kept("git checkout main", name), "a checkout brings {name}");
        assert!(!kept(&format!("echo x > {name}"), name), "the user said yes to {name}");
    }
    assert!(!kept("npm test", "package.json") && kept("git checkout main", ".switchrail"));
    let nested = grant(&[], "npm test").kept().in_project(Path::new("/srv/ws/inner"));
    assert!(
        nested.contains(&"/srv/ws/inner/.git/hooks".into())
            && nested.contains(&"/srv/ws/inner/.mcp.json".into())
    );
}
