use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rail_journal::{
    Cause, Compacted, JournalError, Prompt, Record, Resumed, Way, Writer, entries, verify, view,
};
use rail_model::{Message, Part, Role};
use serde_json::json;

use crate::bed::{
    Bed, NOW, add, calls, compacted, model, partial, pictured, queued, result, results, running, told, usage,
    user,
};

/// A session with records of all kinds, and what a reader saw after each.
fn session(writer: &mut Writer) -> Vec<Resumed> {
    let mut seen = vec![view(writer.folder()).unwrap()];
    let mut write = |writer: &mut Writer, record| {
        let place = add(writer, record);
        seen.push(view(writer.folder()).unwrap());
        place
    };
    let system = vec![Part::text("Be brief. ".repeat(1_700))];
    write(writer, Record::Prompt(Prompt { system, tools: vec![], dialect: "native".into() }));
    write(writer, user(1, "hallo, schöne Welt"));
    write(writer, calls(1, &["a", "b"]));
    write(writer, usage(1));
    write(writer, running(1, &["a", "b"]));
    write(writer, queued(1, "and that"));
    write(writer, results(1, vec![pictured("b", &"large ".repeat(2_800), "aGk=")]));
    let place = write(writer, results(1, vec![result("a", "ok")]));
    write(writer, Record::Todos(json!([{"content": "x"}])));
    write(writer, Record::Taken(2));
    write(writer, told(2, "a file has changed"));
    write(writer, partial(2, "I w"));
    write(writer, partial(2, "ill"));
    write(writer, Record::Void(2));
    write(writer, queued(2, "and another"));
    write(writer, user(2, "more"));
    writer.rewind(NOW, place, Way::Back).unwrap();
    seen.push(view(writer.folder()).unwrap());
    let mut write = |writer: &mut Writer, record| {
        add(writer, record);
        seen.push(view(writer.folder()).unwrap());
    };
    write(writer, Record::Title("Hello".into()));
    let window = vec![Message::new(Role::User, vec![Part::text("summary")])];
    write(writer, Record::Compacted(Compacted { window, cause: Cause::Full, by: None }));
    write(writer, calls(3, &["c"]));
    write(writer, usage(3));
    write(writer, running(3, &["c"]));
    write(writer, queued(3, "wait"));
    write(writer, compacted(&["shorter"]));
    write(writer, partial(4, "e"));
    write(writer, model(4, "end"));
    write(writer, Record::Taken(5));
    write(writer, partial(5, "and so on"));
    seen
}

/// What may differ between a journal that was cut and one that was never longer.
fn bare(resumed: &Resumed) -> Resumed {
    Resumed { torn: None, read: 0, ..resumed.clone() }
}

#[test]
fn a_journal_cut_anywhere_has_all_records_before_the_cut() {
    let bed = Bed::quick();
    let mut writer = bed.session();
    let seen = session(&mut writer);
    let folder = writer.folder().to_owned();
    drop(writer);
    let journal = folder.join("journal.jsonl");
    let whole = fs::read(&journal).unwrap();
    let records: Vec<Record> = entries(&folder).unwrap().map(|entry| entry.unwrap().record).collect();
    assert_eq!(records.len(), seen.len());
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
    let random = std::iter::repeat_with(|| fastrand::usize(..=whole.len())).take(200);
    for cut in (ends[ends.len() - 7]..=whole.len()).chain(random) {
        fs::write(&journal, &whole[..cut]).unwrap();
        let lines = ends.iter().filter(|end| **end <= cut).count();
        let Some(expected) = lines.checked_sub(1).map(|last| &seen[last]) else {
            assert!(matches!(Writer::resume(&folder), Err(JournalError::Empty { .. })), "cut at {cut}");
            continue;
        };
        let (mut writer, resumed) =
            Writer::resume(&folder).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(bare(&resumed), bare(expected), "cut at {cut}");
        let end = ends[lines - 1];
        assert_eq!(fs::read(&journal).unwrap(), whole[..end], "cut at {cut}");
        match resumed.torn {
            None => assert_eq!(cut, end),
            Some(torn) => {
                let kept = torn.kept.unwrap();
                assert_eq!(fs::read(&kept).unwrap(), whole[end..cut], "cut at {cut}");
                fs::remove_file(kept).unwrap();
            }
        }
        if cut % 16 != 0 {
            continue;
        }
        add(&mut writer, user(9, "and on"));
        let read: Vec<Record> = entries(&folder).unwrap().map(|entry| entry.unwrap().record).collect();
        assert_eq!(read[..lines], records[..lines], "cut at {cut}");
        assert_eq!(read[lines..], [user(9, "and on")], "cut at {cut}");
    }
}

