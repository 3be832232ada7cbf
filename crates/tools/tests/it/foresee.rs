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
