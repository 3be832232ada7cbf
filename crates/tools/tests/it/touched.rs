//! What a tool touches is what it said it would: every example runs under `strace`.
//!
//! To touch is to open something for reading or writing, or to change its name or what the system keeps of it. To ask whether
//! something is there, or to resolve a path, is not. Only what is in the workspace and in the home folder is looked at: beyond them
//! are the system, and the session's own folder. A command that a tool starts is held by its sandbox, not by what is declared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rail_tool::{
    AnyTool, Card, Example, Facet, FacetCx, Generation, Lane, Level, Registry, Shown, Tool, ToolCx,
    ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::crash::variable;
use crate::scratch::Scratch;

/// Paths under this are nowhere: asking for one leaves a line in what `strace` writes down.
const MARK: &str = "/rail-touched";

fn mark(what: &str, about: impl AsRef<Path>) {
    let about = about.as_ref().display().to_string();
    let _ = std::fs::metadata(format!("{MARK}/{what}/{}", about.trim_start_matches('/')));
}

/// Says that it reads one file, and reads and writes others.
struct Sneaky;

#[derive(Deserialize, JsonSchema)]
struct SneakyInput {
    /// The file.
    file_path: String,
}

impl Tool for Sneaky {
    type Input = SneakyInput;

    const CARD: Card<'static> = Card {
        name: "sneaky",
        title: "Sneaky",
        summary: "Touches more than it says",
        prompt: "Touches more than it says.",
        generation: Generation::Gen1,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &SneakyInput, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(&input.file_path))]
    }

    async fn run(input: SneakyInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let path = cx.path(&input.file_path);
        let _ = std::fs::read(&path);
        let _ = std::fs::read(path.with_file_name("secret"));
        let _ = std::fs::write(path.with_file_name("left"), "x");
        let _ = std::fs::rename(path.with_file_name("left"), path.with_file_name("moved"));
        // Only asking is no touching.
        let _ = std::fs::metadata(path.with_file_name("asked"));
        Ok(ToolOutput::text("done"))
    }

    fn examples() -> &'static [Example] {
        &[Example {
            about: "more than it says",
            files: &[("a", "a"), ("secret", "b"), ("asked", "c")],
            read: &[],
            input: r#"{"file_path": "{workspace}/a"}"#,
            output: "done",
            after: &[],
        }]
    }
}

/// A part of the test below, which runs it under strace; by itself it has nothing to say.
#[test]
fn all_examples_for_strace() {
    if variable(WATCHED).is_none() {
        return;
    }
    let sneaky: Arc<dyn AnyTool> = Arc::new(Sneaky);
    let registry = Registry::new(rail_tools::registry().tools().iter().cloned().chain([sneaky]));
    let home = PathBuf::from(variable("HOME").unwrap());
    for tool in registry.tools() {
        for (nth, example) in tool.examples().iter().enumerate() {
            let scratch = Scratch::in_memory(registry.clone());
            example.files.iter().for_each(|(name, content)| drop(scratch.write(name, content)));
            example.read.iter().for_each(|name| scratch.saw(name));
            let input = example.input.replace("{workspace}", scratch.workspace().to_str().unwrap());
            let cx = FacetCx {
                cwd: scratch.workspace(),
                home: Some(&home),
                skills: &[],
                confine: rail_tool::Confine::Off,
            };
            mark("begin", format!("{} {nth}", tool.card().name));
            mark("inside", scratch.workspace());
            mark("inside", &home);
            // A call that the tool does not take declares nothing, and may touch nothing.
            let taken = registry.read_call(tool.card().name, &input).ok();
            let taken = taken.and_then(|(_, arguments)| tool.admit(arguments).ok());
            for facet in taken.iter().flat_map(|call| call.facets(&cx)) {
                match facet {
                    Facet::Read(path) => mark("read", path),
                    Facet::Write(path) => mark("write", path),
                    Facet::Exec(_) | Facet::Net(_) | Facet::Foreign => {}
                    Facet::Skill { folder, .. } => mark("read", folder),
                }
            }
            let input: Value = serde_json::from_str(&input).unwrap();
            scratch.run(tool.card().name, &input);
            mark("end", "");
        }
    }
}

/// Set for the run that is watched.
const WATCHED: &str = "RAIL_TEST_WATCHED";

#[test]
fn examples_touch_only_what_they_declare() {
    let strace =
        ["/usr/bin/strace", "/usr/local/bin/strace"].map(Path::new).into_iter().find(|path| path.exists());
    let Some(strace) = strace else {
        assert!(variable("CI").is_none(), "CI has no strace");
        eprintln!("skipped: there is no strace");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (home, log) = (real.join("home"), real.join("log"));
    std::fs::create_dir(&home).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test watches a run of itself from outside")]
    let mut command = Command::new(strace);
    command.args(["-f", "-y", "-s4096", "-e", "trace=file,desc,execve", "-o"]).arg(&log);
    command.env(WATCHED, "yes").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "touched::all_examples_for_strace"]).env("HOME", &home);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    let watched = watched(&String::from_utf8_lossy(&std::fs::read(log).unwrap()));
    let beyond: Vec<String> = watched.iter().flat_map(Watched::beyond).collect();
    assert_eq!(
        beyond,
        [
            "sneaky 0: changed left",
            "sneaky 0: changed moved",
            "sneaky 0: opened secret",
            "sneaky 0: wrote left"
        ],
        "{watched:#?}"
    );
    let all: usize = rail_tools::registry().tools().iter().map(|tool| tool.examples().len()).sum();
    assert_eq!(watched.len(), all + 1);
    // It sees what is touched.
    let read = watched.iter().find(|watched| watched.about == "read_file 0").unwrap();
    assert!(
        read.touched.iter().any(|(how, path)| *how == How::Opened && path.ends_with("main.rs")),
        "{read:#?}"
    );
}

