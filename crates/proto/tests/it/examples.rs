//! One event of each type.

use rail_model::{CallId, CallKind, Message, Part, PartBody, Role, ToolCall, ToolResult, Usage};
use rail_proto::{
    About, AgentBegan, AgentEnded, Choice, ChoiceOption, Choices, Compacted, Doing, Done, FileChange, Finish,
    Hunk, Leave, Line, Mark, Memory, Mode, NoteKind, Offered, OfferedCommand, OfferedResource, Opened,
    PermissionAsk, Pick, Prompt, Reason, Restored, Routed, SessionEvent, Shell, ShellState, Shown, Spent,
    Todo, TodoStatus, ToolEnd, ToolStart, Window,
};
use serde_json::json;

const CALL: &str = "call_1";

pub(crate) fn examples() -> Vec<SessionEvent> {
    let mut all = answers();
    all.extend(calls());
    all.extend(changes());
    all
}

/// How a session begins, and what a model says.
fn answers() -> Vec<SessionEvent> {
    vec![
        SessionEvent::Opened(Opened {
            id: "01a1e655-3e16-7612-8f6f-cabcce4c86d7".to_owned(),
            cwd: "/srv/project".to_owned(),
            tools: vec!["Bash".to_owned(), "Edit".to_owned()],
            commands: vec!["compact".to_owned(), "undo".to_owned()],
            agents: vec!["general-purpose".to_owned()],
            skills: vec!["release-notes".to_owned()],
            ..Opened::default()
        }),
        SessionEvent::Prompted(Prompt::text("Say hello.")),
        SessionEvent::Queued(Prompt::text("And then the tests.")),
        SessionEvent::Asking { step: 1 },
        SessionEvent::Routed(Routed {
            step: 1,
            virtual_model: Some("coding".to_owned()),
            why: "18 of 18 declared tools are neither web nor image tools".to_owned(),
            target: "good,m".to_owned(),
            failed: vec![("broken,m".to_owned(), "out of order".to_owned())],
            ..Routed::default()
        }),
        SessionEvent::Note { kind: NoteKind::Failover, text: "broken,m failed: out of order".to_owned() },
        SessionEvent::Text { step: 1, text: "I look ".to_owned() },
        SessionEvent::Thinking { step: 1, text: "The file first.".to_owned() },
        SessionEvent::Calling { step: 1, name: "Edit".to_owned() },
        SessionEvent::Restarted { step: 1, why: "the stream stalled".to_owned() },
        SessionEvent::Said {
            step: 1,
            message: Message::new(Role::Assistant, vec![Part::text("I look first."), call()]),
        },
        SessionEvent::Spent(Spent {
            step: 1,
            target: "good,m".to_owned(),
            usage: Usage { input: Some(900), cache_read: Some(4000), output: Some(40), ..Usage::default() },
            cost_usd: Some(0.0123),
            window: Window { tokens: 4940, limit: Some(200_000) },
            duration_ms: 1840,
            aside: None,
        }),
    ]
}

fn call() -> Part {
    Part::new(PartBody::ToolCall(ToolCall {
        id: CallId::Given(CALL.to_owned()),
        name: "Edit".to_owned(),
        arguments: json!({"file_path": "a.rs", "old_string": "hi", "new_string": "hello"}).to_string(),
        kind: CallKind::Function,
    }))
}

