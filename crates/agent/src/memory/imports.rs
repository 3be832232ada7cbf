//! `@path` in a memory file: which other files it wants to be read.

use std::ops::Range;

/// One `@path` of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Import {
    /// The path as it was written, without the `@`, blanks without their backslash.
    pub(crate) path: String,
    /// Where it stands in the text, the `@` included.
    pub(crate) at: Range<usize>,
}

impl Import {
    /// Whether it can only be meant as a file; `@name` may be a person, and `@scope/name` a package.
    pub(crate) fn is_surely_a_file(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        ["/", "./", "../", "~/"].iter().any(|start| self.path.starts_with(start))
            || name.trim_start_matches('.').contains('.')
    }
}

/// The imports of a Markdown text, in order. In fenced code and between backticks there are none.
pub(crate) fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for block in prose(text) {
        let Some(said) = text.get(block.clone()) else { continue };
        for piece in outside_spans(said) {
            let Some(plain) = said.get(piece.clone()) else { continue };
            let before = said.get(..piece.start).and_then(|before| before.chars().next_back());
            words(plain, before, block.start + piece.start, &mut found);
        }
    }
    found
}

/// Whether a text holds nothing but these imports, and perhaps the marks of a list.
pub(crate) fn is_nothing_else(text: &str, imports: &[Import]) -> bool {
    let mut rest = String::new();
    let mut at = 0;
    for import in imports {
        rest.push_str(text.get(at..import.at.start).unwrap_or_default());
        at = import.at.end;
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    !rest.contains(char::is_alphanumeric)
}

/// The stretches of a text between its fenced blocks of code.
fn prose(text: &str) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let (mut from, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        match (fence, fence_of(line)) {
            (None, Some((mark, length, _))) => {
                stretches.push(from..at);
                fence = Some((mark, length));
            }
            (Some((mark, length)), Some((own, own_length, rest))) => {
                if own == mark && own_length >= length && rest.trim().is_empty() {
                    fence = None;
                    from = next;
                }
            }
            (None | Some(_), None) => {}
        }
        at = next;
    }
    // A fence that is never closed goes to the end, as everywhere in Markdown.
    if fence.is_none() {
        stretches.push(from..at);
    }
    stretches
}

/// The mark of a fence, how often it stands there, and what follows it. A line with backticks behind its backticks is none.
fn fence_of(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches([' ', '\t', '>', '-', '*', '+']);
    let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = inner.trim_start_matches(mark);
    let length = inner.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length, rest))
}

/// The stretches outside of code spans. A run of backticks is closed by one of the same length in the same paragraph.
fn outside_spans(text: &str) -> Vec<Range<usize>> {
    let runs = runs(text);
    let mut last_of_length = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    for (number, run) in runs.iter().enumerate().rev() {
        last_of_length.entry(run.len()).or_default().push(number);
    }
    let (mut stretches, mut from, mut number) = (Vec::new(), 0, 0);
    while let Some(run) = runs.get(number) {
        // The numbers stand in falling order, so that those which are passed come off the end.
        let later = last_of_length.entry(run.len()).or_default();
        while later.last().is_some_and(|last| *last <= number) {
            later.pop();
        }
        let close = later.last().and_then(|at| runs.get(*at).map(|close| (*at, close.clone())));
        let close = close.filter(|(_, close)| !crosses_paragraph(text, run.end..close.start));
        if let Some((at, close)) = close {
            stretches.push(from..run.start);
            from = close.end;
            number = at;
        }
        number += 1;
    }
    stretches.push(from..text.len());
    stretches
}

/// The runs of backticks of a text.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            Some(_) | None => runs.push(at..at + 1),
        }
    }
    runs
}

fn crosses_paragraph(text: &str, between: Range<usize>) -> bool {
    let between = text.get(between).unwrap_or_default();
    let mut lines = between.split('\n').skip(1).peekable();
    // What stands behind the last line break is the begin of the closing line, which may be blank.
    std::iter::from_fn(|| lines.next().map(|line| (line, lines.peek().is_some())))
        .any(|(line, has_next)| has_next && line.trim().is_empty())
}

