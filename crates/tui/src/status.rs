//! What is known of the session at any moment: who answers, how full the window is, what it cost, what it does.

use std::collections::BTreeMap;
use std::time::Duration;

use rail_proto::{Mode, SessionEvent, Shell, ShellState, Spent, Todo, TodoStatus, Window};

use crate::call::one_line;
use crate::figures::{bytes, count, dollars, seconds, time, tokens};
use crate::text::{Line, Look, Role, Span, width};

/// The session at this moment.
#[derive(Default)]
pub(crate) struct Status {
    pub(crate) id: String,
    pub(crate) cwd: String,
    /// The model asked for; empty where each request is routed.
    pub(crate) model: String,
    /// The target that answered last.
    target: Option<String>,
    virtual_model: Option<String>,
    window: Window,
    cost: f64,
    pub(crate) mode: Mode,
    pub(crate) title: Option<String>,
    pub(crate) todos: Vec<Todo>,
    pub(crate) shells: Vec<Shell>,
    /// What it does, and since when; None while it waits for the user.
    doing: Option<(String, Duration)>,
    /// When the task began.
    since: Option<Duration>,
    /// How many calls run.
    calls: BTreeMap<String, ()>,
    /// Words of the user's that wait for the next step.
    pub(crate) queued: Vec<String>,
}

impl Status {
    /// Whether a task runs.
    pub(crate) fn works(&self) -> bool {
        self.doing.is_some()
    }

    /// Something happened.
    pub(crate) fn event(&mut self, event: &SessionEvent, now: Duration) {
        match event {
            SessionEvent::Opened(opened) => {
                self.id.clone_from(&opened.id);
                self.cwd.clone_from(&opened.cwd);
                self.model.clone_from(&opened.model);
                self.mode = opened.mode;
            }
            SessionEvent::Prompted(prompt) => {
                let text = text_of(prompt);
                // The same words may wait twice.
                if let Some(at) = self.queued.iter().position(|queued| *queued == text) {
                    self.queued.remove(at);
                }
                self.does("waits for a model", now);
            }
            SessionEvent::Queued(prompt) => self.queued.push(text_of(prompt)),
            SessionEvent::Asking { .. } => self.does("waits for a model", now),
            SessionEvent::Routed(routed) => {
                self.target = Some(routed.target.clone());
                self.virtual_model.clone_from(&routed.virtual_model);
                self.does(&format!("{} answers", routed.target), now);
            }
            SessionEvent::Thinking { .. } => self.does("thinks", now),
            SessionEvent::Text { .. } => self.does("writes", now),
            SessionEvent::Calling { name, .. } => self.does(&format!("writes a call of {name}"), now),
            SessionEvent::Spent(spent) => self.spent(spent),
            SessionEvent::ToolStart(start) => {
                self.calls.insert(start.id.clone(), ());
                self.does(&format!("runs {}", count(self.calls.len(), "call")), now);
            }
            SessionEvent::ToolEnd(end) => {
                self.calls.remove(end.result.id.as_str());
                // Behind the last one a model is asked again, which takes a moment to begin.
                match self.calls.len() {
                    0 => self.does("waits for a model", now),
                    left => self.does(&format!("runs {}", count(left, "call")), now),
                }
            }
            SessionEvent::AgentEvent { event, .. } => {
                if let SessionEvent::Spent(spent) = &**event {
                    self.cost += spent.cost_usd.unwrap_or(0.0);
                }
            }
            SessionEvent::Todos(todos) => self.todos.clone_from(todos),
            SessionEvent::Shells(shells) => self.shells.clone_from(shells),
            SessionEvent::Mode(mode) => self.mode = *mode,
            SessionEvent::Model(model) => self.model.clone_from(model),
            SessionEvent::Title(title) => self.title = Some(title.clone()),
            SessionEvent::Compacting => self.does("makes the conversation shorter", now),
            SessionEvent::Compacted(compacted) => {
                self.window.tokens = compacted.after;
                if self.since.is_none() {
                    self.doing = None;
                }
            }
            SessionEvent::Done(_) | SessionEvent::Closed => self.rests(),
            SessionEvent::Note { .. }
            | SessionEvent::Restarted { .. }
            | SessionEvent::Said { .. }
            | SessionEvent::Permission(_)
            | SessionEvent::Choice { .. }
            | SessionEvent::Withdrawn { .. }
            | SessionEvent::ToolProgress { .. }
            | SessionEvent::AgentBegan(_)
            | SessionEvent::AgentEnded(_)
            | SessionEvent::Offered(_)
            | SessionEvent::Memory(_)
            | SessionEvent::Restored(_) => {}
        }
        if matches!(event, SessionEvent::Prompted(_)) && self.since.is_none() {
            self.since = Some(now);
        }
    }

