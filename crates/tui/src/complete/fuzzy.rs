//! How well a text has the characters of a query, in order.

/// A text that has a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Match {
    /// How well; more is better.
    pub score: i32,
    /// Where its characters are, in bytes.
    pub positions: Vec<usize>,
}

const HIT: i32 = 16;
const AFTER_SLASH: i32 = 10;
const AFTER_MARK: i32 = 8;
const CAMEL: i32 = 7;
const RUN: i32 = 8;
/// The last character is also the last of a word.
const WORD_END: i32 = 2;
/// Each character that is found in the file's name and not in its folders.
const IN_NAME: i32 = 8;
const GAP: i32 = 3;
const GAP_MORE: i32 = 1;

/// The most work for one text, in steps; a longer one is matched from its end as it comes.
const MAX_STEPS: usize = 1 << 16;
/// Less than any score, and far from the end of numbers.
const NONE: i32 = i32::MIN / 2;

/// Finds the best place for the characters of a query in a text. A query in small letters finds large ones too.
pub fn fuzzy(text: &str, query: &str) -> Option<Match> {
    best(text, &Query::new(query), text.len())
}

/// A query that is ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) chars: Vec<char>,
    /// Whether large letters are told from small ones.
    pub(super) is_exact: bool,
}

impl Query {
    pub(super) fn new(text: &str) -> Self {
        let is_exact = text.chars().any(|c| lower(c) != c);
        Self { chars: text.chars().collect(), is_exact }
    }

    fn has(&self, at: usize, c: char) -> bool {
        let c = if self.is_exact { c } else { lower(c) };
        self.chars.get(at) == Some(&c)
    }
}

/// A letter as a small one, if that is as long: places must stay the same.
pub(crate) fn lower(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
        _ => c,
    }
}

/// What a hit is worth for where it stands.
pub(super) fn bonus(before: Option<char>, c: char) -> i32 {
    match before {
        None | Some('/') => AFTER_SLASH,
        Some('_' | '-' | '.' | ' ' | ':') => AFTER_MARK,
        Some(before) if before.is_lowercase() && c.is_uppercase() => CAMEL,
        Some(_) => 0,
    }
}

/// What a hit adds, with the one before it.
pub(super) fn hit(bonus: i32, is_in_name: bool, gap: Option<usize>) -> i32 {
    let name = if is_in_name { IN_NAME } else { 0 };
    let near = match gap {
        None => bonus,
        Some(0) => bonus.max(RUN),
        Some(gap) => bonus - cost(gap),
    };
    HIT + name + near
}

fn cost(gap: usize) -> i32 {
    GAP + GAP_MORE * i32::try_from(gap - 1).unwrap_or(i32::MAX / 4).min(i32::MAX / 4)
}

/// What the last hit adds if it ends a word.
pub(super) fn ending(behind: Option<char>) -> i32 {
    if behind.is_none_or(|c| !c.is_alphanumeric()) { WORD_END } else { 0 }
}

/// The best match; characters from `name` on are of the file's name.
pub(super) fn best(text: &str, query: &Query, name: usize) -> Option<Match> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let (rows, columns) = (query.chars.len(), chars.len());
    if rows == 0 {
        return Some(Match { score: 0, positions: Vec::new() });
    }
    if rows > columns {
        return None;
    }
    if rows * columns > MAX_STEPS {
        return from_end(&chars, query);
    }
    let befores = std::iter::once(None).chain(chars.iter().map(|(_, c)| Some(*c)));
    let worth: Vec<Worth> = befores
        .zip(&chars)
        .map(|(before, (at, c))| Worth { c: *c, bonus: bonus(before, *c), in_name: *at >= name })
        .collect();
    let mut scores = Vec::new();
    let mut from = vec![0_u32; rows * columns];
    for (row, from) in from.chunks_mut(columns).enumerate() {
        scores = next_row(query, row, &scores, &worth, from);
    }
    let ending = |at: usize| ending(chars.get(at + 1).map(|(_, c)| *c));
    let ends = scores.iter().enumerate().filter(|(_, score)| **score > NONE / 2);
    // Of equals the first.
    let (score, mut at) = ends.rev().map(|(at, score)| (score + ending(at), at)).max_by_key(|(s, _)| *s)?;
    let mut positions = Vec::with_capacity(rows);
    for from in from.chunks(columns).rev() {
        positions.extend(chars.get(at).map(|(place, _)| *place));
        at = from.get(at).map_or(0, |origin| *origin as usize);
    }
    positions.reverse();
    Some(Match { score, positions })
}

