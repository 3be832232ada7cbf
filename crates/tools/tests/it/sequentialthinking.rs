//! Thinking in steps.

use rail_tool::Display;
use serde_json::{Value, json};

use crate::scratch::{Scratch, unexplained};

fn think(scratch: &Scratch, input: &Value) -> Value {
    let outcome = scratch.run("sequentialthinking", input);
    assert!(outcome.success(), "{}", outcome.text());
    serde_json::from_str(unexplained("sequentialthinking", &outcome.text())).unwrap()
}

#[test]
fn thoughts_are_counted_and_branches_kept() {
    let scratch = Scratch::new();
    let first = json!({"thought": "One", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true});
    assert_eq!(
        think(&scratch, &first),
        json!({"thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true, "branches": [], "thoughtHistoryLength": 1})
    );
    let branch = |number: u64, name: &str| {
        json!({
            "thought": "Another way", "thoughtNumber": number, "totalThoughts": 2, "nextThoughtNeeded": true,
            "branchFromThought": 1, "branchId": name, "needsMoreThoughts": true,
        })
    };
    think(&scratch, &branch(2, "z"));
    think(&scratch, &branch(2, "a"));
    assert_eq!(
        think(&scratch, &branch(3, "z")),
        json!({"thoughtNumber": 3, "totalThoughts": 3, "nextThoughtNeeded": true, "branches": ["z", "a"], "thoughtHistoryLength": 4})
    );
    let last = json!({
        "thought": "Done", "thoughtNumber": 4, "totalThoughts": 4, "nextThoughtNeeded": false,
        "isRevision": true, "revisesThought": 1,
    });
    let outcome = scratch.run("sequentialthinking", &last);
    assert_eq!(
        outcome.text(),
        "{\n  \"thoughtNumber\": 4,\n  \"totalThoughts\": 4,\n  \"nextThoughtNeeded\": false,\n  \"branches\": [\n    \"z\",\n    \"a\"\n  ],\n  \"thoughtHistoryLength\": 5\n}"
    );
    assert_eq!(outcome.display, Some(Display::Preview { text: "Done".to_owned(), lines: 3 }));
}

#[test]
fn numbers_written_as_texts_are_numbers() {
    let scratch = Scratch::new();
    let input =
        json!({"thought": "One", "thoughtNumber": "1", "totalThoughts": "3", "nextThoughtNeeded": "true"});
    assert_eq!(think(&scratch, &input)["totalThoughts"], 3);
}

#[test]
fn a_wrong_thought_is_not_counted() {
    let scratch = Scratch::new();
    let good = json!({"thought": "One", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true});
    let with = |key: &str, value: Value| {
        let mut input = good.clone();
        input[key] = value;
        input
    };
    for wrong in [
        with("thought", json!(" ")),
        with("thoughtNumber", json!(0)),
        with("totalThoughts", json!(-1)),
        with("thoughtNumber", json!(1.5)),
        with("revisesThought", json!(0)),
        with("branchFromThought", json!(0)),
        json!({"thought": "One", "thoughtNumber": 1, "totalThoughts": 2}),
    ] {
        assert!(!scratch.run("sequentialthinking", &wrong).success(), "{wrong}");
    }
    assert_eq!(think(&scratch, &good)["thoughtHistoryLength"], 1);
}
