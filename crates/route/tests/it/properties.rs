//! What holds for every configuration, request and history.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rail_route::{Chain, Client, PlanInput, Rule, Session, Stickiness, Target, classify, facts, plan};
use serde_json::{Value, json};

use crate::setup::{Case, Lack, called, image, order, profiles, seconds, target, tools};

const MODELS: [&str; 4] = [
    "qwen,qwen3-coder-plus",
    "modelscope,qwen3-480b",
    "shuaihong,gemini-2.5-pro",
    "lmstudio,gpt-oss-20b-mlx",
];

fn any_target() -> impl Strategy<Value = Target> {
    prop_oneof![4 => prop::sample::select(MODELS.to_vec()).prop_map(target), 1 => Just(target("gone,x"))]
}

fn any_chain() -> impl Strategy<Value = Chain> {
    prop::collection::vec(any_target(), 0..5).prop_map(Chain)
}

fn any_request() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("some"),
        Just("reasoning"),
        Just("mine"),
        Just("qwen,qwen3-coder-plus"),
        Just("gemini-2.5-pro"),
        Just("gone,x")
    ];
    let said = prop_oneof![
        Just(json!([{"role": "user", "content": "hi"}])),
        Just(json!([{"role": "user", "content": [image()]}])),
        Just(called("Read", json!({"file_path": "a.png"}), json!("x"))),
    ];
    let declared = prop::collection::vec(prop::sample::select(vec!["Bash", "WebFetch", "screenshot"]), 0..3);
    let thinking = prop::sample::select(vec!["enabled", "adaptive", "disabled"]);
    (name, said, declared, thinking).prop_map(|(name, said, declared, thinking)| {
        json!({"model": name, "messages": said, "tools": tools(&declared), "thinking": {"type": thinking, "budget_tokens": 99}})
    })
}

prop_compose! {
    fn any_case()(
        fields in any_request(),
        tokens in prop_oneof![Just(100u64), Just(50_000), Just(70_000), any::<u64>()],
        chains in prop::collection::btree_map(prop::sample::select(vec!["default", "coding", "reasoning", "longContext"]), any_chain(), 0..4),
        security in prop::collection::btree_map(prop::sample::select(vec!["default", "coding"]), any_chain(), 0..2),
        lacks in prop::collection::vec((0usize..4, 0usize..4), 0..4),
        broken in prop::collection::vec(any_target(), 0..3),
        last in prop::option::of((any_target(), 0u64..5_000)),
        flags in any::<[bool; 3]>(),
        active in prop::option::of(prop::sample::select(vec!["qwen", "shuaihong", "gone"])),
    ) -> Case {
        let mut case = Case::new(fields);
        case.tokens = tokens;
        let named = |(name, chain): (&str, Chain)| (name.to_owned(), chain);
        case.routing.chains = chains.into_iter().map(named).collect();
        case.routing.security = security.into_iter().map(named).collect();
        case.routing.active = active.map(str::to_owned);
        let [resort, rule, off] = flags;
        case.routing.options.default_as_last_resort = resort;
        if rule {
            case.routing.rules = vec![Rule { name: "mine".into(), priority: 3, images: Some(true), ..Rule::default() }];
        }
        if off {
            case.routing.options.stickiness = Stickiness::Off;
        }
        let kinds = [Lack::Window(9_000), Lack::Vision, Lack::Tools, Lack::Price(1.0, 0.1, 2.0)];
        let lacks: Vec<_> = lacks.iter().map(|(of, kind)| (MODELS[*of].split_once(',').unwrap().1, kinds[*kind])).collect();
        case.routing.profiles = profiles(&lacks);
        broken.iter().for_each(|target| case.health.refused(target, "401", case.now));
        case.session = last.map(|(target, cached_tokens)| Session {
            target, virtual_model: Some("longContext".into()), in_a_row: 1, cached_tokens, output_tokens: 10, seen: case.now,
        });
        case.now += seconds(5);
        case
    }
}

/// Every target of the chains that the plan's own words name.
fn concerned(case: &Case, class: &str) -> BTreeSet<Target> {
    let routing = &case.routing;
    let chain = |name: &str| routing.chains.get(name).or(routing.chains.get("default"));
    let mut all = BTreeSet::new();
    let asked = case.request.model.as_str();
    match asked.parse::<Target>() {
        Ok(target) => drop(all.insert(target)),
        Err(_) if asked == "gemini-2.5-pro" => drop(all.insert(target("shuaihong,gemini-2.5-pro"))),
        Err(_) => all.extend(chain(class).into_iter().flat_map(|chain| chain.0.clone())),
    }
    let security = routing.security.get(class).or(routing.security.get("default"));
    all.extend(security.into_iter().flat_map(|chain| chain.0.clone()));
    if routing.options.default_as_last_resort {
        all.extend(routing.chains.get("default").into_iter().flat_map(|chain| chain.0.clone()));
    }
    all
}

proptest! {
    #[test]
    fn a_plan_has_each_target_that_is_concerned_once(case in any_case()) {
        let plan = case.plan();
        let facts = facts(&case.request, &Client::default(), case.tokens);
        let class = plan.virtual_model.clone()
            .unwrap_or_else(|| classify(&case.routing, &facts, case.session.as_ref()).virtual_model);
        let mut expected = concerned(&case, &class);
        let stayed = plan.attempts.first().filter(|first| first.why.starts_with("stays with"));
        if let Some(first) = stayed {
            prop_assert_eq!(&first.target, &case.session.as_ref().unwrap().target);
            expected.insert(first.target.clone());
        }
        let listed: Vec<Target> = plan.attempts.iter().map(|one| one.target.clone())
            .chain(plan.skipped.iter().map(|one| one.target.clone())).collect();
        let once: BTreeSet<Target> = listed.iter().cloned().collect();
        prop_assert_eq!(once.len(), listed.len(), "no target twice: {:?}", listed);
        prop_assert_eq!(once, expected);
        prop_assert!(plan.attempts.iter().all(|one| !one.why.is_empty()));
        prop_assert!(plan.skipped.iter().all(|one| !one.why.is_empty()));
        prop_assert!(plan.attempts.iter().all(|one| one.target.provider != "gone"));
    }

    #[test]
    fn the_same_input_gives_the_same_plan(case in any_case()) {
        let facts = facts(&case.request, &Client::default(), case.tokens);
        let input = PlanInput {
            routing: &case.routing, facts: &facts, health: &case.health,
            session: case.session.as_ref(), now: case.now,
        };
        prop_assert_eq!(plan(&input), plan(&input));
    }

    #[test]
    fn every_request_has_a_virtual_model_and_a_reason(case in any_case()) {
        let facts = facts(&case.request, &Client::default(), case.tokens);
        let wanted = classify(&case.routing, &facts, case.session.as_ref());
        prop_assert!(case.routing.has_virtual_model(&wanted.virtual_model));
        prop_assert!(!wanted.why.is_empty());
    }

    #[test]
    fn a_target_asked_for_is_first_unless_its_circuit_is_open_or_it_cannot_serve(mut case in any_case(), at in 0usize..4) {
        case.request.model = MODELS[at].to_owned();
        case.health = Default::default();
        case.routing.profiles = profiles(&[]);
        prop_assert_eq!(&order(&case.plan())[0], MODELS[at]);
    }
}
