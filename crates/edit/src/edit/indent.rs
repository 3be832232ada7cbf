//! How much deeper a place is than the text that was written for it.

use super::fold::is_blank;
use crate::lines::lines;

/// The one difference in indentation between two texts of the same words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    /// The place has this before each line.
    Deeper(String),
    /// The place lacks this before each line.
    Shallower(String),
    /// The place is indented by other steps, and by so many more of them.
    Steps {
        /// One step of what was written.
        from: &'static str,
        /// One step of the place.
        to: &'static str,
        /// How many steps more the place has.
        more: isize,
    },
}

/// The steps by which people indent, the usual ones first.
const STEPS: [&str; 5] = ["    ", "  ", "\t", "        ", "   "];

impl Shift {
    /// The shift from what was written to the place, if it is one for all lines. They have the same words, line by line.
    pub(super) fn between(written: &str, place: &str) -> Option<Self> {
        let pairs: Vec<(&str, &str)> = written
            .split('\n')
            .zip(lines(place).map(|line| line.body))
            .filter(|(line, _)| !line.trim_matches(is_blank).is_empty())
            .map(|(one, other)| (indent(one), indent(other)))
            .collect();
        let (first, first_there) = pairs.first()?;
        if let Some(more) = first_there.strip_suffix(first)
            && pairs.iter().all(|(from, to)| to.strip_suffix(from) == Some(more))
        {
            return Some(Self::Deeper(more.to_owned()));
        }
        if let Some(less) = first.strip_suffix(first_there)
            && pairs.iter().all(|(from, to)| from.strip_suffix(to) == Some(less))
        {
            return Some(Self::Shallower(less.to_owned()));
        }
        Self::steps(&pairs)
    }

    fn steps(pairs: &[(&str, &str)]) -> Option<Self> {
        let mut best: Option<(usize, Self)> = None;
        for from in STEPS {
            for to in STEPS {
                let Some(more) = more_steps(pairs, from, to).filter(|_| from != to) else { continue };
                // Of several readings, the one that changes the depth least is meant.
                if best.as_ref().is_none_or(|(least, _)| more.unsigned_abs() < *least) {
                    best = Some((more.unsigned_abs(), Self::Steps { from, to, more }));
                }
            }
        }
        best.map(|(_, shift)| shift)
    }

    /// A new line, as deep as the place wants it.
    pub(super) fn line(&self, line: &str) -> String {
        if line.trim_matches(is_blank).is_empty() {
            return line.to_owned();
        }
        match self {
            Self::Deeper(more) => format!("{more}{line}"),
            Self::Shallower(less) => {
                // A line that is less deep than what is taken away starts at the margin.
                line.strip_prefix(less.as_str()).unwrap_or(line.trim_start_matches(is_blank)).to_owned()
            }
            Self::Steps { from, to, more } => {
                let (steps, rest) = split(line, from);
                let steps = steps.checked_add_signed(*more).unwrap_or(0);
                format!("{}{rest}", to.repeat(steps))
            }
        }
    }
}

fn more_steps(pairs: &[(&str, &str)], from: &str, to: &str) -> Option<isize> {
    let more = |(written, place): &(&str, &str)| {
        let ((steps, rest), (there, rest_there)) = (split(written, from), split(place, to));
        let more = isize::try_from(there).ok()?.checked_sub(isize::try_from(steps).ok()?)?;
        (rest.is_empty() && rest_there.is_empty()).then_some(more)
    };
    let first = more(pairs.first()?)?;
    pairs.iter().all(|pair| more(pair) == Some(first)).then_some(first)
}

/// How many steps a line begins with, and what follows them.
fn split<'a>(line: &'a str, step: &str) -> (usize, &'a str) {
    let rest = line.trim_start_matches(step);
    ((line.len() - rest.len()) / step.len().max(1), rest)
}

fn indent(line: &str) -> &str {
    let body = line.trim_start_matches(is_blank);
    line.get(..line.len() - body.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shift_holds_for_all_lines() {
        let between = |written: &str, place: &str| Shift::between(written, place);
        assert_eq!(between("a\n\n  b", "  a\n\n    b"), Some(Shift::Deeper("  ".to_owned())));
        assert_eq!(between("\t\ta\n\t\tb", "\ta\r\n\tb"), Some(Shift::Shallower("\t".to_owned())));
        assert_eq!(between("  a\n    b", "\ta\n\t\tb"), Some(Shift::Steps { from: "  ", to: "\t", more: 0 }));
        assert_eq!(between("a\n    b", "\ta\n\t\tb"), Some(Shift::Steps { from: "    ", to: "\t", more: 1 }));
        assert_eq!(between("a\nb", "  a\n    b"), None);
    }

    #[test]
    fn new_lines_are_shifted_likewise() {
        let shifted = |shift: &Shift, lines: [&str; 3]| lines.map(|line| shift.line(line));
        assert_eq!(shifted(&Shift::Deeper("\t".to_owned()), ["a", "", "\tb"]), ["\ta", "", "\t\tb"]);
        assert_eq!(shifted(&Shift::Shallower("    ".to_owned()), ["      a", "  b", "c"]), ["  a", "b", "c"]);
        let steps = Shift::Steps { from: "  ", to: "\t", more: -1 };
        assert_eq!(shifted(&steps, ["  a", "    b", "c"]), ["a", "\tb", "c"]);
    }
}
