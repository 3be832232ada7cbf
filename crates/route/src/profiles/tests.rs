//! The table against names that people use.

mod docs;
mod names;

use std::fmt::Write;

use proptest::prelude::*;
use rail_model::ProtocolId;

use super::table::{Row, TABLE, Table};
use super::*;
use crate::{Price, ReasoningBack, Thinks, ToolStyle};
use names::NAMES;

/// Where models are asked in these tests.
fn provider(name: &str) -> Provider {
    let (protocol, address) = match name {
        "anthropic" => ("anthropic", "https://api.anthropic.com/v1"),
        "openai" => ("openai-chat", "https://api.openai.com/v1"),
        "responses" => ("openai-responses", "https://api.openai.com/v1"),
        "google" => ("gemini", "https://generativelanguage.googleapis.com/v1beta"),
        "mistral" => ("openai-chat", "https://api.mistral.ai/v1"),
        "xai" => ("openai-chat", "https://api.x.ai/v1"),
        "kimi" => ("openai-chat", "https://api.moonshot.ai/v1"),
        "lmstudio" => ("openai-chat", "http://127.0.0.1:1234/v1"),
        "aistudio" => ("openai-chat", "http://localhost:2048/v1"),
        "ollama" => ("openai-chat", "http://[::1]:11434/v1"),
        "compatible" => ("openai-chat", "https://gateway.example/api/v1"),
        other => panic!("no provider {other}"),
    };
    Provider::new(name, ProtocolId::new(protocol), address)
}

/// What differs from a model that nobody knows, on one line.
fn line(profile: &ModelProfile) -> String {
    let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    let limited = profile.max_input.filter(|input| profile.window.is_some_and(|window| *input < window));
    let mut out = format!("{}/{}", number(profile.window), number(profile.max_output));
    if let Some(input) = limited {
        write!(out, " in {input}").unwrap();
    }
    let words = [
        (profile.vision, "vision"),
        (profile.starts_in_reasoning, "starts-in-reasoning"),
        (profile.escapes_entities, "entities"),
        (profile.no_think, "no-think"),
        (profile.fixed_sampling, "fixed"),
        (profile.max_completion_tokens, "completion-tokens"),
        (profile.developer_role, "developer"),
        (profile.image_in_tool_result, "result-images"),
        (profile.custom_tools, "custom"),
        (!profile.stream_usage, "no-stream-usage"),
        (profile.small, "small"),
    ];
    write!(out, " {} {}", tools(profile.tools), thinks(profile.thinking)).unwrap();
    words.iter().filter(|(holds, _)| *holds).for_each(|(_, word)| write!(out, " {word}").unwrap());
    match profile.reasoning_back {
        ReasoningBack::Never => {}
        ReasoningBack::WhereThereIs => out.push_str(" back-where"),
        ReasoningBack::Always => out.push_str(" back-always"),
    }
    if profile.dialect != "native" {
        write!(out, " dialect:{}", profile.dialect).unwrap();
    }
    for (name, value) in [("family", &profile.family), ("mapping", &profile.mapping)] {
        value.iter().for_each(|value| write!(out, " {name}:{value}").unwrap());
    }
    profile.max_temperature.iter().for_each(|most| write!(out, " t≤{most}").unwrap());
    if let Some(price) = &profile.price {
        write!(out, " {}", dollars(price)).unwrap();
    }
    out
}

fn tools(style: ToolStyle) -> &'static str {
    match style {
        ToolStyle::Native => "native",
        ToolStyle::Mixed => "mixed",
        ToolStyle::Prompted => "prompted",
        ToolStyle::None => "none",
    }
}

fn thinks(how: Thinks) -> &'static str {
    match how {
        Thinks::AsAsked => "as-asked",
        Thinks::Budget => "budget",
        Thinks::Adaptive => "adaptive",
        Thinks::Effort => "effort",
        Thinks::Never => "never",
    }
}

/// Input, output, cache reads and writes, and the same of long requests.
fn dollars(price: &Price) -> String {
    let some = |input: f64, output: f64, read: Option<f64>, write: Option<f64>| {
        let cache = |rate: Option<f64>| rate.map(|rate| format!("/{rate}")).unwrap_or_default();
        format!("${input}/{output}{}{}", cache(read), cache(write))
    };
    let mut out = some(price.input, price.output, price.cache_read, price.cache_write);
    for tier in &price.tiers {
        let rate = some(tier.input, tier.output, tier.cache_read, tier.cache_write);
        write!(out, ", over {} {rate}", tier.over).unwrap();
    }
    out
}

