//! `rail provider list|test|use|forget`, as a user runs them, against real sockets.

use insta::assert_snapshot;
use rail_model::{ApiError, ErrorKind, ProtocolId};
use rail_testkit::{Models, Turn, refused_addr, text};
use serde_json::{Value, json};

use crate::home::Home;

const CHAT: ProtocolId = ProtocolId::new("openai-chat");
const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");
const KEY: &str = "sk-0123456789abcdef0123456789abcdef";

fn provider(name: &str, protocol: ProtocolId, base_url: &str) -> String {
    format!(
        "[providers.{name}]\nprotocol = \"{protocol}\"\nbase_url = \"{base_url}\"\nkey = \"{KEY}\"\nretry = {{ tries = 0 }}\n"
    )
}

fn ok() -> Turn {
    Turn::reply(vec![text("OK")])
}

fn refuses(kind: ErrorKind, message: &str) -> Turn {
    Turn::error(ApiError::new(kind, message))
}

/// Figures that differ from run to run.
fn without_times(said: &str) -> String {
    let words = said.split_inclusive(' ').collect::<Vec<_>>();
    let is_time = |at: usize| words.get(at + 1).is_some_and(|next| next.starts_with("ms"));
    words.iter().enumerate().map(|(at, word)| if is_time(at) { "N " } else { word }).collect()
}

/// Four providers: two that answer, one that refuses the key, one that is not there.
struct World {
    good: Models,
    _claude: Models,
    _locked: Models,
    home: Home,
}

