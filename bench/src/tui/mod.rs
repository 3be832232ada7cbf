//! The terminal interface: what a long answer costs while it streams, what is written for it, and that nothing grows.

mod show;
mod texts;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use pulldown_cmark::{Options, Parser};
use rail_tui::complete::{Files, Finder};
use rail_tui::highlight::Highlighter;

use crate::timing::cpu;
use show::{Measured, Pace, SIZE, Show, TOKEN};
use texts::{Dice, tokens};

/// Of so many runs the shortest counts.
const RUNS: usize = 3;
/// Lines of the long answer.
const LINES: usize = 10_000;
/// Paths that can be completed.
const PATHS: usize = 100_000;
/// As many hits as the interface asks for.
const HITS: usize = 50;

pub(crate) fn run() {
    match std::env::args().nth(2).as_deref() {
        Some("stream") => stream(),
        Some("shapes") => shapes(),
        Some("paths") => paths(),
        Some("start") => start(),
        Some(_) | None => {
            start();
            stream();
            shapes();
            paths();
        }
    }
}

/// Start-up. It comes first: the grammars are read once in a process.
fn start() {
    let first = time(|| drop(black_box(Show::new())));
    let mut more: Vec<Duration> = (0..200).map(|_| time(|| drop(black_box(Show::new())))).collect();
    more.sort_unstable();
    let grammars =
        time(|| drop(black_box(Highlighter::for_language("rust").map(|mut code| code.line("let a = 1;")))));
    println!("start                                                            µs");
    println!("{:<60} {:>6.0}", "App::new and the first frame, first in the process", micros(first));
    println!("{:<60} {:>6.0}", "the same again, median", micros(at(&more, 0.5)));
    println!("{:<60} {:>6.0}\n", "the first line of code in the process: reading grammars", micros(grammars));
}

/// A long answer of all kinds of blocks.
fn stream() {
    let text = texts::mixed(LINES);
    let tokens = tokens(&text);
    let real = TOKEN * u32::try_from(tokens.len()).unwrap_or(u32::MAX);
    println!(
        "{LINES} lines of Markdown, {} KiB in {} tokens, {}x{} cells, {:.0} s of a model with 200 tokens a second\n",
        text.len() >> 10,
        tokens.len(),
        SIZE.columns,
        SIZE.rows,
        real.as_secs_f64()
    );
    println!(
        "{:<44} {:>8} {:>10} {:>12} {:>12}",
        "stream", "CPU ms", "µs a token", "x real time", "% of a core"
    );
    let row = |name: &str, took: Duration| {
        let (took, real) = (took.as_secs_f64(), real.as_secs_f64());
        let each = took * 1e6 / tokens.len().max(1) as f64;
        let (ms, share) = (took * 1e3, took / real * 100.0);
        println!("{name:<44} {ms:>8.1} {each:>10.3} {:>12.0} {share:>12.4}", real / took);
    };
    let best =
        |pace: Pace| (0..RUNS).map(|_| Show::new().stream(&tokens, pace).cpu).min().unwrap_or_default();
    row("a frame every 33 ms (aim 10 x, 3 %)", best(Pace::Timed));
    row("a frame for each token", best(Pace::EachToken));
    let parse = || {
        Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
            .for_each(|event| drop(black_box(event)))
    };
    row("ref: pulldown-cmark reads all of it once", shortest(parse));
    let (timed, each) =
        (Show::new().watch(&tokens, Pace::Timed), Show::new().watch(&tokens, Pace::EachToken));
    let plain = text.replace('\n', "\r\n");
    row("ref: a terminal (vt100) takes the plain text", shortest(|| terminal(&plain)));
    row("a terminal takes the frames of every 33 ms", shortest(|| terminal(&timed.bytes)));
    println!();
    println!(
        "{:<30} {:>8} {:>9} {:>8} {:>7} {:>7} {:>7} {:>8}",
        "bytes to the terminal", "frames", "of text", "a token", "p50", "p99", "max", "redraws"
    );
    written("a frame every 33 ms", &timed, &text, tokens.len());
    written("a frame for each token", &each, &text, tokens.len());
    println!();
}

/// What frames wrote: in all, and each of those that wrote something.
fn written(name: &str, measured: &Measured, text: &str, tokens: usize) {
    let total = measured.frames.iter().sum::<usize>() as f64;
    let mut frames: Vec<usize> = measured.frames.iter().copied().filter(|bytes| *bytes > 0).collect();
    frames.sort_unstable();
    println!(
        "{name:<30} {:>8} {:>8.2}x {:>8.1} {:>7} {:>7} {:>7} {:>8}",
        frames.len(),
        total / text.len().max(1) as f64,
        total / tokens.max(1) as f64,
        at(&frames, 0.5),
        at(&frames, 0.99),
        at(&frames, 1.0),
        measured.redraws
    );
}

