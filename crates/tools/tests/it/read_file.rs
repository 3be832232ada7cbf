//! Text: lines, ranges, encodings, lengths, and that a file counts as read.

use std::fs::File;
use std::io::Write;

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1252};
use rail_tool::{Display, Stale};
use serde_json::json;

use crate::scratch::Scratch;

fn says(scratch: &Scratch, name: &str) -> String {
    scratch.says("read_file", &json!({ "file_path": scratch.path(name) }))
}

fn lines(scratch: &Scratch, name: &str, offset: u64, limit: u64) -> String {
    scratch.says("read_file", &json!({ "file_path": scratch.path(name), "offset": offset, "limit": limit }))
}

fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    encoding.encode(text).0.into_owned()
}

#[test]
fn every_encoding_is_read() {
    let chinese = "这是一个测试文件，里面有一些中文内容，用来检查编码是否正确。";
    let japanese = "これはテストのファイルです。日本語の文字が入っています。";
    let german = "Die Häuser der Straße sind schön, und die Brücke über den Fluß auch.";
    let korean = "이것은 시험 파일입니다. 한국어 글자가 들어 있습니다.";
    let taiwanese = "這是一個測試檔案，裡面有一些繁體中文內容，用來檢查編碼是否正確。";
    let wide =
        |order: fn(u16) -> [u8; 2]| "\u{feff}größe".encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let cases: [(Vec<u8>, &str, &str); 9] = [
        (german.as_bytes().to_vec(), german, ""),
        ("\u{feff}größe".as_bytes().to_vec(), "größe", ""),
        (wide(u16::to_le_bytes), "größe", "; encoded in UTF-16LE"),
        (wide(u16::to_be_bytes), "größe", "; encoded in UTF-16BE"),
        (encoded(GBK, chinese), chinese, "; encoded in GBK"),
        (encoded(SHIFT_JIS, japanese), japanese, "; encoded in Shift_JIS"),
        (encoded(WINDOWS_1252, german), german, "; encoded in windows-1252"),
        (encoded(EUC_KR, korean), korean, "; encoded in EUC-KR"),
        (encoded(BIG5, taiwanese), taiwanese, "; encoded in Big5"),
    ];
    let scratch = Scratch::new();
    for (bytes, text, note) in cases {
        scratch.write("a.txt", bytes);
        assert_eq!(says(&scratch, "a.txt"), format!("ok: 1\t{text}\n\n[1 line in all{note}]"));
    }
}

#[test]
fn line_endings_are_said_and_not_shown() {
    let scratch = Scratch::new();
    for (text, note) in [
        ("a\nb\n", ""),
        ("a\nb", ""),
        ("a\r\nb\r\n", "; lines end with CRLF"),
        ("a\rb\r", "; lines end with CR"),
        ("a\r\nb\n", "; lines end in different ways"),
    ] {
        scratch.write("a.txt", text);
        assert_eq!(says(&scratch, "a.txt"), format!("ok: 1\ta\n2\tb\n\n[2 lines in all{note}]"), "{text:?}");
    }
}

#[test]
fn a_range_starts_at_line_one() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\ntwo\nthree\n");
    assert_eq!(lines(&scratch, "a.txt", 1, 1), "ok: 1\tone\n\n[line 1 of 3 in all; go on with `offset` 2]");
    assert_eq!(lines(&scratch, "a.txt", 0, 1), lines(&scratch, "a.txt", 1, 1));
    assert_eq!(lines(&scratch, "a.txt", 3, 9), "ok: 3\tthree\n\n[line 3 of 3 in all]");
    let relative = scratch.says("read_file", &json!({ "file_path": "a.txt", "offset": 3 }));
    assert_eq!(relative, lines(&scratch, "a.txt", 3, 9));
    insta::assert_snapshot!(lines(&scratch, "a.txt", 4, 1), @"error: `{workspace}/a.txt` has 3 lines, so there is nothing at line 4; ask for an `offset` of at most 3");
}

#[test]
fn an_empty_file_says_so() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "");
    assert_eq!(says(&scratch, "a.txt"), "ok: `{workspace}/a.txt` is empty");
}

