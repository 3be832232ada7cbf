use std::fmt;

use serde::Serialize;

use crate::figures::{count, tokens};
use crate::{Facts, Plan, RulePurpose, ThinkingAsked};

/// A plan and the facts behind it, as it is shown: as JSON, and as text through `Display`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explanation {
    /// The model name that was asked for.
    pub asked: String,
    /// The virtual model; None when a target was asked for by name.
    pub virtual_model: Option<String>,
    /// Why this virtual model or this target.
    pub why: String,
    /// What the request is.
    pub facts: FactsShown,
    /// What is tried, in this order.
    pub attempts: Vec<Reasoned>,
    /// What could have been tried and is not.
    pub skipped: Vec<Reasoned>,
}

/// The facts of a request, as they are shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FactsShown {
    /// Tokens of input, as estimated.
    pub tokens: u64,
    /// Tokens of output asked for.
    pub max_output: Option<u64>,
    /// Images anywhere in the conversation.
    pub images: usize,
    /// Images in the last user turn.
    pub last_images: usize,
    /// The read tool just called on an image file.
    pub image_read: Option<String>,
    /// Declared tools.
    pub tools: usize,
    /// Those that are web tools.
    pub web_tools: usize,
    /// Those that are image tools.
    pub image_tools: usize,
    /// The provider's own web search.
    pub server_search: Option<String>,
    /// A web tool that the last assistant turn called.
    pub web_called: Option<String>,
    /// Whether thinking is asked for explicitly.
    pub thinking: bool,
    /// All that is said of thinking: `unsaid`, `off`, `said` or `explicit`.
    pub thinking_asked: &'static str,
    /// Whether the last user turn holds tool results.
    pub in_tool_loop: bool,
    /// Why the request is made: `main`, `sub-agent` or `background`.
    pub purpose: &'static str,
    /// The client's name.
    pub client: String,
    /// The conversation, as a key without meaning.
    pub session: String,
}

/// A target and the reason given for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reasoned {
    /// The target, written `provider,model`.
    pub target: String,
    /// The reason.
    pub why: String,
}

/// Explains a plan that was made from these facts.
pub fn explain(plan: &Plan, facts: &Facts<'_>) -> Explanation {
    let reasoned = |target: String, why: &str| Reasoned { target, why: why.to_owned() };
    Explanation {
        asked: plan.asked.clone(),
        virtual_model: plan.virtual_model.clone(),
        why: plan.why.clone(),
        facts: FactsShown::from(facts),
        attempts: plan.attempts.iter().map(|one| reasoned(one.target.to_string(), &one.why)).collect(),
        skipped: plan.skipped.iter().map(|one| reasoned(one.target.to_string(), &one.why)).collect(),
    }
}

impl From<&Facts<'_>> for FactsShown {
    fn from(facts: &Facts<'_>) -> Self {
        Self {
            tokens: facts.tokens,
            max_output: facts.max_output,
            images: facts.images,
            last_images: facts.last_images,
            image_read: facts.image_read.map(str::to_owned),
            tools: facts.tools.len(),
            web_tools: facts.kinds.web,
            image_tools: facts.kinds.image,
            server_search: facts.server_search.map(str::to_owned),
            web_called: facts.web_called.map(str::to_owned),
            thinking: facts.thinking == ThinkingAsked::Explicit,
            thinking_asked: match facts.thinking {
                ThinkingAsked::Unsaid => "unsaid",
                ThinkingAsked::Off => "off",
                ThinkingAsked::Said => "said",
                ThinkingAsked::Explicit => "explicit",
            },
            in_tool_loop: facts.in_tool_loop,
            purpose: RulePurpose::from(facts.purpose).word(),
            client: facts.client.to_owned(),
            session: facts.session.to_string(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked for  {}", if self.asked.is_empty() { "nothing" } else { &self.asked })?;
        writeln!(f, "taken for  {}", self.virtual_model.as_deref().unwrap_or("a target"))?;
        writeln!(f, "why        {}", self.why)?;
        writeln!(f, "facts      {}", self.facts)?;
        let targets = self.attempts.iter().chain(&self.skipped);
        let wide = targets.map(|one| one.target.chars().count()).max().unwrap_or_default();
        for (at, Reasoned { target, why }) in self.attempts.iter().enumerate() {
            writeln!(f, "{:<11}{}. {target:<wide$}  {why}", if at == 0 { "attempts" } else { "" }, at + 1)?;
        }
        if self.attempts.is_empty() {
            let why = match self.skipped.is_empty() {
                true => "no chain has a target for it; write `default` under [router]",
                false => "no target is left",
            };
            writeln!(f, "attempts   none: {why}")?;
        }
        for (at, Reasoned { target, why }) in self.skipped.iter().enumerate() {
            writeln!(f, "{:<11}-  {target:<wide$}  {why}", if at == 0 { "skipped" } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for FactsShown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", tokens(self.tokens), count(self.images, "image"))?;
        write!(f, ", {}", count(self.tools, "tool"))?;
        match (self.web_tools, self.image_tools) {
            (0, 0) => {}
            (web, 0) => write!(f, " ({web} web)")?,
            (0, image) => write!(f, " ({image} image)")?,
            (web, image) => write!(f, " ({web} web, {image} image)")?,
        }
        write!(f, ", thinking {}", self.thinking_asked)?;
        if self.in_tool_loop {
            f.write_str(", in a tool loop")?;
        }
        if self.purpose != RulePurpose::Main.word() {
            write!(f, ", {}", self.purpose)?;
        }
        if !self.client.is_empty() {
            write!(f, ", from {}", self.client)?;
        }
        Ok(())
    }
}
