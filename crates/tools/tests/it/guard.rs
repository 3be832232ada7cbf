//! The guard of the files that tools write, attacked: swapped links, other writers, a full disk.

use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rail_tool::{
    AnyTool, Card, Example, Expected, Facet, FacetCx, FileFault, Generation, Lane, Level, Registry, Shown,
    Tool, ToolCx, ToolFault, ToolOutput,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::scratch::Scratch;

/// Writes a file in the workspace very often while its folder is swapped for a link to a folder outside.
struct Racer;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Race {
    /// Where the swapped link leads.
    outside: String,
    /// Writes in the way that most programs do: a look at the path, then a write.
    naive: bool,
}

const WRITES: usize = 2_000;

impl Tool for Racer {
    type Input = Race;

    const CARD: Card<'static> = Card {
        name: "racer",
        title: "Racer",
        summary: "Writes very often.",
        prompt: "Writes very often.",
        generation: Generation::Gen1,
        level: Level::Write,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(_: &Race, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Write(cx.cwd.join("folder/file.txt"))]
    }

    async fn run(input: Race, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let held = cx.clone();
        cx.blocking(move || Ok(ToolOutput::text(race(&input, &held)))).await
    }

    fn examples() -> &'static [Example] {
        &[]
    }
}

/// How often it was written and how often refused.
fn race(input: &Race, cx: &ToolCx) -> String {
    let folder = cx.session().workspace.join("folder");
    let (path, outside) = (folder.join("file.txt"), Path::new(&input.outside));
    symlink(outside, folder.with_file_name("other")).unwrap();
    let over = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap(&folder).unwrap();
            }
        });
        if input.naive {
            // As many tries as it takes: how soon it goes wrong is the scheduler's choice.
            while !outside.join("file.txt").exists() && written < 5_000_000 {
                let _ = naive(&path, &folder);
                written += 1;
            }
        } else {
            for at in 0..WRITES {
                match cx.files().replace(&path, at.to_string().as_bytes(), Expected::Anything) {
                    Ok(_) => written += 1,
                    Err(FileFault::Denied { .. }) => refused += 1,
                    Err(other) => panic!("{other}"),
                }
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let both = if written > 0 && refused > 0 { "written and refused" } else { "only one of the two" };
    format!("{} {both}", written + refused)
}

/// The folder becomes a link, or the link a folder: there is always one of the two.
fn swap(folder: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, folder, CWD, folder.with_file_name("other"), RenameFlags::EXCHANGE)?)
}

fn naive(path: &Path, folder: &Path) -> io::Result<()> {
    if folder.canonicalize()? == folder { std::fs::write(path, "naive") } else { Ok(()) }
}

fn racing(naive: bool) -> (String, usize) {
    let racer: Arc<dyn AnyTool> = Arc::new(Racer);
    let scratch = Scratch::in_memory(Registry::new([racer]));
    scratch.write("folder/file.txt", "");
    let outside = scratch.outside().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let outcome = scratch.run("racer", &json!({"outside": outside, "naive": naive}));
    assert!(outcome.success(), "{}", outcome.text());
    (outcome.text(), std::fs::read_dir(outside).unwrap().count())
}

#[test]
fn a_folder_that_is_swapped_for_a_link_never_leads_outside() {
    assert_eq!(racing(false), (format!("{WRITES} written and refused"), 0));
}

#[test]
fn a_write_that_only_looks_first_is_caught_by_the_same_race() {
    let (_, outside) = racing(true);
    assert_eq!(outside, 1, "the race is too weak to show anything");
}

#[test]
fn two_writers_at_once_leave_one_whole_file() {
    let scratch = Scratch::in_memory(rail_tools::registry());
    let path = scratch.known("a.txt", "a".repeat(100_000));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers = ["b", "c"].map(|letter| {
            let scratch = &scratch;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let input = json!({"file_path": "a.txt", "content": letter.repeat(100_000)});
                let write =
                    || runtime.block_on(scratch.call("write_file", &input, &CancellationToken::new()));
                (0..100).filter(|_| write().success()).count()
            })
        });
        let looking = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let bytes = std::fs::read(&path).unwrap();
                assert!(bytes.len() == 100_000 && bytes.iter().all(|byte| *byte == bytes[0]));
            }
        });
        let done: usize = writers.map(|writer| writer.join().unwrap()).iter().sum();
        over.store(true, Ordering::Relaxed);
        looking.join().unwrap();
        assert!(done > 0);
    });
    assert_eq!(std::fs::read_dir(scratch.workspace()).unwrap().count(), 1, "no draft is left");
}

