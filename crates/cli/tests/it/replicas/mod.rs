//! Two gateways on one PostgreSQL database: keys, budgets and rates are shared exactly.

use std::thread;

use rail_model::Usage;
use rail_testkit::{Models, Postgres, Turn, text};
use serde_json::Value;

use crate::gateway::{Answer, PROTOCOLS, Question, Serving};
use crate::home::Home;

/// Two replicas on one database, and the model behind both.
struct World {
    home: Home,
    replicas: [Serving; 2],
    models: Models,
}

/// An answer of so many tokens, of which each costs 40 millionths of a dollar: what is expected of one for a client that allows
/// 50 tokens is 0.002 dollars, since input is free.
fn answer(output: u64) -> Turn {
    let usage = Usage { input: Some(100), output: Some(output), ..Usage::default() };
    Turn::reply(vec![text("good")]).usage(usage).repeat()
}

impl World {
    fn new(server: &Postgres, turn: Turn) -> Self {
        let models = Models::start(vec![turn]).unwrap();
        let home = Home::with(&format!(
            "[providers.a]\nprotocol = \"anthropic\"\nbase_url = \"{}\"\n\
             models = {{ m = {{ tools = \"native\", price = {{ input = 0.0, output = 40.0 }} }} }}\n\
             [router]\ndefault = \"a,m\"\n[gateway]\nlog = \"quiet\"\nledger = \"env:LEDGER_URL\"\n",
            models.url("/v1")
        ));
        let home = home.set("LEDGER_URL", &server.database().unwrap());
        // Without a key it would begin open to all.
        let made = home.rail(&["key", "create", "first"], "");
        assert!(made.status.success(), "{made:?}");
        let replicas = [Serving::start(&home), Serving::start(&home)];
        Self { home, replicas, models }
    }

    /// A new key with this limit.
    fn key(&self, name: &str, limit: &[&str]) -> String {
        let made = self.home.rail(&[&["key", "create", name], limit].concat(), "");
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).unwrap().trim_end().to_owned()
    }

    /// The question of this number, which goes to the replicas in turn and from each protocol in turn.
    fn ask(&self, number: usize, key: &str) -> Answer {
        let protocol = PROTOCOLS[number / 2 % 4];
        let asked = Question::stream(protocol, format!("question {number}").replace(' ', "-"));
        self.replicas[number % 2].ask(&Question { key: Some(key.to_owned()), ..asked })
    }

    /// So many questions, eight at a time.
    fn load(&self, count: usize, key: &str) -> Vec<Answer> {
        let share = |first: usize| (first..count).step_by(8).map(|at| self.ask(at, key)).collect::<Vec<_>>();
        let share = &share;
        thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|first| scope.spawn(move || share(first))).collect();
            asking.into_iter().flat_map(|asked| asked.join().unwrap()).collect()
        })
    }

    fn json(&self, args: &[&str]) -> Value {
        let said = self.home.rail(args, "");
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"))
    }

    /// Requests that were not refused, what they cost, and what the key has spent.
    fn books(&self, name: &str) -> (u64, f64, f64) {
        let usage = self.json(&["usage", "--by", "key", "--json"]);
        let rows = usage["rows"].as_array().unwrap();
        let keys = self.json(&["key", "list", "--json"]);
        let key = keys.as_array().unwrap().iter().find(|key| key["name"] == name).unwrap();
        let row = rows.iter().find(|row| row["key"] == key["name"] || row["key"] == key["id"]);
        let spent = key["spent_usd"].as_f64().unwrap();
        let Some(row) = row else { return (0, 0.0, spent) };
        let count = row["requests"].as_u64().unwrap() - row["refused"].as_u64().unwrap();
        (count, row["cost_usd"].as_f64().unwrap(), spent)
    }

    /// Waits until the books have so many requests, and gives what they cost and what the key has spent.
    fn settled(&self, name: &str, requests: u64) -> (f64, f64) {
        for _ in 0..200 {
            let (count, cost, spent) = self.books(name);
            if count == requests {
                return (cost, spent);
            }
        }
        panic!("{requests} requests, and the books have {:?}", self.books(name));
    }
}

fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// Each kind of refusal once, without the numbers of its wait, which differ from run to run.
fn refusals(answers: &[Answer]) -> String {
    let refused = answers.iter().filter(|answer| answer.status != 200);
    let mut told: Vec<String> = refused
        .map(|answer| {
            assert!(answer.header("retry-after").is_some(), "{}", answer.told());
            let words = answer.told().replace(|c: char| c.is_ascii_digit(), "#");
            let mut words: Vec<char> = words.chars().collect();
            words.dedup_by(|next, before| (*next, *before) == ('#', '#'));
            format!("{}: {}", answer.status, words.into_iter().collect::<String>().replace("#.#", "#"))
        })
        .collect();
    told.sort();
    told.dedup();
    told.join("\n")
}