/// Adds the words of a plain text that begin with `@`; `before` is the character before the text.
fn words(text: &str, before: Option<char>, offset: usize, found: &mut Vec<Import>) {
    let mut previous = before;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let begins = letter == '@'
            && previous.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\''));
        previous = Some(letter);
        if !begins {
            continue;
        }
        let mut path = String::new();
        let mut end = at + 1;
        while let Some((place, c)) = letters.next_if(|(_, c)| !c.is_whitespace()) {
            previous = Some(c);
            end = place + c.len_utf8();
            match (c, letters.peek()) {
                ('\\', Some((blank, ' '))) => {
                    end = blank + 1;
                    path.push(' ');
                    letters.next();
                }
                (c, _) => path.push(c),
            }
        }
        // What ends a sentence or closes a bracket is not the path's.
        let kept = path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '*', '_']).len();
        let cut = path.len() - kept;
        path.truncate(kept);
        if path.chars().any(char::is_alphanumeric) && !path.contains('@') && !path.contains(char::is_control)
        {
            found.push(Import { path, at: offset + at..offset + end - cut });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(text: &str) -> Vec<String> {
        imports(text).into_iter().map(|import| import.path).collect()
    }

    #[test]
    fn imports_are_words_that_begin_with_at() {
        for (text, expected) in [
            ("@docs/a.md", &["docs/a.md"][..]),
            ("See @./a.md, @~/b.md and (@/etc/c).", &["./a.md", "~/b.md", "/etc/c"]),
            ("- @a.md\n- @b.md\n", &["a.md", "b.md"]),
            ("@with\\ blank.md next", &["with blank.md"]),
            ("write to me@example.com or a@b/c.md", &[]),
            ("**@a.md**", &[]),
            ("@ alone, @. and @@a.md", &[]),
            ("@a.md@b.md", &[]),
            ("use `@a.md` not ``@b`c.md`` but @c.md", &["c.md"]),
            ("an open ` and @a.md", &["a.md"]),
            ("over `two\n@a.md lines`\n@b.md", &["b.md"]),
            ("a ` paragraph\n\n@a.md ` ends it", &["a.md"]),
            ("```\n@a.md\n```\n@b.md", &["b.md"]),
            ("```sh\n@a.md\n~~~\n````\n@b.md", &["b.md"]),
            ("~~~\n```\n@a.md\n~~~\n@b.md\n", &["b.md"]),
            ("   ```\n@a.md", &[]),
            ("- ```\n  @a.md\n  ```\n- @b.md", &["b.md"]),
            ("```inline``` @a.md", &["a.md"]),
            ("\u{e4}@a.md \u{e4} @\u{e4}.md", &["\u{e4}.md"]),
            ("", &[]),
        ] {
            assert_eq!(paths(text), expected, "{text}");
        }
    }

    #[test]
    fn a_place_is_the_word_without_what_follows_it() {
        let text = "x @a\\ b.md, `@no` @c.md";
        let found: Vec<&str> = imports(text).into_iter().map(|import| &text[import.at]).collect();
        assert_eq!(found, ["@a\\ b.md", "@c.md"]);
    }

    #[test]
    fn a_person_is_no_file() {
        for (path, expected) in [
            ("alice", false),
            ("types/node", false),
            ("docs/.hidden", false),
            ("./alice", true),
            ("~/x", true),
            ("/x", true),
            ("../x", true),
            ("a.md", true),
            ("types/a.md", true),
        ] {
            let import = Import { path: path.to_owned(), at: 0..0 };
            assert_eq!(import.is_surely_a_file(), expected, "{path}");
        }
    }

    #[test]
    fn a_file_of_imports_says_nothing_itself() {
        for (text, expected) in [
            ("@AGENTS.md\n", true),
            ("- @a.md\n- @b.md\n", true),
            ("Read @a.md", false),
            ("`@a.md`", false),
            ("", true),
        ] {
            assert_eq!(is_nothing_else(text, &imports(text)), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([@`~\\\\ \n.a/>*-]|```\n|~~~\n|@a.md|.){0,60}") {
            let found = imports(&text);
            for import in &found {
                let written = text.get(import.at.clone()).unwrap();
                prop_assert!(written.starts_with('@'));
                prop_assert_eq!(written[1..].replace("\\ ", " "), import.path.clone());
            }
            prop_assert!(found.windows(2).all(|pair| pair[0].at.end <= pair[1].at.start));
        }

        #[test]
        fn what_is_fenced_is_never_imported(text in "[@a.md\n ]{0,40}") {
            prop_assert_eq!(imports(&format!("~~~\n{text}\n~~~\n")), Vec::new());
        }
    }
}