/// What one example declared and did.
#[derive(Debug, Default)]
struct Watched {
    about: String,
    inside: Vec<PathBuf>,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    touched: BTreeSet<(How, PathBuf)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum How {
    /// Its name, or what the system keeps of it.
    Changed,
    /// As a folder: names, not what they hold.
    Listed,
    /// For reading.
    Opened,
    /// For writing.
    Wrote,
}

impl Watched {
    /// What it touched and did not declare.
    fn beyond(&self) -> Vec<String> {
        let undeclared = self.touched.iter().filter(|(how, path)| !self.declares(*how, path));
        let told = |(how, path): &(How, PathBuf)| {
            let inside = self.inside.iter().find_map(|folder| path.strip_prefix(folder).ok());
            let how = format!("{how:?}").to_lowercase();
            inside.map(|below| format!("{}: {how} {}", self.about, below.display()))
        };
        undeclared.filter_map(told).collect()
    }

    fn declares(&self, how: How, path: &Path) -> bool {
        let under = |declared: &[PathBuf]| declared.iter().any(|declared| path.starts_with(declared));
        match how {
            // Who may read or write a file may know what stands beside it, and folders on the way to a new one are made.
            How::Listed => self.read.iter().chain(&self.write).any(|declared| {
                declared.parent().is_some_and(|parent| path.starts_with(parent) || parent.starts_with(path))
            }),
            How::Opened => under(&self.read) || self.writes(path),
            How::Wrote | How::Changed => self.writes(path),
        }
    }

    /// New content is written beside the file whose name it takes, and its folders are made.
    fn writes(&self, path: &Path) -> bool {
        self.write.iter().any(|declared| {
            let name = declared.file_name().unwrap_or_default().to_string_lossy();
            let draft = path.file_name().unwrap_or_default().to_string_lossy();
            let is_draft = path.parent() == declared.parent()
                && draft.starts_with(&format!(".{name}."))
                && draft.ends_with('~');
            path == declared || is_draft || declared.starts_with(path)
        })
    }
}

/// Reads what `strace` wrote down.
fn watched(log: &str) -> Vec<Watched> {
    let mut all: Vec<Watched> = Vec::new();
    let (mut open, mut foreign) = (false, BTreeSet::new());
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    for line in log.lines() {
        let Some((pid, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        // Another thread came between the beginning and the end of a call.
        let call = if let Some(beginning) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(pid, beginning);
            continue;
        } else if let Some((_, end)) =
            call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"))
        {
            format!("{}{end}", begun.remove(pid).unwrap_or_default())
        } else {
            call.to_owned()
        };
        if call.starts_with("execve(") && call.ends_with("= 0") && !all.is_empty() {
            foreign.insert(pid.to_owned());
        }
        if let Some((what, about)) = marked(&call) {
            match (what, all.last_mut()) {
                ("begin", _) => {
                    open = true;
                    all.push(Watched { about: about.to_owned(), ..Watched::default() });
                }
                ("end", _) => open = false,
                ("inside", Some(last)) => last.inside.push(Path::new("/").join(about)),
                ("read", Some(last)) => last.read.push(Path::new("/").join(about)),
                ("write", Some(last)) => last.write.push(Path::new("/").join(about)),
                (_, _) => {}
            }
        } else if let Some(last) = all.last_mut().filter(|_| open && !foreign.contains(pid)) {
            last.touched.extend(touched(&call));
        }
    }
    all
}

fn marked(call: &str) -> Option<(&str, &str)> {
    let rest = call.split_once(&format!("\"{MARK}/"))?.1;
    rest.split_once('"')?.0.split_once('/')
}

/// What a call touches, if it went well.
fn touched(call: &str) -> Vec<(How, PathBuf)> {
    let (Some((name, rest)), Some((_, result))) = (call.split_once('('), call.rsplit_once(" = ")) else {
        return Vec::new();
    };
    if result.starts_with("-1") || result.starts_with('?') {
        return Vec::new();
    }
    match name {
        "open" | "openat" | "openat2" | "creat" => {
            let path = result.split_once('<').and_then(|(_, path)| path.split_once('>'));
            let has = |flag: &str| rest.contains(flag);
            let how = match () {
                () if has("O_PATH") => return Vec::new(),
                () if has("O_WRONLY") || has("O_RDWR") || has("O_CREAT") || name == "creat" => How::Wrote,
                () if has("O_DIRECTORY") => How::Listed,
                () => How::Opened,
            };
            path.map(|(path, _)| (how, PathBuf::from(path.trim_end_matches(" (deleted)"))))
                .into_iter()
                .collect()
        }
        "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" | "mkdir" | "mkdirat" | "rmdir"
        | "symlink" | "symlinkat" | "link" | "linkat" | "truncate" | "chmod" | "fchmodat" | "chown"
        | "lchown" | "fchownat" | "mknod" | "mknodat" | "utimensat" | "setxattr" | "lsetxattr"
        | "removexattr" => paths(rest).into_iter().map(|path| (How::Changed, path)).collect(),
        // All others ask, or work on something that is open already.
        _ => Vec::new(),
    }
}

/// The paths among the arguments; a relative one is from the open folder before it.
fn paths(arguments: &str) -> Vec<PathBuf> {
    let (mut folder, mut found) = (PathBuf::from("/"), Vec::new());
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let behind = &rest[at..];
        let close = if behind.starts_with('<') { '>' } else { '"' };
        let Some((inside, after)) = behind[1..].split_once(close) else { break };
        if close == '>' {
            folder = PathBuf::from(inside);
        } else {
            found.push(folder.join(inside));
        }
        rest = after;
    }
    found
}
