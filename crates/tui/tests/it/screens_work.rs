//! Screens of work: things to do, agents, commands in the background, messages that wait, the status line, other sizes.

use std::sync::Arc;

use rail_proto::{Finish, Mode, Prompt, Reason, SessionEvent, ShellState, TodoStatus};
use rail_tui::complete::Files;
use rail_tui::input::Keys;
use rail_tui::{Item, News, PickerKind, Start};
use serde_json::json;

use crate::screens::{Step, check, script, typed};
use crate::screens_script::*;

fn working(steps: Vec<Step>) -> Vec<Step> {
    begun("repair the parser").into_iter().chain(steps).collect()
}

#[test]
fn nothing_yet() {
    check("empty", &start(), &script![opened()]);
    let note = "No provider is set up yet: `rail init` asks for one, or set `OPENROUTER_API_KEY`.".to_owned();
    check("first-run", &Start { notes: vec![note], ..start() }, &script![opened()]);
}

#[test]
fn things_to_do() {
    let short = vec![
        todo(TodoStatus::Completed, "Find where it fails"),
        todo(TodoStatus::InProgress, "Let skip peek"),
        todo(TodoStatus::Pending, "Add a test for a comment at the end of a line"),
    ];
    check("todos-short", &start(), &working(script![SessionEvent::Todos(short), text("I begin.")]));
    let mut long: Vec<_> =
        (1..=4).map(|at| todo(TodoStatus::Completed, &format!("Step {at} of many"))).collect();
    long.push(todo(
        TodoStatus::InProgress,
        "Move every caller of the old parser to the new one, also those behind the feature of the old format",
    ));
    long.extend((6..=14).map(|at| todo(TodoStatus::Pending, &format!("Step {at} of many"))));
    check("todos-long", &start(), &working(script![SessionEvent::Todos(long), text("I go on.")]));
}

pub(crate) fn agents() -> Vec<Step> {
    let tool = |id: &str, tool: &str, input| in_agent(id, call("x", tool, input));
    working(script![
        text("Three agents look for it."),
        call("a", "Task", json!({"description": "Find callers of skip"})),
        call("b", "Task", json!({"description": "Read the grammar"})),
        call(
            "c",
            "Task",
            json!({"description": "Look for tests of comments in every crate of the workspace"})
        ),
        agent("a", "explore", "Find callers of skip"),
        agent("b", "explore", "Read the grammar"),
        agent("c", "general", "Look for tests of comments in every crate of the workspace"),
        tool("a", "Grep", json!({"pattern": "skip(", "path": "src"})),
        in_agent("a", spent(12_400)),
        tool(
            "b",
            "Read",
            json!({"file_path": "docs/a/rather/long/path/to/the/grammar/of/the/whole/language.md"})
        ),
        in_agent("c", thinking("hm")),
        Step::Tick(8_300),
    ])
}

#[test]
fn agents_at_work() {
    check("agents", &start(), &agents());
    let ended = script![
        agent_ended("a", Reason::Answered),
        result("a", Finish::Done, "four callers", preview("four callers", 3)),
        agent_ended("b", Reason::Interrupted),
    ];
    check("agents-ended", &start(), &[agents(), ended].concat());
    check("agents-list", &start(), &[agents(), script![typed("<C-t>")]].concat());
}

#[test]
fn commands_in_the_background() {
    let shells = vec![
        shell("bash_1", "npm run dev -- --port 3000", ShellState::Running),
        shell(
            "bash_2",
            "cargo watch -x 'test -p shop' -x 'clippy --all-targets -- -D warnings' --why --clear",
            ShellState::Running,
        ),
        shell("bash_3", "make", ShellState::Exited { code: 2 }),
    ];
    check("shells", &start(), &working(script![text("Both run."), SessionEvent::Shells(shells)]));
}

#[test]
fn a_command_of_the_users_own() {
    let steps = script![
        opened(),
        typed("!cargo build<CR>"),
        News::ShellOutput("   Compiling a\n   Compiling b\n".into()),
        Step::Tick(2_000)
    ];
    check("own-shell", &start(), &steps);
    let over = script![News::ShellEnded { how: "exit code 101".into() }];
    check("own-shell-ended", &start(), &steps.into_iter().chain(over).collect::<Vec<_>>());
}

#[test]
fn messages_wait() {
    let queued = |text: &str| SessionEvent::Queued(Prompt::text(text));
    let steps = script![
        text("I am at it."),
        queued("and the lexer too"),
        queued(
            "please keep the public names as they are, since three other crates use them, and say so in the changelog\nthanks"
        ),
    ];
    check("queued", &start(), &working(steps));
}

#[test]
fn the_status_line() {
    let title = || SessionEvent::Title("The parser and comments at the end of a line".into());
    check(
        "status-full",
        &start(),
        &working(script![mode(Mode::AcceptEdits), title(), spent(230_000), done(Reason::Answered, "")]),
    );
    check(
        "status-bypass",
        &start(),
        &working(script![mode(Mode::Bypass), title(), done(Reason::Answered, "")]),
    );
    check(
        "status-plan",
        &Start { keys: Keys::Vim, ..start() },
        &working(script![mode(Mode::Plan), done(Reason::Answered, ""), typed("fix it<Esc>")]),
    );
}

