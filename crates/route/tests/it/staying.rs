//! When a conversation stays with the target that answered last.

use rail_model::Usage;
use rail_route::{Routing, Rule, Session, SessionKey, Sessions, Stickiness};
use serde_json::{Value, json};

use crate::setup::{Case, Lack, called, image, order, profiles, request, seconds, target, tools};

const QWEN: &str = "qwen,qwen3-coder-plus";
const MODELSCOPE: &str = "modelscope,qwen3-480b";
const GEMINI: &str = "shuaihong,gemini-2.5-pro";

/// A request of kind `coding`, which goes to modelscope by itself, after qwen has answered.
fn after_qwen(fields: Value, cached_tokens: u64) -> Case {
    let mut case = Case::new(fields);
    case.tokens = 50_000;
    case.session = Some(Session {
        target: target(QWEN),
        virtual_model: Some("reasoning".into()),
        in_a_row: 1,
        cached_tokens,
        output_tokens: 1_000,
        seen: case.now,
    });
    case
}

fn coding() -> Value {
    json!({"tools": tools(&["Read", "Edit"])})
}

fn in_a_loop() -> Value {
    json!({"tools": tools(&["Read", "Edit"]), "messages": called("Read", json!({"file_path": "a.rs"}), json!("fn"))})
}

fn first(case: &Case) -> String {
    let plan = case.plan();
    let attempt = &plan.attempts[0];
    format!("{}: {}", attempt.target, attempt.why)
}

#[test]
fn a_tool_loop_is_finished_where_it_began() {
    let mut case = after_qwen(in_a_loop(), 0);
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: stays with qwen,qwen3-coder-plus: the model is in the middle of a tool loop
    + modelscope,qwen3-480b: 1st of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
    case.session = None;
    assert_eq!(order(&case.plan())[0], MODELSCOPE);
}

#[test]
fn a_tool_loop_is_left_when_there_is_need() {
    let leaves = |change: &dyn Fn(&mut Case)| {
        let mut case = after_qwen(in_a_loop(), 50_000);
        change(&mut case);
        order(&case.plan()).first().cloned().unwrap_or_default() != QWEN
    };
    assert!(!leaves(&|_| {}));
    assert!(
        leaves(&|case| case.routing.profiles = profiles(&[("qwen3-coder-plus", Lack::Window(50_000))])),
        "too long"
    );
    assert!(
        leaves(&|case| case.routing.profiles = profiles(&[("qwen3-coder-plus", Lack::Tools)])),
        "no tools"
    );
    assert!(leaves(&|case| case.health.refused(&target(QWEN), "401", case.now)), "its circuit is open");
    assert!(leaves(&|case| drop(case.routing.providers.remove("qwen"))), "it is gone");
    assert!(leaves(&|case| case.routing.options.stickiness = Stickiness::Off), "it is switched off");
    assert!(
        leaves(&|case| case.routing.active = Some("modelscope".into())),
        "the user switched to another provider"
    );
    assert!(!leaves(&|case| case.routing.active = Some("qwen".into())));
    let gone = |routing: &mut Routing| {
        routing.chains.values_mut().chain(routing.security.values_mut()).for_each(|chain| {
            chain.0.retain(|target| target.provider != "qwen");
        });
    };
    assert!(leaves(&|case| gone(&mut case.routing)), "no chain has it any more");
    let seen = json!({"tools": tools(&["Read"]), "messages": called("Read", json!({"file_path": "a.png"}), json!([image()]))});
    let mut case = after_qwen(seen, 50_000);
    assert_eq!(order(&case.plan())[0], QWEN, "it sees images");
    case.routing.profiles = profiles(&[("qwen3-coder-plus", Lack::Vision)]);
    assert_eq!(order(&case.plan())[0], GEMINI, "it sees none");
}

