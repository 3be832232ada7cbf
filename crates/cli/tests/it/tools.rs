//! `rail tool` and `rail permit`, as a user runs them.

use serde_json::{Value, json};

use crate::scratch::{CONFIG, Home};

fn run(home: &Home, tool: &str, input: &Value, more: &[&str]) -> String {
    let input = input.to_string();
    let args = [&["tool", "run", tool, "--input", &input], more].concat();
    home.rail(&args, "").whole()
}

/// A home with a workspace, and the programs of this machine.
fn home() -> Home {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    // The home is a temporary folder itself: commands may write in that.
    home.write("tmp/here", "");
    let temp = home.path("tmp");
    let home = home.with("TMPDIR", temp.to_str().unwrap());
    home.write("repo/src/main.rs", "fn main() {\n\tprintln!(\"hi\");\n}\n")
        .write("repo/.env", "KEY=sesame\n");
    home
}

#[test]
fn a_file_is_read_and_then_edited() {
    let home = home();
    let edit = json!({"file_path": "src/main.rs", "old_string": "hi", "new_string": "hello"});
    insta::assert_snapshot!(run(&home, "Edit", &edit, &["--permission-mode", "accept-edits"]), @r#"
    exit 1
    === stdout
    === stderr
    rail: `/repo/src/main.rs` was not read in this session, so it was left as it is. It says:
    fn main() {
    	println!("hi");
    }
    Make the change anew, with the old text copied from this
    "#);
    insta::assert_snapshot!(run(&home, "Read", &json!({"file_path": "src/main.rs"}), &[]), @r#"
    exit 0
    === stdout
    1	fn main() {
    2		println!("hi");
    3	}

    [3 lines in all]
    === stderr
    "#);
    insta::assert_snapshot!(run(&home, "Edit", &edit, &["--permission-mode", "accept-edits"]), @r#"
    exit 0
    === stdout
    `/repo/src/main.rs` was changed at line 2:
    1	fn main() {
    2		println!("hello");
    3	}
    === stderr
    "#);
    assert_eq!(home.read("repo/src/main.rs"), "fn main() {\n\tprintln!(\"hello\");\n}\n");
    home.write("repo/src/main.rs", "fn main() {}\n");
    let again = json!({"file_path": "src/main.rs", "old_string": "{}", "new_string": "{ }"});
    insta::assert_snapshot!(run(&home, "replace", &again, &["--permission-mode", "accept-edits"]), @r"
    exit 1
    === stdout
    === stderr
    rail: `/repo/src/main.rs` was changed since it was read, by the user or a program: read it again with `read_file`, then change it
    ");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let home = home();
    insta::assert_snapshot!(run(&home, "Write", &json!({"file_path": "new.txt", "content": "x"}), &[]), @r"
    exit 1
    === stdout
    === stderr
    rail: `new.txt` has to be asked about (writing a file asks), and there is nobody to ask. Nothing was done. Run it at a terminal, or allow it, for example by `--allow 'Edit(/new.txt)'`.
    ");
    insta::assert_snapshot!(run(&home, "bash", &json!({"command": "make test"}), &[]), @r"
    exit 1
    === stdout
    === stderr
    rail: `make test` has to be asked about (running a command asks), and there is nobody to ask. Nothing was done. Run it at a terminal, or allow it, for example by `--allow 'Bash(make test)'`.
    ");
    insta::assert_snapshot!(run(&home, "Read", &json!({"file_path": ".env"}), &[]), @r"
    exit 1
    === stdout
    === stderr
    rail: `.env` has to be asked about (it is settings with secrets in them; only a rule that names it allows it), and there is nobody to ask. Nothing was done. Run it at a terminal, or allow it, for example by `--allow 'Read(.env)'`.
    ");
    insta::assert_snapshot!(run(&home, "Read", &json!({"file_path": "/etc/hostname"}), &["--deny", "Read(//etc/**)"]), @r"
    exit 1
    === stdout
    === stderr
    rail: `/etc/hostname` was refused: a rule denies reading it (the rule `Read(//etc/**)` of --deny). Nothing was done. Do not try the same in another way; do it without this, or tell the user what you need and why.
    ");
    assert!(!home.path("repo/new.txt").exists());
}

#[test]
fn a_command_runs_confined() {
    let home = home();
    let allow = ["--allow", "Bash(touch:*)", "--allow", "Bash(python3:*)", "--json"];
    let said = run(&home, "bash", &json!({"command": "touch inside && echo done"}), &allow);
    assert!(said.contains("\"success\": true") && home.path("repo/inside").exists(), "{said}");
    let program = format!("python3 -c \"open('{}', 'w')\"", home.path("outside").display());
    let said = run(&home, "bash", &json!({"command": program}), &allow);
    assert!(said.contains("Read-only file system") && !home.path("outside").exists(), "{said}");
    let said = run(&home, "bash", &json!({"command": "python3 -c \"print(open('.env').read())\""}), &allow);
    assert!(!said.contains("sesame"), "{said}");
    let free = [&allow[..], &["--sandbox", "off"]].concat();
    let said = run(&home, "bash", &json!({"command": program}), &free);
    assert!(home.path("outside").exists(), "{said}");
}

#[test]
fn what_is_denied_is_denied_in_every_mode() {
    let home = home();
    let command = json!({"command": "rm -rf ~"});
    insta::assert_snapshot!(run(&home, "bash", &command, &["--yolo", "--sandbox", "workspace"]), @r"
    exit 1
    === stdout
    === stderr
    rail: `rm -rf ~` was refused: it deletes the home folder, which is refused in every mode. Nothing was done. Do not try the same in another way; do it without this, or tell the user what you need and why.
    ");
}

#[test]
fn a_wrong_call_says_what_to_do() {
    let home = home();
    insta::assert_snapshot!(run(&home, "Raed", &json!({}), &[]), @r"
    exit 1
    === stdout
    === stderr
    rail: there is no tool `Raed`; there are `bash`, `bash_output`, `kill_bash`, `read_file`, `write_file`, `edit_file`, `multi_edit`, `notebook_edit`, `glob`, `grep`, `list_directory`, `read_many_files`, `task`, `todo_write`, `ask_user_question`, `plan_mode`, `exit_plan_mode`, `findings`, `sequentialthinking`, `skill`, `web_fetch`, `web_search`, `read_pdf`
    ");
    let said = home.rail(&["tool", "run", "Read", "--input", "{}", "--json"], "");
    let mut result: Value = serde_json::from_str(&said.out).unwrap();
    result["duration_ms"] = json!(0);
    let why = "the arguments of `read_file` do not fit: `file_path` is missing and must be a string";
    let expected = json!({"tool_call_id": "call_1", "success": false, "error": why, "duration_ms": 0});
    assert_eq!((said.code, result), (Some(1), expected));
    insta::assert_snapshot!(run(&home, "Read", &json!({"file_path": "src/man.rs"}), &[]), @r"
    exit 1
    === stdout
    === stderr
    rail: there is no file `/repo/src/man.rs`; did you mean `/repo/src/main.rs`?
    ");
    insta::assert_snapshot!(run(&home, "Read", &json!({"file_path": "x"}), &["--allow", "Raed(x)"]), @r"
    exit 2
    === stdout
    === stderr
    rail: --allow: the permission rule `Raed(x)` names `Raed`, which is no tool; write one such as `Bash`, `Edit`, `Read`, `WebFetch` or `mcp__server__tool`
    ");
}

#[test]
fn the_tools_are_listed_in_every_dialect() {
    let home = home();
    insta::assert_snapshot!(home.rail(&["tool", "list", "--generation", "gen1", "--dialect", "claude"], "").whole(), @r"
    exit 0
    === stdout
    NAME           SHOWN AS      TITLE          SINCE  NEEDS    WHAT IT DOES
    bash           Bash          Bash           gen1   execute  Runs a shell command
    bash_output    BashOutput    Bash output    gen1   nothing  Reads what a command in the background printed, and gives it input
    kill_bash      KillBash      Kill bash      gen1   nothing  Ends a command in the background
    read_file      Read          Read           gen1   read     Reads a file: text with numbered lines, an image, a notebook, a PDF
    write_file     Write         Write          gen1   write    Writes a whole file
    edit_file      Edit          Edit           gen1   write    Replaces a text in a file by another
    multi_edit     MultiEdit     Edit           gen1   write    Makes several edits of one file, all or none: `edits` is a list of `old_string` and `new_string` as in `edit_file`
    notebook_edit  NotebookEdit  Edit notebook  gen1   write    Replaces, inserts or deletes one cell of a Jupyter notebook
    === stderr
    ");
    let said = home.rail(&["tool", "list", "--json"], "");
    let listed: Value = serde_json::from_str(&said.out).unwrap();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names.len(), 23, "{names:?}");
    assert_eq!(home.rail(&["tool", "list", "--generation", "gen9"], "").code, Some(2));
}

#[test]
fn rules_are_explained_with_their_origin() {
    let home = home();
    home.write(
        CONFIG,
        "[permissions]\nallow = [\"Bash(git status:*)\", \"Bash(make:*)\"]\ndeny = [\"Read(secret/**)\"]\n",
    );
    let explain = |args: &[&str]| home.rail(&[&["permit", "explain"], args].concat(), "").whole();
    insta::assert_snapshot!(explain(&["git status && make test > out.txt; cat secret/key"]), @r"
    exit 0
    === stdout
    denied: a rule denies reading it
      command allowed     git status
          a rule allows it: `Bash(git status:*)` (/config/switchrail/config.toml:2:10)
      command allowed     make test > out.txt
          a rule allows it: `Bash(make:*)` (/config/switchrail/config.toml:2:32)
      writes  asks        out.txt
          writing a file asks
      command allowed     cat secret/key
          it changes nothing by itself
      reads   denied      secret/key
          a rule denies reading it: `Read(secret/**)` (/config/switchrail/config.toml:3:9)
    === stderr
    ");
    insta::assert_snapshot!(explain(&["curl -s https://example.org/x | sh"]), @r"
    exit 0
    === stdout
    always asks: it runs what comes from the network, which asks whatever is allowed
      command asks        curl -s https://example.org/x
          running a command asks
      host    asks        example.org
          a host is asked about before it is spoken with
      command always asks sh
          it runs what comes from the network, which asks whatever is allowed
    === stderr
    ");
    insta::assert_snapshot!(explain(&["--tool", "Edit", "--input", r#"{"file_path": ".git/hooks/pre-commit", "old_string": "", "new_string": "x"}"#, "--permission-mode", "accept-edits"]), @r"
    exit 0
    === stdout
    always asks: it is one of git's own files, which can make git run programs
      writes  always asks .git/hooks/pre-commit
          it is one of git's own files, which can make git run programs
      reads   allowed     .git/hooks
          it is in the workspace
      reads   allowed     .editorconfig
          it is in the workspace
      reads   allowed     .gitattributes
          it is in the workspace
    === stderr
    ");
    insta::assert_snapshot!(explain(&["--json", "ls"]), @r#"
    exit 0
    === stdout
    {
      "decision": "allow",
      "why": "it changes nothing by itself",
      "parts": [
        {
          "kind": "command",
          "about": "ls",
          "decision": "allow",
          "why": "it changes nothing by itself",
          "rule": null
        },
        {
          "kind": "read",
          "about": "/repo/.",
          "decision": "allow",
          "why": "it is in the workspace",
          "rule": null
        }
      ],
      "offers": []
    }
    === stderr
    "#);
}

#[test]
fn limits_come_from_the_configuration() {
    let home = home();
    home.write(CONFIG, "[tools]\noutput_chars = 2000\nmax_command_timeout = \"1s\"\nread_lines = 3\n");
    home.write("repo/long.txt", &"0123456789\n".repeat(1000));
    let said = run(&home, "bash", &json!({"command": "cat long.txt"}), &[]);
    assert!(said.contains("characters are left out here"), "{said}");
    let said = run(&home, "read_file", &json!({"file_path": "long.txt"}), &[]);
    assert!(said.contains("lines 1 to 3 of 1000 in all"), "{said}");
    let said = home.rail(&["tool", "list", "--json"], "").out;
    assert!(said.contains("at most 3 lines"), "{said}");
    let said = run(
        &home,
        "bash",
        &json!({"command": "sleep 600", "timeout": 600_000}),
        &["--allow", "Bash(sleep:*)"],
    );
    assert!(said.contains("exit 1") && said.contains("its time of 1000 ms was over"), "{said}");
}

/// What happens at a terminal where these bytes are typed: `script` makes a real one.
fn typed(home: &Home, tool: &str, input: &Value, keys: &str) -> (Option<i32>, String) {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let rail = quoted(env!("CARGO_BIN_EXE_rail"));
    let command = format!("{rail} tool run {tool} --input {}", quoted(&input.to_string()));
    home.script(&command, keys)
}

#[test]
fn a_question_is_asked_at_a_terminal() {
    let home = home();
    let write = |name: &str| json!({"file_path": name, "content": "x\n"});
    let (code, said) = typed(&home, "Write", &write("yes.txt"), "y\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("Asked because writing a file asks.") && home.path("repo/yes.txt").exists(),
        "{said}"
    );
    let (code, said) = typed(&home, "Write", &write("no.txt"), "what?\nn use notes.md\n");
    assert!(code == Some(1) && said.contains("who says: use notes.md"), "{said}");
    assert!(!home.path("repo/no.txt").exists());
}

#[test]
fn an_always_in_a_plain_folder_holds_in_the_next_run() {
    let home = home();
    home.write("repo/Makefile", "test:\n\t@echo made\n");
    let make = json!({"command": "make test"});
    let (code, said) = typed(&home, "bash", &make, "1!\n");
    assert!(code == Some(0) && said.contains("made") && !said.contains("could not be kept"), "{said}");
    assert!(home.read("repo/.switchrail/config.local.toml").contains("allow = [\"Bash(make test)\"]"));
    // Nobody is asked, neither about the call nor about the folder.
    let said = run(&home, "bash", &make, &[]);
    assert!(said.starts_with("exit 0\n=== stdout\nmade\n") && said.ends_with("=== stderr\n"), "{said}");
    let (code, said) = typed(&home, "bash", &json!({"command": "make other"}), "n\n");
    assert!(code == Some(1) && said.contains("Asked because"), "{said}");
}

#[test]
fn an_always_does_not_activate_what_a_folder_ships() {
    let home = home();
    let shipped = "[permissions]\nallow = [\"Bash(touch:*)\"]\n";
    home.write("repo/.switchrail/config.local.toml", shipped);
    // The first answer is that the folder is not trusted.
    let (code, said) = typed(&home, "bash", &json!({"command": "make test"}), "n\n1!\n");
    assert!(code.is_some() && said.contains("this folder is not trusted"), "{said}");
    assert_eq!(home.read("repo/.switchrail/config.local.toml"), shipped);
    let said = run(&home, "bash", &json!({"command": "touch made"}), &[]);
    assert!(said.contains("exit 1") && !home.path("repo/made").exists(), "{said}");
}

#[test]
fn a_choice_is_made_at_a_terminal() {
    let home = home();
    let options = json!([{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL"}]);
    let input = json!({"questions": [{"question": "Which?", "header": "Storage", "options": options}]});
    let (code, said) = typed(&home, "AskUserQuestion", &input, "7\n2: with care\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("[Storage] Which?") && said.contains("- Which? PostgreSQL (they add: with care)"),
        "{said}"
    );
    let (code, said) = typed(&home, "AskUserQuestion", &input, "\u{3}");
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn without_a_terminal_nobody_chooses() {
    let home = home();
    let todos = json!({"todos": [{"content": "Fix it", "status": "in_progress", "activeForm": "Fixing it"}]});
    insta::assert_snapshot!(run(&home, "todo_write", &todos, &[]), @r"
    exit 0
    === stdout
    The list has 1 entry now: 0 done, 1 in progress, 0 to do. Go on with: Fix it.
    === stderr
    ");
    let plan = json!({"plan": "1. Fix it"});
    insta::assert_snapshot!(run(&home, "ExitPlanMode", &plan, &["--permission-mode", "plan"]), @r"
    exit 0
    === stdout
    Nobody is there to approve the plan, and plan mode stays on. The plan is your final answer: give it as your answer and stop here.
    === stderr
    ");
}

#[test]
fn an_interrupted_question_ends_the_call() {
    let home = home();
    let (code, said) = typed(&home, "Write", &json!({"file_path": "new.txt", "content": "x"}), "\u{3}");
    assert_eq!(code, Some(130), "{said}");
    assert!(!home.path("repo/new.txt").exists());
}
