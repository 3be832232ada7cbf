//! What bash really runs, against what was read: programs in a scratch folder write down how they were called.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::{env, fs};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rail_permit::shell::{Script, Simple, Word, danger, read};
use rail_sandbox::confine::dress;
use rail_sandbox::{Network, Shape, support};
use rustix::process::{Pid, Signal, kill_process};

/// Programs that bash may find besides those that write down their calls.
const REAL: &[&str] = &["bash", "env", "nice", "sh", "timeout", "xargs", "nohup", "stdbuf", "setsid", "find"];
/// What an edit may put into a script.
pub(crate) const SIGNS: &[&str] = &[
    "'", "\"", "`", "$", "(", ")", "{", "}", ";", "&", "|", "<", ">", "\n", " ", "#", "\\", "=", "[", "]",
    "!", "*", ",", "-", "\\\n", "$(", "${", "((", "<(", "<<E\n", "p8", "$\\\n", "2\\\n", " -- ", " p9 ",
    "&&", "'p8'",
];

#[test]
fn every_program_that_bash_runs_is_seen() {
    let Some(ground) = Ground::new("generated") else { return };
    let understood = check(&ground, 150, list(3).boxed());
    // About four of five are; chance takes a run of this many below three of four now and then.
    assert!(understood.0 * 3 > understood.1 * 2, "too few of the scripts were understood: {understood:?}");
}

#[test]
fn every_program_that_bash_runs_is_seen_in_damaged_scripts() {
    let Some(ground) = Ground::new("damaged") else { return };
    let edit = (any::<prop::sample::Index>(), prop::sample::select(SIGNS), 0..3_usize);
    let damaged = (list(2), prop::collection::vec(edit, 1..4)).prop_map(|(script, edits)| {
        edits.iter().fold(script, |script, (at, sign, removed)| {
            damage(&script, at.index(script.len() + 1), sign, *removed)
        })
    });
    let understood = check(&ground, 250, damaged.boxed());
    assert!(understood.0 > 0);
}