/// Shapes in which a block stays open for long: what a token costs in the first tenth of it, in the second and in the last. In the first one a block may
/// still be smaller than what is read of it later.
fn shapes() {
    let mut dice = Dice::new();
    let shapes = [
        ("code of 10,000 lines", texts::code(&mut dice, "rust", 10_000)),
        ("a paragraph of 100,000 characters", texts::prose(&mut dice, 100_000)),
        ("a table of 2,000 rows", texts::table(&mut dice, 2_000)),
        ("a line of 1 MB without a blank", "0123456789abcdef".repeat(1 << 16)),
        ("a line of 1 MB in code", format!("```json\n{}", "[1, \"two\"], ".repeat(87_400))),
    ];
    println!(
        "{:<36} {:>7} {:>8} {:>8} {:>8} {:>10} {:>9} {:>8} {:>8}",
        "a frame every 33 ms",
        "tokens",
        "1st µs",
        "2nd µs",
        "last µs",
        "last/first",
        "last/2nd",
        "of text",
        "redraws"
    );
    for (name, text) in shapes {
        let tokens = tokens(&text);
        let runs: Vec<Measured> = (0..RUNS).map(|_| Show::new().stream(&tokens, Pace::Timed)).collect();
        let tenth =
            |nth: usize| runs.iter().filter_map(|run| run.tenths.get(nth)).min().copied().unwrap_or_default();
        let each = |took: Duration| micros(took) / (tokens.len() as f64 / 10.0);
        let (first, second, last) = (each(tenth(0)), each(tenth(1)), each(tenth(9)));
        let seen = Show::new().watch(&tokens, Pace::Timed);
        let total = seen.frames.iter().sum::<usize>() as f64 / text.len() as f64;
        println!(
            "{name:<36} {:>7} {first:>8.2} {second:>8.2} {last:>8.2} {:>10.2} {:>9.2} {total:>7.2}x {:>8}",
            tokens.len(),
            last / first,
            last / second,
            seen.redraws
        );
    }
    println!();
}

/// Completion of a path, key by key.
fn paths() {
    const QUERIES: &[&str] = &[
        "usercontroller",
        "src/main.rs",
        "tstutl",
        "configparser99",
        "server/model/v",
        "zzqx",
        "Lib12view.tsx",
    ];
    let paths = texts::paths(PATHS);
    let mut files = None;
    let made = time(|| files = Some(Arc::new(Files::new(paths.iter().map(String::as_str)))));
    let Some(files) = files else { return };
    let mut times = Vec::new();
    let mut plain = Vec::new();
    for query in QUERIES.iter().cycle().take(QUERIES.len() * 5) {
        let mut finder = Finder::new(Arc::clone(&files));
        for (end, c) in query.char_indices() {
            let typed = query.get(..end + c.len_utf8()).unwrap_or_default();
            times.push(time(|| drop(black_box(finder.search(typed, HITS)))));
            plain.push(time(|| {
                black_box(paths.iter().filter(|path| path.contains(typed)).count());
            }));
        }
    }
    times.sort_unstable();
    plain.sort_unstable();
    println!("{:<44} {:>9} {:>9} {:>9}", format!("{PATHS} paths, a key"), "p50 µs", "p95 µs", "max µs");
    let row = |name: &str, times: &[Duration]| {
        println!(
            "{name:<44} {:>9.0} {:>9.0} {:>9.0}",
            micros(at(times, 0.5)),
            micros(at(times, 0.95)),
            micros(at(times, 1.0))
        );
    };
    row("Finder::search", &times);
    row("ref: str::contains on every path", &plain);
    println!("making the list ready: {:.1} ms", made.as_secs_f64() * 1e3);
}

/// Gives bytes to a terminal.
fn terminal(bytes: &str) {
    let (rows, columns) =
        (u16::try_from(SIZE.rows).unwrap_or(40), u16::try_from(SIZE.columns).unwrap_or(100));
    let (Ok(rows), Ok(columns)) = (rows.try_into(), columns.try_into()) else { return };
    let mut terminal = vt100::Parser::new(rows, columns, 0);
    terminal.process(bytes.as_bytes());
    black_box(terminal.screen().cursor_position());
}

fn shortest(mut run: impl FnMut()) -> Duration {
    (0..RUNS).map(|_| time(&mut run)).min().unwrap_or_default()
}

/// The CPU time of one run.
fn time(run: impl FnOnce()) -> Duration {
    let before = cpu();
    run();
    cpu().saturating_sub(before)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What is at this part of sorted values.
fn at<T: Copy + Default>(sorted: &[T], part: f64) -> T {
    let last = sorted.len().saturating_sub(1) as f64;
    // Rounded, it is a place in the list.
    sorted.get((last * part).round() as usize).copied().unwrap_or_default()
}