#[test]
fn a_last_line_that_the_machine_lost_in_part_is_put_aside() {
    for tail in ["\0\0\0\0", "\0\0\0\0,\"data\":{}}\n", "{\"n\":7}\n", "\n", "\u{fffd}"] {
        let bed = Bed::quick();
        let mut writer = bed.session();
        add(&mut writer, user(1, "one"));
        let before = view(writer.folder()).unwrap();
        let folder = writer.folder().to_owned();
        drop(writer);
        fs::OpenOptions::new()
            .append(true)
            .open(folder.join("journal.jsonl"))
            .unwrap()
            .write_all(tail.as_bytes())
            .unwrap();
        fs::write(folder.join("journal.torn-3"), "of an earlier crash").unwrap();
        assert_eq!(bare(&view(&folder).unwrap()), bare(&before), "{tail:?}");
        let (mut writer, resumed) = Writer::resume(&folder).unwrap();
        let torn = resumed.torn.unwrap();
        assert_eq!(torn.bytes, tail.len() as u64);
        assert_eq!(torn.kept, Some(folder.join("journal.torn-3-1")));
        assert_eq!(fs::read(folder.join("journal.torn-3-1")).unwrap(), tail.as_bytes());
        add(&mut writer, user(2, "two"));
        assert!(verify(&folder).unwrap().trouble.is_none());
    }
}

/// The variable that tells the child which session to write.
const CHILD: &str = "RAIL_TEST_JOURNAL";

#[expect(clippy::disallowed_methods, reason = "the test tells its own child what to do")]
fn session_to_write() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "the test is about the end of a process")]
fn child(folder: &Path) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::writes_until_it_is_killed", "--nocapture"]);
    command.env(CHILD, folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Not a test of its own: what the child of the next one does.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = session_to_write() else { return };
    let (mut writer, resumed) = Writer::resume(&folder).unwrap();
    let mut out = std::io::stdout();
    for step in resumed.last.n.. {
        let text = format!("step {step} {}", "x".repeat(fastrand::usize(..30_000)));
        add(
            &mut writer,
            match step % 4 {
                0 => user(step, &text),
                1 => queued(step, &text),
                2 => partial(step, &text),
                _ => Record::Taken(step),
            },
        );
        if fastrand::u8(..3) == 0 {
            continue;
        }
        writer.sync().unwrap();
        if writeln!(out, "\nsynced {}", writer.last().n).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

#[test]
fn a_process_killed_at_any_moment_loses_nothing_that_was_synced() {
    let bed = Bed::new();
    let writer = bed.session();
    let folder = writer.folder().to_owned();
    drop(writer);
    for round in 0..30 {
        let mut child = child(&folder);
        let mut synced = 0;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = |synced: &mut u64| {
            let line = lines.next()?.ok()?;
            if let Some(n) = line.strip_prefix("synced ") {
                *synced = n.parse().unwrap();
            }
            Some(())
        };
        for _ in 0..4 + fastrand::u8(..8) {
            told(&mut synced).expect("the child writes until it is killed");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it ended counts, too.
        while told(&mut synced).is_some() {}
        assert!(synced > 0 || round == 0);
        let verdict = verify(&folder).unwrap();
        assert!(verdict.trouble.is_none(), "{verdict:?}");
        assert!(verdict.last.n >= synced, "{} of {synced}", verdict.last.n);
    }
}
