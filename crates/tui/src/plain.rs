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
    let mut told = Told { waits: Waits::Nothing, doing: None };
    loop {
        tell(&mut app, &mut told)?;
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
                told.waits = Waits::Nothing;
                app.typed(&line, now);
            }
            Turn::Session(Some(event)) => app.event(&event, now),
            Turn::News(Some(news)) => app.news(news),
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
                    tell(&mut app, &mut told)?;
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
struct Told {
    waits: Waits,
    doing: Option<String>,
}

/// Prints what is finished, what is done now, and what the user is asked for, each once.
fn tell(app: &mut App, told: &mut Told) -> io::Result<()> {
    let mut out = stdout().lock();
    let finished = app.take_finished();
    if !finished.is_empty() && told.waits != Waits::Nothing {
        // The user was asked for something; that is asked again below what happened since.
        writeln!(out)?;
        told.waits = Waits::Nothing;
    }
    for line in finished {
        writeln!(out, "{}", line.text().trim_end())?;
    }
    let doing = app.doing().map(str::to_owned);
    if doing != told.doing {
        if let Some(doing) = &doing {
            writeln!(out, "({doing})")?;
        }
        told.doing = doing;
    }
    let waits = app.waits();
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
