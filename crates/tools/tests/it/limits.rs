//! A limit that is set otherwise changes what a tool does: each once as it is by default, and once set.

use image::{ExtendedColorType, ImageEncoder};
use rail_model::PartBody;
use rail_tool::{Display, Limits, Outcome};
use serde_json::{Value, json};

use crate::scratch::{Scratch, timeless};

/// What a call does in a folder that these files are in, by default and with a limit set.
fn both(
    files: &[(&str, Vec<u8>)],
    change: fn(&mut Limits),
    tool: &str,
    input: &Value,
) -> [(Scratch, Outcome); 2] {
    let unchanged: fn(&mut Limits) = |_| ();
    [unchanged, change].map(|change| {
        let scratch = Scratch::with(|session| change(&mut session.limits));
        for (name, bytes) in files {
            scratch.known(name, bytes);
        }
        let outcome = scratch.run(tool, input);
        (scratch, outcome)
    })
}

/// Whether the text of a call holds some words, by default and with a limit set.
fn check(
    files: &[(&str, Vec<u8>)],
    change: fn(&mut Limits),
    (tool, input): (&str, Value),
    words: &str,
    expected: [bool; 2],
) {
    let ran = both(files, change, tool, &input);
    let texts = ran.map(|(_, outcome)| timeless(&outcome.text()));
    let found = [texts[0].contains(words), texts[1].contains(words)];
    assert_eq!(found, expected, "`{words}` in {texts:#?}");
}

fn lines(count: usize) -> Vec<u8> {
    (1..=count).map(|number| format!("line {number}\n")).collect::<String>().into_bytes()
}

const READ: &str = "{workspace}/a.txt";

#[test]
fn lines_of_a_file() {
    let call = ("read_file", json!({ "file_path": READ }));
    check(&[("a.txt", lines(5))], |limits| limits.read.lines = 3, call, "lines 1 to 3 of 5", [false, true]);
}

#[test]
fn characters_of_a_line() {
    let call = |tool| (tool, json!({ "file_path": READ, "paths": ["a.txt"] }));
    let files = [("a.txt", b"0123456789\n".to_vec())];
    check(&files, |limits| limits.read.line_chars = 4, call("read_file"), "0123456", [true, false]);
    check(&files, |limits| limits.read.line_chars = 4, call("read_many_files"), "0123456", [true, false]);
}

#[test]
fn a_text_without_a_range() {
    let files = [("a.txt", lines(5))];
    let change: fn(&mut Limits) = |limits| limits.read.text_bytes = 20;
    let whole = ("read_file", json!({ "file_path": READ }));
    check(&files, change, whole, "more than the 20 bytes that are read at once", [false, true]);
    let some = ("read_file", json!({ "file_path": READ, "offset": 2, "limit": 1 }));
    check(&files, change, some, "2\tline 2\n\n[line 2 of 5 in all; go on with `offset` 3]", [true, true]);
    // A larger one lets more through.
    let call = ("read_file", json!({ "file_path": READ }));
    let large = [("a.txt", lines(40_000))];
    check(&large, |limits| limits.read.text_bytes = 1 << 20, call, "of 40000 in all", [false, true]);
}

fn picture(edge: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pixels: Vec<u8> = (0..edge * edge * 3).map(|at| (at * 7919 % 251) as u8).collect();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    encoder.write_image(&pixels, edge, edge, ExtendedColorType::Rgb8).unwrap();
    bytes
}

#[test]
fn bytes_and_edges_of_an_image() {
    let call = || ("read_file", json!({ "file_path": "{workspace}/a.png" }));
    let files = [("a.png", picture(64))];
    check(
        &files,
        |limits| limits.read.image_bytes = 100,
        call(),
        "more than the 100 (100 bytes)",
        [false, true],
    );
    check(&files, |limits| limits.read.image_edge = 16, call(), "shown shrunk to 16", [false, true]);
}

