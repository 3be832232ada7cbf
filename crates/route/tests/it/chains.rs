//! What a plan is made of: chains, their order, and who is left out.

use std::sync::Arc;

use rail_route::{Calibration, ImageMatch, PlanInput, Provider, Target, calibrated, plan};
use serde_json::json;

use crate::setup::{Case, Lack, add_provider, image, order, profiles, seconds, target, tools};

const QWEN: &str = "qwen,qwen3-coder-plus";
const MODELSCOPE: &str = "modelscope,qwen3-480b";
const GEMINI: &str = "shuaihong,gemini-2.5-pro";
const LMSTUDIO: &str = "lmstudio,gpt-oss-20b-mlx";

fn coding() -> Case {
    Case::new(json!({"tools": tools(&["Read", "Edit"])}))
}

#[test]
fn the_chain_then_the_security_chain_then_default_if_so_configured() {
    let mut case = coding();
    assert_eq!(order(&case.plan()), [MODELSCOPE, QWEN, GEMINI]);
    case.routing.chains.insert("default".into(), format!("{LMSTUDIO};{QWEN}").parse().unwrap());
    assert_eq!(order(&case.plan()), [MODELSCOPE, QWEN, GEMINI]);
    case.routing.options.default_as_last_resort = true;
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + modelscope,qwen3-480b: 1st of chain `coding`
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    + lmstudio,gpt-oss-20b-mlx: 1st of chain `default`, as the last resort
    ");
}

#[test]
fn a_missing_chain_falls_to_default() {
    let mut case = coding();
    case.routing.chains.remove("coding");
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: 1st of chain `default`, as `coding` has none
    + modelscope,qwen3-480b: 2nd of chain `default`, as `coding` has none
    + shuaihong,gemini-2.5-pro: 3rd of chain `default`, as `coding` has none
    ");
    case.routing.security.clear();
    case.routing.security.insert("default".into(), LMSTUDIO.parse().unwrap());
    assert_eq!(
        order(&case.plan()),
        [QWEN, MODELSCOPE, GEMINI, LMSTUDIO],
        "and so does a missing security chain"
    );
    case.routing.chains.clear();
    case.routing.security.clear();
    let plan = case.plan();
    assert!(
        plan.attempts.is_empty() && plan.skipped.is_empty(),
        "with no chain at all there is nothing to try"
    );
}

#[test]
fn a_provider_that_is_not_configured_or_not_usable_is_skipped_with_the_reason() {
    let mut case = coding();
    case.routing.providers.remove("modelscope");
    let broken = Provider {
        unusable: Some("`env:QWEN_KEY` is not set".into()),
        ..(*case.routing.providers["qwen"]).clone()
    };
    case.routing.providers.insert("qwen".into(), Arc::new(broken));
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    - modelscope,qwen3-480b: the provider `modelscope` is not configured
    - qwen,qwen3-coder-plus: `env:QWEN_KEY` is not set
    ");
}

#[test]
fn a_target_that_cannot_serve_the_request_is_skipped() {
    let mut case = coding();
    case.request.sampling.max_output = Some(500);
    case.tokens = 900;
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Window(1_399))]);
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    - modelscope,qwen3-480b: 900 tokens are more than the 899 that it takes beside 500 of output
    ");
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Window(1_400))]);
    assert_eq!(order(&case.plan())[0], MODELSCOPE, "just enough");
    case.request.sampling.max_output = Some(32_000);
    case.routing.profiles =
        profiles(&[("qwen3-480b", Lack::Window(1_400)), ("qwen3-480b", Lack::MaxOutput(500))]);
    assert_eq!(order(&case.plan())[0], MODELSCOPE, "output is clamped to what the model gives");
    case.request.sampling.max_output = None;
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Window(1_923))]);
    assert_eq!(order(&case.plan())[0], QWEN, "who says nothing of output needs 1,024");
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Tools)]);
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    - modelscope,qwen3-480b: it calls no tools, and 2 tools are declared
    ");
}

