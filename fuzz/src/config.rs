use std::path::{Path, PathBuf};

use rail_config::{Layer, Layers, Origin, Outside, Readers, Source, Trusted, compose};

/// A machine on which nothing is.
struct Nothing;

impl Outside for Nothing {
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn file(&self, _path: &Path) -> Result<String, String> {
        Err("there are no files".to_owned())
    }

    fn keyring(&self, _name: &str) -> Result<String, String> {
        Err("there is no keyring".to_owned())
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }
}

/// Panics if a text as the user's file and as the project's makes the loader panic, or a problem has no place in it.
pub fn config(input: &[u8]) {
    let Some((&how, body)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(body) else { return };
    let file = if how & 1 == 0 { "config.toml" } else { "config.json" };
    let source = |layer| Source { layer, file: file.into(), text: text.to_owned(), readers: Readers::Owner };
    let layers = Layers {
        files: vec![source(Layer::User), source(Layer::Project)],
        variables: vec![("SWITCHRAIL_ROUTER__DEFAULT".to_owned(), text.chars().take(80).collect())],
        trusted: if how & 2 == 0 { Trusted::Yes } else { Trusted::No },
        ..Layers::default()
    };
    if let Err(problems) = compose(&layers, &Nothing) {
        assert!(!problems.0.is_empty(), "an error says what is wrong");
        for problem in &problems.0 {
            assert_ne!(problem.origin, Origin::BuiltIn, "{problem}");
        }
    }
}
