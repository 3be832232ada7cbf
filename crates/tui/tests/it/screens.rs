//! Whole screens: a script of events and keys, and what a terminal shows of it at three sizes. `INSTA_UPDATE=always` writes what it shows now, and
//! `RAIL_SCREENS=FOLDER` draws it as pictures.

use std::fmt::Write as _;
use std::time::Duration;

use rail_proto::SessionEvent;
use rail_tui::screen::{Live, Screen, Size};
use rail_tui::text::Line;
use rail_tui::theme::Theme;
use rail_tui::{App, News, Out, Start};

use crate::keys::keys;

/// One step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Something happens in the session.
    Event(SessionEvent),
    /// Keys, in the notation of [`keys`].
    Keys(String),
    Paste(String),
    News(News),
    /// The terminal has another size: columns and rows.
    Resize(u16, u16),
    /// Milliseconds pass.
    Tick(u64),
}

impl From<SessionEvent> for Step {
    fn from(event: SessionEvent) -> Self {
        Self::Event(event)
    }
}

impl From<News> for Step {
    fn from(news: News) -> Self {
        Self::News(news)
    }
}

pub(crate) fn typed(text: &str) -> Step {
    Step::Keys(text.to_owned())
}

/// Steps of whatever kind, one after the other.
macro_rules! script {
    ($($step:expr),* $(,)?) => { Vec::from([$($crate::screens::Step::from($step)),*]) };
}
pub(crate) use script;

/// An interface on a terminal, which is drawn after every step as a driver does.
pub(crate) struct Stage {
    pub(crate) app: App,
    pub(crate) terminal: vt100::Parser,
    pub(crate) theme: Theme,
    screen: Screen,
    now: Duration,
    /// All that was finished.
    pub(crate) finished: Vec<Line>,
    pub(crate) outs: Vec<Out>,
    pub(crate) resized: bool,
}

impl Stage {
    pub(crate) fn new(start: Start, (columns, rows): (u16, u16)) -> Self {
        let size = Size { columns: columns.into(), rows: rows.into() };
        let theme = start.theme;
        let screen = Screen::new(size, theme);
        let mut stage = Self {
            theme,
            app: App::new(start, size),
            terminal: terminal(columns, rows),
            screen,
            now: Duration::ZERO,
            finished: Vec::new(),
            outs: Vec::new(),
            resized: false,
        };
        stage.draw();
        stage
    }

    pub(crate) fn play(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Event(event) => self.app.event(event, self.now),
                Step::Keys(text) => {
                    for key in keys(text) {
                        self.app.key(key, self.now);
                        self.draw();
                    }
                }
                Step::Paste(text) => self.app.paste(text),
                Step::News(news) => self.app.news(news.clone()),
                Step::Resize(columns, rows) => self.resize(*columns, *rows),
                Step::Tick(ms) => self.now += Duration::from_millis(*ms),
            }
            self.draw();
            // Whoever watches reads what there is before the next step; until then no key answers a question.
            drop(self.app.live(self.now + Duration::from_secs(1)));
            self.draw();
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.resized = true;
        self.terminal.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        let size = Size { columns: columns.into(), rows: rows.into() };
        let bytes = self.screen.resize(size);
        self.terminal.process(bytes.as_bytes());
        self.app.resize(size);
    }

    fn draw(&mut self) {
        for out in self.app.take_out() {
            if let Out::Theme(theme) = out {
                self.screen.set_theme(theme);
                self.theme = theme;
            }
            self.outs.push(out);
        }
        let done = self.app.take_finished();
        let bytes = self.screen.frame(&done, &self.app.live(self.now));
        self.finished.extend(done);
        self.terminal.process(bytes.as_bytes());
    }

    pub(crate) fn size(&self) -> Size {
        self.screen.size()
    }

    pub(crate) fn live(&mut self) -> Live {
        self.app.live(self.now)
    }

    /// All rows there are.
    pub(crate) fn everything(&mut self) -> Vec<String> {
        texts(&mut self.terminal)
    }

    /// What is drawn step by step is what would be drawn at once: nothing is left behind.
    pub(crate) fn is_clean(&mut self, theme: Theme) {
        if self.resized {
            return;
        }
        let size = self.screen.size();
        let mut fresh = terminal(size.columns.try_into().unwrap(), size.rows.try_into().unwrap());
        let bytes = Screen::new(size, theme).frame(&self.finished, &self.app.live(self.now));
        fresh.process(bytes.as_bytes());
        let (shown, wanted) = (rows(&mut self.terminal), rows(&mut fresh));
        let differs = shown.iter().zip(&wanted).find(|(shown, wanted)| shown != wanted);
        assert_eq!(differs, None, "of {} and {} rows", shown.len(), wanted.len());
        assert_eq!(shown.len(), wanted.len());
        let cursor = |screen: &vt100::Screen| {
            let (row, column) = screen.cursor_position();
            // Where a hidden one stands is nobody's concern.
            (!screen.hide_cursor()).then(|| (screen.scrollback_len() + usize::from(row), column))
        };
        assert_eq!(cursor(self.terminal.screen()), cursor(fresh.screen()));
    }
}

/// All rows of a terminal, scrolled-off ones included, without blanks at their ends.
pub(crate) fn texts(terminal: &mut vt100::Parser) -> Vec<String> {
    rows(terminal).into_iter().map(|(text, _)| text).collect()
}

