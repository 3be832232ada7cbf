/// How many letters must be added, left out or changed to make one word of the other.
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, c) in one.chars().enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, d) in row.iter_mut().skip(1).zip(&other) {
            let best = (diagonal + usize::from(c != *d)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            *cell = best;
            left = best;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The known word that was most likely meant, if one is near enough to be worth naming.
///
/// Case, `-` and `_` count as nothing. A word may be wrong in a third of its letters, or be the beginning of what was meant;
/// the first of several equally near wins.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let squash = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
    };
    let word = squash(word);
    let most = (word.chars().count() / 3).max(1);
    let far = |known: &str| {
        let known = squash(known);
        match distance(&word, &known) {
            far if far <= most => Some(far),
            // Whoever wrote only the beginning left out the rest, and mistook nothing.
            _ if word.len() > 2 && known.starts_with(&word) => Some(most + 1),
            _ => None,
        }
    };
    let near = known.into_iter().filter_map(|known| Some((far(known)?, known)));
    near.min_by_key(|(far, _)| *far).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn the_word_that_was_meant() {
        let known = ["base_url", "key", "keys", "protocol", "timeouts"];
        for (word, expected) in [
            ("baseurl", Some("base_url")),
            ("base-URL", Some("base_url")),
            ("protocl", Some("protocol")),
            ("timeout", Some("timeouts")),
            ("keyz", Some("key")),
            ("proto", Some("protocol")),
            ("ba", None),
            ("endpoint", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
    }
}
