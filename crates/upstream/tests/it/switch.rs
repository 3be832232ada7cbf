//! The active provider changes while many requests are on their way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rail_route::{Plan, Provider, Routing};
use rail_testkit::{Models, Turn, text as say};
use tokio::task::JoinSet;

use crate::world::{CHAT, attempt, plan, provider, request, text, upstream};

const PROVIDERS: usize = 4;
const SWITCHES: usize = 50;
const REQUESTS_EACH: usize = 4;

/// What one request sees of the configuration: the active provider first, then the others.
fn planned(routing: &Routing) -> Plan {
    let is_active = |provider: &Provider| routing.active.as_deref() == Some(provider.name.as_str());
    let mut providers: Vec<&Arc<Provider>> = routing.providers.values().collect();
    providers.sort_by_key(|provider| !is_active(provider));
    plan(providers.into_iter().map(|provider| attempt(Provider::clone(provider))))
}

/// Two hundred requests begin between fifty switches, all of them are on their way while more switches happen, and each
/// answer comes whole from the provider that its own plan named first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_neither_loses_nor_mixes_answers() {
    let name = |at: usize| format!("p{at}");
    let reply = |at: usize| Turn::reply(vec![say(name(at)), say(format!("-{}", name(at)))]);
    let models: Vec<Models> = (0..PROVIDERS)
        .map(|at| Models::start(vec![reply(at).gate("begin").gate_before_end("end").repeat()]).unwrap())
        .collect();
    let providers = models.iter().enumerate().map(|(at, models)| {
        let mut provider = provider(&name(at), models.base_url(CHAT));
        let long = Duration::from_secs(600);
        (provider.timeouts.first_token, provider.timeouts.idle, provider.timeouts.total) = (long, long, long);
        (name(at), Arc::new(provider))
    });
    let providers: BTreeMap<_, _> = providers.collect();
    let routing = Routing { providers, active: Some(name(0)), ..Routing::default() };
    let current = Arc::new(ArcSwap::from_pointee(routing.clone()));
    let switch = |to: usize| {
        current.store(Arc::new(Routing { active: Some(name(to % PROVIDERS)), ..routing.clone() }))
    };

    let upstream = upstream();
    let mut asked = JoinSet::new();
    for at in 0..SWITCHES {
        switch(at);
        for _ in 0..REQUESTS_EACH {
            let (upstream, plan) = (upstream.clone(), planned(&current.load()));
            asked.spawn(async move {
                let named = plan.attempts[0].target.provider.clone();
                let mut reply = upstream.ask(&plan, &request(), &()).await.unwrap();
                assert_eq!(reply.sent().len(), 1);
                assert_eq!(reply.target().provider, named);
                assert_eq!(text(&mut reply).await.unwrap(), format!("{named}-{named}"));
                named
            });
        }
    }
    let arrived = || models.iter().map(|models| models.requests().len()).sum::<usize>();
    while arrived() < SWITCHES * REQUESTS_EACH {
        tokio::task::yield_now().await;
    }
    for (at, gate) in ["begin", "end"].into_iter().enumerate() {
        switch(at);
        models.iter().for_each(|models| models.open(gate));
        switch(at + 1);
    }
    let mut answers = BTreeMap::<String, usize>::new();
    while let Some(named) = asked.join_next().await {
        *answers.entry(named.unwrap()).or_default() += 1;
    }
    let expected = [("p0", 52), ("p1", 52), ("p2", 48), ("p3", 48)];
    assert_eq!(answers, expected.map(|(name, count)| (name.to_owned(), count)).into());
}
