//! What people see of a call's result: a few lines of it and how many more there are, or all.

use rail_proto::{FileChange, Mark, Shown};

/// How much of a result is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// A few lines.
    Preview,
    /// All of it.
    All,
}

/// What stands before each line, so that it is told from what happens.
const INDENT: &str = "  ";

/// The lines that are shown of a result; None where there is nothing to see.
pub(super) fn preview(shown: &Shown, extent: Extent) -> Option<String> {
    match shown {
        Shown::Preview { text, lines } => some(text.lines().map(str::to_owned), *lines, extent),
        Shown::Diff { files, lines } => {
            let (several, mut changed) = (files.len() > 1, Vec::new());
            for file in files {
                // Of a single file the call has said which it is.
                if several || file.moved_from.is_some() {
                    changed.push(head(file));
                }
                diff(file, &mut changed);
            }
            some(changed.into_iter(), *lines, extent)
        }
        Shown::Summary { text } => some(text.lines().map(str::to_owned), usize::MAX, extent),
        // The list is an event of its own.
        Shown::Todos { .. } => None,
    }
}

/// The first lines, and how many more there are.
fn some(mut rest: impl Iterator<Item = String>, at_most: usize, extent: Extent) -> Option<String> {
    let at_most = match extent {
        Extent::Preview => at_most,
        Extent::All => usize::MAX,
    };
    let mut lines: Vec<String> = rest.by_ref().take(at_most).map(|line| format!("{INDENT}{line}")).collect();
    match rest.count() {
        0 => {}
        1 => lines.push(format!("{INDENT}… 1 more line")),
        more => lines.push(format!("{INDENT}… {more} more lines")),
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn head(file: &FileChange) -> String {
    let FileChange { path, moved_from, added, removed, .. } = file;
    let from = moved_from.as_ref().map(|from| format!("{from} → ")).unwrap_or_default();
    format!("{from}{path} ({added} added, {removed} removed)")
}

fn diff(file: &FileChange, out: &mut Vec<String>) {
    for (at, hunk) in file.hunks.iter().enumerate() {
        if at > 0 {
            out.push("⋮".to_owned());
        }
        out.extend(hunk.lines.iter().map(|line| {
            let mark = match line.mark {
                Mark::Same => ' ',
                Mark::Added => '+',
                Mark::Removed => '-',
            };
            format!("{mark} {}", line.text)
        }));
    }
}

#[cfg(test)]
mod tests {
    use rail_proto::{Hunk, Line};

    use super::*;

    fn hunk(lines: &[(Mark, &str)]) -> Hunk {
        let lines = lines.iter().map(|(mark, text)| Line { mark: *mark, text: (*text).to_owned() });
        Hunk { old_start: 1, new_start: 1, lines: lines.collect() }
    }

    fn change(path: &str, hunks: Vec<Hunk>) -> FileChange {
        FileChange { path: path.to_owned(), moved_from: None, hunks, added: 2, removed: 1 }
    }

    #[test]
    fn a_text_is_shown_by_its_first_lines() {
        let text = "1\tone\n2\ttwo\n3\tthree\n4\tfour\n5\tfive\n".to_owned();
        let shown = Shown::Preview { text, lines: 3 };
        insta::assert_snapshot!(preview(&shown, Extent::Preview).unwrap(), @r"
          1	one
          2	two
          3	three
          … 2 more lines
        ");
        assert_eq!(preview(&shown, Extent::All).unwrap().lines().count(), 5);
        let short = |text: &str| Shown::Preview { text: text.to_owned(), lines: 3 };
        assert_eq!(preview(&short("a\nb\nc\nd"), Extent::Preview).unwrap(), "  a\n  b\n  c\n  … 1 more line");
        assert_eq!(preview(&short("a\nb\nc\n"), Extent::Preview).unwrap(), "  a\n  b\n  c");
        assert_eq!(preview(&short(""), Extent::Preview), None);
    }

    #[test]
    fn a_change_is_shown_by_its_first_lines() {
        let first =
            hunk(&[(Mark::Same, "fn main() {"), (Mark::Removed, "    old();"), (Mark::Added, "    new();")]);
        let second = hunk(&[(Mark::Added, "// more")]);
        let one = Shown::Diff { files: vec![change("/a.rs", vec![first.clone(), second])], lines: 3 };
        insta::assert_snapshot!(preview(&one, Extent::Preview).unwrap(), @r"
            fn main() {
          -     old();
          +     new();
          … 2 more lines
        ");
        let moved = FileChange { moved_from: Some("/b.rs".to_owned()), ..change("/c.rs", Vec::new()) };
        let several = Shown::Diff { files: vec![change("/a.rs", vec![first]), moved], lines: 3 };
        insta::assert_snapshot!(preview(&several, Extent::All).unwrap(), @r"
          /a.rs (2 added, 1 removed)
            fn main() {
          -     old();
          +     new();
          /b.rs → /c.rs (2 added, 1 removed)
        ");
    }
}
