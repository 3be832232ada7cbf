/// A name without what spellings differ in: case, `_`, `-`, spaces and dots.
pub(crate) fn squash(name: &str) -> String {
    if name.is_ascii() {
        let kept = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b' ' | b'.'));
        return kept.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    let kept = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The squashed name without the `_tool` or `Tool` that some models hang on, however often.
pub(crate) fn stem(name: &str) -> String {
    squash(without_tools(name))
}

/// The name without the `_tool` or `Tool` that some models hang on, however often.
pub(crate) fn without_tools(name: &str) -> &str {
    let mut rest = name;
    while let Some(shorter) = without_tool(rest) {
        rest = shorter;
    }
    rest
}

fn without_tool(name: &str) -> Option<&str> {
    let (rest, last) = name.split_at_checked(name.len().checked_sub(4)?)?;
    if rest.is_empty() || !last.eq_ignore_ascii_case("tool") {
        return None;
    }
    // Either a separator or a capital begins the word; `pistool` is a name of its own.
    match rest.strip_suffix(['_', '-', ' ', '.']) {
        Some(shorter) => Some(shorter).filter(|shorter| !shorter.is_empty()),
        None => last.starts_with('T').then_some(rest),
    }
}

/// The words of a name in lower case, whether it is written in snake, kebab or camel case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let begins = !c.is_alphanumeric()
            || (c.is_uppercase()
                && (before.is_some_and(|before| !before.is_uppercase())
                    // The last capital of `HTTPRequest` begins the next word.
                    || letters.peek().is_some_and(|next| next.is_lowercase())));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_squashed_to_one() {
        for name in ["list_dir", "listDir", "ListDir", "LIST-DIR", "list.dir", "List Dir"] {
            assert_eq!(squash(name), "listdir", "{name}");
        }
        for name in ["list_dir_tool", "ListDirTool", "ListDirTool_tool", "list-dir-tool", "LIST_DIR_TOOL"] {
            assert_eq!(stem(name), "listdir", "{name}");
        }
        assert_eq!(
            (stem("tool"), stem("_tool"), stem("pistool")),
            ("tool".into(), "tool".into(), "pistool".into())
        );
        assert_eq!(stem("ßtool"), "ßtool");
    }

    #[test]
    fn words_are_split_in_every_case() {
        for (name, expected) in [
            ("deleteFile", "delete file"),
            ("delete_file", "delete file"),
            ("DELETE-FILE", "delete file"),
            ("HTTPRequest", "http request"),
            ("get.v2.user", "get v2 user"),
            ("__", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }
}
