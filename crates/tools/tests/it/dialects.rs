//! What tools say names tools and parameters as the model knows them; what they show is never changed.

use rail_tool::{Limits, Picked};
use serde_json::{Value, json};

use crate::person::Person;
use crate::scratch::{Scratch, timeless};

/// What a call says in each of these dialects, with these files.
fn check(files: &[(&str, &str)], (tool, input): (&str, Value), expected: [(&str, &str); 3]) {
    for (dialect, words) in expected {
        let scratch = Scratch::shown(dialect, |_| ());
        files.iter().for_each(|(name, text)| drop(scratch.write(name, text)));
        let said = timeless(&scratch.says(tool, &input));
        assert!(said.contains(words), "{dialect}: {said}");
    }
}

#[test]
fn faults_and_notes_are_in_the_dialect_s_names() {
    let call = ("edit_file", json!({"file_path": "{workspace}/a", "old_string": "x", "new_string": "y"}));
    // Too long to be shown at once.
    let long = "x\n".repeat(2_000);
    check(
        &[("a", &long)],
        call,
        [
            ("native", "read it with `read_file` first"),
            ("claude", "with `Read` first"),
            ("gemini", "with `read_file`"),
        ],
    );
    let call = ("grep", json!({"pattern": "x", "glob": "*.none"}));
    check(
        &[("a", "x")],
        call,
        [
            ("native", "no file fits `glob` and `type`. Leave them out, or list files with `glob`."),
            ("claude", "no file fits `glob` and `type`. Leave them out, or list files with `Glob`."),
            ("gemini", "no file fits `include` and `type`. Leave them out, or list files with `glob`."),
        ],
    );
    let call = ("glob", json!({"pattern": "*", "path": "a"}));
    check(
        &[("a", "x")],
        call,
        [
            ("native", "`a` is a file; give a folder as `path`, or use `grep` to search in it"),
            ("claude", "give a folder as `path`, or use `Grep`"),
            ("gemini", "give a folder as `dir_path`, or use `search_file_content`"),
        ],
    );
    let call = ("bash", json!({"command": "true", "run_in_background": true}));
    check(
        &[],
        call,
        [
            ("native", "with `bash_output`"),
            ("claude", "end it with `KillBash`"),
            ("gemini", "end it with `kill_bash`"),
        ],
    );
}

