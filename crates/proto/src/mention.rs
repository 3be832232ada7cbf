use std::ops::Range;

/// A place in a text that may name a file, `@path`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mention {
    /// Where it stands, with its `@`.
    pub range: Range<usize>,
    /// The path, without quotes and backslashes.
    pub path: String,
}

/// Characters that end a sentence rather than a path.
const ENDS: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '`', '*'];

/// The places in a text that may name files: `@path`, `@"path with spaces"`, `@path\ with\ spaces`.
///
/// It looks only at the form. `@Override` has it too: whoever asks looks whether there is such a file. The `@` of an address stands
/// behind a letter and is none.
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('@')) {
        let start = at + next;
        at = start + 1;
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        if before.is_some_and(|c| !c.is_whitespace() && !"([{<\"'".contains(c)) {
            continue;
        }
        if let Some((len, path)) = text.get(at..).and_then(named) {
            at += len;
            found.push(Mention { range: start..at, path });
        }
    }
    found
}

/// The path at the beginning of a text, and how many bytes it takes.
fn named(rest: &str) -> Option<(usize, String)> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (path, _) = quoted.split_once('"')?;
        let is_path = !path.is_empty() && !path.contains('\n');
        return is_path.then(|| (path.len() + 2, path.to_owned()));
    }
    let mut path = String::new();
    // How long text and path are up to the last character that does not end a sentence.
    let mut whole = (0, 0);
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        let (c, escaped) = match c {
            '\\' => match chars.next() {
                Some((_, kept)) if !kept.is_control() => (kept, true),
                Some(_) | None => break,
            },
            c if c.is_whitespace() || c.is_control() || c == '@' => break,
            c => (c, false),
        };
        path.push(c);
        if escaped || !ENDS.contains(&c) {
            whole = (at + usize::from(escaped) + c.len_utf8(), path.len());
        }
    }
    path.truncate(whole.1);
    (!path.is_empty()).then_some((whole.0, path))
}

/// A path as it is mentioned in a text: `@path`, with quotes where it would be misread.
pub fn mention(path: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\\' | '@');
    if path.chars().all(is_plain) && !path.ends_with(ENDS) {
        return format!("@{path}");
    }
    if !path.contains('"') {
        return format!("@\"{path}\"");
    }
    let mut out = "@".to_owned();
    for c in path.chars() {
        if !is_plain(c) || ENDS.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(text: &str) -> Vec<String> {
        mentions(text).into_iter().map(|mention| mention.path).collect()
    }

    #[test]
    fn files_are_told_from_what_is_none() {
        for (text, expected) in [
            ("look at @src/main.rs", &["src/main.rs"][..]),
            ("@a.rs and (@b/c.rs), please.", &["a.rs", "b/c.rs"]),
            ("is it @./x.md?", &["./x.md"]),
            ("@\"my file.txt\" @it\\ is.md", &["my file.txt", "it is.md"]),
            ("@~/notes @/etc/hosts", &["~/notes", "/etc/hosts"]),
            ("@server:file:///a", &["server:file:///a"]),
            ("@Override", &["Override"]),
            ("me@example.com, `@decorator`", &[]),
            ("a @ b, @, @... and @", &[]),
            ("@\"open", &[]),
            ("@.gitignore", &[".gitignore"]),
            ("@übung/ä.txt!", &["übung/ä.txt"]),
            ("@a\n@b", &["a", "b"]),
            ("@a@b", &["a"]),
        ] {
            assert_eq!(paths(text), expected, "{text:?}");
        }
        let text = "see (@a\\ b.rs).";
        let found = mentions(text).remove(0);
        assert_eq!((&text[found.range], found.path.as_str()), ("@a\\ b.rs", "a b.rs"));
    }

    #[test]
    fn paths_are_quoted_where_they_must_be() {
        for (path, expected) in [
            ("src/main.rs", "@src/main.rs"),
            ("src/", "@src/"),
            ("a b.rs", "@\"a b.rs\""),
            ("a(1)", "@\"a(1)\""),
            ("say \"hi\".txt", "@say\\ \\\"hi\\\"\\.txt"),
        ] {
            assert_eq!(mention(path), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[@a-c./\\\\\" \\né(,]{0,30}") {
            let mut end = 0;
            for Mention { range, path } in mentions(&text) {
                prop_assert!(range.start >= end && !path.is_empty());
                prop_assert!(text[range.clone()].starts_with('@'));
                end = range.end;
            }
        }

        #[test]
        fn a_path_is_found_again(path in "[a-z/_-]{1,12}", before in "[a-z]{0,4}", after in "[a-z]{0,4}") {
            let text = format!("{before} @{path}, {after}");
            prop_assert_eq!(paths(&text), [path]);
        }

        #[test]
        fn what_is_mentioned_is_read(path in "[a-zé/. ()@,\"\\\\]{1,12}", after in "( |\n|, |\\. )?") {
            prop_assert_eq!(paths(&format!("{}{after}", mention(&path))), [path]);
        }
    }
}
