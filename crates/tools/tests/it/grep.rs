//! `grep` on real folders.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rail_permit::{Mode, Rule};
use rail_tool::{Facet, FacetCx};
use serde_json::{Value, json};

use crate::scratch::{Scratch, timeless};

/// What `grep` says, without the duration.
fn grep(scratch: &Scratch, input: &Value) -> String {
    timeless(&scratch.says("grep", input))
}

fn with(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    files.iter().for_each(|(name, content)| drop(scratch.write(name, content)));
    scratch
}

fn song() -> Scratch {
    with(&[
        ("song.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"),
        ("more/song.rs", "// three\nfn four() {}\n"),
    ])
}

#[test]
fn files_are_listed_newest_first_and_ties_by_name() {
    let scratch = Scratch::new();
    for (name, seconds) in [("b", 5), ("a", 5), ("old", 1), ("deep/new", 9)] {
        let file = File::options().write(true).open(scratch.write(name, "word\nword\n")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + seconds)).unwrap();
    }
    scratch.write("other", "nothing");
    assert_eq!(
        grep(&scratch, &json!({"pattern": "word"})),
        "ok: Found 4 files, newest first.\ndeep/new\na\nb\nold"
    );
    let page = grep(&scratch, &json!({"pattern": "word", "head_limit": 2, "offset": 1}));
    insta::assert_snapshot!(page, @r#"
    ok: Found 4 files, newest first. Shown are 2 to 3; for more set "offset": 3, for fewer narrow `pattern`, `path`, `glob` or `type`.
    a
    b
    "#);
}