/// What becomes of calls.
fn calls() -> Vec<SessionEvent> {
    let line = |mark, text: &str| Line { mark, text: text.to_owned() };
    let hunk = Hunk {
        old_start: 1,
        new_start: 1,
        lines: vec![line(Mark::Removed, "hi"), line(Mark::Added, "hello")],
    };
    let file = FileChange {
        path: "/srv/project/a.rs".to_owned(),
        moved_from: None,
        hunks: vec![hunk],
        added: 1,
        removed: 1,
    };
    let result = ToolResult {
        id: CallId::Given(CALL.to_owned()),
        name: Some("Edit".to_owned()),
        content: vec![Part::text("`a.rs` was changed at line 1")],
        is_error: Some(false),
        kind: CallKind::Function,
    };
    vec![
        SessionEvent::ToolStart(ToolStart {
            step: 1,
            id: CALL.to_owned(),
            name: "Edit".to_owned(),
            title: "Edit".to_owned(),
            input: json!({"file_path": "a.rs", "old_string": "hi", "new_string": "hello"}),
        }),
        SessionEvent::Permission(PermissionAsk {
            id: CALL.to_owned(),
            tool: "bash".to_owned(),
            input: json!({"command": "touch made.txt"}),
            doing: vec![Doing::Runs("touch made.txt".to_owned())],
            changes: Vec::new(),
            why: "running a command asks".to_owned(),
            always_asks: false,
            offers: vec![Leave {
                rules: vec!["Bash(touch:*)".to_owned()],
                says: "lets the agent run `touch`".to_owned(),
            }],
            without_anybody: "allow it by `--allow 'Bash(touch:*)'`".to_owned(),
        }),
        SessionEvent::Choice { id: CALL.to_owned(), choices: choices() },
        SessionEvent::Withdrawn { id: CALL.to_owned() },
        SessionEvent::ToolProgress { id: CALL.to_owned(), text: "Compiling".to_owned() },
        SessionEvent::ToolEnd(ToolEnd {
            step: 1,
            result,
            success: true,
            end: Finish::Done,
            shown: Some(Shown::Diff { files: vec![file], lines: 10 }),
            duration_ms: 3,
        }),
        SessionEvent::Todos(vec![Todo {
            content: "Fix the parser".to_owned(),
            status: TodoStatus::InProgress,
            active_form: Some("Fixing the parser".to_owned()),
        }]),
        SessionEvent::Offered(Offered {
            commands: vec![OfferedCommand {
                name: "git:log (MCP)".to_owned(),
                word: "mcp__git__log".to_owned(),
                hint: "<file>".to_owned(),
                help: "What happened to a file".to_owned(),
            }],
            resources: vec![OfferedResource {
                name: "notes:note://today".to_owned(),
                help: "Today's note".to_owned(),
            }],
        }),
        SessionEvent::Shells(vec![Shell {
            id: "bash_1".to_owned(),
            command: "npm run dev".to_owned(),
            state: ShellState::Running,
            duration_ms: 4_000,
            printed: 1_280,
            last: "ready on port 3000".to_owned(),
        }]),
    ]
}

fn choices() -> Choices {
    let option = ChoiceOption { label: "red".to_owned(), description: String::new() };
    let question = Choice {
        question: "Which colour?".to_owned(),
        header: "Colour".to_owned(),
        options: vec![option],
        pick: Pick::One,
    };
    Choices { about: About::Question, questions: vec![question] }
}

/// What changes in a session, and how it ends.
fn changes() -> Vec<SessionEvent> {
    vec![
        SessionEvent::Mode(Mode::Plan),
        SessionEvent::Model("good,m".to_owned()),
        SessionEvent::Title("Say hello.".to_owned()),
        SessionEvent::Memory(Memory { path: "/srv/project/AGENTS.md".to_owned(), tokens: 120 }),
        SessionEvent::Compacting,
        SessionEvent::Compacted(Compacted {
            before: 180_000,
            after: 12_000,
            by: Some("good,m".to_owned()),
            asked_for: false,
        }),
        SessionEvent::AgentBegan(AgentBegan {
            id: CALL.to_owned(),
            agent: "01a1e655-4f20-7c01-9a11-5d2fe1c0a3b4".to_owned(),
            kind: "general-purpose".to_owned(),
            description: "Find the retry logic".to_owned(),
            model: "good,m".to_owned(),
        }),
        SessionEvent::AgentEvent {
            id: CALL.to_owned(),
            event: Box::new(SessionEvent::Text { step: 1, text: "I look ".to_owned() }),
        },
        SessionEvent::AgentEnded(AgentEnded {
            id: CALL.to_owned(),
            reason: Reason::Answered,
            tool_uses: 3,
            tokens: 4_100,
            cost_usd: 0.0021,
            duration_ms: 12_000,
        }),
        SessionEvent::Restored(Restored {
            files: vec!["/srv/project/a.rs".to_owned()],
            ..Restored::default()
        }),
        SessionEvent::Done(Done {
            reason: Reason::Answered,
            text: "It says hello now.".to_owned(),
            turns: 4,
            cost_usd: 0.0123,
            duration_ms: 5200,
            api_ms: 4800,
            denials: vec![("bash".to_owned(), "allow it by `--allow 'Bash(touch:*)'`".to_owned())],
        }),
        SessionEvent::Closed,
    ]
}
