/// Whether a text fits a pattern in which `*` stands for any text, the empty one too, and `?` for one byte. Case counts for
/// nothing.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on if it fails: behind the last `*`, which then takes one more byte.
    let mut back: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                back = Some((p + 1, t));
                p += 1;
            }
            Some(wanted) if wanted.eq_ignore_ascii_case(byte) || *wanted == b'?' => (p, t) = (p + 1, t + 1),
            Some(_) | None => {
                let Some((after, from)) = back else { return false };
                back = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("claude-*", "claude-opus-4", true),
            ("claude-*", "Claude-", true),
            ("claude-*", "claude", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*mini*", "gpt-5-mini-2026", true),
            ("a*a", "a", false),
            ("模*型", "模大型", true),
            ("exact", "exactly", false),
            ("claude-?-5", "claude-4-5", true),
            ("claude-?-5", "claude--5", false),
            ("*a*b*c", "xaybzcc", true),
            ("*a*b*c", "xaybzc-", false),
            ("a**", "a", true),
            ("???", "ab", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The meaning, without regard to cost.
    fn slow(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                slow(rest, text) || text.split_first().is_some_and(|(_, text)| slow(pattern, text))
            }
            (Some((p, rest)), Some((t, text))) => {
                (p.eq_ignore_ascii_case(t) || *p == b'?') && slow(rest, text)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn a_text_with_any_pieces_replaced_by_stars_fits(text in "[ab界]{0,12}", cuts in prop::collection::vec(0usize..13, 0..4)) {
            let cuts: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
            if let (Some(from), Some(to)) = (cuts.iter().min(), cuts.iter().max()) {
                let pattern = format!("{}*{}", &text[..*from], &text[*to..]);
                prop_assert!(fits(&pattern, &text), "{pattern} {text}");
            }
            prop_assert!(fits(&text, &text));
        }

        #[test]
        fn as_the_meaning_says(pattern in "[ab*?]{0,8}", text in "[abA]{0,10}") {
            prop_assert_eq!(fits(&pattern, &text), slow(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn any_pattern_gets_an_answer(pattern in ".*", text in ".*") {
            fits(&pattern, &text);
        }
    }
}
