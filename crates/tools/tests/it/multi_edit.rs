//! Several edits of one file.

use serde_json::json;

use crate::scratch::Scratch;

#[test]
fn all_edits_are_made_or_none() {
    let scratch = Scratch::new();
    scratch.known("a.txt", "one\r\ntwo\r\nthree\r\n");
    let edits = json!([
        {"old_string": "one\ntwo", "new_string": "1\n2"},
        {"old_string": "three", "new_string": "3", "replace_all": true},
        {"old_string": "four", "new_string": "4"},
    ]);
    let said = scratch.says("multi_edit", &json!({"file_path": "a.txt", "edits": edits}));
    assert!(
        said.starts_with("error: `{workspace}/a.txt` was left as it is, no edit was made: edit 3 of 3: "),
        "{said}"
    );
    assert_eq!(scratch.read("a.txt"), "one\r\ntwo\r\nthree\r\n");
    let edits = json!([edits[0], edits[1]]);
    let said = scratch.says("multi_edit", &json!({"file_path": "a.txt", "edits": edits}));
    assert!(said.starts_with("ok: `{workspace}/a.txt` was changed by 2 edits; the old text was found apart from line endings:\n1\t1\n2\t2\n3\t3"), "{said}");
    assert_eq!(scratch.read("a.txt"), "1\r\n2\r\n3\r\n");
}

#[test]
fn edits_that_undo_each_other_change_nothing() {
    let scratch = Scratch::new();
    scratch.known("a.txt", "one\n");
    let edits =
        json!([{"old_string": "one", "new_string": "two"}, {"old_string": "two", "new_string": "one"}]);
    let said = scratch.says("multi_edit", &json!({"file_path": "a.txt", "edits": edits}));
    assert_eq!(said, "error: `{workspace}/a.txt` was left as it is: the edits together change nothing");
    let said = scratch.says("multi_edit", &json!({"file_path": "a.txt", "edits": []}));
    assert!(said.starts_with("error: "), "{said}");
}

#[test]
fn a_file_that_was_not_read_is_left() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    let edits = json!([{"old_string": "one", "new_string": "two"}]);
    let said = scratch.says("multi_edit", &json!({"file_path": "a.txt", "edits": edits}));
    assert!(said.contains("was not read in this session"), "{said}");
}
