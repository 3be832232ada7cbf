use super::{Simple, Word};

/// Programs that are offered alone: they run nothing that their arguments name.
const ALONE: &[&str] = &[
    "basename",
    "black",
    "cat",
    "clang-format",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "eslint",
    "file",
    "flake8",
    "gofmt",
    "golangci-lint",
    "grep",
    "head",
    "isort",
    "jest",
    "jq",
    "ls",
    "md5sum",
    "mkdir",
    "mypy",
    "phpunit",
    "prettier",
    "printf",
    "pwd",
    "pylint",
    "pyright",
    "pytest",
    "readlink",
    "realpath",
    "rspec",
    "rubocop",
    "ruff",
    "rustfmt",
    "seq",
    "sha256sum",
    "shellcheck",
    "sleep",
    "stat",
    "stylelint",
    "tail",
    "touch",
    "tr",
    "tree",
    "tsc",
    "uname",
    "vitest",
    "wc",
    "which",
    "whoami",
];
/// Programs with subcommands, and which of those are offered; the number says how many words that are no options follow.
const SUBCOMMANDS: &[(&str, &[(&str, usize)])] = &[
    (
        "git",
        &[
            ("add", 0),
            ("blame", 0),
            ("branch", 0),
            ("commit", 0),
            ("describe", 0),
            ("diff", 0),
            ("fetch", 0),
            ("log", 0),
            ("ls-files", 0),
            ("merge", 0),
            ("mv", 0),
            ("pull", 0),
            ("rev-parse", 0),
            ("show", 0),
            ("stash", 1),
            ("status", 0),
            ("switch", 0),
            ("tag", 0),
            ("worktree", 1),
            ("cherry-pick", 0),
            ("revert", 0),
            ("remote", 1),
        ],
    ),
    (
        "cargo",
        &[
            ("add", 0),
            ("bench", 0),
            ("build", 0),
            ("check", 0),
            ("clippy", 0),
            ("doc", 0),
            ("fetch", 0),
            ("fmt", 0),
            ("metadata", 0),
            ("nextest", 1),
            ("test", 0),
            ("tree", 0),
            ("update", 0),
        ],
    ),
    (
        "npm",
        &[
            ("ci", 0),
            ("install", 0),
            ("ls", 0),
            ("outdated", 0),
            ("run", 1),
            ("run-script", 1),
            ("start", 0),
            ("test", 0),
            ("view", 0),
        ],
    ),
    ("pnpm", &[("build", 0), ("install", 0), ("lint", 0), ("list", 0), ("run", 1), ("test", 0)]),
    ("yarn", &[("build", 0), ("install", 0), ("lint", 0), ("list", 0), ("run", 1), ("test", 0)]),
    ("bun", &[("install", 0), ("run", 1), ("test", 0)]),
    ("deno", &[("check", 0), ("fmt", 0), ("lint", 0), ("task", 1), ("test", 0)]),
    (
        "go",
        &[
            ("build", 0),
            ("doc", 0),
            ("fmt", 0),
            ("list", 0),
            ("mod", 1),
            ("test", 0),
            ("vet", 0),
            ("version", 0),
        ],
    ),
    ("make", &[("*", 0)]),
    ("just", &[("*", 0)]),
    ("pip", &[("check", 0), ("freeze", 0), ("list", 0), ("show", 0)]),
    ("pip3", &[("check", 0), ("freeze", 0), ("list", 0), ("show", 0)]),
    ("uv", &[("lock", 0), ("sync", 0), ("tree", 0)]),
    ("poetry", &[("check", 0), ("install", 0), ("lock", 0), ("show", 0)]),
    ("docker", &[("images", 0), ("inspect", 0), ("logs", 0), ("ps", 0)]),
    ("kubectl", &[("describe", 1), ("get", 1), ("logs", 0), ("version", 0)]),
    ("gh", &[("issue", 1), ("pr", 1), ("run", 1), ("search", 1)]),
    ("terraform", &[("fmt", 0), ("plan", 0), ("show", 0), ("validate", 0)]),
    ("dotnet", &[("build", 0), ("format", 0), ("test", 0)]),
    ("mvn", &[("clean", 0), ("compile", 0), ("package", 0), ("test", 0), ("verify", 0)]),
    ("gradle", &[("assemble", 0), ("build", 0), ("check", 0), ("test", 0)]),
    ("./gradlew", &[("assemble", 0), ("build", 0), ("check", 0), ("test", 0)]),
    ("./mvnw", &[("clean", 0), ("compile", 0), ("package", 0), ("test", 0), ("verify", 0)]),
    ("bundle", &[("check", 0), ("install", 0), ("list", 0)]),
    ("rake", &[("*", 0)]),
    ("swift", &[("build", 0), ("test", 0)]),
    ("composer", &[("install", 0), ("show", 0), ("validate", 0)]),
    ("mix", &[("compile", 0), ("format", 0), ("test", 0)]),
    ("zig", &[("build", 0), ("fmt", 0), ("test", 0)]),
    ("rustup", &[("show", 0)]),
    ("brew", &[("info", 0), ("list", 0)]),
    ("apt", &[("list", 0), ("search", 0), ("show", 0)]),
];

