//! The processes of a command, wherever they went.
//!
//! They are told by the session that its shell leads, by a mark in their environment that whatever they start inherits, and by
//! who their parents are. A process that left its session, was orphaned and has an empty environment is not found.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The variable that carries the mark.
pub(crate) const VARIABLE: &str = "RAIL_COMMAND";

/// How a command's processes are told from others.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The first process, which leads a session and a group of its own; none where all commands of a session are meant.
    pub(crate) leader: Option<Pid>,
    /// How the value of the variable begins.
    pub(crate) mark: String,
}

/// A process of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Straggler {
    /// Its number.
    pub pid: i32,
    /// Its command line, cut.
    pub command: String,
    /// Whether it went into a session of its own.
    pub daemon: bool,
    started: u64,
}

/// One line of the system's table of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    state: u8,
    parent: i32,
    session: i32,
    started: u64,
}

impl Row {
    /// Whether it is more than an entry that its parent has not taken out yet.
    fn lives(&self) -> bool {
        self.state != b'Z' && self.state != b'X'
    }
}

impl Trace {
    /// Whether anybody is left in the group of the first process.
    pub(crate) fn group_is_empty(&self) -> bool {
        self.leader.is_none_or(|leader| test_kill_process_group(leader).is_err())
    }

    /// Sends a signal to the group of the first process, which must not have been waited for: its number could be another's.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // A group that is gone needs no signal.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// All living processes of the command.
    pub(crate) fn find(&self) -> Vec<Straggler> {
        let table = table();
        let leader = self.leader.map_or(0, |leader| leader.as_raw_nonzero().get());
        let wanted = format!("{VARIABLE}={}", self.mark);
        let own =
            |pid: i32, row: &Row| (leader != 0 && row.session == leader) || marked(pid, wanted.as_bytes());
        let mut found: BTreeMap<i32, &Row> =
            table.iter().filter(|(pid, row)| own(**pid, row)).map(|(pid, row)| (*pid, row)).collect();
        // What they started is theirs, even without the mark.
        loop {
            let more: Vec<(i32, &Row)> = table
                .iter()
                .filter(|(pid, row)| !found.contains_key(*pid) && found.contains_key(&row.parent))
                .map(|(pid, row)| (*pid, row))
                .collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        let living = found.into_iter().filter(|(_, row)| row.lives());
        living
            .map(|(pid, row)| Straggler {
                pid,
                command: command_line(pid),
                daemon: row.session != leader,
                started: row.started,
            })
            .collect()
    }
}

impl Straggler {
    /// Whether it is still there.
    pub(crate) fn lives(&self) -> bool {
        row(self.pid).is_some_and(|row| row.started == self.started && row.lives())
    }

    /// Sends it a signal, if it is still the same process.
    #[cfg(target_os = "linux")]
    pub(crate) fn signal(&self, signal: Signal) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        // The handle is opened first: whatever the number means from now on, the handle means the process that is looked at here.
        if row(self.pid).is_some_and(|row| row.started == self.started) {
            // A process that is gone needs no signal.
            let _ = pidfd_send_signal(handle, signal);
        }
    }

    /// Sends it a signal.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// All processes that can be seen; none where there is no `/proc`, and then the group alone is ended.
fn table() -> BTreeMap<i32, Row> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, row(pid)?))).collect()
}

fn row(pid: i32) -> Option<Row> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads a line of `/proc/PID/stat`. The name stands in brackets and may hold anything, brackets too.
fn parse(stat: &[u8]) -> Option<Row> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> =
        std::str::from_utf8(stat.get(end + 1..)?).ok()?.split_ascii_whitespace().collect();
    Some(Row {
        state: *fields.first()?.as_bytes().first()?,
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn marked(pid: i32, wanted: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(wanted))
}

fn command_line(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<String> = line
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let line: String = words.join(" ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_the_table_is_read_whatever_the_name() {
        let line = b"42 (a) b (c)) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        assert_eq!(parse(line), Some(Row { state: b'S', parent: 7, session: 40, started: 98_765 }));
        assert_eq!(parse(b"42 (a"), None);
        assert_eq!(parse(b"42 (a) S 7"), None);
        assert_eq!(parse(b""), None);
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            parse(&line);
        }

        #[test]
        fn what_was_written_is_read(name in "[a-z() ]{0,16}", parent in 0..99_999, session in 0..99_999, started: u64) {
            let line = format!("1 ({name}) R {parent} 3 {session} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {started} 0");
            prop_assert_eq!(parse(line.as_bytes()), Some(Row { state: b'R', parent, session, started }));
        }
    }
}