#[test]
fn keys_leave_hints() {
    check("hint-leaving", &start(), &script![opened(), typed("<C-c>")]);
    check("hint-escape", &start(), &script![opened(), typed("<Esc>")]);
    check("hint-nothing-at-work", &start(), &script![opened(), typed("<C-t>")]);
}

#[test]
fn commands_are_completed() {
    check("popup-commands", &start(), &script![opened(), typed("/")]);
    check("popup-commands-narrowed", &start(), &script![opened(), typed("/re<Down>")]);
}

pub(crate) fn files() -> News {
    let paths = [
        "Cargo.toml",
        "README.md",
        "crates/",
        "crates/shop/src/parser.rs",
        "crates/shop/src/parser/tokens.rs",
        "crates/shop/src/a/very/deep/folder/with/many/parts/in/it/that/is/longer/than/a/row/parser_tests.rs",
        "docs/parser.md",
    ];
    News::Files(Arc::new(Files::new(paths)))
}

#[test]
fn files_are_completed() {
    check("popup-files", &start(), &script![opened(), typed("look at @"), files(), typed("pars")]);
    check(
        "popup-files-taken",
        &start(),
        &script![opened(), typed("look at @"), files(), typed("pars<Down><CR>and")],
    );
}

#[test]
fn history_is_searched() {
    check("history-search", &start(), &script![opened(), typed("<C-r>pars")]);
}

pub(crate) fn models() -> Vec<Step> {
    let item = |value: &str, detail: &str, more: &[&str]| Item {
        value: value.into(),
        label: value.into(),
        detail: detail.into(),
        more: more.iter().map(|line| (*line).to_owned()).collect(),
    };
    let (coder, local) = ("openrouter,qwen3-coder", "local,qwen2.5-coder:32b");
    let fares = "healthy · 640 ms · $0.2 in, $0.8 out a million tokens";
    let items = vec![
        item(
            "code",
            &format!("{coder} and 1 behind it"),
            &[&format!("1. {coder}  {fares}"), &format!("2. {local}  circuit open · 50 % failed · free")],
        ),
        item("fast", "groq,llama-3.3-70b", &["1. groq,llama-3.3-70b  not asked lately · price not known"]),
        item(coder, fares, &[]),
        item(
            local,
            "circuit open · 50 % failed · free",
            &[
                "last failure: connection refused at 127.0.0.1:11434; is the server of the model running on this machine?",
            ],
        ),
    ];
    script![opened(), News::Picker(PickerKind::Models, items)]
}

#[test]
fn models_are_picked() {
    check("pick-model", &start(), &models());
    check("pick-model-narrowed", &start(), &[models(), script![typed("qwen<Down>")]].concat());
}

#[test]
fn a_message_to_go_back_to_is_picked() {
    let item = |at: u64, text: &str| Item {
        value: at.to_string(),
        label: text.into(),
        detail: format!("{} files", at * 2),
        more: vec![],
    };
    let items = (1..=14).map(|at| item(at, &format!("message {at}: please change this and that"))).collect();
    let picker = News::Picker(PickerKind::Rewind, items);
    check("pick-rewind", &start(), &script![opened(), picker.clone()]);
    check("pick-rewind-what", &start(), &script![opened(), picker, typed("<Up><CR>")]);
}

#[test]
fn a_theme_is_picked() {
    check("pick-theme", &start(), &script![opened(), typed("/theme<CR>")]);
}

/// The terminal of the tests does not fold rows anew, and what is above the cursor must be short enough to stay as it is.
#[test]
fn another_size_while_an_answer_streams_in() {
    let short = "Words that fit in a row";
    let long = " until they do not, since more of them come in, and then they are folded as often as it takes to show all of them.";
    let steps = |before: &str, columns, rows, after: &str| {
        working(script![text("A line.\n\n"), text(before), Step::Resize(columns, rows), text(after)])
    };
    check("resized-narrower", &start(), &steps(short, 36, 12, long));
    check("resized-lower", &start(), &steps(short, 40, 6, long));
    check("resized-wider", &start(), &steps(&format!("{short}{long}"), 130, 30, " And it goes on."));
}

#[test]
fn much_is_typed() {
    let lines: Vec<String> = (1..=20).map(|at| format!("line {at} of what is typed")).collect();
    check("input-tall", &start(), &script![opened(), typed(&lines.join("<A-CR>")), typed("<Up><Up>")]);
    let long = "one long line that is broken between its words because it does not fit in the row that there is for it, twice";
    check("input-long", &start(), &script![opened(), typed(long)]);
}

#[test]
fn much_is_pasted() {
    let text = (1..=30).map(|at| format!("line {at}\n")).collect::<String>();
    check(
        "input-pasted",
        &start(),
        &script![
            opened(),
            typed("read this: "),
            Step::Paste(text),
            typed(" and this"),
            Step::Paste("short\ntext".into()),
            News::Image(crate::keys::image("one"))
        ],
    );
}

#[test]
fn the_keys_are_listed() {
    check("keys", &start(), &script![opened(), typed("/keys<CR>")]);
}