/// Beginnings that are useful only with one of these words behind them.
const DEEPER: &[(&[&str], &[&str])] = &[
    (&["git", "checkout"], &["-b"]),
    (&["python", "-m"], PYTHON),
    (&["python3", "-m"], PYTHON),
    (&["uv", "run"], PYTHON),
    (&["poetry", "run"], PYTHON),
    (&["bundle", "exec"], &["rspec", "rubocop"]),
];
/// Checks and tests of Python programs.
const PYTHON: &[&str] =
    &["black", "flake8", "isort", "mypy", "pylint", "pyright", "pytest", "ruff", "unittest"];
/// Commands that are offered as they stand, with nothing behind them.
const WHOLE: &[&[&str]] = &[&["git", "stash"], &["just"], &["make"], &["rake"]];

/// A command that is worth allowing for longer exactly as it stands, where a beginning would be too much.
pub fn whole(simple: &Simple) -> Option<Vec<String>> {
    let words: Vec<&str> = simple.words.iter().map(Word::literal).collect::<Option<_>>()?;
    let known = WHOLE.contains(&words.as_slice());
    known.then(|| words.into_iter().map(str::to_owned).collect())
}

/// The narrowest beginning of a command that is worth allowing for longer, such as `cargo test` or `npm run build`.
///
/// `None` for what runs whatever its arguments say (interpreters, wrappers, `git` or `npm` alone), for what removes or changes
/// other places, for what is not known here, and where a word of the beginning is known only when it runs.
pub fn prefix(simple: &Simple) -> Option<Vec<String>> {
    let mut words = simple.words.iter();
    let program = words.next()?.literal()?;
    if ALONE.contains(&program) {
        return Some(vec![program.to_owned()]);
    }
    if let [first, second, third, ..] = simple.words.as_slice()
        && let (Some(first), Some(second), Some(third)) = (first.literal(), second.literal(), third.literal())
        && DEEPER.iter().any(|(before, words)| *before == [first, second] && words.contains(&third))
    {
        return Some([first, second, third].map(str::to_owned).to_vec());
    }
    let (_, subcommands) = SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    let subcommand = word_of(words.next()?)?;
    let any = |name: &str| name == "*";
    let (_, more) = subcommands.iter().find(|(name, _)| *name == subcommand || any(name))?;
    let mut prefix = vec![program.to_owned(), subcommand.to_owned()];
    for _ in 0..*more {
        prefix.push(word_of(words.next()?)?.to_owned());
    }
    Some(prefix)
}

/// A word that names a subcommand, a target or a script.
fn word_of(word: &Word) -> Option<&str> {
    let plain = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '/'))
    };
    word.literal().filter(plain)
}

#[cfg(test)]
mod tests {
    use super::prefix;
    use crate::shell::read;

    #[test]
    fn the_narrowest_useful_beginning() {
        let cases = [
            ("cargo test -p x", Some("cargo test")),
            ("git commit -m 'x'", Some("git commit")),
            ("npm run build -- --watch", Some("npm run build")),
            ("make test", Some("make test")),
            ("ls -la src", Some("ls")),
            ("pytest -k x", Some("pytest")),
            ("go test ./...", Some("go test")),
            ("git stash pop", Some("git stash pop")),
            ("FOO=1 cargo build", Some("cargo build")),
            ("gh pr view 5", Some("gh pr view")),
            ("python -m pytest -x", Some("python -m pytest")),
            ("uv run pytest", Some("uv run pytest")),
            ("git checkout -b x", Some("git checkout -b")),
            ("git checkout x", None),
            ("git checkout -B x", None),
            ("git checkout -- .", None),
            ("git -c alias.x=!sh checkout -b x", None),
            ("git stash", None),
            ("python -m pip install x", None),
            ("python -mpytest", None),
            ("python -m $X", None),
            ("uv run x.py", None),
            ("git", None),
            ("git -C x commit", None),
            ("git push", None),
            ("git $X", None),
            ("make", None),
            ("make -C x test", None),
            ("make SHELL=x test", None),
            ("npm", None),
            ("npm run", None),
            ("npm run $X", None),
            ("npx cowsay", None),
            ("cargo", None),
            ("cargo run", None),
            ("cargo +nightly test", None),
            ("cargo xtask", None),
            ("rm x", None),
            ("env X=1 ls", None),
            ("sudo ls", None),
            ("bash x.sh", None),
            ("python3 x.py", None),
            ("docker run x", None),
            ("find . -name x", None),
            ("awk 1 x", None),
            ("sed -n 1p x", None),
            ("xargs ls", None),
            ("curl x.com", None),
            ("$X test", None),
            ("./ls", None),
        ];
        for (command, expected) in cases {
            let script = read(command).unwrap();
            assert_eq!(
                prefix(&script.commands[0]).map(|words| words.join(" ")).as_deref(),
                expected,
                "{command}"
            );
        }
    }
}
