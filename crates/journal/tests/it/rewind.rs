use rail_journal::{Place, Record, Resumed, Way, Writer, messages, turns, verify, view};
use serde_json::json;

use crate::bed::{Bed, NOW, add, again, model, texts, usage, user};

fn shown(writer: &Writer) -> Vec<String> {
    let messages = messages(writer.folder()).unwrap().map(|shown| match shown.unwrap().what {
        rail_journal::What::Message(message) | rail_journal::What::Told(message) => message,
        other => panic!("{other:?}"),
    });
    texts(&messages.collect::<Vec<_>>())
}

/// Goes somewhere, and sees that everybody sees the same.
fn go(writer: &mut Writer, to: Place, way: Way) -> Resumed {
    let resumed = writer.rewind(NOW, to, way).unwrap();
    let seen = view(writer.folder()).unwrap();
    assert_eq!((&seen.window, &seen.state, seen.last), (&resumed.window, &resumed.state, writer.last()));
    assert_eq!(&seen.state, writer.state());
    assert_eq!(texts(resumed.window.messages()), shown(writer));
    assert!(verify(writer.folder()).unwrap().trouble.is_none());
    resumed
}

#[test]
fn what_was_taken_back_comes_forth_again() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, user(1, "one"));
    add(&mut writer, Record::Todos(json!(["first"])));
    add(&mut writer, Record::Findings(json!(["found"])));
    add(&mut writer, Record::Known(json!({"date": "one"})));
    add(&mut writer, usage(1));
    let one = add(&mut writer, model(1, "I"));
    add(&mut writer, user(2, "two"));
    add(&mut writer, Record::Todos(json!(["second"])));
    add(&mut writer, Record::Findings(json!(["found", "more"])));
    add(&mut writer, Record::Known(json!({"date": "two"})));
    add(&mut writer, Record::Mode("plan".into()));
    let two = add(&mut writer, usage(2));
    add(&mut writer, user(3, "three"));
    let three = add(&mut writer, usage(3));

    let at_two = go(&mut writer, two, Way::Back);
    assert_eq!(texts(at_two.window.messages()), ["one", "I", "two"]);
    assert_eq!(at_two.redo, Some(three));
    let back_at_two = writer.last();
    let at_one = go(&mut writer, one, Way::Back);
    assert_eq!(texts(at_one.window.messages()), ["one", "I"]);
    assert_eq!(at_one.redo, Some(back_at_two));
    assert_eq!(at_one.state.todos, Some(json!(["first"])), "todos belong to the conversation");
    assert_eq!(at_one.state.findings, Some(json!(["found"])));
    assert_eq!(at_one.state.known, Some(json!({"date": "one"})), "what is taken back was never told");
    assert_eq!(at_one.state.mode.as_deref(), Some("plan"), "the mode is the user's");
    assert_eq!(at_one.state.sum.totals.cost_usd, 0.75, "what was paid is paid");

    let forth = go(&mut writer, at_one.redo.unwrap(), Way::Forth);
    assert_eq!(texts(forth.window.messages()), ["one", "I", "two"]);
    assert_eq!(forth.state.todos, Some(json!(["second"])));
    assert_eq!(forth.redo, Some(three));
    let forth = go(&mut writer, forth.redo.unwrap(), Way::Forth);
    assert_eq!(texts(forth.window.messages()), ["one", "I", "two", "three"]);
    assert_eq!(forth.redo, None);

    go(&mut writer, one, Way::Back);
    add(&mut writer, user(4, "other"));
    let (writer, resumed) = again(writer);
    assert_eq!(texts(resumed.window.messages()), ["one", "I", "other"]);
    assert_eq!(resumed.redo, None, "a new step ends what could be brought back");
    let titles: Vec<String> = turns(writer.folder()).unwrap().into_iter().map(|turn| turn.title).collect();
    assert_eq!(titles, ["one", "other"]);
}

#[test]
fn one_can_go_back_before_a_compaction() {
    use rail_journal::{Cause, Compacted};
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, user(1, "one"));
    add(&mut writer, user(2, "two"));
    add(&mut writer, Record::Compacted(Compacted { window: vec![], cause: Cause::Full, by: None }));
    add(&mut writer, user(3, "three"));
    let turns = turns(writer.folder()).unwrap();
    assert_eq!(turns.iter().map(|turn| turn.step).collect::<Vec<_>>(), [1, 2, 3]);
    let resumed = go(&mut writer, turns[1].before, Way::Back);
    assert_eq!(texts(resumed.window.messages()), ["one"]);
}

#[test]
fn a_place_of_another_journal_is_refused_and_nothing_is_written() {
    let bed = Bed::new();
    let (mut writer, mut other) = (bed.session(), bed.session());
    let place = add(&mut other, user(1, "theirs"));
    add(&mut writer, user(1, "ours!"));
    let last = writer.last();
    for wrong in [place, Place::default(), Place { end: last.end + 1, ..last }, Place { n: 7, ..last }] {
        assert!(writer.rewind(NOW, wrong, Way::Back).is_err(), "{wrong:?}");
    }
    assert_eq!(writer.last(), last);
    assert_eq!(texts(again(writer).1.window.messages()), ["ours!"]);
}
