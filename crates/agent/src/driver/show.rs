//! What tools and permissions say, in the words of the protocol.

use std::path::Path;

use rail_edit::diff::{FileDiff, Mark};
use rail_permit::{Answer, Facet, Offer, Question, Scope};
use rail_proto::{Doing, FileChange, Finish, Hunk, Lasting, Leave, Line, PermissionAsk, Shown, ToolEnd};
use rail_tool::{Display, End, HookedCall, Outcome, Reply};

/// A call's result.
pub(super) fn ended(step: u64, outcome: &Outcome) -> ToolEnd {
    ToolEnd {
        step,
        result: outcome.result(),
        success: outcome.success(),
        end: finish(outcome.end),
        shown: match outcome.end {
            // What was said to the model is not for whoever said it.
            End::Rejected => Some(Shown::Summary { text: "you said no".to_owned() }),
            _ => outcome.display.as_ref().map(shown),
        },
        duration_ms: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
    }
}

fn finish(end: End) -> Finish {
    match end {
        End::Done => Finish::Done,
        End::Refused => Finish::Refused,
        End::Denied | End::Rejected => Finish::Denied,
        End::Hooked => Finish::Hooked,
        End::Failed => Finish::Failed,
        End::Crashed => Finish::Crashed,
        End::Cancelled => Finish::Cancelled,
    }
}

fn shown(display: &Display) -> Shown {
    match display {
        Display::Diff { files, lines } => {
            Shown::Diff { files: files.iter().map(file_change).collect(), lines: *lines }
        }
        Display::Preview { text, lines } => Shown::Preview { text: text.clone(), lines: *lines },
        Display::Todos(todos) => Shown::Todos { todos: todos.clone() },
        Display::Summary(text) => Shown::Summary { text: text.clone() },
    }
}

/// The changes of one file, in the words of the protocol.
pub fn file_change(diff: &FileDiff) -> FileChange {
    let hunk = |hunk: &rail_edit::diff::Hunk| Hunk {
        old_start: hunk.old_start,
        new_start: hunk.new_start,
        lines: hunk.lines.iter().map(line).collect(),
    };
    FileChange {
        path: diff.path.display().to_string(),
        moved_from: diff.moved_from.as_ref().map(|path| path.display().to_string()),
        hunks: diff.hunks.iter().map(hunk).collect(),
        added: diff.added,
        removed: diff.removed,
    }
}

fn line(line: &rail_edit::diff::Line) -> Line {
    let mark = match line.mark {
        Mark::Same => rail_proto::Mark::Same,
        Mark::Added => rail_proto::Mark::Added,
        Mark::Removed => rail_proto::Mark::Removed,
    };
    Line { mark, text: line.text.clone() }
}

/// A question about a call, in the words of the protocol.
pub(super) fn permission(call: HookedCall, question: &Question) -> PermissionAsk {
    PermissionAsk {
        changes: Vec::new(),
        id: call.id,
        tool: call.tool,
        input: call.input,
        doing: question.facets.iter().map(doing).collect(),
        why: why(question),
        always_asks: question.always_asks,
        offers: question.offers.iter().map(leave).collect(),
        without_anybody: without_anybody(question),
    }
}

/// What a call would do to files, for whoever is asked about it.
pub(super) fn foreseen(call: &HookedCall, cwd: &Path) -> Vec<FileChange> {
    rail_tools::foreseen(&call.tool, &call.input, cwd).iter().map(file_change).collect()
}

/// Why it is asked, and what is to be known besides.
fn why(question: &Question) -> String {
    let why = &question.reason.why;
    question.note.as_ref().map_or_else(|| why.clone(), |note| format!("{why}. {note}"))
}

fn doing(facet: &Facet) -> Doing {
    match facet {
        Facet::Read(path) => Doing::Reads(path.display().to_string()),
        Facet::Write(path) => Doing::Writes(path.display().to_string()),
        Facet::Exec(exec) => Doing::Runs(exec.command.clone()),
        Facet::Net(host) => Doing::Speaks(host.clone()),
        Facet::Foreign | Facet::Skill { .. } => Doing::Foreign,
    }
}

