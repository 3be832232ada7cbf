//! Screens of the conversation: answers that stream in, results of calls, ends of tasks.

use rail_proto::{Finish, NoteKind, Reason, SessionEvent, Shown};
use rail_tui::{Extent, Start};
use serde_json::json;

use crate::screens::{Step, check, check_themes, script, typed};
use crate::screens_script::*;

/// A script behind a question.
fn after(ask: &str, steps: Vec<Step>) -> Vec<Step> {
    begun(ask).into_iter().chain(steps).collect()
}

fn verbose() -> Start {
    Start { extent: Extent::Verbose, ..start() }
}

const ANSWER: &str = "The parser fails because `next()` is called **twice** at the end of a line: once by the loop, and once \
by [`Tokens::skip`](https://example.org/docs/tokens).\n\n## What to change\n\n1. Make `skip` peek instead of taking the token, so \
that the loop sees it.\n2. Add a test with a line that ends in a comment";

const CODE: &str = "Here is how it reads now:\n\n```rust\n/// Skips blanks and comments.\nfn skip(&mut self) -> Option<Token> \
{\n    while let Some(token) = self.peek() {\n        if !token.is_blank() { // 1\n            return Some(token);\n        }\n  ";

#[test]
fn a_paragraph_streams_in() {
    check(
        "streams-paragraph",
        &start(),
        &after("why does the parser fail?", script![text(ANSWER), Step::Tick(4_200)]),
    );
}

#[test]
fn a_code_block_streams_in() {
    check(
        "streams-code",
        &start(),
        &after("why does the parser fail?", script![text(CODE), Step::Tick(900)]),
    );
}

#[test]
fn an_answer_comes_letter_by_letter() {
    let pieces = ANSWER.char_indices().map(|(at, c)| Step::from(text(&ANSWER[at..at + c.len_utf8()])));
    check("streams-letters", &start(), &after("why does the parser fail?", pieces.collect()));
}

#[test]
fn reasoning_streams_in_and_is_over() {
    let steps = script![thinking("The user wants\nto know why the parser"), Step::Tick(2_500)];
    check("thinks", &start(), &after("why?", steps.clone()));
    let over = steps.into_iter().chain(script![text("Because")]).collect();
    check("thought", &start(), &after("why?", over));
    let steps = script![thinking("The user wants\nto know why."), text("Because")];
    check("thought-verbose", &verbose(), &after("why?", steps));
}

pub(crate) fn edited() -> Vec<Step> {
    let lines = " impl Parser {\n     /// Skips blanks.\n-    fn skip(&mut self) -> Option<Token> {\n-        self.next()\n+    fn \
skip(&mut self) -> Option<&Token> {\n+        self.peek()\n     }\n \n     fn line(&mut self) {\n+        let end = self.end;\n+        \
self.skip();\n+        assert_eq!(end, self.end, \"nothing is taken\");\n     }";
    let files = vec![change("src/parser.rs", 118, lines)];
    let shown = Some(Shown::Diff { files, lines: 6 });
    script![
        text("I let it peek."),
        call("c1", "Edit", json!({"file_path": "src/parser.rs", "old_string": "next", "new_string": "peek"})),
        result("c1", Finish::Done, "done", shown),
    ]
}

#[test]
fn a_file_was_changed() {
    check("diff", &start(), &after("repair it", edited()));
    check("diff-verbose", &verbose(), &after("repair it", edited()));
}

#[test]
fn verbose_is_switched() {
    let steps = edited().into_iter().chain(script![typed("<C-o>")]).collect();
    check("switched-to-verbose", &start(), &after("repair it", steps));
}

#[test]
fn calls_end_as_they_may() {
    let error = "error[E0308]: mismatched types\n  --> src/parser.rs:121:9\n   |\n121 |         self.peek()\n   |         ^^^^^^^^^^^ \
expected `Option<Token>`, found `Option<&Token>`\n\nerror: could not compile `shop` (lib) due to 1 previous error";
    let list = "src/lexer.rs:12: fn skip\nsrc/parser.rs:118: fn skip\nsrc/parser.rs:204: self.skip();\nsrc/parser.rs:288: self.skip();";
    let steps = script![
        call("c1", "Grep", json!({"pattern": "fn skip", "path": "src"})),
        result("c1", Finish::Done, list, preview(list, 3)),
        call("c2", "Bash", json!({"command": "cargo test -p shop\ncargo clippy"})),
        result("c2", Finish::Failed, error, None),
        call("c3", "Bash", json!({"command": "git push --force"})),
        result("c3", Finish::Denied, "The user did not allow it: push to a branch instead", None),
        call("c4", "Bash", json!({"command": "sleep 600"})),
        result("c4", Finish::Cancelled, "", None),
    ];
    check("results", &start(), &after("why does it not compile?", steps.clone()));
    check("results-verbose", &verbose(), &after("why does it not compile?", steps));
}

