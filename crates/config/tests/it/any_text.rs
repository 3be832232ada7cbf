//! What holds for all texts and all layers.

use std::path::Path;

use proptest::prelude::*;
use rail_config::{Layer, Layers, Origin, Trusted, compose};

use crate::{Quiet, source};

/// What a generated layer says: some of a few keys, each with its own value.
fn layer() -> impl Strategy<Value = Vec<(usize, u32)>> {
    proptest::collection::vec((0..KEYS.len(), 0..1000_u32), 0..6)
}

const KEYS: &[&[&str]] = &[
    &["router", "options", "long_context_threshold"],
    &["models", "a", "window"],
    &["models", "b", "window"],
    &["agent", "limits", "max_turns"],
    &["tools", "max_concurrency"],
];

proptest! {
    #[test]
    fn the_value_in_force_is_the_last_layers_and_so_is_its_origin(layers in proptest::collection::vec(layer(), 1..5)) {
        let all = [Layer::User, Layer::Project, Layer::ProjectLocal, Layer::Given];
        let mut files = Vec::new();
        let mut expected = std::collections::BTreeMap::new();
        for (at, said) in layers.iter().enumerate() {
            let (layer, mut text) = (all[at % all.len()], String::new());
            let mut taken = std::collections::BTreeSet::new();
            let file = format!("{at}.toml");
            for (key, number) in said {
                if !taken.insert(*key) {
                    continue;
                }
                let line = taken.len();
                text.push_str(&format!("{} = {}\n", KEYS[*key].join("."), number + 1));
                let column = KEYS[*key].join(".").len() + 4;
                expected.insert(*key, (i64::from(number + 1), format!("{file}:{line}:{column}")));
            }
            files.push(source(layer, &file, &text));
        }
        let layers = Layers { files, trusted: Trusted::Yes, ..Layers::default() };
        let composed = compose(&layers, &Quiet::default()).unwrap();
        for (at, key) in KEYS.iter().enumerate() {
            let node = composed.tree.find(key);
            let found = node.map(|node| match node.value {
                rail_config::Value::Integer(number) => (number, node.origin.to_string()),
                _ => panic!("{node:?}"),
            });
            prop_assert_eq!(found, expected.get(&at).cloned());
        }
    }

    #[test]
    fn any_text_is_a_configuration_or_told_wrong(text in ".*", json in any::<bool>()) {
        anything(&text, json);
    }

    #[test]
    fn texts_like_a_configuration_are_one_or_told_wrong(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..12), json in any::<bool>(),
    ) {
        anything(&parts.concat(), json);
    }
}

/// Pieces that bring a text further than chance does.
const PARTS: &[&str] = &[
    "[router]\n",
    "default = ",
    "\"a,b\"",
    "\n",
    "{",
    "}",
    "[",
    "]",
    "\"router\"",
    ":",
    ",",
    "[[router.rules]]\n",
    "name = \"x\"\n",
    "[providers.a]\n",
    "key = \"env:X\"\n",
    "models = [\"a\"]\n",
    "models.b.window = 1\n",
    "\\",
    "\u{feff}",
    "\r\n",
    "\"\"\"",
    "1e999",
    "-1",
    "null",
    "true",
    "# x\n",
    "// x\n",
    "/*",
    "*/",
    "é\u{1F600}",
    "keyring:x",
    "2020-01-01",
    "= 99999999999999999999\n",
];

fn anything(text: &str, json: bool) {
    let file = if json { "config.json" } else { "config.toml" };
    let layers = Layers { files: vec![source(Layer::User, file, text)], ..Layers::default() };
    match compose(&layers, &Quiet::default()) {
        Ok(_) => {}
        Err(problems) => {
            assert!(!problems.0.is_empty());
            for problem in &problems.0 {
                let Origin::File { file: told, at, .. } = &problem.origin else { panic!("{problem}") };
                assert_eq!(told.as_ref(), Path::new(file));
                assert!(at.line >= 1 && at.line <= text.split('\n').count(), "{problem} in {text:?}");
            }
        }
    }
}
