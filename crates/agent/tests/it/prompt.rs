//! The head of a conversation, whole.

use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use rail_agent::memory::{Below, Found, MemoryFile, Whose};
use rail_agent::prompt::{
    Environment, Form, Gathered, Git, Prompt, PromptInput, Skill, available, build, dialect_for, form_for,
    input_for, mark_messages,
};
use rail_agent::team::types::built_in;
use rail_config::settings::{Agent, DialectChoice, Generation, PromptChoice};
use rail_model::{Message, Part, ProtocolId, Request, Role, ToolKind};
use rail_permit::{Mode, Policy, Rule, Rules};
use rail_route::{ModelProfile, Profiles, Provider, estimate};
use rail_tool::Limits;
use rail_wire::TargetSpec;

const DIALECTS: [&str; 4] = ["native", "claude", "gemini", "codex"];

fn environment() -> Environment {
    Environment {
        folder: PathBuf::from("/srv/shop/api"),
        git: Some(Git {
            root: PathBuf::from("/srv/shop"),
            branch: Some("main".to_owned()),
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            unfinished: None,
        }),
        platform: "linux".to_owned(),
        version: Some("Debian GNU/Linux 12 (bookworm), kernel 6.1.0".to_owned()),
        shell: Some("bash".to_owned()),
        date: "2026-03-01".to_owned(),
    }
}

fn file(path: &str, whose: Whose, text: &str) -> MemoryFile {
    MemoryFile { path: path.into(), whose, imported_by: None, text: text.into() }
}

fn memory() -> Found {
    Found {
        files: vec![
            file("/srv/ann/.config/switchrail/AGENTS.md", Whose::User, "Answer in English."),
            file("/srv/shop/AGENTS.md", Whose::Project, "Run `make check` before you are done."),
        ],
        below: Below { files: vec!["/srv/shop/api/db/AGENTS.md".into()], more: 2 },
        notes: Vec::new(),
    }
}

fn skills() -> Vec<Skill> {
    let skill =
        |name: &str, description: &str| Skill { name: name.to_owned(), description: description.to_owned() };
    vec![skill("release", "Cut a release:\nversion, notes,  tag"), skill("pdf", &"long ".repeat(100))]
}

fn gathered(generation: Generation) -> Gathered {
    Gathered {
        registry: available(&rail_tools::registry(), generation, &Policy::default()),
        limits: Limits::default(),
        environment: environment(),
        memory: memory(),
        agents: Vec::new().into(),
        skills: skills(),
        role: None,
    }
}

fn built(form: Form, dialect: &str, gathered: &Gathered) -> Prompt {
    build(&PromptInput { form, dialect, output_style: Some("Like a pirate."), gathered })
}

/// All that a model is told.
fn whole(prompt: &Prompt) -> String {
    let mut out = prompt.system()[0].as_text().unwrap().to_owned();
    out.push_str("\n\n== tools ==\n");
    for tool in &prompt.tools {
        out.push_str(&tool.name);
        out.push('\n');
    }
    out
}

fn tokens_of(prompt: &Prompt, said: &str) -> u64 {
    let request = Request {
        system: prompt.system(),
        tools: prompt.tools.clone(),
        messages: vec![Message::new(Role::User, vec![Part::text(said)])],
        ..Request::default()
    };
    estimate(&request).total()
}

#[test]
fn the_full_prompt() {
    insta::assert_snapshot!(whole(&built(Form::Full, "native", &gathered(Generation::Gen4))));
}

