use proptest::prelude::*;

use super::*;

fn edit<'a>(old: &'a str, new: &'a str, places: Places) -> Edit<'a> {
    Edit { old, new, places, extent: Extent::Anywhere }
}

/// The step and the text after it, or what the model is told.
fn one(text: &str, old: &str, new: &str) -> String {
    said(text, &edit(old, new, Places::One))
}

fn said(text: &str, edit: &Edit<'_>) -> String {
    match apply(text, edit) {
        Ok(applied) => format!("{:?} {:?}", applied.step, applied.text),
        Err(fault) => fault.say(Told::Parameter).replace(['‹', '›'], "`"),
    }
}

#[test]
fn the_exact_text_is_replaced_at_its_only_place() {
    assert_eq!(one("a b c", "b", "x"), r#"Exact "a x c""#);
    assert_eq!(one("a\nb\n", "b\n", ""), r#"Exact "a\n""#);
    assert_eq!(one("a", "a", "a"), "the new text is the same as the old one: there is nothing to change");
    assert_eq!(one("a", "", "a"), "`old_string` is empty: give the text that is to be replaced");
}

#[test]
fn several_places_are_named() {
    assert_eq!(
        one("a\nb\na\n", "a", "x"),
        "`old_string` is at 2 places (lines 1 and 3): add lines around the one you mean, or set `replace_all`"
    );
    assert_eq!(
        one("aaa", "aa", "x"),
        "`old_string` is at 2 places (lines 1 and 1): add lines around the one you mean, or set `replace_all`"
    );
    assert_eq!(
        one(&"a\n".repeat(12), "a", "x"),
        "`old_string` is at 12 places (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and so on): add lines around the one you mean, or set `replace_all`"
    );
}

#[test]
fn all_or_so_many_places_can_be_meant() {
    assert_eq!(said("a b a", &edit("a", "x", Places::All)), r#"Exact "x b x""#);
    assert_eq!(said("a b a", &edit("a", "x", Places::Exactly(2))), r#"Exact "x b x""#);
    assert_eq!(
        said("a b a", &edit("a", "x", Places::Exactly(3))),
        "`old_string` was expected 3 times and is there 2 times (lines 1 and 1): correct `expected_replacements`, or add lines around the one you mean, or set `replace_all`"
    );
    assert_eq!(
        said("b", &edit("a", "x", Places::Exactly(2))),
        "`old_string` was expected 2 times and is not there at all: read the file again and copy the text from it"
    );
    assert_eq!(
        said("a\r\nb\r\na\r\nb\r\n", &edit("a\nb\n", "x\ny\n", Places::All)),
        r#"LineEndings "x\r\ny\r\nx\r\ny\r\n""#
    );
}

#[test]
fn what_is_written_has_the_file_s_endings() {
    assert_eq!(one("a\r\nb\r\nc\r\n", "a\nb", "a\nx\nb"), r#"LineEndings "a\r\nx\r\nb\r\nc\r\n""#);
    assert_eq!(one("a\r\nb\r\n", "b", "x\ny"), r#"Exact "a\r\nx\r\ny\r\n""#);
    assert_eq!(one("a\nb\n", "a\r\nb", "x\r\ny"), r#"LineEndings "x\ny\n""#);
    assert_eq!(one("a\rb\rc", "a\nb", "x\ny\nz"), r#"LineEndings "x\ry\rz\rc""#);
    // Mixed: each line that stays keeps its own, a new one takes that of its place.
    assert_eq!(
        one("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nx\nc\nd"),
        r#"LineEndings "a\r\nb\nx\r\nc\r\nd\n""#
    );
    assert_eq!(one("a\nb\r\nc\n", "b", "x\ny"), r#"Exact "a\nx\r\ny\r\nc\n""#);
    assert_eq!(one("a", "a", "x\ny"), r#"Exact "x\ny""#);
}

#[test]
fn blanks_at_the_ends_of_lines_do_not_count() {
    assert_eq!(one("a  \nb\t\nc\n", "a\nb\nc", "a\nx\nc"), r#"TrailingSpace "a  \nx\nc\n""#);
    assert_eq!(one("a\nb\nc\n", "a \nb  ", "x"), r#"TrailingSpace "x\nc\n""#);
    assert_eq!(one("a\r\nb \r\n", "a\nb\n", "a\ny\n"), r#"TrailingSpace "a\r\ny\r\n""#);
    // The blanks at the end say that the line ends there.
    assert!(one("a\nbarometer\n", "a\nbar ", "x").starts_with("`old_string` is not in the file"));
    // A file that ends without a newline goes on doing so.
    assert_eq!(one("a\nb", "b\n", "x\n"), r#"TrailingSpace "a\nx""#);
    assert_eq!(
        one("a \nb\na  \nb\n", "a\nb", "x"),
        "`old_string` is not there as written, and apart from blanks at the ends of lines is at 2 places (lines 1 and 3): add lines around the one you mean, or set `replace_all`"
    );
}

#[test]
fn all_of_it_may_be_deeper_or_less_deep() {
    let text = "fn a() {\n    if b {\n        c();\n    }\n}\n";
    assert_eq!(
        one(text, "if b {\n    c();\n}\n", "if b {\n    c();\n    d();\n}\n"),
        r#"Indentation "fn a() {\n    if b {\n        c();\n        d();\n    }\n}\n""#
    );
    assert_eq!(
        one(
            "\tif b {\n\t\tc();\n\t}\n",
            "    if b {\n        c();\n    }",
            "    if b {\n        if e {\n            d();\n        }\n    }"
        ),
        r#"Indentation "\tif b {\n\t\tif e {\n\t\t\td();\n\t\t}\n\t}\n""#
    );
    assert_eq!(
        one("a:\r\n  b\r\n  c\r\n", "    b\n    c\n", "    b\n    d\n"),
        r#"Indentation "a:\r\n  b\r\n  d\r\n""#
    );
    assert_eq!(one("x\n  a\n  b", "a\nb\n", "a\nc\n"), r#"Indentation "x\n  a\n  c""#);
    assert!(one("  a\n    b\n", "a\nb\n", "c\n").starts_with("`old_string` is not in the file"));
    assert!(one("  a\n\n   a\n", "    a\n", "c\n").contains("indentation is at 2 places (lines 1 and 3)"));
}

#[test]
fn letters_that_look_alike_and_escapes_are_understood() {
    assert_eq!(
        one("say “hi” – now\n", "say \"hi\" - now", "say \"hi\" - later"),
        r#"Punctuation "say “hi” – later\n""#
    );
    assert_eq!(one("a\u{a0}b", "a b", "a c"), "Punctuation \"a\\u{a0}c\"");
    assert_eq!(one("it's\n", "it’s", "it’s not"), r#"Punctuation "it's not\n""#);
    assert_eq!(
        one("x = \"a\"\ny = 1\n", r#"x = \"a\"\ny = 1"#, r#"x = \"b\"\ny = 2"#),
        r#"Punctuation "x = \"b\"\ny = 2\n""#
    );
    assert_eq!(
        one("if a < b && c {\n", "if a &lt; b &amp;&amp; c {", "if a &gt; b {"),
        r#"Punctuation "if a > b {\n""#
    );
    assert_eq!(one("wait…\n", "wait...", "go"), r#"Punctuation "go\n""#);
}

#[test]
fn what_is_not_there_is_shown_with_what_is_like_it() {
    insta::assert_snapshot!(one("fn one() {\n    let total = 1;\n}\n", "fn one() {\n    let total = 2;\n}", "x"), @r"
    `old_string` is not in the file. The nearest is at line 1 (`-` as written, `+` as the file has it):
     fn one() {
    -    let total = 2;
    +    let total = 1;
     }
    1 of 3 lines differ: copy the text from the file as it is
    ");
    insta::assert_snapshot!(one("x\nlet  Total = compute(a);\n", "let total = compute(a)", "x"), @r"
    `old_string` is not in the file. The nearest is at line 2 (`-` as written, `+` as the file has it):
    -let total = compute(a)
    +let  Total = compute(a);
    1 of 1 lines differ: copy the text from the file as it is
    ");
    insta::assert_snapshot!(one("let total = a;\nlet other = b;\n", "     1\tlet total = a;\n     2\tlet other = b;", "x"), @r"
    `old_string` is not in the file. The nearest is at line 1 (`-` as written, `+` as the file has it):
    -     1	let total = a;
    -     2	let other = b;
    +let total = a;
    +let other = b;
    It was written with line numbers, which are not part of the file: copy the text from the file as it is
    ");
    assert!(one("let  total = a;\n", "let total = a;", "x").contains("\nOnly blanks differ: "));
    assert!(one("LET total = a;\n", "let total = a;", "x").contains("\nOnly capitals differ: "));
    assert_eq!(
        one("something\n", "zzz", "x"),
        "`old_string` is not in the file, nor anything like it: search for it with `grep`, or read the file again with `read_file`"
    );
}

#[test]
fn whole_lines_are_whole_lines() {
    let lines =
        |text: &str, extent| said(text, &Edit { old: "a\n", new: "x\n", places: Places::One, extent });
    assert_eq!(lines("ba\na\n", Extent::Lines), r#"Exact "ba\nx\n""#);
    assert_eq!(lines("a\nb\na\n", Extent::LastLines), r#"Exact "a\nb\nx\n""#);
    let first = Edit { old: "a\n", new: "x\n", places: Places::First, extent: Extent::Lines };
    assert_eq!(said("ba\na\na\n", &first), r#"Exact "ba\nx\na\n""#);
}

#[test]
fn a_large_file_of_like_lines_is_no_trap() {
    let text = "    a\n".repeat(200_000);
    assert!(one(&text, "a\n", "b\n").contains("is at 1000 places (lines 1, 2, "));
    assert!(one(&text, &"a\n".repeat(1_000), "b\n").contains("indentation is at "));
    assert!(one(&"a".repeat(1 << 20), &"a".repeat(1 << 10), "b").contains("is at 1000 places"));
    assert!(
        one(&text, &format!("{}b\n", "  a\n".repeat(1_000)), "b\n").starts_with("`old_string` is not in")
    );
}

proptest! {
    #[test]
    fn nothing_panics_and_what_is_outside_of_the_places_stays(
        text in "[ab “\\\\n\t\r\n]{0,60}", old in "[ab \"\\\\n\t\r\n]{1,8}", new in "[abc \n]{0,8}",
    ) {
        for places in [Places::One, Places::All, Places::First, Places::Exactly(2)] {
            for extent in [Extent::Anywhere, Extent::Lines, Extent::LastLines] {
                if let Ok(found) = find(&text, &Edit { old: &old, new: &new, places, extent }) {
                    let (made, at) = splice(&text, &found.splices);
                    prop_assert_eq!(at.len(), found.splices.len());
                    prop_assert!(found.step <= Step::LineEndings || found.splices.len() == 1);
                    let gone: usize = found.splices.iter().map(|splice| splice.at.len()).sum();
                    let come: usize = found.splices.iter().map(|splice| splice.with.len()).sum();
                    prop_assert_eq!(made.len(), text.len() - gone + come);
                }
            }
        }
    }

    #[test]
    fn a_part_of_a_text_is_found_in_it(text in "[a-z \n]{1,200}", at in 0_usize..200, len in 1_usize..40) {
        let at = at % text.len();
        let old = &text[at..(at + len).min(text.len())];
        let new = format!("<{old}>");
        let applied = apply(&text, &edit(old, &new, Places::All)).unwrap();
        prop_assert_eq!(applied.step, Step::Exact);
        prop_assert_eq!(applied.text, text.replace(old, &new));
    }

    #[test]
    fn a_file_with_other_endings_becomes_the_same_text(text in "[ab\n]{1,60}", at in 0_usize..60, len in 1_usize..20) {
        let at = at % text.len();
        let old = &text[at..(at + len).min(text.len())];
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let edit = edit(old, "x\ny", Places::All);
        let expected = apply(&text, &edit).map(|applied| crlf(&applied.text));
        if text.contains('\n') {
            let applied = apply(&crlf(&text), &edit).map(|applied| applied.text);
            prop_assert_eq!(applied.ok(), expected.ok());
        }
    }
}

#[test]
fn a_rewritten_text_keeps_the_endings_of_what_it_replaces() {
    assert_eq!(rewritten("a\r\nb\r\n", "a\nc\nb\n"), "a\r\nc\r\nb\r\n");
    assert_eq!(rewritten("a\nb\n", "a\r\nc"), "a\nc");
    assert_eq!(rewritten("a\rb", "x\ny"), "x\ry");
    assert_eq!(rewritten("a\r\nb\nc\n", "a\nb\nx\nc\n"), "a\r\nb\nx\nc\n");
    assert_eq!(rewritten("", "a\r\nb\n"), "a\r\nb\n");
    assert_eq!(rewritten("a\n", ""), "");
}
