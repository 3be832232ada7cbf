//! Memory files in real folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rail_agent::memory::{Changed, Found, Memory, MemoryNote, MemoryPlaces};
use tempfile::TempDir;

const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

/// A home with the user's own folder and a repository in it.
struct Scratch {
    folder: TempDir,
}

impl Scratch {
    fn new() -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["home/.config/switchrail", "home/repo/.git", "home/repo/src/deep/er", "elsewhere"] {
            fs::create_dir_all(scratch.path(folder)).unwrap();
        }
        scratch
    }

    /// With these files, each a path and what it holds.
    fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        files.iter().for_each(|(path, text)| scratch.write(path, text));
        scratch
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The places for a working folder.
    fn places(&self, working_folder: &str) -> MemoryPlaces {
        let (user, home) = (self.path("home/.config/switchrail"), self.path("home"));
        MemoryPlaces::find(&self.path(working_folder), Some(&user), Some(&home), &NAMES.map(str::to_owned))
    }

    fn memory(&self, working_folder: &str) -> Memory {
        Memory::new(self.places(working_folder), stopped())
    }

    fn begin(&self, working_folder: &str) -> Found {
        self.memory(working_folder).begin()
    }

    /// A path as the tests write it.
    fn short(&self, path: &Path) -> String {
        path.strip_prefix(self.path("")).unwrap_or(path).display().to_string()
    }

    fn files(&self, found: &Found) -> Vec<String> {
        found.files.iter().map(|file| format!("{}: {}", self.short(&file.path), file.text)).collect()
    }

    fn notes(&self, notes: &[MemoryNote]) -> Vec<String> {
        let base = format!("{}/", self.path("").display().to_string().trim_end_matches('/'));
        // The numbers of errors differ between systems.
        let one = |note: &MemoryNote| {
            note.to_string().replace(&base, "").split(" (os error").next().unwrap().to_owned()
        };
        notes.iter().map(one).collect()
    }

    fn changes(&self, changed: &[Changed]) -> Vec<String> {
        let one = |changed: &Changed| match changed {
            Changed::Written(file) => format!("{}: {}", self.short(&file.path), file.text),
            Changed::Gone(path) => format!("{} is gone", self.short(path)),
        };
        changed.iter().map(one).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "any moment will do to count from")]
fn moment() -> Instant {
    Instant::now()
}

/// A clock that stands still.
fn stopped() -> impl Fn() -> Instant + Send + Sync {
    let now = moment();
    move || now
}

#[test]
fn the_user_s_own_come_first_and_the_nearest_last() {
    let scratch = Scratch::with(&[
        ("home/.config/switchrail/AGENTS.md", "user"),
        ("home/AGENTS.md", "above the root"),
        ("home/repo/AGENTS.md", "root"),
        ("home/repo/GEMINI.md", "root, gemini"),
        ("home/repo/src/CLAUDE.md", "src"),
        ("home/repo/src/deep/AGENTS.md", "\u{feff}deep\n\n"),
        ("home/repo/src/deep/CLAUDE.md", "  \n"),
        ("home/repo/src/deep/er/AGENTS.md", "deeper"),
        ("home/repo/src/deep/README.md", "no memory"),
    ]);
    let found = scratch.begin("home/repo/src/deep");
    let expected = [
        "home/.config/switchrail/AGENTS.md: user",
        "home/repo/AGENTS.md: root",
        "home/repo/GEMINI.md: root, gemini",
        "home/repo/src/CLAUDE.md: src",
        "home/repo/src/deep/AGENTS.md: deep",
    ];
    assert_eq!(scratch.files(&found), expected);
    assert_eq!(found.notes, []);
    assert_eq!(found.below.files, [scratch.path("home/repo/src/deep/er/AGENTS.md")]);
}

#[test]
fn outside_of_a_repository_only_the_working_folder_counts() {
    let scratch = Scratch::with(&[("elsewhere/AGENTS.md", "above"), ("elsewhere/in/AGENTS.md", "in")]);
    assert_eq!(scratch.files(&scratch.begin("elsewhere/in")), ["elsewhere/in/AGENTS.md: in"]);
    // No home and no folder of the user are no reason to fail.
    let places = MemoryPlaces::find(&scratch.path("elsewhere"), None, None, &NAMES.map(str::to_owned));
    assert_eq!(scratch.files(&Memory::new(places, stopped()).begin()), ["elsewhere/AGENTS.md: above"]);
    // Neither is a working folder that was deleted.
    let places = MemoryPlaces::find(Path::new("/no/such/folder"), None, None, &NAMES.map(str::to_owned));
    assert_eq!(Memory::new(places, stopped()).begin(), Found::default());
}

