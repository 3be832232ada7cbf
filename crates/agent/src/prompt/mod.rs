//! What a model is told at the head of a conversation, and the tools it is shown.
//!
//! [`build`] is pure: the same input gives the same bytes, so that a provider's cache holds what comes before the conversation. What
//! changes in a session is said in the conversation, and this stays as it was.

mod environment;
mod marks;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use rail_config::settings::{Agent, DialectChoice, PromptChoice};
use rail_model::{CacheMark, Part, Request, ToolDecl};
use rail_route::{Estimate, ModelProfile, estimate, tokens};
use rail_tool::{Limits, Registry, SkillCard, shown};

use crate::memory::{self, Below, Found, MemoryFile};
use crate::team::AgentType;

pub use environment::{Environment, Git};
pub use marks::mark_messages;
pub use tools::available;

/// A skill that a model may load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// The skills that a model is told of.
pub fn skills(cards: &[SkillCard]) -> Vec<Skill> {
    let told = |card: &SkillCard| Skill { name: card.name.clone(), description: card.description.clone() };
    cards.iter().map(told).collect()
}

/// What a session's prompt is made of besides its settings and its model, as it was when the session began.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The tools that are available; see [`available`].
    pub registry: Registry,
    /// The limits in force, which what is said of tools names.
    pub limits: Limits,
    /// Where the session takes place.
    pub environment: Environment,
    /// The memory files.
    pub memory: Found,
    /// The skills.
    pub skills: Vec<Skill>,
    /// The types of agents that calls can set to work.
    pub agents: Arc<[AgentType]>,
    /// What a special agent is told in place of the base text.
    pub role: Option<String>,
}

/// How much a model is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// All of it.
    Full,
    /// The least, with a few tools: a small model on a small machine reads about 25 tokens in a second.
    Lean,
}

/// All that a prompt is made of.
#[derive(Clone, Debug)]
pub struct PromptInput<'a> {
    /// How much is said.
    pub form: Form,
    /// The dialect of tool names.
    pub dialect: &'a str,
    /// How answers are to be written, in the user's words.
    pub output_style: Option<&'a str>,
    /// What the session began with.
    pub gathered: &'a Gathered,
}

/// The prompt of a session with a model, by the user's settings.
pub fn input_for<'a>(agent: &'a Agent, profile: &'a ModelProfile, gathered: &'a Gathered) -> PromptInput<'a> {
    PromptInput {
        form: form_for(agent.prompt, profile),
        dialect: dialect_for(agent.dialect, profile),
        output_style: agent.output_style.as_deref(),
        gathered,
    }
}

/// Windows up to this size would be half full of a prompt with all tools.
const SMALL_WINDOW: u64 = 8_192;

/// How much a model is told, by what is known of it.
pub fn form_for(choice: PromptChoice, profile: &ModelProfile) -> Form {
    let is_small = profile.small || profile.room(0).is_some_and(|window| window <= SMALL_WINDOW);
    match choice {
        PromptChoice::Auto if is_small => Form::Lean,
        PromptChoice::Auto | PromptChoice::Full => Form::Full,
        PromptChoice::Lean => Form::Lean,
    }
}

/// The dialect that a model is shown.
pub fn dialect_for(choice: DialectChoice, profile: &ModelProfile) -> &str {
    match choice {
        DialectChoice::Auto => &profile.dialect,
        DialectChoice::Native => "native",
        DialectChoice::Claude => "claude",
        DialectChoice::Gemini => "gemini",
        DialectChoice::Codex => "codex",
    }
}

/// The head of a conversation: its parts in order, and the tools.
#[derive(Clone, PartialEq, Debug)]
pub struct Prompt {
    /// The parts that say something, in order.
    pub parts: Vec<PromptPart>,
    /// The tools, with a cache mark on the last.
    pub tools: Vec<ToolDecl>,
}

/// A part of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptPart {
    /// What it is: `base`, `tools`, `security`, `environment`, `memory`, `agents`, `skills` or `style`.
    pub name: &'static str,
    /// Its text.
    pub text: String,
    /// About how many tokens that is.
    pub tokens: u64,
}

impl Prompt {
    /// The instructions of a request: one text, so that every provider gets the same bytes, with a cache mark at its end.
    pub fn system(&self) -> Vec<Part> {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        vec![Part { cache: Some(CacheMark::default()), ..Part::text(texts.join("\n\n")) }]
    }

    /// About how many tokens the head of a request is.
    pub fn estimate(&self) -> Estimate {
        estimate(&Request { system: self.system(), tools: self.tools.clone(), ..Request::default() })
    }
}

