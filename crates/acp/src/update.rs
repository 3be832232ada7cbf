//! What happens in a session, as updates for a client.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    CompactionStatus, CompactionUpdate, ContentBlock, ContentChunk, Cost, MessageId, Notice, NoticeSeverity,
    Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionInfoUpdate, SessionUpdate, Terminal,
    TextContent, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    UsageUpdate,
};
use rail_model::Part;
use rail_proto::{NoteKind, SessionEvent, Spent, Todo, TodoStatus, ToolEnd, ToolStart};

use crate::Editor;
use crate::calls;

/// How many lines of what an agent did are shown with the call that set it to work.
const LINES: usize = 30;

/// Makes updates of events.
pub(crate) struct Teller {
    editor: Arc<Editor>,
    cwd: PathBuf,
    /// The calls that run.
    calls: BTreeMap<String, Running>,
    /// Which of a step's answers is told: one that was given up is another message.
    message: (u64, u64),
    cost_usd: f64,
    compactions: u64,
}

/// A call that runs.
#[derive(Default)]
struct Running {
    title: String,
    /// What an agent that it set to work did.
    lines: Vec<String>,
}

impl Teller {
    pub(crate) fn new(editor: Arc<Editor>, cwd: PathBuf) -> Self {
        Self { editor, cwd, calls: BTreeMap::new(), message: (0, 0), cost_usd: 0.0, compactions: 0 }
    }

