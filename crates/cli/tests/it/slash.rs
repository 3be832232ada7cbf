//! Slash commands, files that a prompt names, and images, through `rail -p`.

use rail_model::{Part, PartBody, Role};
use rail_testkit::Models;
use serde_json::json;

use crate::scratch::{CONFIG, Home};
use crate::sessions::{calls, config, good, said, talking};

/// What the user said in the last request, `IMAGE` for an image; the protocol makes one text of several.
fn last(models: &Models) -> String {
    let asked = models.requests().pop().unwrap();
    let messages = &asked.request().unwrap().messages;
    let message = messages.iter().rfind(|message| message.role == Role::User).unwrap();
    let part = |part: &Part| match &part.body {
        PartBody::Media(_) => "IMAGE".to_owned(),
        _ => part.as_text().unwrap_or("?").to_owned(),
    };
    message.parts.iter().map(part).collect::<Vec<_>>().join("\n\n")
}

/// The smallest image there is.
const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

#[test]
fn files_that_a_prompt_names_are_attached() {
    let (home, models) = talking(vec![said("ok").repeat()]);
    home.write("repo/.env", "KEY=sesame\n");
    std::fs::write(home.path("repo/dot.gif"), GIF).unwrap();
    good(&home, &["-p", "see @a.txt and @a.txt, @Override, me@b.c"]);
    let numbered = "1\t1\n2\t2\n3\t3\n4\t4\n5\t5\n6\t6\n\n[6 lines in all]";
    let expected =
        format!("see @a.txt and @a.txt, @Override, me@b.c\n\nWhat `@a.txt` holds now:\n\n{numbered}");
    assert_eq!(last(&models), expected);
    good(&home, &["-p", "see @dot.gif"]);
    assert!(
        last(&models).contains("What `@dot.gif` holds now:") && last(&models).contains("IMAGE"),
        "{}",
        last(&models)
    );
    let secret = home.rail(&["-p", "see @.env"], "");
    assert_eq!(secret.code, Some(0), "{}", secret.whole());
    assert!(secret.err.contains("`@.env` is not attached"), "{}", secret.err);
    assert_eq!(last(&models), "see @.env");
}

#[test]
fn images_are_attached_and_what_is_none_is_said() {
    let (home, models) = talking(vec![said("ok").repeat()]);
    std::fs::write(home.path("repo/dot.gif"), GIF).unwrap();
    good(&home, &["-p", "look", "--image", "dot.gif", "--image", "dot.gif"]);
    assert_eq!(last(&models), "look\n\nIMAGE\n\nIMAGE");
    for (file, why) in [("a.txt", "not an image"), ("none.png", "it can't be read"), (".", "it is no file")] {
        let said = home.rail(&["-p", "look", "--image", file], "");
        assert!(said.code == Some(2) && said.err.contains(why), "{}", said.whole());
    }
}

#[test]
fn a_command_of_the_user_s_own_is_put_together() {
    let (home, models) = talking(vec![said("ok").repeat()]);
    home.write(
        "config/switchrail/commands/fix.md",
        "---\nallowed-tools: Bash(echo:*)\n---\nFix $1 of $ARGUMENTS. !`echo by-hand` !`touch made` @a.txt",
    );
    let said = home.rail(&["-p", "/fix one two"], "");
    assert_eq!(said.code, Some(0), "{}", said.whole());
    let sent = last(&models);
    assert!(sent.starts_with("Fix one of one two. by-hand [`touch made` was not run or failed:"), "{sent}");
    assert!(sent.contains("] @a.txt\n\nWhat `@a.txt` holds now:\n\n1\t1\n"), "{sent}");
    assert!(said.err.contains("/fix: `touch made`") && !home.path("repo/made").exists(), "{}", said.err);
    for (typed, told) in [("/compct", "did you mean `/compact`? "), ("/zzz", "")] {
        let unknown = home.rail(&["-p", typed], "");
        let expected = format!("rail: there is no command `{typed}`; {told}`/help` lists all\n");
        assert_eq!((unknown.code, unknown.err), (Some(2), expected));
    }
}

/// A session that wrote a file.
fn written() -> (Home, Models) {
    let (home, models) = talking(vec![
        calls("write_file", json!({"file_path": "new.txt", "content": "fresh\n"})),
        said("done"),
        said("ok").repeat(),
    ]);
    good(&home, &["-p", "write it", "--permission-mode", "accept-edits"]);
    assert_eq!(home.read("repo/new.txt"), "fresh\n");
    (home, models)
}

#[test]
fn changes_are_shown_taken_back_and_done_again_from_run_to_run() {
    let (home, models) = written();
    let changed = "new.txt  +1 -0\n@@ -1 +1 @@\n+fresh\n";
    assert_eq!(good(&home, &["-p", "/diff", "-c"]), changed);
    assert_eq!(good(&home, &["-p", "/undo", "-c"]), "restored /repo/new.txt\n");
    assert!(!home.path("repo/new.txt").exists());
    assert_eq!(good(&home, &["-p", "/diff", "-c"]), "the session has changed no files\n");
    let again = home.rail(&["-p", "/undo", "-c"], "");
    assert_eq!((again.code, again.err.as_str()), (Some(1), "rail: there is no step to undo\n"));
    assert_eq!(good(&home, &["-p", "/redo", "-c"]), "restored /repo/new.txt\n");
    assert_eq!(home.read("repo/new.txt"), "fresh\n");
    assert_eq!(good(&home, &["-p", "/diff", "-c"]), changed);
    assert!(good(&home, &["-p", "/rewind", "-c"]).starts_with("1  write it\n"));
    let back = good(&home, &["-p", "/rewind 1", "-c"]);
    assert_eq!(back, "restored /repo/new.txt\nthe conversation ends before message 1\n");
    assert!(!home.path("repo/new.txt").exists());
    good(&home, &["-p", "hello", "-c"]);
    let asked = models.requests().pop().unwrap();
    let messages = &asked.request().unwrap().messages;
    assert!(!format!("{messages:?}").contains("write it"), "{messages:?}");
    let wrong = home.rail(&["-p", "/rewind 1 everything", "-c"], "");
    assert_eq!(wrong.code, Some(2), "{}", wrong.whole());
}

