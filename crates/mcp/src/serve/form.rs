//! A question about a call as a form that a client shows, and what its answer means.

use std::fmt::Write;

use rail_permit::{Answer, Facet, Offer, Question, Scope};
use rail_tool::HookedCall;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

/// How much of an input is shown.
const MAX_SHOWN: usize = 8_000;

const ONCE: &str = "Allow once";
const SESSION: &str = "Allow for this session";
const NO: &str = "No";

/// What a person is told: what would be done, why it is asked, and the whole input.
pub(super) fn message(call: &HookedCall, question: &Question) -> String {
    let mut text = format!("`{}` would do this:\n", call.tool);
    for facet in &question.facets {
        // Writing to a string can't fail.
        let _ = match facet {
            Facet::Read(path) => writeln!(text, "  read {}", path.display()),
            Facet::Write(path) => writeln!(text, "  write {}", path.display()),
            Facet::Exec(exec) => writeln!(text, "  run {}", exec.command),
            Facet::Net(host) => writeln!(text, "  speak with {host}"),
            Facet::Foreign => writeln!(text, "  run a tool of somebody else"),
            Facet::Skill { name, folder, from } => {
                writeln!(text, "  follow the skill {name}, {from}, in {}", folder.display())
            }
        };
    }
    let _ = writeln!(text, "Asked because {}.", question.reason.why);
    if let Some(note) = &question.note {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&input(&call.input));
    for offer in lasting(question) {
        let _ = writeln!(text, "“{}” would mean: {}.", session(offer), offer.says.trim_end_matches('.'));
    }
    harmless(&text)
}

/// What can be allowed for longer, the narrowest first.
fn lasting(question: &Question) -> &[Offer] {
    if question.always_asks { &[] } else { &question.offers }
}

/// The choice that takes an offer.
fn session(offer: &Offer) -> String {
    let rules: Vec<&str> = offer.rules.iter().map(|rule| rule.text.as_str()).collect();
    harmless(&format!("{SESSION}: {}", rules.join(", ")))
}

/// The form: one choice, and room for a reason.
pub(super) fn schema(question: &Question) -> Map<String, Value> {
    let mut choices = vec![ONCE.to_owned()];
    choices.extend(lasting(question).iter().map(session));
    choices.push(NO.to_owned());
    let form = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "title": "May it be done?", "enum": choices},
            "reason": {"type": "string", "title": "Why not", "description": "For the model, if the answer is no."},
        },
        "required": ["answer"],
    });
    match form {
        Value::Object(form) => form,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// What an answer means. Whatever is no clear yes is a no.
pub(super) fn read(result: &ElicitResult, question: &Question) -> Answer {
    let field = |name: &str| result.content.as_ref()?.get(name)?.as_str();
    let reason = || field("reason").map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
    match (&result.action, field("answer")) {
        (ElicitationAction::Accept, Some(ONCE)) => Answer::Once,
        (ElicitationAction::Accept, Some(said)) => {
            match lasting(question).iter().find(|offer| session(offer) == said) {
                Some(offer) => Answer::Offer(offer.clone(), Scope::Session),
                None => Answer::No(reason()),
            }
        }
        (_, _) => Answer::No(reason()),
    }
}

/// What a client is told that can ask nobody.
pub(super) fn nobody(question: &Question) -> String {
    match question.rule() {
        Some(rule) => format!(
            "This client can't ask anybody; `rail mcp serve --allow '{rule}'` would allow it without a question."
        ),
        None => "This client can't ask anybody, and no rule can allow it; do it by hand if it is needed."
            .to_owned(),
    }
}

/// The fields of an input, each as it is.
fn input(input: &Value) -> String {
    let Value::Object(fields) = input else { return String::new() };
    let mut text = String::from("Its input:\n");
    for (name, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = match value.contains('\n') {
            true => format!("\n    {}", value.trim_end_matches('\n').replace('\n', "\n    ")),
            false => format!(" {value}"),
        };
        let _ = writeln!(text, "  {name}:{value}");
    }
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => {
            let more = text.get(at..).unwrap_or_default().chars().count();
            format!("{}\n… {more} more characters\n", text.get(..at).unwrap_or_default())
        }
        None => text,
    }
}

