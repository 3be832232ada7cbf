//! Targets that fail in the middle of a session: the client sees nothing of it.

use super::person::Person;
use super::table::{CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, Tested};
use super::task::{Form, Then, asked, good_model, model, provider};

/// The first target breaks after the first step, the second stalls after the second, so that the client waits with nothing but
/// signs of life until the third goes on; each speaks another protocol.
fn done_through_faults(client: &'static Tested, protocols: [&'static str; 3]) {
    let Some(person) = Person::with(client) else { return };
    let files = person.files();
    let breaks = model(client, &files, Form::Native, (0, Then::Breaks));
    let stalls = model(client, &files, Form::Native, (1, Then::Stalls));
    let last = good_model(client, &files, Form::Native);
    let [one, two, three] = protocols;
    let impatient = "timeouts = { first_token = \"1s\" }\n";
    let providers = [
        provider("one", one, &breaks),
        provider("two", two, &stalls) + impatient,
        provider("three", three, &last),
    ];
    let person = person.configured(&providers, "one,m;two,m;three,m");
    let gateway = person.gateway();
    person.check(&Person::outcome(person.client(&gateway.url)));
    assert_eq!(asked(&breaks).iter().filter(|done| **done == 0).count(), 1);
    assert!(asked(&breaks).contains(&1));
    assert_eq!(asked(&stalls).iter().filter(|done| **done == 1).count(), 1);
    assert!(asked(&stalls).contains(&2));
    assert_eq!(asked(&last), [2, 3]);
    gateway.check_ledger(client, &["one,m", "two,m", "three,m"]);
}

#[test]
fn claude_code_through_faults() {
    done_through_faults(&CLAUDE, ["openai-chat", "gemini", "openai-responses"]);
}

#[test]
fn codex_through_faults() {
    // The patch comes from the second.
    done_through_faults(&CODEX, ["openai-chat", "gemini", "anthropic"]);
}

#[test]
fn gemini_cli_through_faults() {
    done_through_faults(&GEMINI, ["openai-chat", "anthropic", "openai-responses"]);
}

#[test]
fn qwen_code_through_faults() {
    done_through_faults(&QWEN, ["anthropic", "gemini", "openai-responses"]);
}

#[test]
fn opencode_through_faults() {
    done_through_faults(&OPENCODE, ["gemini", "anthropic", "openai-responses"]);
}