#[test]
fn the_lean_prompt() {
    let prompt = built(Form::Lean, "native", &gathered(Generation::Gen4));
    let mut out = whole(&prompt);
    for tool in &prompt.tools {
        let ToolKind::Function { parameters: Some(schema) } = &tool.kind else { panic!("{}", tool.name) };
        out.push_str(&format!(
            "\n{}: {}\n{}\n",
            tool.name,
            tool.description.as_deref().unwrap(),
            schema.text()
        ));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn names_are_those_of_the_dialect() {
    let teaching = |dialect| {
        let prompt = built(Form::Full, dialect, &gathered(Generation::Gen4));
        prompt.parts.into_iter().find(|part| part.name == "tools").unwrap().text
    };
    insta::assert_snapshot!(DIALECTS.map(teaching)[1..].join("\n\n"));
    let lean = built(Form::Lean, "claude", &gathered(Generation::Gen4));
    let names: Vec<&str> = lean.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Read", "Edit", "Write", "Bash", "LS"]);
}

#[test]
fn the_first_request_is_small() {
    let mut gathered = gathered(Generation::Gen4);
    gathered.memory = Found::default();
    gathered.skills.clear();
    // The most that is said without anything of the user's own.
    gathered.registry = rail_tools::seeing(&gathered.registry, rail_tools::Sight::MainToo);
    gathered.agents = built_in().into();
    for dialect in DIALECTS {
        let full = build(&PromptInput { form: Form::Full, dialect, output_style: None, gathered: &gathered });
        let tokens = tokens_of(&full, "hello");
        assert!(tokens <= 5_000, "{dialect}: {tokens}");
    }
}

#[test]
fn a_lean_request_is_small_whatever_the_memory_files_say() {
    let mut gathered = gathered(Generation::Gen8);
    let long = |path: &str| file(path, Whose::Project, &"A rule that somebody wrote down. ".repeat(500));
    gathered.memory.files = vec![long("/srv/shop/AGENTS.md"), long("/srv/shop/api/AGENTS.md")];
    for dialect in DIALECTS {
        let lean = build(&PromptInput { form: Form::Lean, dialect, output_style: None, gathered: &gathered });
        let tokens = tokens_of(&lean, "Rename the function total in src/cart.rs to sum, and run the tests.");
        assert!(tokens < 800, "{dialect}: {tokens}");
        let memory = lean.parts.iter().find(|part| part.name == "memory").unwrap();
        assert!(memory.text.ends_with("[cut; more in /srv/shop/api/AGENTS.md]"), "{}", memory.text);
        let base = lean.parts.first().unwrap();
        assert!(base.tokens < 120, "{}", base.tokens);
    }
}

#[test]
fn only_tools_that_can_be_used_are_taught() {
    let rule = Rule::parse("Bash", "a test", &|_| Some("bash".to_owned())).unwrap();
    let deny = Policy { rules: Rules { deny: vec![rule], ..Rules::default() }, ..Policy::default() };
    let plan = Policy { mode: Mode::Plan, ..Policy::default() };
    let teaching = |generation, policy: &Policy| {
        let registry = available(&rail_tools::registry(), generation, policy);
        let gathered = Gathered { registry, ..Gathered::default() };
        let prompt = build(&PromptInput {
            form: Form::Full,
            dialect: "native",
            output_style: None,
            gathered: &gathered,
        });
        let text = prompt.parts.into_iter().find(|part| part.name == "tools").map(|part| part.text);
        let names: Vec<String> = prompt.tools.into_iter().map(|tool| tool.name).collect();
        format!("{}\n{}\n", text.unwrap_or_default(), names.join(" "))
    };
    let said = [
        teaching(Generation::Gen1, &Policy::default()),
        teaching(Generation::Gen4, &plan),
        teaching(Generation::Gen4, &deny),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn parts_without_content_are_left_out_and_a_role_takes_the_base_s_place() {
    let gathered = Gathered { role: Some("You are the architect.".to_owned()), ..Gathered::default() };
    let prompt =
        build(&PromptInput { form: Form::Full, dialect: "native", output_style: None, gathered: &gathered });
    let names: Vec<&str> = prompt.parts.iter().map(|part| part.name).collect();
    assert_eq!(names, ["base", "security", "environment"]);
    assert_eq!(prompt.parts[0].text, "You are the architect.");
    assert_eq!(prompt.tools, []);
}

#[test]
fn a_request_has_as_many_cache_marks_as_a_provider_takes() {
    let prompt = built(Form::Full, "claude", &gathered(Generation::Gen4));
    let say = |role, text: &str| Message::new(role, vec![Part::text(text)]);
    let mut messages = vec![
        say(Role::User, "one"),
        say(Role::Assistant, "two"),
        say(Role::User, "three"),
        say(Role::Assistant, "four"),
        say(Role::User, "five"),
    ];
    mark_messages(&mut messages);
    let request = Request { system: prompt.system(), tools: prompt.tools, messages, ..Request::default() };
    let outbound = rail_wire::anthropic::PROTOCOL.outbound;
    let encoded = outbound.encode_request(&request, &TargetSpec::new("claude-sonnet-4-5"));
    let body = String::from_utf8(encoded.call.body).unwrap();
    assert_eq!(body.matches("\"cache_control\"").count(), 4);
    assert_eq!(encoded.losses, []);
}

#[test]
fn small_models_get_the_lean_form() {
    let profiles = Profiles::builtin();
    let provider = Provider::new("local", ProtocolId::new("openai-chat"), "http://127.0.0.1:8080/v1");
    let form = |model: &str| form_for(PromptChoice::Auto, &profiles.of(&provider, model));
    for (model, expected) in [
        ("qwen2.5-coder-1.5b-instruct", Form::Lean),
        ("qwen2.5-coder:1.5b", Form::Lean),
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", Form::Lean),
        ("meta-llama/Llama-3.2-1B-Instruct", Form::Lean),
        ("llama3.2:3b", Form::Lean),
        ("gemma-2b", Form::Lean),
        ("gemma-2-2b-it", Form::Lean),
        ("phi-3-mini-128k-instruct", Form::Lean),
        ("smollm2:135m", Form::Lean),
        ("qwen2.5-coder:7b", Form::Full),
        ("qwen3-30b-a3b", Form::Full),
        ("claude-sonnet-4-5", Form::Full),
        ("nobody-knows-it", Form::Full),
    ] {
        assert_eq!(form(model), expected, "{model}");
    }
    let small = ModelProfile { small: true, ..ModelProfile::default() };
    let narrow = ModelProfile { window: Some(8_192), ..ModelProfile::default() };
    let wide = ModelProfile { window: Some(32_768), ..ModelProfile::default() };
    for (choice, profile, expected) in [
        (PromptChoice::Auto, &narrow, Form::Lean),
        (PromptChoice::Auto, &wide, Form::Full),
        (PromptChoice::Full, &small, Form::Full),
        (PromptChoice::Lean, &wide, Form::Lean),
    ] {
        assert_eq!(form_for(choice, profile), expected, "{choice:?} {profile:?}");
    }
}

#[test]
fn settings_and_model_choose() {
    let profile = ModelProfile { dialect: "gemini".to_owned(), small: true, ..ModelProfile::default() };
    let gathered = Gathered::default();
    let agent = Agent { output_style: Some("Brief.".to_owned()), ..Agent::default() };
    let input = input_for(&agent, &profile, &gathered);
    assert_eq!((input.form, input.dialect, input.output_style), (Form::Lean, "gemini", Some("Brief.")));
    for (choice, expected) in [
        (DialectChoice::Auto, "gemini"),
        (DialectChoice::Native, "native"),
        (DialectChoice::Claude, "claude"),
        (DialectChoice::Gemini, "gemini"),
        (DialectChoice::Codex, "codex"),
    ] {
        assert_eq!(dialect_for(choice, &profile), expected);
    }
}

#[test]
fn what_is_said_of_tools_names_the_limits_in_force() {
    let mut gathered = gathered(Generation::Gen1);
    let reads = |gathered: &Gathered| {
        let tools = built(Form::Full, "claude", gathered).tools;
        tools.into_iter().find(|tool| tool.name == "Read").and_then(|tool| tool.description).unwrap()
    };
    assert!(reads(&gathered).contains("2,000 lines"), "{}", reads(&gathered));
    gathered.limits.read.lines = 77;
    assert!(reads(&gathered).contains("77 lines"), "{}", reads(&gathered));
}

fn any_gathered() -> impl Strategy<Value = Gathered> {
    let files = prop::collection::vec(("[/a-z]{1,9}", any::<bool>(), ".{0,40}"), 0..4);
    let skills = prop::collection::vec(("[a-z]{1,6}", ".{0,30}"), 0..4);
    (files, skills, any::<bool>(), prop::option::of(".{0,20}")).prop_map(|(files, skills, is_old, role)| {
        let generation = if is_old { Generation::Gen1 } else { Generation::Gen4 };
        let whose = |is_user| if is_user { Whose::User } else { Whose::Project };
        Gathered {
            memory: Found {
                files: files
                    .into_iter()
                    .map(|(path, user, text)| MemoryFile {
                        path: path.into(),
                        whose: whose(user),
                        imported_by: None,
                        text: Arc::from(text),
                    })
                    .collect(),
                ..Found::default()
            },
            skills: skills.into_iter().map(|(name, description)| Skill { name, description }).collect(),
            role,
            ..gathered(generation)
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_same_input_gives_the_same_bytes(gathered in any_gathered(), dialect in 0..4usize, is_lean: bool) {
        let form = if is_lean { Form::Lean } else { Form::Full };
        let prompt = built(form, DIALECTS[dialect], &gathered);
        // Registries that were made anew must not order anything otherwise.
        let names: Vec<&str> = gathered.registry.tools().iter().map(|tool| tool.card().name).collect();
        let again = Gathered { registry: rail_tools::registry().only(|card| names.contains(&card.name)), ..gathered.clone() };
        prop_assert_eq!(&built(form, DIALECTS[dialect], &again), &prompt);
        prop_assert!(prompt.parts.iter().all(|part| part.text == part.text.trim() && !part.text.is_empty()));
        // What differs between sessions comes after what they share.
        let other = Gathered { environment: Environment::default(), memory: Found::default(), skills: Vec::new(), ..gathered };
        let other = built(form, DIALECTS[dialect], &other);
        let shared = |prompt: &Prompt| -> Vec<String> {
            prompt.parts.iter().take_while(|part| part.name != "environment").map(|part| part.text.clone()).collect()
        };
        prop_assert_eq!(shared(&prompt), shared(&other));
        prop_assert_eq!(prompt.tools, other.tools);
    }
}
