//! The interface on a real terminal: the only part that reads keys, writes and knows the time.
#![expect(clippy::disallowed_methods, reason = "the driver reads the clock, so that nothing else has to")]

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::{Event, poll, read};
use rail_proto::{Command, SessionEvent};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Mutex, mpsc};

use crate::app::{App, End, Out, Start};
use crate::host::{News, Want};
use crate::late::Late;
use crate::screen::Screen;
use crate::status::BEAT;
use crate::terminal::{Said, Terminal, suspend};
use crate::theme::Theme;

/// The wires between an interface, its session and its host.
pub struct Wires {
    /// To the session.
    pub commands: mpsc::UnboundedSender<Command>,
    /// From the session.
    pub events: mpsc::UnboundedReceiver<SessionEvent>,
    /// To the host.
    pub wants: mpsc::UnboundedSender<Want>,
    /// From the host.
    pub news: mpsc::UnboundedReceiver<News>,
    /// Has a text changed in the user's editor, which has the terminal to itself meanwhile.
    pub edit: EditText,
}

/// Has a text changed in the user's editor.
pub type EditText =
    Box<dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync>;

/// The least time between two frames: what comes in between is shown together.
const FRAME: Duration = Duration::from_millis(33);
/// How long keys are waited for before somebody else may have the terminal.
const KEYS: Duration = Duration::from_millis(100);
/// How many events are taken in before keys are looked at again.
const AT_ONCE: usize = 512;

/// Runs an interface until it ends.
///
/// # Errors
/// The terminal is gone or can't be used.
pub async fn run(mut start: Start, theme: Option<Theme>, wires: Wires) -> io::Result<End> {
    let terminal = Terminal::take()?;
    let said = match theme {
        Some(theme) => Said { theme: Some(theme), ..Said::default() },
        None => terminal.theme(),
    };
    let theme = said.theme.unwrap_or_default();
    start.theme = theme;
    let size = terminal.size()?;
    let mut app = App::new(start, size);
    if !said.typed.is_empty() {
        app.paste(&said.typed);
    }
    let late = if said.is_cut { Late::cut() } else { Late::default() };
    let driver = Driver {
        screen: Screen::new(size, theme),
        app,
        terminal,
        gate: Arc::new(Mutex::new(())),
        begun: Instant::now(),
        signals: Signals::new()?,
        stopped: false,
        wires,
    };
    driver.run(late).await
}

struct Driver {
    app: App,
    screen: Screen,
    terminal: Terminal,
    /// Whoever has it reads from the terminal.
    gate: Arc<Mutex<()>>,
    begun: Instant,
    signals: Signals,
    /// Whether it stopped itself, and what lets it go on has not been seen yet.
    stopped: bool,
    wires: Wires,
}

/// What made the driver turn.
enum Turn {
    Key(Option<Event>),
    Session(Option<SessionEvent>),
    News(Option<News>),
    Broken(String),
    Told,
    Continued,
    Time,
}

impl Driver {
    async fn run(mut self, late: Late) -> io::Result<End> {
        let mut keys = Keys::read(Arc::clone(&self.gate), late)?;
        let mut drawn: Option<Instant> = None;
        loop {
            let due = drawn.map_or(Duration::ZERO, |at| FRAME.saturating_sub(at.elapsed()));
            if due.is_zero() {
                self.draw()?;
                drawn = Some(Instant::now());
            }
            // What moves is drawn at its beat; what came in since the last frame when that is old enough; else nothing has to be drawn.
            let dirty = !due.is_zero();
            let wait = if dirty { Some(due) } else { self.app.moves().then_some(BEAT) };
            let turn = tokio::select! {
                biased;
                turn = self.signals.next() => turn,
                key = keys.from.recv() => Turn::Key(key),
                event = self.wires.events.recv() => Turn::Session(event),
                news = self.wires.news.recv() => Turn::News(news),
                Some(text) = self.terminal.broken.recv() => Turn::Broken(text),
                () = after(wait) => Turn::Time,
            };
            if let Some(end) = self.turn(turn)? {
                return self.end(end);
            }
            for _ in 0..AT_ONCE {
                let Ok(event) = self.wires.events.try_recv() else { break };
                let now = self.now();
                self.app.event(&event, now);
            }
            // A session that says much does not keep the host from being heard.
            if let Ok(news) = self.wires.news.try_recv() {
                self.app.news(news);
            }
            if let Some(end) = self.outs().await? {
                return self.end(end);
            }
        }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn turn(&mut self, turn: Turn) -> io::Result<Option<End>> {
        let now = self.now();
        match turn {
            Turn::Key(None) | Turn::Session(None) | Turn::Told => return Ok(Some(End::Quit)),
            Turn::Key(Some(Event::Key(key))) => self.app.key(key, now),
            Turn::Key(Some(Event::Paste(text))) => self.app.paste(&text),
            Turn::Key(Some(Event::Resize(..))) => {
                let size = self.terminal.size()?;
                if size != self.screen.size() {
                    self.terminal.write(&self.screen.resize(size))?;
                    self.app.resize(size);
                }
            }
            Turn::Key(Some(Event::FocusGained | Event::FocusLost | Event::Mouse(_))) => {}
            Turn::Session(Some(event)) => self.app.event(&event, now),
            Turn::News(Some(news)) => self.app.news(news),
            Turn::Continued => {
                self.terminal.retake()?;
                // Whoever was stopped by somebody else does not know what stands on the terminal now, and takes nothing of it away.
                if !std::mem::take(&mut self.stopped) {
                    let bytes = self.screen.anew();
                    self.terminal.write(&bytes)?;
                }
                self.redraw()?;
            }
            Turn::Broken(text) => self.app.news(News::Failed(text)),
            // A host that is gone says nothing more.
            Turn::News(None) | Turn::Time => {}
        }
        Ok(None)
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        let finished = self.app.take_finished();
        let bytes = self.screen.frame(&finished, &self.app.live(now));
        if bytes.is_empty() { Ok(()) } else { self.terminal.write(&bytes) }
    }

    fn redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.app.resize(size);
        let bytes = self.screen.resize(size);
        self.terminal.write(&bytes)
    }