/// Runs scripts with bash, and gives how many were understood, of how many.
pub(crate) fn check(ground: &Ground, cases: u32, scripts: BoxedStrategy<String>) -> (usize, usize) {
    let counts = std::cell::Cell::new((0, 0));
    let mut runner = TestRunner::new(Config {
        cases: cases.max(wanted()),
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&scripts, |script| {
        let (understood, all) = counts.get();
        let Ok(seen) = read(&script) else {
            counts.set((understood, all + 1));
            return Ok(());
        };
        counts.set((understood + 1, all + 1));
        // `eval $x`, `n*e p1`, `$x"eval" p1`: what it runs is asked about, whatever it is. A variable alone may be none.
        let is_unknown = |simple: &Simple| match simple.words.first() {
            Some(Word::Pattern(_)) => true,
            Some(Word::Dynamic { text, .. }) => text != "$unset",
            Some(Word::Literal(_)) | None => false,
        };
        if danger(&seen, None).iter().any(|danger| danger.what.ends_with("known only when it runs"))
            || seen.commands.iter().any(is_unknown)
        {
            return Ok(());
        }
        for call in ground.calls(&script) {
            prop_assert!(
                covers(&seen, &call),
                "bash ran {call:?}, which was not seen in:\n{script}\n{}",
                shown(&seen)
            );
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    counts.get()
}

pub(crate) fn shown(script: &Script) -> String {
    let line = |simple: &Simple| simple.words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    script.commands.iter().map(|simple| format!("  seen: {}\n", line(simple))).collect()
}

/// More cases than usual, for a long search.
#[expect(clippy::disallowed_methods, reason = "the number of cases is a test's own setting")]
pub(crate) fn wanted() -> u32 {
    env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(0)
}

pub(crate) fn damage(script: &str, at: usize, sign: &str, removed: usize) -> String {
    let before: String = script.chars().take(at).collect();
    let after: String = script.chars().skip(at + removed).collect();
    format!("{before}{sign}{after}")
}

/// Whether a command of the script may be this call.
pub(crate) fn covers(script: &Script, call: &[String]) -> bool {
    let Some((program, arguments)) = call.split_first() else { return true };
    script.commands.iter().any(|simple| {
        // A program that is known only when it runs is always asked about.
        let named =
            simple.words.first().is_some_and(|word| word.literal().is_none_or(|word| word == program));
        named && fits(simple.words.get(1..).unwrap_or_default(), arguments, simple)
    })
}

/// Whether a command of the script has a program that is known only when it runs, and may bring arguments of its own.
pub(crate) fn has_unknown_program(script: &Script) -> bool {
    script.commands.iter().any(|simple| simple.words.first().is_some_and(|word| word.literal().is_none()))
}

fn fits(words: &[Word], arguments: &[String], simple: &Simple) -> bool {
    match words.split_first() {
        None => arguments.is_empty() || simple.place.wrappers.iter().any(|wrapper| wrapper.adds_arguments),
        Some((Word::Literal(text), rest)) => {
            arguments.split_first().is_some_and(|(first, more)| first == text && fits(rest, more, simple))
        }
        // Any number of arguments, each of which begins as is known.
        Some((Word::Pattern(_) | Word::Dynamic { .. }, rest)) => {
            (0..=arguments.len()).any(|taken| fits(rest, &arguments[taken..], simple))
        }
    }
}

/// A folder with programs that write down their calls.
pub(crate) struct Ground {
    pub(crate) folder: PathBuf,
    bash: PathBuf,
    runs: std::cell::Cell<usize>,
    shape: Shape,
}

impl Ground {
    pub(crate) fn new(name: &str) -> Option<Self> {
        let Some(bash) = found("bash") else {
            assert!(!*CI, "bash is needed here");
            eprintln!("skipped: there is no bash");
            return None;
        };
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("shell-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::create_dir_all(folder.join("work")).unwrap();
        for program in REAL {
            if let Some(real) = found(program) {
                std::os::unix::fs::symlink(real, folder.join("bin").join(program)).unwrap();
            }
        }
        let ground = Self { folder, bash, runs: std::cell::Cell::new(0), shape: Shape::Free };
        (0..10).for_each(|number| ground.add(&format!("p{number}")));
        Some(ground)
    }

    /// The same, for scripts that nobody should run outside of a sandbox.
    pub(crate) fn confined(name: &str) -> Option<Self> {
        if let Err(error) = support().ready() {
            assert!(!*CI, "{error}");
            eprintln!("skipped: {error}");
            return None;
        }
        let mut ground = Self::new(name)?;
        ground.shape = Shape::Confined {
            writable: vec![ground.folder.clone()],
            kept: Vec::new(),
            hidden: Vec::new(),
            network: Network::Off,
        };
        Some(ground)
    }

    /// Adds a program that writes down its calls, unless there is a real one of this name.
    pub(crate) fn add(&self, program: &str) {
        let text = format!(
            "#!{}\nline=${{0##*/}}; for a; do line=\"$line\x1f$a\"; done; printf '%s\\036' \"$line\" >>\"${{0%/*}}.log\"\n",
            found("sh").unwrap().display(),
        );
        let path = self.folder.join("bin").join(program);
        if !path.exists() {
            executable(&path, &text);
        }
    }

    /// Runs a script, and gives how programs were called.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is the driver of the shell that it compares with"
    )]
    pub(crate) fn calls(&self, script: &str) -> Vec<Vec<String>> {
        // Each run has a name of its own for the programs' folder: what is left running writes to its own log.
        let number = self.runs.replace(self.runs.get() + 1);
        let bin = self.folder.join(format!("run{number}"));
        let log = bin.with_extension("log");
        std::os::unix::fs::symlink("bin", &bin).unwrap();
        fs::write(&log, "").unwrap();
        let timeout = found("timeout").unwrap();
        let mut run = Command::new(timeout);
        run.args(["-s", "KILL", "10"]).arg(&self.bash).args(["-c", script]);
        run.env_clear().env("PATH", &bin).env("HOME", self.folder.join("work"));
        run.current_dir(self.folder.join("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // It explains a start that failed, and here none may.
        let _dressed = dress(&mut run, &self.shape).unwrap();
        run.status().unwrap();
        end_left(&bin);
        let text = fs::read(&log).unwrap();
        let text = String::from_utf8_lossy(&text);
        let calls = text.split('\u{1e}').filter(|call| !call.is_empty());
        calls.map(|call| call.split('\u{1f}').map(str::to_owned).collect()).collect()
    }
}

/// Ends what a script has left running, in whatever session: a function that calls itself in a pipe makes processes without end.
fn end_left(bin: &Path) {
    let mark = format!("PATH={}", bin.display());
    let environment = |entry: &fs::DirEntry| fs::read(entry.path().join("environ")).unwrap_or_default();
    loop {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let left =
            all.filter(|entry| environment(entry).split(|byte| *byte == 0).any(|set| set == mark.as_bytes()));
        let left: Vec<Pid> =
            left.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect();
        // First none of them may go on, so that none makes others meanwhile.
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &left {
                // It may have ended by itself.
                let _ = kill_process(*process, signal);
            }
        }
        if left.is_empty() {
            return;
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a missing program is a failure is the machine's own setting"
)]
static CI: LazyLock<bool> = LazyLock::new(|| env::var_os("CI").is_some());

fn found(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(program))
        .find(|path| path.exists())
}

fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

// Scripts

fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', "'\\''"))
}

fn program() -> impl Strategy<Value = String> {
    (0..8_u8, 0..9_u8).prop_map(|(number, how)| match how {
        0 => format!("'p{number}'"),
        1 => format!("p\\{number}"),
        2 => format!("\"p\"{number}"),
        3 => format!("$'\\x70{number}'"),
        4 => format!("p''{number}"),
        5 => format!("p\\\n{number}"),
        _ => format!("p{number}"),
    })
}

fn word(depth: u32) -> BoxedStrategy<String> {
    let plain = prop::sample::select(vec![
        "a",
        "b1",
        "x=y",
        "-r",
        "'c d'",
        "\"e f\"",
        "\\$x",
        "'$(p9)'",
        "\"\\$(p9)\"",
        "{a,b}",
        "{1..3}",
        "a{,x}",
        "$'\\n'",
        "~",
        "$x",
        "\"$@\"",
        "${x:-d}",
        "#c",
        "a#b",
        "''",
        "\\`p9\\`",
        "{}",
        "*",
        "%",
        "$",
        "x'y'\"z\"",
        "[a]",
        "!",
        "=",
        "a=~",
        "\"`:`\"",
        "\"a\nb\"",
        "$#",
        "${#x}",
        "${x/a/b}",
        "${x%%.*}",
        "{a,b}{c,d}",
        "{{a,b},c}",
        "\\\n",
        "--",
        "$'it\\'s'",
        "^",
        "a:~",
    ])
    .prop_map(str::to_owned);
    if depth == 0 {
        return plain.boxed();
    }
    let inner = list(depth - 1);
    let more = word(depth - 1);
    prop_oneof![
        6 => plain,
        2 => inner.clone().prop_map(|list| format!("$({list})")),
        1 => inner.clone().prop_map(|list| format!("\"a $({list}) b\"")),
        1 => inner.clone().prop_map(|list| format!("`{}`", list.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$"))),
        1 => inner.clone().prop_map(|list| format!("<({list})")),
        1 => inner.clone().prop_map(|list| format!("${{x:-$({list})}}")),
        1 => inner.clone().prop_map(|list| format!("$((1 + $({list})))")),
        1 => inner.clone().prop_map(|list| format!("\"${{x:=`{}`}}\"", list.replace(['\\', '`', '$', '"', '\''], ""))),
        1 => inner.prop_map(|list| format!("$( {list}\n)")),
        1 => (more.clone(), more).prop_map(|(one, two)| format!("{one}{two}")),
    ]
    .boxed()
}

fn simple(depth: u32) -> BoxedStrategy<String> {
    let before = prop_oneof![
        6 => Just(String::new()),
        1 => word(depth.saturating_sub(1)).prop_map(|word| format!("y={word} ")),
        1 => Just("> out ".to_owned()),
        1 => Just("$unset ".to_owned()),
        1 => word(depth.saturating_sub(1)).prop_map(|word| format!("a[1]={word} ")),
    ];
    let after = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        " > out",
        " 2>&1",
        " >> out 2>&1",
        " &> out",
        " <<< a",
        " {fd}> out",
        " >| out",
    ]);
    let wrapper = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        "",
        "",
        "env ",
        "env -i PATH=\"$PATH\" ",
        "env X=1 -- ",
        "nice -n 1 ",
        "nice -5 ",
        "timeout 5 ",
        "timeout -s KILL 5 ",
        "command ",
        "command -p -- ",
        "xargs ",
        "xargs -n 1 ",
        "time ",
        "time -p ",
        "! ",
        "exec ",
        "nohup ",
        "stdbuf -oL ",
        "setsid -w ",
        "builtin command ",
        "eval ",
    ]);
    let words = prop::collection::vec(word(depth.saturating_sub(1)), 0..3);
    (before, wrapper, program(), words, after)
        .prop_map(|(before, wrapper, program, words, after)| {
            let keyword = wrapper.starts_with("time") || wrapper.starts_with('!');
            let (first, second) =
                if keyword { (wrapper, before.as_str()) } else { (before.as_str(), wrapper) };
            format!("{first}{second}{program} {}{after}", words.join(" "))
        })
        .boxed()
}

fn command(depth: u32) -> BoxedStrategy<String> {
    if depth == 0 {
        return simple(0);
    }
    let (inner, one) = (list(depth - 1), word(depth - 1));
    let compound = prop_oneof![
        inner.clone().prop_map(|list| format!("({list})")),
        inner.clone().prop_map(|list| format!("{{ {list}\n}}")),
        (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("if {one}\nthen {two}\nelse p1; fi")),
        inner.clone().prop_map(|list| format!("until p0; do {list}\ndone")),
        (one.clone(), inner.clone()).prop_map(|(word, list)| format!("for i in {word} z; do {list}\ndone")),
        inner.clone().prop_map(|list| format!("for ((i=0; i<1; i++)); do {list}\ndone")),
        (one.clone(), inner.clone())
            .prop_map(|(word, list)| format!("case {word} in (q|r) p1;; *) {list}\n;; esac")),
        // Each depth has names of its own: what calls itself would not end.
        inner.clone().prop_map(move |list| format!("f{depth}() {{ {list}\n}}; f{depth} a")),
        inner.clone().prop_map(move |list| format!("function g{depth} {{ {list}\n}}\ng{depth}")),
        one.clone().prop_map(|word| format!("[[ -n {word} && a =~ ^(a|b)$ ]] && p2")),
        inner.clone().prop_map(|list| format!("bash -c {}", quoted(&list))),
        inner.clone().prop_map(|list| format!("bash -ec {} zero one", quoted(&list))),
        inner.clone().prop_map(|list| format!("eval {}", quoted(&list))),
        inner.clone().prop_map(|list| format!("trap {} EXIT", quoted(&list))),
        inner.clone().prop_map(|list| format!("bash <<< {}", quoted(&list))),
        inner.clone().prop_map(|list| format!("{{ bash <<'E1'\n{list}\nE1\n}}")),
        inner.clone().prop_map(|list| format!("{{ p1 <<E2\na $({list}) b\nE2\n}}")),
        inner.clone().prop_map(|list| format!("{{ p1 <<'E3'\na $({list}) b\nE3\n}}")),
        inner.clone().prop_map(|list| format!("{{ p1 <<-E4 | p2\n\ta `p3`\n\tE4\n{list}\n}}")),
        inner.clone().prop_map(|list| format!("v=(a $({list}) 'b') p1")),
        inner.clone().prop_map(|list| format!("declare -a w=(a $({list}))")),
        inner.clone().prop_map(|list| format!("(( 1 + $({list}) ))")),
        inner.prop_map(|list| format!("find . -maxdepth 0 -exec bash -c {} \\;", quoted(&list))),
    ];
    prop_oneof![3 => simple(depth), 2 => compound].boxed()
}

pub(crate) fn list(depth: u32) -> BoxedStrategy<String> {
    let separator = prop::sample::select(vec![
        "; ",
        " && ",
        " || ",
        "\n",
        " | ",
        " |& ",
        " & ",
        " # c ' \" (\n",
        " |\n",
        " &&\n\n",
    ]);
    let rest = prop::collection::vec((separator, command(depth)), 0..3);
    (command(depth), rest)
        .prop_map(|(first, rest)| {
            rest.iter().fold(first, |all, (separator, next)| format!("{all}{separator}{next}"))
        })
        .boxed()
}