#[test]
fn a_hundred_files_at_most() {
    let scratch = Scratch::new();
    for number in 0..130 {
        scratch.write(&format!("{number}"), "word");
    }
    let said = grep(&scratch, &json!({"pattern": "word", "head_limit": 5000}));
    assert_eq!(said.lines().count(), 101);
    insta::assert_snapshot!(said.lines().next().unwrap(), @r#"ok: Found 130 files, newest first. Shown are 1 to 100; for more set "offset": 100, for fewer narrow `pattern`, `path`, `glob` or `type`."#);
    let counts = grep(&scratch, &json!({"pattern": "word", "output_mode": "count"}));
    insta::assert_snapshot!(counts.lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    ok: Found 130 matches in 130 files. Shown are 1 to 100; for more set "offset": 100, for fewer narrow `pattern`, `path`, `glob` or `type`.
    0:1
    1:1
    "#);
}

#[test]
fn lines_with_what_is_around_them() {
    let scratch = song();
    let said = |input: Value| grep(&scratch, &input);
    insta::assert_snapshot!(said(json!({"pattern": "three", "output_mode": "content"})), @"
    ok: Found 2 matches in 2 files.
    more/song.rs
    1:// three

    song.txt
    3:three
    ");
    insta::assert_snapshot!(said(json!({"pattern": "two|nine", "output_mode": "content", "-C": 1})), @"
    ok: Found 2 matches in 1 file.
    song.txt
    1-one
    2:two
    3-three
    --
    8-eight
    9:nine
    10-ten
    ");
    insta::assert_snapshot!(said(json!({"pattern": "six", "output_mode": "content", "-B": 2, "-A": 1})), @"
    ok: Found 1 match in 1 file.
    song.txt
    4-four
    5-five
    6:six
    7-seven
    ");
    insta::assert_snapshot!(said(json!({"pattern": "four", "output_mode": "content", "-n": false})), @"
    ok: Found 2 matches in 2 files.
    more/song.rs
    fn four() {}

    song.txt
    four
    ");
    insta::assert_snapshot!(said(json!({"pattern": "T.O", "output_mode": "content", "-i": true})), @"
    ok: Found 1 match in 1 file.
    song.txt
    2:two
    ");
}

#[test]
fn lines_in_pages_keep_what_is_around_them() {
    let scratch = song();
    let said = |input: Value| grep(&scratch, &input);
    let page = |offset: u32, limit: u32, around: u32| {
        said(
            json!({"pattern": "e", "path": "song.txt", "output_mode": "content", "offset": offset, "head_limit": limit, "-C": around}),
        )
    };
    insta::assert_snapshot!(page(0, 2, 0), @r#"
    ok: Found 7 matches in 1 file. Shown are 1 to 2; for more set "offset": 2, for fewer narrow `pattern`, `path`, `glob` or `type`.
    song.txt
    1:one
    3:three
    "#);
    insta::assert_snapshot!(page(2, 2, 1), @r#"
    ok: Found 7 matches in 1 file. Shown are 3 to 4; for more set "offset": 4, for fewer narrow `pattern`, `path`, `glob` or `type`.
    song.txt
    4-four
    5:five
    6-six
    7:seven
    "#);
    insta::assert_snapshot!(page(5, 9, 0), @"
    ok: Found 7 matches in 1 file. Shown are 6 to 7, the last.
    song.txt
    9:nine
    10:ten
    ");
    insta::assert_snapshot!(page(9, 9, 0), @"ok: Found 7 matches in 1 file. There are none behind `offset` 9.");
    let near =
        json!({"pattern": "five|six", "path": "song.txt", "output_mode": "content", "offset": 1, "-B": 2});
    insta::assert_snapshot!(said(near), @"
    ok: Found 2 matches in 1 file. Shown is 2, the last.
    song.txt
    4-four
    5-five
    6:six
    ");
    let over = json!({"pattern": "three|four", "output_mode": "content", "offset": 1, "head_limit": 2});
    insta::assert_snapshot!(said(over), @r#"
    ok: Found 4 matches in 2 files. Shown are 2 to 3; for more set "offset": 3, for fewer narrow `pattern`, `path`, `glob` or `type`.
    more/song.rs
    2:fn four() {}

    song.txt
    3:three
    "#);
}

#[test]
fn every_match_is_on_one_page_whatever_its_size() {
    let scratch = Scratch::new();
    for file in 0..7 {
        let lines: Vec<String> =
            (0..=file).map(|line| format!("match {file} {line}\nother\nother\n")).collect();
        scratch.write(&format!("{file}.txt"), lines.concat());
    }
    let matches = |input: &Value| -> Vec<String> {
        let said = grep(&scratch, input);
        said.lines().filter_map(|line| line.split_once(":match ")).map(|(_, rest)| rest.to_owned()).collect()
    };
    let whole = matches(&json!({"pattern": "^match", "output_mode": "content"}));
    assert_eq!(whole.len(), 28);
    for (limit, around) in [(1, 0), (3, 1), (4, 5), (27, 2), (100, 1)] {
        let mut paged = Vec::new();
        for offset in (0..28).step_by(limit) {
            let input = json!({"pattern": "^match", "output_mode": "content", "head_limit": limit, "offset": offset, "-C": around});
            paged.extend(matches(&input));
        }
        assert_eq!(paged, whole, "{limit} {around}");
    }
}

#[test]
fn counts_per_file() {
    insta::assert_snapshot!(grep(&song(), &json!({"pattern": "o", "output_mode": "count"})), @"
    ok: Found 4 matches in 2 files.
    more/song.rs:1
    song.txt:3
    ");
}

#[test]
fn several_lines() {
    let scratch = with(&[("a.rs", "fn a(\n    x: u32,\n) {}\nfn b() {}\n"), ("b.rs", &"x\n".repeat(300))]);
    let said = |pattern: &str, multiline: bool| {
        grep(&scratch, &json!({"pattern": pattern, "multiline": multiline, "output_mode": "content"}))
    };
    insta::assert_snapshot!(said(r"fn a\(.*?\)", true), @"
    ok: Found 1 match in 1 file.
    a.rs
    1:fn a(
    2:    x: u32,
    3:) {}
    ");
    insta::assert_snapshot!(said(r"a\(\n", true), @"
    ok: Found 1 match in 1 file.
    a.rs
    1:fn a(
    ");
    insta::assert_snapshot!(said(r"fn a\(.*?\)", false), @"ok: Nothing found: 2 files were searched. Ignored files were left out; give their folder as `path` to search them.");
    insta::assert_snapshot!(said(r"fn a\(\n", false), @r#"error: the pattern has a line break in it, but each line is searched on its own; set "multiline": true"#);
    let long = said(r"(x\n)+", true);
    assert!(long.ends_with("100:x\n[… 200 lines of this match]"), "{long}");
}

#[test]
fn kinds_and_globs_narrow() {
    let scratch =
        with(&[("a.rs", "x"), ("b.ts", "x"), ("c.tsx", "x"), ("src/d.rs", "x"), ("t/e.min.js", "x")]);
    let files = |input: Value| {
        let said = grep(&scratch, &input);
        let mut rows: Vec<&str> = said.lines().skip(1).collect();
        rows.sort_unstable();
        rows.join(" ")
    };
    assert_eq!(files(json!({"pattern": "x", "type": "rust"})), "a.rs src/d.rs");
    assert_eq!(files(json!({"pattern": "x", "glob": "*.{ts,tsx}"})), "b.ts c.tsx");
    assert_eq!(files(json!({"pattern": "x", "include": "*.ts"})), "b.ts");
    assert_eq!(files(json!({"pattern": "x", "glob": "!*.min.js !src"})), "a.rs b.ts c.tsx");
    assert_eq!(files(json!({"pattern": "x", "glob": "src/*.rs", "path": "src"})), "src/d.rs");
    assert_eq!(files(json!({"pattern": "x", "path": "{workspace}/src"})), "src/d.rs");
}

#[test]
fn binary_files_are_left_out() {
    let scratch = Scratch::new();
    scratch.write("a.bin", b"word\0word\n");
    scratch.write("late.bin", [&b"word\n".repeat(40_000)[..], b"\0"].concat());
    scratch.write("a.txt", "word\n");
    assert_eq!(
        grep(&scratch, &json!({"pattern": "word", "output_mode": "count"})),
        "ok: Found 1 match in 1 file.\na.txt:1"
    );
    let named = grep(&scratch, &json!({"pattern": "word", "path": "a.bin"}));
    insta::assert_snapshot!(named, @"error: `a.bin` is a binary file; `bash` with `grep -a` or `strings` can search it");
}

#[test]
fn other_encodings_are_read() {
    let scratch = Scratch::new();
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{FEFF}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    scratch.write("be.txt", utf16("größe\n", u16::to_be_bytes));
    scratch.write("bom.txt", "\u{FEFF}größe\n");
    scratch.write("crlf.txt", "größe\r\n");
    scratch.write("latin.txt", b"gr\xf6\xdfe, but word\n");
    scratch.write("le.txt", utf16("größe\n", u16::to_le_bytes));
    insta::assert_snapshot!(grep(&scratch, &json!({"pattern": "^größe$", "output_mode": "content"})), @"
    ok: Found 4 matches in 4 files.
    be.txt
    1:größe

    bom.txt
    1:größe

    crlf.txt
    1:größe

    le.txt
    1:größe
    ");
    insta::assert_snapshot!(grep(&scratch, &json!({"pattern": "word", "output_mode": "content"})), @"
    ok: Found 1 match in 1 file.
    latin.txt
    1:gr��e, but word
    ");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let scratch = Scratch::new();
    scratch.write("min.js", format!("{}needle{}\n", "a".repeat(400_000), "b".repeat(400_000)));
    let said = grep(&scratch, &json!({"pattern": "needle", "output_mode": "content"}));
    assert!(said.chars().count() < 2_200, "{}", said.len());
    assert!(said.contains("1:[… 399,500 characters] aaa") && said.contains("needlebbb"), "{said}");
    assert!(said.ends_with("b[… 398,506 characters]"), "{said}");
}

#[test]
fn the_output_has_an_end() {
    let scratch = Scratch::with(|session| session.limits.output_chars = 5_000);
    scratch.write("a.txt", format!("{}\n", "word ".repeat(30)).repeat(2_000));
    let said = grep(&scratch, &json!({"pattern": "word", "output_mode": "content", "head_limit": 2000}));
    assert!(said.chars().count() <= 5_004, "{}", said.chars().count());
    insta::assert_snapshot!(said.lines().next().unwrap(), @r#"ok: Found 2,000 matches in 1 file. Shown are 1 to 25; for more set "offset": 25, for fewer narrow `pattern`, `path`, `glob` or `type`."#);
    assert_eq!(said.lines().count(), 2 + 25);
    scratch.write("b.txt", "word\n".repeat(8_000));
    let around = json!({"pattern": "word", "path": "b.txt", "output_mode": "content", "-C": 2000});
    assert!(grep(&scratch, &around).chars().count() <= 5_004);
    let one = json!({"pattern": "(word\n)+", "multiline": true, "output_mode": "content", "path": "a.txt"});
    assert!(grep(&scratch, &one).chars().count() <= 5_004);
}

#[test]
fn links_are_not_followed() {
    let scratch = with(&[("a.txt", "word")]);
    std::fs::write(scratch.outside().join("secret.txt"), "word").unwrap();
    symlink(scratch.outside().join("secret.txt"), scratch.path("link.txt")).unwrap();
    symlink(scratch.outside(), scratch.path("folder")).unwrap();
    symlink(".", scratch.path("loop")).unwrap();
    assert_eq!(grep(&scratch, &json!({"pattern": "word"})), "ok: Found 1 file, newest first.\na.txt");
}

#[test]
fn a_file_that_is_named_is_searched_whatever_it_is() {
    let scratch = with(&[(".ignore", "*.log\n"), ("a.log", "one word\n")]);
    insta::assert_snapshot!(grep(&scratch, &json!({"pattern": "word"})), @"ok: Nothing found: 1 file was searched. Ignored files were left out; give their folder as `path` to search them.");
    let named = grep(&scratch, &json!({"pattern": "word", "path": "a.log", "output_mode": "content"}));
    insta::assert_snapshot!(named, @"
    ok: Found 1 match in 1 file.
    a.log
    1:one word
    ");
}

#[test]
fn what_can_t_be_done_is_said_with_what_to_do() {
    let scratch = song();
    let said = |input: Value| grep(&scratch, &input);
    insta::assert_snapshot!(said(json!({"pattern": "a", "path": "nowhere"})), @"error: there is no file or folder `{workspace}/nowhere`; find it with `glob`, or see what is there with `list_directory`");
    insta::assert_snapshot!(said(json!({"pattern": "a", "path": "son.txt"})), @"error: there is no file or folder `{workspace}/son.txt`; did you mean `{workspace}/song.txt`?");
    insta::assert_snapshot!(said(json!({"pattern": "a", "type": "rusty"})), @r#"error: there is no file type `rusty`; did you mean `rust`? Otherwise use "glob": "*.rusty""#);
    insta::assert_snapshot!(said(json!({"pattern": "a", "type": "zzzzzz"})), @r#"error: there is no file type `zzzzzz`; use "glob": "*.zzzzzz""#);
    insta::assert_snapshot!(said(json!({"pattern": "a", "glob": "{a"})), @"error: `glob`: `{a` is no glob pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
    insta::assert_snapshot!(said(json!({"pattern": "a", "glob": "*.py"})), @"ok: Nothing found: no file fits `glob` and `type`. Leave them out, or list files with `glob`.");
    insta::assert_snapshot!(said(json!({"pattern": "nothing"})), @"ok: Nothing found: 2 files were searched. Ignored files were left out; give their folder as `path` to search them.");
    insta::assert_snapshot!(said(json!({"pattern": "nothing", "path": "song.txt"})), @"ok: Nothing found: `song.txt` has no match.");
    insta::assert_snapshot!(said(json!({"pattern": "one", "offset": 5})), @"ok: Found 1 file, newest first. There are none behind `offset` 5.");
    insta::assert_snapshot!(said(json!({"pattern": "(?<=a)b"})), @"error: look-around (`(?=`, `(?!`, `(?<=`, `(?<!`) is not supported: the search takes time in proportion to the text, whatever the pattern; search for what both have in common, or use `bash` with `grep -P`");
    insta::assert_snapshot!(said(json!({"pattern": "a", "path": "/dev/null"})), @"error: `/dev/null` is a device, a socket or a pipe, not a file; use it through `bash`");
}

#[test]
fn what_may_not_be_read_is_not_searched() {
    let scratch = with(&[(".env", "KEY=word"), ("a.txt", "word"), ("private/b.txt", "word")]);
    scratch.executor.change_policy(|policy| {
        policy.mode = Mode::Default;
        policy
            .rules
            .deny
            .push(Rule::parse("read_file(private/**)", "a test", &|name| Some(name.to_owned())).unwrap());
    });
    let found = "ok: Found 1 match in 1 file.\na.txt";
    assert_eq!(grep(&scratch, &json!({"pattern": "word", "output_mode": "count"})), format!("{found}:1"));
    assert_eq!(
        grep(&scratch, &json!({"pattern": "word", "output_mode": "content"})),
        format!("{found}\n1:word")
    );
    assert_eq!(grep(&scratch, &json!({"pattern": "word"})), "ok: Found 1 file, newest first.\na.txt");
    // Not even that it matches is told.
    assert_eq!(grep(&scratch, &json!({"pattern": "KEY"})), grep(&scratch, &json!({"pattern": "NOKEY"})));
    let named = grep(&scratch, &json!({"pattern": "word", "path": "private"}));
    assert!(named.starts_with("error: "), "{named}");
}

#[test]
fn what_can_t_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = with(&[("a.txt", "word"), ("shut/b.txt", "word"), ("c.txt", "word")]);
    for name in ["shut", "c.txt"] {
        std::fs::set_permissions(scratch.path(name), std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    let said = grep(&scratch, &json!({"pattern": "word"}));
    let is_root = File::open(scratch.path("c.txt")).is_ok();
    std::fs::set_permissions(scratch.path("shut"), std::fs::Permissions::from_mode(0o700)).unwrap();
    if is_root {
        // Root reads everything: there is nothing to tell.
        assert!(said.starts_with("ok: Found 3 files"), "{said}");
    } else {
        assert!(said.starts_with("ok: Found 1 file, newest first.\nNot looked at: "), "{said}");
        assert!(said.ends_with(", and 1 other\na.txt"), "{said}");
    }
}

#[test]
fn what_is_touched_is_declared() {
    let check = |input: Value, expected: &str| {
        let admitted = rail_tools::registry().get("grep").unwrap().admit(input).unwrap();
        let cx = FacetCx {
            cwd: Path::new("/srv"),
            home: Some(Path::new("/srv/me")),
            skills: &[],
            confine: rail_tool::Confine::Off,
        };
        assert_eq!(admitted.facets(&cx), [Facet::Read(PathBuf::from(expected))]);
    };
    check(json!({"pattern": "x"}), "/srv/");
    check(json!({"pattern": "x", "path": "src"}), "/srv/src");
    check(json!({"pattern": "x", "path": "/etc/hosts"}), "/etc/hosts");
    check(json!({"pattern": "x", "path": "~/notes"}), "/srv/me/notes");
}
