//! What long sessions cost: the time of a turn at the beginning and after thousands, going on with a long session, and being interrupted.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agent::{Bed, lock, own_cpu, peak, row, told};

/// Turns of the long session.
const TURNS: usize = 5_000;
/// Turns at each end that are compared.
const ENDS: usize = 100;
/// Interruptions of each kind.
const INTERRUPTIONS: usize = 9;

/// What a turn took.
#[derive(Clone, Copy)]
struct Turn {
    wall: Duration,
    cpu: Duration,
}

pub(crate) fn run() -> Result<(), String> {
    let bed = Bed::new(", window = 16000, max_output = 1000")?;
    long(&bed)?;
    resume(&bed)?;
    interrupt(&bed)
}

/// One process answers thousands of messages; the window stays bounded by summaries.
fn long(bed: &Bed) -> Result<(), String> {
    bed.script(0);
    let mut command = bed.rail(&["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(told)?;
    let pid = child.id();
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut turns = Vec::with_capacity(TURNS);
    let mut peaks = Vec::new();
    for number in 0..TURNS {
        let (began, before) = (Instant::now(), own_cpu(pid));
        let words = format!("Message {number}: {}", "what do you make of it? ".repeat(8));
        let message = json!({"type": "user", "message": {"role": "user", "content": words}});
        writeln!(input, "{message}").map_err(told)?;
        until_result(&mut lines)?;
        turns.push(Turn { wall: began.elapsed(), cpu: own_cpu(pid).saturating_sub(before) });
        if number == TURNS / 10 || number + 1 == TURNS {
            peaks.push(peak(pid) as f64 / 1024.0);
        }
    }
    drop(input);
    child.wait().map_err(told)?;
    // The window is full only after some turns: what is compared is the mean with summaries among them.
    let mean = |turns: &[Turn], what: fn(&Turn) -> Duration| {
        turns.iter().map(what).sum::<Duration>().as_secs_f64() * 1e6 / turns.len().max(1) as f64
    };
    let (first, last) =
        (turns.get(ENDS..2 * ENDS).unwrap_or_default(), turns.get(TURNS - ENDS..).unwrap_or_default());
    println!(
        "{:<44} {:>12} {:>12}",
        format!("session of {TURNS} turns, window 16,000 tokens"),
        "wall µs",
        "CPU µs"
    );
    for (name, part) in [("turns 100 to 200, mean", first), ("last 100 turns, mean", last)] {
        println!("{name:<44} {:>12.0} {:>12.0}", mean(part, |turn| turn.wall), mean(part, |turn| turn.cpu));
    }
    let ratio = |what| mean(last, what) / mean(first, what).max(1e-9);
    println!("{:<44} {:>12.2} {:>12.2}  aim 1.2", "  ratio", ratio(|turn| turn.wall), ratio(|turn| turn.cpu));
    if let [early, late] = peaks.as_slice() {
        println!("{:<44} {early:>9.1} MB {late:>9.1} MB", "peak after a tenth of them, and at the end");
    }
    Ok(())
}

fn until_result(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Result<(), String> {
    for line in lines {
        let line: Value = serde_json::from_str(&line.map_err(told)?).map_err(told)?;
        if line.get("type").and_then(Value::as_str) == Some("result") {
            return Ok(());
        }
    }
    Err("it ended before its result".to_owned())
}

/// One answer in a new session, and one in the long one.
fn resume(bed: &Bed) -> Result<(), String> {
    println!("{:<44} {:>9} {:>9} {:>9}", "one answer, median", "wall ms", "CPU ms", "peak MB");
    let fresh = row("in a session that goes on after 5,000 turns", "", || bed.one(&["-c", "-p", "go"], 0));
    let new = row("in a new session", "", || bed.one(&["-p", "go"], 0));
    println!("{:<44} {:>29.2}", "  ratio of CPU", fresh.cpu.as_secs_f64() / new.cpu.as_secs_f64().max(1e-9));
    Ok(())
}

/// From Ctrl-C to the end of the process, while an answer streams and while a command runs.
fn interrupt(bed: &Bed) -> Result<(), String> {
    for (name, steps, marker) in
        [("while an answer is waited for", usize::MAX, None), ("while a command runs", 1, Some("begun"))]
    {
        let mut waits = Vec::new();
        for _ in 0..INTERRUPTIONS {
            waits.push(interrupted(bed, steps, marker)?.as_secs_f64() * 1e3);
        }
        waits.sort_by(f64::total_cmp);
        let (middle, longest) = (waits.get(waits.len() / 2), waits.last());
        if let (Some(middle), Some(longest)) = (middle, longest) {
            println!(
                "{:<44} {middle:>8.1} ms  longest {longest:.1} ms  aim 100 ms",
                format!("interrupted {name}, to the end")
            );
        }
    }
    Ok(())
}

fn interrupted(bed: &Bed, steps: usize, marker: Option<&str>) -> Result<Duration, String> {
    bed.script(steps);
    lock(&bed.model).stalls = marker.is_none();
    let file = bed.work.join("begun");
    let _ = std::fs::remove_file(&file);
    lock(&bed.model).command = marker.map(|marker| format!("echo x > {marker}; sleep 60"));
    let mut child = bed
        .rail(&["--permission-mode", "accept-edits", "--allow", "Bash", "-p", "go"])
        .spawn()
        .map_err(told)?;
    let ready = || if marker.is_some() { file.exists() } else { !lock(&bed.model).bodies.is_empty() };
    let begun = wait_for(ready, &mut child)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or("no process")?;
    kill_process(pid, Signal::INT).map_err(told)?;
    child.wait().map_err(told)?;
    Ok(begun.elapsed())
}

/// Waits until something is so; when it was.
fn wait_for(mut ready: impl FnMut() -> bool, child: &mut Child) -> Result<Instant, String> {
    let began = Instant::now();
    while !ready() {
        if began.elapsed() > Duration::from_secs(20) || child.try_wait().map_err(told)?.is_some() {
            return Err("it did not get as far as being interrupted".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(Instant::now())
}