/// Checks what a file is expected to be.
struct Expecter;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Tool for Expecter {
    type Input = Nothing;

    const CARD: Card<'static> = Card { name: "expecter", ..Racer::CARD };

    fn facets(_: &Nothing, cx: &FacetCx<'_>) -> Vec<Facet> {
        ["a.txt", "b.txt", "c.txt"].map(|name| Facet::Write(cx.cwd.join(name))).to_vec()
    }

    async fn run(_: Nothing, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let (files, workspace) = (cx.files(), cx.session().workspace.clone());
        let path = |name: &str| workspace.join(name);
        let mut said = Vec::new();
        let mut say = |done: Result<(), FileFault>| {
            said.push(done.map_or_else(|fault| fault.to_string(), |()| "done".to_owned()));
        };
        let mut replace = |name: &str, expected| say(files.replace(&path(name), b"new", expected).map(drop));
        replace("a.txt", Expected::Bytes(b"old, but not quite"));
        replace("a.txt", Expected::Bytes(b"ol"));
        replace("a.txt", Expected::Nothing);
        replace("b.txt", Expected::Bytes(b"old"));
        replace("a.txt", Expected::Bytes(b"old"));
        replace("b.txt", Expected::Nothing);
        replace("d.txt", Expected::Nothing);
        say(files.rename(&path("a.txt"), &path("b.txt")).map(drop));
        say(files.rename(&path("a.txt"), &path("d.txt")).map(drop));
        say(files.rename(&path("a.txt"), &path("c.txt")).map(drop));
        say(files.remove(&path("b.txt")).map(drop));
        Ok(ToolOutput::text(said.join("\n")))
    }

    fn examples() -> &'static [Example] {
        &[]
    }
}

#[test]
fn a_file_is_replaced_only_if_it_is_what_was_expected() {
    let expecter: Arc<dyn AnyTool> = Arc::new(Expecter);
    let scratch = Scratch::in_memory(Registry::new([expecter]));
    scratch.write("a.txt", "old");
    insta::assert_snapshot!(scratch.says("expecter", &json!({})), @r"
    ok: `{workspace}/a.txt` was changed by somebody else in this moment
    `{workspace}/a.txt` was changed by somebody else in this moment
    `{workspace}/a.txt` was changed by somebody else in this moment
    `{workspace}/b.txt` was changed by somebody else in this moment
    done
    done
    `{workspace}/d.txt` is not what was allowed: it is `{workspace}/d.txt` now
    `{workspace}/b.txt` was changed by somebody else in this moment
    `{workspace}/d.txt` is not what was allowed: it is `{workspace}/d.txt` now
    done
    done
    ");
    assert_eq!(scratch.read("c.txt"), "new");
    assert_eq!(std::fs::read_dir(scratch.workspace()).unwrap().count(), 1, "no draft is left");
}

/// A small file system in memory, gone with the test.
struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    fn mounted(at: &'a Path) -> Option<Self> {
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", at, "tmpfs", flags, Some(c"size=64k")).ok().map(|()| Self(at))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0, rustix::mount::UnmountFlags::DETACH);
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let scratch = Scratch::new();
    let folder = scratch.path("small");
    std::fs::create_dir(&folder).unwrap();
    let Some(_small) = Small::mounted(&folder) else {
        assert!(crate::crash::variable("CI").is_none(), "CI can mount no small file system");
        eprintln!("skipped: a small file system can't be mounted by this user");
        return;
    };
    scratch.known("small/a.txt", "old\n");
    let said =
        scratch.says("write_file", &json!({"file_path": "small/a.txt", "content": "x\n".repeat(100_000)}));
    assert!(said.contains("nothing was changed; there is no room left, so tell the user"), "{said}");
    assert_eq!(scratch.read("small/a.txt"), "old\n");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
    assert!(scratch.run("write_file", &json!({"file_path": "small/a.txt", "content": "new\n"})).success());
}