#[test]
fn two_thousand_lines_and_characters_are_the_default() {
    let scratch = Scratch::with(|session| session.limits.output_chars = 1_000_000);
    scratch.write("many.txt", "x\n".repeat(2_001));
    let said = says(&scratch, "many.txt");
    assert!(said.contains("\n2000\tx\n") && !said.contains("\n2001\tx\n"));
    assert!(said.ends_with("[lines 1 to 2000 of 2001 in all; go on with `offset` 2001]"), "{said}");
    assert!(lines(&scratch, "many.txt", 1, 2_001).contains("\n2001\tx\n"));

    scratch.write("long.txt", format!("{}\n{}", "ä".repeat(2_000), "ö".repeat(2_005)));
    let (whole, cut) = ("ä".repeat(2_000), "ö".repeat(2_000));
    let expected = format!(
        "ok: 1\t{whole}\n2\t{cut}… [5 more characters]\n\n[2 lines in all; 1 line is cut: see the rest of one through `bash`]"
    );
    assert_eq!(says(&scratch, "long.txt"), expected);
}

#[test]
fn a_page_ends_at_a_line_before_it_would_be_cut() {
    let scratch = Scratch::new();
    scratch.write("a.txt", format!("{}\n", "x".repeat(99)).repeat(1_000));
    let said = says(&scratch, "a.txt");
    assert!(said.chars().count() < 30_000, "{}", said.chars().count());
    let end = "[lines 1 to 283 of 1000 in all; this is as much as fits, go on with `offset` 284]";
    assert!(said.ends_with(end), "{}", &said[said.len() - 100..]);
    assert_eq!(std::fs::read_dir(&scratch.session.folder).unwrap().count(), 0);
    assert!(lines(&scratch, "a.txt", 284, 1).starts_with("ok: 284\tx"));
}

#[test]
fn long_text_needs_a_range() {
    let scratch = Scratch::new();
    scratch.write("fits.txt", "1234567\n".repeat(32 * 1024));
    assert!(says(&scratch, "fits.txt").starts_with("ok: 1\t1234567\n"));
    scratch.write("long.txt", "1234567\n".repeat(32 * 1024 + 1));
    insta::assert_snapshot!(says(&scratch, "long.txt"), @"error: `{workspace}/long.txt` has 32,769 lines (256 KiB), more than the 256 KiB that are read at once; give `offset` and `limit` to read some of its lines, or find the place with `grep`");
    let last = lines(&scratch, "long.txt", 32_769, 5);
    assert_eq!(last, "ok: 32769\t1234567\n\n[line 32769 of 32769 in all]");
    insta::assert_snapshot!(lines(&scratch, "long.txt", 40_000, 5), @"error: `{workspace}/long.txt` has 32,769 lines, so there is nothing at line 40000; ask for an `offset` of at most 32769");
}

