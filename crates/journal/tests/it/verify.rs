use std::fs;
use std::path::Path;

use rail_journal::{JournalError, Record, Writer, Wrong, verify, view};

use crate::bed::{Bed, add, model, usage, user};

/// A session of seven lines.
fn session(bed: &Bed) -> Writer {
    let mut writer = bed.session();
    for step in 1..4 {
        add(&mut writer, user(step, "pay 10 to ann"));
        add(&mut writer, model(step, "done"));
    }
    writer
}

fn change(folder: &Path, change: impl Fn(&mut Vec<String>)) {
    let path = folder.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
}

/// The number of the line that is wrong, counted in the file, and what is.
fn wrong(folder: &Path, error: Option<JournalError>) -> Option<(usize, Wrong)> {
    match error? {
        JournalError::Broken { offset, wrong, .. } => {
            let text = fs::read(folder.join("journal.jsonl")).unwrap();
            let before = &text[..usize::try_from(offset).unwrap()];
            Some((before.iter().filter(|byte| **byte == b'\n').count() + 1, wrong))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_first_line_that_is_not_as_it_was_written_is_named() {
    type Change = fn(&mut Vec<String>);
    let changed: Change = |lines| lines[3] = lines[3].replace("pay 10", "pay 99");
    let gone: Change = |lines| drop(lines.remove(3));
    let twice: Change = |lines| lines.insert(3, lines[3].clone());
    let swapped: Change = |lines| lines.swap(2, 3);
    let beheaded: Change = |lines| drop(lines.drain(..2));
    let garbage: Change = |lines| lines[2] = "{}".into();
    let other: Change = |lines| lines[0] = lines[0].replace("/srv/shop", "/srv/bank");
    for (name, tamper, due) in [
        ("nothing", (|_| ()) as Change, None),
        ("changed", changed, Some((4, Wrong::Changed))),
        ("gone", gone, Some((4, Wrong::Number { found: 5, due: 4 }))),
        ("twice", twice, Some((5, Wrong::Number { found: 4, due: 5 }))),
        ("swapped", swapped, Some((3, Wrong::Number { found: 4, due: 3 }))),
        ("the first changed", other, Some((1, Wrong::Changed))),
        (
            "the last changed: nothing behind it says so",
            |lines| lines[6] = lines[6].replace("done", "open"),
            None,
        ),
    ] {
        let bed = Bed::new();
        let writer = session(&bed);
        change(writer.folder(), tamper);
        let verdict = verify(writer.folder()).unwrap();
        assert_eq!(wrong(writer.folder(), verdict.trouble), due, "{name}");
    }
    for (name, tamper, line) in [("beheaded", beheaded, 1), ("garbage", garbage, 3)] {
        let bed = Bed::new();
        let writer = session(&bed);
        change(writer.folder(), tamper);
        let trouble = wrong(writer.folder(), verify(writer.folder()).unwrap().trouble);
        assert_eq!(trouble.map(|(line, _)| line), Some(line), "{name}");
    }
}

#[test]
fn a_verdict_tells_how_far_it_is_proved() {
    let bed = Bed::new();
    let writer = session(&bed);
    let last = writer.last();
    let verdict = verify(writer.folder()).unwrap();
    assert_eq!((verdict.last, verdict.torn), (last, None));
    change(writer.folder(), |lines| lines[4] = "?".into());
    assert_eq!(verify(writer.folder()).unwrap().last.n, 4);
    fs::write(writer.folder().join("journal.jsonl"), "{\"n\":1,").unwrap();
    let verdict = verify(writer.folder()).unwrap();
    assert!(matches!(verdict.trouble, Some(JournalError::Empty { .. })), "{verdict:?}");
    assert_eq!(verdict.torn.map(|torn| (torn.from, torn.bytes)), Some((0, 7)));
}

#[test]
fn a_session_that_was_changed_is_not_resumed() {
    let bed = Bed::new();
    let mut writer = session(&bed);
    add(&mut writer, usage(3));
    let folder = writer.folder().to_owned();
    drop(writer);
    change(&folder, |lines| lines[5] = lines[5].replace("pay 10", "pay 99"));
    let error = Writer::resume(&folder).unwrap_err();
    let said = error.to_string();
    assert_eq!(wrong(&folder, Some(error)), Some((6, Wrong::Changed)));
    assert!(said.contains("it was changed after it was written"), "{said}");
    assert!(view(&folder).is_err());
}

#[test]
fn a_session_that_was_changed_before_what_counts_still_goes_on() {
    use rail_journal::{Cause, Compacted};
    let bed = Bed::new();
    let mut writer = session(&bed);
    add(&mut writer, Record::Compacted(Compacted { window: vec![], cause: Cause::Full, by: None }));
    add(&mut writer, user(9, "on"));
    change(writer.folder(), |lines| lines[3] = lines[3].replace("pay 10", "pay 99"));
    assert_eq!(view(writer.folder()).unwrap().window.messages().len(), 1);
    assert!(verify(writer.folder()).unwrap().trouble.is_some());
}
