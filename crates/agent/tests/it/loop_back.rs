//! Undo, redo and rewind of real files, and edits of files that a command or somebody else changed.

use rail_proto::{Command, Restored, SessionEvent, What};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, Talk, assert_valid, texts};

fn run(command: &str) -> Turn {
    Turn::reply(vec![call("bash", json!({"command": command}))])
}

fn write(file: &str, content: &str) -> Turn {
    Turn::reply(vec![call("write_file", json!({"file_path": file, "content": content}))])
}

fn says(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

async fn restored(talk: &mut Talk, command: Command) -> Restored {
    talk.send(command);
    talk.until(
        |event| if let SessionEvent::Restored(restored) = event { Some(restored.clone()) } else { None },
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_undone_and_done_again_shell_changes_too() {
    let bed = Bed::new(vec![
        write("a.txt", "one\n"),
        run("echo two >> a.txt; echo new > b.txt; rm c.txt"),
        says("Done."),
        says("I see."),
    ]);
    bed.write("c.txt", "kept\n");
    let mut talk = bed.open();
    talk.ask("Go.").await;
    let state =
        |bed: &Bed| (bed.read("a.txt"), bed.work().join("b.txt").exists(), bed.work().join("c.txt").exists());
    assert_eq!(state(&bed), ("one\ntwo\n".to_owned(), true, false));

    let undone = restored(&mut talk, Command::Undo).await;
    assert_eq!((undone.files.len(), undone.conflicts.len(), undone.refused), (3, 0, None));
    assert_eq!(state(&bed), ("one\n".to_owned(), false, true));
    restored(&mut talk, Command::Undo).await;
    assert!(!bed.work().join("a.txt").exists());
    assert!(restored(&mut talk, Command::Undo).await.refused.is_some());
    restored(&mut talk, Command::Redo).await;
    assert_eq!(bed.read("a.txt"), "one\n");
    restored(&mut talk, Command::Redo).await;
    assert_eq!(state(&bed), ("one\ntwo\n".to_owned(), true, false));
    assert!(restored(&mut talk, Command::Redo).await.refused.is_some());
    talk.ask("What is it?").await;
    talk.end().await;
    assert_valid(&bed.last());
    assert!(texts(&bed.last()).join("\n").contains("are not as you left them"), "{:#?}", texts(&bed.last()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_somebody_else_changed_is_left_alone() {
    let bed = Bed::new(vec![run("echo mine > a.txt; echo mine > b.txt"), says("Done.")]);
    let mut talk = bed.open();
    talk.ask("Go.").await;
    bed.write("a.txt", "theirs\n");
    let undone = restored(&mut talk, Command::Undo).await;
    assert_eq!(undone.conflicts, [bed.work().join("a.txt").display().to_string()]);
    assert_eq!((bed.read("a.txt").as_str(), bed.work().join("b.txt").exists()), ("theirs\n", false));
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_was_interrupted_is_undone_right_behind_it() {
    let bed = Bed::new(vec![run("echo half > a.txt; echo begun; sleep 300")]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::ToolProgress { text, .. } if text.contains("begun")))
        .await;
    talk.send(Command::Interrupt);
    talk.done().await;
    let undone = restored(&mut talk, Command::Undo).await;
    assert_eq!(undone.refused, None);
    assert!(!bed.work().join("a.txt").exists());
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewound_session_is_as_before_and_goes_on() {
    let bed = Bed::new(vec![
        write("a.txt", "one\n"),
        says("First."),
        run("echo two >> a.txt"),
        says("Second."),
        run("echo three >> a.txt"),
        says("Third."),
        run("echo other >> a.txt"),
        says("Other."),
        says("Last."),
    ]);
    let mut talk = bed.open();
    for words in ["Do one.", "Do two.", "Do three."] {
        talk.ask(words).await;
    }
    let back = restored(&mut talk, Command::Rewind { turn: 2, what: What::Both }).await;
    assert_eq!((back.before_turn, back.conflicts.len(), back.refused), (Some(2), 0, None));
    assert_eq!(bed.read("a.txt"), "one\n");
    assert_eq!(talk.ask("Do other.").await.text, "Other.");
    assert_eq!(bed.read("a.txt"), "one\nother\n");
    let said = texts(&bed.last());
    assert_valid(&bed.last());
    assert!(!said.iter().any(|text| text.contains("two")), "{said:#?}");
    // Code alone: the conversation stays.
    let back = restored(&mut talk, Command::Rewind { turn: 2, what: What::Code }).await;
    assert_eq!(bed.read("a.txt"), "one\n", "{back:?}");
    let back = restored(&mut talk, Command::Rewind { turn: 9, what: What::Both }).await;
    assert!(back.refused.is_some());
    // The conversation alone: the files stay.
    let back = restored(&mut talk, Command::Rewind { turn: 1, what: What::Conversation }).await;
    assert_eq!((back.before_turn, bed.read("a.txt").as_str()), (Some(1), "one\n"));
    assert_eq!(talk.ask("Begin.").await.text, "Last.");
    let folder = bed.session();
    talk.end().await;
    let said = texts(&bed.last());
    assert!(!said.iter().any(|text| text.contains("Do one.")), "{said:#?}");
    assert!(rail_journal::verify(&folder).unwrap().trouble.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_last_command_changed_can_be_edited_at_once_but_not_one_that_others_changed() {
    let edit = |old: &str, new: &str| {
        Turn::reply(vec![call(
            "edit_file",
            json!({"file_path": "a.txt", "old_string": old, "new_string": new}),
        )])
    };
    let bed = Bed::new(vec![
        Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
        run("sed -i s/one/two/ a.txt"),
        edit("two", "three"),
        says("Done."),
        edit("foreign", "mine"),
        says("Stale."),
    ]);
    bed.write("a.txt", "one\n");
    let mut talk = bed.open();
    assert_eq!(talk.ask("Go.").await.text, "Done.");
    assert!(talk.results().iter().all(|(success, _)| *success), "{:#?}", talk.results());
    assert_eq!(bed.read("a.txt"), "three\n");
    bed.write("a.txt", "foreign words\n");
    assert_eq!(talk.ask("Again.").await.text, "Stale.");
    assert!(!talk.results().last().unwrap().0, "{:#?}", talk.results());
    assert_eq!(bed.read("a.txt"), "foreign words\n");
    talk.end().await;
}

/// Makes everything below a folder as old as this.
fn age(folder: &std::path::Path, by: std::time::Duration) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            age(&entry.path(), by);
        } else {
            let file = std::fs::File::options().append(true).open(entry.path()).unwrap();
            file.set_modified(file.metadata().unwrap().modified().unwrap() - by).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn old_snapshots_go_and_what_can_be_undone_stays() {
    let bed = Bed::new(vec![
        write("a.txt", "one\n"),
        says("One."),
        run("echo two >> a.txt"),
        says("Two."),
        run("echo three >> a.txt"),
        says("Three."),
    ]);
    let mut talk = bed.open();
    talk.ask("First.").await;
    let folder = bed.session();
    talk.end().await;
    let snapshots = bed.root().join("state/snapshots");
    let stores: Vec<_> = std::fs::read_dir(&snapshots).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [store] = stores.as_slice() else { panic!("{stores:?}") };
    let orphan = rail_journal::store::Store::at(store.clone());
    let orphan_id = orphan.put(b"nobody wants this any more\n").unwrap();
    // Not a day has passed, so nothing is looked at.
    let mut talk = bed.resume(&folder);
    talk.ask("Second.").await;
    talk.end().await;
    age(store, std::time::Duration::from_secs(60 * 24 * 60 * 60));
    assert!(orphan.has(&orphan_id));
    let mut talk = bed.resume(&folder);
    talk.ask("Third.").await;
    let seen = talk.end().await;
    assert!(!seen.iter().any(|event| matches!(event, SessionEvent::Note { .. })), "{seen:#?}");
    assert!(!orphan.has(&orphan_id), "old and unwanted");
    let mut talk = bed.resume(&folder);
    for left in ["one\ntwo\n", "one\n"] {
        assert_eq!(restored(&mut talk, Command::Undo).await.refused, None);
        assert_eq!(bed.read("a.txt"), left);
    }
    restored(&mut talk, Command::Undo).await;
    assert!(!bed.work().join("a.txt").exists());
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_step_of_a_session_that_ends_at_once_can_be_undone() {
    let bed = Bed::new(vec![run("echo x > a.txt"), says("Done.")]);
    // So many that what changed takes a moment to be seen.
    for number in 0..3_000 {
        bed.write(&format!("many/{}/{number}.txt", number % 50), "text\n");
    }
    let mut talk = bed.open();
    talk.ask("Go.").await;
    let folder = bed.session();
    talk.end().await;
    let mut talk = bed.resume(&folder);
    assert_eq!(restored(&mut talk, Command::Undo).await.refused, None);
    assert!(!bed.work().join("a.txt").exists());
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_step_can_be_undone_also_where_words_wait_at_the_end() {
    let bed = Bed::new(vec![run("echo x > a.txt; echo begun; sleep 300"), says("Never.").repeat()]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::ToolProgress { text, .. } if text.contains("begun")))
        .await;
    talk.say("And then?");
    talk.sees(|event| matches!(event, SessionEvent::Queued(_))).await;
    let folder = bed.session();
    talk.end().await;
    let mut talk = bed.resume(&folder);
    assert_eq!(restored(&mut talk, Command::Undo).await.refused, None);
    assert!(!bed.work().join("a.txt").exists());
    talk.end().await;
}
