//! `grep` and `glob` through the executor, against the `rg` binary on the same tree; and what the executor itself costs.

mod bed;
mod calls;
mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use bed::Bed;

/// How often each side of a row runs, unless the command line says otherwise.
const ROUNDS: usize = 15;

/// `search`, `search ROUNDS`, or `search calls` for the calls alone.
pub(crate) fn run() -> Result<(), String> {
    let asked = std::env::args().nth(2);
    let rounds = asked.as_deref().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS).max(1);
    let target = target()?;
    let root = target.join("bench/tree");
    tree::make(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let bed = Bed::new(&root)?;
    if asked.as_deref() == Some("calls") {
        return calls::run(&bed);
    }
    let rg = ripgrep(&target)?;
    println!("{} files; `rg` writes to /dev/null, `rail` makes the text for a model\n", tree::FILES);
    println!(
        "{:<44} {:>8} {:>8} {:>6}  {:>8} {:>8} {:>6}",
        "search, median", "rg ms", "rail ms", "ratio", "CPU rg", "CPU rail", "ratio"
    );
    for row in rows() {
        compare(&rg, &bed, &row, rounds)?;
    }
    calls::run(&bed)
}

/// One search, asked for in both ways.
struct Row {
    name: &'static str,
    rg: &'static [&'static str],
    tool: &'static str,
    input: Value,
}

fn rows() -> Vec<Row> {
    let row = |name, rg, tool, input| Row { name, rg, tool, input };
    vec![
        row("files, rare word", &["-l", "needle"], "grep", json!({"pattern": "needle"})),
        row("files, word in every third file", &["-l", "common::"], "grep", json!({"pattern": "common::"})),
        row("files, no match", &["-l", "qqqq"], "grep", json!({"pattern": "qqqq"})),
        row(
            "lines, rare word",
            &["-n", "needle"],
            "grep",
            json!({"pattern": "needle", "output_mode": "content"}),
        ),
        row(
            "lines, word in every third file",
            &["-n", "common::"],
            "grep",
            json!({"pattern": "common::", "output_mode": "content"}),
        ),
        row(
            "lines, regular expression in nearly every file",
            &["-n", r"\w+_total\s*="],
            "grep",
            json!({"pattern": r"\w+_total\s*=", "output_mode": "content"}),
        ),
        row(
            "lines around, any case, one type",
            &["-n", "-i", "-C", "2", "-t", "rust", "NEEDLE"],
            "grep",
            json!({"pattern": "NEEDLE", "output_mode": "content", "-i": true, "-C": 2, "type": "rust"}),
        ),
        row(
            "count per file",
            &["-c", "session"],
            "grep",
            json!({"pattern": "session", "output_mode": "count"}),
        ),
        row(
            "names, newest first",
            &["--files", "-g", "*.toml", "--sortr", "modified"],
            "glob",
            json!({"pattern": "*.toml"}),
        ),
        row("names, rg in no order", &["--files", "-g", "*.toml"], "glob", json!({"pattern": "*.toml"})),
        row("all names, rg in no order", &["--files"], "glob", json!({"pattern": "**"})),
    ]
}

/// Both sides in turns, so that noise hits both alike.
fn compare(rg: &Path, bed: &Bed, row: &Row, rounds: usize) -> Result<(), String> {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    let (mut their_cpu, mut our_cpu) = (Duration::ZERO, Duration::ZERO);
    for round in 0..=rounds {
        let (began, cpu) = (Instant::now(), bed::cpu_of_children());
        let mut command = Command::new(rg);
        command.args(row.rg).current_dir(&bed.root).stdin(Stdio::null()).stdout(Stdio::null());
        command.status().map_err(|error| format!("{}: {error}", rg.display()))?;
        let (their_time, their_use) = (began.elapsed(), bed::cpu_of_children().saturating_sub(cpu));
        let (began, cpu) = (Instant::now(), bed::cpu());
        let outcome = bed.call(row.tool, &row.input);
        let (our_time, our_use) = (began.elapsed(), bed::cpu().saturating_sub(cpu));
        if !outcome.success() {
            return Err(format!("{}: {}", row.name, outcome.text()));
        }
        // The first round fills the caches.
        if round > 0 {
            theirs.push(their_time);
            ours.push(our_time);
            their_cpu += their_use;
            our_cpu += our_use;
        }
    }
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let (theirs, ours) = (millis(median(theirs)), millis(median(ours)));
    let each = |time: Duration| millis(time) / rounds as f64;
    println!(
        "{:<44} {theirs:>8.1} {ours:>8.1} {:>6.2}  {:>8.1} {:>8.1} {:>6.2}",
        row.name,
        ours / theirs,
        each(their_cpu),
        each(our_cpu),
        each(our_cpu) / each(their_cpu).max(0.1)
    );
    Ok(())
}

/// The value in the middle.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The folder that this program was built in.
fn target() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("no path of our own: {error}"))?;
    program.ancestors().nth(2).map(Path::to_owned).ok_or_else(|| "no target folder".to_owned())
}

/// The `rg` binary, built from its crate on the first run.
fn ripgrep(target: &Path) -> Result<PathBuf, String> {
    let tools = target.join("bench/tools");
    let rg = tools.join("bin/rg");
    if !rg.is_file() {
        eprintln!("building ripgrep");
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["install", "ripgrep", "--locked", "--root"]).arg(&tools);
        cargo.arg("--target-dir").arg(target.join("bench/rg-build"));
        let built = cargo.status().is_ok_and(|status| status.success());
        if !built {
            return Err("`cargo install ripgrep` failed; put an `rg` there yourself: ".to_owned()
                + &rg.display().to_string());
        }
    }
    Ok(rg)
}
