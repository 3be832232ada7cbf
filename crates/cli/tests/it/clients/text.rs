//! A model that writes its calls as text.

use super::person::Person;
use super::table::{CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, Tested};
use super::task::{Form, asked, good_model, provider};

/// The task through `rail serve`, on a model that calls in this form.
fn done_with(client: &'static Tested, form: Form) {
    let Some(person) = Person::with(client) else { return };
    let models = good_model(client, &person.files(), form);
    let person = person.configured(&[provider("weak", "openai-chat", &models)], "weak,m");
    let gateway = person.gateway();
    person.check(&Person::outcome(person.client(&gateway.url)));
    assert_eq!(asked(&models), [0, 1, 2, 3]);
    gateway.check_ledger(client, &["weak,m"]);
}

#[test]
fn claude_code_with_marked_text() {
    done_with(&CLAUDE, Form::Hermes);
}

#[test]
fn codex_with_marked_text() {
    done_with(&CODEX, Form::Hermes);
}

#[test]
fn gemini_cli_with_json_in_a_fence() {
    done_with(&GEMINI, Form::Fence);
}

#[test]
fn qwen_code_with_json_in_a_fence() {
    done_with(&QWEN, Form::Fence);
}

#[test]
fn opencode_with_marked_text() {
    done_with(&OPENCODE, Form::Hermes);
}
