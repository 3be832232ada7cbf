use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Odd on purpose: key order, number spelling, spacing, an escape that nobody needs, no final newline.
const BOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"a":  1.50, "b": 1e3},
   "source": [
    "# Title\n",
    "caf\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "a1",
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["1\n"]}
   ],
   "source": "print(1)"
  }
 ],
 "metadata": {},
 "nbformat_minor": 5, "nbformat": 4
}"##;

fn changed(book: &str, cell: Option<&str>, act: CellAct<'_>) -> String {
    match edited(book, &CellEdit { cell, act }) {
        Ok(edited) => {
            serde_json::from_str::<Value>(&edited.text).unwrap();
            edited.text
        }
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_source_is_replaced_and_outputs_are_cleared() {
    let expected = BOOK
        .replace("\"print(1)\"", "[\n    \"print(2)\\n\",\n    \"print(\\\"é\\\")\"\n   ]")
        .replace("\"execution_count\": 7", "\"execution_count\": null")
        .replace(
            "[\n    {\"name\": \"stdout\", \"output_type\": \"stream\", \"text\": [\"1\\n\"]}\n   ]",
            "[]",
        );
    assert_eq!(changed(BOOK, Some("a1"), CellAct::Replace("print(2)\nprint(\"é\")", None)), expected);
    let expected = BOOK.replace("[\n    \"# Title\\n\",\n    \"caf\\u00e9\"\n   ]", "[\n    \"x\"\n   ]");
    assert_eq!(changed(BOOK, Some("intro"), CellAct::Replace("x", None)), expected);
    assert_eq!(changed(BOOK, Some("cell-0"), CellAct::Replace("x", Some(CellKind::Markdown))), expected);
}

#[test]
fn a_cell_can_become_one_of_another_kind() {
    let text = changed(BOOK, Some("a1"), CellAct::Replace("x", Some(CellKind::Markdown)));
    let cell = &serde_json::from_str::<Value>(&text).unwrap()["cells"][1];
    assert_eq!(cell, &json!({"cell_type": "markdown", "id": "a1", "metadata": {}, "source": ["x"]}));
    let text = changed(BOOK, Some("intro"), CellAct::Replace("x", Some(CellKind::Code)));
    let cell = &serde_json::from_str::<Value>(&text).unwrap()["cells"][0];
    assert_eq!(
        (&cell["outputs"], &cell["execution_count"], &cell["cell_type"]),
        (&json!([]), &Value::Null, &json!("code"))
    );
    assert!(text.contains("\"a\":  1.50, \"b\": 1e3"));
    let book =
        r#"{"cells":[{"cell_type":"code","source":["x"],"execution_count":1,"outputs":[1]}],"nbformat":4}"#;
    assert_eq!(
        changed(book, Some("cell-0"), CellAct::Replace("y", Some(CellKind::Markdown))),
        r#"{"cells":[{"cell_type":"markdown","source":["y"]}],"nbformat":4}"#
    );
}

#[test]
fn a_cell_is_inserted_after_another_or_first() {
    let text = changed(BOOK, Some("intro"), CellAct::Insert("a\nb", CellKind::Code));
    let new = "\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  },";
    let id = serde_json::from_str::<Value>(&text).unwrap()["cells"][1]["id"].as_str().unwrap().to_owned();
    let (before, after) = BOOK.split_at(BOOK.find("\n  {\n   \"cell_type\": \"code\"").unwrap());
    assert_eq!(text, format!("{before}{}{after}", new.replace("ID", &id)));
    let text = changed(BOOK, None, CellAct::Insert("", CellKind::Markdown));
    let cells = &serde_json::from_str::<Value>(&text).unwrap()["cells"];
    assert_eq!(
        (&cells[0]["source"], &cells[0]["cell_type"], &cells[1]["id"]),
        (&json!([]), &json!("markdown"), &json!("intro"))
    );
    assert_eq!(
        changed(
            "{\"cells\": [], \"nbformat\": 4, \"nbformat_minor\": 4}",
            None,
            CellAct::Insert("x", CellKind::Markdown)
        ),
        "{\"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"metadata\": {},\n   \"source\": [\n    \"x\"\n   ]\n  }\n ], \"nbformat\": 4, \"nbformat_minor\": 4}"
    );
}

#[test]
fn a_cell_is_deleted_with_its_comma() {
    let cell = |text: &str| serde_json::from_str::<Value>(text).unwrap()["cells"].as_array().unwrap().len();
    let one = changed(BOOK, Some("a1"), CellAct::Delete);
    assert!(one.contains("\"caf\\u00e9\"\n   ]\n  }\n ],\n \"metadata\": {},") && cell(&one) == 1);
    let other = changed(BOOK, Some("intro"), CellAct::Delete);
    assert!(other.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",") && cell(&other) == 1);
    assert_eq!(cell(&changed(&one, Some("cell-0"), CellAct::Delete)), 0);
}

#[test]
fn a_notebook_on_one_line_stays_on_one_line() {
    let book =
        r#"{"cells":[{"cell_type":"code","source":["x"],"outputs":[1],"execution_count":1}],"nbformat":4}"#;
    assert_eq!(
        changed(book, Some("cell-0"), CellAct::Replace("y\nz", None)),
        r#"{"cells":[{"cell_type":"code","source":["y\n", "z"],"outputs":[],"execution_count":null}],"nbformat":4}"#
    );
    assert_eq!(
        changed(book, Some("cell-0"), CellAct::Insert("y", CellKind::Markdown)),
        r#"{"cells":[{"cell_type":"code","source":["x"],"outputs":[1],"execution_count":1}, {"cell_type": "markdown","metadata": {},"source": ["y"] }],"nbformat":4}"#
    );
}

#[test]
fn faults_say_what_is_there() {
    assert_eq!(
        changed(BOOK, Some("b2"), CellAct::Delete),
        "there is no cell `b2`; its cells are `intro`, `a1`"
    );
    assert_eq!(
        changed(BOOK, Some("cell-2"), CellAct::Delete),
        "there is no cell `cell-2`; its cells are `intro`, `a1`"
    );
    assert_eq!(
        changed(BOOK, None, CellAct::Delete),
        "‹cell_id› is missing: name the cell, as ‹read_file› shows it"
    );
    assert_eq!(
        changed("{\n]", None, CellAct::Delete),
        "it is no valid JSON at line 2: mend it first, with a program through ‹bash›"
    );
    assert!(changed("{}", None, CellAct::Delete).starts_with("it is no notebook of today's form"));
}

fn books() -> impl Strategy<Value = Value> {
    let cell = ("[a-c\n\"é]{0,12}", any::<bool>(), any::<bool>()).prop_map(|(source, code, lines)| {
        let source = if lines { json!(source.split_inclusive('\n').collect::<Vec<_>>()) } else { json!(source) };
        if code {
            json!({"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [{"x": [1]}], "source": source})
        } else {
            json!({"cell_type": "markdown", "metadata": {}, "source": source})
        }
    });
    prop::collection::vec(cell, 0..5)
        .prop_map(|cells| json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
}

proptest! {
    #[test]
    fn only_the_cell_that_is_meant_changes(book in books(), at in 0_usize..5, source in "[a-z\n\"\\\\é]{0,12}", spread in any::<bool>()) {
        let text = if spread { serde_json::to_string_pretty(&book).unwrap() } else { book.to_string() };
        let cells = book["cells"].as_array().unwrap().clone();
        let lines = json!(source.split_inclusive('\n').collect::<Vec<_>>());
        let name = format!("cell-{at}");
        let after = |act| edited(&text, &CellEdit { cell: Some(&name), act })
            .map(|edited| serde_json::from_str::<Value>(&edited.text).unwrap()["cells"].as_array().unwrap().clone());
        if at >= cells.len() {
            prop_assert!(after(CellAct::Delete).is_err());
            return Ok(());
        }
        let mut expected = cells.clone();
        expected.remove(at);
        prop_assert_eq!(after(CellAct::Delete).unwrap(), expected);
        let mut expected = cells.clone();
        expected[at]["source"] = lines.clone();
        if expected[at]["cell_type"] == "code" {
            expected[at]["outputs"] = json!([]);
            expected[at]["execution_count"] = Value::Null;
        }
        prop_assert_eq!(after(CellAct::Replace(&source, None)).unwrap(), expected);
        let inserted = after(CellAct::Insert(&source, CellKind::Markdown)).unwrap();
        let mut expected = cells.clone();
        expected.insert(at + 1, json!({"cell_type": "markdown", "metadata": {}, "source": lines}));
        prop_assert_eq!(inserted, expected);
    }

    #[test]
    fn any_text_is_changed_or_refused(text in "[\\[\\]{}:,\"a-e0-9 ]{0,40}") {
        let book = format!("{{\"cells\": [{text}]}}");
        for act in [CellAct::Delete, CellAct::Replace("x", Some(CellKind::Code)), CellAct::Insert("x", CellKind::Code)] {
            let _ = edited(&book, &CellEdit { cell: Some("cell-0"), act });
        }
    }
}