#[test]
fn without_prices_a_cache_worth_keeping_is_kept() {
    let stays = "qwen,qwen3-coder-plus: stays with qwen,qwen3-coder-plus: its 1,024 cached tokens would be lost, at prices that are \
         not known";
    assert_eq!(first(&after_qwen(coding(), 1_024)), stays);
    assert_eq!(first(&after_qwen(coding(), 1_023)), "modelscope,qwen3-480b: 1st of chain `coding`");
    let mut case = after_qwen(coding(), 41_000);
    case.now += seconds(10 * 60);
    assert_eq!(order(&case.plan())[0], QWEN);
    case.now += seconds(1);
    assert_eq!(order(&case.plan())[0], MODELSCOPE, "by now the cache is gone");
}

#[test]
fn with_prices_the_loss_is_weighed_against_the_gain() {
    let priced = |old: Lack, new: Lack| {
        let mut case = after_qwen(coding(), 41_000);
        case.routing.profiles = profiles(&[("qwen3-coder-plus", old), ("qwen3-480b", new)]);
        first(&case)
    };
    let stays = "qwen,qwen3-coder-plus: stays with qwen,qwen3-coder-plus:";
    let leaves = "modelscope,qwen3-480b: 1st of chain `coding`; worth leaving qwen,qwen3-coder-plus:";
    let usual = Lack::Price(1.0, 0.1, 5.0);
    let free = Lack::Price(0.0, 0.0, 0.0);
    for (old, new, who, why) in [
        (usual, Lack::Price(3.0, 0.3, 15.0), stays, "41,000 cached tokens would be paid again, $0.12"),
        (
            usual,
            Lack::Price(1.0, 0.08, 5.0),
            stays,
            "41,000 cached tokens would be paid again, $0.04: more than the $0.0050 saved over the next 5 requests",
        ),
        (
            Lack::Price(1.0, 0.1, 15.0),
            Lack::Price(0.5, 0.05, 1.0),
            leaves,
            "its 41,000 cached tokens cost $0.02 here: less than the $0.08 saved over the next 5 requests",
        ),
        (usual, free, leaves, "its 41,000 cached tokens cost no more here"),
        (free, free, leaves, "its 41,000 cached tokens cost no more here"),
        (free, usual, stays, "41,000 cached tokens would be paid again, $0.04"),
    ] {
        assert_eq!(priced(old, new), format!("{who} {why}"));
    }
}

#[test]
fn a_conversation_that_becomes_long_moves_on_once() {
    let mut case = after_qwen(in_a_loop(), 41_000);
    case.tokens = 60_000;
    assert_eq!(order(&case.plan())[0], QWEN, "not yet");
    case.tokens = 60_001;
    assert_eq!(order(&case.plan())[0], GEMINI);
    if let Some(session) = &mut case.session {
        session.virtual_model = Some("longContext".into());
    }
    assert_eq!(order(&case.plan())[0], QWEN, "it was long already, and has its cache where it is");
    let mut nowhere_to_go = after_qwen(in_a_loop(), 41_000);
    nowhere_to_go.tokens = 60_001;
    nowhere_to_go.routing.chains.remove("longContext");
    nowhere_to_go.routing.chains.insert("default".into(), GEMINI.parse().unwrap());
    assert_eq!(order(&nowhere_to_go.plan())[0], QWEN, "no chain says that another does better");
}

#[test]
fn what_the_user_chose_is_never_overridden() {
    let asks = |name: &str| {
        let mut fields = in_a_loop();
        fields["model"] = json!(name);
        order(&after_qwen(fields, 41_000).plan())[0].clone()
    };
    assert_eq!(asks("modelscope,qwen3-480b"), MODELSCOPE);
    assert_eq!(asks("gemini-2.5-pro"), GEMINI);
    assert_eq!(asks("imageProcessing"), QWEN, "within the chain that was asked for it may stay");
    let mut case = after_qwen(in_a_loop(), 41_000);
    case.routing.rules = vec![Rule { name: "mine".into(), chain: Some(GEMINI.into()), ..Rule::default() }];
    assert_eq!(order(&case.plan())[0], GEMINI, "a rule is the user's choice too");
    case.routing.rules =
        vec![Rule { name: "mine".into(), chain: Some(format!("{GEMINI};{QWEN}")), ..Rule::default() }];
    assert_eq!(order(&case.plan()), [QWEN, GEMINI], "within its chain it may stay");
}