fn notebook(images: usize) -> Vec<u8> {
    use base64::Engine;

    let encoded = base64::engine::general_purpose::STANDARD.encode(picture(2));
    let output = json!({"output_type": "display_data", "data": {"image/png": encoded}, "metadata": {}});
    let stream = json!({"output_type": "stream", "name": "stdout", "text": "printed by the cell"});
    let mut outputs = vec![output; images];
    outputs.push(stream);
    let cell = json!({"cell_type": "code", "id": "a", "metadata": {}, "execution_count": 1,
        "source": "the source of it", "outputs": outputs});
    json!({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).to_string().into_bytes()
}

#[test]
fn notebooks_and_their_cells() {
    let call = || ("read_file", json!({ "file_path": "{workspace}/a.ipynb" }));
    let files = [("a.ipynb", notebook(2))];
    check(&files, |limits| limits.read.cell_chars = 5, call(), "the source of it", [true, false]);
    check(&files, |limits| limits.read.cell_output_chars = 5, call(), "printed by the cell", [true, false]);
    check(&files, |limits| limits.read.images = 1, call(), "it is one too many", [false, true]);
    // Too large for a notebook, it is read as the text that it is.
    check(&files, |limits| limits.read.notebook_bytes = 10, call(), "\"cell_type\"", [false, true]);
}

#[test]
fn images_and_files_of_many() {
    let files = [("a.png", picture(2)), ("b.png", picture(2)), ("c.png", picture(2))];
    let call = ("read_many_files", json!({ "paths": ["*.png"] }));
    check(&files, |limits| limits.read.images = 2, call, "left out for lack of room", [false, true]);
    let files = [("a.txt", lines(1)), ("b.txt", lines(1)), ("c.txt", lines(1))];
    let call = ("read_many_files", json!({ "paths": ["*.txt"] }));
    check(&files, |limits| limits.read.files = 2, call, "[2 files read]", [false, true]);
}

#[test]
fn entries_of_a_folder() {
    let files = [("a.txt", lines(1)), ("b.txt", lines(1)), ("c.txt", lines(1))];
    let call = ("list_directory", json!({ "path": "{workspace}" }));
    check(&files, |limits| limits.list_entries = 2, call, "the first 2 are shown", [false, true]);
}

#[test]
fn files_of_a_search() {
    let files = [("a.txt", lines(1)), ("b.txt", lines(1)), ("c.txt", lines(1))];
    let change: fn(&mut Limits) = |limits| limits.search.files = 2;
    for call in [
        ("glob", json!({ "pattern": "*.txt" })),
        ("glob", json!({ "pattern": "*.txt", "limit": 3 })),
        ("grep", json!({ "pattern": "line" })),
        ("grep", json!({ "pattern": "line", "output_mode": "count" })),
    ] {
        check(&files, change, call, "Shown are 1 to 2", [false, true]);
    }
}

#[test]
fn matches_of_a_search() {
    let files = [("a.txt", lines(5))];
    let call = |more: Value| {
        let mut input = json!({ "pattern": "line", "output_mode": "content" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("grep", input)
    };
    let check = |change: fn(&mut Limits), more: Value, words: &str, expected: [bool; 2]| {
        check(&files, change, call(more), words, expected);
    };
    check(|limits| limits.search.matches = 2, json!({}), "Shown are 1 to 2", [false, true]);
    check(|limits| limits.search.matches = 2, json!({"head_limit": 4}), "Shown are 1 to 4", [true, true]);
    check(
        |limits| limits.search.matches_at_most = 3,
        json!({"head_limit": 4}),
        "Shown are 1 to 3",
        [false, true],
    );
    check(|limits| limits.search.matches_at_most = 3, json!({}), "Shown are 1 to 3", [false, true]);
    check(|limits| limits.search.line_chars = 4, json!({}), "1:line[… 2 characters]", [false, true]);
    let around = json!({"pattern": "line 3", "-C": 2});
    check(|limits| limits.search.context = 1, around, "5-line 5", [true, false]);
    let over = json!({"pattern": "line 1[^5]*", "multiline": true});
    check(|limits| limits.search.match_lines = 2, over, "of this match]", [false, true]);
}

#[test]
fn what_is_changed_and_shown_of_it() {
    let files = [("a.txt", lines(9))];
    let call = || ("edit_file", json!({ "file_path": READ, "old_string": "line 5", "new_string": "new" }));
    check(
        &files,
        |limits| limits.edit_bytes = 20,
        call(),
        "more than 20: change it with a program",
        [false, true],
    );
    check(&files, |limits| limits.edit_lines = 2, call(), "8\tline 8", [true, false]);
}

#[test]
fn commands_in_the_background() {
    let scratch = Scratch::with(|session| session.limits.background_commands = 1);
    let start = || scratch.run("bash", &json!({ "command": "sleep 600", "run_in_background": true }));
    assert!(start().success());
    assert!(start().text().contains("1 commands run in the background already"));
}

#[test]
fn what_people_are_shown() {
    let shown = |change: fn(&mut Limits), tool: &str, input: Value| {
        let ran = both(&[("a.txt", lines(9))], change, tool, &input);
        ran.map(|(_, outcome)| match outcome.display {
            Some(Display::Preview { lines, .. } | Display::Diff { lines, .. }) => lines,
            Some(Display::Summary(_) | Display::Todos(_)) | None => 0,
        })
    };
    let read = json!({ "file_path": READ });
    assert_eq!(shown(|limits| limits.read.preview_lines = 7, "read_file", read), [3, 7]);
    let command = json!({ "command": "cat a.txt" });
    assert_eq!(shown(|limits| limits.preview_command_lines = 7, "bash", command), [5, 7]);
    let write = json!({ "file_path": READ, "content": "x" });
    assert_eq!(shown(|limits| limits.preview_diff_lines = 7, "write_file", write), [10, 7]);
}

#[test]
fn an_image_is_as_small_as_it_is_said_to_be() {
    let files = [("a.png", picture(64))];
    let input = json!({ "file_path": "{workspace}/a.png" });
    let [(_, whole), (_, small)] = both(&files, |limits| limits.read.image_edge = 16, "read_file", &input);
    let length = |outcome: &Outcome| {
        let media = outcome.parts.iter().filter(|part| matches!(part.body, PartBody::Media(_)));
        media.map(|part| format!("{part:?}").len()).sum::<usize>()
    };
    assert!(length(&small) < length(&whole) / 2);
}

/// A number in a prompt or in what is said of a parameter is the one in force.
#[test]
fn prompts_name_the_limits_in_force() {
    let registry = rail_tools::registry();
    let mut limits = Limits::default();
    limits.read.lines = 11;
    limits.read.line_chars = 22;
    limits.read.text_bytes = 33 << 10;
    limits.list_entries = 44;
    limits.search.files = 55;
    limits.command = std::time::Duration::from_millis(66);
    limits.command_at_most = std::time::Duration::from_millis(77);
    let said = |tool: &str| {
        let (_, declared) =
            registry.shown("claude", &limits).find(|(one, _)| one.card().name == tool).unwrap();
        format!("{declared:?}")
    };
    assert!(said("read_file").contains("at most 11 lines and 22 characters of a line"));
    assert!(said("read_file").contains("Text over 33 KiB needs"));
    assert!(said("list_directory").contains("At most 44 entries"));
    assert!(
        said("glob").contains("newest first, 55 at most")
            && said("glob").contains("How many files, 55 at most.")
    );
    assert!(said("bash").contains("66 if not given, 77 at most"));
    assert!(said("bash_output").contains("77 at most"));
    for (tool, declared) in registry.shown("native", &limits) {
        let unknown = ["{read_", "{list_", "{search_", "{command_", "{max_"];
        let text = format!("{declared:?}");
        assert!(!unknown.iter().any(|name| text.contains(name)), "{}", tool.card().name);
    }
}
