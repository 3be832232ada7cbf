use std::time::Duration;

use rail_model::{Part, PartBody};
use rail_proto::{Done, Reason, SessionEvent};
use rail_tool::AgentDone;

/// What an agent has done so far, from its events.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) tool_uses: u64,
    pub(crate) tokens: u64,
    pub(crate) cost_usd: f64,
    /// The last text that the model said.
    pub(crate) said: String,
    /// What it does at this moment.
    pub(crate) now: String,
    pub(crate) done: Option<Done>,
}

/// The longest words on what an agent does.
const NOW: usize = 80;

impl Figures {
    /// Takes in an event; says whether the figures are others now.
    pub(crate) fn saw(&mut self, event: &SessionEvent) -> bool {
        match event {
            SessionEvent::ToolStart(start) => {
                self.tool_uses += 1;
                self.now = doing(&start.title, &start.input);
                true
            }
            SessionEvent::Spent(spent) => {
                self.tokens = self.tokens.saturating_add(spent.usage.total());
                self.cost_usd += spent.cost_usd.unwrap_or_default();
                true
            }
            SessionEvent::AgentEnded(ended) => {
                self.tool_uses += ended.tool_uses;
                self.tokens = self.tokens.saturating_add(ended.tokens);
                self.cost_usd += ended.cost_usd;
                true
            }
            SessionEvent::Said { message, .. } => {
                let texts: Vec<&str> = message.parts.iter().filter_map(text).collect();
                if !texts.is_empty() {
                    self.said = texts.join("\n");
                }
                false
            }
            SessionEvent::Done(done) => {
                self.done = Some(done.clone());
                false
            }
            _ => false,
        }
    }

    /// What it has done in all, with what it said last.
    pub(crate) fn into_done(self, duration_ms: u64) -> AgentDone {
        let Self { tool_uses, tokens, cost_usd, said, .. } = self;
        let took = Duration::from_millis(duration_ms);
        AgentDone { text: said, cut: None, tool_uses, tokens, cost_usd, took }
    }

    /// Why it ended.
    pub(crate) fn reason(&self) -> Reason {
        self.done.as_ref().map_or(Reason::Interrupted, |done| done.reason)
    }
}

fn text(part: &Part) -> Option<&str> {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// A call in a few words: the tool's name for people, and the first text that it is given.
fn doing(title: &str, input: &serde_json::Value) -> String {
    let first = input.as_object().and_then(|fields| fields.values().find_map(serde_json::Value::as_str));
    let line = first.unwrap_or_default().lines().next().unwrap_or_default();
    let short: String = line.chars().take(NOW).collect();
    let more = if short.len() < line.len() { "…" } else { "" };
    format!("{title} {short}{more}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use rail_proto::{AgentEnded, Spent, ToolStart};
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_those_of_the_agent_and_of_its_own_agents() {
        let mut figures = Figures::default();
        let start = ToolStart {
            title: "Read".to_owned(),
            input: json!({"limit": 3, "file_path": "/a/b.rs"}),
            ..ToolStart::default()
        };
        assert!(figures.saw(&SessionEvent::ToolStart(start)));
        let usage = rail_model::Usage { input: Some(100), output: Some(20), ..Default::default() };
        figures.saw(&SessionEvent::Spent(Spent { usage, cost_usd: Some(0.5), ..Spent::default() }));
        let ended = AgentEnded { tool_uses: 4, tokens: 1_000, cost_usd: 0.25, ..AgentEnded::default() };
        figures.saw(&SessionEvent::AgentEnded(ended));
        assert_eq!((figures.tool_uses, figures.tokens, figures.cost_usd), (5, 1_120, 0.75));
        assert_eq!(figures.now, "Read /a/b.rs");
        assert_eq!(figures.reason(), Reason::Interrupted);
    }

    #[test]
    fn what_it_does_is_one_short_line() {
        let long = "x".repeat(200);
        let shown = doing("Bash", &json!({"command": format!("{long}\nmore")}));
        assert_eq!(shown, format!("Bash {}…", "x".repeat(80)));
        assert_eq!(doing("Todos", &json!({"todos": []})), "Todos");
        assert_eq!(doing("Odd", &json!(3)), "Odd");
    }
}
