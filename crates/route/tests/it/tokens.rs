//! The token estimate against the counts of a real tokenizer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How many tokens are estimated for each that is counted, at least and at most; the documentation of `tokens` states it.
const BOUNDS: &[(&str, f64, f64)] = &[
    ("base64", 0.85, 1.15),
    ("chinese", 0.85, 1.15),
    ("emoji", 1.0, 1.4),
    ("english", 0.85, 1.15),
    ("german", 0.85, 1.15),
    ("hex", 0.8, 1.2),
    ("indented", 0.85, 1.15),
    ("japanese", 0.85, 1.15),
    ("json", 0.85, 1.15),
    ("json-compact", 0.85, 1.15),
    ("log", 0.85, 1.15),
    ("minified", 0.85, 1.15),
    ("python", 0.85, 1.15),
    ("russian", 0.85, 1.15),
    ("rust", 0.85, 1.15),
    ("table", 0.85, 1.15),
];

#[test]
fn estimates_are_as_near_as_documented() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let counts = fs::read_to_string(folder.join("counts.toml")).unwrap();
    let counts: BTreeMap<String, u64> = toml::from_str(&counts).unwrap();
    let bounded: Vec<&str> = BOUNDS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(counts.keys().map(String::as_str).collect::<Vec<_>>(), bounded);
    for (name, least, most) in BOUNDS {
        let text = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        let ratio = rail_route::tokens(&text) as f64 / counts[*name] as f64;
        assert!((*least..=*most).contains(&ratio), "{name}: {ratio:.2}");
    }
}
