//! What changed between two texts, line by line.

use std::ops::Range;
use std::path::{Path, PathBuf};

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::lines::{last_byte, lines_back, lines_by};

/// The changes of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDiff {
    /// The file.
    pub path: PathBuf,
    /// Where it was before, if it was moved.
    pub moved_from: Option<PathBuf>,
    /// The changed places, in order; of very large changes only the first lines, unless it is a [`whole_diff`].
    pub hunks: Vec<Hunk>,
    /// How many lines were added in all.
    pub added: usize,
    /// How many lines were taken out in all.
    pub removed: usize,
}

/// One changed place with the lines around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// The first line before the change, from 1.
    pub old_start: usize,
    /// The first line after the change, from 1.
    pub new_start: usize,
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a hunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// What became of it.
    pub mark: Mark,
    /// Its text, without the line ending.
    pub text: String,
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// It stayed.
    Same,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// Changed lines on one side beyond which the changed stretch is one change: nobody reads the details of so much.
const MAX_COMPARED: usize = 50_000;

/// Lines of hunks that are kept to be shown; what is beyond is only counted.
const MAX_SHOWN: usize = 5_000;

/// Characters of a line that are kept to be shown.
const MAX_WIDTH: usize = 2_000;

/// Lines that are gone, and those that came in their place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The lines of the old text, from 0.
    pub old: Range<usize>,
    /// The lines of the new text, from 0.
    pub new: Range<usize>,
}

/// The changes that make one row of lines of another, in order.
pub fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let same = |(one, other): &(&&str, &&str)| one == other;
    let first = old.iter().zip(new).take_while(same).count();
    let room = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(room).take_while(same).count();
    let (old_end, new_end) = (old.len() - last, new.len() - last);
    let old_part = old.get(first..old_end).unwrap_or_default();
    let new_part = new.get(first..new_end).unwrap_or_default();
    let whole = Change { old: first..old_end, new: first..new_end };
    if old_part.is_empty() && new_part.is_empty() {
        return Vec::new();
    }
    if old_part.is_empty() || new_part.is_empty() || old_part.len().max(new_part.len()) > MAX_COMPARED {
        return vec![whole];
    }
    let mut input = InternedInput::default();
    input.update_before(old_part.iter().copied());
    input.update_after(new_part.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let shifted = |range: Range<u32>| first + range.start as usize..first + range.end as usize;
    diff.hunks().map(|hunk| Change { old: shifted(hunk.before), new: shifted(hunk.after) }).collect()
}

/// The changes of a file, to be shown; very long lines and very large changes are cut.
pub fn file_diff(path: &Path, old: &str, new: &str) -> FileDiff {
    diff_within(path, old, new, Room { lines: MAX_SHOWN, width: MAX_WIDTH })
}

/// The changes of a file to the last letter, for whoever has to decide about them.
pub fn whole_diff(path: &Path, old: &str, new: &str) -> FileDiff {
    diff_within(path, old, new, Room { lines: usize::MAX, width: usize::MAX })
}

fn diff_within(path: &Path, old: &str, new: &str, room: Room) -> FileDiff {
    let Stretch { old, new, skipped } = Stretch::changed(old, new);
    let changes = changes(&old.whole, &new.whole);
    let mut shown = Shown { hunks: Vec::new(), lines: 0, skipped, room };
    for near in near_changes(&changes) {
        shown.add(near, &old, &new);
    }
    FileDiff {
        path: path.to_owned(),
        moved_from: None,
        hunks: shown.hunks,
        added: changes.iter().map(|change| change.new.len()).sum(),
        removed: changes.iter().map(|change| change.old.len()).sum(),
    }
}

/// The changes of a file that has another name now.
pub fn moved_diff(from: PathBuf, to: &Path, old: &str, new: &str) -> FileDiff {
    FileDiff { moved_from: Some(from), ..file_diff(to, old, new) }
}

/// The lines that differ between two texts, with a few around them; all lines before and behind them are the same in both.
struct Stretch<'a> {
    old: Side<'a>,
    new: Side<'a>,
    /// Lines before it.
    skipped: usize,
}

