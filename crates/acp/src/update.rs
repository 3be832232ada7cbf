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

/// The longest title, in characters.
const TITLE: usize = 80;

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
    /// Whether the client knows a title.
    has_title: bool,
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
        Self {
            editor,
            cwd,
            calls: BTreeMap::new(),
            message: (0, 0),
            cost_usd: 0.0,
            compactions: 0,
            has_title: false,
        }
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
            SessionEvent::Done(_) => {
                // What commands answer belongs to no step, and each answer is a message of its own.
                self.message.1 += u64::from(self.message.0 == 0);
                Vec::new()
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
            SessionEvent::Title(title) => self.titled(title),
            SessionEvent::Prompted(prompt) => {
                let line = prompt
                    .parts
                    .iter()
                    .find_map(|part| part.as_text()?.lines().map(str::trim).find(|line| !line.is_empty()));
                match line.filter(|_| !self.has_title) {
                    Some(line) => self.titled(&line.chars().take(TITLE).collect::<String>()),
                    None => Vec::new(),
                }
            }
            SessionEvent::Compacting => self.compacting(),
            SessionEvent::Compacted(compacted) => {
                let text = format!(
                    "the conversation was made shorter: {} tokens, {} now",
                    compacted.before, compacted.after
                );
                self.compacted(CompactionStatus::Completed, &text)
            }
            SessionEvent::Opened(opened) => {
                // One that goes on has its title from before.
                self.has_title = opened.resumed;
                self.notice(NoticeSeverity::Warning, opened.mended.as_deref().unwrap_or_default())
            }
            SessionEvent::Restored(_)
            | SessionEvent::Queued(_)
            | SessionEvent::Asking { .. }
            | SessionEvent::Routed(_)
            | SessionEvent::Calling { .. }
            | SessionEvent::Said { .. }
            | SessionEvent::Permission(_)
            | SessionEvent::Choice { .. }
            | SessionEvent::Withdrawn { .. }
            | SessionEvent::Shells(_)
            | SessionEvent::Offered(_)
            | SessionEvent::Mode(_)
            | SessionEvent::Model(_)
            | SessionEvent::Memory(_)
            | SessionEvent::Closed => Vec::new(),
        }
    }

    fn titled(&mut self, title: &str) -> Vec<SessionUpdate> {
        self.has_title = true;
        vec![SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.to_owned()))]
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

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::ClientCapabilities;
    use rail_model::{CallId, CallKind, ToolResult};
    use rail_proto::{AgentBegan, AgentEnded, Compacted, Finish, Prompt, Shown, Window};
    use serde_json::{Value, json};

    use super::*;
    use crate::client::Client;

    fn teller(can: Value) -> Teller {
        let can: ClientCapabilities = serde_json::from_value(can).unwrap();
        let editor = Editor::new(Arc::new(Client::new().0), "s".to_owned(), can);
        Teller::new(Arc::new(editor), "/srv".into())
    }

    fn told(teller: &mut Teller, event: SessionEvent) -> Value {
        serde_json::to_value(teller.event(&event)).unwrap()
    }

    fn text(text: &str) -> SessionEvent {
        SessionEvent::Text { step: 1, text: text.to_owned() }
    }

    fn start(id: &str, title: &str, input: Value) -> SessionEvent {
        let (id, name, title) = (id.to_owned(), title.to_owned(), title.to_owned());
        SessionEvent::ToolStart(ToolStart { step: 1, id, name, title, input })
    }

    fn end(id: &str, shown: Option<Shown>) -> SessionEvent {
        let result = ToolResult {
            id: CallId::Given(id.to_owned()),
            name: None,
            content: vec![Part::text("out")],
            is_error: None,
            kind: CallKind::Function,
        };
        let end = Finish::Done;
        SessionEvent::ToolEnd(ToolEnd { step: 1, result, success: true, end, shown, duration_ms: 1 })
    }

    #[test]
    fn an_answer_that_is_asked_for_again_is_another_message() {
        let mut teller = teller(json!({"session": {"notices": {}}}));
        assert_eq!(told(&mut teller, text("half"))[0]["messageId"], "step-1");
        let again = told(&mut teller, SessionEvent::Restarted { step: 1, why: "it broke".to_owned() });
        let notice = json!([{"sessionUpdate": "notice", "severity": "warning", "title": "the answer is asked for again: it broke"}]);
        assert_eq!(again, notice);
        assert_eq!(told(&mut teller, text("whole"))[0]["messageId"], "step-1-1");
    }

    #[test]
    fn notes_are_notices_or_thoughts() {
        let note = |kind| SessionEvent::Note { kind, text: "hm".to_owned() };
        let (mut with, mut without) = (teller(json!({"session": {"notices": {}}})), teller(json!({})));
        assert_eq!(told(&mut with, note(NoteKind::Failover))[0]["severity"], "warning");
        assert_eq!(told(&mut with, note(NoteKind::Repair))[0]["severity"], "info");
        let thought = told(&mut without, note(NoteKind::Guard));
        assert_eq!(
            (&thought[0]["sessionUpdate"], &thought[0]["content"]["text"]),
            (&json!("agent_thought_chunk"), &json!("[hm]\n"))
        );
        assert_eq!(told(&mut without, note(NoteKind::Repair)), json!([]));
    }

    #[test]
    fn what_an_agent_does_stands_with_its_call() {
        let mut teller = teller(json!({}));
        told(&mut teller, start("t", "Task", json!({"description": "Look"})));
        let (id, agent) = ("t".to_owned(), "a".to_owned());
        let (kind, description) = ("explore".to_owned(), "Look".to_owned());
        told(
            &mut teller,
            SessionEvent::AgentBegan(AgentBegan { id, agent, kind, description, model: String::new() }),
        );
        let event = Box::new(start("inner", "Read", json!({"file_path": "/srv/a"})));
        let shown = told(&mut teller, SessionEvent::AgentEvent { id: "t".to_owned(), event });
        let said = shown[0]["content"][0]["content"]["text"].as_str().unwrap();
        assert_eq!((&shown[0]["toolCallId"], said), (&json!("t"), "**Look** (explore)\n\n- Read a"));
        let ended = AgentEnded {
            id: "t".to_owned(),
            tool_uses: 1,
            tokens: 9,
            duration_ms: 2_500,
            ..AgentEnded::default()
        };
        told(&mut teller, SessionEvent::AgentEnded(ended));
        let done = told(&mut teller, end("t", None));
        let texts: Vec<&str> = done[0]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|content| content["content"]["text"].as_str().unwrap())
            .collect();
        assert_eq!(texts, ["**Look** (explore)\n\n- Read a\n\n1 calls, 9 tokens, 2 s", "out"]);
    }

    #[test]
    fn usage_plans_titles_and_compactions_are_told() {
        let mut bare = teller(json!({}));
        let window = Window { tokens: 10, limit: Some(100) };
        let spent = || SessionEvent::Spent(Spent { window, cost_usd: Some(0.5), ..Spent::default() });
        told(&mut bare, spent());
        let usage = told(&mut bare, spent());
        assert_eq!(
            usage,
            json!([{"sessionUpdate": "usage_update", "used": 10, "size": 100, "cost": {"amount": 1.0, "currency": "USD"}}])
        );
        let unknown = SessionEvent::Spent(Spent::default());
        assert_eq!(told(&mut bare, unknown), json!([]));
        let todo = Todo { content: "one".to_owned(), status: TodoStatus::Completed, active_form: None };
        assert_eq!(
            told(&mut bare, SessionEvent::Todos(vec![todo])),
            json!([{"sessionUpdate": "plan", "entries": [{"content": "one", "priority": "medium", "status": "completed"}]}])
        );
        let said = |text: &str| SessionEvent::Prompted(Prompt::text(text));
        assert_eq!(told(&mut bare, said("\n Fix it \nnow"))[0]["title"], "Fix it");
        assert_eq!(told(&mut bare, said("more")), json!([]));
        assert_eq!(told(&mut bare, SessionEvent::Title("Other".to_owned()))[0]["title"], "Other");
        let mut shows = teller(json!({"session": {"compaction": {}}}));
        let begun = told(&mut shows, SessionEvent::Compacting);
        assert_eq!(
            begun,
            json!([{"sessionUpdate": "compaction_update", "compactionId": "compaction-1", "status": "in_progress"}])
        );
        let over = told(&mut shows, SessionEvent::Compacted(Compacted::default()));
        assert_eq!(over[0]["status"], "completed");
    }
}