    fn does(&mut self, what: &str, now: Duration) {
        match &mut self.doing {
            Some((doing, _)) if doing == what => {}
            doing => *doing = Some((what.to_owned(), now)),
        }
    }

    fn rests(&mut self) {
        (self.doing, self.since) = (None, None);
        self.calls.clear();
    }

    fn spent(&mut self, spent: &Spent) {
        self.cost += spent.cost_usd.unwrap_or(0.0);
        self.window = spent.window;
    }

    /// What it does.
    pub(crate) fn what(&self) -> Option<&str> {
        self.doing.as_ref().map(|(doing, _)| doing.as_str())
    }

    /// What it does, with a sign that moves while it does.
    pub(crate) fn activity(&self, now: Duration) -> Option<Line> {
        let (doing, since) = self.doing.as_ref()?;
        let begun = self.since.unwrap_or(*since);
        let passed = seconds(now.saturating_sub(begun));
        Some(moving(doing, &format!(" · {passed} · esc stops it"), now))
    }

    /// The line below the input.
    pub(crate) fn line(&self, columns: usize, more: &[String]) -> Line {
        let mode = match self.mode {
            Mode::Default => Span::new("asks before changes", Role::Faint),
            Mode::AcceptEdits => Span::new("edits without asking", Role::Accent),
            Mode::Plan => Span::new("plans only", Role::Accent),
            Mode::Bypass => Span::new("asks nothing", Look::of(Role::Bad).bold()),
        };
        let faint = |text: String| Span::new(text, Role::Faint);
        let cost = (self.cost > 0.0).then(|| faint(dollars(self.cost)));
        let more = more.iter().cloned().chain(self.title.iter().map(|title| one_line(title))).map(faint);
        let rest: Vec<Span> = cost.into_iter().chain(more).collect();
        // Who answers and how full the window is are said in short before they are not said at all.
        let ways = self.who().into_iter().flat_map(|who| self.fullness().map(|full| (who.clone(), full)));
        let pieces = |(who, full): (String, Option<String>)| {
            let full = full.map(|text| Span::new(text, self.fullness_role()));
            [mode.clone(), Span::plain(who)].into_iter().chain(full).collect::<Vec<_>>()
        };
        let ways: Vec<Vec<Span>> = ways.map(pieces).collect();
        let fits = |way: &&Vec<Span>| fitted((*way).clone(), usize::MAX).width() <= columns;
        let way = ways.iter().find(fits).or(ways.last()).cloned().unwrap_or_default();
        fitted(way.into_iter().chain(rest).collect(), columns)
    }

    /// Who really answers and what was asked for, and shorter ways to say it.
    fn who(&self) -> Vec<String> {
        let asked = if self.model.is_empty() { "routed" } else { &self.model };
        let Some(target) = &self.target else { return vec![asked.to_owned()] };
        let model = target.split_once(',').map_or(target.as_str(), |(_, model)| model);
        let long = match &self.virtual_model {
            Some(kind) => format!("{target} ({kind})"),
            None if *target == self.model => target.clone(),
            None => format!("{target} ({asked})"),
        };
        vec![long, target.clone(), model.to_owned()]
    }

    /// How full the window is, in full and in short.
    fn fullness(&self) -> [Option<String>; 2] {
        let Window { tokens: used, limit } = self.window;
        match limit.filter(|limit| *limit > 0) {
            Some(limit) => {
                let percent = format!("{}%", used * 100 / limit);
                [Some(format!("{}/{} {percent}", tokens(used), tokens(limit))), Some(percent)]
            }
            None => [(); 2].map(|()| (used > 0).then(|| format!("{} tokens", tokens(used)))),
        }
    }

    fn fullness_role(&self) -> Role {
        let Window { tokens: used, limit } = self.window;
        match limit {
            Some(limit) if limit > 0 && used * 100 / limit >= 80 => Role::Warning,
            _ => Role::Faint,
        }
    }

