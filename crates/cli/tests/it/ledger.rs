//! `rail key` and `rail usage`, as a user runs them.

use insta::assert_snapshot;
use rail_ledger::{Ending, Entry, KeyId, Ledger, Money, Place, Refusal, Tokens};
use rail_stdx::Secret;
use rail_testkit::Postgres;
use serde_json::Value;

use crate::scratch::{Home, is_private};

const LEDGER: &str = "state/switchrail/ledger.db";
/// 2026-03-01T12:00:00Z.
const NOON: u64 = 1_772_366_400_000;

/// Output without ids and secrets, which differ from run to run.
fn masked(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    let mut words = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let (hex, rest) = word.split_at(word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).len());
        let name = match hex.len() {
            12 if hex.chars().all(is_hex) => "IDIDIDIDIDID",
            64 if hex.chars().all(is_hex) => "SECRET",
            _ => hex,
        };
        words += &format!("{name}{rest}");
    }
    words
}

fn said(home: &Home, args: &[&str]) -> String {
    masked(&home.rail(args, "").whole())
}

fn record(place: &Place, entries: Vec<Entry>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = Ledger::open(place).await.unwrap();
        entries.into_iter().for_each(|entry| ledger.record(entry, None));
        ledger.flush().await.unwrap();
    });
}

fn entry(id: &str, target: Option<&str>) -> Entry {
    Entry {
        id: id.to_owned(),
        at: NOON,
        key: None,
        client: "claude-code".to_owned(),
        session: None,
        protocol: "anthropic".to_owned(),
        operation: "generate".to_owned(),
        stream: true,
        asked: "opus".to_owned(),
        virtual_model: Some("coding".to_owned()),
        route: None,
        target: target.map(str::to_owned),
        sent: Vec::new(),
        relayed: false,
        repairs: Vec::new(),
        losses: Vec::new(),
        tokens: Tokens { input: 1000, cache_read: 9000, cache_write: 1, output: 200, reasoning: 50 },
        cost: Some(Money(12_345_678)),
        first_ms: Some(850),
        total_ms: 12_340,
        ending: Ending::Answered,
        status: 200,
        problem: None,
        bodies: None,
    }
}

