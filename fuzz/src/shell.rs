use rail_permit::shell::{danger, influences, only_reads, prefix, read, touches};

#[path = "../../crates/permit/tests/it/hostile_table.rs"]
mod hostile_table;

/// Panics if a hostile command, damaged as the input says, or the input itself, is read out of bounds.
///
/// The first two bytes choose the command; each two more, and a text up to the next zero byte, replace a place in it.
pub fn shell(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        all(text);
    }
    let Some(([high, low], edits)) = input.split_first_chunk() else { return };
    let rows = hostile_table::HOSTILE;
    let (command, expected, mark) = rows[usize::from(u16::from_be_bytes([*high, *low])) % rows.len()];
    assert!(mark != hostile_table::Mark::Unclear || expected.is_empty());
    let mut text = command.to_owned();
    for edit in edits.split(|byte| *byte == 0) {
        let Some(([at, removed], sign)) = edit.split_first_chunk() else { continue };
        let length = text.chars().count();
        let at = usize::from(*at) % (length + 1);
        let before: String = text.chars().take(at).collect();
        let after: String = text.chars().skip(at + usize::from(removed % 4)).collect();
        text = format!("{before}{}{after}", String::from_utf8_lossy(sign));
        all(&text);
    }
}

fn all(text: &str) {
    let Ok(script) = read(text) else { return };
    for (index, simple) in script.commands.iter().enumerate() {
        assert!(text.get(simple.source.clone()).is_some(), "{:?} is no part of {text:?}", simple.source);
        assert!(simple.place.piped_from.is_none_or(|from| from < index));
        let _ = (influences(simple), only_reads(simple), prefix(simple), touches(simple));
    }
    for danger in danger(&script, Some("/srv/people/ann")) {
        assert!(danger.command < script.commands.len());
    }
}
