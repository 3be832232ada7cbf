use rail_sandbox::{Ended, Kept, Straggler, Text};
use rail_tool::Telling;

/// The output of a command as a model reads it. What memory does not hold is cut here, to this many characters; what it holds is
/// whole, and whoever runs the call cuts it and keeps the rest. So many bytes were printed in all.
pub(crate) fn output(text: Text, kept: Option<&Kept>, printed: u64, at_most: usize) -> Telling {
    let Text { head, missing, tail } = text;
    if missing == 0 {
        return Telling::shown(head);
    }
    // Room is left for what is said behind the output.
    let half = at_most / 5 * 2;
    let end = head.char_indices().nth(half).map_or(head.len(), |(at, _)| at);
    let start = tail.char_indices().rev().nth(half.saturating_sub(1)).map_or(0, |(at, _)| at);
    let (first, last) = (head.get(..end).unwrap_or_default(), tail.get(start..).unwrap_or_default());
    let cut = missing + (head.len() - first.len()) as u64 + (tail.len() - last.len()) as u64;
    let rest = match kept {
        Some(Kept { path, bytes, trouble: None }) if *bytes >= printed => format!(
            "the whole output is in `{}`: read it in parts with ‹read_file›, or search it with ‹grep›",
            path.display()
        ),
        Some(Kept { path, bytes, trouble: None }) => format!(
            "only the first {bytes} of its {printed} bytes are kept, in `{}`: read them in parts with ‹read_file›, or search them with ‹grep›; for the others run it again with its output in a file",
            path.display()
        ),
        Some(Kept { path, trouble: Some(trouble), .. }) => {
            format!(
                "it could not be kept in `{}` ({trouble}): run it again with its output in a file",
                path.display()
            )
        }
        None => "run it again with its output in a file if you need it".to_owned(),
    };
    let left_out = format!("\n\n[about {cut} bytes are left out here; {rest}]\n\n");
    Telling::shown(first).then(left_out).then(Telling::shown(last))
}

/// What a command left running, if it did.
pub(crate) fn left_behind(ended: &Ended) -> Vec<Telling> {
    let mut said = Vec::new();
    if !ended.swept.is_empty() {
        said.push(Telling::said(format!(
            "what it left running was ended: {}; use ‹run_in_background› for what is to go on",
            list(&ended.swept)
        )));
    }
    if !ended.left.is_empty() {
        said.push(Telling::said(format!(
            "it left something running in a session of its own, which ends with this session: {}",
            list(&ended.left)
        )));
    }
    said
}

fn list(processes: &[Straggler]) -> String {
    let shown: Vec<String> =
        processes.iter().take(5).map(|process| format!("{} `{}`", process.pid, process.command)).collect();
    let more = processes.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}

/// An output and what is said behind it, each in brackets on a line of its own.
pub(crate) fn with_notes(output: Telling, notes: Vec<Telling>) -> Telling {
    let ended = output.is_empty() || output.ends_with('\n');
    let notes = notes.into_iter().map(|note| Telling::said("[").then(note).then("]"));
    output.then(if ended { "" } else { "\n" }).then(Telling::joined(notes, "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_memory_does_not_hold_is_cut_and_says_where_it_is() {
        let text = Text { head: "0123456789".to_owned(), missing: 100, tail: "äöüabcdefg".to_owned() };
        let kept = Kept { path: "/s/out".into(), bytes: 64, trouble: None };
        assert_eq!(
            output(text.clone(), Some(&kept), 123, 10).to_string(),
            "0123\n\n[about 115 bytes are left out here; only the first 64 of its 123 bytes are kept, in `/s/out`: read them in parts with `read_file`, or search them with `grep`; for the others run it again with its output in a file]\n\ndefg"
        );
        assert_eq!(
            output(text.clone(), Some(&kept), 64, 10).to_string(),
            "0123\n\n[about 115 bytes are left out here; the whole output is in `/s/out`: read it in parts with `read_file`, or search it with `grep`]\n\ndefg"
        );
        let trouble = Kept { trouble: Some("disk full".to_owned()), ..kept };
        let said = output(text.clone(), Some(&trouble), 64, 1_000).to_string();
        assert!(
            said.contains("[about 100 bytes are left out here; it could not be kept in `/s/out` (disk full)"),
            "{said}"
        );
        let whole = Text { missing: 0, ..text };
        assert_eq!(output(whole, None, 10, 1), Telling::shown("0123456789"));
    }

    #[test]
    fn notes_stand_behind_the_output() {
        let noted = |output: &str, notes: &[&str]| {
            let notes = notes.iter().map(|note| Telling::said(*note)).collect();
            with_notes(Telling::shown(output), notes).to_string()
        };
        assert_eq!(noted("out", &["one", "two"]), "out\n[one]\n[two]");
        assert_eq!(noted("out\n", &["one"]), "out\n[one]");
        assert_eq!(noted("", &["one"]), "[one]");
    }
}
