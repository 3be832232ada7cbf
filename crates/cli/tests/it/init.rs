//! `rail init`: what it asks, and what it writes.

use rail_testkit::{Conversation, Peer, Step, http_whole};

use crate::scratch::{CONFIG, ENV, Home, answering, is_private, server};

/// A server that wants a key: refuses the first call, and lists models after it.
fn refusing_once() -> Peer {
    let refuse = http_whole(
        401,
        "application/json",
        r#"{"error":{"message":"Incorrect API key provided: sk-wrong-key."}}"#,
    );
    let list = r#"{"object":"list","data":[{"id":"big-coder"},{"id":"small"},{"id":"evil\u001b[2J"}]}"#;
    let list = http_whole(200, "application/json", list);
    let one = |answer: Vec<u8>| Conversation::new([Step::ReadRequest, Step::Send(answer), Step::Close]);
    Peer::start(vec![one(refuse), one(list).repeat()]).unwrap()
}

/// What was written loads, without a problem.
fn loads(home: &Home) {
    let said = home.rail(&["config", "check"], "");
    assert_eq!(said.code, Some(0), "{}\n{}", said.whole(), home.read(CONFIG));
    assert!(said.out.contains("ok: "), "{}", said.out);
    assert!(is_private(&home.path(CONFIG)));
}

#[test]
fn without_questions_all_that_is_found_is_written() {
    let lmstudio = server("organization_owner", &["qwen3-coder-30b", "text-embedding-nomic"]);
    let home = Home::new()
        .with_servers(&[("LMSTUDIO", &lmstudio)])
        .with("ANTHROPIC_API_KEY", "sk-ant-api03-0123456789")
        .with("DASHSCOPE_API_KEY", "sk-dash");
    home.write("user/.claude/settings.json", "{}");
    insta::assert_snapshot!(home.rail(&["init"], "").whole());
    insta::assert_snapshot!(home.read(CONFIG));
    assert!(!home.path(ENV).exists(), "keys stay where they are");
    loads(&home);

    let again = home.rail(&["init", "--yes"], "");
    insta::assert_snapshot!(again.whole());
    let forced = home.rail(&["init", "--yes", "--force"], "");
    assert_eq!(forced.code, Some(0), "{}", forced.whole());
    assert_eq!(home.read("config/switchrail/config.toml.bak"), home.read(CONFIG));
}

#[test]
fn with_nothing_found_it_says_what_to_do() {
    let home = Home::new();
    insta::assert_snapshot!(home.rail(&["init"], "").whole());
    assert!(!home.path(CONFIG).exists());
}

#[test]
fn a_token_is_kept_beside_the_configuration() {
    let home = Home::new()
        .with("ANTHROPIC_AUTH_TOKEN", "token-s3cret")
        .with("ANTHROPIC_BASE_URL", "https://api.z.ai/api/anthropic");
    assert_eq!(home.rail(&["init", "-y"], "").code, Some(0));
    loads(&home);
    assert!(!home.read(CONFIG).contains("s3cret"));
    assert!(is_private(&home.path(ENV)));
    assert_eq!(home.read(ENV), "ANTHROPIC_AUTHORIZATION=\"Bearer token-s3cret\"\n");
}

