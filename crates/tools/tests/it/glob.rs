//! `glob` on real folders.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rail_permit::{Mode, Rule};
use rail_tool::{Facet, FacetCx};
use serde_json::{Value, json};

use crate::scratch::{Scratch, timeless};

/// What `glob` says, without the duration.
fn glob(scratch: &Scratch, input: &Value) -> String {
    timeless(&scratch.says("glob", input))
}

/// The paths that `glob` lists, by name.
fn paths(scratch: &Scratch, input: &Value) -> String {
    let said = glob(scratch, input);
    assert!(said.starts_with("ok: "), "{said}");
    let mut rows: Vec<&str> = said.lines().skip(1).collect();
    rows.sort_unstable();
    rows.join(" ")
}

fn with(files: &[&str]) -> Scratch {
    let scratch = Scratch::new();
    files.iter().for_each(|name| drop(scratch.write(name, "")));
    scratch
}

/// So many seconds after 2020 began.
fn touch(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800 + seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_newest_is_first_and_ties_go_by_name() {
    let scratch = Scratch::new();
    for (name, seconds) in [("b.rs", 5), ("a.rs", 5), ("old.rs", 1), ("src/new.rs", 9), ("src/a.rs", 5)] {
        touch(&scratch.write(name, ""), seconds);
    }
    let said = glob(&scratch, &json!({"pattern": "*.rs"}));
    assert_eq!(said, "ok: Found 5 files, newest first.\nsrc/new.rs\na.rs\nb.rs\nsrc/a.rs\nold.rs");
}

#[test]
fn a_hundred_at_most_in_pages() {
    let scratch = Scratch::new();
    for number in 0..230_u64 {
        touch(&scratch.write(&format!("{number:03}.txt"), ""), 1000 - number);
    }
    let page = |input: Value| {
        let said = glob(&scratch, &input);
        let rows: Vec<&str> = said.lines().skip(1).collect();
        let ends = [rows.first(), rows.last()].map(|row| row.copied().unwrap_or_default());
        format!("{} | {} rows {}", said.lines().next().unwrap(), rows.len(), ends.join(" to "))
    };
    insta::assert_snapshot!(page(json!({"pattern": "*.txt"})), @r#"ok: Found 230 files, newest first. Shown are 1 to 100; for more set "offset": 100, for fewer narrow the pattern or give `path`. | 100 rows 000.txt to 099.txt"#);
    insta::assert_snapshot!(page(json!({"pattern": "*.txt", "limit": 5000, "offset": 100})), @r#"ok: Found 230 files, newest first. Shown are 101 to 200; for more set "offset": 200, for fewer narrow the pattern or give `path`. | 100 rows 100.txt to 199.txt"#);
    insta::assert_snapshot!(page(json!({"pattern": "*.txt", "offset": 200})), @"ok: Found 230 files, newest first. Shown are 201 to 230, the last. | 30 rows 200.txt to 229.txt");
    insta::assert_snapshot!(page(json!({"pattern": "*.txt", "limit": 2, "offset": 7})), @r#"ok: Found 230 files, newest first. Shown are 8 to 9; for more set "offset": 9, for fewer narrow the pattern or give `path`. | 2 rows 007.txt to 008.txt"#);
    insta::assert_snapshot!(page(json!({"pattern": "*.txt", "offset": 230})), @"ok: Found 230 files, newest first. There are none behind `offset` 230. | 0 rows  to");
}

#[test]
fn patterns_mean_what_their_prompt_says() {
    let scratch =
        with(&["main.rs", "src/lib.rs", "src/a/mod.rs", "src/a/b.ts", "web/b.tsx", ".github/ci.yml", "A.RS"]);
    let check = |pattern: &str, expected: &str| {
        assert_eq!(paths(&scratch, &json!({"pattern": pattern})), expected, "{pattern}");
    };
    check("*.rs", "main.rs src/a/mod.rs src/lib.rs");
    check("./*.rs", "main.rs");
    check("src/*.rs", "src/lib.rs");
    check("src/**/*.rs", "src/a/mod.rs src/lib.rs");
    check("**/*.{ts,tsx}", "src/a/b.ts web/b.tsx");
    check("*/*/[a-m]*", "src/a/b.ts src/a/mod.rs");
    check("[!m]*.rs", "src/lib.rs");
    check("*.yml", ".github/ci.yml");
    check("src/a/", "src/a/b.ts src/a/mod.rs");
    check("src/a/mod.rs", "src/a/mod.rs");
    check("mod.rs", "src/a/mod.rs");
    check("{workspace}/src/*.rs", "src/lib.rs");
    check("src/../main.*", "main.rs");
    let insensitive = json!({"pattern": "SRC/*.RS", "case_sensitive": false});
    assert_eq!(paths(&scratch, &insensitive), "src/lib.rs");
    assert_eq!(paths(&scratch, &json!({"pattern": "*.ts", "path": "src"})), "src/a/b.ts");
    assert_eq!(
        paths(&scratch, &json!({"pattern": "a/*", "path": "{workspace}/src"})),
        "src/a/b.ts src/a/mod.rs"
    );
    assert_eq!(paths(&scratch, &json!({"pattern": "FindFiles.rs", "dir_path": "src"})), "");
}

#[test]
fn files_outside_have_their_whole_path() {
    let scratch = with(&["a.rs"]);
    let outside = scratch.outside().join("other");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("b.rs"), "").unwrap();
    let whole = outside.join("b.rs");
    for pattern in ["../other/*.rs", outside.join("*").to_str().unwrap(), whole.to_str().unwrap()] {
        assert_eq!(paths(&scratch, &json!({"pattern": pattern})), whole.to_str().unwrap(), "{pattern}");
    }
}

#[test]
fn what_is_touched_is_declared() {
    let touched = |input: Value| {
        let registry = rail_tools::registry();
        let admitted = registry.get("glob").unwrap().admit(input).unwrap();
        admitted.facets(&FacetCx {
            cwd: Path::new("/srv"),
            home: Some(Path::new("/srv/me")),
            skills: &[],
            confine: rail_tool::Confine::Off,
        })
    };
    let check = |input: Value, expected: &str| {
        assert_eq!(touched(input), [Facet::Read(PathBuf::from(expected))]);
    };
    check(json!({"pattern": "*.rs"}), "/srv");
    check(json!({"pattern": "src/**/*.rs"}), "/srv/src");
    check(json!({"pattern": "*.rs", "path": "src"}), "/srv/src");
    check(json!({"pattern": "/etc/*.conf"}), "/etc");
    check(json!({"pattern": "/etc/*.conf", "path": "src"}), "/etc");
    check(json!({"pattern": "/etc/hosts"}), "/etc/hosts");
    check(json!({"pattern": "~/.ssh/*"}), "/srv/me/.ssh");
    check(json!({"pattern": "../../etc/*"}), "/srv/../../etc");
    check(json!({"pattern": "x/../../etc/*", "path": "src"}), "/srv/src/x/../../etc");
    assert_eq!(touched(json!({"pattern": "*/../../etc"})), []);
}

#[test]
fn names_that_are_no_text_are_escaped() {
    let scratch = with(&["plain.txt"]);
    for name in [&b"caf\xe9.txt"[..], b"two\nlines.txt"] {
        std::fs::write(scratch.workspace().join(OsStr::from_bytes(name)), "").unwrap();
    }
    assert_eq!(paths(&scratch, &json!({"pattern": "*.txt"})), "caf\\xe9.txt plain.txt two\\x0alines.txt");
}

#[test]
fn links_to_files_are_listed_and_links_to_folders_not_followed() {
    let scratch = with(&["AGENTS.md", "deep/a.md"]);
    symlink("AGENTS.md", scratch.path("CLAUDE.md")).unwrap();
    symlink("deep", scratch.path("linked")).unwrap();
    symlink("..", scratch.path("deep/loop")).unwrap();
    symlink("nowhere", scratch.path("broken.md")).unwrap();
    assert_eq!(paths(&scratch, &json!({"pattern": "*.md"})), "AGENTS.md CLAUDE.md deep/a.md");
}

#[test]
fn what_may_not_be_read_is_counted_and_not_named() {
    let scratch = with(&[".env", "a.txt", "private/b.txt", "private/c.txt"]);
    scratch.executor.change_policy(|policy| {
        policy.mode = Mode::Default;
        policy
            .rules
            .deny
            .push(Rule::parse("read_file(private/**)", "a test", &|name| Some(name.to_owned())).unwrap());
    });
    insta::assert_snapshot!(glob(&scratch, &json!({"pattern": "**"})), @"
    ok: Found 1 file, newest first.
    3 more files may not be read and are not shown.
    a.txt
    ");
}

#[test]
fn a_name_with_brackets_is_found() {
    let scratch = with(&["app/[id]/page.tsx", "app/x/page.tsx"]);
    assert_eq!(paths(&scratch, &json!({"pattern": "app/[id]/page.tsx"})), "app/[id]/page.tsx");
}

#[test]
fn what_can_t_be_done_is_said_with_what_to_do() {
    let scratch = with(&["src/a.rs"]);
    let said = |input: Value| glob(&scratch, &input);
    insta::assert_snapshot!(said(json!({"pattern": "src/{a"})), @"error: `{a` is no glob pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)");
    insta::assert_snapshot!(said(json!({"pattern": "*/../b"})), @"error: `..` can stand only before the first wildcard of `*/../b`; give the folder as `path` instead");
    insta::assert_snapshot!(said(json!({"pattern": ""})), @"error: the pattern is empty; `**` stands for every file");
    insta::assert_snapshot!(said(json!({"pattern": "*.rs", "path": "lib"})), @"error: there is no folder `lib`; see what there is with `list_directory`, or put `**/` before the pattern");
    insta::assert_snapshot!(said(json!({"pattern": "lib/*.rs"})), @"error: there is no folder `lib`; see what there is with `list_directory`, or put `**/` before the pattern");
    insta::assert_snapshot!(said(json!({"pattern": "*.rs", "path": "src/a.rs"})), @"error: `src/a.rs` is a file; give a folder as `path`, or use `grep` to search in it");
    insta::assert_snapshot!(said(json!({"pattern": "src/b.rs"})), @"ok: No file fits `src/b.rs`: there is no `src/b.rs`. `**/` before the pattern looks in all folders.");
    insta::assert_snapshot!(said(json!({"pattern": "./src"})), @"ok: No file fits `./src`: `src` is a folder, `src/**` stands for the files in it.");
    insta::assert_snapshot!(said(json!({"pattern": "*.py", "respect_git_ignore": false})), @"ok: No file fits `*.py`: 1 file was looked at.");
}