#[test]
fn a_target_outside_of_the_chain_is_put_before_it_and_nothing_is_lost() {
    let mut case = after_qwen(in_a_loop(), 41_000);
    case.session.as_mut().unwrap().target = target("lmstudio,gpt-oss-20b-mlx");
    assert_eq!(
        order(&case.plan()),
        [MODELSCOPE, QWEN, GEMINI],
        "only security chains have it: it was a last resort"
    );
    case.routing.chains.insert("reasoning".into(), "lmstudio,gpt-oss-20b-mlx".parse().unwrap());
    assert_eq!(order(&case.plan()), ["lmstudio,gpt-oss-20b-mlx", MODELSCOPE, QWEN, GEMINI]);
}

/// Plays a conversation whose every answer leaves 5,000 tokens in the cache, and lists who answered.
fn answered_by(case: &mut Case, requests: &[Value]) -> Vec<String> {
    let (mut sessions, key) = (Sessions::default(), SessionKey(1));
    let usage = Usage { cache_read: Some(5_000), output: Some(500), ..Usage::default() };
    let answers = requests.iter().map(|fields| {
        case.request = request(fields.clone());
        case.session = sessions.get(key).cloned();
        let plan = case.plan();
        let first = &plan.attempts[0].target;
        sessions.saw(key, first, plan.virtual_model.as_deref(), &usage, case.now);
        first.provider.clone()
    });
    answers.collect()
}

#[test]
fn an_image_of_long_ago_does_not_hold_a_conversation() {
    let mut requests =
        vec![json!({"messages": [{"role": "user", "content": [image()]}], "tools": tools(&["Edit"])})];
    requests.extend(vec![coding(); 7]);
    let mut case = Case::new(json!({}));
    let held = ["shuaihong", "shuaihong", "shuaihong", "shuaihong", "shuaihong", "shuaihong"];
    assert_eq!(answered_by(&mut case, &requests), [&held[..], &["modelscope", "modelscope"]].concat());
    requests.splice(1..8, vec![in_a_loop(); 9]);
    requests.push(coding());
    let loop_and_end = [&["shuaihong"; 10][..], &["modelscope"]].concat();
    assert_eq!(answered_by(&mut case, &requests), loop_and_end, "a loop is finished first");
}

#[test]
fn kinds_that_take_turns_do_not_make_a_conversation_flap() {
    let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    let turns: Vec<Value> = (0..20).map(|at| if at % 2 == 0 { coding() } else { thinking.clone() }).collect();
    assert_eq!(answered_by(&mut Case::new(json!({})), &turns), ["modelscope"; 20]);
    let mut priced = Case::new(json!({}));
    let (cheap, dear) = (Lack::Price(0.1, 0.01, 0.2), Lack::Price(5.0, 0.5, 25.0));
    priced.routing.profiles = profiles(&[("qwen3-480b", dear), ("qwen3-coder-plus", cheap)]);
    let expected = [&["modelscope"][..], &["qwen"; 19]].concat();
    assert_eq!(answered_by(&mut priced, &turns), expected, "it moves to the cheaper one, once");
}

#[test]
fn who_answered_while_the_first_was_away_does_not_keep_a_conversation() {
    let mut case = after_qwen(coding(), 41_000);
    let session = case.session.as_mut().unwrap();
    (session.virtual_model, session.in_a_row) = (Some("coding".into()), 4);
    assert_eq!(order(&case.plan())[0], QWEN, "not yet");
    case.session.as_mut().unwrap().in_a_row = 5;
    let left = "modelscope,qwen3-480b: 1st of chain `coding`; worth leaving qwen,qwen3-coder-plus: the last 5 requests were \
                of this kind too";
    assert_eq!(first(&case), left);
    case.request = request(in_a_loop());
    assert_eq!(order(&case.plan())[0], QWEN, "a loop is finished first");
}
