use serde_json::Value;

#[test]
fn every_case_is_json() {
    let text = include_str!("../corpus/cases.jsonl");
    assert_eq!(
        text.lines().filter(|line| serde_json::from_str::<Value>(line).unwrap().is_object()).count(),
        369
    );
}
