//! Screens of questions: what would be done, what each answer allows, what the model wants to know.

use rail_proto::{
    About, Choice, ChoiceOption, Choices, Doing, Leave, PermissionAsk, Pick, Reason, SessionEvent,
};
use serde_json::json;

use crate::screens::{Step, check, check_themes, script, typed};
use crate::screens_script::*;

pub(crate) fn asked(ask: PermissionAsk, keys: &str) -> Vec<Step> {
    let steps = script![
        text("I run the tests first."),
        call("ask", "Bash", ask.input.clone()),
        SessionEvent::Permission(ask),
        typed(keys)
    ];
    begun("repair the parser").into_iter().chain(steps).collect()
}

pub(crate) fn command() -> PermissionAsk {
    let command = "cargo test -p shop -- parser \\\n  --nocapture\ngit status --short | head -20";
    PermissionAsk {
        doing: vec![Doing::Runs(command.into())],
        offers: vec![
            Leave {
                rules: vec!["Bash(cargo test:*)".into(), "Bash(git status:*)".into()],
                says: "lets the agent run `cargo test`, alone or with anything behind it, and run `git status`, alone or with anything \
behind it".into(),
            },
        ],
        ..permission("bash", json!({"command": command}))
    }
}

pub(crate) fn edit() -> PermissionAsk {
    let lines = "     /// Skips blanks.\n-    fn skip(&mut self) -> Option<Token> {\n-        self.next()\n+    fn skip(&mut self) -> \
Option<&Token> {\n+        self.peek()\n     }";
    PermissionAsk {
        doing: vec![Doing::Writes("src/parser.rs".into())],
        changes: vec![change("src/parser.rs", 119, lines)],
        offers: vec![Leave {
            rules: vec!["Edit(/src/parser.rs)".into()],
            says: "lets the agent write `src/parser.rs`, and all in it if it is a folder".into(),
        }],
        ..permission("edit", json!({"file_path": "src/parser.rs"}))
    }
}

#[test]
fn a_command_may_it_run() {
    check("permission-command", &start(), &asked(command(), ""));
    check("permission-command-marked", &start(), &asked(command(), "<Down><Down>"));
    check_themes("themes-permission", &start(), &asked(command(), ""));
}

#[test]
fn an_edit_may_it_be_done() {
    check("permission-edit", &start(), &asked(edit(), ""));
}

#[test]
fn what_always_asks_can_be_allowed_once() {
    let command = "rm -rf target/ ../backup";
    let ask = PermissionAsk {
        doing: vec![Doing::Runs(command.into())],
        always_asks: true,
        why: "`rm -rf` outside of the workspace always asks".into(),
        ..permission("bash", json!({"command": command}))
    };
    check("permission-always-asks", &start(), &asked(ask, ""));
}

#[test]
fn other_calls_show_their_input() {
    let fetch = PermissionAsk {
        doing: vec![Doing::Speaks("docs.rs".into())],
        offers: vec![Leave {
            rules: vec!["WebFetch(domain:docs.rs)".into()],
            says: "lets the agent speak with docs.rs".into(),
        }],
        ..permission(
            "web_fetch",
            json!({"url": "https://docs.rs/vt100", "prompt": "how is a screen resized?"}),
        )
    };
    check("permission-host", &start(), &asked(fetch, ""));
    let foreign = PermissionAsk {
        doing: vec![Doing::Foreign],
        offers: vec![Leave {
            rules: vec!["mcp__tracker__close".into()],
            says: "lets the agent use `mcp__tracker__close`".into(),
        }],
        ..permission("mcp__tracker__close", json!({"ticket": 17, "comment": "done\nsee the branch"}))
    };
    check("permission-foreign", &start(), &asked(foreign, ""));
}

#[test]
fn no_with_words() {
    let words = "5use cargo nextest instead, and only for the parser; the other tests need a database that I do not have here";
    check("permission-words", &start(), &asked(command(), words));
}

