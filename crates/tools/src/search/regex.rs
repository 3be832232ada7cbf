//! Regular expressions, and what to say when one is none.

use grep_matcher::LineTerminator;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast;

use super::pattern::Case;

/// The most memory that a compiled pattern takes.
const SIZE: usize = 32 << 20;

/// Whether a match may go over several lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    Line,
    Lines,
}

/// The matcher of a pattern, and the ends of lines that it knows; or what is wrong with the pattern and what to write instead.
pub(crate) fn matcher(
    pattern: &str,
    case: Case,
    span: Span,
) -> Result<(RegexMatcher, LineTerminator), String> {
    // Only `$` can see how a line ends, and the search is faster if there is one byte to look for.
    let ends = if pattern.contains('$') && span == Span::Line {
        LineTerminator::crlf()
    } else {
        LineTerminator::byte(b'\n')
    };
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).case_insensitive(case == Case::Insensitive).size_limit(SIZE);
    match span {
        Span::Line if ends.is_crlf() => builder.crlf(true),
        Span::Line => builder.line_terminator(Some(b'\n')),
        Span::Lines => builder.dot_matches_new_line(true),
    };
    let built = builder.build(pattern);
    built.map(|matcher| (matcher, ends)).map_err(|error| match error.kind() {
        ErrorKind::NotAllowed(_) => {
            "the pattern has a line break in it, but each line is searched on its own; set \"multiline\": true".to_owned()
        }
        _ => explain(pattern, &error.to_string()),
    })
}

/// What is wrong with a pattern and where, and what to write instead.
fn explain(pattern: &str, error: &str) -> String {
    let (why, at) = match regex_syntax::Parser::new().parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => match unsupported(error.kind()) {
            Some(say) => return say,
            None => (error.kind().to_string(), error.span().start.offset),
        },
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span().start.offset),
        Err(_) | Ok(_) => return format!("the pattern can't be used: {error}; search for less"),
    };
    let before = pattern.get(..at).unwrap_or_default().chars().count();
    let rest: String = pattern.chars().skip(before).take(20).collect();
    let literal = literal(pattern);
    format!(
        "the pattern is no regular expression: {why} at character {}, before `{rest}`; to find this very text, write `{literal}`",
        before + 1
    )
}

fn unsupported(kind: &ast::ErrorKind) -> Option<String> {
    let what = match kind {
        ast::ErrorKind::UnsupportedLookAround => "look-around (`(?=`, `(?!`, `(?<=`, `(?<!`)",
        ast::ErrorKind::UnsupportedBackreference => "a back reference",
        _ => return None,
    };
    Some(format!(
        "{what} is not supported: the search takes time in proportion to the text, whatever the pattern; search for what both have in common, or use ‹bash› with `grep -P`"
    ))
}

/// The pattern that finds this text: with its braces escaped if that is enough, with everything escaped otherwise.
fn literal(text: &str) -> String {
    let braces = escape(text, &['{', '}']);
    if regex_syntax::Parser::new().parse(&braces).is_ok() { braces } else { regex_syntax::escape(text) }
}

/// Escapes these characters, unless they are already.
fn escape(text: &str, these: &[char]) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for c in text.chars() {
        if these.contains(&c) && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;
    use proptest::prelude::*;

    use super::*;

    fn why(pattern: &str) -> String {
        matcher(pattern, Case::Sensitive, Span::Line).map(|_| ()).unwrap_err()
    }

    fn finds(pattern: &str, span: Span, text: &str) -> bool {
        matcher(pattern, Case::Sensitive, span).unwrap().0.is_match(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        insta::assert_snapshot!(why("interface{}"), @r#"the pattern is no regular expression: repetition quantifier expects a valid decimal at character 11, before `}`; to find this very text, write `interface\{\}`"#);
        insta::assert_snapshot!(why("foo("), @r#"the pattern is no regular expression: unclosed group at character 4, before `(`; to find this very text, write `foo\(`"#);
        insta::assert_snapshot!(why("größe[a"), @r#"the pattern is no regular expression: unclosed character class at character 6, before `[a`; to find this very text, write `größe\[a`"#);
        insta::assert_snapshot!(why("*x"), @r#"the pattern is no regular expression: repetition operator missing expression at character 1, before `*x`; to find this very text, write `\*x`"#);
        insta::assert_snapshot!(why(r"\p{Nope}"), @r#"the pattern is no regular expression: Unicode property not found at character 1, before `\p{Nope}`; to find this very text, write `\\p\{Nope\}`"#);
        insta::assert_snapshot!(why("(?!x)y"), @r#"look-around (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported: the search takes time in proportion to the text, whatever the pattern; search for what both have in common, or use ‹bash› with `grep -P`"#);
        insta::assert_snapshot!(why(r"(a)\1"), @r#"a back reference is not supported: the search takes time in proportion to the text, whatever the pattern; search for what both have in common, or use ‹bash› with `grep -P`"#);
        insta::assert_snapshot!(why(r"a\nb"), @r#"the pattern has a line break in it, but each line is searched on its own; set "multiline": true"#);
        insta::assert_snapshot!(why("((a{900}){900}){900}"), @r#"the pattern can't be used: compiled regex exceeds size limit of 33554432; search for less"#);
    }

    #[test]
    fn patterns_find_what_they_say() {
        assert!(finds("^b$", Span::Line, "a\nb\nc"));
        assert!(finds("b$", Span::Line, "b\r\n"));
        assert!(!finds("a.b", Span::Line, "a\nb"));
        assert!(finds("a.b", Span::Lines, "a\nb"));
        assert!(finds(r"a\nb", Span::Lines, "a\nb"));
        assert!(matcher("ABC", Case::Insensitive, Span::Line).unwrap().0.is_match(b"abc").unwrap());
    }

    proptest! {
        // Some of them take a while to compile.
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn anything_is_a_pattern_or_is_explained(pattern in "[a{}()\\[\\]|*+?.^$\\\\0-3!=<nü ]{0,10}") {
            for span in [Span::Line, Span::Lines] {
                if let Err(why) = matcher(&pattern, Case::Sensitive, span) {
                    prop_assert!(!why.is_empty());
                }
            }
        }

        #[test]
        fn what_is_offered_finds_the_text(text in "[a{}()\\[|*+?.]{1,10}") {
            if why_of(&text).is_some_and(|why| why.contains("to find this very text")) {
                let offered = regex_syntax::escape(&text);
                prop_assert!(finds(&offered, Span::Line, &text));
                prop_assert!(matcher(&literal(&text), Case::Sensitive, Span::Line).is_ok());
            }
        }
    }

    fn why_of(pattern: &str) -> Option<String> {
        matcher(pattern, Case::Sensitive, Span::Line).map(|_| ()).err()
    }
}
