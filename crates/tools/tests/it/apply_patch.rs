//! Patches of several files on a real folder: all or none.

use std::os::unix::fs::PermissionsExt;

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::Mode;
use rail_tool::ToolEvent;
use rail_tool::{Display, Limits, OutputNote};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::scratch::Scratch;

fn says(scratch: &Scratch, patch: &str) -> String {
    scratch.says("apply_patch", &json!({"patch": patch}))
}

fn names(scratch: &Scratch) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(scratch.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_made_changed_moved_and_removed() {
    let scratch = Scratch::new();
    let script = scratch.write("run.sh", "#!/bin/sh\r\necho 1\r\n");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    scratch.write("old.bin", b"\0\x01");
    let patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/go.sh\n@@\n #!/bin/sh\n-echo 1\n+echo 2\n*** Add File: AGENTS.md\n+rules\n*** Delete File: old.bin\n*** End Patch\n";
    let outcome = scratch.run("apply_patch", &json!({"patch": patch}));
    assert_eq!(
        outcome.text().replace(scratch.workspace().to_str().unwrap(), ""),
        "the patch was applied:\nM `/run.sh` to `/bin/go.sh` (1 added, 1 removed); old lines were found apart from line endings\nA `/AGENTS.md` (1 added)\nD `/old.bin` (0 removed)"
    );
    assert_eq!(scratch.read("bin/go.sh"), "#!/bin/sh\r\necho 2\r\n");
    assert_eq!(scratch.path("bin/go.sh").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(names(&scratch), ["AGENTS.md", "bin"]);
    assert_eq!(outcome.notes, [OutputNote::MemoryFile(scratch.path("AGENTS.md"))]);
    let Some(Display::Diff { files: diffs, .. }) = outcome.display else { panic!("no diff") };
    assert_eq!(diffs[0].moved_from, Some(script));
    // What was written is known: it can be edited at once.
    let edit = json!({"file_path": "bin/go.sh", "old_string": "echo 2", "new_string": "echo 3"});
    assert!(scratch.run("edit_file", &edit).success());
}

#[test]
fn nothing_is_changed_if_one_change_does_not_fit() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    scratch.write("b.txt", "two\n");
    let cases = [
        (
            "*** Add File: new.txt\n+x\n*** Update File: a.txt\n-xyz\n+1",
            "`{workspace}/a.txt`: the hunk at line 5 of the patch: the old text",
        ),
        (
            "*** Update File: a.txt\n-one\n+1\n*** Add File: b.txt\n+x",
            "`{workspace}/b.txt`: there is such a file already",
        ),
        (
            "*** Update File: a.txt\n-one\n+1\n*** Delete File: c.txt",
            "there is no file `{workspace}/c.txt`; ",
        ),
        (
            "*** Update File: a.txt\n*** Move to: b.txt\n-one\n+1",
            "`{workspace}/b.txt`: there is such a file already",
        ),
        (
            "*** Update File: a.tx\n-one\n+1",
            "there is no file `{workspace}/a.tx`; did you mean `{workspace}/a.txt`?",
        ),
    ];
    for (patch, why) in cases {
        let said = says(&scratch, &format!("*** Begin Patch\n{patch}\n*** End Patch"));
        let expected = format!("error: no file was changed: {why}");
        assert!(said.starts_with(&expected), "{said}\n{expected}");
        assert_eq!((scratch.read("a.txt").as_str(), names(&scratch).len()), ("one\n", 2));
    }
}

#[test]
fn nobody_is_asked_about_what_is_no_patch() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    scratch.executor.change_policy(|policy| policy.mode = Mode::Default);
    let said = says(&scratch, "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\nwhat\n*** End Patch");
    let expected =
        "error: the arguments of `apply_patch` do not fit: line 5 of the patch: `what` must begin with";
    assert!(said.starts_with(expected), "{said}");
    let asked = |event: &ToolEvent| matches!(event, ToolEvent::Asked { .. });
    assert!(!scratch.events.all().iter().any(asked));
    assert_eq!(scratch.read("a.txt"), "one\n");
}

#[test]
fn what_was_done_is_undone_when_a_later_write_fails() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    scratch.write("c.txt", "move me\n");
    let fixed = scratch.write("fixed.txt", "three\n");
    std::fs::set_permissions(fixed, PermissionsExt::from_mode(0o444)).unwrap();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Add File: new.txt\n+x\n*** Update File: c.txt\n*** Move to: d.txt\n-move me\n+moved\n*** Update File: fixed.txt\n-three\n+3\n*** End Patch";
    let said = says(&scratch, patch);
    assert!(said.starts_with("error: no file was changed: `{workspace}/fixed.txt` is read-only"), "{said}");
    assert_eq!(names(&scratch), ["a.txt", "c.txt", "fixed.txt"]);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("c.txt").as_str()), ("one\n", "move me\n"));
}

#[test]
fn a_file_can_be_changed_twice_and_paths_can_be_absolute() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\ntwo\n");
    let patch = format!(
        "*** Begin Patch\n*** Update File: {0}\n-one\n+1\n*** Update File: {0}\n-two\n+2\n*** End Patch",
        scratch.path("a.txt").display()
    );
    assert_eq!(
        says(&scratch, &patch),
        "ok: the patch was applied:\nM `{workspace}/a.txt` (2 added, 2 removed)"
    );
    assert_eq!(scratch.read("a.txt"), "1\n2\n");
}

#[test]
fn a_file_can_only_be_moved() {
    let scratch = Scratch::new();
    scratch.write("a.bin.txt", b"caf\xe9 \r\n");
    let said =
        says(&scratch, "*** Begin Patch\n*** Update File: a.bin.txt\n*** Move to: b.txt\n*** End Patch");
    assert_eq!(
        said,
        "ok: the patch was applied:\nM `{workspace}/a.bin.txt` to `{workspace}/b.txt` (0 added, 0 removed)"
    );
    assert_eq!(std::fs::read(scratch.path("b.txt")).unwrap(), b"caf\xe9 \r\n");
    assert_eq!(names(&scratch), ["b.txt"]);
}

#[test]
fn a_file_that_was_read_and_changed_since_is_not_removed() {
    let scratch = Scratch::new();
    let path = scratch.known("a.txt", "one\n");
    std::fs::write(path, "more\n").unwrap();
    let said = says(&scratch, "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch");
    assert!(said.contains("was changed since it was read"), "{said}");
    assert_eq!(scratch.read("a.txt"), "more\n");
}

#[test]
fn free_text_and_codex_s_own_argument_are_taken() {
    let scratch = Scratch::new();
    let patch = |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch\n");
    let call = |arguments: String, kind: CallKind| ToolCall {
        id: CallId::Given("call_1".to_owned()),
        name: "apply_patch".to_owned(),
        arguments,
        kind,
    };
    let calls = vec![
        call(patch("one.txt"), CallKind::Custom),
        call(json!({"input": patch("two.txt")}).to_string(), CallKind::Function),
        call(patch("three.txt"), CallKind::Function),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let outcomes = runtime.block_on(scratch.executor.run(calls, &CancellationToken::new()));
    for outcome in &outcomes {
        assert!(outcome.success(), "{}", outcome.text());
    }
    assert_eq!(names(&scratch), ["one.txt", "three.txt", "two.txt"]);
}

#[test]
fn it_is_declared_in_the_codex_dialect_alone() {
    let declared = |dialect: &str| {
        let registry = rail_tools::registry();
        registry.shown(dialect, &Limits::default()).any(|(_, declared)| declared.name == "apply_patch")
    };
    assert!(!declared("native") && !declared("claude"));
    assert!(declared("codex"));
}
