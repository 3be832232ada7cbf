//! Cells of real notebook files.

use serde_json::json;

use crate::scratch::Scratch;

const BOOK: &str = "{\r\n  \"cells\": [\r\n    {\r\n      \"cell_type\": \"code\",\r\n      \"id\": \"a1\",\r\n      \"metadata\": {\"n\": 1.0},\r\n      \"execution_count\": 2,\r\n      \"outputs\": [],\r\n      \"source\": [\r\n        \"x\"\r\n      ]\r\n    }\r\n  ],\r\n  \"nbformat\": 4,\r\n  \"nbformat_minor\": 5\r\n}\r\n";

#[test]
fn the_rest_of_the_file_stays_byte_for_byte() {
    let scratch = Scratch::new();
    scratch.known("a.ipynb", BOOK);
    let input = json!({"notebook_path": "a.ipynb", "cell_id": "a1", "new_source": "y\nz"});
    assert!(scratch.run("notebook_edit", &input).success());
    let expected = BOOK
        .replace("\"execution_count\": 2", "\"execution_count\": null")
        .replace("\"x\"\r\n", "\"y\\n\",\r\n        \"z\"\r\n");
    assert_eq!(scratch.read("a.ipynb"), expected);
    let insert = json!({"notebook_path": "a.ipynb", "cell_id": "a1", "new_source": "# T", "cell_type": "markdown", "edit_mode": "insert"});
    let said = scratch.says("notebook_edit", &insert);
    let id = said.strip_prefix("ok: the cell `").and_then(|rest| rest.split('`').next()).unwrap().to_owned();
    let delete = json!({"notebook_path": "a.ipynb", "cell_id": id, "edit_mode": "delete"});
    assert_eq!(
        scratch.says("notebook_edit", &delete),
        format!("ok: the cell `{id}` of `{{workspace}}/a.ipynb` was deleted")
    );
    assert_eq!(scratch.read("a.ipynb"), expected);
}

#[test]
fn what_does_not_fit_is_refused() {
    let scratch = Scratch::new();
    scratch.write("a.ipynb", BOOK);
    scratch.known("a.txt", "x");
    let says = |input| scratch.says("notebook_edit", &input);
    assert!(
        says(json!({"notebook_path": "a.ipynb", "cell_id": "a1", "new_source": "y"}))
            .contains("was not read in this session")
    );
    scratch.saw("a.ipynb");
    assert_eq!(
        says(json!({"notebook_path": "a.txt", "new_source": "y"})),
        "error: `{workspace}/a.txt` was left as it is: it is no notebook (`.ipynb`): change it with `edit_file`"
    );
    assert_eq!(
        says(json!({"notebook_path": "a.ipynb", "new_source": "y", "edit_mode": "insert"})),
        "error: `{workspace}/a.ipynb` was left as it is: `cell_type` is missing: a new cell is `code` or `markdown`"
    );
    assert_eq!(
        says(json!({"notebook_path": "a.ipynb", "cell_id": "a1"})),
        "error: `{workspace}/a.ipynb` was left as it is: `new_source` is missing: give the source that the cell is to have"
    );
    assert_eq!(scratch.read("a.ipynb"), BOOK);
}
