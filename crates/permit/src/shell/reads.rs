use super::arguments;
use super::text::Dialect;
use super::wrapped::{self, Inner};
use super::{RedirectKind, Simple, Word, influences};

/// Programs that only read, whatever their options.
const HARMLESS: &[&str] = &[
    "((",
    ":",
    "[",
    "[[",
    "arch",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "fold",
    "getconf",
    "grep",
    "head",
    "hexdump",
    "id",
    "join",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "sleep",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "tsort",
    "tty",
    "type",
    "uname",
    "unexpand",
    "uptime",
    "wc",
    "which",
    "whoami",
    "break",
    "continue",
    "exit",
    "return",
    "shift",
    "wait",
    "read",
    "unset",
    "let",
];
/// Programs that only read without these options; a word that is not known could be one of them.
const WITHOUT: &[(&str, &[&str])] = &[
    ("date", &["-s", "--s", "-f", "--f"]),
    ("diff", &["--output"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("file", &["-C", "--compile"]),
    ("find", &["-exec", "-ok", "-delete", "-fprint", "-fls"]),
    ("hostname", &["-F", "--file", "-b", "--boot"]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("sort", &["-o", "--o", "--compress-program", "--c", "-T", "--t"]),
    ("tree", &["-o", "-R"]),
];
/// Subcommands of `git` that only read, with the options that make them do more.
const GIT: &[(&str, &[&str])] = &[
    ("blame", &["--contents", "--c"]),
    ("cat-file", &["--textconv", "--filters", "--te", "--fi"]),
    ("describe", &[]),
    ("diff", &["--no-index", "--no-i", "--output", "--ou", "--ext-diff", "--ex", "-O"]),
    ("diff-tree", &["--output", "--ou", "--ext-diff", "--ex", "-O"]),
    ("log", &["--output", "--ou", "--ext-diff", "--ex", "-O"]),
    ("grep", &["-O", "--op", "--no-i", "-f"]),
    ("ls-files", &[]),
    ("ls-tree", &[]),
    ("merge-base", &[]),
    ("name-rev", &[]),
    ("rev-list", &[]),
    ("rev-parse", &["--parseopt"]),
    ("shortlog", &["--output", "--ou"]),
    ("show", &["--output", "--ou", "--ext-diff", "--ex", "-O"]),
    ("show-ref", &[]),
    ("status", &[]),
    ("version", &[]),
];
/// Subcommands of `git` that read in these forms alone: every further word must be among them.
const GIT_EXACT: &[(&str, &[&str])] = &[
    (
        "branch",
        &[
            "-a",
            "-r",
            "-v",
            "-vv",
            "--all",
            "--list",
            "--remotes",
            "--show-current",
            "--verbose",
            "--no-color",
        ],
    ),
    ("config", &["--list", "-l", "--show-origin", "--local"]),
    ("reflog", &["show"]),
    ("remote", &["-v", "--verbose"]),
    ("stash", &["list"]),
    ("tag", &["-l", "--list"]),
    ("worktree", &["list", "--porcelain"]),
];
/// Programs that add nothing of their own to what they run, which is listed and judged by itself.
const TRANSPARENT: &[&str] = &[
    "builtin", "command", "env", "eval", "exec", "ionice", "nice", "stdbuf", "taskset", "time", "timeout",
    "trap", "xargs",
];

/// Whether a command only reads, by its program and options, and so may run where its files may be read.
///
/// A program that only runs another (`timeout 5 ls`, `bash -c 'ls'`) is such a command, as what it runs stands in the script by
/// itself. What a command is given beyond its own words (`xargs`) is not known, and so it is not.
pub fn only_reads(simple: &Simple) -> bool {
    let redirected = simple.redirects.iter().all(|redirect| match redirect.kind {
        RedirectKind::Read => {
            redirect.file.literal().is_none_or(|file| arguments::socket_host(file).is_none())
        }
        RedirectKind::Write => redirect.file.literal() == Some("/dev/null"),
    });
    let added = simple.place.wrappers.iter().any(|wrapper| wrapper.adds_arguments);
    if !redirected || added || influences(simple).is_some() {
        return false;
    }
    let Some((first, words)) = simple.words.split_first() else { return true };
    // Only names that the system's own folders hold: `./ls` may be anything.
    let Some(program) = first.literal() else { return false };
    let program = program.strip_prefix("/usr").unwrap_or(program);
    let program = program.strip_prefix("/bin/").unwrap_or(program);
    if program.contains('/') {
        return false;
    }
    if HARMLESS.contains(&program) || asks_version(&simple.words) {
        return true;
    }
    if let Some((_, options)) = WITHOUT.iter().find(|(name, _)| *name == program) {
        return words.iter().all(|word| is_certain(word) && !begins_with(word, options))
            && shape(program, words);
    }
    match program {
        "git" => git_only_reads(words),
        // A second file is written; a pattern may be two.
        "uniq" => {
            let files: Vec<&Word> = words
                .iter()
                .filter(|word| !word.literal().is_some_and(|word| word.starts_with('-')))
                .collect();
            files.len() < 2 && files.iter().all(|word| word.literal().is_some())
        }
        "jq" => filters_with_jq(words),
        "sed" => prints_with_sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => prints_with_awk(words),
        // Alone it shows all variables.
        "set" => !words.is_empty(),
        "export" | "declare" | "typeset" | "readonly" | "local" => only_sets(words),
        _ => only_runs(&simple.words),
    }
}

/// What the words must look like besides.
fn shape(program: &str, words: &[Word]) -> bool {
    let plain = |word: &Word| word.literal().is_some_and(|word| word.starts_with(['-', '+']));
    match program {
        // A plain word sets the clock or the name.
        "date" | "hostname" => words.iter().all(plain),
        _ => true,
    }
}

/// Whether it cannot turn out to be an option, or several words with one among them.
fn is_certain(word: &Word) -> bool {
    match word {
        Word::Literal(_) => true,
        Word::Pattern(text) => !text.starts_with(['*', '?', '[', '-']),
        Word::Dynamic { known, .. } => !known.is_empty() && !known.starts_with('-') && !word.may_split(),
    }
}

fn begins_with(word: &Word, options: &[&str]) -> bool {
    let Some(text) = word.literal() else { return false };
    let clustered = |option: &&&str| {
        let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
        letter.is_some_and(|letter| text.starts_with('-') && !text.starts_with("--") && text.contains(letter))
    };
    options.iter().any(|option| text.starts_with(option)) || options.iter().any(|option| clustered(&option))
}

/// Whether `git` with these words only reads.
pub(super) fn git_only_reads(words: &[Word]) -> bool {
    let words = match words {
        [Word::Literal(option), rest @ ..]
            if matches!(option.as_str(), "--no-pager" | "-P" | "--no-optional-locks") =>
        {
            rest
        }
        _ => words,
    };
    let Some((Word::Literal(subcommand), rest)) = words.split_first() else { return false };
    if let Some((_, options)) = GIT.iter().find(|(name, _)| name == subcommand) {
        let files = rest.iter().position(|word| word.literal() == Some("--")).unwrap_or(rest.len());
        let certain = rest.iter().take(files).all(|word| is_certain(word) || options.is_empty());
        return certain && !rest.iter().take(files).any(|word| begins_with(word, options));
    }
    let exact = GIT_EXACT.iter().find(|(name, _)| name == subcommand);
    exact.is_some_and(|(name, forms)| {
        let known = rest.iter().all(|word| word.literal().is_some_and(|word| forms.contains(&word)));
        // Alone, these do more than list.
        known && !(rest.is_empty() && matches!(*name, "config" | "stash" | "worktree"))
    })
}

/// `sed -n '1,20p' FILE`
fn prints_with_sed(words: &[Word]) -> bool {
    let mut scripts = words.iter().filter(|word| !word.literal().is_some_and(|word| word.starts_with('-')));
    let options = words.iter().filter_map(Word::literal).filter(|word| word.starts_with('-'));
    let known =
        options.clone().all(|option| matches!(option, "-n" | "-E" | "-r" | "-nE" | "-En" | "--quiet"));
    let plain = scripts.next().and_then(Word::literal).is_some_and(arguments::is_plain_sed);
    known && plain && words.iter().skip(1).all(is_certain)
}

/// `awk -F: '{print $1}' FILE`: a program that stands there, and no options but those that set a variable.
fn prints_with_awk(words: &[Word]) -> bool {
    let mut rest = words.iter();
    let script = loop {
        match rest.next() {
            Some(Word::Literal(option)) if option == "-F" || option == "-v" => {
                if rest.next().is_none_or(|value| value.literal().is_none()) {
                    return false;
                }
            }
            Some(Word::Literal(option)) if option.starts_with("-F") || option.starts_with("-v") => {}
            Some(Word::Literal(word)) => break word,
            Some(Word::Pattern(_) | Word::Dynamic { .. }) | None => return false,
        }
    };
    // What follows the program can't be an option any more.
    !script.starts_with('-')
        && arguments::is_plain_awk(script)
        && rest.all(|word| !word.may_split() || is_certain(word))
}

/// Whether `find` does nothing but run what stands in the script by itself, by `-exec` or `-execdir`.
pub fn find_only_runs(simple: &Simple) -> bool {
    const MORE: &[&str] = &["-ok", "-delete", "-fprint", "-fls"];
    let words = simple.words.get(1..).unwrap_or_default();
    simple.words.first().and_then(Word::literal) == Some("find")
        && influences(simple).is_none()
        && words.iter().all(|word| {
            is_certain(word)
                && !word.literal().is_some_and(|word| MORE.iter().any(|more| word.starts_with(more)))
        })
}

/// A filter of `jq` that looks at nothing but its input: not at the environment, nor at files of its own.
fn filters_with_jq(words: &[Word]) -> bool {
    const FILES: &[&str] =
        &["--rawfile", "--slurpfile", "--argfile", "--from-file", "-f", "-L", "--library-path"];
    let looks_around = |text: &str| {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(|c: char| is_name(c)).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let name = text.get(at..).unwrap_or_default();
            let name = name.split(|c: char| !is_name(c)).next().unwrap_or_default();
            let begins = before.is_none_or(|c| !is_name(c) && c != '.');
            begins && matches!(name, "env" | "ENV" | "import" | "include")
        })
    };
    words.iter().all(|word| {
        let known = word.literal().is_some_and(|text| text.starts_with('-') || !looks_around(text));
        // A file that a pattern names is no filter, unless it comes first.
        known || is_certain(word) && word.literal().is_none() && words.first() != Some(word)
    }) && !words.iter().any(|word| begins_with(word, FILES))
}

/// `cargo --version`: with nothing else these programs run nothing.
pub(super) fn asks_version(words: &[Word]) -> bool {
    const PROGRAMS: &[&str] = &[
        "bun", "cargo", "clang", "cmake", "deno", "docker", "dotnet", "gcc", "git", "java", "make", "node",
        "npm", "php", "pip", "pip3", "pnpm", "python", "python3", "ruby", "rustc", "tsc", "uv",
    ];
    let [program, Word::Literal(option)] = words else { return false };
    option == "--version" && program.literal().is_some_and(|program| PROGRAMS.contains(&program))
}

/// Whether these words only run what is listed in the script by itself.
pub(super) fn only_runs(words: &[Word]) -> bool {
    let Some((Word::Literal(program), arguments)) = words.split_first() else { return false };
    if !wrapped::is_shell(program) && !TRANSPARENT.contains(&program.as_str()) {
        return false;
    }
    let Ok(inner) = wrapped::wrapped(words, Dialect::Bash) else { return false };
    if !inner.iter().all(|inner| matches!(inner, Inner::Words { .. } | Inner::Text { .. })) {
        return false;
    }
    match program.as_str() {
        // The keyword stands alone; with options the program may write a file.
        "time" => {
            !arguments.first().is_some_and(|word| word.literal().is_none_or(|word| word.starts_with('-')))
        }
        "command" | "trap" => true,
        "exec" => !inner.is_empty() || arguments.is_empty(),
        // Alone it shows the environment, with what is secret in it.
        _ => !inner.is_empty(),
    }
}

/// Builtins that show all variables unless they are told which to set.
fn only_sets(words: &[Word]) -> bool {
    let option = |word: &Word| word.literal().is_some_and(|word| word.starts_with(['-', '+']));
    let shows = |word: &Word| option(word) && word.literal().is_some_and(|word| word.contains('p'));
    words.iter().any(|word| !option(word)) && !words.iter().any(shows)
}
