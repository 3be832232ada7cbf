//! Screens as pictures, for the documentation and to be looked at.

use std::fmt::Write as _;
use std::path::Path;

use rail_proto::{Finish, Reason, SessionEvent, ShellState, TodoStatus};
use rail_tui::Start;
use rail_tui::theme::Theme;
use serde_json::json;

use crate::screens::{Stage, Step, script, typed};
use crate::screens_script::*;
use crate::{screens_ask, screens_talk, screens_work};

/// A cell in pixels.
const CELL: (f64, f64) = (8.4, 18.0);
/// The edge around the screen.
const EDGE: f64 = 12.0;

/// The colours of text and background where none is said.
fn usual(theme: Theme) -> (&'static str, &'static str) {
    match theme {
        Theme::Light => ("#24292f", "#ffffff"),
        Theme::Dark | Theme::Safe | Theme::Plain => ("#d8dee9", "#16181d"),
    }
}

/// What a terminal shows, as far down as there is something.
pub(crate) fn svg(screen: &vt100::Screen, theme: Theme) -> String {
    let columns = screen.size().1.get();
    let texts: Vec<String> = screen.rows(0, columns).collect();
    let rows = texts.iter().rposition(|row| !row.trim_end().is_empty()).map_or(1, |last| last + 1);
    let (front, back) = usual(theme);
    let width = f64::from(columns) * CELL.0 + 2.0 * EDGE;
    let height = f64::from(u16::try_from(rows).unwrap()) * CELL.1 + 2.0 * EDGE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{back}\"/>\n\
         <g font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\" fill=\"{front}\" xml:space=\"preserve\">\n"
    );
    let (row, column) = screen.cursor_position();
    if !screen.hide_cursor() {
        write!(out, "{}", rect(row, column, 1, front)).unwrap();
    }
    for row in 0..u16::try_from(rows).unwrap() {
        for run in runs(screen, row, columns) {
            run.draw(row, theme, &mut out);
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Cells of one look.
struct Run {
    from: u16,
    cells: u16,
    text: String,
    front: vt100::Color,
    back: vt100::Color,
    marks: [bool; 4],
}

fn runs(screen: &vt100::Screen, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        let marks = [cell.bold(), cell.italic(), cell.underline(), cell.inverse()];
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut() {
            Some(last) if cell.is_wide_continuation() => last.cells += 1,
            // Blanks stand between runs, so that a font that is too wide or too narrow pushes nothing far away.
            Some(last) if (last.front, last.back, last.marks) == (cell.fgcolor(), cell.bgcolor(), marks) => {
                last.cells += 1;
                last.text.push_str(text);
            }
            _ => {
                let (front, back) = (cell.fgcolor(), cell.bgcolor());
                runs.push(Run { from: column, cells: 1, text: text.to_owned(), front, back, marks });
            }
        }
    }
    runs
}

impl Run {
    fn draw(&self, row: u16, theme: Theme, out: &mut String) {
        let [bold, italic, underline, inverse] = self.marks;
        let (usual_front, usual_back) = usual(theme);
        let front = colour(self.front);
        let back = colour(self.back);
        let (front, back) = match inverse {
            true => {
                (Some(back.unwrap_or(usual_back.to_owned())), Some(front.unwrap_or(usual_front.to_owned())))
            }
            false => (front, back),
        };
        if let Some(back) = back {
            out.push_str(&rect(row, self.from, self.cells, &back));
        }
        let trimmed = self.text.trim_end();
        if trimmed.trim_start().is_empty() {
            return;
        }
        let cells = self.cells - u16::try_from(self.text.len() - trimmed.len()).unwrap();
        let x = EDGE + f64::from(self.from) * CELL.0;
        let y = EDGE + f64::from(row) * CELL.1 + 13.0;
        write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{:.1}\"", f64::from(cells) * CELL.0)
            .unwrap();
        if let Some(front) = front {
            write!(out, " fill=\"{front}\"").unwrap();
        }
        let looks = [
            (bold, " font-weight=\"bold\""),
            (italic, " font-style=\"italic\""),
            (underline, " text-decoration=\"underline\""),
        ];
        out.extend(looks.iter().filter(|(is, _)| *is).map(|(_, look)| *look));
        let text = trimmed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(out, ">{text}</text>").unwrap();
    }
}

fn rect(row: u16, column: u16, cells: u16, colour: &str) -> String {
    let (x, y) = (EDGE + f64::from(column) * CELL.0, EDGE + f64::from(row) * CELL.1 - 1.0);
    let (width, height) = (f64::from(cells) * CELL.0, CELL.1);
    format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>\n"
    )
}

/// The colours that terminals have by number: sixteen of their own, a cube, and greys.
fn colour(colour: vt100::Color) -> Option<String> {
    let index = match colour {
        vt100::Color::Default => return None,
        vt100::Color::Rgb(red, green, blue) => return Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        vt100::Color::Idx(index) => index,
    };
    let side = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    let (red, green, blue) = match index {
        0..=15 => panic!("themes take no colour that a terminal may have changed: {index}"),
        16..=231 => (side((index - 16) / 36), side((index - 16) / 6 % 6), side((index - 16) % 6)),
        232.. => (8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232)),
    };
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

fn drawn(theme: Theme, size: (u16, u16), steps: &[Step]) -> String {
    let mut stage = Stage::new(Start { theme, ..start() }, size);
    stage.play(steps);
    svg(stage.terminal.screen(), theme)
}

fn conversation() -> Vec<Step> {
    let tests =
        "running 41 tests\n.........................................\ntest result: ok. 41 passed; 0 failed";
    let todos = vec![
        todo(TodoStatus::Completed, "Find where it fails"),
        todo(TodoStatus::Completed, "Let skip peek"),
        todo(TodoStatus::InProgress, "Add a test for a comment at the end of a line"),
    ];
    let mut steps = begun("why does the parser fail at the end of a line? repair it");
    steps.extend(screens_talk::edited());
    steps.extend(script![
        call("c2", "Bash", json!({"command": "cargo test -p shop"})),
        result("c2", Finish::Done, tests, preview(tests, 2)),
        SessionEvent::Todos(todos),
        SessionEvent::Shells(vec![shell("bash_1", "npm run dev -- --port 3000", ShellState::Running)]),
        text("All tests pass. I add one for a line that ends in a comm"),
        Step::Tick(23_000),
        typed("look at @"),
        screens_work::files(),
        typed("pars"),
    ]);
    steps
}

/// The pictures of the documentation.
#[test]
#[expect(clippy::disallowed_methods, reason = "only a person at a shell writes them")]
fn pictures_are_up_to_date() {
    let ended = [conversation(), script![typed("<Esc><C-u>"), done(Reason::Answered, "")]].concat();
    let pictures = [
        ("conversation", drawn(Theme::Dark, (90, 40), &conversation())),
        ("conversation-light", drawn(Theme::Light, (90, 40), &ended)),
        ("permission", drawn(Theme::Dark, (80, 24), &screens_ask::asked(screens_ask::command(), "<Down>"))),
        ("choice", drawn(Theme::Light, (80, 24), &screens_ask::several())),
        ("agents", drawn(Theme::Dark, (90, 30), &screens_work::agents())),
        ("models", drawn(Theme::Dark, (80, 24), &screens_work::models())),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    for (name, picture) in pictures {
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("RAIL_PICTURES").is_some_and(|what| what == "write") {
            std::fs::write(&path, &picture).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == picture,
            "docs/pictures/{name}.svg is old: RAIL_PICTURES=write cargo test -p rail-tui pictures"
        );
    }
}
