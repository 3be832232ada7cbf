//! What a call costs whatever the tool does, how soon a search ends, and an edit of a large file.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_tool::{
    Card, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::bed::{self, Bed};
use super::median;

/// Calls of a tool that does nothing.
const CALLS: u32 = 5_000;

/// Does nothing.
pub(crate) struct Nothing;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// A file in the workspace.
    file_path: String,
}

impl Tool for Nothing {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "nothing",
        title: "Nothing",
        summary: "Does nothing",
        prompt: "Does nothing.",
        generation: Generation::Gen1,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(&input.file_path))]
    }

    async fn run(_: Input, _: ToolCx) -> Result<ToolOutput, ToolFault> {
        Ok(ToolOutput::text("done"))
    }

    fn examples() -> &'static [Example] {
        &[]
    }
}

pub(crate) fn run(bed: &Bed) -> Result<(), String> {
    println!("\n{:<60} {:>10}", "calls", "measured");
    overhead(bed)?;
    cancelled(bed);
    edit(bed)
}

/// All stages of a call around a tool that does nothing.
fn overhead(bed: &Bed) -> Result<(), String> {
    let input = json!({"file_path": "pkg00/mod00/src0/file_0.rs"});
    let outcome = bed.call("nothing", &input);
    if !outcome.success() {
        return Err(outcome.text());
    }
    // A session is a task of the runtime, so its calls come from one.
    let (executor, within) = (Arc::clone(&bed.executor), input.clone());
    let cpu = bed::cpu();
    let times = bed.runtime.block_on(bed.runtime.spawn(async move {
        let mut times = Vec::new();
        for _ in 0..CALLS {
            let (began, call) = (Instant::now(), bed::written("nothing", &within));
            executor.run(vec![call], &CancellationToken::new()).await;
            times.push(began.elapsed());
        }
        times
    }));
    let cpu = bed::cpu().saturating_sub(cpu) / CALLS;
    row("a call that does nothing, median, aim 50 µs", median(times.map_err(|error| error.to_string())?));
    row("its CPU, mean", cpu);
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        bed.call("nothing", &input);
        times.push(began.elapsed());
    }
    row("the same from outside of the runtime, which wakes two threads", median(times));
    Ok(())
}

/// From the moment a search of the whole tree is cancelled to its result.
fn cancelled(bed: &Bed) {
    let mut times = Vec::new();
    for round in 0..15_u32 {
        let cancel = CancellationToken::new();
        let input = json!({"pattern": "qqqq"});
        let took = bed.runtime.block_on(async {
            let mut call = std::pin::pin!(bed.calling("grep", &input, &cancel));
            let soon = tokio::time::sleep(Duration::from_millis(u64::from(5 + round * 3)));
            tokio::select! {
                _ = &mut call => None,
                () = soon => {
                    let began = Instant::now();
                    cancel.cancel();
                    call.await;
                    Some(began.elapsed())
                }
            }
        });
        times.extend(took);
    }
    row(
        "a search that is cancelled, to its result, longest, aim 100 ms",
        times.into_iter().max().unwrap_or_default(),
    );
}

/// One line in a file of 10 MB; the reference reads, writes, syncs and renames the same bytes.
fn edit(bed: &Bed) -> Result<(), String> {
    let there = |name: &str| rail_tools::registry().get(name).is_some();
    if !there("edit_file") || !there("read_file") {
        return Ok(());
    }
    let mut text = String::new();
    for number in 0..200_000 {
        // A string takes whatever is written to it.
        let _ = writeln!(text, "line {number} of a file that has a great many of them");
    }
    let file = bed.folder().join("large.txt");
    let plain = bed.folder().join("plain.txt");
    let told = |error: std::io::Error| format!("{}: {error}", file.display());
    fs::write(&file, &text).map_err(told)?;
    fs::write(&plain, &text).map_err(told)?;
    let read = bed.call("read_file", &json!({"file_path": file, "offset": 100_000, "limit": 5}));
    if !read.success() {
        return Err(read.text());
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..15 {
        let old = format!("line {} of", 100_000 + round);
        let new = format!("LINE {} of", 100_000 + round);
        let began = Instant::now();
        let outcome =
            bed.call("edit_file", &json!({"file_path": file, "old_string": old, "new_string": new}));
        ours.push(began.elapsed());
        if !outcome.success() {
            return Err(outcome.text());
        }
        let began = Instant::now();
        by_hand(&plain, &old, &new).map_err(told)?;
        theirs.push(began.elapsed());
    }
    row("one line of a 10 MB file edited, median", median(ours));
    row("the same read, replaced, written, synced and renamed by hand", median(theirs));
    Ok(())
}

fn by_hand(file: &Path, old: &str, new: &str) -> std::io::Result<()> {
    let text = fs::read_to_string(file)?.replacen(old, new, 1);
    let draft = file.with_extension("draft");
    fs::write(&draft, text)?;
    fs::File::open(&draft)?.sync_all()?;
    fs::rename(draft, file)
}

fn row(name: &str, time: Duration) {
    println!("{name:<60} {:>10}", format!("{:.1} µs", time.as_secs_f64() * 1e6));
}
