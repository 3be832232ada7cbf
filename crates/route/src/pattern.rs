/// Whether a text fits a pattern in which `*` stands for any text, the empty one too. Case counts for nothing.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.as_bytes().split(|byte| *byte == b'*');
    let text = text.as_bytes();
    let Some(rest) = pieces.next().and_then(|first| after(text, first)) else { return false };
    let Some(last) = pieces.next_back() else {
        // No star: the pattern was eaten whole, so the text must be too.
        return rest.is_empty();
    };
    let mut rest = rest;
    for piece in pieces {
        // The leftmost place leaves the most for the pieces behind it, so no other needs to be tried.
        let Some(found) = (0..=rest.len()).find_map(|at| after(rest.get(at..)?, piece)) else { return false };
        rest = found;
    }
    let tail = rest.len().checked_sub(last.len()).and_then(|at| rest.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(last))
}

/// How much a pattern says: the characters that stand for themselves.
pub(crate) fn says(pattern: &str) -> usize {
    pattern.chars().filter(|c| *c != '*').count()
}

fn after<'a>(text: &'a [u8], piece: &[u8]) -> Option<&'a [u8]> {
    text.split_at_checked(piece.len())
        .filter(|(head, _)| head.eq_ignore_ascii_case(piece))
        .map(|(_, rest)| rest)
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
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
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
        fn any_pattern_gets_an_answer(pattern in ".*", text in ".*") {
            fits(&pattern, &text);
        }
    }
}
