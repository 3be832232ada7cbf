//! The interface for screen readers and simple terminals: it only ever adds lines, moves nothing and colours nothing.
#![expect(clippy::disallowed_methods, reason = "the driver reads the clock, so that nothing else has to")]

use std::io::{self, BufRead, Write, stdin, stdout};
use std::time::Instant;

use rail_proto::SessionEvent;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::app::{App, End, Out, Start, Waits};
use crate::host::News;
use crate::run::Wires;
use crate::screen::Size;
use crate::text::harmless;

/// Lines are not cut here; whoever reads them does that.
const WIDE: Size = Size { columns: 100, rows: 24 };

/// Runs an interface of lines until it ends.
///
/// # Errors
/// Its output is gone.
pub async fn run_plain(start: Start, mut wires: Wires) -> io::Result<End> {
    let begun = Instant::now();
    let mut app = App::new(start, WIDE);
    let mut lines = lines()?;
    let mut signals = Signals::new()?;
    let mut told = Told::default();
    loop {
        tell(&mut app, &mut told, &mut stdout().lock())?;
        let turn = tokio::select! {
            biased;
            turn = signals.next() => turn,
            event = wires.events.recv() => Turn::Session(event),
            news = wires.news.recv() => Turn::News(news),
            line = lines.recv() => Turn::Line(line),
        };
        let now = begun.elapsed();
        match turn {
            Turn::End | Turn::Line(None) | Turn::Session(None) => return Ok(End::Quit),
            Turn::Interrupt => {
                app.interrupted(now);
                told.waits = Waits::Nothing;
            }
            Turn::Line(Some(line)) => {
                told.heard(&line);
                app.typed(&line, now);
            }
            Turn::Session(Some(event)) => {
                told.sent = false;
                app.event(&event, now);
            }
            Turn::News(Some(news)) => {
                told.sent = false;
                app.news(news);
            }
            Turn::News(None) => {}
        }
        for out in app.take_out() {
            match out {
                // A session or host that is gone takes nothing; its end is told by its other wire.
                Out::Send(command) => drop(wires.commands.send(command)),
                Out::Want(want) => drop(wires.wants.send(want)),
                Out::Edit(text) => match (wires.edit)(text).await {
                    Ok(text) => app.typed(&text, now),
                    Err(why) => app.news(News::Failed(why)),
                },
                Out::Suspend | Out::Redraw | Out::Theme(_) => {}
                Out::End(end) => {
                    tell(&mut app, &mut told, &mut stdout().lock())?;
                    return Ok(end);
                }
            }
        }
    }
}

enum Turn {
    Line(Option<String>),
    Session(Option<SessionEvent>),
    News(Option<News>),
    Interrupt,
    End,
}

/// What was told last of what is waited for and done.
#[derive(Default)]
struct Told {
    waits: Waits,
    doing: Option<String>,
    /// Whether words were sent that nothing came of yet; nobody is asked for others before.
    sent: bool,
}

impl Told {
    /// The user typed a line.
    fn heard(&mut self, line: &str) {
        self.sent = self.waits == Waits::Words && !line.trim().is_empty();
        self.waits = Waits::Nothing;
    }
}

/// Prints what is finished, what is done now, and what the user is asked for, each once.
fn tell(app: &mut App, told: &mut Told, out: &mut impl Write) -> io::Result<()> {
    let finished = app.take_finished();
    if !finished.is_empty() && told.waits != Waits::Nothing {
        // The user was asked for something; that is asked again below what happened since.
        writeln!(out)?;
        told.waits = Waits::Nothing;
    }
    for line in finished {
        writeln!(out, "{}", line.text().trim_end())?;
        told.sent = false;
    }
    let doing = app.doing().map(str::to_owned);
    if doing != told.doing {
        if let Some(doing) = &doing {
            // Models name tools and servers name targets.
            writeln!(out, "({})", harmless(doing))?;
        }
        told.doing = doing;
    }
    let waits = match app.waits() {
        Waits::Words if told.sent => return out.flush(),
        waits => waits,
    };
    if waits != told.waits {
        match &waits {
            Waits::Nothing => {}
            Waits::Words => write!(out, "> ")?,
            Waits::Answer(lines) => {
                for line in lines {
                    writeln!(out, "{}", line.trim_end())?;
                }
                write!(out, "? ")?;
            }
        }
        told.waits = waits;
    }
    out.flush()
}

/// Being told to stop and to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Turn {
        tokio::select! {
            _ = self.interrupt.recv() => Turn::Interrupt,
            _ = self.terminate.recv() => Turn::End,
            _ = self.hangup.recv() => Turn::End,
        }
    }
}

