//! A stream through the whole interface, as the driver leads it: events in, a frame at its time, bytes out.

use std::time::Duration;

use rail_proto::{Opened, Prompt, SessionEvent};
use rail_tui::screen::{Live, Screen, Size};
use rail_tui::theme::Theme;
use rail_tui::{App, Start};

use crate::timing::cpu;

/// A usual terminal.
pub(crate) const SIZE: Size = Size { columns: 100, rows: 40 };
/// A fast model: 200 tokens in a second.
pub(crate) const TOKEN: Duration = Duration::from_millis(5);
/// The least time between two frames, as the driver has it.
const FRAME: Duration = Duration::from_millis(33);
/// A frame that writes so much of what drawing all of it takes is a redraw.
const REDRAW: f64 = 0.9;

/// When frames are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At their time.
    Timed,
    /// After each token.
    EachToken,
}

/// An interface on a terminal that is not there.
pub(crate) struct Show {
    app: App,
    screen: Screen,
}

/// What was measured of a stream.
#[derive(Default)]
pub(crate) struct Measured {
    /// CPU time of each tenth of it.
    pub(crate) tenths: Vec<Duration>,
    pub(crate) cpu: Duration,
    /// What each frame wrote; nothing where nothing changed.
    pub(crate) frames: Vec<usize>,
    pub(crate) redraws: usize,
    /// All that was written, if it was asked for.
    pub(crate) bytes: String,
}

impl Show {
    /// A session that waits for its model.
    pub(crate) fn new() -> Self {
        let start = Start { version: "0.1.0".to_owned(), ..Start::default() };
        let mut show = Self { app: App::new(start, SIZE), screen: Screen::new(SIZE, Theme::Dark) };
        let opened = Opened {
            id: "s".to_owned(),
            cwd: "/srv/work/project".to_owned(),
            model: "anthropic/claude-sonnet-4-5".to_owned(),
            tools: Vec::new(),
            mode: rail_proto::Mode::Default,
            commands: Vec::new(),
            agents: Vec::new(),
            skills: Vec::new(),
            resumed: false,
            mended: None,
        };
        show.app.event(&SessionEvent::Opened(opened), Duration::ZERO);
        show.app.event(&SessionEvent::Prompted(Prompt::text("say all of it")), Duration::ZERO);
        show.frame(Duration::ZERO);
        show
    }

    /// The bytes of the frame at this time.
    pub(crate) fn frame(&mut self, now: Duration) -> String {
        let finished = self.app.take_finished();
        self.screen.frame(&finished, &self.app.live(now))
    }

    fn say(&mut self, text: &str, now: Duration) {
        self.app.event(&SessionEvent::Text { step: 1, text: text.to_owned() }, now);
    }

    /// Shows a stream; the CPU time is that of nothing else.
    pub(crate) fn stream(mut self, tokens: &[String], pace: Pace) -> Measured {
        let mut measured = Measured::default();
        let mut due = FRAME;
        let tenth = tokens.len().div_ceil(10).max(1);
        for (nth, tokens) in tokens.chunks(tenth).enumerate() {
            let before = cpu();
            for (at, token) in (nth * tenth..).zip(tokens) {
                let now = TOKEN * u32::try_from(at).unwrap_or(u32::MAX);
                while pace == Pace::Timed && due <= now {
                    measured.frames.push(self.frame(due).len());
                    due += FRAME;
                }
                self.say(token, now);
                if pace == Pace::EachToken {
                    measured.frames.push(self.frame(now).len());
                }
            }
            measured.tenths.push(cpu().saturating_sub(before));
        }
        measured.cpu = measured.tenths.iter().sum();
        measured
    }

    /// The same, with a look at each frame: whether it drew all anew, and what it wrote.
    pub(crate) fn watch(mut self, tokens: &[String], pace: Pace) -> Measured {
        let mut measured = Measured::default();
        let mut due = FRAME;
        for (at, token) in tokens.iter().enumerate() {
            let now = TOKEN * u32::try_from(at).unwrap_or(u32::MAX);
            while pace == Pace::Timed && due <= now {
                self.look(due, &mut measured);
                due += FRAME;
            }
            self.say(token, now);
            if pace == Pace::EachToken {
                self.look(now, &mut measured);
            }
        }
        measured
    }

    fn look(&mut self, now: Duration, measured: &mut Measured) {
        let finished = self.app.take_finished();
        let live: Live = self.app.live(now);
        let bytes = self.screen.frame(&finished, &live);
        let anew = Screen::new(SIZE, Theme::Dark).frame(&[], &live).len();
        if finished.is_empty() && bytes.len() as f64 >= REDRAW * anew as f64 {
            measured.redraws += 1;
        }
        measured.frames.push(bytes.len());
        measured.bytes.push_str(&bytes);
    }
}
