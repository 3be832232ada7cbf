use rail_model::Usage;
use rail_route::{SessionKey, Sessions};

use crate::setup::{seconds, start, target};

#[test]
fn a_conversation_is_remembered_with_what_its_last_answer_left_in_the_cache() {
    let (mut sessions, now) = (Sessions::default(), start());
    assert!(sessions.is_empty() && sessions.get(SessionKey(1)).is_none());
    let usage = Usage {
        input: Some(10),
        cache_read: Some(3_000),
        cache_write: Some(500),
        output: Some(70),
        reasoning: Some(30),
        ..Usage::default()
    };
    sessions.saw(SessionKey(1), &target("a,b"), Some("coding"), &usage, now);
    let session = sessions.get(SessionKey(1)).unwrap();
    assert_eq!(
        (session.target.to_string(), session.virtual_model.as_deref()),
        ("a,b".into(), Some("coding"))
    );
    assert_eq!((session.cached_tokens, session.output_tokens, session.in_a_row), (3_500, 100, 1));
    assert_eq!([0, 600, 601].map(|later| session.cached_at(now + seconds(later))), [3_500, 3_500, 0]);
    sessions.saw(SessionKey(1), &target("c,d"), Some("coding"), &usage, now);
    assert_eq!(sessions.get(SessionKey(1)).unwrap().in_a_row, 2, "of the same kind, whoever answered");
    sessions.saw(SessionKey(1), &target("c,d"), None, &Usage::default(), now);
    assert_eq!(sessions.get(SessionKey(1)).unwrap().in_a_row, 1);
    let session = sessions.get(SessionKey(1)).unwrap();
    assert_eq!((session.target.to_string(), session.cached_tokens, sessions.len()), ("c,d".into(), 0, 1));
}

#[test]
fn the_one_not_heard_of_for_longest_is_forgotten_first() {
    let (mut sessions, now) = (Sessions::default(), start());
    let mut saw = |key| sessions.saw(SessionKey(key), &target("a,b"), None, &Usage::default(), now);
    (0..10_000).for_each(&mut saw);
    saw(0);
    saw(10_000);
    saw(10_001);
    assert_eq!(sessions.len(), 10_000);
    let known = [0, 1, 2, 3, 10_000, 10_001].map(|key| sessions.get(SessionKey(key)).is_some());
    assert_eq!(known, [true, false, false, true, true, true]);
    let newest: Vec<u64> = sessions.newest().take(4).map(|(key, _)| key.0).collect();
    assert_eq!(newest, [10_001, 10_000, 0, 9_999]);
}