/// All rows of a terminal from the first that scrolled off, each with its looks; empty ones at the end are left out.
fn rows(terminal: &mut vt100::Parser) -> Vec<(String, String)> {
    let seen = |screen: &vt100::Screen, row: u16| {
        let columns = screen.size().1;
        let text = screen.rows(0, columns.into()).nth(row.into()).unwrap_or_default();
        (text.trim_end().to_owned(), row_looks(screen, row))
    };
    let mut all = Vec::new();
    terminal.screen_mut().set_scrollback(usize::MAX);
    for left in (1..=terminal.screen().scrollback()).rev() {
        terminal.screen_mut().set_scrollback(left);
        all.push(seen(terminal.screen(), 0));
    }
    terminal.screen_mut().set_scrollback(0);
    all.extend((0..terminal.screen().size().0.get()).map(|row| seen(terminal.screen(), row)));
    while all.last().is_some_and(|(text, looks)| text.is_empty() && looks.is_empty()) {
        all.pop();
    }
    all
}

pub(crate) fn terminal(columns: u16, rows: u16) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 100_000)
}

/// The rows as they are seen, where the cursor is, and how much has scrolled off.
fn grid(stage: &mut Stage) -> String {
    let above = stage.everything().len();
    let screen = stage.terminal.screen();
    let (rows, columns) = screen.size();
    let (row, column) = screen.cursor_position();
    let cursor =
        if screen.hide_cursor() { "hidden".to_owned() } else { format!("{}:{}", row + 1, column + 1) };
    let texts: Vec<String> = screen.rows(0, columns.into()).map(|row| row.trim_end().to_owned()).collect();
    let used = texts.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
    let mut out = format!("── {columns}×{rows}, cursor {cursor}");
    match above.saturating_sub(used) {
        0 => out.push('\n'),
        above => writeln!(out, ", {above} above").unwrap(),
    }
    for text in texts.iter().take(used) {
        writeln!(out, "│{text}").unwrap();
    }
    out
}

/// Rows that have looks, with these before each text: the colour of the text, that behind it, and letters for bold, dim, italic, underlined, reversed.
fn looks(screen: &vt100::Screen) -> String {
    let rows = (0..screen.size().0.get()).map(|row| (row + 1, row_looks(screen, row)));
    rows.filter(|(_, looks)| !looks.is_empty()).map(|(row, looks)| format!("{row:2} {looks}\n")).collect()
}

fn row_looks(screen: &vt100::Screen, row: u16) -> String {
    let mut runs: Vec<(String, String)> = Vec::new();
    let cells = (0..screen.size().1.get()).filter_map(|column| screen.cell(row, column));
    for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
        let look = look(cell);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some((last, run)) if *last == look => run.push_str(text),
            _ => runs.push((look, text.to_owned())),
        }
    }
    let runs = runs.iter().filter(|(look, _)| !look.is_empty());
    runs.map(|(look, text)| format!("{look}‹{text}›")).collect::<Vec<_>>().join(" ")
}

fn look(cell: &vt100::Cell) -> String {
    let colour = |colour| match colour {
        vt100::Color::Default => String::new(),
        vt100::Color::Idx(index) => index.to_string(),
        vt100::Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    };
    let mut look = colour(cell.fgcolor());
    if cell.bgcolor() != vt100::Color::Default {
        look.push('/');
        look.push_str(&colour(cell.bgcolor()));
    }
    let marks = [
        (cell.bold(), 'b'),
        (cell.dim(), 'd'),
        (cell.italic(), 'i'),
        (cell.underline(), 'u'),
        (cell.inverse(), 'r'),
    ];
    look.extend(marks.iter().filter(|(is, _)| *is).map(|(_, mark)| mark));
    look
}

pub(crate) const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// Plays a script on terminals of all sizes; of the usual size the looks are kept as well.
pub(crate) fn check(name: &str, start: &Start, steps: &[Step]) {
    let mut all = String::new();
    for size in SIZES {
        let mut stage = Stage::new(start.clone(), size);
        stage.play(steps);
        stage.is_clean(start.theme);
        all.push_str(&grid(&mut stage));
        look_at(&format!("{name}-{}", size.0), stage.terminal.screen(), start.theme);
    }
    for theme in [Theme::Dark, Theme::Light, Theme::Plain] {
        let mut stage = Stage::new(Start { theme, ..start.clone() }, SIZES[0]);
        stage.play(steps);
        write!(all, "── looks at 80×24, {}\n{}", theme.name(), looks(stage.terminal.screen())).unwrap();
    }
    keep(name, &all);
}

/// The looks of a script in every theme.
pub(crate) fn check_themes(name: &str, start: &Start, steps: &[Step]) {
    let mut all = String::new();
    for theme in Theme::ALL {
        let start = Start { theme: *theme, ..start.clone() };
        let mut stage = Stage::new(start, SIZES[0]);
        stage.play(steps);
        stage.is_clean(*theme);
        look_at(&format!("{name}-{}", theme.name()), stage.terminal.screen(), *theme);
        write!(all, "── {}\n{}", theme.name(), looks(stage.terminal.screen())).unwrap();
    }
    keep(name, &all);
}

/// A picture, where somebody wants to look at it.
#[expect(clippy::disallowed_methods, reason = "only a person at a shell wants it")]
fn look_at(name: &str, screen: &vt100::Screen, theme: Theme) {
    if let Some(folder) = std::env::var_os("RAIL_SCREENS") {
        let path = std::path::Path::new(&folder).join(format!("{name}.svg"));
        std::fs::write(path, crate::screens_picture::svg(screen, theme)).unwrap();
    }
}

fn keep(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../fixtures/screens");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
