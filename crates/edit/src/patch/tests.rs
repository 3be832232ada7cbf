use proptest::prelude::*;

use super::*;
use crate::diff::changes;
use crate::lines::lines;

fn update(hunks: &str) -> Vec<PatchHunk> {
    let patch = parse(&format!("*** Begin Patch\n*** Update File: a\n{hunks}\n*** End Patch")).unwrap();
    match patch.files.into_iter().next() {
        Some(FilePatch::Update { hunks, .. }) => hunks,
        other => panic!("{other:?}"),
    }
}

fn said(text: &str, hunks: &str) -> String {
    match patched(text, &update(hunks)) {
        Ok(patched) => {
            let differs = patched.differs.map(|what| format!(" ({what})")).unwrap_or_default();
            format!("{:?}{differs}", patched.text)
        }
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn every_kind_of_change_is_read() {
    let text = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n+two\n*** Delete File: old.txt\n*** Update File: /a/b.rs\n*** Move to: c.rs\n@@ impl A\n@@     fn f()\n keep\n-gone\n+come\n@@\n-x\n*** End of File\n*** End Patch\nignored";
    insta::assert_debug_snapshot!(parse(text).unwrap(), @r#"
    Patch {
        files: [
            Add {
                path: "new.txt",
                content: "one\n\ntwo\n",
            },
            Delete {
                path: "old.txt",
            },
            Update {
                path: "/a/b.rs",
                to: Some(
                    "c.rs",
                ),
                hunks: [
                    PatchHunk {
                        line: 9,
                        anchors: [
                            "impl A",
                            "    fn f()",
                        ],
                        old: "keep\ngone\n",
                        new: "keep\ncome\n",
                        at: Anywhere,
                    },
                    PatchHunk {
                        line: 14,
                        anchors: [],
                        old: "x\n",
                        new: "",
                        at: End,
                    },
                ],
            },
        ],
    }
    "#);
}

#[test]
fn what_models_put_around_it_does_not_matter() {
    let plain = parse("*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch").unwrap().files;
    let forms = [
        "*** Update File: a\n-x\n+y",
        "Here it is:\n```diff\n*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\n```\n",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch\nEOF\n",
        "```\n*** Begin Patch\n*** Update File: `a`\n-x\n+y\n```",
        "*** Begin Patch\r\n*** Update File: a\r\n-x\r\n+y\r\n*** End Patch\r\n",
        "*** Begin Patch\n*** Update File: a\n-x\n+y\nEOF",
    ];
    for form in forms {
        let mut files = parse(form).unwrap().files;
        for file in &mut files {
            if let FilePatch::Update { hunks, .. } = file {
                hunks.iter_mut().for_each(|hunk| hunk.line = 3);
            }
        }
        assert_eq!(files, plain, "{form}");
    }
}

#[test]
fn faults_name_the_line() {
    let fault = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(
        fault("hello"),
        "line 1 of the patch: there is no change in it; it must have a line `*** Begin Patch`, then `*** Add File: PATH`, `*** Update File: PATH` or `*** Delete File: PATH`"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Update File: a\nplain"),
        "line 3 of the patch: `plain` must begin with a space (a line that stays), `-` (one that goes), `+` (one that comes) or `@@`"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Add File: a\nplain"),
        "line 3 of the patch: `plain` must begin with `+`: every line of a new file does"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Delete File:\n"),
        "line 2 of the patch: there is no path after the colon"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Delete File: a\nplain"),
        "line 3 of the patch: `plain` is outside of a file; start one with `*** Update File: PATH`"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Update File: a\n*** End Patch"),
        "line 3 of the patch: the update of `a` changes nothing: give lines with `-` and `+`"
    );
    assert_eq!(
        fault("*** Begin Patch\n*** Delete File: a\n*** Move to: b"),
        "line 3 of the patch: `*** Move to:` must stand right after `*** Update File: PATH`"
    );
}

#[test]
fn hunks_are_made_in_order() {
    assert_eq!(said("a\nb\nc\nd\n", " a\n-b\n+x\n@@\n-d\n+y"), r#""a\nx\nc\ny\n""#);
    assert_eq!(said("a\nb\na\n", "-b\n+x\n@@\n-a\n+y"), r#""a\nx\ny\n""#);
    assert_eq!(
        said("a\nb\n", "-b\n+x\n@@\n-a\n+y"),
        "the hunk at line 5 of the patch: it is before the hunk above it: put the hunks in the order of the file"
    );
    assert_eq!(
        said("a\nb\na\n", "-a\n+x"),
        "the hunk at line 3 of the patch: the old text of the hunk is at 2 places (lines 1 and 3): add lines around the one you mean, or a line `@@` before it"
    );
}

#[test]
fn anchors_say_where() {
    let text = "fn a() {\n    x();\n}\nfn b() {\n    x();\n}\n";
    assert_eq!(
        said(text, "@@ fn b() {\n-    x();\n+    y();"),
        r#""fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n""#
    );
    assert_eq!(
        said(text, "@@ fn b()\n fn b() {\n-    x();\n+    y();"),
        r#""fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n""#
    );
    assert_eq!(
        said(text, "@@ -1,2 +1,2 @@ fn b() {\n-    x();\n+    y();"),
        r#""fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n""#
    );
    assert_eq!(
        said(text, "@@ fn b() {\n+    z();"),
        r#""fn a() {\n    x();\n}\nfn b() {\n    z();\n    x();\n}\n""#
    );
    assert_eq!(
        said(text, "@@ fn c() {\n-    x();"),
        "the hunk at line 3 of the patch: there is no line `fn c() {` from line 1 on: copy a line of the file behind `@@`, or leave it out"
    );
}

#[test]
fn the_end_of_the_file_is_a_place() {
    assert_eq!(said("a\nb\na\n", "-a\n+x\n*** End of File"), r#""a\nb\nx\n""#);
    assert_eq!(said("a\nb\n", "+c"), r#""a\nb\nc\n""#);
    assert_eq!(said("a\nb", "+c"), r#""a\nb\nc""#);
    assert_eq!(said("", "+c"), r#""c\n""#);
}

#[test]
fn lines_are_found_by_the_ladder() {
    assert_eq!(said("a\r\nb\r\n", " a\n-b\n+x\n+y"), r#""a\r\nx\r\ny\r\n" (line endings)"#);
    assert_eq!(said("a  \nb\n", " a\n-b\n+x"), r#""a  \nx\n" (blanks at the ends of lines)"#);
    assert_eq!(said("\tif a {\n\t\tb\n", " if a {\n-\tb\n+\tc"), r#""\tif a {\n\t\tc\n" (indentation)"#);
    assert_eq!(
        said("say “a”\nb\n", " say \"a\"\n-b\n+c"),
        r#""say “a”\nc\n" (quotes, dashes, blanks or escapes)"#
    );
    assert_eq!(said("a\n\nb\n", " a\n\n-b\n+c\n\n"), r#""a\n\nc\n""#);
    insta::assert_snapshot!(said("let one = 1;\nlet two = 2;\n", " let one = 1;\n-let two = 3;\n+x"), @r"
    the hunk at line 3 of the patch: the old text of the hunk is not in the file. The nearest is at line 1 (`-` as written, `+` as the file has it):
     let one = 1;
    -let two = 3;
    +let two = 2;
    1 of 2 lines differ: copy the text from the file as it is
    ");
}

/// A patch that makes one text of another, with so many lines around each change.
fn made(old: &str, new: &str, context: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (lines(old).map(|line| line.body).collect(), lines(new).map(|line| line.body).collect());
    let mut out = "*** Begin Patch\n*** Update File: a\n".to_owned();
    let mut put =
        |mark: char, lines: &[&str]| lines.iter().for_each(|line| out.push_str(&format!("{mark}{line}\n")));
    let mut at = 0;
    for change in changes(&old, &new) {
        let start = change.old.start.saturating_sub(context).max(at);
        put('@', &["@"]);
        put(' ', &old[start..change.old.start]);
        put('-', &old[change.old.clone()]);
        put('+', &new[change.new.clone()]);
        at = change.old.end;
    }
    out.push_str("*** End Patch\n");
    out
}

/// Lines that are all different, each with a letter that can be changed.
fn numbered(letters: &str) -> String {
    letters.char_indices().map(|(at, letter)| format!("line {at} {letter}\n")).collect()
}

proptest! {
    #[test]
    fn a_patch_that_was_made_makes_the_text(old in "[a-d]{1,30}", new in "[a-d]{1,30}") {
        let (old, new) = (numbered(&old), numbered(&new));
        if old != new {
            let patch = parse(&made(&old, &new, 3)).unwrap();
            let FilePatch::Update { hunks, .. } = &patch.files[0] else { panic!() };
            // Lines that only come stand behind the lines around them, which must be there.
            if hunks.iter().all(|hunk| !hunk.old.is_empty()) {
                prop_assert_eq!(patched(&old, hunks).unwrap().text, new);
            }
        }
    }

    #[test]
    fn any_text_with_all_its_lines_around_a_change_is_changed(before in "[ab \t]{1,5}(\n[ab \t“]{0,5}){0,8}\n", at in 0_usize..9, new in "[a-z]{1,4}") {
        let mut after: Vec<&str> = lines(&before).map(|line| line.body).collect();
        let at = at % after.len();
        after[at] = &new;
        let after: String = after.iter().map(|line| format!("{line}\n")).collect();
        if after != before {
            let bodies = |text: &str, mark: &str| lines(text).map(|line| format!("{mark}{}\n", line.body)).collect::<String>();
            let patch = format!("*** Update File: a\n{}{}", bodies(&before, "-"), bodies(&after, "+"));
            let patch = parse(&patch).unwrap();
            let FilePatch::Update { hunks, .. } = &patch.files[0] else { panic!() };
            prop_assert_eq!(patched(&before, hunks).unwrap().text, after);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(words in prop::collection::vec(
        prop::sample::select(vec!["*** Begin Patch", "*** Update File: a", "*** Add File: b", "*** Move to: c", "*** End of File",
            "*** End Patch", "@@", "@@ x", " a", "-a", "+b", "-", "+", "", "```", "EOF", "é", "***"]), 0..16), text in "[ab\r\n]{0,12}") {
        if let Ok(patch) = parse(&words.join("\n")) {
            for file in patch.files {
                if let FilePatch::Update { hunks, .. } = file {
                    let _ = patched(&text, &hunks);
                }
            }
        }
    }

    #[test]
    fn whatever_is_written_is_no_trouble(text in "\\PC{0,80}") {
        let _ = parse(&text);
    }
}