impl<'a> Stretch<'a> {
    /// Finds it by bytes, which is much faster than by lines where little was changed in a large text.
    fn changed(old: &'a str, new: &'a str) -> Self {
        let last = last_byte(old);
        if last_byte(new) != last {
            // The same bytes are other lines in the two.
            let (old, new) = (Side::of(old, last), Side::of(new, last_byte(new)));
            return Self { old, new, skipped: 0 };
        }
        let same = common_start(old.as_bytes(), new.as_bytes());
        let (first, _) = lines_back(old, last, same, 0);
        let (start, skipped) = lines_back(old, last, first, CONTEXT);
        let behind = |text: &'a str| text.as_bytes().get(first..).unwrap_or_default();
        let tail = common_end(behind(old), behind(new));
        let tail = whole_lines(old, new, last, tail);
        let part = |text: &'a str| {
            let after = lines_by(text, last, text.len() - tail).take(CONTEXT).last();
            let end = after.map_or(text.len(), |line| line.end());
            Side::of(text.get(start..end).unwrap_or_default(), last)
        };
        Self { old: part(old), new: part(new), skipped }
    }
}

/// How much of an end that two texts have in common is whole lines in both.
fn whole_lines(old: &str, new: &str, last: u8, tail: usize) -> usize {
    let starts_line = |text: &str| {
        let at = text.len() - tail;
        at == 0 || text.as_bytes().get(at - 1) == Some(&last)
    };
    if starts_line(old) && starts_line(new) {
        return tail;
    }
    let common = old.as_bytes().get(old.len() - tail..).unwrap_or_default();
    memchr::memchr(last, common).map_or(0, |ending| tail - ending - 1)
}

/// Bytes that are compared at once.
const BLOCK: usize = 4 << 10;

fn common_start(one: &[u8], other: &[u8]) -> usize {
    let mut same = 0;
    for (one, other) in one.chunks(BLOCK).zip(other.chunks(BLOCK)) {
        if one != other {
            return same + one.iter().zip(other).take_while(|(one, other)| one == other).count();
        }
        same += one.len();
    }
    same
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let mut same = 0;
    for (one, other) in one.rchunks(BLOCK).zip(other.rchunks(BLOCK)) {
        if one != other {
            let backwards = one.iter().rev().zip(other.iter().rev());
            return same + backwards.take_while(|(one, other)| one == other).count();
        }
        same += one.len();
    }
    same
}

/// One text as lines: with endings, which count when texts are compared, and without, to be shown.
struct Side<'a> {
    whole: Vec<&'a str>,
    bodies: Vec<&'a str>,
}

impl<'a> Side<'a> {
    fn of(text: &'a str, last: u8) -> Self {
        let (whole, bodies) = lines_by(text, last, 0)
            .map(|line| (text.get(line.at..line.end()).unwrap_or_default(), line.body))
            .unzip();
        Self { whole, bodies }
    }
}

/// Changes that are so near to each other that their context would meet, together.
fn near_changes(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(|one, next| next.old.start.saturating_sub(one.old.end) <= 2 * CONTEXT)
}

/// How much of the changes is kept.
#[derive(Clone, Copy)]
struct Room {
    /// Lines of hunks.
    lines: usize,
    /// Characters of a line.
    width: usize,
}

struct Shown {
    hunks: Vec<Hunk>,
    lines: usize,
    skipped: usize,
    room: Room,
}

impl Shown {
    fn add(&mut self, near: &[Change], old: &Side<'_>, new: &Side<'_>) {
        let (Some(first), Some(last)) = (near.first(), near.last()) else { return };
        if self.lines >= self.room.lines {
            return;
        }
        let before = first.old.start.min(CONTEXT);
        let mut hunk = Hunk {
            old_start: self.skipped + first.old.start - before + 1,
            new_start: self.skipped + first.new.start - before + 1,
            lines: Vec::new(),
        };
        let mut at = first.old.start - before;
        for change in near {
            self.put(&mut hunk, Mark::Same, old, at..change.old.start);
            self.put(&mut hunk, Mark::Removed, old, change.old.clone());
            self.put(&mut hunk, Mark::Added, new, change.new.clone());
            at = change.old.end;
        }
        self.put(&mut hunk, Mark::Same, old, at..(last.old.end + CONTEXT).min(old.bodies.len()));
        self.hunks.push(hunk);
    }

    fn put(&mut self, hunk: &mut Hunk, mark: Mark, side: &Side<'_>, range: Range<usize>) {
        for body in side.bodies.get(range).unwrap_or_default() {
            if self.lines >= self.room.lines {
                return;
            }
            self.lines += 1;
            hunk.lines.push(Line { mark, text: clipped(body, self.room.width) });
        }
    }
}

