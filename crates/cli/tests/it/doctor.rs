//! `rail doctor` as a user runs it: real sockets, real folders, and places where nothing is as it should be.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rail_model::{ApiError, ErrorKind, ProtocolId};
use rail_testkit::{Models, Postgres, Turn, refused_addr, text};
use serde_json::Value;

use crate::scratch::{CONFIG, ENV, Home, Said, server};

const CHAT: ProtocolId = ProtocolId::new("openai-chat");
const KEY: &str = "sk-0123456789abcdef0123456789abcdef";

/// The lines of a group, without figures of this run.
fn group(said: &Said, title: &str) -> String {
    let groups = said.out.split("\n\n").map(|group| group.strip_prefix('\n').unwrap_or(group));
    let found = groups.into_iter().find(|group| group.lines().next() == Some(title));
    let found = found.unwrap_or_else(|| panic!("no {title} in {}", said.whole()));
    let lines = found.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let is_time = |at: usize| words.get(at + 1).is_some_and(|next| next.starts_with("ms"));
        let words = words.iter().enumerate().map(|(at, word)| if is_time(at) { "N" } else { word });
        words.collect::<Vec<_>>().join(" ")
    });
    without_ports(&lines.collect::<Vec<_>>().join("\n"))
}

fn without_ports(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("127.0.0.1:") {
        out += &format!("{before}127.0.0.1:PORT");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

fn provider(name: &str, base_url: &str) -> String {
    format!(
        "[providers.{name}]\nprotocol = \"openai-chat\"\nbase_url = \"{base_url}\"\nkey = \"{KEY}\"\nretry = {{ tries = 0 }}\n"
    )
}

/// A home with four providers, clients that only tell their versions, and nothing else of this machine on the PATH.
struct World {
    _models: Vec<Models>,
    home: Home,
}

fn world() -> World {
    let good = Models::start(vec![Turn::reply(vec![text("OK")]).repeat()]).unwrap();
    let refused = ApiError::new(ErrorKind::Authentication, format!("no such key: {KEY}"));
    let locked = Models::start(vec![Turn::error(refused).repeat()]).unwrap();
    let config = [
        provider("good", &good.base_url(CHAT)),
        provider("locked", &locked.base_url(CHAT)),
        provider("nowhere", &format!("http://{}/v1", refused_addr().unwrap())),
        "[providers.unset]\nprotocol = \"openai-chat\"\nbase_url = \"https://unset.test/v1\"\nkey = \"env:UNSET\"\n".to_owned(),
        "[router]\ndefault = \"good,one;locked,m;nowhere,m;unset,m\"\n".to_owned(),
    ];
    let home = Home::new();
    let home = with_programs(home);
    home.write(CONFIG, &config.concat());
    World { _models: vec![good, locked], home }
}

/// The same with clients of our own on the PATH: one that works, one that is led elsewhere, one that is broken.
fn with_programs(home: Home) -> Home {
    let programs = [
        ("claude", "echo; echo '9.8.7 (Claude Code)'"),
        ("codex", "echo 'no such thing' >&2; exit 3"),
        ("gemini", "test $# = 1 && echo 1.2.3"),
        ("git", "echo git version 2.0"),
    ];
    for (name, script) in programs {
        home.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(home.path(&format!("bin/{name}")), PermissionsExt::from_mode(0o755)).unwrap();
    }
    home.write(
        "user/.claude/settings.json",
        r#"{"env": {"ANTHROPIC_BASE_URL": "https://u:p@other.test/x"}}"#,
    );
    home.write("user/.gemini/settings.json", r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#);
    let path = home.path("bin");
    home.with("PATH", path.to_str().unwrap())
}

#[test]
fn providers_are_asked_and_no_key_is_shown() {
    let World { home, _models } = world();
    let said = home.rail(&["doctor"], "");
    insta::assert_snapshot!(group(&said, "Providers"), @r"
    Providers
      ok   good           http://127.0.0.1:PORT/v1, key set; answers: one in N ms
      FAIL locked         m: no such key: ***
                          fix: check the key of `locked`: it is missing or wrong
      FAIL nowhere        m: 127.0.0.1:PORT refuses connections
                          fix: is the server running, and is `providers.nowhere.base_url` right?
      FAIL unset          `env:UNSET` is not set
                          fix: export it or run `rail init`
      skip local servers  none answers on this machine
                          fix: start one, such as Ollama, LM Studio or llama.cpp, to use its models
    ");
    insta::assert_snapshot!(group(&said, "Configuration"), @r"
    Configuration
      ok   files          /config/switchrail/config.toml (user)
      ok   settings       valid: 4 providers, 1 chain
      skip trust          this folder brings nothing of its own that needs it
    ");
    insta::assert_snapshot!(group(&said, "Clients"), @r"
    Clients
      warn claude         9.8.7 (Claude Code), /bin/claude
                          by itself it goes elsewhere: ~/.claude/settings.json says `env.ANTHROPIC_BASE_URL`: https://***@other.test/x
                          fix: nothing, if you start it by `rail run claude`, which leads it past this; else take it out
      warn codex          /bin/codex does not run: no such thing
                          fix: install it anew: npm install -g @openai/codex
      ok   gemini         1.2.3, /bin/gemini
      skip not installed  qwen, opencode
                          fix: to use one, install it, such as by `npm install -g @qwen-code/qwen-code`
    ");
    assert_eq!(said.code, Some(1), "{}", said.whole());
    let last = said.out.lines().last().unwrap();
    assert!(last.contains(" problems, ") && !said.whole().contains(KEY), "{}", said.whole());
    assert!(!said.whole().contains("u:p@"), "{}", said.whole());
}

#[test]
fn offline_nobody_is_asked() {
    let World { home, _models: models } = world();
    let said = home.rail(&["doctor", "--offline"], "");
    insta::assert_snapshot!(group(&said, "Providers"), @r"
    Providers
      ok   good           http://127.0.0.1:PORT/v1, key set; not asked: --offline
      ok   locked         http://127.0.0.1:PORT/v1, key set; not asked: --offline
      ok   nowhere        http://127.0.0.1:PORT/v1, key set; not asked: --offline
      FAIL unset          `env:UNSET` is not set
                          fix: export it or run `rail init`
      skip local servers  not looked for: --offline
    ");
    assert!(models.iter().all(|models| models.requests().is_empty()), "{}", said.whole());
}

#[test]
fn a_server_on_this_machine_is_found() {
    let ollama = server("library", &["qwen3-coder", "gemma3"]);
    let home = Home::new().with_servers(&[("OLLAMA", &ollama)]);
    let said = home.rail(&["doctor"], "");
    let providers = group(&said, "Providers");
    assert!(providers.contains("local servers") && providers.contains("OLLAMA"), "{providers}");
    assert!(providers.contains("qwen3-coder, gemma3"), "{providers}");
    let home = Home::new();
    insta::assert_snapshot!(group(&home.rail(&["doctor"], ""), "Providers"), @r"
    Providers
      FAIL providers      no provider is configured
                          fix: run `rail init`, or set a key such as ANTHROPIC_API_KEY
      skip local servers  none answers on this machine
                          fix: start one, such as Ollama, LM Studio or llama.cpp, to use its models
    ");
}

#[test]
fn all_is_told_as_json() {
    let home = with_programs(Home::new());
    let said = home.rail(&["doctor", "--json", "--offline"], "");
    let told: Value = serde_json::from_str(&said.out).unwrap();
    let checks = told["checks"].as_array().unwrap();
    let named = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap_or(&Value::Null);
    assert_eq!(named("providers")["state"], "problem", "{told}");
    assert_eq!((&told["ok"], said.code), (&Value::Bool(false), Some(1)));
    assert_eq!(named("git")["says"], "git version 2.0, /bin/git", "{told}");
    let counts = &told["counts"];
    let sum: u64 =
        ["ok", "warning", "problem", "skipped"].iter().filter_map(|state| counts[state].as_u64()).sum();
    assert_eq!(sum, checks.len() as u64);
    for name in ["sandbox", "TLS", "shell", "browser", "state", "space", "database", "trust", "terminal"] {
        assert!(named(name)["says"].as_str().is_some_and(|says| !says.is_empty()), "{name} in {told}");
    }
}

#[test]
fn without_a_problem_it_succeeds() {
    let good = Models::start(vec![Turn::reply(vec![text("OK")]).repeat()]).unwrap();
    let home = with_programs(Home::new());
    home.write(CONFIG, &(provider("good", &good.base_url(CHAT)) + "[router]\ndefault = \"good,m\"\n"));
    fs::create_dir_all(home.path("user")).unwrap();
    let said = home.rail(&["doctor"], "");
    assert_eq!(said.code, Some(0), "{}", said.whole());
    insta::assert_snapshot!(group(&said, "Place"), @r"
    Place
      ok   home           /user
      ok   folder         /repo
      skip terminal       there is none here: nobody can be asked, and rules decide
    ");
    insta::assert_snapshot!(group(&said, "Storage").lines().filter(|line| !line.contains("space")).collect::<Vec<_>>().join("\n"), @r"
    Storage
      ok   config         /config/switchrail
      ok   state          /state/switchrail, made when it is needed
      ok   cache          /cache/switchrail, made when it is needed
      ok   private        only you can read keys, the ledger and sessions
      ok   database       SQLite, /state/switchrail/ledger.db, made when the gateway needs it
    ");
}

#[test]
fn wrong_settings_and_what_is_not_trusted_are_told() {
    let home = Home::new();
    home.write(CONFIG, "[router]\ndefault = \"a,b\"\n[tuii]\n");
    insta::assert_snapshot!(group(&home.rail(&["doctor", "--offline"], ""), "Configuration"), @r"
    Configuration
      ok   files          /config/switchrail/config.toml (user)
      FAIL settings       /config/switchrail/config.toml:3:2: tuii: there is no such key
                          fix: did you mean `tui`?
      warn settings       /config/switchrail/config.toml:2:11: router.default: no provider `a` is configured, so that its targets are skipped
                          fix: add [providers.a]
      skip trust          this folder brings nothing of its own that needs it
    ");
    home.write(CONFIG, "[router]\ndefault = \"gone,b\"\n");
    home.write("repo/.switchrail/config.toml", "[[hooks.Stop]]\nhooks = [{ command = \"c\" }]\n");
    insta::assert_snapshot!(group(&home.rail(&["doctor", "--offline"], ""), "Configuration"), @r"
    Configuration
      ok   files          /config/switchrail/config.toml (user)
                          /repo/.switchrail/config.toml (project)
      warn settings       /config/switchrail/config.toml:2:11: router.default: no provider `gone` is configured, so that its targets are skipped
                          fix: add [providers.gone]
      warn trust          /repo is not trusted, so that this is ignored:
                          /repo/.switchrail/config.toml:1:3: hooks: it may run commands at certain moments of a session
                          fix: read these files; `rail config trust` trusts the folder
    ");
    assert_eq!(home.rail(&["config", "trust"], "").code, Some(0));
    let told = group(&home.rail(&["doctor", "--offline"], ""), "Configuration");
    assert!(told.contains("you trust /repo"), "{told}");
}

#[test]
fn what_others_can_read_is_told() {
    let home = Home::new();
    home.write(ENV, "A_KEY=1\n")
        .write("state/switchrail/ledger.db", "no database at all, but long enough to be read as one\n");
    for (file, mode) in [(ENV, 0o644), ("state/switchrail/ledger.db", 0o600), ("state/switchrail", 0o777)] {
        fs::set_permissions(home.path(file), PermissionsExt::from_mode(mode)).unwrap();
    }
    let said = home.rail(&["doctor", "--offline"], "");
    let told = group(&said, "Storage");
    let told: Vec<&str> = told.lines().filter(|line| !line.contains("space")).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    Storage
      ok   config         /config/switchrail
      FAIL state          others can write in /state/switchrail
                          fix: chmod go-w /state/switchrail
      ok   cache          /cache/switchrail, made when it is needed
      warn private        others can read /config/switchrail/.env
                          fix: chmod 600 /config/switchrail/.env
      FAIL database       the ledger /state/switchrail/ledger.db can't be opened: it is no SQLite database
                          fix: move it away, and a new one is made
    ");
}

#[test]
fn odd_places_do_not_stop_it() {
    // No home at all.
    let none = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    let home = none.iter().fold(Home::new(), |home, name| home.with(name, ""));
    let said = home.rail(&["doctor", "--offline"], "");
    insta::assert_snapshot!(group(&said, "Place"), @r"
    Place
      FAIL home           `HOME` is not set, so that no file of yours is read and nothing is kept
                          fix: set `HOME` to an absolute path of a folder that is yours
      ok   folder         /repo
      skip terminal       there is none here: nobody can be asked, and rules decide
    ");
    insta::assert_snapshot!(group(&said, "Storage"), @r"
    Storage
      skip folders        there is no home, so that nothing is kept
      skip space          there is no home, so that nothing is kept
      skip database       there is no home, so that nothing is kept
    ");
    assert_eq!((said.code, said.err.as_str()), (Some(1), ""));
    // A home that nobody can write, not even root.
    let home = none.iter().skip(1).fold(Home::new(), |home, name| home.with(name, "")).with("HOME", "/proc");
    let said = home.rail(&["doctor", "--offline"], "");
    // The words differ with the user.
    let unwritten = |line: &str| match line.split_once("can't be written: ") {
        Some((before, _)) => format!("{before}can't be written: WHY"),
        None => line.to_owned(),
    };
    let told = group(&said, "Storage").lines().map(unwritten).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(told, @r"
    Storage
      FAIL config         ~/.config/switchrail can't be written: WHY
                          fix: make ~ yours and writable, or set `XDG_CONFIG_HOME` to a folder that is
      FAIL state          ~/.local/state/switchrail can't be written: WHY
                          fix: make ~ yours and writable, or set `XDG_STATE_HOME` to a folder that is
      FAIL cache          ~/.cache/switchrail can't be written: WHY
                          fix: make ~ yours and writable, or set `XDG_CACHE_HOME` to a folder that is
      ok   private        only you can read keys, the ledger and sessions
      skip space          ~ does not tell how much is free
      skip database       SQLite, ~/.local/state/switchrail/ledger.db, which can't be made, as its folder can't
    ");
    assert_eq!(said.code, Some(1), "{}", said.whole());
    // A home that is no folder, and one that is relative.
    let home = Home::new().with("HOME", "/dev/null");
    assert!(group(&home.rail(&["doctor", "--offline"], ""), "Place").contains("/dev/null is no folder"));
    let home = Home::new().with("HOME", "here");
    assert!(group(&home.rail(&["doctor", "--offline"], ""), "Place").contains("which is no absolute path"));
}

#[test]
fn a_working_folder_that_is_gone_does_not_stop_it() {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let gone = home.path("gone");
    fs::create_dir_all(&gone).unwrap();
    let rail = env!("CARGO_BIN_EXE_rail");
    let command = format!("cd '{0}' && rmdir '{0}' && '{rail}' doctor --offline", gone.display());
    let said = home.program("sh", &["-c", &command], "");
    let told = group(&said, "Place");
    assert!(said.code == Some(1) && told.contains("the working folder can't be found"), "{}", said.whole());
    assert_eq!(said.err, "");
}

#[test]
fn signs_are_shown_at_a_terminal_that_can_show_them() {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin").with("TERM", "xterm");
    let command = format!("'{}' doctor --offline; echo '\n> '", env!("CARGO_BIN_EXE_rail"));
    let (_, shown) = home.script(&command, "");
    assert!(shown.contains("FAIL providers") && shown.contains("the locale is not UTF-8"), "{shown}");
    let home = home.with("LC_ALL", "C.UTF-8");
    let (_, shown) = home.script(&command, "");
    assert!(shown.contains("✗ providers") && shown.contains("→ run `rail init`"), "{shown}");
}

#[test]
fn a_database_of_ones_own_is_asked() {
    let closed = refused_addr().unwrap();
    let home = Home::new();
    let told = |address: &str, args: &[&str]| {
        home.write(CONFIG, &format!("[gateway]\nledger = \"{address}\"\n"));
        let said = home.rail(args, "");
        assert!(!said.whole().contains("sesame"), "{}", said.whole());
        let told = group(&said, "Storage");
        let lines = told.lines().skip_while(|line| !line.contains(" database "));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(&format!("postgres://me:sesame@{closed}/x"), &["doctor"]), @r"
    FAIL database       the ledger postgres://127.0.0.1:PORT/x can't be opened: error connecting to server: Connection refused (os error 111)
                        fix: is the server running, and is its address right?
    ");
    insta::assert_snapshot!(told(&format!("postgres://me:sesame@{closed}/x"), &["doctor", "--offline"]), @"  skip database       PostgreSQL; not asked: --offline");
    insta::assert_snapshot!(told("mysql://me:sesame@h/x", &["doctor", "--offline"]), @"  skip database       not looked at, since the configuration is wrong");
    let Some(server) = Postgres::shared() else { return };
    insta::assert_snapshot!(told(&server.database().unwrap(), &["doctor"]), @"  ok   database       PostgreSQL answers");
}
