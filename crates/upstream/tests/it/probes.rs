//! Live probes, and what answers teach of a target's tokens.

use std::sync::Arc;

use rail_model::{ApiError, ErrorKind, Message, Part, Request, Role, Usage};
use rail_route::{Plan, Provider, Routing, Target};
use rail_stdx::Secret;
use rail_testkit::{
    Conversation, Models, Peer, SCRIPTED_MODEL, Step, Turn, http_whole, refused_addr, text as say,
};
use rail_upstream::{Learned, ListError, ProviderProbe, Upstream};

use crate::counted::Counted;
use crate::world::{CHAT, Frozen, attempt, plan, provider, request, rest, upstream};

fn routing(default: &str) -> Routing {
    let chains = [("default".to_owned(), default.parse().unwrap_or_default())];
    Routing { chains: chains.into(), ..Routing::default() }
}

fn at(models: &Models) -> Provider {
    let mut provider = provider("p", models.base_url(CHAT));
    provider.retry.tries = 0;
    provider
}

/// Which targets were asked, and what was wrong with each.
fn outcomes(probe: &ProviderProbe) -> Vec<String> {
    let of = |target: &rail_upstream::TargetProbe| match &target.outcome {
        Ok(answered) => format!("{} {:?}", target.target, answered.usage.output),
        Err(failure) => format!("{} {} ({:?})", target.target, failure.problem, failure.advice.as_deref()),
    };
    probe.targets.iter().map(of).collect()
}

#[tokio::test]
async fn the_models_of_chains_are_asked_else_the_first() {
    let models = Models::start(vec![Turn::reply(vec![say("OK")]).repeat()]).unwrap();
    let mut known = at(&models);
    known.models = ["aaa", SCRIPTED_MODEL].map(|name| (name.to_owned(), Default::default())).into();
    let asked = async |chain: &str, provider: Provider, model: Option<&str>| {
        let probe = upstream().probe(&routing(chain), &Arc::new(provider), model).await;
        assert_eq!((probe.problem.as_ref(), probe.failed().0), (None, 0));
        assert_eq!(probe.listed, Some(Ok(vec![SCRIPTED_MODEL.to_owned()])));
        outcomes(&probe)
    };
    assert_eq!(asked("p,m;q,x;p,a", known.clone(), None).await, ["p,a Some(5)", "p,m Some(5)"]);
    assert_eq!(asked("q,x", known.clone(), None).await, [format!("p,{SCRIPTED_MODEL} Some(5)")]);
    assert_eq!(asked("q,x", at(&models), None).await, [format!("p,{SCRIPTED_MODEL} Some(5)")]);
    assert_eq!(asked("p,m", known, Some("other")).await, ["p,other Some(5)"]);
    let sent = models.requests();
    let first = sent.iter().find_map(|asked| asked.request()).unwrap();
    assert_eq!(first.sampling.max_output, Some(256));
    assert_eq!(first.messages, [Message::new(Role::User, vec![Part::text("Reply with OK")])]);
}

#[tokio::test]
async fn what_went_wrong_and_what_to_do() {
    let key = "sk-0123456789";
    let wrong = |kind, message: &str| Turn::error(ApiError::new(kind, message));
    for (turn, expected) in [
        (
            wrong(ErrorKind::Authentication, &format!("no such key: {key}")),
            r#"p,m no such key: *** (Some("check the key of `p`: it is missing or wrong"))"#,
        ),
        (
            wrong(ErrorKind::NotFound, "no such model"),
            r#"p,m no such model (Some("it has `scripted-model`"))"#,
        ),
        (Turn::reply(Vec::new()), "p,m the answer was complete and empty (None)"),
        (
            Turn::breaks(vec![say("O")], ApiError::new(ErrorKind::Overloaded, "too busy")),
            r#"p,m too busy (Some("try again later"))"#,
        ),
    ] {
        let models = Models::start(vec![turn]).unwrap();
        let mut provider = at(&models);
        provider.keys = vec![Secret::new(key)];
        let upstream = upstream();
        let probe = upstream.probe(&routing("p,m"), &Arc::new(provider), None).await;
        assert_eq!(outcomes(&probe), [expected]);
        assert_eq!(probe.failed(), (1, 1));
        let health = format!("{:?}", upstream.health());
        assert!(health.contains("p") && !health.contains(key), "{health}");
    }
}

#[tokio::test]
async fn what_can_not_be_asked_says_why() {
    let probe = async |provider: Provider| upstream().probe(&routing("q,x"), &Arc::new(provider), None).await;
    let nowhere = || provider("p", format!("http://{}/v1", refused_addr().unwrap()));
    let unusable = Provider { unusable: Some("`env:KEY` is not set".to_owned()), ..nowhere() };
    let probed = probe(unusable).await;
    assert_eq!(probed.problem.as_deref(), Some("`env:KEY` is not set"));
    assert_eq!((probed.listed, probed.targets.len()), (None, 0));

    let probed = probe(nowhere()).await;
    let Some(Err(ListError::Transport(error))) = &probed.listed else { panic!("{probed:?}") };
    assert_eq!(probed.problem, Some(error.to_string()), "who is not there has no models");
    assert_eq!(probed.failed(), (1, 1));

    let empty = http_whole(200, "application/json", r#"{"data": []}"#);
    let steps = [Step::ReadRequest, Step::Send(empty), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    assert_eq!(
        probe(provider("p", peer.url("/v1"))).await.problem.as_deref(),
        Some("no model of it is known; name one with `--model`, or under `providers.p.models`")
    );
}

/// A request of so many words, each of which is a token.
fn long(words: usize) -> Request {
    let text = "word ".repeat(words);
    Request { messages: vec![Message::new(Role::User, vec![Part::text(text)])], ..request() }
}

#[tokio::test(start_paused = true)]
async fn answers_teach_how_a_target_counts_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("learned.json");
    let asked = long(2_000);
    let estimated = rail_route::estimate(&asked).total();
    let twice = Usage { input: Some(estimated), cache_read: Some(estimated / 2), ..Usage::default() };
    let turn = || Turn::reply(vec![say("good")]).usage(twice.clone());
    let a =
        Models::start(vec![turn(), turn(), Turn::cut(vec![say("half")]).usage(Usage::default())]).unwrap();
    let plan = Plan { estimated, ..plan([attempt(at(&a))]) };
    let target = Target::new("p", "m");
    let (upstream, _) = Upstream::learning_at(Arc::new(Counted::default()), &file);
    let mut world = Frozen::new();

    let mut reply = world.ask(&upstream, &plan, &asked).await.unwrap();
    assert_eq!(upstream.learned().calibration(&target).reports(), 0);
    rest(&mut reply).await.unwrap();
    let learned = upstream.learned().calibration(&target);
    assert_eq!((learned.reports(), (learned.factor() * 100.0).round()), (1, 150.0));
    assert_eq!(Learned::load(&file).unwrap().calibration(&target), learned);

    let written = std::fs::read(&file).unwrap();
    rest(&mut world.ask(&upstream, &plan, &asked).await.unwrap()).await.unwrap();
    assert_eq!(upstream.learned().calibration(&target).reports(), 2);
    assert_eq!(std::fs::read(&file).unwrap(), written, "a factor that has not moved is not written again");

    rest(&mut world.ask(&upstream, &plan, &asked).await.unwrap()).await.unwrap_err();
    assert_eq!(upstream.learned().calibration(&target).reports(), 2, "half an answer says nothing");
}
