//! A model of another protocol than the client's, which calls tools as that protocol has it.

use super::person::Person;
use super::table::{CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, Tested};
use super::task::{Form, asked, good_model, provider};

/// The task through `rail serve`, on a model of this protocol.
fn done_on(client: &'static Tested, protocol: &'static str) {
    assert_ne!(client.protocol, protocol);
    let Some(person) = Person::with(client) else { return };
    let models = good_model(client, &person.files(), Form::Native);
    let person = person.configured(&[provider("p", protocol, &models)], "p,m");
    let gateway = person.gateway();
    person.check(&Person::outcome(person.client(&gateway.url)));
    // One request for each step, and none twice.
    assert_eq!(asked(&models), [0, 1, 2, 3]);
    assert!(models.requests().iter().all(|asked| asked.protocol.name() == protocol));
    gateway.check_ledger(client, &["p,m"]);
}

#[test]
fn claude_code_on_openai_chat() {
    done_on(&CLAUDE, "openai-chat");
}

#[test]
fn codex_on_anthropic() {
    done_on(&CODEX, "anthropic");
}

#[test]
fn gemini_cli_on_openai_responses() {
    done_on(&GEMINI, "openai-responses");
}

#[test]
fn qwen_code_on_gemini() {
    done_on(&QWEN, "gemini");
}

#[test]
fn opencode_on_anthropic() {
    done_on(&OPENCODE, "anthropic");
}