#[test]
fn a_budget_is_kept_exactly_over_two_replicas() {
    let Some(server) = Postgres::shared() else { return };
    let world = World::new(&server, answer(50));
    let key = world.key("team", &["--budget", "0.1/month"]);
    let answers = world.load(300, &key);
    assert_eq!(count(&answers, 200), 50);
    insta::assert_snapshot!("budget_is_gone", refusals(&answers));
    assert_eq!(world.settled("team", 50), (0.1, 0.1));
    assert_eq!(world.models.turns_taken(), 50);
    world.replicas.into_iter().for_each(Serving::stop);
}

#[test]
fn a_budget_is_overrun_by_no_more_than_what_is_in_flight() {
    let Some(server) = Postgres::shared() else { return };
    // Each costs ten times what was expected of it.
    let world = World::new(&server, answer(500).gate("all have asked"));
    let key = world.key("team", &["--budget", "0.01/month"]);
    let mut refused = Vec::new();
    thread::scope(|scope| {
        let asking: Vec<_> = (0..40)
            .map(|number| {
                let (world, key) = (&world, &key);
                scope.spawn(move || {
                    let answer = world.ask(number, key);
                    // Those who are let through answer only once the others were refused.
                    (answer.status != 200).then_some(answer)
                })
            })
            .collect();
        while asking.iter().filter(|asked| asked.is_finished()).count() < 35 {
            thread::yield_now();
        }
        world.models.open("all have asked");
        refused.extend(asking.into_iter().filter_map(|asked| asked.join().unwrap()));
    });
    assert_eq!(refused.len(), 35);
    assert_eq!(world.settled("team", 5), (0.1, 0.1));
    // Nothing is in flight any more: nobody is let through.
    assert_eq!(count(&world.load(16, &key), 200), 0);
    assert_eq!(world.models.turns_taken(), 5);
    world.replicas.into_iter().for_each(Serving::stop);
}

#[test]
fn a_rate_is_kept_over_two_replicas() {
    let Some(server) = Postgres::shared() else { return };
    let world = World::new(&server, answer(50));
    // The next place is free after half a minute.
    let key = world.key("team", &["--rate", "2/min"]);
    let answers = world.load(40, &key);
    assert_eq!(count(&answers, 200), 2);
    insta::assert_snapshot!("rate_is_reached", refusals(&answers));
    world.replicas.into_iter().for_each(Serving::stop);
}

#[test]
fn a_key_that_is_revoked_is_refused_by_both_at_once() {
    let Some(server) = Postgres::shared() else { return };
    let world = World::new(&server, answer(50));
    let key = world.key("team", &[]);
    assert_eq!([0, 1].map(|number| world.ask(number, &key).status), [200, 200]);
    assert!(world.home.rail(&["key", "revoke", "team"], "").status.success());
    let told = [0, 1, 2, 5].map(|number| world.ask(number, &key).told());
    insta::assert_snapshot!("revoked", told.join("\n"));
    world.replicas.into_iter().for_each(Serving::stop);
}

#[test]
fn while_the_database_is_away_nobody_is_let_in_and_nothing_is_lost() {
    let Some(server) = Postgres::start_or_skip() else { return };
    let world = World::new(&server, answer(50).gate_before_end("the database is away"));
    let key = world.key("team", &["--budget", "1/month"]);
    let question = Question { key: Some(key.clone()), ..Question::stream("anthropic", "first") };
    let mut asked = [0, 1].map(|at: usize| world.replicas[at].send(&question));
    asked.iter_mut().for_each(|asking| asking.until("good"));
    server.stop();
    let told = [0, 1, 2, 3, 4, 6].map(|number| world.ask(number, &key).told());
    // What was begun comes to its end, whoever is away.
    world.models.open("the database is away");
    for asking in asked {
        let answer = asking.answer();
        assert!(answer.status == 200 && answer.body.contains("message_stop"), "{}", answer.told());
    }
    server.restart().unwrap();
    let back = |at: usize| (0..500).any(|_| world.ask(at, &key).status == 200);
    assert!(back(0) && back(1), "they did not come back by themselves");
    assert_eq!(world.settled("team", 4), (0.008, 0.008));
    assert_eq!(world.models.turns_taken(), 4);
    world.replicas.into_iter().for_each(Serving::stop);
    insta::assert_snapshot!("database_away", told.join("\n"));
}
