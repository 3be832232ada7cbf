use proptest::prelude::*;
use rail_journal::{Cause, Compacted, Place, Record, Way, Window, Writer, entries, fork, view};
use rail_model::{Message, PartBody, Role};

use crate::bed::{
    Bed, NOW, add, again, call, calls, compacted, model, partial, queued, result, results, running, texts,
    told, usage, user,
};

#[test]
fn what_waits_outlives_a_compaction() {
    let bed = Bed::new();
    let mut writer = bed.session();
    for record in
        [user(1, "go"), queued(1, "also"), queued(1, &"large ".repeat(5_000)), compacted(&["short"])]
    {
        add(&mut writer, record);
    }
    let (mut writer, resumed) = again(writer);
    assert_eq!(texts(resumed.window.messages()), ["short"]);
    assert_eq!(texts(resumed.window.queued()), ["also", &"large ".repeat(5_000)]);
    assert_eq!(&resumed.state, writer.state());
    add(&mut writer, compacted(&["shorter"]));
    add(&mut writer, queued(2, "more"));
    add(&mut writer, compacted(&["shortest"]));
    assert_eq!(again(writer).1.window.queued().len(), 3);
}

#[test]
fn what_was_taken_in_waits_no_more() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, queued(1, "also"));
    let waits = writer.last();
    add(&mut writer, Record::Taken(1));
    add(&mut writer, compacted(&["short"]));
    let (mut writer, resumed) = again(writer);
    assert_eq!((resumed.window.queued().len(), resumed.state.queued.len()), (0, 0));
    // Where it waited it waits again.
    let resumed = writer.rewind(NOW, waits, Way::Back).unwrap();
    assert_eq!((resumed.window.queued().len(), &resumed.state.queued), (1, &vec![waits]));
    add(&mut writer, compacted(&["short"]));
    let (writer, resumed) = again(writer);
    assert_eq!(texts(resumed.window.queued()), ["also"]);
    assert_eq!(&resumed.state, writer.state());
}

/// Something that is done to a journal.
#[derive(Clone, Debug)]
enum Act {
    Add(Record),
    /// Goes to a line that is there.
    Rewind(prop::sample::Index),
    /// Goes on in another process.
    Again,
}

fn record() -> impl Strategy<Value = Record> {
    let step = || 1..4_u64;
    let word = || "[a-c]{0,2}";
    let ids = || prop::collection::vec("[ab]", 0..4);
    let ended = |step, ids: Vec<String>| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        calls(step, &ids)
    };
    prop_oneof![
        (step(), word()).prop_map(|(step, text)| user(step, &text)),
        (step(), word()).prop_map(|(step, text)| model(step, &text)),
        (step(), word()).prop_map(|(step, text)| told(step, &text)),
        (step(), word()).prop_map(|(step, text)| queued(step, &text)),
        step().prop_map(Record::Taken),
        (step(), word()).prop_map(|(step, text)| partial(step, &text)),
        step().prop_map(Record::Void),
        (step(), ids()).prop_map(move |(step, ids)| ended(step, ids)),
        (step(), "[ab]").prop_map(|(step, id)| running(step, &[&id])),
        (step(), ids(), word()).prop_map(|(step, ids, text)| {
            results(step, ids.iter().map(|id| result(id, &text)).collect())
        }),
        word().prop_map(|text| compacted(&[&text])),
        Just(compacted(&[])),
        "[ab]".prop_map(|id| {
            let window = vec![Message::new(Role::Assistant, vec![PartBody::ToolCall(call(&id)).into()])];
            Record::Compacted(Compacted { window, cause: Cause::Trimmed, by: None })
        }),
        (1..6_u64).prop_map(usage),
        Just(Record::Title("t".into())),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => record().prop_map(Act::Add),
        1 => any::<prop::sample::Index>().prop_map(Act::Rewind),
        1 => Just(Act::Again),
    ]
}

/// What is done to a journal, and what that must come to.
struct Both {
    writer: Writer,
    window: Window,
    /// The conversation at each line.
    was: Vec<(Place, Window)>,
}

impl Both {
    fn run(mut self, act: &Act) -> Self {
        match act {
            Act::Add(record) => {
                add(&mut self.writer, record.clone());
                self.window.apply(record);
            }
            Act::Rewind(line) => {
                let (place, mut then) = self.was[line.index(self.was.len())].clone();
                let rewound = self.writer.rewind(NOW, place, Way::Back).unwrap();
                // A step that was taken back had its number, and no other gets it; nothing else comes of this record.
                then.apply(&usage(self.window.last_step()));
                self.window = then;
                assert_eq!(rewound.window, self.window);
            }
            Act::Again => self.writer = again(self.writer).0,
        }
        self.was.push((self.writer.last(), self.window.clone()));
        self
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_journal_is_read_as_its_records_are_folded(records in prop::collection::vec(record(), 0..24)) {
        let bed = Bed::quick();
        let mut writer = bed.session();
        records.iter().for_each(|record| _ = add(&mut writer, record.clone()));
        let mut folded = Window::default();
        records.iter().for_each(|record| folded.apply(record));
        prop_assert_eq!(&view(writer.folder()).unwrap().window, &folded);
        let mut read = Window::default();
        entries(writer.folder()).unwrap().for_each(|entry| read.apply(&entry.unwrap().record));
        prop_assert_eq!(read, folded);
    }

    #[test]
    fn whatever_is_done_readers_and_forks_see_the_same(acts in prop::collection::vec(act(), 0..24)) {
        let bed = Bed::quick();
        let writer = bed.session();
        let was = vec![(writer.last(), Window::default())];
        let mut both = Both { writer, window: Window::default(), was };
        for act in &acts {
            both = both.run(act);
            let resumed = view(both.writer.folder()).unwrap();
            prop_assert_eq!(&resumed.window, &both.window);
            prop_assert_eq!(&resumed.state, both.writer.state());
        }
        let (forked, resumed) = fork(&bed.sessions(), both.writer.folder(), None, NOW).unwrap();
        prop_assert_eq!(&resumed.window, &both.window);
        prop_assert_eq!(&resumed.state, forked.state());
        prop_assert_eq!(resumed.state.sum.totals.turns, both.writer.state().sum.totals.turns);
    }
}
