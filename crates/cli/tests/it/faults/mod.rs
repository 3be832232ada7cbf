//! Each fault of a provider, as the clients of a real gateway see it.

mod ends;
mod scripts;
mod table;
mod waits;

use rail_ledger::{Ending, Entry, Ledger, Place};

use crate::home::Home;

/// What the ledger of a home has, the oldest first; its gateway has ended.
fn records(home: &Home) -> Vec<Entry> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut entries = runtime.block_on(async {
        let ledger = Ledger::open(&Place::File(home.path("state/switchrail/ledger.db"))).await.unwrap();
        ledger.recent(1000, None).await.unwrap()
    });
    entries.reverse();
    entries
}

/// A record in a line: how it ended, and what became of each send.
fn line(entry: &Entry) -> String {
    let sent = entry.sent.iter().map(|sent| {
        // Whether a head came in time depends on the machine where nothing more came.
        let silent = sent.problem.as_ref().is_some_and(|problem| problem.starts_with("no content within"));
        let status = sent.status.filter(|_| !silent).map_or(String::new(), |status| format!(" {status}"));
        let problem = sent.problem.as_ref().map_or(String::new(), |problem| format!(" ({problem})"));
        format!("{} {}{status}{problem}", sent.target, sent.outcome)
    });
    let sent: Vec<String> = sent.collect();
    let relayed = if entry.relayed { ", passed on as it came" } else { "" };
    // What failed as a whole has failed as its sends did.
    let broke = entry.problem.as_ref().filter(|_| entry.ending == Ending::Broken);
    let broke = broke.map_or(String::new(), |problem| format!("; then: {problem}"));
    format!("{} {}: {}{relayed}{broke}", entry.ending.word(), entry.status, sent.join("; "))
}
