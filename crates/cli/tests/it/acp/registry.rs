//! What the registry of agents is told of us.

use serde_json::Value;

#[test]
fn the_entry_has_the_form_that_the_registry_asks_for() {
    let entry: Value = serde_json::from_str(include_str!("../../../../../docs/acp/agent.json")).unwrap();
    let text = |key: &str| entry[key].as_str().unwrap_or_else(|| panic!("{key} is missing"));
    assert_eq!(text("version"), env!("CARGO_PKG_VERSION"), "docs/acp/agent.json: its version is ours");
    assert!(text("version").split('.').count() == 3);
    let id = text("id");
    assert!(id.starts_with(|c: char| c.is_ascii_lowercase()));
    assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
    for key in ["name", "description", "license"] {
        assert!(!text(key).is_empty(), "{key}");
    }
    for key in ["repository", "license_url"] {
        assert!(text(key).starts_with("https://"), "{key}");
    }
    assert!(entry["authors"].as_array().is_some_and(|authors| !authors.is_empty()));
    let known = [
        "id",
        "name",
        "version",
        "description",
        "repository",
        "website",
        "authors",
        "license",
        "license_url",
        "icon",
        "distribution",
    ];
    for key in entry.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()), "the registry knows no `{key}`");
    }
    let targets = entry["distribution"]["binary"].as_object().unwrap();
    assert!(!targets.is_empty());
    for (target, how) in targets {
        let (system, machine) = target.split_once('-').unwrap();
        assert!(
            ["darwin", "linux", "windows"].contains(&system) && ["aarch64", "x86_64"].contains(&machine),
            "{target}"
        );
        let archive = how["archive"].as_str().unwrap();
        assert!(archive.starts_with("https://") && archive.contains(text("version")), "{archive}");
        assert_eq!((&how["cmd"], &how["args"]), (&Value::from("./rail"), &serde_json::json!(["acp"])));
    }
}