#[test]
fn the_same_text_under_two_names_counts_once() {
    let scratch = Scratch::with(&[
        ("home/repo/AGENTS.md", "the same"),
        ("home/repo/GEMINI.md", "the same\n"),
        ("home/repo/src/AGENTS.md", "@../AGENTS.md\n"),
        ("home/repo/src/CLAUDE.md", "another"),
    ]);
    symlink("AGENTS.md", scratch.path("home/repo/CLAUDE.md")).unwrap();
    let found = scratch.begin("home/repo/src");
    assert_eq!(scratch.files(&found), ["home/repo/AGENTS.md: the same", "home/repo/src/CLAUDE.md: another"]);
    assert_eq!(found.notes, []);
}

#[test]
fn imports_are_read_five_deep_and_each_once() {
    let scratch = Scratch::with(&[
        ("home/.config/switchrail/AGENTS.md", "Mine: @~/notes/mine.md and @local.md"),
        ("home/notes/mine.md", "notes"),
        ("home/.config/switchrail/local.md", "local"),
        ("home/repo/AGENTS.md", "0 @doc/1.md, `@doc/code.md` by @alice of @types/node"),
        ("home/repo/doc/1.md", "1 @2.md @./missing.md"),
        ("home/repo/doc/2.md", "2 @3.md @../AGENTS.md"),
        ("home/repo/doc/3.md", "3 @4.md @1.md"),
        ("home/repo/doc/4.md", "4 @5.md"),
        ("home/repo/doc/5.md", "5 @6.md @2.md"),
        ("home/repo/doc/6.md", "6"),
        ("home/repo/doc/code.md", "code"),
        ("home/repo/src/AGENTS.md", "src @../doc/2.md @."),
    ]);
    let found = scratch.begin("home/repo/src");
    let expected = [
        "home/.config/switchrail/AGENTS.md: Mine: @~/notes/mine.md and @local.md",
        "home/notes/mine.md: notes",
        "home/.config/switchrail/local.md: local",
        "home/repo/AGENTS.md: 0 @doc/1.md, `@doc/code.md` by @alice of @types/node",
        "home/repo/doc/1.md: 1 @2.md @./missing.md",
        "home/repo/doc/2.md: 2 @3.md @../AGENTS.md",
        "home/repo/doc/3.md: 3 @4.md @1.md",
        "home/repo/doc/4.md: 4 @5.md",
        "home/repo/doc/5.md: 5 @6.md @2.md",
        "home/repo/src/AGENTS.md: src @../doc/2.md @.",
    ];
    assert_eq!(scratch.files(&found), expected);
    insta::assert_snapshot!(scratch.notes(&found.notes).join("\n"), @r"
    memory file `home/repo/doc/6.md`, imported by `home/repo/doc/5.md`: not read, since imports are followed five deep; import it further up
    memory file `home/repo/doc/missing.md`, imported by `home/repo/doc/1.md`: there is no such file; correct the `@path`, or put it between backticks
    ");
    assert_eq!(found.files[4].imported_by, Some(scratch.path("home/repo/AGENTS.md")));
}

#[test]
fn a_file_that_is_too_deep_by_one_way_is_read_by_another() {
    let mut files: Vec<(String, String)> =
        (0..6).map(|at| (format!("home/repo/{at}.md"), format!("{at} @{}.md", at + 1))).collect();
    files.push(("home/repo/6.md".to_owned(), "6".to_owned()));
    files.push(("home/repo/AGENTS.md".to_owned(), "@1.md @6.md".to_owned()));
    let scratch = Scratch::new();
    files.iter().for_each(|(path, text)| scratch.write(path, text));
    let found = scratch.begin("home/repo");
    assert_eq!(scratch.files(&found).last().unwrap(), "home/repo/6.md: 6");
    assert_eq!(found.files.len(), 6);
}

#[test]
fn a_hostile_project_brings_in_nothing_that_is_not_its_own() {
    let scratch = Scratch::with(&[
        ("home/.ssh/id_rsa", "PRIVATE"),
        ("elsewhere/passwd", "PRIVATE"),
        ("home/notes.md", "PRIVATE"),
        ("home/repo/.env", "PRIVATE"),
        (
            "home/repo/AGENTS.md",
            "@~/.ssh/id_rsa @/etc/hosts @../notes.md @~/notes.md @.env @inner.md @to-passwd.md",
        ),
        ("home/repo/inner.md", "inner @../../elsewhere/passwd"),
    ]);
    symlink(scratch.path("elsewhere/passwd"), scratch.path("home/repo/to-passwd.md")).unwrap();
    symlink(scratch.path("home/.ssh/id_rsa"), scratch.path("home/repo/CLAUDE.md")).unwrap();
    symlink("../notes.md", scratch.path("home/repo/GEMINI.md")).unwrap();
    symlink(scratch.path("elsewhere"), scratch.path("home/repo/linked")).unwrap();
    scratch.write("elsewhere/AGENTS.md", "PRIVATE");
    let mut memory = scratch.memory("home/repo");
    let found = memory.begin();
    assert_eq!(
        scratch.files(&found),
        [
            "home/repo/AGENTS.md: @~/.ssh/id_rsa @/etc/hosts @../notes.md @~/notes.md @.env @inner.md @to-passwd.md",
            "home/repo/inner.md: inner @../../elsewhere/passwd",
        ]
    );
    insta::assert_snapshot!(scratch.notes(&found.notes).join("\n"), @r"
    memory file `home/.ssh/id_rsa`, imported by `home/repo/AGENTS.md`: not read, since it is a private key or a key store; keep secrets out of memory files
    memory file `/etc/hosts`, imported by `home/repo/AGENTS.md`: not read, since `/etc/hosts` is outside of the project; import it in your own memory file instead
    memory file `home/repo/../notes.md`, imported by `home/repo/AGENTS.md`: not read, since `home/notes.md` is outside of the project; import it in your own memory file instead
    memory file `home/notes.md`, imported by `home/repo/AGENTS.md`: not read, since `home/notes.md` is outside of the project; import it in your own memory file instead
    memory file `home/repo/.env`, imported by `home/repo/AGENTS.md`: not read, since it is settings with secrets in them; keep secrets out of memory files
    memory file `home/repo/../../elsewhere/passwd`, imported by `home/repo/inner.md`: not read, since `elsewhere/passwd` is outside of the project; import it in your own memory file instead
    memory file `home/repo/to-passwd.md`, imported by `home/repo/AGENTS.md`: not read, since `elsewhere/passwd` is outside of the project; import it in your own memory file instead
    memory file `home/repo/CLAUDE.md`: not read, since it is a private key or a key store; keep secrets out of memory files
    memory file `home/repo/GEMINI.md`: not read, since `home/notes.md` is outside of the project; import it in your own memory file instead
    ");
    assert_eq!(memory.entered(&scratch.path("home/repo/linked/x.md")).files, []);
}

#[test]
fn the_user_s_file_may_import_from_anywhere_but_no_secrets() {
    let scratch = Scratch::with(&[
        (
            "home/.config/switchrail/AGENTS.md",
            "@../../../elsewhere/rules.md @~/.ssh/id_rsa @~/repo/brought.md",
        ),
        ("elsewhere/rules.md", "rules @more.md"),
        ("elsewhere/more.md", "more"),
        ("home/.ssh/id_rsa", "PRIVATE"),
        ("home/repo/brought.md", "brought @../../elsewhere/private.md"),
        ("elsewhere/private.md", "PRIVATE"),
    ]);
    let found = scratch.begin("home/repo");
    let texts: Vec<&str> = found.files.iter().map(|file| &*file.text).collect();
    assert_eq!(texts[1..], ["rules @more.md", "more", "brought @../../elsewhere/private.md"]);
    insta::assert_snapshot!(scratch.notes(&found.notes).join("\n"), @r"
    memory file `home/.ssh/id_rsa`, imported by `home/.config/switchrail/AGENTS.md`: not read, since it is a private key or a key store; keep secrets out of memory files
    memory file `home/repo/../../elsewhere/private.md`, imported by `home/repo/brought.md`: not read, since `elsewhere/private.md` is outside of the project; import it in your own memory file instead
    ");
}

#[test]
fn odd_files_are_told_and_hold_nobody_up() {
    let scratch = Scratch::with(&[("home/repo/src/AGENTS.md", "fine")]);
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        scratch.path("home/repo/AGENTS.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    );
    made.unwrap();
    fs::create_dir(scratch.path("home/repo/CLAUDE.md")).unwrap();
    symlink("GEMINI.md", scratch.path("home/repo/GEMINI.md")).unwrap();
    scratch.write("home/repo/src/CLAUDE.md", b"latin \xe4 text");
    scratch.write("home/repo/src/GEMINI.md", "a line of text\n".repeat(10_000));
    let found = scratch.begin("home/repo/src");
    let lengths: Vec<usize> = found.files.iter().map(|file| file.text.len()).collect();
    assert_eq!(&*found.files[1].text, "latin \u{fffd} text");
    assert_eq!(lengths, [4, 14, 65_576]);
    assert!(found.files[2].text.ends_with("a line of text\n[The file goes on; read it for the rest.]"));
    insta::assert_snapshot!(scratch.notes(&found.notes).join("\n"), @r"
    memory file `home/repo/AGENTS.md`: not read, since it is no regular file
    memory file `home/repo/CLAUDE.md`: not read, since it is no regular file
    memory file `home/repo/GEMINI.md`: it can't be read: Too many levels of symbolic links
    memory file `home/repo/src/CLAUDE.md`: it holds bytes that are no UTF-8, which were replaced; save it as UTF-8
    memory file `home/repo/src/GEMINI.md`: only the first 65535 of 150000 bytes were read; make it shorter
    ");
}

#[test]
fn all_files_together_are_bounded() {
    let scratch = Scratch::new();
    for at in 0..6 {
        scratch.write(&format!("home/repo/{at}.md"), format!("{at} {}", "x".repeat(60_000)));
    }
    scratch.write("home/repo/AGENTS.md", "@0.md @1.md @2.md @3.md @4.md @5.md");
    let found = scratch.begin("home/repo");
    assert_eq!(found.files.len(), 5);
    insta::assert_snapshot!(scratch.notes(&found.notes).join("\n"), @r"
    memory file `home/repo/4.md`, imported by `home/repo/AGENTS.md`: not read, since the memory files before it are long enough; make them shorter
    memory file `home/repo/5.md`, imported by `home/repo/AGENTS.md`: not read, since the memory files before it are long enough; make them shorter
    ");
}

#[test]
fn a_deeper_folder_s_come_in_when_it_is_entered() {
    let scratch = Scratch::with(&[
        ("home/repo/AGENTS.md", "root"),
        ("home/repo/src/AGENTS.md", "src"),
        ("home/repo/src/deep/er/AGENTS.md", "deeper @more.md @missing.md"),
        ("home/repo/src/deep/er/more.md", "more"),
        ("home/repo/other/AGENTS.md", "root"),
        ("home/repo/.github/AGENTS.md", "hidden"),
        ("home/repo/node_modules/x/AGENTS.md", "of others"),
        ("elsewhere/AGENTS.md", "outside"),
    ]);
    let mut memory = scratch.memory("home/repo");
    assert_eq!(scratch.files(&memory.begin()), ["home/repo/AGENTS.md: root"]);
    let mut enter = |path: PathBuf| {
        let found = memory.entered(&path);
        (scratch.files(&found), scratch.notes(&found.notes).len())
    };
    let nothing = (Vec::new(), 0);
    assert_eq!(enter(scratch.path("home/repo/main.rs")), nothing);
    assert_eq!(enter(scratch.path("elsewhere/x")), nothing);
    assert_eq!(enter(scratch.path("home/repo/node_modules/x/a.js")), nothing);
    let deeper = [
        "home/repo/src/AGENTS.md: src",
        "home/repo/src/deep/er/AGENTS.md: deeper @more.md @missing.md",
        "home/repo/src/deep/er/more.md: more",
    ];
    // Relative paths count from the working folder, and the file need not be there yet.
    assert_eq!(enter("src/deep/er/new.rs".into()), (deeper.map(str::to_owned).to_vec(), 1));
    assert_eq!(enter(scratch.path("home/repo/src/deep/er")), nothing);
    assert_eq!(enter(scratch.path("home/repo/src/x.rs")), nothing);
    assert_eq!(enter(scratch.path("home/repo/other")), nothing, "its text is known");
    assert_eq!(enter(scratch.path("home/repo/.github/w.yml")).0, ["home/repo/.github/AGENTS.md: hidden"]);
}

#[test]
fn what_changed_is_told_once() {
    let scratch = Scratch::with(&[
        ("home/repo/AGENTS.md", "one @more.md"),
        ("home/repo/more.md", "more"),
        ("home/repo/src/AGENTS.md", "src"),
    ]);
    let mut memory = scratch.memory("home/repo/src");
    memory.begin();
    let mut refreshed = || scratch.changes(&memory.refreshed().changed);
    let nothing: [&str; 0] = [];
    assert_eq!(refreshed(), nothing);
    scratch.write("home/repo/more.md", "more than that");
    assert_eq!(refreshed(), ["home/repo/more.md: more than that"]);
    scratch.write("home/repo/src/CLAUDE.md", "new");
    scratch.write("home/repo/AGENTS.md", "one");
    assert_eq!(
        refreshed(),
        ["home/repo/AGENTS.md: one", "home/repo/src/CLAUDE.md: new", "home/repo/more.md is gone"]
    );
    fs::remove_file(scratch.path("home/repo/src/AGENTS.md")).unwrap();
    scratch.write("home/repo/src/CLAUDE.md", "");
    assert_eq!(refreshed(), ["home/repo/src/AGENTS.md is gone", "home/repo/src/CLAUDE.md is gone"]);
    scratch.write("home/.config/switchrail/AGENTS.md", "user");
    scratch.write("home/repo/src/AGENTS.md", "src");
    assert_eq!(refreshed(), ["home/.config/switchrail/AGENTS.md: user", "home/repo/src/AGENTS.md: src"]);
    assert_eq!(refreshed(), nothing);
    let known: Vec<&str> = memory.files().iter().map(|file| &*file.text).collect();
    assert_eq!(known, ["user", "one", "src"]);
}

#[test]
fn a_project_can_not_swap_a_link_in_later() {
    let scratch = Scratch::with(&[("home/repo/AGENTS.md", "fine"), ("elsewhere/private.md", "PRIVATE")]);
    let mut memory = scratch.memory("home/repo");
    memory.begin();
    fs::remove_file(scratch.path("home/repo/AGENTS.md")).unwrap();
    symlink(scratch.path("elsewhere/private.md"), scratch.path("home/repo/AGENTS.md")).unwrap();
    let refreshed = memory.refreshed();
    assert_eq!(scratch.changes(&refreshed.changed), ["home/repo/AGENTS.md is gone"]);
    assert_eq!(refreshed.notes.len(), 1);
}

#[test]
fn files_further_down_are_named_the_nearest_first() {
    let scratch = Scratch::new();
    for at in 10..40 {
        scratch.write(&format!("home/repo/src/{at}/AGENTS.md"), "x");
    }
    scratch.write("home/repo/z/CLAUDE.md", "x");
    scratch.write("home/repo/.hidden/AGENTS.md", "x");
    scratch.write("home/repo/vendor/AGENTS.md", "x");
    let below = scratch.begin("home/repo").below;
    assert_eq!(below.files[0], scratch.path("home/repo/z/CLAUDE.md"));
    assert_eq!(below.files[1], scratch.path("home/repo/src/10/AGENTS.md"));
    assert_eq!((below.files.len(), below.more), (20, 11));
    // Without a repository, two folders down and no further.
    scratch.write("elsewhere/a/b/AGENTS.md", "x");
    scratch.write("elsewhere/a/b/c/AGENTS.md", "x");
    assert_eq!(scratch.begin("elsewhere").below.files, [scratch.path("elsewhere/a/b/AGENTS.md")]);
}

#[test]
fn a_search_ends_when_its_time_is_over() {
    let scratch = Scratch::with(&[
        ("home/repo/AGENTS.md", "@a.md"),
        ("home/repo/a.md", "a"),
        ("home/repo/src/AGENTS.md", "src"),
    ]);
    // Each look at the clock takes so many milliseconds; what is found is what comes before three seconds are over.
    let run = |step: u64| {
        let (now, looks) = (moment(), Arc::new(AtomicU64::new(0)));
        let clock = move || now + Duration::from_millis(looks.fetch_add(1, Ordering::Relaxed) * step);
        let mut memory = Memory::new(scratch.places("home/repo"), clock);
        let found = memory.begin();
        let kept = memory.files().len();
        let refreshed = memory.refreshed();
        assert!(
            !refreshed.changed.iter().any(|changed| matches!(changed, Changed::Gone(_))),
            "{refreshed:?}"
        );
        (kept, found.below.files.len(), scratch.notes(&found.notes))
    };
    assert_eq!(run(0), (1, 1, vec![]));
    let (kept, below, notes) = run(600);
    assert_eq!((kept, below), (1, 0));
    insta::assert_snapshot!(notes.join("\n"), @r"
    memory file `home/repo/a.md`, imported by `home/repo/AGENTS.md`: the search was ended here, because it took too long
    memory file `home/repo`: the search was ended here, because it took too long
    ");
    assert_eq!(run(4_000).0, 0);
}
