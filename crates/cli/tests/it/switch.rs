//! The active provider changes under a process that runs: made of the parts that the gateway and the agent are made of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rail_config::{Change, Inputs, Live, Loaded};
use rail_model::{Assembler, Message, Part, ProtocolId, Request, Role};
use rail_route::{Client, Plan, PlanInput, estimate, facts, plan};
use rail_testkit::{Models, Turn, text};
use rail_upstream::{LiveSettings, Upstream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinSet, spawn_blocking};

use crate::home::Home;

const SWITCHES: usize = 50;
const REQUESTS_EACH: usize = 4;
const NAMES: [&str; 2] = ["a", "b"];

/// An answer in two parts, each of which names who gives it, held at its beginning and before its end.
fn answers(name: &str) -> Models {
    let turn = Turn::reply(vec![text(name), text(format!("-{name}"))]);
    Models::start(vec![turn.gate("begin").gate_before_end("end").repeat()]).unwrap()
}

fn request() -> Request {
    let messages = vec![Message::new(Role::User, vec![Part::text("question")])];
    Request { messages, stream: true, ..Request::default() }
}

/// What a gateway does with a request, up to the send.
#[expect(clippy::disallowed_methods, reason = "the test stands where the gateway will")]
fn planned(loaded: &Loaded, upstream: &Upstream, request: &Request) -> Plan {
    let facts = facts(request, &Client::default(), estimate(request).total());
    let (health, now) = (upstream.health(), std::time::Instant::now());
    plan(&PlanInput { routing: &loaded.routing, facts: &facts, health: &health, session: None, now })
}

/// Asks as the configuration in force says, and gives the provider that answered, alone and whole.
async fn ask(loaded: Arc<Loaded>, upstream: Upstream) -> String {
    let request = request();
    let plan = planned(&loaded, &upstream, &request);
    let named = plan.attempts[0].target.provider.clone();
    assert_eq!(Some(&named), loaded.routing.active.as_ref().or(Some(&NAMES[0].to_owned())));
    let mut reply = upstream.ask(&plan, &request, &()).await.unwrap();
    assert_eq!((&reply.target().provider, reply.sent().len()), (&named, 1));
    let mut answer = Assembler::default();
    while let Some(event) = reply.next().await {
        answer.push(event.unwrap());
    }
    let said: String = answer.parts().iter().filter_map(Part::as_text).collect();
    assert_eq!(said, format!("{named}-{named}"));
    named
}

/// Runs `rail provider use NAME` and waits until the process that runs has seen it.
async fn switch(home: &Arc<Home>, changes: &mut UnboundedReceiver<Change>, name: &'static str) {
    let child = Arc::clone(home);
    let said = spawn_blocking(move || child.said(&["provider", "use", name], "")).await.unwrap();
    assert!(said.starts_with(&format!("`{name}` is the active provider. These begin with it:\n")), "{said}");
    loop {
        // A switch that is never seen must fail the test and not hang it.
        let change = tokio::time::timeout(Duration::from_secs(60), changes.recv()).await;
        match change.unwrap().unwrap() {
            Change::Loaded(loaded) if loaded.routing.active.as_deref() == Some(name) => return,
            Change::Loaded(_) => {}
            other @ (Change::Kept(_) | Change::Blind(_)) => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_switch_reaches_a_process_that_runs_and_loses_and_mixes_nothing() {
    let models = NAMES.map(answers);
    let provider = |name: &str, models: &Models| {
        format!(
            "[providers.{name}]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\n\
             timeouts = {{ first_token = \"10m\", idle = \"10m\", total = \"10m\" }}\n",
            models.base_url(ProtocolId::new("openai-chat"))
        )
    };
    let providers: String = NAMES.iter().zip(&models).map(|(name, models)| provider(name, models)).collect();
    let home = Arc::new(Home::with(&format!("{providers}[router]\ndefault = \"a,m;b,m\"\n")));
    let inputs = Inputs {
        env: home.variables().into_iter().collect(),
        working_folder: home.path("work"),
        ..Inputs::default()
    };
    let (tell, mut changes) = unbounded_channel();
    let live = Live::start(inputs, move |change| drop(tell.send(change))).unwrap();
    let transport = rail_upstream::Live::new(LiveSettings::default());
    let (upstream, problem) =
        Upstream::learning_at(Arc::new(transport), home.path("state/switchrail/learned.json"));
    assert_eq!(problem, None);

    let mut asked = JoinSet::new();
    for at in 0..SWITCHES {
        // Half of them begin while the switch is made.
        let mut begin =
            |count| (0..count).for_each(|_| drop(asked.spawn(ask(live.current(), upstream.clone()))));
        begin(REQUESTS_EACH / 2);
        switch(&home, &mut changes, NAMES[(at + 1) % 2]).await;
        begin(REQUESTS_EACH / 2);
    }
    let arrived = || models.iter().map(|models| models.requests().len()).sum::<usize>();
    while arrived() < SWITCHES * REQUESTS_EACH {
        tokio::task::yield_now().await;
    }
    for (gate, name) in [("begin", "b"), ("end", "a")] {
        models.iter().for_each(|models| models.open(gate));
        switch(&home, &mut changes, name).await;
    }
    let mut answered = BTreeMap::<String, usize>::new();
    while let Some(named) = asked.join_next().await {
        *answered.entry(named.unwrap()).or_default() += 1;
    }
    // Two before each switch to `b` and two after each one to `a`, and the other way round.
    assert_eq!(answered, [("a".to_owned(), 100), ("b".to_owned(), 100)].into());

    for name in ["b", "a", "b"] {
        switch(&home, &mut changes, name).await;
        assert_eq!(ask(live.current(), upstream.clone()).await, name);
    }
}