/// A character of a text, and what a hit there is worth.
struct Worth {
    c: char,
    bonus: i32,
    in_name: bool,
}

/// For each place the best score of the query up to this character, with it at this place; and where the one before is then.
fn next_row(query: &Query, row: usize, last: &[i32], worth: &[Worth], from: &mut [u32]) -> Vec<i32> {
    let mut scores = vec![NONE; worth.len()];
    // The best way over a gap, and where it began.
    let mut far = (NONE, 0);
    for (at, ((score, origin), here)) in scores.iter_mut().zip(from).zip(worth).enumerate() {
        let before = |by: usize| at.checked_sub(by).and_then(|at| last.get(at)).copied().unwrap_or(NONE);
        let near = before(2) - GAP;
        far = if near > far.0 - GAP_MORE { (near, at.saturating_sub(2)) } else { (far.0 - GAP_MORE, far.1) };
        if !query.has(row, here.c) {
            continue;
        }
        if row == 0 {
            *score = hit(here.bonus, here.in_name, None);
            continue;
        }
        let run = before(1) + hit(here.bonus, here.in_name, Some(0));
        let jump = far.0 + hit(here.bonus, here.in_name, None);
        let (value, place) = if run >= jump { (run, at.saturating_sub(1)) } else { (jump, far.1) };
        if value > NONE / 2 {
            (*score, *origin) = (value, u32::try_from(place).unwrap_or(0));
        }
    }
    scores
}

/// The match that is nearest to the end of a text.
fn from_end(chars: &[(usize, char)], query: &Query) -> Option<Match> {
    let mut left = query.chars.len();
    let mut positions = Vec::with_capacity(left);
    for (place, c) in chars.iter().rev() {
        if left > 0 && query.has(left - 1, *c) {
            positions.push(*place);
            left -= 1;
        }
    }
    positions.reverse();
    (left == 0).then_some(Match { score: 0, positions })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_best_place_is_found() {
        for (text, query, expected) in [
            ("fab_foo_bar.rs", "fb", Some(vec![4, 8])),
            ("xababx", "ab", Some(vec![1, 2])),
            ("xabab", "ab", Some(vec![3, 4])),
            ("SomeFileName", "sfn", Some(vec![0, 4, 8])),
            ("SomeFileName", "SFN", Some(vec![0, 4, 8])),
            ("somefilename", "SFN", None),
            ("Übung", "ü", Some(vec![0])),
            ("a日本b", "本b", Some(vec![4, 7])),
            ("ab", "ba", None),
            ("", "", Some(vec![])),
        ] {
            assert_eq!(fuzzy(text, query).map(|found| found.positions), expected, "{text} {query}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_are_the_characters_of_the_query(text in "[a-cA-C_/é日]{0,16}", query in "[a-cA-Cé]{0,4}") {
            let ready = Query::new(&query);
            let mut rest = query.chars().peekable();
            for c in text.chars() {
                let c = if ready.is_exact { c } else { lower(c) };
                rest.next_if_eq(&c);
            }
            let found = fuzzy(&text, &query);
            prop_assert_eq!(found.is_some(), rest.next().is_none());
            let Some(Match { positions, .. }) = found else { return Ok(()) };
            prop_assert!(positions.is_sorted_by(|a, b| a < b));
            let at = |place: usize| text[place..].chars().next().unwrap();
            let chars: String = positions.into_iter().map(at).collect();
            prop_assert!(chars == query || !ready.is_exact && chars.chars().map(lower).eq(query.chars()));
        }
    }
}