fn world() -> World {
    let good = Models::start(vec![
        refuses(ErrorKind::InvalidRequest, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        ok().repeat(),
    ])
    .unwrap();
    let claude = Models::start(vec![ok().repeat()]).unwrap();
    let locked =
        Models::start(vec![refuses(ErrorKind::Authentication, &format!("no such key: {KEY}")).repeat()])
            .unwrap();
    let nowhere = format!("http://{}/v1", refused_addr().unwrap());
    let config = [
        provider("good", CHAT, &good.base_url(CHAT)),
        "models = [\"one\", \"two\", \"three\"]\n".to_owned(),
        provider("claude", ANTHROPIC, &claude.base_url(ANTHROPIC)),
        provider("locked", CHAT, &locked.base_url(CHAT)),
        provider("nowhere", CHAT, &nowhere),
        "[providers.unset]\nprotocol = \"openai-chat\"\nbase_url = \"https://unset.test/v1\"\nkey = \"env:UNSET\"\n".to_owned(),
        "[router]\ndefault = \"good,one;claude,c;locked,m;nowhere,m;unset,m\"\ncoding = \"claude,c;good,two\"\n".to_owned(),
        "[security]\ncoding = \"locked,m;good,one\"\n[aliases]\nflash = \"claude,c;good,one\"\n".to_owned(),
    ];
    let home = Home::with(&config.concat());
    World { good, _claude: claude, _locked: locked, home }
}

/// Output without the ports of this run.
fn said(world: &World, args: &[&str]) -> String {
    let text = world.home.said(args, "");
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("127.0.0.1:") {
        out += &format!("{before}127.0.0.1:PORT");
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    // The day may have changed since the binary wrote it.
    let days = [now(), now() - 3_600].map(rail_stdx::date);
    let out = days.iter().fold(out + rest, |text, day| text.replace(day, "DAY"));
    without_times(&out.replace("asked today", "asked DAY"))
}

#[test]
fn a_test_asks_all_and_the_list_remembers() {
    let world = world();
    assert_snapshot!(said(&world, &["provider", "list"]), @r"
    claude  anthropic  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:7
      not asked lately: c
    good  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:1
      not asked lately: one, three, two
    locked  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:12
      not asked lately: m
    nowhere  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:17
      not asked lately: m
    unset  openai-chat  https://unset.test/v1
      no key; ~/.config/switchrail/config.toml:22
      can't be used: `env:UNSET` is not set; export it or run `rail init`
      not asked lately: m
    ");
    assert_snapshot!(said(&world, &["provider", "test"]), @r"
    ok      claude,c: first content after N ms, 10 tokens in, 5 out
    ok      good,one: first content after N ms, 10 tokens in, 5 out
    ok      good,two: first content after N ms, 10 tokens in, 5 out
    failed  locked,m: no such key: ***
            check the key of `locked`: it is missing or wrong
    failed  nowhere,m: 127.0.0.1:PORT refuses connections; is the server running, and is `providers.nowhere.base_url` right?
    failed  unset: `env:UNSET` is not set; export it or run `rail init`
    rail: 3 of 6 failed
    exit 1
    ");
    assert_snapshot!(said(&world, &["provider", "list"]), @r"
    claude  anthropic  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:7
      c  circuit closed, 0 % failed, first content after N ms, asked DAY
    good  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:1
      one  circuit closed, 0 % failed, first content after N ms, asked DAY
           says `max_completion_tokens` since DAY: Unsupported parameter: 'max_tokens' is not supported with this model. …
      two  circuit closed, 0 % failed, first content after N ms, asked DAY
      not asked lately: three
    locked  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:12
      m  circuit open for 1 min more, 100 % failed, asked DAY
         last failure: no such key: ***
    nowhere  openai-chat  http://127.0.0.1:PORT/v1
      key sk-01234…; ~/.config/switchrail/config.toml:17
      m  circuit closed, 100 % failed, asked DAY
         last failure: 127.0.0.1:PORT refuses connections; is the server running, and is `pr…
    unset  openai-chat  https://unset.test/v1
      no key; ~/.config/switchrail/config.toml:22
      can't be used: `env:UNSET` is not set; export it or run `rail init`
      not asked lately: m
    ");
    let stored =
        world.home.read("state/switchrail/health.json") + &world.home.read("state/switchrail/learned.json");
    assert!(!stored.contains(KEY), "{stored}");

    // The next run knows what this one learned.
    let before = world.good.turns_taken();
    assert_eq!(world.home.rail(&["provider", "test", "GOOD"], "").status.code(), Some(0));
    assert_eq!(world.good.turns_taken() - before, 2, "each model once, and nothing is refused");

    let shown: Value = serde_json::from_str(&world.home.said(&["provider", "list", "--json"], "")).unwrap();
    let good = &shown["providers"][1];
    assert_eq!(
        (&shown["active"], &good["name"], &good["keys"]),
        (&Value::Null, &json!("good"), &json!(["sk-01234…"]))
    );
    assert_eq!(good["targets"][0]["target"], "good,one");
    assert_eq!(good["targets"][0]["health"]["circuit"], "closed");
    assert_eq!(good["targets"][0]["learned"][0]["fix"], json!({"kind": "max-completion-tokens"}));
    assert_eq!(shown["providers"][2]["targets"][0]["health"]["circuit"], "open");
    assert!(!shown.to_string().contains(KEY));

    // A plan leaves alone for a while what was found not to work.
    let shown: Value =
        serde_json::from_str(&world.home.said(&["route", "explain", "--json", "-m", "default"], "")).unwrap();
    assert_eq!(shown["attempts"][3]["target"], "locked,m");
    assert!(shown["attempts"][3]["why"].as_str().unwrap().contains("its circuit is open"), "{shown}");

    assert_snapshot!(said(&world, &["provider", "forget", "good"]), @"forgotten: good,one says `max_completion_tokens`");
    assert_snapshot!(said(&world, &["provider", "forget", "goood"]), @r"
    rail: nothing was learned of `goood`
    exit 1
    ");
    assert_snapshot!(said(&world, &["provider", "forget", "--all"]), @"nothing was learned yet");
}

#[expect(clippy::disallowed_methods, reason = "the binary reads the clock, too")]
fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn one_model_can_be_asked() {
    let world = world();
    let asked = |args: &[&str]| said(&world, &[&["provider", "test"], args].concat());
    assert_snapshot!(asked(&["--model", "claude,other"]), @"ok      claude,other: first content after N ms, 10 tokens in, 5 out");
    assert_snapshot!(asked(&["claude", "-m", "other"]), @"ok      claude,other: first content after N ms, 10 tokens in, 5 out");
    assert_snapshot!(asked(&["-m", "c"]), @"ok      claude,c: first content after N ms, 10 tokens in, 5 out");
    assert_snapshot!(asked(&["-m", "unheard-of"]), @r"
    rail: no provider is known to have `unheard-of`; write `provider,model`, or name the provider as well
    exit 2
    ");
    assert_snapshot!(asked(&["good", "-m", "claude,c"]), @r"
    rail: `claude,c` is no model of good; name one of the two
    exit 2
    ");
    assert_snapshot!(asked(&["claud"]), @r"
    rail: there is no provider `claud`; did you mean `claude`?
    exit 2
    ");
    let shown = world.home.said(&["provider", "test", "--json", "claude", "unset"], "");
    let (shown, told) = shown.split_once("rail: ").unwrap();
    let mut shown: Value = serde_json::from_str(shown).unwrap();
    shown[0]["targets"][0]["first_content_ms"] = json!("N");
    assert_snapshot!(format!("{shown:#}\n{told}"), @r#"
    [
      {
        "provider": "claude",
        "ok": true,
        "problem": null,
        "models": [
          "scripted-model"
        ],
        "list_problem": null,
        "targets": [
          {
            "target": "claude,c",
            "ok": true,
            "first_content_ms": "N",
            "tokens": {
              "input": 10,
              "output": 5
            }
          }
        ]
      },
      {
        "provider": "unset",
        "ok": false,
        "problem": "`env:UNSET` is not set; export it or run `rail init`",
        "models": null,
        "list_problem": null,
        "targets": []
      }
    ]
    1 of 2 failed
    exit 1
    "#);
}

#[test]
fn without_a_provider_it_says_what_to_do() {
    let home =
        Home::with("[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    assert_snapshot!(home.said(&["provider", "use", "p"], ""), @"`p` is the active provider, but no chain has it, so that nothing changes; name it under [router]");
    assert_snapshot!(home.said(&["provider", "forget", "p"], ""), @r"
    rail: nothing was learned of `p`
    exit 1
    ");
    assert_snapshot!(home.said(&["provider", "forget"], ""), @r"
    error: the following required arguments were not provided:
      <TARGET|--all>

    Usage: rail provider forget <TARGET|--all>

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn the_choice_moves_a_provider_to_the_front_and_can_be_taken_back() {
    let world = world();
    let config = world.home.read(".config/switchrail/config.toml");
    assert_snapshot!(said(&world, &["provider", "use", "GOOD"]), @r"
    `good` is the active provider. These begin with it:
      coding             good,two  before: claude,c
      default            good,one
      coding (security)  good,one  before: locked,m
      alias flash        good,one  before: claude,c
    ");
    assert_eq!(world.home.read("state/switchrail/active.json"), r#"{"provider":"good"}"#);
    assert_eq!(
        said(&world, &["provider", "list"])
            .lines()
            .find(|line| line.starts_with('*'))
            .unwrap()
            .split(' ')
            .nth(1),
        Some("good")
    );
    assert_snapshot!(said(&world, &["provider", "use", "claude"]), @r"
    `claude` is the active provider. These begin with it:
      coding       claude,c  before: good,two
      default      claude,c  before: good,one
      alias flash  claude,c  before: good,one
    ");
    assert_snapshot!(said(&world, &["provider", "use", "unset"]), @"`unset` is the active provider, but it can't be used: `env:UNSET` is not set; export it or run `rail init`");
    assert_snapshot!(said(&world, &["provider", "use", "clude"]), @r"
    rail: there is no provider `clude`; did you mean `claude`?
    exit 2
    ");
    assert_snapshot!(said(&world, &["provider", "use", "nobody-like-that"]), @r"
    rail: there is no provider `nobody-like-that`; there are claude, good, locked, nowhere, unset
    exit 2
    ");
    assert_eq!(world.home.read("state/switchrail/active.json"), r#"{"provider":"unset"}"#);
    assert_snapshot!(said(&world, &["provider", "use", "--none"]), @"The choice is taken back. Chains begin as they are written.");
    assert!(!world.home.path("state/switchrail/active.json").exists());
    assert_snapshot!(said(&world, &["provider", "use", "--none"]), @"The choice is taken back. Chains begin as they are written.");
    assert_eq!(
        world.home.read(".config/switchrail/config.toml"),
        config,
        "the user's files stay as they are"
    );
}

#[test]
fn backs_of_the_environment_form_are_switched_by_their_prefix() {
    let home = Home::with(
        "[providers.own]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n[router]\ndefault = \"own,m\"\n",
    );
    home.write(
        ".gemini/.env",
        "HIJACK_ENABLED=true\nHIJACK_ACTIVE_PROVIDER=HIJACK\n\
         HIJACK_PROVIDER=lmstudio\nHIJACK_ACTUAL_MODEL=qwen3-235b\nHIJACK_API_ENDPOINT=http://127.0.0.1:1234/v1\nHIJACK_API_KEY=lm-studio\n\
         BACK_ACTUAL_MODEL=gemini-2.5-pro\nBACK_API_ENDPOINT=http://127.0.0.1:2048/v1\nBACK_API_KEY=1234567890\n",
    );
    assert_snapshot!(home.said(&["provider", "use", "back"], ""), @r"
    `back` is the active provider. These begin with it:
      alias gemini-2.5-flash  back,gemini-2.5-pro  before: lmstudio,qwen3-235b
    Active Provider: BACK
    Available Providers: BACK, HIJACK
    Switch providers using: rail provider use HIJACK
    Target Model: gemini-2.5-flash
    Configured To: gemini-2.5-pro
    Endpoint: http://127.0.0.1:2048/v1
    Using API Key: 12…
    ");
    assert_snapshot!(home.said(&["provider", "list"], ""), @r"
    * back  openai-chat  http://127.0.0.1:2048/v1
        key 12…; BACK_* in ~/.gemini/.env
        not asked lately: gemini-2.5-pro
      lmstudio  openai-chat  http://127.0.0.1:1234/v1
        key lm…; HIJACK_* in ~/.gemini/.env
        not asked lately: qwen3-235b
      own  openai-chat  http://127.0.0.1:1/v1
        no key; ~/.config/switchrail/config.toml:1
        not asked lately: m
    ");
    let shown = home.said(&["route", "explain", "-m", "gemini-2.5-flash"], "");
    assert_snapshot!(shown, @r"
    asked for  gemini-2.5-flash
    taken for  a target
    why        `gemini-2.5-flash` is an alias (HIJACK_* in HOME/.gemini/.env; BACK_* in HOME/.gemini/.env)
    facts      0 tokens, 0 images, 0 tools, thinking unsaid
    attempts   1. back,gemini-2.5-pro  2nd of what was asked for; first, as `back` is the active provider
               2. lmstudio,qwen3-235b  1st of what was asked for
    ");
    assert_snapshot!(home.said(&["provider", "use", "--none"], ""), @r"
    The choice is taken back. `lmstudio` is active, as the environment form says.
      alias gemini-2.5-flash  lmstudio,qwen3-235b  before: back,gemini-2.5-pro
    ");
}

#[test]
fn warnings_that_bear_on_it_are_told_in_short() {
    let home = Home::with(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n[router]\ndefault = \"p,m;gone,m\"\n",
    );
    home.write("state/switchrail/active.json", "{ half");
    home.write("state/switchrail/learned.json", "{ half");
    assert_snapshot!(home.said(&["provider", "list"], ""), @r#"
      p  openai-chat  http://127.0.0.1:1/v1
        no key; ~/.config/switchrail/config.toml:1
        not asked lately: m
    rail: warning: HOME/state/switchrail/active.json:1:1: it does not say {"provider": "NAME"}, so that no provider is put in front; run `rail provider use NAME` to write it anew
    rail: warning: HOME/state/switchrail/learned.json: what was learned is not valid (key must be a string at line 1 column 3); it is now HOME/state/switchrail/learned.json.broken, and learning starts anew
    "#);
}

#[test]
fn what_is_known_of_targets_is_listed() {
    let models: Vec<String> = (0..20).map(|at| format!("\"a-model-with-a-name-{at}\"")).collect();
    let home = Home::with(&format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"https://p.test/v1\"\nkeys = [\"{KEY}\", \"another-key\"]\n\
         models = [{}]\n[router]\ndefault = \"p,asked;p,a-model-with-a-name-7\"\n",
        models.join(", ")
    ));
    let day = 1_767_225_600_u64;
    let lesson =
        json!({"fix": {"kind": "drop", "path": "store"}, "because": "Unknown name\n \"store\"", "at": day});
    home.write(
        "state/switchrail/learned.json",
        &json!({"fixes": {"p,asked": [lesson]}, "calibration": {"p,asked": {"factor": 1.078, "reports": 12}}}).to_string(),
    );
    let health = |open_until: Option<u64>| json!({"at": day, "open_until": open_until, "failure_rate": 0.25, "latency_ms": 412, "last_error": {"class": "passing", "text": "HTTP 503"}});
    home.write(
        "state/switchrail/health.json",
        &json!({"p,asked": health(None), "p,a-model-with-a-name-7": health(Some(day + 9))}).to_string(),
    );
    assert_snapshot!(home.said(&["provider", "list"], ""), @r#"
    p  openai-chat  https://p.test/v1
      key sk-01234…, an…; ~/.config/switchrail/config.toml:1
      a-model-with-a-name-7  circuit half-open, 25 % failed, first content after 412 ms, asked 2026-01-01
                             last failure: HTTP 503
      asked                  circuit closed, 25 % failed, first content after 412 ms, asked 2026-01-01
                             last failure: HTTP 503
                             leaves out `store` since 2026-01-01: Unknown name "store"
                             counts 1.08 tokens for each that is estimated, by 12 answers
      not asked lately: a-model-with-a-name-0, a-model-with-a-name-1, a-model-with-a-name-10,
                        a-model-with-a-name-11, a-model-with-a-name-12, a-model-with-a-name-13,
                        a-model-with-a-name-14, a-model-with-a-name-15, a-model-with-a-name-16,
                        a-model-with-a-name-17, a-model-with-a-name-18, a-model-with-a-name-19,
                        a-model-with-a-name-2, a-model-with-a-name-3, a-model-with-a-name-4,
                        a-model-with-a-name-5, a-model-with-a-name-6, a-model-with-a-name-8,
                        a-model-with-a-name-9
    "#);
}
