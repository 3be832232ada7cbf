//! What happens now, below what is finished.

use std::time::Duration;

use super::{Agent, Call, Kind, Talk};
use crate::call::{self, Extent, one_line, under};
use crate::figures::{count, seconds, tokens};
use crate::markdown;
use crate::text::{Line, Look, Role, Span};

impl Talk {
    /// What happens now: the end of the answer, and the calls that run.
    pub(crate) fn now(&self, now: Duration, at_most: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(answer) = &self.answer {
            let open = answer.markdown.open_end(self.width, at_most);
            if !open.is_empty() && !answer.begun && self.before != Kind::Nothing {
                lines.push(Line::empty());
            }
            lines.extend(last(open, at_most));
        }
        if let Some(thought) = &self.thought {
            let line = thought.text.trim_end().lines().next_back().unwrap_or_default();
            let look = Look::of(Role::Faint).italic();
            if self.before != Kind::Nothing {
                lines.push(Line::empty());
            }
            let text = match self.extent {
                Extent::Condensed => one_line(line),
                Extent::Verbose => markdown::end_of(line, 2 * self.width * at_most.max(1)).into_owned(),
            };
            lines.push(Line::words([Span::new(text, look)]));
        }
        let quiet = |call: &&Call| {
            let id = &call.start.id;
            !(self.told.contains(id) || self.agents.iter().any(|agent| agent.began.id == *id))
        };
        let calls: Vec<&Call> = self.calls.iter().filter(quiet).collect();
        if !(calls.is_empty() && self.agents.is_empty())
            && (self.before != Kind::Nothing || !lines.is_empty())
        {
            lines.push(Line::empty());
        }
        for call in calls {
            lines.extend(running(call, now, self.width));
        }
        for agent in &self.agents {
            lines.extend(working(agent, now, self.width));
        }
        last(lines, at_most)
    }
}

/// The last lines.
fn last(mut lines: Vec<Line>, at_most: usize) -> Vec<Line> {
    let hidden = lines.len().saturating_sub(at_most);
    lines.drain(..hidden);
    lines
}

fn running(call: &Call, now: Duration, width: usize) -> Vec<Line> {
    let mut head = vec![Span::new("◦ ", Role::Accent)];
    head.extend(call::title(&call.start));
    let passed = now.saturating_sub(call.since);
    if passed >= Duration::from_secs(1) {
        head.push(Span::new(format!(" {}", seconds(passed)), Role::Faint));
    }
    let mut lines = vec![Line::hanging(head, vec![Span::plain("  ")])];
    if let Some(progress) = &call.progress {
        let line = progress.trim_end().lines().next_back().unwrap_or_default();
        lines.extend(in_short(one_line(line), width));
    }
    lines
}

/// One row below a head.
fn in_short(text: String, width: usize) -> impl Iterator<Item = Line> {
    under(vec![Line::of(text, Role::Faint)]).into_iter().map(move |line| line.cut(width))
}

fn working(agent: &Agent, now: Duration, width: usize) -> Vec<Line> {
    let head = [
        Span::new("◦ ", Role::Accent),
        Span::new(&agent.began.kind, Look::default().bold()),
        Span::plain(format!(" {}", agent.began.description)),
    ];
    let uses = count(usize::try_from(agent.tool_uses).unwrap_or(usize::MAX), "tool use");
    let passed = seconds(now.saturating_sub(agent.since));
    let doing = format!("{uses} · {} tokens · {passed} · {}", tokens(agent.tokens), one_line(&agent.doing));
    let mut lines = vec![Line::hanging(head, vec![Span::plain("  ")])];
    lines.extend(in_short(doing, width));
    lines
}
