//! The interface as a value: events, keys and news go in; finished lines, a live region and things to do come out.

mod keys;
mod line;
mod pick;
mod plain;
mod view;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rail_proto::{Command, Offered, OfferedResource, SessionEvent};

use crate::ask::{Ask, ChoicesAsk, Permission};
use crate::call::Extent;
use crate::complete::{CommandInfo, Files, Finder, Popup, Token};
use crate::diff;
use crate::host::{News, Want};
use crate::input::{Editor, Entry, History, Keys, Search};
use crate::screen::Size;
use crate::status::Status;
use crate::talk::Talk;
use crate::text::{Line, Look, Role, Span};
use crate::theme::Theme;
use pick::Picking;

pub(crate) use plain::Waits;

/// What an interface begins with.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The program's version.
    pub version: String,
    /// The user's home, which is shown as `~`.
    pub home: Option<String>,
    /// The colours.
    pub theme: Theme,
    /// Whose keys the input line takes.
    pub keys: Keys,
    /// How much of results is shown.
    pub extent: Extent,
    /// The slash commands there are.
    pub commands: Vec<CommandInfo>,
    /// What was typed on other days, the oldest first.
    pub history: Vec<Entry>,
    /// What the user should know at the beginning, in Markdown.
    pub notes: Vec<String>,
    /// What happened before in a session that goes on.
    pub before: Vec<SessionEvent>,
}

/// Something to be done outside.
#[derive(Clone, PartialEq, Debug)]
pub enum Out {
    /// The session is told something.
    Send(Command),
    /// The host is asked for something.
    Want(Want),
    /// The text is to be changed in the user's editor.
    Edit(String),
    /// The program is to be suspended.
    Suspend,
    /// The live region is to be drawn anew.
    Redraw,
    /// Another theme.
    Theme(Theme),
    /// The interface ends.
    End(End),
}

/// How an interface ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// The user has finished.
    Quit,
    /// Another session is to be opened.
    Open(String),
    /// A new session is to be opened.
    New,
}

/// The interface.
pub struct App {
    size: Size,
    theme: Theme,
    home: Option<String>,
    version: String,
    talk: Talk,
    status: Status,
    editor: Editor,
    history: History,
    commands: Vec<CommandInfo>,
    /// The commands among them that were there from the beginning; MCP servers' prompts stand behind them.
    own_commands: usize,
    /// What `@` can name besides files.
    resources: Vec<CommandInfo>,
    finder: Option<Finder>,
    /// What can complete the word at the cursor.
    popup: Option<(Token, Popup)>,
    /// The word whose completion the user did not want.
    unwanted: Option<Token>,
    search: Option<Search>,
    picking: Option<Picking>,
    asks: VecDeque<Ask>,
    /// A shell command of the user's own that runs.
    shell: Option<OwnShell>,
    /// What such commands printed, for the next prompt.
    context: Vec<String>,
    /// Until when another Ctrl-C ends the program.
    leaving: Option<Duration>,
    /// When Esc was pressed with nothing to leave.
    escaped: Option<Duration>,
    /// When the last key was pressed.
    typed_at: Option<Duration>,
    /// Since when the first question is on the screen.
    asked_at: Option<Duration>,
    /// Whether keys answer it. Whoever is in the middle of something when it comes up has not read it.
    answers: bool,
    /// Whether the last key answered a question, so that the next one goes nowhere else.
    answering: bool,
    /// Whether the list of files was asked for and has yet to come.
    files_wanted: bool,
    /// A line about the last key.
    hint: Option<String>,
    out: Vec<Out>,
    closed: bool,
}

/// How many characters of the output of such a command go with a prompt.
const CONTEXT: usize = 30_000;

/// A shell command of the user's own.
struct OwnShell {
    command: String,
    output: String,
}

impl App {
    /// An interface of this size.
    pub fn new(start: Start, size: Size) -> Self {
        let Start { version, home, theme, keys, extent, commands, history, notes, before } = start;
        let commands: Vec<CommandInfo> = commands.into_iter().chain(line::local()).collect();
        let mut app = Self {
            size,
            theme,
            home,
            version,
            talk: Talk::new(extent, size.columns),
            status: Status::default(),
            editor: Editor::new(keys),
            history: History::new(history),
            own_commands: commands.len(),
            commands,
            resources: Vec::new(),
            finder: None,
            popup: None,
            unwanted: None,
            search: None,
            picking: None,
            asks: VecDeque::new(),
            shell: None,
            context: Vec::new(),
            leaving: None,
            escaped: None,
            typed_at: None,
            asked_at: None,
            answers: false,
            answering: false,
            files_wanted: false,
            hint: None,
            out: Vec::new(),
            closed: false,
        };
        app.begin(&notes, &before);
        app
    }

    fn begin(&mut self, notes: &[String], before: &[SessionEvent]) {
        let head = [
            Span::new("Switchrail", Look::of(Role::Accent).bold()),
            Span::new(format!(" {}", self.version), Role::Faint),
        ];
        self.talk.head(Line::words(head));
        for note in notes {
            self.talk.say(note);
        }
        for event in before {
            self.talk.event(event, Duration::ZERO);
        }
        self.talk.rest();
    }

    /// The lines that were finished since the last time; they go to the terminal's scrollback.
    pub fn take_finished(&mut self) -> Vec<Line> {
        self.talk.take_finished()
    }

