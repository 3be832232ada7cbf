//! What a target refuses is left out, and remembered for it.

use std::sync::Arc;

use rail_model::{ApiError, ErrorKind, Request};
use rail_route::Target;
use rail_testkit::{Models, Turn, text as say};
use rail_upstream::{Fix, Note, Upstream};
use serde_json::{Number, Value};

use crate::counted::Counted;
use crate::world::{CHAT, Frozen, attempt, plan, provider, record, request};

fn refuses(message: &str) -> Turn {
    Turn::error(ApiError::new(ErrorKind::InvalidRequest, message))
}

fn good() -> Turn {
    Turn::reply(vec![say("good")])
}

fn asked() -> Request {
    let mut asked = request();
    asked.sampling.temperature = Some(Number::from(0));
    asked.sampling.seed = Some(Number::from(7));
    asked.sampling.max_output = Some(32_000);
    asked
}

fn bodies(models: &Models) -> Vec<Value> {
    models.requests().iter().map(|asked| serde_json::from_slice(&asked.call.body).unwrap()).collect()
}

const TEMPERATURE: &str = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
const TOO_MANY: &str = "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.";

#[tokio::test(start_paused = true)]
async fn a_fix_is_tried_at_once_and_remembered_across_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("learned.json");
    let a = Models::start(vec![refuses(TEMPERATURE), refuses(TOO_MANY), good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let target = Target::new("a", "m");
    let drop = Fix::Drop { path: "temperature".to_owned() };
    let most = Fix::MaxOutput { most: 16_384 };

    let (upstream, problem) = Upstream::learning_at(Arc::new(Counted::default()), &file);
    assert_eq!(problem, None);
    let mut world = Frozen::new();
    let reply = world.ask(&upstream, &plan, &asked()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 400 fixable", "a 400 fixable", "a 200 answered"]);
    let fixes: Vec<_> = reply.sent().iter().map(|sent| sent.fix.clone()).collect();
    assert_eq!(fixes, [None, Some(drop.clone()), Some(most.clone())]);
    let lost: Vec<_> = reply.losses().iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(lost, ["max_output", "temperature"]);
    let learned = |note: &Note| matches!(note, Note::Learned { .. });
    assert_eq!(world.heard.notes().iter().filter(|note| learned(note)).count(), 2);

    // Another process begins with what this one learned.
    let (other, _) = Upstream::learning_at(Arc::new(Counted::default()), &file);
    let reply = Frozen::new().ask(&other, &plan, &asked()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"]);
    let last = bodies(&a).pop().unwrap();
    assert_eq!(
        (last.get("temperature"), &last["max_tokens"], &last["seed"]),
        (None, &16_384.into(), &7.into())
    );

    let lessons = other.learned();
    let known: Vec<_> =
        lessons.of(&target).iter().map(|lesson| (&lesson.fix, lesson.because.as_str())).collect();
    assert_eq!(known, [(&drop, TEMPERATURE), (&most, TOO_MANY)]);
    assert_eq!(other.forget(&target, Some(&drop)), Ok(true));
    assert_eq!(other.learned().of(&target).len(), 1);
    let (third, _) = Upstream::learning_at(Arc::new(Counted::default()), &file);
    assert_eq!(third.learned().of(&target).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fix_that_does_not_help_is_not_remembered() {
    let a = Models::start(vec![refuses(TEMPERATURE).repeat()]).unwrap();
    let b = Models::start(vec![good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT))), attempt(provider("b", b.base_url(CHAT)))]);
    let upstream = Upstream::new(Arc::new(Counted::default()));
    let reply = Frozen::new().ask(&upstream, &plan, &asked()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 400 fixable", "a 400 request", "b 200 answered"]);
    assert_eq!(upstream.learned().all().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_fix_that_would_change_nothing_is_not_sent() {
    let a = Models::start(vec![refuses("invalid beta flag").repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let none =
        Frozen::new().ask(&Upstream::new(Arc::new(Counted::default())), &plan, &asked()).await.unwrap_err();
    assert_eq!(record(&none.sent), ["a 400 fixable"]);
    assert_eq!(none.error.message, "invalid beta flag");
}

#[tokio::test(start_paused = true)]
async fn what_only_this_request_was_too_much_for_is_not_remembered() {
    let full = "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (8000 in the messages, 32000 in the completion).";
    let overflow = Turn::error(ApiError::new(ErrorKind::ContextLength, full));
    let a = Models::start(vec![overflow, good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let upstream = Upstream::new(Arc::new(Counted::default()));
    let reply = Frozen::new().ask(&upstream, &plan, &asked()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 400 fixable", "a 200 answered"]);
    assert_eq!(bodies(&a)[1]["max_tokens"], 24_768);
    assert_eq!(upstream.learned().all().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_everything_is_left_after_four_fixes() {
    let fields = ["temperature", "seed", "top_p", "presence_penalty", "frequency_penalty", "user"];
    let turns = fields
        .map(|field| refuses(&format!("Unsupported parameter: '{field}' is not supported with this model.")));
    let a = Models::start(turns.into()).unwrap();
    let mut asked = asked();
    let one = Some(Number::from(1));
    (asked.sampling.top_p, asked.sampling.presence_penalty) = (one.clone(), one.clone());
    (asked.sampling.frequency_penalty, asked.user) = (one, Some("u".to_owned()));
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let upstream = Upstream::new(Arc::new(Counted::default()));
    let none = Frozen::new().ask(&upstream, &plan, &asked).await.unwrap_err();
    assert_eq!(none.sent.len(), 5);
    assert_eq!(
        none.error.message,
        "Unsupported parameter: 'frequency_penalty' is not supported with this model."
    );
    assert_eq!(upstream.learned().all().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_broken_file_is_told_and_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("learned.json");
    std::fs::write(&file, "not json").unwrap();
    let (upstream, problem) = Upstream::learning_at(Arc::new(Counted::default()), &file);
    assert!(problem.is_some_and(|problem| problem.contains("learning starts anew")));
    let a = Models::start(vec![refuses(TEMPERATURE), good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    Frozen::new().ask(&upstream, &plan, &asked()).await.unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().contains("temperature"));
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_kept_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let (upstream, _) =
        Upstream::learning_at(Arc::new(Counted::default()), folder.path().join("file/learned.json"));
    let a = Models::start(vec![refuses(TEMPERATURE), good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let mut world = Frozen::new();
    world.ask(&upstream, &plan, &asked()).await.unwrap();
    assert!(world.heard.notes().iter().any(|note| matches!(note, Note::NotKept { .. })));
    assert_eq!(upstream.learned().of(&Target::new("a", "m")).len(), 1, "it is known all the same");
}