#[test]
fn only_images_that_count_need_vision() {
    let blind = [("gemini-2.5-pro", Lack::Vision)];
    let mut case = Case::new(json!({"messages": [{"role": "user", "content": [image()]}]}));
    case.routing.profiles = profiles(&blind);
    insta::assert_snapshot!(case.lines(), @r"
    imageProcessing: the last user turn holds 1 image
    + qwen,qwen3-coder-plus: 2nd of chain `imageProcessing`
    + lmstudio,gpt-oss-20b-mlx: the security chain of `imageProcessing`
    - shuaihong,gemini-2.5-pro: it sees no images, and the request holds 1 image
    ");
    let mut old = Case::new(json!({"model": "imageProcessing", "messages": [
        {"role": "user", "content": [image()]},
        {"role": "assistant", "content": "nice"},
        {"role": "user", "content": "and now?"},
    ]}));
    old.routing.profiles = profiles(&blind);
    assert_eq!(order(&old.plan())[0], GEMINI, "an old image becomes a note");
    old.routing.options.image_match = ImageMatch::Any;
    assert_eq!(order(&old.plan())[0], QWEN);
}

#[test]
fn who_cannot_serve_it_comes_back_when_nothing_else_is_left() {
    let mut case = coding();
    case.tokens = 5_000;
    let small = Lack::Window(4_000);
    case.routing.profiles =
        profiles(&[("qwen3-480b", small), ("qwen3-coder-plus", small), ("gemini-2.5-pro", Lack::Tools)]);
    case.routing.security.insert("coding".into(), format!("{GEMINI};gone,x").parse().unwrap());
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + modelscope,qwen3-480b: 1st of chain `coding`; nothing else is left, although 5,000 tokens are more than the 3,000 that it takes beside 1,000 of output
    + qwen,qwen3-coder-plus: 2nd of chain `coding`; nothing else is left, although 5,000 tokens are more than the 3,000 that it takes beside 1,000 of output
    + shuaihong,gemini-2.5-pro: 1st of the security chain of `coding`; nothing else is left, although it calls no tools, and 2 tools are declared
    - gone,x: the provider `gone` is not configured
    ");
}

#[test]
fn open_circuits_go_to_the_end_and_a_half_open_one_keeps_its_place() {
    let mut case = coding();
    case.health.refused(&target(MODELSCOPE), "401", case.now);
    case.now += seconds(10);
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    + modelscope,qwen3-480b: 1st of chain `coding`; moved to the end: its circuit is open for 20 s more
    ");
    case.now += seconds(20);
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + modelscope,qwen3-480b: 1st of chain `coding`; it failed lately, and is tried again
    + qwen,qwen3-coder-plus: 2nd of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
    case.health.probing(&target(MODELSCOPE), case.now);
    assert_eq!(order(&case.plan()), [QWEN, GEMINI, MODELSCOPE], "only one request is let through");
    case.health.succeeded(&target(MODELSCOPE), seconds(1), case.now);
    assert_eq!(order(&case.plan()), [MODELSCOPE, QWEN, GEMINI]);
}

#[test]
fn an_open_circuit_is_still_tried_when_it_is_all_there_is() {
    let mut case = Case::new(json!({"model": QWEN}));
    case.health.refused(&target(QWEN), "401", case.now);
    assert_eq!(order(&case.plan()), [QWEN]);
}

#[test]
fn the_active_provider_is_first_in_every_chain_that_has_it() {
    let mut case = coding();
    case.routing.active = Some("qwen".into());
    insta::assert_snapshot!(case.lines(), @r"
    coding: 2 of 2 declared tools are neither web nor image tools
    + qwen,qwen3-coder-plus: 2nd of chain `coding`; first, as `qwen` is the active provider
    + modelscope,qwen3-480b: 1st of chain `coding`
    + shuaihong,gemini-2.5-pro: the security chain of `coding`
    ");
    case.routing.active = Some("shuaihong".into());
    assert_eq!(order(&case.plan()), [MODELSCOPE, QWEN, GEMINI], "the security chain stays behind");
    case.routing.active = Some("lmstudio".into());
    assert_eq!(
        order(&case.plan()),
        [MODELSCOPE, QWEN, GEMINI],
        "no chain gets a provider that it does not have"
    );
}

#[test]
fn a_target_named_twice_is_tried_once() {
    let mut case = coding();
    case.routing.chains.insert("coding".into(), format!("{QWEN};{QWEN};{GEMINI}").parse().unwrap());
    assert_eq!(order(&case.plan()), [QWEN, GEMINI]);
}

#[test]
fn attempts_keep_what_the_upstream_needs() {
    let mut case = coding();
    case.routing.profiles = profiles(&[("qwen3-480b", Lack::Window(200_000))]);
    add_provider(&mut case.routing, "modelscope", &[]);
    let plan = case.plan();
    let first = &plan.attempts[0];
    assert_eq!((first.provider.name.as_str(), first.profile.window), ("modelscope", Some(200_000)));
}

#[test]
fn tokens_are_those_that_the_first_target_counts() {
    let twice = |_: &Target| {
        let mut calibration = Calibration::default();
        calibration.learn(1_000, 2_000);
        calibration
    };
    let nothing = |_: &Target| Calibration::default();
    let mut case = coding();
    case.tokens = 40_000;
    assert_eq!(case.with_input(|input| calibrated(input, nothing).1.tokens), 40_000);
    let of_the_first = |target: &Target| {
        if target.to_string() == MODELSCOPE { twice(target) } else { Calibration::default() }
    };
    let virtual_model = case.with_input(|input| {
        let (planned, facts) = calibrated(input, of_the_first);
        assert_eq!(facts.tokens, 80_000);
        assert_eq!(planned, plan(&PlanInput { facts: &facts, ..*input }));
        planned.virtual_model
    });
    assert_eq!(virtual_model.as_deref(), Some("longContext"));
    case.routing.chains.clear();
    case.routing.security.clear();
    assert_eq!(case.with_input(|input| calibrated(input, twice).1.tokens), 40_000, "nobody counts");
}