#[test]
fn calls_run() {
    let steps = script![
        text("I look at both."),
        call("c1", "Read", json!({"file_path": "src/parser.rs"})),
        call(
            "c2",
            "Bash",
            json!({"command": "cargo test -p shop -- --nocapture parser::tests::a_comment_at_the_end_of_a_line"})
        ),
        SessionEvent::ToolProgress {
            id: "c2".into(),
            text: "   Compiling shop v0.1.0\n    Running tests".into()
        },
        Step::Tick(12_400),
    ];
    check("calls-run", &start(), &after("why?", steps));
}

#[test]
fn tasks_end_as_they_may() {
    let ends = [
        ("done-answered", Reason::Answered, "All tests pass."),
        (
            "done-failed",
            Reason::Failed,
            "every target of `code` failed: openrouter,qwen3-coder says 402 (out of credit)",
        ),
        ("done-interrupted", Reason::Interrupted, ""),
        ("done-budget", Reason::Budget, "$5.00 of $5.00 are spent; raise it with `--max-budget-usd`"),
        ("done-turns", Reason::TurnLimit, ""),
    ];
    for (name, reason, words) in ends {
        check(
            name,
            &start(),
            &after(
                "run the tests",
                script![text("I ran them:\n\n- 41 passed\n- none failed"), done(reason, words)],
            ),
        );
    }
}

#[test]
fn a_step_is_asked_again() {
    let restarted = SessionEvent::Restarted { step: 1, why: "nothing came for 60s".into() };
    let note = SessionEvent::Note {
        kind: NoteKind::Failover,
        text: "openrouter,qwen3-coder stalled; asking local,qwen2.5 instead".into(),
    };
    let steps = script![text("First half.\n\nSecond ha"), restarted, note, text("All of it, this time.")];
    check("restarted", &start(), &after("explain it", steps));
}

#[test]
fn long_lines() {
    let url = "https://example.org/a/very/long/path/that/does/not/end/before/the/terminal/does?query=of+some+length&page=7#section-12";
    let code = format!("let row = [{}];", (0..60).map(|at| at.to_string()).collect::<Vec<_>>().join(", "));
    let word = "a".repeat(200);
    let answer =
        format!("See {url} for it.\n\n```rust\n{code}\n```\n\nA word: {word} ends.\n\n- in a list: {word}\n");
    check("long-lines", &start(), &after("show long lines", script![text(&answer)]));
    let open = format!("See {url} for it, and {word} too");
    check("long-lines-open", &start(), &after("show long lines", script![text(&open)]));
}

#[test]
fn wide_signs() {
    let answer = "パーサーは行末で `next()` を二回呼ぶので失敗します。一回はループ、もう一回は **skip** です。直し方は次のとおりです。\n\n\
- 先読みにする\n- コメントで終わる行のテストを足す\n\n| 関数 | 役割 |\n| --- | --- |\n| skip | 空白を飛ばす |\n\n```rust\nlet 名前 = \
\"日本語の文字列\"; // 注釈\n```\n";
    let steps = script![text(answer), typed("日本語で入力する")];
    check("cjk", &start(), &after("なぜ失敗しますか?", steps));
}

#[test]
fn emoji_and_marks_that_combine() {
    let answer = "Done ✅ by 👍, cafe\u{301} and nai\u{308}ve, a flag 🇩🇪 and a heart ❤\u{fe0f}.\n\n- 🚀 faster\n- 🐛 mended";
    check(
        "emoji",
        &start(),
        &after("say it with signs 🎉", script![text(answer), typed("e\u{301} 👍 ok<Left><Left>")]),
    );
}

#[test]
fn looks_by_theme() {
    let parts = |ask: &str| {
        after(ask, script![text(ANSWER), text("\n\n```rust\nfn f() -> u8 { 7 } // seven\n```\n")])
    };
    check_themes("themes-answer", &start(), &parts("why does the parser fail?"));
    check_themes("themes-diff", &start(), &after("repair it", edited()));
}
