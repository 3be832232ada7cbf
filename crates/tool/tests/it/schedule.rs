//! What runs beside what.

use std::sync::Arc;

use rail_tool::NoHooks;
use tokio::sync::Barrier;

use crate::bed::{Bed, Stage, told};

#[test]
fn what_only_reads_runs_side_by_side() {
    let bed = Bed::new();
    // All ten must be there before one can go on.
    *bed.session.services.get::<Stage>().meeting.lock().unwrap() = Some(Arc::new(Barrier::new(10)));
    let calls = [("look_around", r#"{"order":"meet","text":"a"}"#); 10];
    let outcomes = bed.run(&calls);
    assert!(outcomes.iter().all(rail_tool::Outcome::success));
    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome.call.id.as_str()).collect();
    assert_eq!(
        ids,
        ["call_0", "call_1", "call_2", "call_3", "call_4", "call_5", "call_6", "call_7", "call_8", "call_9"]
    );
}

#[test]
fn no_more_run_side_by_side_than_may() {
    let bed = Bed::with(Arc::new(NoHooks), |session, _| session.limits.side_by_side = 3);
    *bed.session.services.get::<Stage>().meeting.lock().unwrap() = Some(Arc::new(Barrier::new(3)));
    bed.run(&[("look_around", r#"{"order":"meet"}"#); 12]);
    assert_eq!(*bed.session.services.get::<Stage>().running.lock().unwrap(), (0, 3));
}

#[test]
fn what_changes_something_runs_alone_and_in_order() {
    let bed = Bed::new();
    let outcomes = bed.run(&[
        ("look_around", r#"{"order":"say","text":"1"}"#),
        ("change_it", r#"{"order":"say","text":"2"}"#),
        ("change_it", r#"{"order":"say","text":"3"}"#),
        ("look_around", r#"{"order":"say","text":"4"}"#),
    ]);
    assert_eq!(told(&outcomes), ["call_0 Done: 1", "call_1 Done: 2", "call_2 Done: 3", "call_3 Done: 4"]);
    let stage = bed.session.services.get::<Stage>();
    let log = stage.log.lock().unwrap().clone();
    assert_eq!(log, ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3", "begin 4", "end 4"]);
}
