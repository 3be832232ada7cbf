//! The conversation: what happened becomes finished lines, what happens now is shown below them.

mod now;

use std::collections::VecDeque;
use std::time::Duration;

use rail_model::{Part, PartBody};
use rail_proto::{
    AgentBegan, AgentEnded, Done, NoteKind, Opened, Prompt, Reason, Restored, SessionEvent, ToolEnd,
    ToolStart,
};

use crate::call::{self, Extent, about, under};
use crate::figures::{count, dollars, time, tokens};
use crate::markdown::{self, Markdown};
use crate::text::{Line, Look, Role, Span};

/// How many lines of what the user said are shown when not all are: what commands and pastes make of it can be long.
const PROMPT: usize = 12;

/// How many calls of an agent are remembered to be looked at.
const DID: usize = 10;

/// The conversation so far.
pub(crate) struct Talk {
    pub(crate) extent: Extent,
    pub(crate) width: usize,
    answer: Option<Answer>,
    /// Whether the answer's text has come in pieces, so that it need not be shown once more when it is whole.
    heard: bool,
    thought: Option<Thought>,
    calls: Vec<Call>,
    agents: Vec<Agent>,
    /// The calls whose agents have ended; what these took is shown, and their calls have yet to end.
    told: Vec<String>,
    /// The last result, to be shown in the other form.
    last: Option<(Option<ToolStart>, ToolEnd)>,
    finished: Vec<Line>,
    /// While a question is open: how many of the finished lines stand above its answer. The others wait for it, so that what was asked and
    /// what was answered stay together.
    held: Option<usize>,
    before: Kind,
}

/// An answer that streams in.
#[derive(Default)]
struct Answer {
    markdown: Markdown,
    /// Whether some of it is finished.
    begun: bool,
}

/// Reasoning that streams in.
struct Thought {
    text: String,
    since: Duration,
}

/// A call that runs, or that the model still writes.
struct Call {
    start: ToolStart,
    since: Duration,
    progress: Option<String>,
}

/// An agent that a call set to work.
pub(crate) struct Agent {
    pub(crate) began: AgentBegan,
    pub(crate) since: Duration,
    pub(crate) tool_uses: u64,
    pub(crate) tokens: u64,
    /// The ids of its calls, whose questions are its own.
    calls: Vec<String>,
    /// Its last calls.
    pub(crate) did: VecDeque<String>,
    /// What it does now.
    pub(crate) doing: String,
}

/// What stands above: between what is alike there is no empty line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Said,
    Call,
    Note,
}

impl Talk {
    pub(crate) fn new(extent: Extent, width: usize) -> Self {
        Self {
            extent,
            width,
            answer: None,
            heard: false,
            thought: None,
            calls: Vec::new(),
            agents: Vec::new(),
            told: Vec::new(),
            last: None,
            finished: Vec::new(),
            held: None,
            before: Kind::Nothing,
        }
    }

    /// Nothing runs any more.
    pub(crate) fn rest(&mut self) {
        self.calls.clear();
        self.agents.clear();
        self.told.clear();
    }

    /// The lines that were finished since the last time.
    pub(crate) fn take_finished(&mut self) -> Vec<Line> {
        let waiting = self.held.as_mut().map(|above| self.finished.split_off(std::mem::take(above)));
        std::mem::replace(&mut self.finished, waiting.unwrap_or_default())
    }

    /// What is finished from here on waits below the question that was shown last.
    pub(crate) fn hold(&mut self) {
        self.held = Some(self.finished.len());
    }

    /// Nothing waits any more.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// The answer to the question that was shown last, right below it; what has waited for it follows.
    pub(crate) fn answered(&mut self, lines: Vec<Line>) {
        let waiting = self.finished.split_off(self.held.take().unwrap_or(self.finished.len()));
        self.finished.extend(lines);
        self.finished.extend(waiting);
    }

    pub(crate) fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agent whose call a question is about, if it is not the conversation's own.
    pub(crate) fn asker(&self, call: &str) -> Option<String> {
        let agent = self.agents.iter().find(|agent| agent.calls.iter().any(|own| own == call))?;
        Some(format!("{}: {}", agent.began.kind, agent.began.description))
    }