#[test]
fn a_range_of_a_long_file_is_read_in_its_encoding() {
    let scratch = Scratch::new();
    let text = "这是一个测试文件，里面有一些中文内容\r\n".repeat(20_000);
    for (bytes, name) in
        [(encoded(GBK, &text), "GBK"), (text.encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16LE")]
    {
        let bytes = if name == "GBK" { bytes } else { [&[0xff, 0xfe], bytes.as_slice()].concat() };
        scratch.write("long.txt", bytes);
        let expected = format!(
            "ok: 19999\t这是一个测试文件，里面有一些中文内容\n\n[line 19999 of 20000 in all; go on with `offset` 20000; encoded in {name}; lines end with CRLF]"
        );
        assert_eq!(lines(&scratch, "long.txt", 19_999, 1), expected);
    }
}

#[test]
fn letters_far_behind_a_plain_beginning_tell_the_encoding() {
    let scratch = Scratch::new();
    let plain = "plain,text\n".repeat(30_000);
    let chinese = "这是一个测试文件，里面有一些中文内容";
    let utf_8 = [plain.as_bytes(), chinese.as_bytes(), b" \xff\n"].concat();
    for (bytes, line) in [
        (
            [plain.as_bytes(), &encoded(GBK, chinese), b"\n"].concat(),
            format!("{chinese}\n\n[line 30001 of 30001 in all; encoded in GBK]"),
        ),
        (utf_8, format!("{chinese} \u{fffd}\n\n[line 30001 of 30001 in all]")),
    ] {
        scratch.write("long.csv", bytes);
        assert_eq!(lines(&scratch, "long.csv", 30_001, 1), format!("ok: 30001\t{line}"));
    }
}

#[test]
fn a_file_of_a_gigabyte_is_read_in_part_and_its_lines_are_counted() {
    let huge = |scratch: Scratch| {
        let path = scratch.write("huge.log", "a line of a log\n".repeat(20_000));
        File::options().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
        scratch
    };
    let scratch = huge(Scratch::new());
    let said = lines(&scratch, "huge.log", 2, 2);
    let expected =
        "ok: 2\ta line of a log\n3\ta line of a log\n\n[lines 2 to 3 of 20001 in all; go on with `offset` 4]";
    assert_eq!(said, expected);
    // One that is longer than what is looked through.
    let scratch = huge(Scratch::with(|session| session.limits.read.counted_bytes = 1 << 20));
    let said = lines(&scratch, "huge.log", 2, 2);
    assert_eq!(said, expected.replace(" of 20001 in all", "; there are more than 20001 in all"));
    insta::assert_snapshot!(says(&scratch, "huge.log"), @"error: `{workspace}/huge.log` has more than 20,001 lines (1 GiB), more than the 256 KiB that are read at once; give `offset` and `limit` to read some of its lines, or find the place with `grep`");
}

#[test]
fn what_was_read_may_be_changed_until_somebody_else_does() {
    let scratch = Scratch::new();
    let check = |name: &str| {
        let path = scratch.path(name);
        let bytes = std::fs::read(&path).unwrap();
        scratch.session.stamps.check(&path, &path.metadata().unwrap(), &bytes)
    };
    scratch.write("a.txt", "one\n");
    assert_eq!(check("a.txt"), Err(Stale::Unread));
    says(&scratch, "a.txt");
    assert_eq!(check("a.txt"), Ok(()));
    scratch.write("a.txt", "two\n");
    assert_eq!(check("a.txt"), Err(Stale::Changed));

    scratch.write("long.txt", "1234567\n".repeat(40_000));
    says(&scratch, "long.txt");
    assert_eq!(check("long.txt"), Err(Stale::Unread), "nothing of it was shown");
    lines(&scratch, "long.txt", 1, 1);
    assert_eq!(check("long.txt"), Ok(()));
    File::options().append(true).open(scratch.path("long.txt")).unwrap().write_all(b"more\n").unwrap();
    assert_eq!(check("long.txt"), Err(Stale::Changed));

    scratch.write("a.bin", b"\x7fELF\0\0");
    says(&scratch, "a.bin");
    assert_eq!(check("a.bin"), Err(Stale::Unread), "nobody saw what is in it");
    scratch.write("empty.txt", "");
    says(&scratch, "empty.txt");
    assert_eq!(check("empty.txt"), Ok(()));
}

#[test]
fn a_file_that_changes_while_it_is_read_is_some_file() {
    let scratch = Scratch::new();
    let path = scratch.write("a.txt", "");
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for _ in 0..300 {
                let mut file = File::options().write(true).truncate(true).open(&path).unwrap();
                for _ in 0..200 {
                    file.write_all(b"a line of text\n").unwrap();
                }
            }
        });
        for _ in 0..30 {
            let outcome = scratch.run("read_file", &json!({ "file_path": path }));
            let said = outcome.text();
            assert!(outcome.success(), "{said}");
            // The count is that of what is shown, not of what the file was before or after.
            let shown = said.lines().filter(|line| line.contains('\t')).count();
            assert!(shown == 0 || said.contains(&format!("\n\n[{shown} line")), "{said}");
        }
    });
}

#[test]
fn people_see_three_lines() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "1\n2\n3\n4\n");
    let outcome = scratch.run("read_file", &json!({ "file_path": scratch.path("a.txt") }));
    let text = "1\t1\n2\t2\n3\t3\n4\t4\n".to_owned();
    assert_eq!(outcome.display, Some(Display::Preview { text, lines: 3 }));
}
