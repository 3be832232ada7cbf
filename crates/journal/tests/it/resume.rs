use rail_journal::{
    Cause, Compacted, Ended, JournalError, Note, Opened, Place, Prompt, Record, Said, UnixMillis, VERSION,
    Writer, verify, view,
};
use rail_model::{Extras, Json, Message, Part, PartBody, Role, ToolCall, ToolDecl, ToolKind};
use serde_json::json;

use crate::bed::{
    Bed, NOW, add, again, all, call, calls, model, opened, partial, pictured, queued, result, results,
    running, texts, told, usage, user,
};

fn prompt(system: &str) -> Prompt {
    let parameters = Some(Json::parse(r#"{ "type": "object" }"#.into()).unwrap());
    let tool = ToolDecl {
        name: "bash".into(),
        description: Some("Runs a command.".into()),
        kind: ToolKind::Function { parameters },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    Prompt { system: vec![Part::text(system)], tools: vec![tool], dialect: "native".into() }
}

#[test]
fn a_session_goes_on_where_it_was() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, Record::Prompt(prompt("Be brief.")));
    add(&mut writer, user(1, "look\nand see"));
    add(&mut writer, calls(1, &["a", "b"]));
    add(&mut writer, usage(1));
    add(&mut writer, running(1, &["a", "b"]));
    add(&mut writer, results(1, vec![result("b", "two")]));
    add(&mut writer, results(1, vec![result("a", "one")]));
    add(&mut writer, Record::Mode("plan".into()));
    add(&mut writer, Record::Model("smart".into()));
    add(&mut writer, Record::Todos(json!([{"content": "x"}])));
    add(&mut writer, model(2, "done"));
    add(&mut writer, usage(2));
    let (last, state) = (writer.last(), writer.state().clone());
    let (writer, resumed) = again(writer);
    assert_eq!(
        texts(resumed.window.messages()),
        ["look\nand see", "call a", "call b", "a: one", "b: two", "done"]
    );
    assert_eq!(resumed.window.messages().len(), 4, "the results of a step are one message");
    assert_eq!(resumed.head, Some(prompt("Be brief.")));
    assert_eq!((resumed.last, &resumed.state), (last, &state));
    assert_eq!((writer.last(), writer.state()), (last, &state));
    assert_eq!(state.sum.title.as_deref(), Some("look"));
    assert_eq!((state.mode.as_deref(), state.model.as_str()), (Some("plan"), "smart"));
    let totals = state.sum.totals;
    assert_eq!(
        (totals.turns, totals.steps, totals.requests, totals.input, totals.output),
        (1, 2, 2, 200, 20)
    );
    assert_eq!((totals.cost_usd, totals.unpriced), (0.5, 0));
    assert_eq!((resumed.window.open(), resumed.torn, resumed.redo), (None, None, None));
    assert!(verify(writer.folder()).unwrap().trouble.is_none());
}

#[test]
fn the_file_has_one_line_a_record_in_this_form() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, user(1, "hi"));
    add(&mut writer, usage(1));
    let text = std::fs::read_to_string(writer.folder().join("journal.jsonl")).unwrap();
    let id = writer.folder().file_name().unwrap().to_str().unwrap();
    let mut hash = "nothing".to_owned();
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(line.replace(id, "ID").replace(&hash, "HASH"));
        hash = rail_journal::Hash::of(line.as_bytes()).to_string();
    }
    let first = lines.remove(0);
    insta::assert_snapshot!(first, @r#"{"n":1,"prev":"00000000000000000000000000000000","at":1767225600000,"type":"opened","data":{"version":1,"id":"ID","cwd":"/srv/shop","model":"fast"}}"#);
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"n":2,"prev":"HASH","at":1767225600000,"type":"message","data":{"step":1,"message":{"role":"user","parts":[{"body":{"text":"hi"}}]}}}
    {"n":3,"prev":"HASH","at":1767225600000,"type":"usage","sum":{"title":"hi","totals":{"turns":1,"steps":1,"requests":1,"input":100,"cache_read":0,"cache_write":0,"output":10,"reasoning":0,"cost_usd":0.25,"unpriced":0}},"data":{"step":1,"target":"acme/large","usage":{"input":100,"output":10},"cost_usd":0.25}}
    "#);
}