fn leave(offer: &Offer) -> Leave {
    Leave { rules: offer.rules.iter().map(|rule| rule.text.clone()).collect(), says: offer.says.clone() }
}

/// What would allow it where nobody can be asked.
fn without_anybody(question: &Question) -> String {
    match question.rule() {
        Some(rule) => format!("allow it by `--allow '{rule}'`"),
        None => {
            "it can be allowed only by somebody who is asked, or by `--permission-mode bypass`".to_owned()
        }
    }
}

/// The user's answer, in the words of permission.
pub(super) fn answer(question: &Question, answer: rail_proto::Answer) -> Reply {
    let answer = match answer {
        rail_proto::Answer::Changed { input } => return Reply::Changed(input),
        rail_proto::Answer::Once => Answer::Once,
        rail_proto::Answer::Offer { at, lasting } => match question.offers.get(at) {
            Some(offer) => Answer::Offer(offer.clone(), scope(lasting)),
            None => Answer::Once,
        },
        rail_proto::Answer::No { why } => Answer::No(why),
        rail_proto::Answer::Nobody { why } => {
            let why = why.map(|why| format!("Whoever was asked did not answer: {why}. ")).unwrap_or_default();
            Answer::Nobody(format!("{why}To have it done, {}.", without_anybody(question)))
        }
    };
    answer.into()
}

fn scope(lasting: Lasting) -> Scope {
    match lasting {
        Lasting::Session => Scope::Session,
        Lasting::Always => Scope::Always,
    }
}

/// The mode, in the words of permission.
pub(super) fn to_permit(mode: rail_proto::Mode) -> rail_permit::Mode {
    match mode {
        rail_proto::Mode::Default => rail_permit::Mode::Default,
        rail_proto::Mode::AcceptEdits => rail_permit::Mode::AcceptEdits,
        rail_proto::Mode::Plan => rail_permit::Mode::Plan,
        rail_proto::Mode::Bypass => rail_permit::Mode::Bypass,
    }
}

/// The mode, in the words of the protocol.
pub(super) fn to_proto(mode: rail_permit::Mode) -> rail_proto::Mode {
    match mode {
        rail_permit::Mode::Default => rail_proto::Mode::Default,
        rail_permit::Mode::AcceptEdits => rail_proto::Mode::AcceptEdits,
        rail_permit::Mode::Plan => rail_proto::Mode::Plan,
        rail_permit::Mode::Bypass => rail_proto::Mode::Bypass,
    }
}

#[cfg(test)]
mod tests {
    use rail_permit::{Asked, Exec, Held, Level, Policy, Verdict, judge};

    use super::*;

    #[test]
    fn what_the_system_can_t_do_stands_in_the_question() {
        let exec = Exec { command: "make".to_owned(), cwd: "/".into(), held: Held::Sandbox };
        let asked = Asked { tool: "bash", level: Level::Execute, facets: &[Facet::Exec(exec)] };
        let Verdict::Ask(mut question) = judge(&Policy::default(), &asked, &rail_tool::Disk) else {
            panic!("a command that writes is asked about")
        };
        let call =
            || HookedCall { id: "1".to_owned(), tool: "bash".to_owned(), input: serde_json::Value::Null };
        let before = permission(call(), &question).why;
        question.note = Some("No namespaces: none here.".to_owned());
        assert_eq!(permission(call(), &question).why, format!("{before}. No namespaces: none here."));
    }

    #[test]
    fn a_question_hides_no_end_of_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("{}HIDDENPART", "x".repeat(2_500));
        let input = serde_json::json!({"file_path": "a.txt", "content": long});
        let call = HookedCall { id: "1".to_owned(), tool: "write_file".to_owned(), input };
        let changes = foreseen(&call, folder.path());
        assert_eq!(changes[0].hunks[0].lines[0].text, long);
    }
}