    /// What is to be done outside since the last time.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// Whether something moves, so that it must be drawn again without anything happening.
    pub fn moves(&self) -> bool {
        let unread = !self.asks.is_empty() && !self.answers;
        self.status.works() || self.leaving.is_some() || self.shell.is_some() || unread
    }

    /// Another size.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.talk.width = size.columns;
    }

    /// Something happened in the session.
    pub fn event(&mut self, event: &SessionEvent, now: Duration) {
        match event {
            SessionEvent::Opened(opened) => {
                let model = if opened.model.is_empty() { "each request is routed" } else { &opened.model };
                let place = format!("{} · {model} · /help lists commands", self.short(&opened.cwd));
                self.talk.note(&place, Role::Faint);
            }
            SessionEvent::Permission(ask) => {
                let asker = self.talk.asker(&ask.id);
                self.ask(Ask::Permission(Box::new(Permission::new(ask.clone(), asker))))
            }
            SessionEvent::Choice { id, choices } => {
                self.ask(Ask::Choices(Box::new(ChoicesAsk::new(id.clone(), choices.clone()))));
            }
            SessionEvent::Withdrawn { id } => self.answered(id),
            // Nobody waits for answers any more, also not to questions whose turn has not come.
            SessionEvent::Done(_) => {
                self.asks.clear();
                self.show_ask();
            }
            SessionEvent::Offered(offered) => self.offered(offered),
            SessionEvent::Closed => {
                self.closed = true;
                self.out.push(Out::End(End::Quit));
            }
            _ => {}
        }
        self.talk.event(event, now);
        self.status.event(event, now);
    }

    /// The host said something.
    pub fn news(&mut self, news: News) {
        match news {
            News::Say(text) => {
                let line = |line| Line::hanging([Span::plain(line)], vec![Span::plain("  ")]);
                self.talk.show(text.trim_end().lines().map(line).collect())
            }
            News::Changes(changes) => self.talk.show(diff::files(&changes, diff::Extent::All)),
            News::Failed(text) => self.talk.note(&text, Role::Bad),
            News::Files(files) => self.files(files),
            News::Picker(kind, items) => self.pick_from(kind, items),
            News::Image(media) => self.editor.attach(media),
            News::Text(text) => self.editor.paste(&text),
            News::ShellOutput(text) => {
                if let Some(shell) = &mut self.shell {
                    shell.output = text;
                }
            }
            News::ShellEnded { how } => self.shell_ended(&how),
            News::Open(id) => self.out.push(Out::End(End::Open(id))),
            News::Quit => self.out.push(Out::End(End::Quit)),
        }
    }

    /// The user's editor was left with this text.
    pub fn edited(&mut self, text: &str) {
        self.editor.set(text.trim_end_matches('\n'));
    }

    /// MCP servers offer other things now.
    fn offered(&mut self, offered: &Offered) {
        self.commands.truncate(self.own_commands);
        self.commands.extend(offered.commands.iter().map(|command| CommandInfo {
            name: command.name.clone(),
            hint: command.hint.clone(),
            help: command.help.clone(),
        }));
        let resource = |resource: &OfferedResource| CommandInfo {
            name: resource.name.clone(),
            hint: String::new(),
            help: resource.help.clone(),
        };
        self.resources = offered.resources.iter().map(resource).collect();
        // A list that is open shows them at once.
        if self.popup.is_some() {
            self.complete();
        }
    }

    fn files(&mut self, files: Arc<Files>) {
        self.files_wanted = false;
        self.finder = Some(Finder::new(files));
        self.complete();
    }

    fn ask(&mut self, ask: Ask) {
        self.asks.push_back(ask);
        if self.asks.len() == 1 {
            self.show_ask();
        }
    }

    /// What a question is about is shown when it is its turn, and stays.
    pub(super) fn show_ask(&mut self) {
        self.talk.release();
        if let Some(ask) = self.asks.front() {
            let lines = ask.about(self.size.columns);
            self.talk.show(lines);
            self.talk.hold();
        }
        (self.asked_at, self.answers) = (None, false);
    }

    /// A question needs no answer any more.
    fn answered(&mut self, id: &str) {
        let first = self.asks.front().is_some_and(|ask| ask.id() == id);
        self.asks.retain(|ask| ask.id() != id);
        if first {
            self.show_ask();
        }
    }

    fn shell_ended(&mut self, how: &str) {
        let Some(OwnShell { command, output }) = self.shell.take() else { return };
        let text = output.trim_end();
        let mut lines: Vec<Line> = text.lines().map(|line| Line::of(line, Role::Plain)).collect();
        if !how.is_empty() {
            lines.push(Line::of(how, Role::Warning));
        }
        if lines.is_empty() {
            lines.push(Line::of("(no output)", Role::Faint));
        }
        self.talk.show(lines);
        let how = if how.is_empty() { String::new() } else { format!("\n({how})") };
        let skipped = text.chars().count().saturating_sub(CONTEXT);
        let cut = if skipped > 0 { "…\n" } else { "" };
        let text: String = text.chars().skip(skipped).collect();
        self.context.push(format!("The user ran a command.\n$ {command}\n{cut}{text}{how}"));
    }

    /// A path as it is shown.
    fn short(&self, path: &str) -> String {
        match self.home.as_deref().filter(|home| !home.is_empty()).and_then(|home| path.strip_prefix(home)) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }
}