/// Lines as they are typed. A thread of its own reads them, since reading blocks.
fn lines() -> io::Result<mpsc::UnboundedReceiver<String>> {
    let (to, from) = mpsc::unbounded_channel();
    let read_all = move || {
        for line in stdin().lock().lines() {
            let Ok(line) = line else { return };
            if to.send(line).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("lines".to_owned()).spawn(read_all)?;
    Ok(from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rail_proto::{
        Choice, ChoiceOption, Choices, Doing, Done, Leave, Opened, PermissionAsk, Pick, Prompt,
    };
    use serde_json::json;

    use super::*;

    /// What is printed while these happen, with what is typed where it is asked for.
    fn printed(steps: Vec<Result<SessionEvent, &str>>) -> String {
        let mut app = App::new(Start { version: "1.0".into(), ..Start::default() }, WIDE);
        let mut told = Told::default();
        let mut out = Vec::new();
        tell(&mut app, &mut told, &mut out).unwrap();
        for step in steps {
            match step {
                Ok(event) => {
                    told.sent = false;
                    app.event(&event, Duration::ZERO);
                }
                Err(typed) => {
                    out.extend(format!("{typed}\n").bytes());
                    told.heard(typed);
                    app.typed(typed, Duration::ZERO);
                }
            }
            tell(&mut app, &mut told, &mut out).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn questions_have_numbers_and_lines_are_only_added() {
        let ask = PermissionAsk {
            id: "a".into(),
            tool: "bash".into(),
            input: json!({"command": "cargo test"}),
            doing: vec![Doing::Runs("cargo test".into())],
            changes: Vec::new(),
            why: "no rule allows it".into(),
            always_asks: false,
            offers: vec![Leave {
                rules: vec!["Bash(cargo test:*)".into()],
                says: "lets the agent run `cargo test`".into(),
            }],
            without_anybody: String::new(),
        };
        let option = |label: &str| ChoiceOption { label: label.into(), description: String::new() };
        let choices = Choices {
            about: rail_proto::About::Question,
            questions: vec![Choice {
                question: "Which ones?".into(),
                header: String::new(),
                options: vec![option("all"), option("some")],
                pick: Pick::Several,
            }],
        };
        let steps = vec![
            Ok(SessionEvent::Opened(Opened { cwd: "/srv/shop".into(), ..Opened::default() })),
            Err("run the tests"),
            Ok(SessionEvent::Prompted(Prompt::text("run the tests"))),
            Ok(SessionEvent::Text { step: 1, text: "I **run** them.\n\nSoon".into() }),
            Ok(SessionEvent::Permission(ask)),
            Err("2"),
            Ok(SessionEvent::Choice { id: "c".into(), choices }),
            Err("2"),
            Err("3"),
            Ok(SessionEvent::Done(Done { turns: 1, ..Done::default() })),
        ];
        insta::assert_snapshot!(printed(steps), @r#"
        Switchrail 1.0
        /srv/shop · each request is routed · /help lists commands
        > run the tests

        › run the tests
        (waits for a model)

        I run them.
        (writes)

        ? Run this command?
          cargo test
          no rule allows it
        › 1. Yes, this once
          2. Yes, and until this session ends the agent may run `cargo test`  Bash(cargo test:*)
          3. Yes, and from now on in this project the agent may run `cargo test`  Bash(cargo test:*)
          4. No  esc
          5. No, and say what to do instead
        Answer with a number, or in your own words.
        ? 2
          └ yes, and until this session ends: Bash(cargo test:*)
        ? Which ones?
        › 1. [ ] all
          2. [ ] some
          3. The ticked ones
          4. In your own words
        Answer with a number, or in your own words.
        ? 2
        ? Which ones?
        › 1. [ ] all
          2. [x] some
          3. The ticked ones
          4. In your own words
        Answer with a number, or in your own words.
        ? 3

        ? Which ones?
          └ some

        Soon

        ─ 0.0s · 1 turn
        >
        "#);
    }
    #[test]
    fn a_model_does_not_steer_the_terminal_by_names_of_calls() {
        let name = "x\u{1b}]0;PWNED\u{7}".to_owned();
        let text = printed(vec![
            Ok(SessionEvent::Opened(Opened { cwd: "/srv".into(), ..Opened::default() })),
            Ok(SessionEvent::Prompted(Prompt::text("go"))),
            Ok(SessionEvent::Calling { step: 1, name }),
        ]);
        assert!(text.contains("(writes a call of x␛]0;PWNED␇)"), "{text:?}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
}