#[test]
fn what_is_known_of_the_names_that_people_use() {
    let profiles = Profiles::builtin();
    let mut out = String::new();
    for (at, names) in NAMES {
        let provider = provider(at);
        for name in *names {
            writeln!(out, "{at}, {name}\n    {}", line(&profiles.of(&provider, name))).unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn the_table_is_read_and_each_row_is_used() {
    let table: Table =
        toml::from_str(include_str!("../../data/models.toml")).unwrap_or_else(|why| panic!("{why}"));
    assert!(table.servers.iter().all(|row| row.names.is_empty()), "a server's row names no model");
    let all: Vec<(String, Provider)> =
        NAMES.iter().flat_map(|(at, names)| names.iter().map(|name| (plain(name), provider(at)))).collect();
    let is_used = |row: &&Row| {
        all.iter().any(|(name, provider)| {
            row.holds_at(&table::Place::of(provider)) && row.names(last_segment(name))
        })
    };
    let unused: Vec<_> = table.models.iter().filter(|row| !is_used(row)).map(|row| &row.names).collect();
    assert!(unused.is_empty(), "add a name for each of these rows to the list above: {unused:?}");
}

#[test]
fn facts_have_a_source() {
    let has_facts = |row: &&Row| {
        let patch = &row.patch;
        patch.window.is_some()
            || patch.max_input.is_some()
            || patch.max_output.is_some()
            || patch.price.is_some()
    };
    let bare: Vec<_> =
        TABLE.models.iter().filter(has_facts).filter(|row| row.origin.source.is_none()).collect();
    assert!(bare.is_empty(), "rows without a source: {bare:?}");
    assert!(TABLE.models.iter().all(|row| row.patch != ProfilePatch::default()), "a row says nothing");
}

#[test]
fn rows_name_what_the_repair_layer_knows() {
    let families = ["ernie", "functionary_v3.2", "harmony", "hunyuan"];
    let mappings: Vec<&str> = rail_repair::Mapping::names().collect();
    for row in TABLE.servers.iter().chain(&TABLE.models) {
        let patch = &row.patch;
        assert!(patch.family.as_deref().is_none_or(|family| families.contains(&family)), "{row:?}");
        for name in patch.mapping.iter().chain(&patch.dialect) {
            assert!(mappings.contains(&name.as_str()), "{row:?}");
        }
    }
}

#[test]
fn only_hybrid_qwen3_models_are_told_not_to_think() {
    let profiles = Profiles::builtin();
    let is_told = |model: &str| profiles.of(&provider("compatible"), model).no_think;
    for model in [
        "qwen3",
        "qwen/qwen3-235b-a22b",
        "unsloth/qwen3-235b-a22b-gguf/qwen3-235b-a22b-ud-q4_k_xl-00001-of-00003.gguf",
        "QWEN3:8b",
        "Qwen3-8B",
        "Qwen3-30B-A3B",
        "qwen3.gguf",
        "qwen-3-32b",
        "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M",
        "mlx-community/Qwen3-32B-4bit",
        "qwen.qwen3-32b-v1:0",
    ] {
        assert!(is_told(model), "{model}");
    }
    for model in [
        "qwen2.5-72b",
        "qwen3-coder-480b",
        "Qwen3-30B-A3B-Instruct-2507",
        "qwen3-30b-a3b-thinking-2507",
        "qwen3.5-27b",
        "qwen3-embedding-8b",
        "Qwen3-Reranker-4B",
        "Qwen3Guard-Gen-8B",
        "qwen3-asr-flash",
        "qwen3-tts-flash",
        "qwen3-vl:8b",
        "qwen3-omni-30b-a3b",
        "qwen-3-coder-480b",
        "qwen-3-235b-a22b-instruct-2507",
        "qwen-3-235b-a22b-thinking-2507",
        "qwen/qwen3-235b-a22b-07-25",
        "qwen3:4b-instruct-2507-q4_K_M",
        "qwen3-next:80b",
        "deepseek-r1-0528-qwen3-8b",
        "gpt-5",
    ] {
        assert!(!is_told(model), "{model}");
    }
}

#[test]
fn later_layers_win() {
    let window = |window| ProfilePatch { window: Some(window), ..ProfilePatch::default() };
    let profiles = Profiles::with(vec![
        ("*".into(), ProfilePatch { small: Some(true), ..window(1) }),
        ("QWEN3:*".into(), window(2)),
        ("qwen3-8b".into(), ProfilePatch { vision: Some(true), ..ProfilePatch::default() }),
        ("maker/*".into(), window(3)),
    ]);
    let mut here = provider("compatible");
    let seen = |provider: &Provider, model: &str| {
        let profile = profiles.of(provider, model);
        (profile.window, profile.vision, profile.small)
    };
    assert_eq!(seen(&here, "other"), (Some(1), false, true));
    assert_eq!(seen(&here, "qwen3:8b"), (Some(2), true, true));
    assert_eq!(seen(&here, "some/Qwen3:8b"), (Some(2), true, true));
    assert_eq!(seen(&here, "maker/qwen3:8b"), (Some(3), true, true));
    here.models.insert("qwen3:8b".into(), window(4));
    assert_eq!(seen(&here, "qwen3:8b"), (Some(4), true, true), "not as it was kept before");
    assert_eq!(seen(&provider("compatible"), "qwen3:8b"), (Some(2), true, true));
}

#[test]
fn a_repeated_question_makes_nothing_up() {
    let profiles = Profiles::builtin();
    let (here, there) = (provider("anthropic"), provider("compatible"));
    let first = profiles.of(&here, "claude-sonnet-5");
    assert!(Arc::ptr_eq(&first, &profiles.of(&here, "claude-sonnet-5")));
    assert_ne!(first, profiles.of(&there, "claude-sonnet-5"), "calls are trusted only at the maker's");
    for made_up in 0..3 * KEPT {
        profiles.of(&here, &format!("model-{made_up}"));
    }
    assert!(profiles.kept.read().unwrap().len() <= KEPT);
    assert_eq!(first, profiles.of(&here, "claude-sonnet-5"));
}

proptest! {
    #[test]
    fn any_name_at_any_address(model in any::<String>(), address in any::<String>()) {
        let provider = Provider::new("p", ProtocolId::new("openai-chat"), address);
        let profiles = Profiles::builtin();
        prop_assert_eq!(profiles.of(&provider, &model), profiles.of(&provider, &model));
    }
}