#[test]
fn a_key_is_made_listed_and_revoked() {
    let home = Home::new();
    assert_snapshot!(said(&home, &["key", "list"]), @r"
    exit 0
    === stdout
    there are no keys; make one with `rail key create NAME`
    === stderr
    ");
    assert_snapshot!(said(&home, &["key", "create", "ci"]), @r"
    exit 0
    === stdout
    rail_IDIDIDIDIDID_SECRET
    === stderr
    rail: the key `ci` (IDIDIDIDIDID) is made; keep its secret, which is not shown again
    ");
    assert!(is_private(&home.path(LEDGER)));
    assert_snapshot!(said(&home, &["key", "create", "ci"]), @r"
    exit 1
    === stdout
    === stderr
    rail: there is a key `ci` already; choose another name, or revoke it first: `rail key revoke ci`
    ");
    let all = [
        "key",
        "create",
        "team",
        "--model",
        "claude-*",
        "--model",
        "gpt-5",
        "--rate",
        "60/min",
        "--budget",
        "5/day",
        "--expires",
        "2999-12-31",
        "--admin",
        "--json",
    ];
    let made = home.rail(&all, "");
    let mut made: Value = serde_json::from_str(&made.out).unwrap();
    made["created"] = 0.into();
    assert_snapshot!(masked(&format!("{made:#}")), @r#"
    {
      "id": "IDIDIDIDIDID",
      "name": "team",
      "admin": true,
      "models": [
        "claude-*",
        "gpt-5"
      ],
      "per_minute": 60,
      "budget": {
        "usd": 5.0,
        "per": "day"
      },
      "created": 0,
      "expires": 32503680000000,
      "revoked": null,
      "secret": "rail_IDIDIDIDIDID_SECRET"
    }
    "#);
    let id = made["id"].as_str().unwrap().to_owned();
    // A record of the future counts in the period in which the test runs, whenever that is.
    let future = Entry { key: Some(KeyId(id.clone())), at: 32_000_000_000_000, ..entry("1", None) };
    record(&Place::File(home.path(LEDGER)), vec![future]);
    assert_snapshot!(said(&home, &["key", "revoke", "ci"]), @r"
    exit 0
    === stdout
    the key `ci` (IDIDIDIDIDID) is revoked
    === stderr
    ");
    assert_snapshot!(said(&home, &["key", "list"]), @r"
    exit 0
    === stdout
    name  id            models           limits                 spent  state
    ci    IDIDIDIDIDID  all              none                 $0.0000  revoked
    team  IDIDIDIDIDID  claude-*, gpt-5  60/min, $5.0000/day  $0.0123  active, admin, until 2999-12-31
    === stderr
    ");
    assert_snapshot!(said(&home, &["key", "revoke", "ci"]), @r"
    exit 1
    === stdout
    === stderr
    rail: there is no key `ci` that is not revoked; see `rail key list`
    ");
    assert_eq!(home.rail(&["key", "revoke", &id], "").code, Some(0));
    let listed = home.rail(&["key", "list", "--json"], "");
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    let told: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (&key["name"], &key["state"], &key["spent_usd"]))
        .collect();
    assert_snapshot!(format!("{told:?}"), @r#"[(String("ci"), String("revoked"), Number(0.0)), (String("team"), String("revoked"), Number(0.012345678))]"#);
}

#[test]
fn a_key_that_is_revoked_opens_nothing_from_then_on() {
    let home = Home::new();
    let secret = Secret::new(home.rail(&["key", "create", "ci"], "").out.trim_end());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // A gateway in another process has the ledger open all the time.
    let ledger = runtime.block_on(Ledger::open(&Place::File(home.path(LEDGER)))).unwrap();
    assert_eq!(runtime.block_on(ledger.identify(&secret, NOON)).unwrap().name, "ci");
    assert_eq!(home.rail(&["key", "revoke", "ci"], "").code, Some(0));
    let refusal = runtime.block_on(ledger.identify(&secret, NOON)).unwrap_err();
    assert_eq!(refusal, Refusal::Revoked { name: "ci".to_owned() });
}

#[test]
fn a_key_that_makes_no_sense_is_a_wrong_command_line() {
    let home = Home::new();
    assert_snapshot!(said(&home, &["key", "create", ""]), @r"
    exit 2
    === stdout
    === stderr
    rail: `` is no name of a key; write 1 to 64 characters
    ");
    assert_snapshot!(said(&home, &["key", "create", "a", "--rate", "fast"]), @r"
    exit 2
    === stdout
    === stderr
    error: invalid value 'fast' for '--rate <N/min>': `fast` is no rate; write requests in a minute, such as `60/min`

    For more information, try '--help'.
    ");
    assert_snapshot!(said(&home, &["key", "create", "a", "--budget", "5"]), @r"
    exit 2
    === stdout
    === stderr
    error: invalid value '5' for '--budget <N/day|N/month>': `5` is no budget; write dollars for a day or a month, such as `5/day` or `20/month`

    For more information, try '--help'.
    ");
    assert_snapshot!(said(&home, &["key", "create", "a", "--expires", "1999-01-01"]), @r"
    exit 2
    === stdout
    === stderr
    rail: a key that has expired already opens nothing; write a moment in the future
    ");
    let home = home.with("SWITCHRAIL_GATEWAY__LEDGER", "mysql://user:hidden@host/name");
    assert_snapshot!(said(&home, &["key", "list"]), @r"
    exit 2
    === stdout
    === stderr
    rail: the configuration is wrong:
    SWITCHRAIL_GATEWAY__LEDGER: gateway.ledger: this is no PostgreSQL database; write `postgres://user@host/name`, or remove it to use files
    ");
}

#[test]
fn usage_is_told_apart() {
    let home = Home::new();
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01"]), @r"
    exit 0
    === stdout
    nothing was recorded since 2026-03-01
    === stderr
    ");
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01", "--until", "2026-03-02"]), @r"
    exit 0
    === stdout
    nothing was recorded since 2026-03-01 and until 2026-03-02
    === stderr
    ");
    let refused = Entry {
        ending: Ending::Refused,
        tokens: Tokens::default(),
        cost: None,
        first_ms: None,
        total_ms: 3,
        ..entry("3", None)
    };
    let failed = Entry {
        ending: Ending::Failed,
        cost: None,
        at: NOON + 86_400_000,
        total_ms: 123_456,
        ..entry("4", Some("cloud,small"))
    };
    let entries = vec![entry("1", Some("cloud,big")), entry("2", Some("cloud,big")), refused, failed];
    record(&Place::File(home.path(LEDGER)), entries);
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01"]), @r"
    exit 0
    === stdout
    model        requests  failed  refused  input  cached  output     cost  first p50/p95  total p50/p95  repaired
    cloud,big           2       0        0   2002   18000     500  $0.0247    850ms/850ms    12.3s/12.3s         0
    –                   1       0        1      0       0       0  $0.0000              –        3ms/3ms         0
    cloud,small         1       1        0   1001    9000     250  $0.0000    850ms/850ms      123s/123s         0
    total               4       1        1   3003   27000     750  $0.0247    850ms/850ms     12.3s/123s         0
    1 request is not in the cost: no price of the model is known
    === stderr
    ");
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01", "--until", "2026-03-01", "--by", "day"]), @r"
    exit 0
    === stdout
    day         requests  failed  refused  input  cached  output     cost  first p50/p95  total p50/p95  repaired
    2026-03-01         3       0        1   2002   18000     500  $0.0247    850ms/850ms    12.3s/12.3s         0
    === stderr
    ");
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01", "--by", "virtual"]), @r"
    exit 0
    === stdout
    virtual model  requests  failed  refused  input  cached  output     cost  first p50/p95  total p50/p95  repaired
    coding                4       1        1   3003   27000     750  $0.0247    850ms/850ms     12.3s/123s         0
    1 request is not in the cost: no price of the model is known
    === stderr
    ");
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-02", "--by", "provider", "--json"]), @r#"
    exit 0
    === stdout
    {
      "since": 1772409600000,
      "until": null,
      "by": "provider",
      "rows": [
        {
          "provider": "cloud",
          "requests": 1,
          "failures": 1,
          "refused": 0,
          "tokens": {
            "input": 1000,
            "cache_read": 9000,
            "cache_write": 1,
            "output": 200,
            "reasoning": 50
          },
          "cost_usd": 0.0,
          "unpriced": 1,
          "repaired": 0,
          "first_ms": {
            "p50": 850,
            "p95": 850
          },
          "total_ms": {
            "p50": 123456,
            "p95": 123456
          }
        }
      ],
      "total": {
        "requests": 1,
        "failures": 1,
        "refused": 0,
        "tokens": {
          "input": 1000,
          "cache_read": 9000,
          "cache_write": 1,
          "output": 200,
          "reasoning": 50
        },
        "cost_usd": 0.0,
        "unpriced": 1,
        "repaired": 0,
        "first_ms": {
          "p50": 850,
          "p95": 850
        },
        "total_ms": {
          "p50": 123456,
          "p95": 123456
        }
      }
    }
    === stderr
    "#);
    assert_snapshot!(said(&home, &["usage", "--by", "colour"]), @r"
    exit 2
    === stdout
    === stderr
    error: invalid value 'colour' for '--by <BY>'
      [possible values: model, day, session, key, client, virtual-model, provider]

    For more information, try '--help'.
    ");
}

#[test]
fn keys_and_usage_in_postgresql() {
    let Some(server) = Postgres::shared() else { return };
    let address = server.database().unwrap();
    let home = Home::new().with("LEDGER_URL", &address);
    home.write("config/switchrail/config.toml", "[gateway]\nledger = \"env:LEDGER_URL\"\n");
    record(&Place::Postgres(Secret::new(address)), vec![entry("1", Some("cloud,big"))]);
    assert_eq!(home.rail(&["key", "create", "ci"], "").code, Some(0));
    assert_snapshot!(said(&home, &["key", "list"]), @r"
    exit 0
    === stdout
    name  id            models  limits    spent  state
    ci    IDIDIDIDIDID  all     none    $0.0000  active
    === stderr
    ");
    assert_snapshot!(said(&home, &["usage", "--since", "2026-03-01"]), @r"
    exit 0
    === stdout
    model      requests  failed  refused  input  cached  output     cost  first p50/p95  total p50/p95  repaired
    cloud,big         1       0        0   1001    9000     250  $0.0123    850ms/850ms    12.3s/12.3s         0
    === stderr
    ");
    assert!(!home.path(LEDGER).exists());
    let away = home.with("LEDGER_URL", "postgres://user:hidden@127.0.0.1:1/rail");
    assert_snapshot!(said(&away, &["usage"]), @r"
    exit 1
    === stdout
    === stderr
    rail: the ledger postgres://127.0.0.1:1/rail can't be opened: error connecting to server: Connection refused (os error 111); is the server running, and is its address right?
    ");
}

#[test]
fn a_model_that_would_say_nothing_is_an_error() {
    let home = Home::new();
    for args in [
        &["usage", "-m", "x"][..],
        &["key", "list", "-m", "x"],
        &["-m", "x", "serve"],
        &["replay", "f", "-m", "x"],
    ] {
        let said = said(&home, args);
        assert!(
            said.contains("`--model` says nothing to this command") && said.starts_with("exit 2\n"),
            "{said}"
        );
    }
    let made = said(&home, &["key", "create", "a", "-m", "x"]);
    assert!(!made.contains("says nothing"), "{made}");
    let by = |word: &str| said(&home, &["usage", "--json", "--by", word]).replace(char::is_numeric, "");
    assert_eq!(by("virtual-model"), by("virtual"));
    assert!(by("virtual").contains("\"by\": \"virtual-model\""), "{}", by("virtual"));
}