#[test]
fn several_questions_wait() {
    let mut steps = asked(command(), "");
    let next = PermissionAsk { id: "next".into(), ..edit() };
    steps.extend(script![SessionEvent::Permission(next)]);
    check("permissions-wait", &start(), &steps);
    let over = steps.clone().into_iter().chain(script![done(Reason::Interrupted, "")]).collect::<Vec<_>>();
    check("permissions-over", &start(), &over);
    steps.extend(script![typed("<CR>")]);
    check("permissions-next", &start(), &steps);
}

fn choice(question: &str, pick: Pick, options: &[(&str, &str)]) -> Choice {
    let option = |(label, description): &(&str, &str)| ChoiceOption {
        label: (*label).into(),
        description: (*description).into(),
    };
    Choice {
        question: question.into(),
        header: String::new(),
        options: options.iter().map(option).collect(),
        pick,
    }
}

fn chosen(about: About, questions: Vec<Choice>, keys: &str) -> Vec<Step> {
    let choices = Choices { about, questions };
    let steps = script![
        text("Before I begin:"),
        call("q", "Ask", json!({})),
        SessionEvent::Choice { id: "q".into(), choices },
        typed(keys)
    ];
    begun("add a cache").into_iter().chain(steps).collect()
}

const STORES: &[(&str, &str)] = &[
    ("In memory (recommended)", "fast, and gone after a restart; one process only"),
    ("Redis", "shared between processes; one more service to run"),
    ("SQLite", ""),
];

#[test]
fn one_of_some() {
    check(
        "choice-one",
        &start(),
        &chosen(About::Question, vec![choice("Where are entries kept?", Pick::One, STORES)], "<Down>"),
    );
}

pub(crate) fn several() -> Vec<Step> {
    let what = [("Prices", ""), ("Pictures", "up to 2 MB each"), ("Searches", "")];
    let questions = vec![
        choice("Where are entries kept?", Pick::One, STORES),
        choice("What is cached?", Pick::Several, &what),
    ];
    chosen(About::Question, questions, "1<Down> <Down>")
}

#[test]
fn several_of_some() {
    check("choice-several", &start(), &several());
}

#[test]
fn in_their_own_words() {
    let questions = vec![choice("Where are entries kept?", Pick::One, STORES)];
    check(
        "choice-words",
        &start(),
        &chosen(
            About::Question,
            questions,
            "4wherever they are kept now, but behind a trait so that it can be changed later",
        ),
    );
}

#[test]
fn a_plan() {
    let plan = "# A cache for prices\n\n1. A trait `Store` with `get` and `put`\n2. An implementation in memory, with a limit\n3. Use it in \
`prices.rs`\n\n```rust\ntrait Store {\n    fn get(&self, key: &str) -> Option<Price>;\n}\n```\n\nNothing else changes.";
    let options = [
        ("Yes, and edit without asking", ""),
        ("Yes, and ask before each edit", ""),
        ("No, go on planning", ""),
    ];
    let questions = vec![choice("Go ahead with this plan?", Pick::One, &options)];
    check("choice-plan", &start(), &chosen(About::LeavePlan { plan: plan.into() }, questions, ""));
}

#[test]
fn answers_stay_in_the_conversation() {
    check("answered-once", &start(), &asked(command(), "<CR>"));
    check("answered-always", &start(), &asked(command(), "3"));
    check("answered-no", &start(), &asked(command(), "5use cargo nextest<A-CR>and only here<CR>"));
    let questions = || {
        let what = [("Prices", ""), ("Pictures", ""), ("Searches", "")];
        vec![
            choice("Where are entries kept?", Pick::One, STORES),
            choice("What is cached?", Pick::Several, &what),
        ]
    };
    check("chosen", &start(), &chosen(About::Question, questions(), "2 <Down> <CR>"));
    check("chosen-not", &start(), &chosen(About::Question, questions(), "2<Esc>"));
}
