//! What the commands and the tidy tests share: the repository's files, and rustfmt over all of them.
#![expect(
    clippy::disallowed_methods,
    reason = "project tooling starts cargo, git and rustfmt itself and ships with nothing"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders of samples: their files are test data, whatever their name ends with.
const SAMPLES: &[&str] = &["cassettes", "corpus", "fixtures", "snapshots"];

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Every file of the repository, tracked or about to be, as sorted paths relative to the root with `/` between.
pub fn files() -> Vec<String> {
    let root = root();
    let mut files = listed_by_git(&root).unwrap_or_default();
    if files.is_empty() {
        // A source archive, or a checkout that git does not trust.
        walk(&root, "", &mut files);
    }
    files.retain(|file| root.join(file).is_file());
    files.sort();
    files.dedup();
    files
}

/// Every Rust file that is ours, as opposed to a sample.
pub fn rust_files() -> Vec<String> {
    files().into_iter().filter(|file| file.ends_with(".rs") && !is_sample(file)).collect()
}

/// Whether a file is test data.
pub fn is_sample(file: &str) -> bool {
    file.split('/').any(|part| SAMPLES.contains(&part))
}

/// What rustfmt does with the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fmt {
    /// Rewrites them.
    Write,
    /// Names those it would rewrite, and fails then.
    Check,
}

/// Hands every Rust file to rustfmt by name: `cargo fmt` does not see modules that a macro declares.
///
/// # Errors
/// The files that are not formatted, what rustfmt could not read, or why it could not run.
pub fn rustfmt(fmt: Fmt) -> Result<(), String> {
    let mut command = Command::new("rustfmt");
    command.current_dir(root()).args(["--edition", "2024", "--config-path", "rustfmt.toml"]);
    if fmt == Fmt::Check {
        command.args(["--check", "--files-with-diff"]);
    }
    let output = command.args(rust_files()).stdin(Stdio::null()).output().map_err(|error| {
        format!("rustfmt did not start: {error}; `rustup component add rustfmt` installs it")
    })?;
    if output.status.success() {
        return Ok(());
    }
    // A file is named once for itself and once for each file that declares it.
    let names = String::from_utf8_lossy(&output.stdout);
    let names: BTreeSet<_> =
        names.lines().map(|name| name.trim_start_matches(&format!("{}/", root().display()))).collect();
    let names: Vec<_> = names.into_iter().collect();
    Err(format!("  {}\n{}", names.join("\n  "), String::from_utf8_lossy(&output.stderr)))
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.stdin(Stdio::null()).output().ok().filter(|output| output.status.success())?;
    let names = String::from_utf8(output.stdout).ok()?;
    Some(names.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &str, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match entry.file_type() {
            // In a second worktree `.git` is a file.
            _ if matches!(name.as_str(), ".git" | "target" | "node_modules") => {}
            Ok(kind) if kind.is_dir() => walk(root, &path, files),
            Ok(_) => files.push(path),
            Err(_) => {}
        }
    }
}