#[test]
fn open_calls_are_told_with_those_that_may_have_run() {
    let bed = Bed::new();
    let open = |records: Vec<Record>| {
        let mut writer = bed.session();
        for record in records {
            add(&mut writer, record);
        }
        let resumed = again(writer).1;
        resumed.window.open().map(|open| {
            let ids = |calls: Vec<&ToolCall>| {
                calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>().join(" ")
            };
            let begun = open.missing().filter(|call| open.has_begun(call)).collect();
            (open.step, ids(open.missing().collect()), ids(begun))
        })
    };
    let some = |step, calls: &str, begun: &str| Some((step, calls.to_owned(), begun.to_owned()));
    assert_eq!(open(vec![]), None);
    assert_eq!(open(vec![user(1, "x")]), None);
    assert_eq!(open(vec![user(1, "x"), calls(1, &["a", "b"])]), some(1, "a b", ""));
    assert_eq!(open(vec![calls(1, &["a", "b"]), running(1, &["a"])]), some(1, "a b", "a"));
    let done = |id| results(1, vec![result(id, "ok")]);
    assert_eq!(open(vec![calls(1, &["a", "b"]), running(1, &["a", "b"]), done("b")]), some(1, "a", "a"));
    assert_eq!(open(vec![calls(1, &["a", "b"]), done("b"), done("a")]), None);
    // What ran in another step says nothing of this one.
    assert_eq!(
        open(vec![calls(1, &["a"]), done("a"), calls(2, &["a"]), running(1, &["a"])]),
        some(2, "a", "")
    );
    let window = vec![Message::new(Role::Assistant, vec![PartBody::ToolCall(call("a")).into()])];
    let compacted = Record::Compacted(Compacted { window, cause: Cause::Trimmed, by: None });
    assert_eq!(open(vec![user(7, "x"), compacted, running(7, &["a"])]), some(7, "a", "a"));
}

#[test]
fn a_compaction_is_where_reading_ends_and_state_is_kept() {
    let bed = Bed::new();
    let mut writer = bed.session();
    add(&mut writer, Record::Prompt(prompt("Be brief.")));
    add(&mut writer, user(1, "first words"));
    add(&mut writer, usage(1));
    add(&mut writer, Record::Mode("plan".into()));
    add(&mut writer, Record::Todos(json!(["x"])));
    let window = vec![Message::new(Role::User, vec![Part::text("summary")])];
    add(
        &mut writer,
        Record::Compacted(Compacted { window, cause: Cause::Full, by: Some("acme/small".into()) }),
    );
    add(&mut writer, model(2, "on"));
    add(&mut writer, Record::Title("Better".into()));
    let state = writer.state().clone();
    let (_, resumed) = again(writer);
    assert_eq!(texts(resumed.window.messages()), ["summary", "on"]);
    assert_eq!(resumed.state, state);
    assert_eq!(state.sum.title.as_deref(), Some("Better"));
    assert_eq!((state.sum.totals.turns, state.sum.totals.cost_usd), (1, 0.25));
    assert_eq!(resumed.head, Some(prompt("Be brief.")), "the head stands above the compaction");
}

#[test]
fn large_texts_and_images_are_kept_once() {
    let bed = Bed::new();
    let mut writer = bed.session();
    let large = "é".repeat(10_000);
    let tricky = "\0rail-content:not a reference";
    add(&mut writer, Record::Prompt(prompt(&large)));
    for step in 1..4 {
        add(&mut writer, user(step, &large));
        add(&mut writer, calls(step, &["a"]));
        add(&mut writer, results(step, vec![pictured("a", &large, "aGVsbG8=")]));
    }
    add(&mut writer, user(4, tricky));
    writer.sync().unwrap();
    let bytes = writer.last().end;
    assert!(bytes < 8_000, "{bytes} bytes stand in the journal");
    let contents = walk(&writer.folder().join("contents"));
    assert_eq!(contents, 3, "the large text, the image, and what looks like a reference");
    assert_eq!(writer.state().sum.title.as_deref().map(|title| title.chars().count()), Some(60));
    let (writer, resumed) = again(writer);
    let kept = texts(resumed.window.messages());
    assert_eq!(kept.iter().filter(|text| **text == large).count(), 3);
    assert_eq!(kept.last().map(String::as_str), Some(tricky));
    assert_eq!(resumed.window.messages()[2].parts, [pictured("a", &large, "aGVsbG8=")]);
    assert_eq!(resumed.window.messages().len(), 10);
    assert_eq!(resumed.head, Some(prompt(&large)));
    // Without its contents the session can't go on, and says so.
    std::fs::remove_dir_all(writer.folder().join("contents")).unwrap();
    let error = view(writer.folder()).unwrap_err();
    assert!(matches!(error, JournalError::Content { n: 12, .. }), "{error}");
    assert!(matches!(verify(writer.folder()).unwrap().trouble, Some(JournalError::Content { n: 2, .. })));
}

