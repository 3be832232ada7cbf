use std::io::Cursor;
use std::os::unix::fs::symlink;

use image::{DynamicImage, ImageFormat};
use rail_model::PartBody;
use serde_json::{Value, json};

use crate::scratch::Scratch;

fn says(scratch: &Scratch, input: &Value) -> String {
    scratch.says("read_many_files", input)
}

fn project() -> Scratch {
    let scratch = Scratch::new();
    scratch.write(".git/HEAD", "ref\n");
    scratch.write(".gitignore", "*.log\n");
    scratch.write("a.log", "ignored\n");
    scratch.write("README.md", "title\n");
    scratch.write("src/main.rs", "fn main() {}\n");
    scratch.write("src/deep/mod.rs", "mod deep;\r\n");
    scratch.write("src/[id]/page.rs", "page\n");
    scratch.write("node_modules/x/index.rs", "package\n");
    scratch
}

#[test]
fn files_folders_and_patterns_are_read_once_each_by_name() {
    let scratch = project();
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["README.md", "src", "**/*.rs"] })), @r"
    ok: --- README.md ---
    title

    --- src/[id]/page.rs ---
    page

    --- src/deep/mod.rs ---
    mod deep;

    --- src/main.rs ---
    fn main() {}

    [4 files read]
    ");
    // A pattern without a slash looks everywhere, unless told not to.
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["ma*.rs"] })), @r"
    ok: --- src/main.rs ---
    fn main() {}

    [1 file read]
    ");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["*.rs", "src"], "recursive": false })), @r"
    ok: --- src/main.rs ---
    fn main() {}

    [1 file read]
    `*.rs` fits no file
    ");
    // One with a slash looks where it says.
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["src/*.rs"] })), @r"
    ok: --- src/main.rs ---
    fn main() {}

    [1 file read]
    ");
    // Brackets are letters of a name as well.
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["src/[id]/page.rs"] })), @r"
    ok: --- src/[id]/page.rs ---
    page

    [1 file read]
    ");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["src/**"], "exclude": ["deep", "src/[[]id]/**"] })), @r"
    ok: --- src/main.rs ---
    fn main() {}

    [1 file read]
    ");
}

#[test]
fn ignored_files_are_left_out_unless_asked_for() {
    let scratch = project();
    let read = |input: Value| says(&scratch, &input).contains("--- a.log ---\nignored\n");
    assert!(!read(json!({ "paths": ["*.log", "README.md"] })));
    assert!(read(json!({ "paths": ["a.log"] })));
    assert!(read(json!({ "paths": ["*.log"], "respect_git_ignore": false })));
    let theirs = json!({ "paths": ["*.log"], "file_filtering_options": { "respect_git_ignore": false } });
    assert!(read(theirs));
    let packages =
        |input: Value| says(&scratch, &input).contains("--- node_modules/x/index.rs ---\npackage\n");
    assert!(!packages(json!({ "paths": ["**/*.rs"] })));
    assert!(packages(json!({ "paths": ["**/*.rs"], "use_default_excludes": false })));
    assert!(packages(json!({ "paths": ["node_modules/**"] })));
}

#[test]
fn binary_files_and_images_only_when_named() {
    let scratch = Scratch::new();
    let mut picture = Cursor::new(Vec::new());
    DynamicImage::new_rgb8(4, 2).write_to(&mut picture, ImageFormat::Png).unwrap();
    scratch.write("a.png", picture.into_inner());
    scratch.write("b.bin", [0, 1, 2]);
    scratch.write("c.txt", "text\n");
    scratch.write("d.txt", "");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["**"] })), @r"
    ok: --- c.txt ---
    text

    --- d.txt ---
    [empty]

    [2 files read]
    left out as no text: `a.png`, `b.bin`
    ");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["c.txt", "b.bin"] })), @r"
    ok: --- c.txt ---
    text

    [1 file read]
    `{workspace}/b.bin` is a binary file (of an unknown kind, 3 bytes) and is not shown; look into it through `bash` with a program for its kind
    ");
    for named in ["a.png", "*.png"] {
        let outcome = scratch.run("read_many_files", &json!({ "paths": [named] }));
        let kinds: Vec<bool> =
            outcome.parts.iter().map(|part| matches!(part.body, PartBody::Media(_))).collect();
        assert_eq!(kinds, [false, true, false], "{named}");
    }
}

#[test]
fn the_whole_is_bounded_and_says_what_is_left_out() {
    let scratch = Scratch::new();
    for at in 0..40 {
        scratch.write(&format!("{at:02}.txt"), format!("{}\n", "x".repeat(99)).repeat(20));
    }
    let said = says(&scratch, &json!({ "paths": ["*.txt"] }));
    assert!(said.chars().count() < 30_000);
    assert_eq!(std::fs::read_dir(&scratch.session.folder).unwrap().count(), 0, "nothing had to be cut");
    let (_, end) = said.rsplit_once("--- 13.txt ---\n").unwrap();
    let note = end.trim_start_matches(['x', '\n']);
    insta::assert_snapshot!(note, @r"
    [lines 1 to 17, there are more; go on with `read_file` and `offset` 18]

    [14 files read]
    left out for lack of room, `read_file` reads them: `14.txt`, `15.txt`, `16.txt`, `17.txt`, `18.txt`, `19.txt`, `20.txt`, `21.txt`, `22.txt`, `23.txt` and 16 more
    ");
    // Whatever is shown may be changed, nothing else.
    let seen = scratch.session.stamps.files();
    assert_eq!(seen.len(), 14);
    assert_eq!(seen.last(), Some(&scratch.path("13.txt")));
}

#[test]
fn what_can_t_be_read_is_said_beside_the_rest() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "text\n");
    std::fs::write(scratch.outside().join("secret"), "x").unwrap();
    symlink("../secret", scratch.path("z.txt")).unwrap();
    symlink("gone", scratch.path("y.txt")).unwrap();
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["*.txt", "b.txt", "gone/*.rs", "*.none", "["] })), @r"
    ok: --- a.txt ---
    text

    [1 file read]
    left out as not allowed here, `read_file` asks for one: `{workspace}/z.txt`
    there is no file `{workspace}/b.txt`; did you mean `{workspace}/a.txt`?
    there is no folder `{workspace}/gone`; find it with `glob`, or see what is there with `list_directory`
    `*.none` fits no file
    `[` is no glob pattern: unclosed character class; missing ']'
    ");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": ["*.none"] })), @"error: no file was read: `*.none` fits no file");
    insta::assert_snapshot!(says(&scratch, &json!({ "paths": [] })), @"error: `paths` is empty; name at least one file, folder or pattern");
}
