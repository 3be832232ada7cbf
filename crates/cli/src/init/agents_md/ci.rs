//! What the checks of a repository run.

use super::commands::Command;
use super::listing::Listing;
use super::manifests::one_line;

/// Programs whose commands are worth knowing: they build, test or judge.
const PROGRAMS: [&str; 36] = [
    "bazel",
    "black",
    "bun",
    "bundle",
    "cargo",
    "clang-format",
    "cmake",
    "composer",
    "ctest",
    "deno",
    "dotnet",
    "eslint",
    "flake8",
    "go",
    "golangci-lint",
    "gradle",
    "gradlew",
    "hatch",
    "just",
    "make",
    "meson",
    "mix",
    "mvn",
    "mvnw",
    "mypy",
    "ninja",
    "nox",
    "npm",
    "npx",
    "pnpm",
    "poetry",
    "pre-commit",
    "pytest",
    "ruff",
    "tox",
    "uv",
];
/// Words of commands that only bring what is needed.
const NO_CHECKS: [&str; 8] = ["install", "ci", "add", "sync", "login", "publish", "fetch", "restore"];
/// More of them say too much.
const MOST: usize = 8;
/// A longer one is a script.
const LONGEST: usize = 120;

/// Whether a file tells what is checked.
pub(super) fn is_ci(path: &str) -> bool {
    let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
    is_yaml && (path.starts_with(".github/workflows/") || path == ".gitlab-ci.yml")
}

/// What checks run that is not among the commands already.
pub(super) fn checks(listing: &Listing, commands: &[Command]) -> Vec<String> {
    let mut checks: Vec<String> = Vec::new();
    for (_, text) in listing.texts.iter().filter(|(path, _)| is_ci(path)) {
        for line in lines(text) {
            let known = commands.iter().any(|command| command.line == line) || checks.contains(&line);
            if !known && is_check(&line) {
                checks.push(line);
            }
        }
    }
    checks.truncate(MOST);
    checks
}

fn is_check(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| word.contains('='));
    let program = words.next().unwrap_or_default();
    let program = program.strip_prefix("./").unwrap_or(program);
    let is_whole = line.len() <= LONGEST && !line.ends_with('\\') && !line.contains(['`', '$']);
    let setup = words.next().is_some_and(|word| NO_CHECKS.contains(&word));
    is_whole && PROGRAMS.contains(&program) && !setup
}

/// The command lines of a file: values of `run:` and entries under `script:`. It is no reader of YAML: what is written in an
/// unusual way is not found.
pub(super) fn lines(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    // How far the key of a block is indented whose lines are commands.
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let inner = line.trim_start();
        if inner.is_empty() || inner.starts_with('#') {
            continue;
        }
        let indent = line.len() - inner.len();
        if block.is_some_and(|key| indent > key) {
            all.extend(one_line(inner.strip_prefix("- ").unwrap_or(inner)));
            continue;
        }
        block = None;
        let (entry, at) = match inner.strip_prefix("- ") {
            Some(entry) => (entry.trim_start(), indent + 2),
            None => (inner, indent),
        };
        let Some(value) = ["run:", "script:"].iter().find_map(|key| entry.strip_prefix(key)) else {
            continue;
        };
        match value.trim() {
            "" | "|" | ">" | "|-" | ">-" | "|+" | ">+" => block = Some(at),
            value => all.extend(one_line(value.trim_matches(['"', '\'']))),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_of_checks_are_found() {
        let github = "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - run: cargo test --locked\n      - name: x\n        run: |\n          # no\n          cargo deny check\n          echo hi\n\n          RUSTFLAGS=-Dwarnings cargo doc\n      - run: \"npm ci\"\n      - run: make ${{ matrix.x }}\n";
        let found = lines(github);
        assert_eq!(
            found,
            [
                "cargo test --locked",
                "cargo deny check",
                "echo hi",
                "RUSTFLAGS=-Dwarnings cargo doc",
                "npm ci",
                "make ${{ matrix.x }}"
            ]
        );
        let checks: Vec<&String> = found.iter().filter(|line| is_check(line)).collect();
        assert_eq!(checks, ["cargo test --locked", "cargo deny check", "RUSTFLAGS=-Dwarnings cargo doc"]);
        assert_eq!(
            lines("test:\n  script:\n    - pytest\n    - tox -e lint\n  image: x\n"),
            ["pytest", "tox -e lint"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(?s).{0,300}", yaml in "((run|script|- |: |\\||  |x|\n)){0,60}") {
            for text in [text, yaml] {
                prop_assert!(lines(&text).iter().all(|line| !line.contains('\n')));
            }
        }
    }
}
