//! Lines that are too long to be shown whole.

use std::ops::Range;

use crate::words::count;

/// A line as it is shown: whole, or so many characters around a place in it, with a word on what is left out on each side.
pub(crate) fn excerpt(line: &[u8], place: &Range<usize>, at_most: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    if text.len() <= at_most || text.chars().count() <= at_most {
        return text.into_owned();
    }
    // A quarter stands before the match. What stands there can be longer as text than as bytes.
    let before = line.get(..place.start).map_or(0, |bytes| String::from_utf8_lossy(bytes).len());
    let before = text.get(..text.floor_char_boundary(before)).unwrap_or_default();
    let start = before.char_indices().rev().take(at_most / 4).last().map_or(before.len(), |(at, _)| at);
    let (head, rest) = text.split_at_checked(start).unwrap_or(("", &text));
    let end = rest.char_indices().nth(at_most).map_or(rest.len(), |(at, _)| at);
    let (shown, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    format!("{}{shown}{}", left_out(head, " "), left_out(tail, ""))
}

fn left_out(text: &str, behind: &str) -> String {
    match text.chars().count() as u64 {
        0 => String::new(),
        chars => format!("[… {}]{behind}", count(chars, "character")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE_CHARS: usize = 2_000;

    fn check(line: &str, place: Range<usize>, expected: &str) {
        assert_eq!(excerpt(line.as_bytes(), &place, LINE_CHARS), expected);
    }

    #[test]
    fn short_lines_are_whole() {
        check("fn main() {\n", 0..2, "fn main() {");
        check("windows\r\n", 0..2, "windows");
        check("", 0..0, "");
        check(&"ü".repeat(LINE_CHARS), 0..1, &"ü".repeat(LINE_CHARS));
    }

    #[test]
    fn long_lines_are_shown_around_the_match() {
        let line = format!("{}here{}\n", "a".repeat(3_000), "b".repeat(5_000));
        let shown = format!(
            "[… 2,500 characters] {}here{}[… 3,504 characters]",
            "a".repeat(500),
            "b".repeat(LINE_CHARS - 504)
        );
        check(&line, 3_000..3_004, &shown);
        let at_start = format!("{}[… 1 character]", "x".repeat(LINE_CHARS));
        check(&"x".repeat(LINE_CHARS + 1), 0..1, &at_start);
    }

    #[test]
    fn a_long_line_that_is_no_text_is_shown_too() {
        let mut line = vec![0xFF; 3_000];
        line.extend(b"here");
        let shown = excerpt(&line, &(3_000..3_004), LINE_CHARS);
        assert!(shown.starts_with("[… 2,500 characters] \u{FFFD}") && shown.ends_with("here"), "{shown}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn any_line_at_any_place_is_bounded(line in prop::collection::vec(any::<u8>(), 0..6_000), at in 0_usize..7_000) {
            let shown = excerpt(&line, &(at..at + 1), LINE_CHARS);
            prop_assert!(shown.chars().count() <= LINE_CHARS + 60);
        }
    }
}
