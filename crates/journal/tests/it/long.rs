use rail_journal::{Cause, Compacted, Place, Record, Writer, list, view};
use rail_model::{Message, Part, Role};

use crate::bed::{Bed, add, model, texts, usage, user};

/// Writes turns, with a compaction before every 250th; gives the place before the last compaction.
fn write(writer: &mut Writer, turns: u64) -> Place {
    let mut before = writer.last();
    for step in 1..=turns {
        add(writer, user(step, &format!("turn {step}: {}", "please ".repeat(20))));
        add(writer, model(step, &"an answer of some length ".repeat(10)));
        add(writer, usage(step));
        if step % 250 == 0 && step < turns {
            before = writer.last();
            let window = vec![Message::new(Role::User, vec![Part::text("what was before")])];
            add(writer, Record::Compacted(Compacted { window, cause: Cause::Full, by: None }));
        }
    }
    before
}

#[test]
fn ten_thousand_turns_cost_their_window_to_resume() {
    let bed = Bed::quick();
    let mut writer = bed.session();
    let before = write(&mut writer, 10_000);
    let resumed = view(writer.folder()).unwrap();
    assert_eq!(resumed.window.messages().len(), 1 + 500);
    assert_eq!(texts(&resumed.window.messages()[..1]), ["what was before"]);
    assert_eq!(&resumed.state, writer.state());
    assert_eq!(resumed.state.sum.totals.turns, 10_000);
    let (all, window) = (writer.last().end, writer.last().end - before.end);
    // A few pieces more than the window: the last one may begin before it, and the first line is read on its own.
    assert!(resumed.read <= window + 3 * (32 << 10), "{} of {window}", resumed.read);
    assert!(resumed.read * 20 < all, "{} of {all}", resumed.read);
}

#[test]
fn a_rewind_over_much_is_not_read_through() {
    let bed = Bed::quick();
    let mut writer = bed.session();
    let early = add(&mut writer, user(1, "early"));
    for step in 2..1_000 {
        add(&mut writer, user(step, &"x".repeat(2_000)));
    }
    let all = writer.last().end;
    let resumed = writer.rewind(crate::bed::NOW, early, rail_journal::Way::Back).unwrap();
    assert_eq!(texts(resumed.window.messages()), ["early"]);
    assert!(resumed.read * 10 < all, "{} of {all}", resumed.read);
}

#[test]
fn a_line_longer_than_a_piece_is_read_whole() {
    let bed = Bed::quick();
    let mut writer = bed.session();
    // Below the size that is kept elsewhere, but many of them.
    let window: Vec<Message> = (0..40)
        .map(|n| Message::new(Role::User, vec![Part::text(format!("{n}{}", "y".repeat(9_000)))]))
        .collect();
    let compacted = Compacted { window: window.clone(), cause: Cause::Asked, by: None };
    add(&mut writer, Record::Compacted(compacted));
    add(&mut writer, user(1, "on"));
    let resumed = view(writer.folder()).unwrap();
    assert_eq!(resumed.window.messages()[..40], window);
    assert!(resumed.read < 3 * writer.last().end);
}

#[test]
fn a_thousand_sessions_are_listed_by_their_ends() {
    let bed = Bed::quick();
    let mut writer = bed.session();
    write(&mut writer, 40);
    let folder = writer.folder().to_owned();
    let journal = std::fs::read(folder.join("journal.jsonl")).unwrap();
    drop(writer);
    for n in 0..999 {
        let copy = folder.with_file_name(format!("00000000-0000-7000-8000-{n:012}"));
        std::fs::create_dir(&copy).unwrap();
        std::fs::write(copy.join("journal.jsonl"), &journal).unwrap();
    }
    let listing = list(&bed.sessions(), None).unwrap();
    assert_eq!((listing.sessions.len(), listing.unreadable.len()), (1_000, 0));
    assert!(listing.sessions.iter().all(|session| session.turns == 40 && session.cost_usd == 10.0));
}
