//! What a call would change is told as it is then changed.

use std::fs;

use rail_edit::diff::Mark;
use rail_tools::foreseen;
use serde_json::json;

#[test]
fn changes_are_told_before_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join("b.bin"), b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0").unwrap();
    let path = root.join("a.txt").display().to_string();
    let told = |tool: &str, input: serde_json::Value| -> Vec<String> {
        let sign = |mark| match mark {
            Mark::Same => ' ',
            Mark::Added => '+',
            Mark::Removed => '-',
        };
        let diffs = foreseen(tool, &input, root);
        let lines = diffs.iter().flat_map(|diff| &diff.hunks).flat_map(|hunk| &hunk.lines);
        lines.map(|line| format!("{}{}", sign(line.mark), line.text)).collect()
    };
    let changed = [" one", "-two", "+2", " three"];
    assert_eq!(
        told("edit_file", json!({"file_path": path, "old_string": "two", "new_string": "2"})),
        changed
    );
    let edits = json!([{"old_string": "two", "new_string": "2"}]);
    assert_eq!(told("multi_edit", json!({"file_path": path, "edits": edits})), changed);
    assert_eq!(told("write_file", json!({"file_path": path, "content": "one\n2\nthree\n"})), changed);
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** End Patch";
    assert_eq!(told("apply_patch", json!({"patch": patch})), changed);
    assert_eq!(told("write_file", json!({"file_path": "new.txt", "content": "new\n"})), ["+new"]);
    // What would fail, or is no change of text, is not told.
    assert!(
        told("edit_file", json!({"file_path": path, "old_string": "four", "new_string": "4"})).is_empty()
    );
    assert!(told("write_file", json!({"file_path": root.join("b.bin"), "content": "text"})).is_empty());
    assert!(told("bash", json!({"command": "rm a.txt"})).is_empty());
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "one\ntwo\nthree\n");
}

#[test]
fn a_long_line_is_told_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let long = format!("{}HIDDENPART", "x".repeat(2_500));
    fs::write(root.join("a.txt"), "one\n").unwrap();
    let patch = format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+{long}\n*** End Patch");
    for (tool, input) in [
        ("write_file", json!({"file_path": "a.txt", "content": long})),
        ("edit_file", json!({"file_path": "a.txt", "old_string": "one", "new_string": long})),
        ("multi_edit", json!({"file_path": "a.txt", "edits": [{"old_string": "one", "new_string": long}]})),
        ("apply_patch", json!({"patch": patch})),
    ] {
        let diffs = foreseen(tool, &input, root);
        let mut lines = diffs.iter().flat_map(|diff| &diff.hunks).flat_map(|hunk| &hunk.lines);
        assert!(lines.any(|line| line.text == long), "{tool}");
    }
    let many: String = (0..6_000).map(|line| format!("{line}\n")).collect();
    let diffs = foreseen("write_file", &json!({"file_path": "new.txt", "content": many}), root);
    assert_eq!(diffs[0].hunks[0].lines.len(), 6_000);
}

#[test]
fn files_that_are_too_much_together_are_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for name in ["a.txt", "b.txt"] {
        fs::write(root.join(name), "three\n".repeat(500_000)).unwrap();
    }
    let one = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch";
    assert_eq!(foreseen("apply_patch", &json!({"patch": one}), root)[0].removed, 500_000);
    let both = "*** Begin Patch\n*** Delete File: a.txt\n*** Delete File: b.txt\n*** End Patch";
    assert!(foreseen("apply_patch", &json!({"patch": both}), root).is_empty());
}
