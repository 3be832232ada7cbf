//! Letters to rows of text: what stands on one baseline, in pieces where wide gaps are.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::collect::Letter;

/// The gap at which a word ends, in sizes of the font.
const WORD_GAP: f64 = 0.17;
/// The same between letters that need no blanks between words.
const WIDE_LETTER_GAP: f64 = 0.6;
/// The gap at which a piece of a row ends.
const PIECE_GAP: f64 = 1.4;
/// How far from its row's baseline a letter may stand.
const BASELINE: f64 = 0.36;

/// One piece of a row, without wide gaps.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Piece {
    /// What it says.
    pub(crate) text: String,
    /// Where it begins and ends, along the text.
    pub(crate) from: f64,
    /// Where it ends.
    pub(crate) to: f64,
}

/// What stands on one baseline.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    /// The baseline, across the text.
    pub(crate) at: f64,
    /// The largest font on it.
    pub(crate) size: f64,
    /// How wide each letter is, where all are alike.
    pub(crate) pitch: Option<f64>,
    /// Its pieces, in order.
    pub(crate) pieces: Vec<Piece>,
}

/// A letter on a page whose text runs to the right.
struct Set<'a> {
    text: &'a str,
    from: f64,
    to: f64,
    at: f64,
    size: f64,
}

/// Letters that were drawn one after the other, beside each other.
struct Strip<'a> {
    letters: Vec<Set<'a>>,
    at: f64,
    size: f64,
}

/// The rows of letters whose text runs one way, first to last.
pub(crate) fn rows(letters: &[&Letter]) -> Vec<Row> {
    let mut strips = strips(letters);
    strips.sort_by(|one, other| one.at.total_cmp(&other.at));
    let mut rows: Vec<Vec<Strip<'_>>> = Vec::new();
    for strip in strips {
        // Small letters belong to the large ones beside them, not the other way round.
        let fits = |row: &&mut Vec<Strip<'_>>| {
            let main = row.iter().max_by(|one, other| one.size.total_cmp(&other.size));
            main.is_some_and(|main| (strip.at - main.at).abs() <= BASELINE * main.size.max(strip.size))
        };
        match rows.iter_mut().rev().take(3).find(fits) {
            Some(row) => row.push(strip),
            None => rows.push(vec![strip]),
        }
    }
    let mut rows: Vec<Row> = rows.into_iter().map(row).filter(|row| !row.pieces.is_empty()).collect();
    rows.sort_by(|one, other| one.at.total_cmp(&other.at));
    rows
}

fn strips<'a>(letters: &[&'a Letter]) -> Vec<Strip<'a>> {
    let mut drawn = Drawn::default();
    let mut strips: Vec<Strip<'a>> = Vec::new();
    for letter in letters {
        let across = letter.at.x * -letter.along.y + letter.at.y * letter.along.x;
        let from = letter.at.to_vec2().dot(letter.along);
        let set = Set { text: &letter.text, from, to: from + letter.width, at: across, size: letter.size };
        if drawn.again(&set) {
            continue;
        }
        if let Some(strip) = strips.last_mut()
            && let Some(last) = strip.letters.last()
            && (set.at - last.at).abs() <= 0.1 * set.size.min(last.size)
            && (-0.4..=PIECE_GAP).contains(&((set.from - last.to) / set.size))
        {
            strip.size = strip.size.max(set.size);
            strip.letters.push(set);
            continue;
        }
        strips.push(Strip { at: set.at, size: set.size, letters: vec![set] });
    }
    strips
}

/// Letters that were drawn, to tell one that is drawn twice to look bold, or filled and outlined.
#[derive(Default)]
struct Drawn {
    hasher: RandomState,
    places: HashMap<(u64, i64, i64), (f64, f64)>,
}

impl Drawn {
    fn again(&mut self, set: &Set<'_>) -> bool {
        if set.text.trim().is_empty() {
            return false;
        }
        let near = 0.1 * set.size;
        #[expect(clippy::cast_possible_truncation, reason = "places beyond the page were left out before")]
        let (x, y) = ((set.from / near) as i64, (set.at / near) as i64);
        let text = self.hasher.hash_one(set.text);
        for (dx, dy) in [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1), (-1, 1), (1, -1)] {
            if let Some((from, at)) = self.places.get(&(text, x + dx, y + dy))
                && (from - set.from).abs() < near
                && (at - set.at).abs() < near
            {
                return true;
            }
        }
        self.places.insert((text, x, y), (set.from, set.at));
        false
    }
}

fn row(mut strips: Vec<Strip<'_>>) -> Row {
    strips.sort_by(|one, other| begin(one).total_cmp(&begin(other)));
    let main = strips.iter().max_by(|one, other| one.size.total_cmp(&other.size));
    let (at, size) = main.map_or((0.0, 1.0), |main| (main.at, main.size));
    let letters: Vec<&Set<'_>> = strips.iter().flat_map(|strip| &strip.letters).collect();
    let pitch = pitch(&letters);
    Row { at, size, pitch, pieces: pieces(&letters, pitch) }
}

fn begin(strip: &Strip<'_>) -> f64 {
    strip.letters.first().map_or(0.0, |letter| letter.from)
}

/// How wide each letter is, if all are alike; a few may be so by chance.
fn pitch(letters: &[&Set<'_>]) -> Option<f64> {
    let first = letters.first()?;
    let width = first.to - first.from;
    let alike = |letter: &&Set<'_>| {
        (letter.to - letter.from - width).abs() < 0.01 * width && !letter.text.chars().any(is_wide)
    };
    (letters.len() >= 4 && width > 0.0 && letters.iter().all(alike)).then_some(width)
}

fn pieces(letters: &[&Set<'_>], pitch: Option<f64>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut blank = false;
    for letter in letters {
        if letter.text.trim().is_empty() {
            blank = true;
            continue;
        }
        let Some(piece) = pieces.last_mut() else {
            pieces.push(Piece { text: letter.text.to_owned(), from: letter.from, to: letter.to });
            blank = false;
            continue;
        };
        let gap = letter.from - piece.to;
        match gap_as(gap, letter, &piece.text, pitch) {
            Gap::Piece => {
                pieces.push(Piece { text: letter.text.to_owned(), from: letter.from, to: letter.to })
            }
            Gap::Blanks(blanks) => {
                piece.text.extend(std::iter::repeat_n(' ', blanks.max(usize::from(blank))));
                piece.text.push_str(letter.text);
                piece.to = piece.to.max(letter.to);
            }
        }
        blank = false;
    }
    pieces
}

enum Gap {
    Piece,
    Blanks(usize),
}

fn gap_as(gap: f64, letter: &Set<'_>, before: &str, pitch: Option<f64>) -> Gap {
    if let Some(pitch) = pitch {
        // Letters of one width stand in a grid, and blanks in it are meant.
        let blanks = (gap / pitch).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 200"
        )]
        return Gap::Blanks(blanks.clamp(0.0, 200.0) as usize);
    }
    if gap > PIECE_GAP * letter.size {
        return Gap::Piece;
    }
    let wide =
        letter.text.chars().next().is_some_and(is_wide) && before.chars().next_back().is_some_and(is_wide);
    let least = if wide { WIDE_LETTER_GAP } else { WORD_GAP };
    Gap::Blanks(usize::from(gap > least * letter.size))
}

/// Whether a letter is of a script that needs no blanks between words.
pub(crate) fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
