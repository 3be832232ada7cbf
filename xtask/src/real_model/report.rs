//! The table of tasks, for people.

use std::fmt::Write;

use super::tasks::{CORE, one_line};
use super::trial::Trial;

/// The first lines of the table.
pub(super) fn head() -> String {
    format!("{}\n", row(["task", "succeeded", "seconds", "turns", "repaired"].map(str::to_owned)))
}

/// A task in the table, with what went wrong below it.
pub(super) fn line(trial: &Trial) -> String {
    let succeeded = if trial.failures.is_empty() { "yes" } else { "no" };
    let repaired = trial.seen.repairs.iter().map(|(what, times)| match times {
        1 => what.clone(),
        times => format!("{what} ({times} times)"),
    });
    let mut out = row([
        trial.name.to_owned(),
        succeeded.to_owned(),
        trial.seconds.to_string(),
        trial.seen.turns.to_string(),
        repaired.collect::<Vec<_>>().join("; "),
    ]);
    out.push('\n');
    for failure in &trial.failures {
        let _ = writeln!(out, "    {failure}");
    }
    if !trial.failures.is_empty() && !trial.seen.answer.is_empty() {
        let _ = writeln!(out, "    it said {}", one_line(&trial.seen.answer));
    }
    out
}

fn row([task, succeeded, seconds, turns, repaired]: [String; 5]) -> String {
    format!("{task:<18} {succeeded:<9} {seconds:>7} {turns:>5}  {repaired}").trim_end().to_owned()
}

/// What all of it comes to, and what is missing of the core.
pub(super) fn sum(trials: &[Trial]) -> (String, Vec<&'static str>) {
    let done =
        |name: &str| trials.iter().find(|trial| trial.name == name).map(|trial| trial.failures.is_empty());
    let succeeded = trials.iter().filter(|trial| trial.failures.is_empty()).count();
    let seconds: u64 = trials.iter().map(|trial| trial.seconds).sum();
    let text = format!(
        "{succeeded} of {} tasks succeeded, in {} min {} s\n",
        trials.len(),
        seconds / 60,
        seconds % 60
    );
    // A task that was not asked for is no failure.
    let missing = CORE.iter().filter(|(_, task)| done(task) == Some(false)).map(|(what, _)| *what);
    (text, missing.collect())
}