/// Makes the prompt. The order of the parts never changes: what differs between sessions comes last, so that they share what is before.
pub fn build(input: &PromptInput<'_>) -> Prompt {
    let gathered = input.gathered;
    let registry = &gathered.registry;
    let (names, tools) = match input.form {
        Form::Full => {
            let names = tools::full_names(registry, input.dialect);
            (names, tools::full(registry, input.dialect, &gathered.limits))
        }
        Form::Lean => (tools::lean_names(registry), tools::lean(registry, input.dialect)),
    };
    let texts = Texts::of(input.form);
    let spoken = registry.spoken(input.dialect);
    let taught = |text: &str| spoken.text(&tools::lines_for(text, &names));
    let parts = [
        ("base", gathered.role.clone().unwrap_or_else(|| texts.base.to_owned())),
        ("tools", if tools.is_empty() { String::new() } else { taught(texts.tools) }),
        ("security", texts.security.to_owned()),
        ("environment", texts.environment(&gathered.environment)),
        ("memory", texts.memory(&gathered.memory)),
        (
            "agents",
            if names.contains(&"task") { texts.agents(&gathered.agents, &taught) } else { String::new() },
        ),
        ("skills", texts.skills(&gathered.skills, &taught)),
        (
            "style",
            input
                .output_style
                .map(|style| format!("# How answers are to be written\n{style}"))
                .unwrap_or_default(),
        ),
    ];
    let parts = parts.into_iter().filter_map(|(name, text)| {
        let text = text.trim();
        (!text.is_empty()).then(|| PromptPart { name, text: text.to_owned(), tokens: tokens(text) })
    });
    Prompt { parts: parts.collect(), tools }
}

/// The texts of a form.
struct Texts {
    form: Form,
    base: &'static str,
    tools: &'static str,
    security: &'static str,
}

/// Characters of memory files that a small model is given.
const LEAN_MEMORY: usize = 600;
/// Characters of the list of skills: every request carries it.
const SKILLS: usize = 8_000;
/// The longest line of a skill.
const SKILL: usize = 250;

impl Texts {
    fn of(form: Form) -> Self {
        match form {
            Form::Full => Self {
                form,
                base: include_str!("texts/base.md"),
                tools: include_str!("texts/tools.md"),
                security: include_str!("texts/security.md"),
            },
            Form::Lean => Self {
                form,
                base: include_str!("texts/lean_base.md"),
                tools: include_str!("texts/lean_tools.md"),
                security: include_str!("texts/lean_security.md"),
            },
        }
    }

    fn environment(&self, environment: &Environment) -> String {
        match self.form {
            Form::Full => environment.text(),
            Form::Lean => environment.brief(),
        }
    }

    fn memory(&self, found: &Found) -> String {
        match self.form {
            Form::Full if found.files.is_empty() && found.below.files.is_empty() => String::new(),
            Form::Full => {
                let head = include_str!("texts/memory.md");
                format!("{head}{}{}", memory::files(&found.files), further(&found.below))
            }
            Form::Lean => lean_memory(&found.files),
        }
    }

    fn agents(&self, agents: &[AgentType], taught: &dyn Fn(&str) -> String) -> String {
        if self.form == Form::Lean || agents.is_empty() {
            return String::new();
        }
        let line = |agent: &AgentType| {
            let only = if agent.only_looks() { " Only looks." } else { "" };
            format!("- {}: {}{only}\n", one_line(&agent.name), one_line(&agent.description))
        };
        taught(include_str!("texts/agents.md")) + &agents.iter().map(line).collect::<String>()
    }

    fn skills(&self, skills: &[Skill], taught: &dyn Fn(&str) -> String) -> String {
        match self.form {
            Form::Lean => String::new(),
            Form::Full if skills.is_empty() => String::new(),
            Form::Full => {
                let mut text = taught(include_str!("texts/skills.md"));
                let mut left = SKILLS;
                for (at, skill) in skills.iter().enumerate() {
                    let line = format!("- {}: {}\n", one_line(&skill.name), one_line(&skill.description));
                    let Some(rest) = left.checked_sub(line.chars().count()) else {
                        let more = skills.len() - at;
                        text.push_str(&format!(
                            "[{more} more are not listed here; the user sees all with /skills]\n"
                        ));
                        break;
                    };
                    left = rest;
                    text.push_str(&line);
                }
                text
            }
        }
    }
}

/// Names the files that were not read.
fn further(below: &Below) -> String {
    if below.files.is_empty() {
        return String::new();
    }
    let names: Vec<String> = below.files.iter().map(|file| shown(file)).collect();
    let more = if below.more > 0 { format!(" and {} more", below.more) } else { String::new() };
    format!("Not read yet, they come when you work in their folders: {}{more}\n", names.join(", "))
}

/// The begin of the files, nearest last; the rest is for the model to read if it needs it.
fn lean_memory(files: &[MemoryFile]) -> String {
    let Some(nearest) = files.last() else { return String::new() };
    let mut cut: Vec<PathBuf> = Vec::new();
    let mut left = LEAN_MEMORY;
    let mut texts = Vec::new();
    // The nearest counts most, so it gets its room first.
    for file in files.iter().rev() {
        let text: String = file.text.chars().take(left).collect();
        left = left.saturating_sub(text.chars().count());
        if text.len() < file.text.len() {
            cut.push(file.path.clone());
        }
        texts.extend((!text.is_empty()).then_some(text));
    }
    texts.reverse();
    let rest = match cut.as_slice() {
        [] => String::new(),
        [..] => format!("\n[cut; more in {}]", shown(&nearest.path)),
    };
    format!("Notes of the user and the project:\n{}{rest}", texts.join("\n"))
}

/// A text in one line, of a bounded length, without control characters.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(SKILL) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