#[test]
fn a_provider_of_ones_own_with_a_key_that_is_pasted() {
    let ollama = server("library", &["llama3.3:70b", "qwen3-coder:30b"]);
    let work = refusing_once();
    let home = Home::new().with_servers(&[("OLLAMA", &ollama)]).naming("WORK", &work);
    let url = work.url("/v1/chat/completions");
    let answers = [
        "nobody",       // no such provider
        "1, other",     // Ollama, and one of our own
        "two words",    // no name
        "work",         //
        "no address",   //
        &url,           // the path of the call is taken off
        "",             // it speaks what its address tells
        "1",            // the key is pasted
        "",             // nothing
        "sk-wrong-key", //
        "1",            // again
        "sk-nonsense",  // no reference and no number
        "1",            //
        "sk-right-s3cret",
        "work,small", // for everything
        "",           // for coding, as suggested
        "9",          // no such number
        "1",          // for long conversations
    ];
    let said = home.rail(&["init"], &(answers.join("\n") + "\n"));
    insta::assert_snapshot!(said.whole());
    assert!(!said.whole().contains("s3cret") && !said.whole().contains('\u{1b}'), "{}", said.whole());
    insta::assert_snapshot!(home.read(CONFIG));
    assert_eq!(home.read(ENV), "WORK_API_KEY=\"sk-right-s3cret\"\n");
    assert!(is_private(&home.path(ENV)));
    loads(&home);
    let sent: Vec<String> = work
        .requests()
        .iter()
        .map(|request| request.header("authorization").unwrap_or_default().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer sk-wrong-key", "Bearer sk-right-s3cret"]);
}

#[test]
fn a_provider_that_was_found_is_asked_with_its_own_key() {
    let deepseek = answering(200, r#"{"data":[{"id":"deepseek-v9"},{"id":"deepseek-v9-coder"}]}"#);
    let home = Home::new()
        .naming("DEEPSEEK", &deepseek)
        .with("DEEPSEEK_API_KEY", "sk-deep-s3cret-0123456789")
        .with("DEEPSEEK_BASE_URL", &deepseek.url("/v1"));
    let said = home.rail(&["init"], "\n\n\n\n\n");
    insta::assert_snapshot!(said.whole());
    insta::assert_snapshot!(home.read(CONFIG));
    loads(&home);
    assert_eq!(deepseek.requests()[0].header("authorization"), Some("Bearer sk-deep-s3cret-0123456789"));

    // A key that is pasted while another has its name is kept under another name.
    let home = Home::new()
        .naming("DEEPSEEK", &deepseek)
        .with("DEEPSEEK_API_KEY", "sk-old")
        .with("DEEPSEEK_BASE_URL", &deepseek.url("/v1"));
    let said = home.rail(&["init"], "1\n2\nsk-new\n\n\n\n");
    assert_eq!(said.code, Some(0), "{}", said.whole());
    assert_eq!(home.read(ENV), "DEEPSEEK_API_KEY_2=\"sk-new\"\n");
    assert!(home.read(CONFIG).contains("key = \"env:DEEPSEEK_API_KEY_2\""));
    loads(&home);
}

#[test]
fn a_provider_that_does_not_answer_can_be_kept_or_left_out() {
    let silent = answering(500, "oops");
    let home = Home::new().naming("SILENT", &silent).with("MY_KEY", "sk-mine");
    let url = silent.url("/v1");
    // Kept, with a model by name, and a key of one's own variable.
    let said = home.rail(&["init"], &format!("other\nmine\n{url}\n\nenv:GONE\nenv:MY_KEY\n2\nbig\n\n\n"));
    assert_eq!(said.code, Some(0), "{}", said.whole());
    insta::assert_snapshot!(home.read(CONFIG));
    loads(&home);
    // Left out: there is nothing else, so that it is asked again, until the answers end.
    let home = Home::new().naming("SILENT", &silent);
    let said = home.rail(&["init"], &format!("other\nmine\n{url}\nanthropic\n2\n3\n"));
    insta::assert_snapshot!(said.whole());
    assert!(!home.path(CONFIG).exists() && !home.path(ENV).exists());
}

#[test]
fn scripts_name_a_provider_with_flags() {
    let list = answering(200, r#"{"data":[{"id":"only-coder"}]}"#);
    let own = list.url("/v1");
    let mut written: Vec<String> = Vec::new();
    for args in [
        &["--provider", "deepseek"][..],
        &["--provider", "Qwen", "--model", "qwen3-coder-plus"],
        &["--provider", "deepseek", "--key", "env:MY_KEY", "--model", "deepseek,deepseek-v4-flash"],
        &[
            "--provider",
            "mine",
            "--base-url",
            "https://host/v1/messages",
            "--protocol",
            "anthropic",
            "--key",
            "env:MY_KEY",
            "--model",
            "m",
        ],
        &["--provider", "openai", "--base-url", &own, "--key", "none"],
        &["--provider", "ollama", "--model", "m"],
    ] {
        let home = Home::new().with("DEEPSEEK_API_KEY", "sk-1").with("MY_KEY", "sk-2").naming("OWN", &list);
        let said = home.rail(&[&["init"], args].concat(), "these are no answers\n");
        assert_eq!(said.code, Some(0), "{args:?} {}", said.whole());
        loads(&home);
        let line = |line: &&str| !line.starts_with('#');
        written.push(format!("$ rail init {}", args.join(" ").replace(&own, "http://OWN/v1")));
        written.extend(home.read(CONFIG).lines().filter(line).map(str::to_owned));
    }
    insta::assert_snapshot!(written.join("\n"));
}

#[test]
fn flags_that_can_not_be_followed() {
    let empty = answering(200, r#"{"data":[]}"#);
    let url = empty.url("/v1");
    let home = Home::new().naming("EMPTY", &empty);
    let wrong: Vec<String> = [
        &["--provider", "nobody"][..],
        &["--key", "env:X"],
        &["--provider", "deepseek", "--key", "sk-literal"],
        &["--provider", "deepseek", "--key", "env:A B"],
        &["--provider", "deepseek", "--key", "file:gone"],
        &["--provider", "deepseek", "--model", "a;b"],
        &["--provider", "a b", "--base-url", "http://host/v1"],
        &["--provider", "a", "--base-url", "host"],
        &["--provider", "a", "--base-url", "http://host", "--protocol", "klingon"],
        &["--provider", "a", "--base-url", &url],
    ]
    .iter()
    .map(|args| {
        let said = home.rail(&[&["init"], *args].concat(), "");
        assert_eq!(said.code, Some(2), "{args:?} {}", said.whole());
        said.err.lines().next().unwrap_or_default().to_owned()
    })
    .collect();
    insta::assert_snapshot!(wrong.join("\n"));
    assert!(!home.path(CONFIG).exists());
}
