use std::fs;
use std::path::Path;

use rail_journal::{Record, SessionId, UnixMillis, agent_folder, delete, find, list, search, session_folder};

use crate::bed::{Bed, NOW, add, calls, model, opened, result, results, usage, user};

#[test]
fn sessions_are_listed_the_latest_first() {
    let bed = Bed::new();
    assert!(list(&bed.sessions(), None).unwrap().sessions.is_empty(), "there is no folder yet");
    let mut old = bed.session_of(Path::new("/srv/shop"), UnixMillis(1_000));
    old.append(UnixMillis(2_000), user(1, "fix the shop")).unwrap();
    old.append(UnixMillis(3_000), usage(1)).unwrap();
    old.append(UnixMillis(9_000), user(2, "more")).unwrap();
    let mut new = bed.session_of(Path::new("/srv/bank"), UnixMillis(5_000));
    new.append(UnixMillis(6_000), user(1, "count")).unwrap();
    new.append(UnixMillis(7_000), usage(1)).unwrap();
    new.append(UnixMillis(8_000), Record::Title("Counting".into())).unwrap();
    let empty = bed.session_of(Path::new("/srv/bank"), UnixMillis(100));
    fs::create_dir(empty.folder().with_file_name("notes")).unwrap();
    let broken = SessionId::mint(NOW).unwrap();
    let broken = session_folder(&bed.sessions(), Path::new("/srv/bank"), &broken);
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("journal.jsonl"), "half a li").unwrap();

    let listing = list(&bed.sessions(), None).unwrap();
    let rows: Vec<_> = listing
        .sessions
        .iter()
        .map(|s| (s.title.as_deref(), s.cwd.to_str().unwrap(), s.started.0, s.last.0, s.turns, s.cost_usd))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("fix the shop"), "/srv/shop", 1_000, 9_000, 2, 0.25),
            (Some("Counting"), "/srv/bank", 5_000, 8_000, 1, 0.25),
            (None, "/srv/bank", 100, 100, 0, 0.0),
        ]
    );
    assert_eq!(listing.unreadable.iter().map(|(folder, _)| folder).collect::<Vec<_>>(), [&broken]);
    let bank = list(&bed.sessions(), Some(Path::new("/srv/bank"))).unwrap();
    assert_eq!(bank.sessions.len(), 2);
    let id = &listing.sessions[1].id;
    assert_eq!(find(&bed.sessions(), id).unwrap().as_deref(), Some(new.folder()));
    assert_eq!(find(&bed.sessions(), &SessionId::mint(NOW).unwrap()).unwrap(), None);
}

#[test]
fn a_session_is_deleted_with_all_it_has() {
    let bed = Bed::new();
    let mut writer = bed.session();
    let kept = bed.session();
    add(&mut writer, user(1, &"x".repeat(20_000)));
    let folder = writer.folder().to_owned();
    fs::create_dir(folder.join("outputs")).unwrap();
    fs::write(folder.join("outputs/a.txt"), "x").unwrap();
    let child = opened("/srv/shop".as_ref(), NOW);
    let child = rail_journal::Writer::create(&agent_folder(&folder, &child.id), NOW, child).unwrap();
    assert_eq!(list(&bed.sessions(), None).unwrap().sessions.len(), 2, "a sub-agent's is listed with nobody");
    drop((writer, child));
    // A deletion that was cut short is finished by the next.
    fs::create_dir(folder.with_file_name(".deleted-x")).unwrap();
    delete(&folder).unwrap();
    let left: Vec<_> =
        fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [kept.folder()]);
    assert!(delete(&folder).is_err());
}

#[test]
fn texts_are_found_in_titles_messages_calls_and_results() {
    let bed = Bed::new();
    let mut one = bed.session_of(Path::new("/srv/shop"), UnixMillis(1_000));
    add(&mut one, user(1, "Fix the Basket"));
    add(&mut one, calls(1, &["a"]));
    add(&mut one, results(1, vec![result("a", &format!("{} BASKET.rs found", "long ".repeat(5_000)))]));
    let before = add(&mut one, model(1, "The basket is\nfixed."));
    add(&mut one, user(2, "a secret basket"));
    one.rewind(NOW, before, rail_journal::Way::Back).unwrap();
    let hits = |text: &str, most| -> Vec<(u64, String)> {
        let found = search(&bed.sessions(), None, text, most).unwrap();
        assert!(found.unreadable.is_empty());
        found.hits.into_iter().map(|hit| (hit.n, hit.excerpt)).collect()
    };
    let basket = hits("bAsKeT", 10);
    assert_eq!(basket.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [0, 2, 4, 5], "not what was taken back");
    assert!(basket[2].1.ends_with("long  BASKET.rs found"), "{basket:?}");
    assert_eq!(basket[3].1, "The basket is fixed.");
    assert_eq!(hits("basket", 2).len(), 2);
    assert_eq!(hits("\"command\"", 9), [(3, r#"{"command":"ls"}"#.to_owned())]);
    assert_eq!(hits("", 9), []);
    assert_eq!(hits("nowhere", 9), []);
    let elsewhere = search(&bed.sessions(), Some(Path::new("/srv/bank")), "basket", 9).unwrap();
    assert!(elsewhere.hits.is_empty());
}