    /// Something happened. What is no part of the conversation changes nothing here.
    pub(crate) fn event(&mut self, event: &SessionEvent, now: Duration) {
        match event {
            SessionEvent::Opened(opened) => self.opened(opened),
            SessionEvent::Prompted(prompt) => self.prompted(prompt),
            SessionEvent::Note { kind, text } => self.noted(*kind, text),
            SessionEvent::Text { text, .. } => self.text(text, now),
            SessionEvent::Thinking { text, .. } => self.thinking(text, now),
            SessionEvent::Calling { .. } => {
                self.thought_over(now);
                self.answer_over();
            }
            SessionEvent::Restarted { why, .. } => self.restarted(why),
            SessionEvent::Said { message, .. } => self.said(&message.parts, now),
            SessionEvent::ToolStart(start) => {
                self.answer_over();
                self.calls.push(Call { start: start.clone(), since: now, progress: None });
            }
            SessionEvent::ToolProgress { id, text } => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.start.id == *id) {
                    call.progress = Some(text.clone());
                }
            }
            SessionEvent::ToolEnd(end) => self.ended(end),
            SessionEvent::AgentBegan(began) => self.agents.push(Agent {
                began: began.clone(),
                since: now,
                tool_uses: 0,
                tokens: 0,
                calls: Vec::new(),
                did: VecDeque::new(),
                doing: "begins".to_owned(),
            }),
            SessionEvent::AgentEvent { id, event } => self.agent_event(id, event),
            SessionEvent::AgentEnded(ended) => self.agent_ended(ended),
            SessionEvent::Compacted(compacted) => {
                let by =
                    compacted.by.as_ref().map_or("cut without a summary".to_owned(), |by| format!("by {by}"));
                let (before, after) = (tokens(compacted.before), tokens(compacted.after));
                self.note(
                    &format!("The conversation is shorter now: {before} → {after} tokens, {by}"),
                    Role::Faint,
                );
            }
            SessionEvent::Restored(restored) => self.restored(restored),
            SessionEvent::Memory(memory) => {
                if self.extent == Extent::Verbose {
                    self.note(
                        &format!("read {} ({} tokens)", memory.path, tokens(memory.tokens)),
                        Role::Faint,
                    );
                }
            }
            SessionEvent::Done(done) => self.done(done, now),
            SessionEvent::Queued(_)
            | SessionEvent::Asking { .. }
            | SessionEvent::Routed(_)
            | SessionEvent::Spent(_)
            | SessionEvent::Permission(_)
            | SessionEvent::Choice { .. }
            | SessionEvent::Withdrawn { .. }
            | SessionEvent::Shells(_)
            | SessionEvent::Offered(_)
            | SessionEvent::Todos(_)
            | SessionEvent::Mode(_)
            | SessionEvent::Model(_)
            | SessionEvent::Title(_)
            | SessionEvent::Compacting
            | SessionEvent::Closed => {}
        }
    }

    /// What the program itself says, in Markdown.
    pub(crate) fn say(&mut self, text: &str) {
        let lines = markdown::render(text, self.width);
        self.block(Kind::Said, lines);
    }

    /// A line about what happened.
    pub(crate) fn note(&mut self, text: &str, role: Role) {
        let line = |line: &str| Line::hanging([Span::new(line, role)], Vec::new());
        self.block(Kind::Note, text.lines().map(line).collect());
    }

    /// Lines of whatever is shown, as a block of its own.
    pub(crate) fn show(&mut self, lines: Vec<Line>) {
        self.block(Kind::Said, lines);
    }

    /// The first line; where the session is opened stands right below it.
    pub(crate) fn head(&mut self, line: Line) {
        self.block(Kind::Note, vec![line]);
    }

    /// The last result once more, in the form that is in force now.
    pub(crate) fn show_last(&mut self) {
        if let Some((start, end)) = &self.last {
            let lines = call::ended(start.as_ref(), end, self.extent);
            self.block(Kind::Call, lines);
        }
    }

    fn block(&mut self, kind: Kind, lines: Vec<Line>) {
        if lines.is_empty() {
            return;
        }
        let tight = self.before == Kind::Nothing || (self.before == kind && kind != Kind::Said);
        if !tight {
            self.finished.push(Line::empty());
        }
        self.finished.extend(lines);
        self.before = kind;
    }

    fn opened(&mut self, opened: &Opened) {
        if let Some(mended) = &opened.mended {
            self.note(mended, Role::Warning);
        }
    }

    fn prompted(&mut self, prompt: &Prompt) {
        // The user's words come first; files that they name, and whatever else is attached, behind them.
        let text = prompt.parts.iter().find_map(Part::as_text).unwrap_or_default();
        let attached = prompt.parts.iter().skip(1).filter(|part| is_shown(part)).count();
        let mut lines = user_lines(text);
        let hidden = lines.len().saturating_sub(PROMPT);
        if hidden > 1 && self.extent == Extent::Condensed {
            lines.truncate(PROMPT);
            lines.push(Line::of(format!("  … {}", count(hidden, "more line")), Role::Faint));
        }
        if attached > 0 {
            lines.push(Line::of(format!("  with {}", count(attached, "attachment")), Role::Faint));
        }
        self.block(Kind::Said, lines);
    }

    fn noted(&mut self, kind: NoteKind, text: &str) {
        let role = match kind {
            NoteKind::Repair | NoteKind::Loss => {
                if self.extent == Extent::Condensed {
                    return;
                }
                Role::Faint
            }
            NoteKind::Failover | NoteKind::Context | NoteKind::Mcp => Role::Faint,
            NoteKind::Hook | NoteKind::Loop | NoteKind::Guard | NoteKind::Config => Role::Warning,
        };
        self.note(text, role);
    }

    fn text(&mut self, text: &str, now: Duration) {
        self.thought_over(now);
        self.heard = true;
        let mut answer = self.answer.take().unwrap_or_default();
        let lines = answer.markdown.push(text, self.width);
        self.stream(lines, &mut answer.begun);
        self.answer = Some(answer);
    }

    /// Lines of an answer, which is one block however it comes.
    fn stream(&mut self, lines: Vec<Line>, begun: &mut bool) {
        if lines.is_empty() {
            return;
        }
        if *begun {
            self.finished.extend(lines);
        } else {
            self.block(Kind::Said, lines);
            *begun = true;
        }
    }

    fn thinking(&mut self, text: &str, now: Duration) {
        let thought = self.thought.get_or_insert_with(|| Thought { text: String::new(), since: now });
        thought.text.push_str(text);
    }

    fn thought_over(&mut self, now: Duration) {
        let Some(thought) = self.thought.take() else { return };
        match self.extent {
            Extent::Condensed => {
                let took = time(now.saturating_sub(thought.since));
                self.note(&format!("thought for {took}"), Role::Faint);
            }
            Extent::Verbose => {
                let look = Look::of(Role::Faint).italic();
                let line = |line: &str| Line::words([Span::new(line, look)]);
                self.block(Kind::Said, thought.text.trim().lines().map(line).collect());
            }
        }
    }

    fn answer_over(&mut self) {
        if let Some(mut answer) = self.answer.take() {
            let lines = answer.markdown.finish(self.width);
            self.stream(lines, &mut answer.begun);
        }
    }

    fn restarted(&mut self, why: &str) {
        let begun = self.answer.take().is_some_and(|answer| answer.begun);
        self.thought = None;
        self.heard = false;
        let void = if begun { "; what was begun above is void" } else { "" };
        self.note(&format!("asked again: {why}{void}"), Role::Warning);
    }

    fn said(&mut self, parts: &[Part], now: Duration) {
        self.thought_over(now);
        self.answer_over();
        if !std::mem::take(&mut self.heard) {
            for text in parts.iter().filter_map(Part::as_text).filter(|text| !text.trim().is_empty()) {
                self.say(text);
            }
        }
    }

    fn ended(&mut self, end: &ToolEnd) {
        let id = end.result.id.as_str();
        let at = self.calls.iter().position(|call| call.start.id == id);
        let start = at.map(|at| self.calls.remove(at).start);
        let told = self.told.iter().position(|told| told == id).map(|at| self.told.remove(at)).is_some();
        // The lines of an agent say what became of its call.
        if !(told && end.success && self.extent == Extent::Condensed) {
            let lines = call::ended(start.as_ref(), end, self.extent);
            self.block(Kind::Call, lines);
        }
        self.last = Some((start, end.clone()));
    }

    fn agent_event(&mut self, id: &str, event: &SessionEvent) {
        let Some(agent) = self.agents.iter_mut().find(|agent| agent.began.id == id) else { return };
        // What its own agents take is counted where they are.
        match event {
            SessionEvent::ToolStart(start) => {
                agent.tool_uses += 1;
                agent.calls.push(start.id.clone());
                let name = if start.title.is_empty() { &start.name } else { &start.title };
                agent.doing = format!("{name} {}", about(&start.input));
                agent.did.push_back(agent.doing.clone());
                if agent.did.len() > DID {
                    agent.did.pop_front();
                }
            }
            SessionEvent::Spent(spent) => {
                agent.tokens += spent.usage.input.unwrap_or(0) + spent.usage.output.unwrap_or(0);
            }
            SessionEvent::Thinking { .. } => agent.doing = "thinks".to_owned(),
            SessionEvent::Text { text, .. } if !text.trim().is_empty() => agent.doing = "writes".to_owned(),
            _ => {}
        }
    }

    fn agent_ended(&mut self, ended: &AgentEnded) {
        let Some(at) = self.agents.iter().position(|agent| agent.began.id == ended.id) else { return };
        let Agent { began, .. } = self.agents.remove(at);
        self.told.push(ended.id.clone());
        let AgentEnded { tool_uses, cost_usd, duration_ms, reason, .. } = ended;
        let mut figures = vec![
            count(usize::try_from(*tool_uses).unwrap_or(usize::MAX), "tool use"),
            format!("{} tokens", tokens(ended.tokens)),
        ];
        if *cost_usd > 0.0 {
            figures.push(dollars(*cost_usd));
        }
        figures.push(time(Duration::from_millis(*duration_ms)));
        let (role, why) = ending(*reason);
        figures.extend(why.map(str::to_owned));
        let head = [
            Span::new("• ", role),
            Span::new(began.kind, Look::default().bold()),
            Span::plain(format!(" {}", began.description)),
        ];
        let mut lines = vec![Line::hanging(head, vec![Span::plain("  ")])];
        lines.extend(under(vec![Line::of(figures.join(" · "), Role::Faint)]));
        self.block(Kind::Call, lines);
    }

    fn restored(&mut self, restored: &Restored) {
        let Restored { files, conflicts, before_turn, refused } = restored;
        if let Some(why) = refused {
            return self.note(why, Role::Warning);
        }
        let mut lines: Vec<Line> =
            files.iter().map(|file| Line::of(format!("restored {file}"), Role::Good)).collect();
        let left = |file: &String| {
            Line::of(format!("left alone, since somebody else changed it: {file}"), Role::Warning)
        };
        lines.extend(conflicts.iter().map(left));
        if let Some(turn) = before_turn {
            lines.push(Line::of(format!("the conversation ends before message {turn}"), Role::Faint));
        }
        if lines.is_empty() {
            lines.push(Line::of("no file had to be changed", Role::Faint));
        }
        self.block(Kind::Said, lines);
    }

    fn done(&mut self, done: &Done, now: Duration) {
        self.thought_over(now);
        self.answer_over();
        self.rest();
        self.heard = false;
        let (role, why) = ending(done.reason);
        if let Some(why) = why {
            let text =
                if done.text.trim().is_empty() { String::new() } else { format!(": {}", done.text.trim()) };
            self.note(&format!("{why}{text}"), role);
        }
        for (tool, rule) in &done.denials {
            self.note(&format!("{tool} was not allowed; {rule}"), Role::Warning);
        }
        let mut figures = vec![time(Duration::from_millis(done.duration_ms))];
        if done.turns > 0 {
            figures.push(count(usize::try_from(done.turns).unwrap_or(usize::MAX), "turn"));
        }
        if done.cost_usd > 0.0 {
            figures.push(dollars(done.cost_usd));
        }
        self.block(Kind::Said, vec![Line::of(format!("─ {}", figures.join(" · ")), Role::Faint)]);
    }
}

/// Whether a part is something by itself, and not a line about what follows.
fn is_shown(part: &Part) -> bool {
    match &part.body {
        PartBody::Media(_) => true,
        PartBody::Text(text) => !text.trim().is_empty(),
        _ => false,
    }
}

/// What the user said.
pub(crate) fn user_lines(text: &str) -> Vec<Line> {
    let sign = |at| if at == 0 { "› " } else { "  " };
    let line = |(at, line): (usize, &str)| {
        let spans = [Span::new(sign(at), Role::Accent), Span::new(line, Role::User)];
        Line::hanging(spans, vec![Span::plain("  ")])
    };
    text.lines().enumerate().map(line).collect()
}

/// How an end is shown, and in which words if it is no answer.
fn ending(reason: Reason) -> (Role, Option<&'static str>) {
    match reason {
        Reason::Answered => (Role::Good, None),
        Reason::TurnLimit => (Role::Warning, Some("stopped: no more turns are allowed")),
        Reason::Budget => (Role::Warning, Some("stopped: the budget is used up")),
        Reason::Refused => (Role::Warning, Some("refused")),
        Reason::Interrupted => (Role::Warning, Some("interrupted")),
        Reason::Failed => (Role::Bad, Some("failed")),
    }
}