#[test]
fn the_session_says_what_it_took_and_switches() {
    let (home, models) = written();
    let usage = good(&home, &["-p", "/usage", "-c"]);
    assert!(usage.starts_with("messages 1\nrequests 2\n"), "{usage}");
    assert_eq!(good(&home, &["-p", "/todo", "-c"]), "nothing is on the list\n");
    let short = home.rail(&["-p", "/compact keep all", "-c"], "");
    assert!(short.code == Some(1) && short.err.contains("nothing to make shorter"), "{}", short.whole());
    assert_eq!(good(&home, &["-p", "/model p,other", "-c"]), "p,other is asked from now on\n");
    good(&home, &["-p", "hello", "-c"]);
    assert_eq!(models.requests().pop().unwrap().request().unwrap().model, "other");
    assert_eq!(good(&home, &["-p", "/plan", "-c"]), "planning: nothing is changed from now on\n");
    assert_eq!(good(&home, &["-p", "/plan", "-c"]), "planning is over\n");
    let same = good(&home, &["-p", "/plan", "-c", "--permission-mode", "plan"]);
    assert_eq!(same, "planning: nothing is changed from now on\n");
    good(&home, &["-p", "/plan how to go on", "-c"]);
    assert!(last(&models).contains("how to go on"), "{}", last(&models));
    assert!(good(&home, &["-p", "/sessions", "-c"]).contains("write it"));
    assert!(good(&home, &["-p", "/sessions fresh"]).contains("fresh"));
    assert_eq!(good(&home, &["-p", "/export out.md", "-c"]), "written to out.md\n");
    assert!(home.read("repo/out.md").starts_with("# write it\n"));
    let alone = home.rail(&["-p", "/usage"], "");
    assert_eq!(
        (alone.code, alone.err.as_str()),
        (Some(2), "rail: that needs a session that goes on; say which by `-c` or `-r ID`\n")
    );
}

#[test]
fn what_is_so_in_a_folder_is_told_without_a_model() {
    let (home, models) = talking(vec![said("ok").repeat()]);
    let hooks = "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = [{ type = \"command\", command = \"true\" }]\n[permissions]\nallow = [\"Bash(ls:*)\"]\n";
    home.write(CONFIG, &format!("{}{hooks}", config(&models))).write("repo/AGENTS.md", "Be kind.\n");
    for (typed, shown) in [
        ("/help", "/undo "),
        ("/permissions", "allow Bash(ls:*)  ("),
        ("/memory", "/repo/AGENTS.md  "),
        ("/hooks", "Bash: true"),
        ("/config router.default", "router.default = \"p,m\""),
        ("/config", "[providers.p]"),
        ("/model", "p: m\n"),
        ("/provider", "p  openai-chat  http://"),
        ("/provider p", "`p` is the active provider"),
        ("/generation", "gen4 is in force"),
        ("/route hello", "p,m"),
        ("/mcp", "there are no MCP servers; add one with `rail mcp add"),
    ] {
        let out = good(&home, &["-p", typed]);
        assert!(out.contains(shown), "{typed}: {out}");
    }
    for typed in ["/theme", "/quit", "/resume"] {
        let said = home.rail(&["-p", typed], "");
        assert!(
            said.code == Some(2) && said.err.contains("is for the terminal interface"),
            "{}",
            said.whole()
        );
    }
    assert_eq!(models.requests().len(), 0);
    assert!(good(&home, &["-p", "/doctor"]).contains("Configuration\n"));
    good(&home, &["-p", "/init"]);
    assert!(last(&models).contains("AGENTS.md"), "{}", last(&models));
}

#[test]
fn verbose_runs_say_what_happens() {
    let (home, _models) = talking(vec![calls("Read", json!({"file_path": "a.txt"})), said("ok")]);
    let told = home.rail(&["-p", "-vv", "look"], "");
    assert_eq!((told.code, told.out.as_str()), (Some(0), "ok\n"), "{}", told.whole());
    for line in ["rail: providers: p\n", "p,m answers (", "rail: Read a.txt\n", "rail: text \"ok\"\n"] {
        assert!(told.err.contains(line), "{line}: {}", told.err);
    }
}

#[test]
fn somebody_at_a_terminal_sees_what_is_done() {
    let (home, _models) = talking(vec![
        calls("read_file", json!({"file_path": "a.txt"})),
        calls("read_file", json!({"file_path": "none.txt"})),
        said("ok"),
    ]);
    let (code, shown) = home.script(&format!("{} -p look", env!("CARGO_BIN_EXE_rail")), "");
    assert_eq!(code, Some(0), "{shown}");
    let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(
        lines,
        ["rail: Read a.txt", "rail: Read none.txt", "rail: Read none.txt: failed", "ok"],
        "{shown}"
    );
    let quiet = home.rail(&["-p", "/help"], "");
    assert_eq!(quiet.err, "");
}
