use std::path::Path;

use rail_journal::{JournalError, Prompt, Record, entries, fork, messages, verify, view};
use rail_model::Part;
use serde_json::json;

use crate::bed::{
    Bed, NOW, add, calls, model, partial, pictured, queued, result, results, running, texts, told, usage,
    user,
};

#[test]
fn a_fork_goes_its_own_way() {
    let bed = Bed::new();
    let mut origin = bed.session();
    let prompt = Prompt { system: vec![Part::text("Be brief.")], tools: vec![], dialect: "native".into() };
    add(&mut origin, Record::Prompt(prompt.clone()));
    add(&mut origin, user(1, "one"));
    add(&mut origin, calls(1, &["z"]));
    add(&mut origin, results(1, vec![pictured("z", &"x".repeat(20_000), "aGk=")]));
    let at = add(&mut origin, usage(1));
    add(&mut origin, Record::Todos(json!(["x"])));
    add(&mut origin, Record::Mode("plan".into()));
    add(&mut origin, user(2, "two"));
    let before = view(origin.folder()).unwrap();

    let (mut whole, now) = fork(&bed.sessions(), origin.folder(), None, NOW).unwrap();
    assert_eq!(now.window, before.window);
    assert_eq!(
        (now.head, now.state.todos, now.state.mode),
        (Some(prompt), Some(json!(["x"])), Some("plan".into()))
    );
    let parent = now.opened.parent.unwrap();
    assert_eq!((parent.id, parent.at), (before.opened.id.clone(), before.last));
    assert_eq!(now.state.sum.title.as_deref(), Some("one"));
    let totals = now.state.sum.totals;
    assert_eq!(
        (totals.turns, totals.steps, totals.cost_usd),
        (2, 2, 0.0),
        "what the origin cost is not counted again"
    );
    add(&mut whole, model(3, "mine"));
    assert_eq!(view(origin.folder()).unwrap(), before, "the origin stays as it is");

    let (part, then) = fork(&bed.sessions(), origin.folder(), Some(at.n), NOW).unwrap();
    assert_eq!(then.window.messages(), &before.window.messages()[..3]);
    assert_eq!(then.state.todos, None);
    // It needs nothing of its origin.
    let folder = origin.folder().to_owned();
    drop(origin);
    rail_journal::delete(&folder).unwrap();
    assert!(verify(part.folder()).unwrap().trouble.is_none());
    let shown = messages(whole.folder()).unwrap().map(|shown| match shown.unwrap().what {
        rail_journal::What::Message(message) | rail_journal::What::Told(message) => message,
        other => panic!("{other:?}"),
    });
    assert_eq!(shown.count(), 5);
}

#[test]
fn a_fork_does_not_forget_that_calls_were_begun() {
    let bed = Bed::new();
    let mut origin = bed.session();
    add(&mut origin, user(1, "go"));
    add(&mut origin, calls(1, &["a", "b"]));
    add(&mut origin, running(1, &["a"]));
    let (_, forked) = fork(&bed.sessions(), origin.folder(), None, NOW).unwrap();
    assert_eq!(forked.window, view(origin.folder()).unwrap().window);
    assert_eq!(forked.window.open().map(|open| open.begun.clone()), Some(vec!["a".to_owned()]));
    assert_eq!(texts(forked.window.messages()), ["go", "call a", "call b"]);
}

#[test]
fn a_fork_has_what_was_open_shown_and_waiting() {
    let bed = Bed::new();
    let mut origin = bed.session();
    for record in [
        user(1, "go"),
        calls(1, &["a", "b", "c"]),
        running(1, &["a", "b"]),
        results(1, vec![result("b", "two")]),
        told(1, "the mode is another"),
        queued(1, "also this"),
        queued(1, "and this"),
        usage(1),
    ] {
        add(&mut origin, record);
    }
    let (mut fork_of_open, forked) = fork(&bed.sessions(), origin.folder(), None, NOW).unwrap();
    let before = view(origin.folder()).unwrap();
    assert_eq!(forked.window, before.window);
    let open = forked.window.open().unwrap();
    let missing: Vec<_> = open.missing().map(|call| (call.id.as_str(), open.has_begun(call))).collect();
    assert_eq!(missing, [("a", true), ("c", false)]);
    assert_eq!(texts(forked.window.queued()), ["also this", "and this"]);
    let (then, now) = (before.state.sum.totals, forked.state.sum.totals);
    assert_eq!((now.turns, now.steps), (then.turns, then.steps), "what waits is counted once");
    // It goes on like any other.
    for record in
        [results(1, vec![result("c", "three"), result("a", "one")]), Record::Taken(2), partial(2, "I")]
    {
        add(&mut origin, record.clone());
        add(&mut fork_of_open, record);
    }
    let wanted = view(origin.folder()).unwrap().window;
    assert_eq!(view(fork_of_open.folder()).unwrap().window, wanted);
    assert_eq!(texts(&wanted.messages()[3..]), ["a: one", "b: two", "c: three", "also this", "and this"]);
    // And what was shown of an answer is no secret to a fork either.
    let (_, forked) = fork(&bed.sessions(), fork_of_open.folder(), None, NOW).unwrap();
    assert_eq!(forked.window, wanted);
    assert_eq!(forked.window.partial(), Some((2, "I")));
}

#[test]
fn a_fork_of_a_line_that_is_not_there_is_refused() {
    let bed = Bed::new();
    let origin = bed.session();
    let error = fork(&bed.sessions(), origin.folder(), Some(9), NOW).unwrap_err();
    assert!(matches!(error, JournalError::NoLine { n: 9, lines: 1, .. }), "{error}");
    assert!(fork(&bed.sessions(), Path::new("/nowhere"), None, NOW).is_err());
    assert_eq!(entries(origin.folder()).unwrap().count(), 1);
    assert_eq!(rail_journal::list(&bed.sessions(), None).unwrap().sessions.len(), 1);
}
