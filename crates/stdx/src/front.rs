/// Splits a text at its front matter: what stands between two lines of `---` at its beginning, and what behind them. Nothing where there is
/// none.
pub fn front_matter(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_its_two_lines() {
        for (text, expected) in [
            ("---\na: b\n---\nbody", Some(("a: b\n", "body"))),
            ("--- \r\na: b\r\n---\r\nbody\n---\n", Some(("a: b\r\n", "body\n---\n"))),
            ("---\n---", Some(("", ""))),
            ("---\na: b", None),
            (" ---\n---\n", None),
            ("---", None),
            ("", None),
        ] {
            assert_eq!(front_matter(text), expected, "{text:?}");
        }
    }
}
