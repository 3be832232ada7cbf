//! What happens in the sessions of the screens, in few words.

use rail_model::{CallId, CallKind, Part, ToolResult, Usage};
use rail_proto::{
    AgentBegan, AgentEnded, Done, FileChange, Finish, Hunk, Line, Mark, Mode, Opened, PermissionAsk, Prompt,
    Reason, Routed, SessionEvent, Shell, ShellState, Shown, Spent, Todo, TodoStatus, ToolEnd, ToolStart,
    Window,
};
use rail_tui::Start;
use rail_tui::complete::CommandInfo;
use rail_tui::input::Entry;
use rail_tui::theme::Theme;
use serde_json::Value;

use crate::screens::Step;

/// An interface with some commands and some history.
pub(crate) fn start() -> Start {
    let command = |(name, hint, help): (&str, &str, &str)| CommandInfo {
        name: name.into(),
        hint: hint.into(),
        help: help.into(),
    };
    let commands = [
        ("help", "", "Lists the commands."),
        ("model", "[model]", "Shows or changes the model."),
        (
            "compact",
            "[what to keep]",
            "Makes the conversation shorter, with a summary of what was said and done.",
        ),
        ("rewind", "[n]", "Goes back to before a message."),
        ("diff", "", "Shows what the session has changed."),
        ("review", "<branch>", "Reviews the changes of a branch."),
        ("theme", "[name]", "Changes the colours."),
        ("usage", "", "What the session has taken."),
        ("permissions", "", "The rules, and where they come from."),
    ];
    let history = [
        "cargo test fails in the parser, why?",
        "write a test for the tokenizer\nand one for the parser",
        "explain crates/wire",
    ];
    Start {
        version: "0.1.0".into(),
        home: Some("/srv/ann".into()),
        theme: Theme::Dark,
        commands: commands.map(command).into(),
        history: history.map(Entry::new).into(),
        ..Start::default()
    }
}

pub(crate) fn opened() -> SessionEvent {
    SessionEvent::Opened(Opened { id: "s1".into(), cwd: "/srv/ann/shop".into(), ..Opened::default() })
}

/// A session in which something was asked, and somebody answers.
pub(crate) fn begun(ask: &str) -> Vec<Step> {
    [opened(), prompted(ask), SessionEvent::Asking { step: 1 }, routed(), spent(41_300)]
        .map(Step::from)
        .into()
}

pub(crate) fn prompted(text: &str) -> SessionEvent {
    SessionEvent::Prompted(Prompt::text(text))
}

pub(crate) fn routed() -> SessionEvent {
    SessionEvent::Routed(Routed {
        step: 1,
        virtual_model: Some("code".into()),
        target: "openrouter,qwen3-coder".into(),
        ..Routed::default()
    })
}

pub(crate) fn spent(tokens: u64) -> SessionEvent {
    SessionEvent::Spent(Spent {
        usage: Usage { input: Some(tokens), output: Some(300), ..Usage::default() },
        cost_usd: Some(0.0123),
        window: Window { tokens, limit: Some(262_144) },
        ..Spent::default()
    })
}

pub(crate) fn text(text: &str) -> SessionEvent {
    SessionEvent::Text { step: 1, text: text.into() }
}

pub(crate) fn thinking(text: &str) -> SessionEvent {
    SessionEvent::Thinking { step: 1, text: text.into() }
}

pub(crate) fn call(id: &str, title: &str, input: Value) -> SessionEvent {
    SessionEvent::ToolStart(ToolStart {
        step: 1,
        id: id.into(),
        name: title.to_lowercase(),
        title: title.into(),
        input,
    })
}

pub(crate) fn result(id: &str, end: Finish, text: &str, shown: Option<Shown>) -> SessionEvent {
    let success = end == Finish::Done;
    SessionEvent::ToolEnd(ToolEnd {
        step: 1,
        result: ToolResult {
            id: CallId::Given(id.into()),
            name: None,
            content: vec![Part::text(text)],
            is_error: Some(!success),
            kind: CallKind::Function,
        },
        success,
        end,
        shown,
        duration_ms: 1_400,
    })
}

pub(crate) fn preview(text: &str, lines: usize) -> Option<Shown> {
    Some(Shown::Preview { text: text.into(), lines })
}

/// A change of a file by its lines, each with its sign before it.
pub(crate) fn change(path: &str, start: usize, lines: &str) -> FileChange {
    let line = |line: &str| {
        let (mark, text) = line.split_at(1);
        let mark = match mark {
            "+" => Mark::Added,
            "-" => Mark::Removed,
            _ => Mark::Same,
        };
        Line { mark, text: text.into() }
    };
    let lines: Vec<Line> = lines.lines().map(line).collect();
    let count = |mark| lines.iter().filter(|line| line.mark == mark).count();
    let (added, removed) = (count(Mark::Added), count(Mark::Removed));
    let hunks = vec![Hunk { old_start: start, new_start: start, lines }];
    FileChange { path: path.into(), moved_from: None, hunks, added, removed }
}

pub(crate) fn permission(tool: &str, input: Value) -> PermissionAsk {
    PermissionAsk {
        id: "ask".into(),
        tool: tool.into(),
        input,
        doing: Vec::new(),
        changes: Vec::new(),
        why: "no rule allows it".into(),
        always_asks: false,
        offers: Vec::new(),
        without_anybody: String::new(),
    }
}

pub(crate) fn todo(status: TodoStatus, content: &str) -> Todo {
    Todo { content: content.into(), status, active_form: None }
}

pub(crate) fn shell(id: &str, command: &str, state: ShellState) -> Shell {
    let last = "compiled in 1.2 s\nready on port 3000".into();
    Shell { id: id.into(), command: command.into(), state, duration_ms: 83_000, printed: 12_345, last }
}

pub(crate) fn agent(id: &str, kind: &str, description: &str) -> SessionEvent {
    SessionEvent::AgentBegan(AgentBegan {
        id: id.into(),
        agent: format!("{kind}-{id}"),
        kind: kind.into(),
        description: description.into(),
        model: "fast".into(),
    })
}

pub(crate) fn in_agent(id: &str, event: SessionEvent) -> SessionEvent {
    SessionEvent::AgentEvent { id: id.into(), event: Box::new(event) }
}

pub(crate) fn agent_ended(id: &str, reason: Reason) -> SessionEvent {
    SessionEvent::AgentEnded(AgentEnded {
        id: id.into(),
        reason,
        tool_uses: 7,
        tokens: 48_200,
        cost_usd: 0.031,
        duration_ms: 74_000,
    })
}

pub(crate) fn done(reason: Reason, text: &str) -> SessionEvent {
    SessionEvent::Done(Done {
        reason,
        text: text.into(),
        turns: 3,
        cost_usd: 0.0423,
        duration_ms: 65_000,
        api_ms: 60_000,
        denials: Vec::new(),
    })
}

pub(crate) fn mode(mode: Mode) -> SessionEvent {
    SessionEvent::Mode(mode)
}
