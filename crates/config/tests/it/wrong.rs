//! Wrong files, each with the message that a user would want.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rail_config::{Layer, Layers, compose};

use crate::{Quiet, source};

#[test]
fn wrong_files_say_what_is_wrong_and_what_to_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrong");
    let mut names: Vec<String> = fs::read_dir(folder.clone())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 30, "{}", names.len());
    let outside = Quiet([("BAD_LISTEN", "nowhere"), ("BAD_MODE", "yolo")].into());
    let mut out = String::new();
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        let layers = Layers { files: vec![source(Layer::User, &name, &text)], ..Layers::default() };
        let problems = compose(&layers, &outside).expect_err(&name);
        writeln!(out, "{problems}\n").unwrap();
    }
    insta::assert_snapshot!(out);
}