    /// What a client is told of an event. Questions and ends are answers and requests, and no updates; modes and models are told
    /// with all options.
    pub(crate) fn event(&mut self, event: &SessionEvent) -> Vec<SessionUpdate> {
        match event {
            SessionEvent::Text { step, text } => {
                vec![SessionUpdate::AgentMessageChunk(self.chunk(*step, text))]
            }
            SessionEvent::Thinking { step, text } => {
                vec![SessionUpdate::AgentThoughtChunk(self.chunk(*step, text))]
            }
            SessionEvent::Restarted { step, why } => {
                self.message = (*step, self.message.1 + 1);
                self.notice(NoticeSeverity::Warning, &format!("the answer is asked for again: {why}"))
            }
            SessionEvent::Note { kind, text } => self.note(*kind, text),
            SessionEvent::Spent(spent) => self.spent(spent),
            SessionEvent::ToolStart(start) => vec![self.started(start)],
            SessionEvent::ToolProgress { id, text } => self.progress(id, text),
            SessionEvent::ToolEnd(end) => vec![self.ended(end)],
            SessionEvent::AgentBegan(began) => {
                self.line(&began.id, format!("**{}** ({})", began.description, began.kind))
            }
            SessionEvent::AgentEvent { id, event } => self.within(id, event),
            SessionEvent::AgentEnded(ended) => {
                let took = format!(
                    "{} calls, {} tokens, {} s",
                    ended.tool_uses,
                    ended.tokens,
                    ended.duration_ms / 1000
                );
                self.line(&ended.id, took)
            }
            SessionEvent::Todos(todos) => vec![plan(todos)],
            SessionEvent::Title(title) => {
                vec![SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.clone()))]
            }
            SessionEvent::Compacting => self.compacting(),
            SessionEvent::Compacted(compacted) => {
                let text = format!(
                    "the conversation was made shorter: {} tokens, {} now",
                    compacted.before, compacted.after
                );
                self.compacted(CompactionStatus::Completed, &text)
            }
            SessionEvent::Opened(opened) => match &opened.mended {
                Some(mended) => self.notice(NoticeSeverity::Warning, mended),
                None => Vec::new(),
            },
            SessionEvent::Restored(_)
            | SessionEvent::Prompted(_)
            | SessionEvent::Queued(_)
            | SessionEvent::Asking { .. }
            | SessionEvent::Routed(_)
            | SessionEvent::Calling { .. }
            | SessionEvent::Said { .. }
            | SessionEvent::Permission(_)
            | SessionEvent::Choice { .. }
            | SessionEvent::Withdrawn { .. }
            | SessionEvent::Shells(_)
            | SessionEvent::Mode(_)
            | SessionEvent::Model(_)
            | SessionEvent::Memory(_)
            | SessionEvent::Done(_)
            | SessionEvent::Closed => Vec::new(),
        }
    }

    fn chunk(&mut self, step: u64, text: &str) -> ContentChunk {
        if self.message.0 != step {
            self.message = (step, 0);
        }
        let (step, again) = self.message;
        let id = if again == 0 { format!("step-{step}") } else { format!("step-{step}-{again}") };
        ContentChunk::new(block(text)).message_id(MessageId::new(id))
    }

    /// Something for the user that is no part of the answer. A client that has no place for it shows it among the thoughts.
    fn notice(&self, severity: NoticeSeverity, text: &str) -> Vec<SessionUpdate> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        if self.has_notices() {
            return vec![SessionUpdate::Notice(Notice::new(severity, text))];
        }
        let chunk = ContentChunk::new(block(&format!("[{text}]\n"))).message_id("notes");
        vec![SessionUpdate::AgentThoughtChunk(chunk)]
    }

    fn note(&self, kind: NoteKind, text: &str) -> Vec<SessionUpdate> {
        let severity = match kind {
            NoteKind::Failover | NoteKind::Loop | NoteKind::Guard | NoteKind::Config => {
                NoticeSeverity::Warning
            }
            NoteKind::Repair | NoteKind::Loss | NoteKind::Hook | NoteKind::Context | NoteKind::Mcp => {
                NoticeSeverity::Info
            }
        };
        match kind {
            // Those who look for them have a place for them; in the middle of thoughts they are noise.
            NoteKind::Repair | NoteKind::Loss if !self.has_notices() => Vec::new(),
            _ => self.notice(severity, text),
        }
    }

    fn has_notices(&self) -> bool {
        self.editor.can().session.as_ref().is_some_and(|session| session.notices.is_some())
    }

    fn spent(&mut self, spent: &Spent) -> Vec<SessionUpdate> {
        self.cost_usd += spent.cost_usd.unwrap_or(0.0);
        // How full something is can't be told without its size.
        let Some(size) = spent.window.limit else { return Vec::new() };
        let cost = (self.cost_usd > 0.0).then(|| Cost::new(self.cost_usd, "USD"));
        vec![SessionUpdate::UsageUpdate(UsageUpdate::new(spent.window.tokens, size).cost(cost))]
    }

    fn started(&mut self, start: &ToolStart) -> SessionUpdate {
        let ToolStart { id, name, title, input, .. } = start;
        self.editor.calls().shown(id);
        self.calls.insert(id.clone(), Running { title: title.clone(), lines: Vec::new() });
        let mut call = ToolCall::new(id.clone(), calls::title(title, input, &self.cwd));
        call.name = Some(name.clone());
        call.kind = calls::kind(title);
        call.status = ToolCallStatus::InProgress;
        call.locations = calls::locations(input, &self.cwd);
        // What a file holds now is looked at only where somebody is asked.
        call.content = calls::wanted(title, input, &self.cwd, &|_| None);
        call.raw_input = Some(input.clone());
        SessionUpdate::ToolCall(call)
    }

    fn progress(&mut self, id: &str, text: &str) -> Vec<SessionUpdate> {
        let of_agent = self.calls.get(id).is_some_and(|call| !call.lines.is_empty());
        // A terminal shows it by itself.
        if of_agent || self.editor.calls().terminal(id).is_some() || text.trim().is_empty() {
            return Vec::new();
        }
        vec![update(id, ToolCallUpdateFields::new().content(vec![calls::said(calls::fenced(text, ""))]))]
    }

    fn ended(&mut self, end: &ToolEnd) -> SessionUpdate {
        let id = end.result.id.as_str();
        let Running { title, lines } = self.calls.remove(id).unwrap_or_default();
        let mut content: Vec<ToolCallContent> = Vec::new();
        let terminal = self.editor.calls().terminal(id);
        self.editor.calls().over(id);
        if let Some(terminal) = terminal {
            content.push(ToolCallContent::Terminal(Terminal::new(terminal)));
        } else {
            content.extend((!lines.is_empty()).then(|| calls::said(lines.join("\n\n"))));
            content.extend(calls::given(&title, end.shown.as_ref(), &end.result.content));
        }
        let texts: Vec<&str> = end.result.content.iter().filter_map(Part::as_text).collect();
        let status = if end.success { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
        let changed = calls::changed(end.shown.as_ref());
        let fields = ToolCallUpdateFields::new()
            .status(status)
            .content(content)
            .locations((!changed.is_empty()).then_some(changed))
            .raw_output(serde_json::Value::from(texts.join("\n")));
        update(id, fields)
    }

    /// Something that an agent did which a call set to work.
    fn within(&mut self, id: &str, event: &SessionEvent) -> Vec<SessionUpdate> {
        match event {
            SessionEvent::ToolStart(start) => {
                let title = calls::title(&start.title, &start.input, &self.cwd);
                self.line(id, format!("- {title}"))
            }
            SessionEvent::ToolEnd(end) if !end.success => self.line(id, "- _failed_".to_owned()),
            SessionEvent::Note { text, .. } => self.line(id, format!("_{text}_")),
            SessionEvent::AgentEvent { event, .. } => self.within(id, event),
            SessionEvent::Restarted { why, .. } => self.line(id, format!("_asked again: {why}_")),
            _ => Vec::new(),
        }
    }

    fn line(&mut self, id: &str, line: String) -> Vec<SessionUpdate> {
        let Some(call) = self.calls.get_mut(id) else { return Vec::new() };
        call.lines.push(line);
        let over = call.lines.len().saturating_sub(LINES);
        call.lines.drain(..over);
        let content = vec![calls::said(call.lines.join("\n\n"))];
        vec![update(id, ToolCallUpdateFields::new().content(content))]
    }

    fn shows_compactions(&self) -> bool {
        self.editor.can().session.as_ref().is_some_and(|session| session.compaction.is_some())
    }

    fn compacting(&mut self) -> Vec<SessionUpdate> {
        self.compactions += 1;
        self.compacted(CompactionStatus::InProgress, "the conversation is being made shorter")
    }

    fn compacted(&self, status: CompactionStatus, text: &str) -> Vec<SessionUpdate> {
        if !self.shows_compactions() {
            return self.notice(NoticeSeverity::Info, text);
        }
        let id = format!("compaction-{}", self.compactions);
        vec![SessionUpdate::CompactionUpdate(CompactionUpdate::new(id, status))]
    }
}

/// A text as content.
pub(crate) fn block(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

pub(crate) fn update(id: &str, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.to_owned(), fields))
}

/// The list of things to do.
pub(crate) fn plan(todos: &[Todo]) -> SessionUpdate {
    let entry = |todo: &Todo| {
        let status = match todo.status {
            TodoStatus::Pending => PlanEntryStatus::Pending,
            TodoStatus::InProgress => PlanEntryStatus::InProgress,
            TodoStatus::Completed => PlanEntryStatus::Completed,
        };
        PlanEntry::new(todo.content.clone(), PlanEntryPriority::Medium, status)
    };
    SessionUpdate::Plan(Plan::new(todos.iter().map(entry).collect()))
}