fn walk(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

#[test]
fn every_kind_comes_back_as_it_was_written() {
    let bed = Bed::new();
    let mut writer = bed.session();
    let spread = Json::parse("{\n  \"a\": 1.50\r\n}".into()).unwrap();
    let records = vec![
        Record::Prompt(prompt("x")),
        user(1, "hi"),
        told(1, "the mode is another"),
        queued(1, "and this"),
        Record::Taken(1),
        partial(1, "I th"),
        Record::Void(1),
        running(1, &["a"]),
        results(1, vec![result("a", "line\nline")]),
        Record::Compacted(Compacted { window: vec![], cause: Cause::Asked, by: None }),
        Record::Snapshot(rail_journal::Snapshot { step: 1, before: "b".into(), after: "a".into() }),
        usage(1),
        Record::Mode("plan".into()),
        Record::Model("m".into()),
        Record::Title("t".into()),
        Record::Todos(json!({"n": 1})),
        Record::Ended(Ended { reason: "answered".into() }),
        Record::Note(Note { about: "hook".into(), value: json!(null) }),
        Record::Unknown { kind: "dream".into(), data: spread },
    ];
    for record in records.clone() {
        add(&mut writer, record);
    }
    let read: Vec<Record> =
        all(writer.folder()).unwrap().into_iter().skip(1).map(|entry| entry.record).collect();
    assert_eq!(read, records);
    // A kind of a later version has no effect.
    let with = again(writer).1;
    assert_eq!((with.window.messages().len(), with.snapshots.len()), (0, 1));
}

#[test]
fn a_clock_that_jumps_back_changes_no_order() {
    let bed = Bed::new();
    let mut writer = bed.session();
    for (at, text) in [(900, "one"), (100, "two"), (0, "three")] {
        writer.append(UnixMillis(at), user(1, text)).unwrap();
    }
    let (_, resumed) = again(writer);
    assert_eq!(texts(resumed.window.messages()), ["one", "two", "three"]);
}

#[test]
fn odd_working_folders_come_back() {
    use std::os::unix::ffi::OsStrExt;
    let bed = Bed::new();
    let odd = std::path::Path::new(std::ffi::OsStr::from_bytes(b"/srv/\xff\xfe"));
    let writer = bed.session_of(odd, NOW);
    assert_eq!(again(writer).1.opened.cwd, odd);
}

#[test]
fn what_is_no_session_says_so() {
    let bed = Bed::new();
    let missing = bed.sessions().join("x");
    assert!(matches!(view(&missing), Err(JournalError::Missing { .. })));
    assert!(matches!(Writer::resume(&missing), Err(JournalError::Missing { .. })));
    assert!(!missing.exists());
    let writer = bed.session();
    let exists = Writer::create(writer.folder(), NOW, opened("/srv/shop".as_ref(), NOW));
    assert!(matches!(exists, Err(JournalError::Exists { .. })), "{exists:?}");
    let newer = Opened { version: VERSION + 1, ..opened("/srv/shop".as_ref(), NOW) };
    let folder = bed.sessions().join("new");
    let writer = Writer::create(&folder, NOW, newer).unwrap();
    assert_eq!(
        view(writer.folder()).unwrap_err().to_string(),
        format!(
            "`{}` was written in form 2, and this program knows forms up to 1; install a newer one",
            folder.join("journal.jsonl").display()
        )
    );
    std::fs::write(folder.join("journal.jsonl"), "").unwrap();
    assert!(matches!(view(&folder), Err(JournalError::Empty { .. })));
}

#[test]
fn a_place_of_a_line_is_where_it_ends() {
    let bed = Bed::new();
    let mut writer = bed.session();
    let before = writer.last();
    let place =
        add(&mut writer, Record::Message(Said { step: 1, message: Message::new(Role::User, vec![]) }));
    let entries = all(writer.folder()).unwrap();
    assert_eq!(entries.iter().map(|entry| entry.before).collect::<Vec<_>>(), [Place::default(), before]);
    assert_eq!(entries.last().map(|entry| entry.place), Some(place));
    assert_eq!(place.end, std::fs::metadata(writer.folder().join("journal.jsonl")).unwrap().len());
}
