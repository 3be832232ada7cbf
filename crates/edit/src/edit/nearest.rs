//! The place that is most like a text that is not there.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{changes, clipped};
use crate::lines::lines;

/// Bytes of a file that are looked through for something like it; more would not be worth the wait.
const MAX_SEARCHED: usize = 16 << 20;

/// Bytes of a file whose lines are compared letter by letter.
const MAX_COMPARED: usize = 2 << 20;

/// Lines of the old text that are looked for and shown.
const MAX_LINES: usize = 30;

/// Characters of a line that are compared and shown.
const MAX_WIDTH: usize = 160;

/// The place that is most like the old text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// Its first line, from 1.
    pub line: usize,
    /// From what was written to what is there; each line ends with a newline.
    pub diff: String,
    /// What differs, in a few words.
    pub differs: String,
}

/// The place that is most like a text, if any is.
pub(super) fn nearest(text: &str, old: &str) -> Option<Nearest> {
    let sought: Vec<&str> = lines(old).map(|line| line.body).take(MAX_LINES).collect();
    let text = beginning(text, MAX_SEARCHED);
    let first = by_lines(text, &sought).or_else(|| by_letters(beginning(text, MAX_COMPARED), &sought))?;
    let there: Vec<&str> = lines(text).map(|line| line.body).skip(first).take(sought.len()).collect();
    Some(Nearest { line: first + 1, diff: shown(&sought, &there), differs: differs(&sought, &there) })
}

fn beginning(text: &str, at_most: usize) -> &str {
    let end = (0..=at_most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or(text)
}

/// The first line of the stretch that has most of the lines, blanks around them left out.
fn by_lines(text: &str, sought: &[&str]) -> Option<usize> {
    let mut weights: BTreeMap<&str, usize> = BTreeMap::new();
    for line in sought {
        // Long lines say more than a bracket does.
        weights.insert(line.trim(), line.trim().len().min(40));
    }
    let scores: Vec<usize> =
        lines(text).map(|line| weights.get(line.body.trim()).copied().unwrap_or(0)).collect();
    let mut score: usize = scores.iter().take(sought.len()).sum();
    let mut best = (score, 0);
    for (first, (gone, come)) in scores.iter().zip(scores.iter().skip(sought.len())).enumerate() {
        score = score + come - gone;
        if score > best.0 {
            best = (score, first + 1);
        }
    }
    // A lone bracket is no likeness.
    (best.0 > 3).then_some(best.1)
}

/// The line that shares most of its groups of three letters with the longest line that is sought.
fn by_letters(text: &str, sought: &[&str]) -> Option<usize> {
    let (nth, longest) = sought.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let wanted = groups(longest);
    let mut best = (0, 0);
    for (at, line) in lines(text).enumerate() {
        let found = groups(line.body);
        let shared = found.intersection(&wanted).count();
        // In thousandths of both together, so that a long line is not like everything.
        let score = shared * 2_000 / (found.len() + wanted.len()).max(1);
        if score > best.0 {
            best = (score, at);
        }
    }
    (best.0 > 400).then(|| best.1.saturating_sub(nth))
}

fn groups(line: &str) -> BTreeSet<[char; 3]> {
    let letters: Vec<char> = line.trim().chars().take(MAX_WIDTH).flat_map(char::to_lowercase).collect();
    letters.windows(3).filter_map(|three| three.try_into().ok()).collect()
}

fn shown(sought: &[&str], there: &[&str]) -> String {
    let mut out = String::new();
    let mut put = |mark: char, line: &str| {
        out.push(mark);
        out.push_str(&clipped(line, MAX_WIDTH));
        out.push('\n');
    };
    let mut at = 0;
    for change in changes(sought, there) {
        sought.get(at..change.old.start).unwrap_or_default().iter().for_each(|line| put(' ', line));
        sought.get(change.old.clone()).unwrap_or_default().iter().for_each(|line| put('-', line));
        there.get(change.new).unwrap_or_default().iter().for_each(|line| put('+', line));
        at = change.old.end;
    }
    sought.get(at..).unwrap_or_default().iter().for_each(|line| put(' ', line));
    out
}

fn differs(sought: &[&str], there: &[&str]) -> String {
    let numbered = |line: &&str| {
        let rest = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        rest.len() < line.trim_start().len() && rest.starts_with(['\t', '→', '|', ':'])
    };
    let same = |alike: fn(&str) -> String| {
        sought.len() == there.len() && sought.iter().zip(there).all(|(one, other)| alike(one) == alike(other))
    };
    let without_blanks = |line: &str| line.split_whitespace().collect::<String>();
    if sought.iter().all(numbered) && !there.iter().all(numbered) {
        "It was written with line numbers, which are not part of the file".to_owned()
    } else if same(without_blanks) {
        "Only blanks differ".to_owned()
    } else if same(|line| line.trim().to_lowercase()) {
        "Only capitals differ".to_owned()
    } else {
        let wrong: usize =
            changes(sought, there).iter().map(|change| change.old.len().max(change.new.len())).sum();
        format!("{wrong} of {} lines differ", sought.len().max(there.len()))
    }
}