    /// What is to be done: all of it where there is room, else what is being done and what comes next.
    pub(crate) fn todo_lines(&self, at_most: usize) -> Vec<Line> {
        let open = self.todos.iter().any(|todo| todo.status != TodoStatus::Completed);
        if !open || at_most == 0 {
            return Vec::new();
        }
        if self.todos.len() <= at_most {
            return self.todos.iter().map(todo_line).collect();
        }
        let done = self.todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
        let done = format!("{done} of {} done", self.todos.len());
        let first = self.todos.iter().find(|todo| todo.status == TodoStatus::InProgress);
        if let (1, Some(todo)) = (at_most, first) {
            let mut line = Line::of(format!("{done}  "), Role::Faint);
            line.spans.extend(todo_line(todo).spans);
            return vec![line];
        }
        let head = Line::of(done, Role::Faint);
        let open = self.todos.iter().filter(|todo| todo.status != TodoStatus::Completed);
        std::iter::once(head).chain(open.map(todo_line)).take(at_most).collect()
    }

    /// Commands in the background that run, in a line each.
    pub(crate) fn shell_lines(&self, columns: usize) -> Vec<Line> {
        self.running_shells().map(|shell| shell_line(shell, columns)).collect()
    }

    pub(crate) fn running_shells(&self) -> impl Iterator<Item = &Shell> {
        self.shells.iter().filter(|shell| shell.state == ShellState::Running)
    }
}

fn todo_line(todo: &Todo) -> Line {
    match todo.status {
        TodoStatus::Completed => Line::of(todo.to_string(), Role::Faint),
        TodoStatus::InProgress => Line::of(todo.to_string(), Look::of(Role::Accent).bold()),
        TodoStatus::Pending => Line::of(todo.to_string(), Role::Plain),
    }
}

/// Something that goes on, with a sign that moves while it does.
pub(crate) fn moving(what: &str, more: &str, now: Duration) -> Line {
    const SIGNS: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let beat = usize::try_from(now.as_millis() / BEAT.as_millis()).unwrap_or(0) % SIGNS.len();
    let sign = SIGNS.get(beat).copied().unwrap_or("·");
    Line::words([
        Span::new(format!("{sign} "), Role::Accent),
        Span::plain(what),
        Span::new(more, Role::Faint),
    ])
}

/// How often what moves does.
pub(crate) const BEAT: Duration = Duration::from_millis(120);

/// A command in the background in a line, of which the command is cut where there is no room.
fn shell_line(shell: &Shell, columns: usize) -> Line {
    let state = match shell.state {
        ShellState::Running => "runs".to_owned(),
        ShellState::Exited { code } => format!("exited with {code}"),
        ShellState::Signalled { signal } => format!("ended by signal {signal}"),
        ShellState::Killed => "killed".to_owned(),
    };
    let passed = time(Duration::from_millis(shell.duration_ms));
    let figures = Span::new(format!("  {state} · {passed} · {}", bytes(shell.printed)), Role::Faint);
    let command = [Span::new("& ", Role::Accent), Span::plain(one_line(&shell.command))];
    let mut line = Line::new(command).cut(columns.saturating_sub(figures.width()));
    line.spans.push(figures);
    line
}

fn text_of(prompt: &rail_proto::Prompt) -> String {
    let texts: Vec<&str> = prompt.parts.iter().filter_map(rail_model::Part::as_text).collect();
    texts.join("\n")
}

/// The pieces that fit in a line, those to the left before others.
fn fitted(pieces: Vec<Span>, columns: usize) -> Line {
    let mut spans: Vec<Span> = Vec::new();
    let mut used = 0;
    for piece in pieces.into_iter().filter(|piece| !piece.text().is_empty()) {
        let between = if spans.is_empty() { "" } else { " · " };
        let cells = width(between) + piece.width();
        if used + cells > columns && !spans.is_empty() {
            continue;
        }
        used += cells;
        spans.push(Span::new(between, Role::Faint));
        spans.push(piece);
    }
    Line::new(spans)
}

#[cfg(test)]
mod tests {
    use rail_proto::Prompt;

    use super::*;

    #[test]
    fn of_the_same_words_twice_one_is_taken_at_a_time() {
        let mut status = Status::default();
        let go_on = || Prompt::text("go on");
        let events = [
            SessionEvent::Queued(go_on()),
            SessionEvent::Queued(Prompt::text("and then?")),
            SessionEvent::Queued(go_on()),
            SessionEvent::Prompted(go_on()),
        ];
        events.iter().for_each(|event| status.event(event, Duration::ZERO));
        assert_eq!(status.queued, ["and then?", "go on"]);
    }
}