    async fn outs(&mut self) -> io::Result<Option<End>> {
        for out in self.app.take_out() {
            match out {
                // A session or host that is gone takes nothing; its end is told by its other wire.
                Out::Send(command) => drop(self.wires.commands.send(command)),
                Out::Want(want) => drop(self.wires.wants.send(want)),
                Out::Theme(theme) => self.screen.set_theme(theme),
                Out::Redraw => self.redraw()?,
                Out::Edit(text) => self.edit(text).await?,
                Out::Suspend => {
                    self.draw()?;
                    let left = self.screen.leave();
                    self.terminal.write(&left)?;
                    self.terminal.lend()?;
                    self.stopped = true;
                    suspend()?;
                    self.terminal.retake()?;
                    self.redraw()?;
                }
                Out::End(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    async fn edit(&mut self, text: String) -> io::Result<()> {
        let gate = Arc::clone(&self.gate);
        let _ours = gate.lock().await;
        let left = self.screen.leave();
        self.terminal.write(&left)?;
        self.terminal.lend()?;
        let edited = (self.wires.edit)(text).await;
        // Ctrl-C in an editor is the editor's.
        self.signals.forget_keys()?;
        self.terminal.retake()?;
        self.redraw()?;
        match edited {
            Ok(text) => self.app.edited(&text),
            Err(why) => self.app.news(News::Failed(why)),
        }
        Ok(())
    }

    /// What is finished stays; the live region goes.
    fn end(mut self, end: End) -> io::Result<End> {
        self.draw()?;
        let left = self.screen.leave();
        self.terminal.write(&left)?;
        Ok(end)
    }
}

async fn after(wait: Option<Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

/// Being told to end, and to go on after a stop.
struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
    quit: Signal,
    go_on: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            go_on: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// Forgets the signals that a terminal sends for keys.
    fn forget_keys(&mut self) -> io::Result<()> {
        self.interrupt = signal(SignalKind::interrupt())?;
        self.quit = signal(SignalKind::quit())?;
        Ok(())
    }

    async fn next(&mut self) -> Turn {
        tokio::select! {
            _ = self.terminate.recv() => Turn::Told,
            _ = self.hangup.recv() => Turn::Told,
            // The terminal sends none of these while its keys come one by one: somebody else did.
            _ = self.interrupt.recv() => Turn::Told,
            _ = self.quit.recv() => Turn::Told,
            _ = self.go_on.recv() => Turn::Continued,
        }
    }
}

/// Keys as they are pressed, until the terminal is gone. A thread of its own reads them, since reading a terminal blocks; it ends with this.
struct Keys {
    from: mpsc::UnboundedReceiver<Event>,
    over: Arc<AtomicBool>,
    /// It is closed when the thread has ended.
    thread: std::sync::mpsc::Receiver<()>,
}

/// Keys that an interface read and did not come to: they are for the next one.
static UNREAD: std::sync::Mutex<Vec<Event>> = std::sync::Mutex::new(Vec::new());

fn unread() -> std::sync::MutexGuard<'static, Vec<Event>> {
    UNREAD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keys {
    fn read(gate: Arc<Mutex<()>>, mut late: Late) -> io::Result<Self> {
        let (to, from) = mpsc::unbounded_channel();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        // Nobody hears keys any more when the interface has ended, here and below.
        unread().drain(..).for_each(|event| drop(to.send(event)));
        let (ends, thread) = std::sync::mpsc::channel();
        let read_all = move || {
            let _ends: std::sync::mpsc::Sender<()> = ends;
            loop {
                let _ours = gate.blocking_lock();
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let typed = match poll(KEYS).and_then(|ready| ready.then(read).transpose()) {
                    Ok(None) => late.rest(),
                    Ok(Some(event)) => late.event(event),
                    Err(_) => return,
                };
                typed.into_iter().for_each(|event| drop(to.send(event)));
            }
        };
        std::thread::Builder::new().name("keys".to_owned()).spawn(read_all)?;
        Ok(Self { from, over, thread })
    }
}

impl Drop for Keys {
    /// Two that read would each get half of what is typed.
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Reading a terminal that is gone may never end, and takes no keys from anybody.
        let _ = self.thread.recv_timeout(KEYS * 5);
        let mut unread = unread();
        while let Ok(event) = self.from.try_recv() {
            unread.push(event);
        }
    }
}