#[test]
fn tools_for_planning_speak_in_the_dialect_s_names_and_leave_the_user_s_words_alone() {
    let said = "not `read_file`, ‹read_file›";
    let picked = Picked { options: vec![0], said: Some(said.to_owned()) };
    let says = |tool: &str, input: Value| {
        let scratch = Scratch::answered("claude", Person::picking(vec![picked.clone()]));
        let said = scratch.says(tool, &input);
        said.split("\nHow `").next().unwrap().to_owned()
    };
    insta::assert_snapshot!(says("plan_mode", json!({})), @"ok: Plan mode is on: nothing is changed until the user approves a plan. Read what you need, keep what you find with `findings`, then give the plan to `ExitPlanMode`. The user adds: not `read_file`, ‹read_file›");
    insta::assert_snapshot!(says("exit_plan_mode", json!({"plan": "x"})), @"error: plan mode is not on, so there is nothing to leave: go on with the work, or propose to plan first with `EnterPlanMode`");
    let question =
        json!({"question": "Use ‹grep›?", "header": "x", "options": [{"label": "‹glob›"}, {"label": "b"}]});
    insta::assert_snapshot!(says("ask_user_question", json!({"questions": [question]})), @r"
    ok: The user answered:
    - Use ‹grep›? ‹glob› (they add: not `read_file`, ‹read_file›)
    ");
    let todo = json!({"content": "‹grep› it", "status": "in_progress"});
    insta::assert_snapshot!(says("todo_write", json!({"todos": [todo]})), @"ok: The list has 1 entry now: 0 done, 1 in progress, 0 to do. Go on with: ‹grep› it.");
    insta::assert_snapshot!(says("todo_write", json!({"todos": [todo, todo]})), @"error: the list was left as it is: entries 1 and 2 are both `‹grep› it`: write each thing once");
    insta::assert_snapshot!(says("findings", json!({"action": "list", "file": "‹grep›"})), @"ok: There are no findings about `‹grep›`, of 0 findings in all.");
    let call = ("bash", json!({"command": "vi a"}));
    check(
        &[],
        call,
        [
            ("native", "Change files with `edit_file` or `write_file`"),
            (
                "claude",
                "`vi` waits for keys at a terminal, which commands do not have; the command was not run. Change files with `Edit` or `Write`",
            ),
            ("gemini", "Change files with `replace` or `write_file`"),
        ],
    );
}

/// A file may be called as a tool is, and may speak of tools.
#[test]
fn what_is_shown_is_never_renamed() {
    let text = "use `read_file`, ‹read_file› and `grep`\n";
    for dialect in ["claude", "gemini"] {
        let scratch = Scratch::shown(dialect, |_| ());
        scratch.write("a.txt", text);
        for (tool, input) in [
            ("read_file", json!({"file_path": "{workspace}/a.txt"})),
            ("read_many_files", json!({"paths": ["a.txt"]})),
            ("grep", json!({"pattern": "use", "output_mode": "content"})),
            ("bash", json!({"command": "cat a.txt"})),
            ("bash", json!({"command": "cat a.txt; exit 1"})),
        ] {
            let said = scratch.says(tool, &input);
            assert!(said.contains(text.trim_end()), "{tool}: {said}");
        }
        scratch.write("grep", "x");
        let said = scratch.says("glob", &json!({"pattern": "*", "path": "grep"}));
        assert!(said.contains("`grep` is a file; give a folder"), "{said}");
        let said = scratch.says("list_directory", &json!({"path": "{workspace}"}));
        assert!(said.contains("\ngrep (1 byte)"), "{said}");
    }
}

#[test]
fn a_tool_is_explained_in_the_dialect_s_names() {
    let scratch = Scratch::shown("claude", |_| ());
    scratch.write("a.txt", "x");
    let outcome = scratch.run("read_many_files", &json!({"paths": ["a.txt"]}));
    let text = outcome.text();
    assert!(text.contains("and `Read` reads it, with line numbers too"), "{text}");
    let scratch = Scratch::shown("gemini", |_| ());
    let text = scratch.run("read_many_files", &json!({"include": []})).text();
    assert!(
        text.contains("`include` is empty") && text.contains("- `include` are files, folders or patterns"),
        "{text}"
    );
}

#[test]
fn a_cut_output_names_the_tools_that_read_it() {
    let scratch =
        Scratch::shown("claude", |session| session.limits = Limits { output_chars: 20, ..Limits::default() });
    let said = scratch.says("bash", &json!({"command": "seq 100"}));
    assert!(said.contains("read it in parts with `Read`, or search it with `Grep`"), "{said}");
}

#[test]
fn a_call_that_can_t_be_run_is_told_in_the_dialect_s_names() {
    let says = |dialect: &str, tool: &str, input: Value| Scratch::shown(dialect, |_| ()).says(tool, &input);
    insta::assert_snapshot!(says("claude", "frobnicate_the_world", json!({})), @"error: there is no tool `frobnicate_the_world`; there are `Bash`, `BashOutput`, `KillBash`, `Read`, `Write`, `Edit`, `MultiEdit`, `NotebookEdit`, `Glob`, `Grep`, `LS`, `read_many_files`, `Task`, `TodoWrite`, `AskUserQuestion`, `EnterPlanMode`, `ExitPlanMode`, `findings`, `sequentialthinking`, `Skill`, `WebFetch`, `WebSearch`, `image`, `read_pdf`");
    insta::assert_snapshot!(says("gemini", "frobnicate_the_world", json!({})), @"error: there is no tool `frobnicate_the_world`; there are `run_shell_command`, `bash_output`, `kill_bash`, `read_file`, `write_file`, `replace`, `multi_edit`, `notebook_edit`, `glob`, `search_file_content`, `list_directory`, `read_many_files`, `task`, `write_todos`, `ask_user`, `enter_plan_mode`, `exit_plan_mode`, `findings`, `sequentialthinking`, `activate_skill`, `web_fetch`, `google_web_search`, `image`, `read_pdf`");
    insta::assert_snapshot!(says("claude", "reed_fil", json!({})), @"error: there is no tool `reed_fil`; did you mean `Read`?");
    insta::assert_snapshot!(says("gemini", "grep", json!({"pattern": "x", "path": {"a": 1}})), @"error: the arguments of `search_file_content` do not fit: `dir_path` is an object, but must be a string");
    insta::assert_snapshot!(says("claude", "edit_file", json!({"file_path": "/a"})), @"error: the arguments of `Edit` do not fit: `old_string` is missing and must be a string; `new_string` is missing and must be a string");
}
