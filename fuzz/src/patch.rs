//! What must hold of any text that is taken for a patch.

use rail_edit::patch::{FilePatch, parse, patched};

/// Takes the input for a text and, behind its first empty line, a patch of it: it is read and applied, or refused.
pub fn patch(input: &[u8]) {
    let input = String::from_utf8_lossy(input);
    let (text, patch) = input.split_once("\n\n").unwrap_or(("", &input));
    let Ok(patch) = parse(patch) else { return };
    assert!(!patch.files.is_empty(), "a patch without a change is refused");
    for file in patch.files {
        assert!(!file.path().is_empty(), "a change without a path is refused");
        if let FilePatch::Update { hunks, .. } = file
            && let Ok(made) = patched(text, &hunks)
            && hunks.iter().all(|hunk| hunk.old == hunk.new)
        {
            assert_eq!(made.text, text, "lines that only stay change nothing");
        }
    }
}