/// The beginning of a line that is too long to be shown.
pub fn clipped(line: &str, at_most: usize) -> String {
    match line.char_indices().nth(at_most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(diff: &FileDiff) -> String {
        let mut out = format!("+{} -{}\n", diff.added, diff.removed);
        for hunk in &diff.hunks {
            out.push_str(&format!("@@ {} {}\n", hunk.old_start, hunk.new_start));
            for line in &hunk.lines {
                let mark = match line.mark {
                    Mark::Same => ' ',
                    Mark::Added => '+',
                    Mark::Removed => '-',
                };
                out.push_str(&format!("{mark}{}\n", line.text));
            }
        }
        out
    }

    fn numbered(numbers: impl IntoIterator<Item = u32>) -> String {
        numbers.into_iter().map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn near_changes_share_a_hunk_and_far_ones_do_not() {
        let old = numbered(1..=20);
        let new = old.replace("2\n3\n", "2\nthree\n").replace("\n6\n", "\n").replace("19\n", "19\nmore\n");
        insta::assert_snapshot!(shown(&file_diff(Path::new("/a"), &old, &new)), @r"
        +2 -2
        @@ 1 1
         1
         2
        -3
        +three
         4
         5
        -6
         7
         8
         9
        @@ 17 16
         17
         18
         19
        +more
         20
        ");
    }

    #[test]
    fn a_new_file_is_all_added_and_nothing_is_no_hunk() {
        assert_eq!(shown(&file_diff(Path::new("/a"), "", "x\ny")), "+2 -0\n@@ 1 1\n+x\n+y\n");
        assert_eq!(shown(&file_diff(Path::new("/a"), "x\n", "x\n")), "+0 -0\n");
        assert_eq!(shown(&file_diff(Path::new("/a"), "x\r\n", "x\n")), "+1 -1\n@@ 1 1\n-x\n+x\n");
    }

    #[test]
    fn what_is_too_much_to_show_is_counted() {
        let diff = file_diff(Path::new("/a"), &numbered(0..60_000), &numbered(100_000..160_001));
        assert_eq!((diff.added, diff.removed, diff.hunks.len()), (60_001, 60_000, 1));
        assert_eq!(diff.hunks[0].lines.len(), MAX_SHOWN);
        let long = file_diff(Path::new("/a"), "", &"ä".repeat(MAX_WIDTH + 1));
        assert_eq!(long.hunks[0].lines[0].text.chars().count(), MAX_WIDTH + 1);
    }

    #[test]
    fn a_whole_diff_has_every_line_to_its_end() {
        let diff = whole_diff(Path::new("/a"), &numbered(0..6_000), &numbered(100_000..106_001));
        assert_eq!(diff.hunks[0].lines.len(), 12_001);
        let long = "ä".repeat(MAX_WIDTH + 1);
        assert_eq!(whole_diff(Path::new("/a"), "", &long).hunks[0].lines[0].text, long);
    }

    proptest! {
        #[test]
        fn changes_make_the_new_lines_of_the_old(old in "[abc\n]{0,60}", new in "[abc\n]{0,60}") {
            let (old, new) = (Side::of(&old, b'\n').whole, Side::of(&new, b'\n').whole);
            let (mut made, mut at): (Vec<&str>, usize) = (Vec::new(), 0);
            for change in changes(&old, &new) {
                made.extend(&old[at..change.old.start]);
                made.extend(&new[change.new.clone()]);
                at = change.old.end;
            }
            made.extend(&old[at..]);
            prop_assert_eq!(made, new);
        }

        #[test]
        fn where_texts_differ_is_found_by_bytes_as_by_lines(
            before in "[ab\r\n]{0,30}", old in "[abc\r\n]{0,12}", new in "[abc\r\n]{0,12}", after in "[ab\r\n]{0,30}"
        ) {
            let (old, new) = (format!("{before}{old}{after}"), format!("{before}{new}{after}"));
            let whole = (Side::of(&old, last_byte(&old)), Side::of(&new, last_byte(&new)));
            let changes = changes(&whole.0.whole, &whole.1.whole);
            let room = Room { lines: MAX_SHOWN, width: MAX_WIDTH };
            let mut slow = Shown { hunks: Vec::new(), lines: 0, skipped: 0, room };
            near_changes(&changes).for_each(|near| slow.add(near, &whole.0, &whole.1));
            prop_assert_eq!(file_diff(Path::new("/a"), &old, &new).hunks, slow.hunks);
        }
    }
}