/// Text that can't change a terminal: what a model writes may hold control characters. Lines and tabs stay.
fn harmless(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(rail_config::plain).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_permit::{Asked, Exec, Held, Level, Policy, Verdict, judge};

    use super::*;

    fn question(command: &str) -> Question {
        let exec = Exec { command: command.to_owned(), cwd: "/here".into(), held: Held::Sandbox };
        let asked = Asked { tool: "bash", level: Level::Execute, facets: &[Facet::Exec(exec)] };
        let policy = Policy { folders: vec!["/here".into()], ..Policy::default() };
        match judge(&policy, &asked, &rail_tool::Disk) {
            Verdict::Ask(question) => question,
            other => panic!("it is asked about: {other:?}"),
        }
    }

    fn call(input: Value) -> HookedCall {
        HookedCall { id: "1".to_owned(), tool: "bash".to_owned(), input }
    }

    #[test]
    fn a_person_sees_what_would_be_done() {
        let input = json!({"command": "make all\nmake \u{1b}[2Kinstall", "timeout": 5});
        insta::assert_snapshot!(message(&call(input), &question("make all")), @r"
        `bash` would do this:
          run make all
        Asked because running a command asks.
        Its input:
          command:
            make all
            make \u{1b}[2Kinstall
          timeout: 5
        “Allow for this session: Bash(make all)” would mean: lets the agent run `make all` with nothing behind it.
        “Allow for this session: Bash(make all:*)” would mean: lets the agent run `make all`, alone or with anything behind it.
        ");
    }

    #[test]
    fn a_long_input_is_cut_and_the_command_is_not() {
        let long = format!("make {}", "x".repeat(20_000));
        let text = message(&call(json!({"command": long})), &question(&long));
        assert!(text.contains(&format!("  run {long}\n")));
        assert!(text.contains("more characters"), "{}", text.len());
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let question = question("make all");
        let said = |action: ElicitationAction, content: Value| {
            read(&ElicitResult::new(action).with_content(content), &question)
        };
        let offer = question.offers[0].clone();
        assert_eq!(said(ElicitationAction::Accept, json!({"answer": ONCE})), Answer::Once);
        assert_eq!(
            said(ElicitationAction::Accept, json!({"answer": session(&offer)})),
            Answer::Offer(offer.clone(), Scope::Session)
        );
        let no = json!({"answer": NO, "reason": " too much "});
        assert_eq!(said(ElicitationAction::Accept, no), Answer::No(Some("too much".to_owned())));
        for content in
            [json!({}), json!({"answer": "yes"}), json!({"answer": true}), json!(null), json!([ONCE])]
        {
            assert_eq!(said(ElicitationAction::Accept, content), Answer::No(None));
        }
        for action in [ElicitationAction::Decline, ElicitationAction::Cancel] {
            assert_eq!(said(action, json!({"answer": ONCE})), Answer::No(None));
        }
        assert_eq!(read(&ElicitResult::new(ElicitationAction::Accept), &question), Answer::No(None));
    }

    #[test]
    fn what_always_asks_is_allowed_only_once() {
        let mut question = question("make all");
        question.always_asks = true;
        assert_eq!(schema(&question)["properties"]["answer"]["enum"], json!([ONCE, NO]));
        let session = session(&question.offers[0]);
        let session = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": session}));
        assert_eq!(read(&session, &question), Answer::No(None));
    }

    proptest! {
        #[test]
        fn no_message_changes_a_terminal(command in "(\u{1b}|\r|\u{7}|[ -~]|\n|\t){1,60}") {
            let text = message(&call(json!({"command": command})), &question("make all"));
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }

        #[test]
        fn whatever_else_is_answered_is_a_no(answer in ".{0,30}") {
            prop_assume!(answer != ONCE && !answer.starts_with(SESSION));
            let result = ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": answer}));
            prop_assert_eq!(read(&result, &question("make all")), Answer::No(None));
        }
    }
}
