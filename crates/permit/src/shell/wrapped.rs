use super::options::Given;
use super::text::Dialect;
use super::wrappers::{COMMAND, ENV, FLOCK, PARALLEL, PLAIN, SCRIPT, SHELL, SU, SUDO, WATCH, XARGS};
use super::{Assignment, Word, program_name};

/// What a program runs besides itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Inner {
    /// A program with its arguments.
    Words {
        words: Vec<Word>,
        assignments: Vec<Assignment>,
        /// More arguments are added to them.
        adds: bool,
    },
    /// A script.
    Text {
        text: String,
        dialect: Dialect,
        /// The running shell reads it, so that a `cd` in it lasts.
        lasts: bool,
    },
    /// A script that is known only when it runs.
    Unknown,
    /// A script that it reads from its input.
    Input(Dialect),
}

impl Inner {
    /// Where, among so many words of the wrapper, a first word stands that may be none.
    pub(super) fn vanishes_at(&self, words: usize) -> Option<usize> {
        match self {
            Self::Words { words: inner, .. } if inner.first()?.may_vanish() => words.checked_sub(inner.len()),
            Self::Words { .. } | Self::Text { .. } | Self::Unknown | Self::Input(_) => None,
        }
    }
}

/// Shells whose language is near enough to be read.
const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"];
/// Programs that run texts in ways that are not followed here.
const UNREAD: &[(&str, &[&str])] = &[
    ("bind", &[]),
    ("compgen", &[]),
    ("complete", &[]),
    ("csh", &[]),
    ("enable", &["-f"]),
    ("fc", &[]),
    ("fish", &[]),
    ("jobs", &["-x"]),
    ("mapfile", &["-C"]),
    ("nu", &[]),
    ("pwsh", &[]),
    ("readarray", &["-C"]),
    ("tcsh", &[]),
    ("xonsh", &[]),
];

/// What the words of a command run besides their program.
///
/// # Errors
/// What of them is not known, such as an option.
pub(super) fn wrapped(words: &[Word], outer: Dialect) -> Result<Vec<Inner>, String> {
    let Some((first, arguments)) = words.split_first() else { return Ok(Vec::new()) };
    let Some(program) = program_name(first) else { return Ok(Vec::new()) };
    if let Some(plain) = PLAIN.iter().find(|plain| plain.names.contains(&program)) {
        let given = plain.options.read(arguments)?;
        if program == "strace"
            && given.value(&["o", "output"]).is_some_and(|value| value.starts_with(['|', '!']))
        {
            return Err("a command in the value of `-o`".to_owned());
        }
        return Ok(run(operands(given.rest, plain.operands)?));
    }
    match program {
        // It takes a path from the root for a program.
        "sudo" => assigned(SUDO.read(arguments)?.rest, |name| !name.is_empty() && !name.starts_with('/')),
        "env" => env(arguments),
        "command" => {
            let given = COMMAND.read(arguments)?;
            Ok(if given.has(&["v", "V"]) { Vec::new() } else { run(given.rest) })
        }
        "xargs" => xargs(arguments),
        "find" => Ok(find(arguments)),
        "parallel" => parallel(arguments),
        "su" | "runuser" => su(arguments),
        "flock" => flock(arguments),
        "watch" => {
            let given = WATCH.read(arguments)?;
            Ok(if given.has(&["x", "exec"]) { run(given.rest) } else { joined(given.rest, Dialect::Other) })
        }
        "script" => {
            let given = SCRIPT.read(arguments)?;
            Ok(given.value(&["c", "command"]).map(|text| text_of(text, Dialect::Other)).into_iter().collect())
        }
        "eval" => {
            let rest = arguments.strip_prefix(&[Word::Literal("--".to_owned())]).unwrap_or(arguments);
            Ok(lasting(joined(rest, outer)))
        }
        "trap" => Ok(lasting(trap(arguments, outer))),
        "alias" => Ok(lasting(aliases(arguments, outer))),
        _ if SHELLS.contains(&program) => shell(program, arguments),
        _ => match UNREAD.iter().find(|(name, _)| *name == program) {
            Some((_, [])) => Err(format!("`{program}`, which may run any text,")),
            Some((_, options)) if has_any(arguments, options) => {
                Err(format!("`{program}`, which may run any text,"))
            }
            Some(_) | None => Ok(Vec::new()),
        },
    }
}

/// Whether a program is a shell whose language is read here.
pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Whether a program runs another.
pub(super) fn is_wrapper(program: &str) -> bool {
    const OTHERS: &[&str] = &[
        "alias", "command", "env", "eval", "find", "flock", "parallel", "runuser", "script", "su", "sudo",
        "trap", "watch", "xargs",
    ];
    OTHERS.contains(&program)
        || SHELLS.contains(&program)
        || PLAIN.iter().any(|plain| plain.names.contains(&program))
}

fn has_any(arguments: &[Word], options: &[&str]) -> bool {
    let begins = |text: &str| options.iter().any(|option| text.starts_with(option));
    arguments.iter().any(|word| word.literal().is_none_or(begins))
}

fn run(words: &[Word]) -> Vec<Inner> {
    if words.is_empty() {
        return Vec::new();
    }
    vec![Inner::Words { words: words.to_vec(), assignments: Vec::new(), adds: false }]
}

fn text_of(text: &str, dialect: Dialect) -> Inner {
    Inner::Text { text: text.to_owned(), dialect, lasts: false }
}

/// The words after a wrapper's own, which must be known: an unknown one could be several, and a command among them.
fn operands(words: &[Word], count: usize) -> Result<&[Word], String> {
    let (own, rest) = words.split_at_checked(count).unwrap_or((words, &[]));
    match own.iter().all(|word| word.literal().is_some()) {
        true => Ok(rest),
        false => Err("an argument that is known only when it runs".to_owned()),
    }
}

/// `NAME=value … program …`
fn assigned(words: &[Word], is_name: fn(&str) -> bool) -> Result<Vec<Inner>, String> {
    let mut assignments = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = match word {
            Word::Literal(text) | Word::Pattern(text) | Word::Dynamic { known: text, .. } => text,
        };
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| is_name(name)) else { break };
        if word.may_split() {
            return Err("a value that may be several words".to_owned());
        }
        let value = match word {
            Word::Literal(_) | Word::Pattern(_) => Word::Literal(value.to_owned()),
            Word::Dynamic { text, .. } => Word::Dynamic { text: text.clone(), known: value.to_owned() },
        };
        assignments.push(Assignment { name: name.to_owned(), value });
        rest = after;
    }
    match rest.is_empty() {
        true => Ok(Vec::new()),
        false => Ok(vec![Inner::Words { words: rest.to_vec(), assignments, adds: false }]),
    }
}

fn env(arguments: &[Word]) -> Result<Vec<Inner>, String> {
    let dash = [Word::Literal("-".to_owned())];
    let given = ENV.read(arguments)?;
    let rest = given.rest.strip_prefix(&dash).unwrap_or(given.rest);
    let Some(text) = given.value(&["S", "split-string"]) else { return assigned(rest, |_| true) };
    if text.contains(['\\', '$', '\'', '"', '#']) {
        return Err("a quoted text that `env -S` splits".to_owned());
    }
    let split = text.split_ascii_whitespace().map(|word| Word::Literal(word.to_owned()));
    // What was split may begin with options again.
    let words: Vec<Word> = split.chain(rest.iter().cloned()).collect();
    let again = ENV.read(&words)?;
    match again.has(&["S", "split-string"]) {
        true => Err("`env -S` in `env -S`".to_owned()),
        false => assigned(again.rest, |_| true),
    }
}

/// The words with what another program replaces in them made unknown.
fn replaced(words: &[Word], mark: &str) -> Vec<Word> {
    let replace = |word: &Word| match word {
        Word::Literal(text) | Word::Pattern(text) if text.contains(mark) => {
            let known = text.split(mark).next().unwrap_or_default().to_owned();
            Word::Dynamic { text: text.replace(mark, "{}"), known }
        }
        Word::Literal(_) | Word::Pattern(_) | Word::Dynamic { .. } => word.clone(),
    };
    words.iter().map(replace).collect()
}

fn xargs(arguments: &[Word]) -> Result<Vec<Inner>, String> {
    let given = XARGS.read(arguments)?;
    let marked = given.has(&["I", "i", "J", "replace"]);
    let mark = given.value(&["I", "i", "J", "replace"]).unwrap_or("{}");
    let words = if marked { replaced(given.rest, mark) } else { given.rest.to_vec() };
    if words.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![Inner::Words { words, assignments: Vec::new(), adds: true }])
}

fn find(arguments: &[Word]) -> Vec<Inner> {
    let mut all = Vec::new();
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        if !word.literal().is_some_and(|word| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let ends = |(at, word): (usize, &Word)| match word.literal() {
            Some(";") => true,
            Some("+") => at > 0 && after.get(at - 1).and_then(Word::literal) == Some("{}"),
            Some(_) | None => false,
        };
        let end = after.iter().enumerate().position(ends).unwrap_or(after.len());
        let (words, more) = after.split_at_checked(end).unwrap_or((after, &[]));
        if !words.is_empty() {
            all.push(Inner::Words { words: replaced(words, "{}"), assignments: Vec::new(), adds: true });
        }
        rest = more;
    }
    all
}

fn parallel(arguments: &[Word]) -> Result<Vec<Inner>, String> {
    let given = PARALLEL.read(arguments)?;
    let mark = given.value(&["I"]).unwrap_or("{}").to_owned();
    let sources = |word: &Word| word.literal().is_some_and(|word| word.starts_with(":::"));
    let command = given.rest.split(sources).next().unwrap_or_default();
    if command.is_empty() {
        let texts = given.rest.iter().filter(|word| !sources(word));
        let read = |word: &Word| word.literal().map_or(Inner::Unknown, |text| text_of(text, Dialect::Other));
        let all: Vec<Inner> = texts.map(read).collect();
        return Ok(if all.is_empty() { vec![Inner::Unknown] } else { all });
    }
    // Its words go through a shell; plain ones come out as they were.
    let plain = |word: &Word| {
        word.literal()
            .is_some_and(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./={}:,@%+".contains(c)))
    };
    if !command.iter().all(plain) {
        return Ok(vec![Inner::Unknown]);
    }
    Ok(vec![Inner::Words { words: replaced(command, &mark), assignments: Vec::new(), adds: true }])
}

/// Words that are joined to a script.
fn joined(words: &[Word], dialect: Dialect) -> Vec<Inner> {
    let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
    match texts {
        Some(texts) if texts.is_empty() => Vec::new(),
        Some(texts) => vec![text_of(&texts.join(" "), dialect)],
        None => vec![Inner::Unknown],
    }
}

/// The running shell reads them itself.
fn lasting(mut all: Vec<Inner>) -> Vec<Inner> {
    for inner in &mut all {
        if let Inner::Text { lasts, .. } = inner {
            *lasts = true;
        }
    }
    all
}

fn trap(arguments: &[Word], dialect: Dialect) -> Vec<Inner> {
    let rest = arguments.strip_prefix(&[Word::Literal("--".to_owned())]).unwrap_or(arguments);
    match rest.split_first() {
        Some((Word::Literal(text), _)) if text.is_empty() || text == "-" || text == "-p" || text == "-l" => {
            Vec::new()
        }
        // Alone it is a signal that is set back.
        Some((Word::Literal(_), [])) | None => Vec::new(),
        Some((Word::Literal(text), _)) => vec![text_of(text, dialect)],
        Some((Word::Pattern(_) | Word::Dynamic { .. }, _)) => vec![Inner::Unknown],
    }
}

fn aliases(arguments: &[Word], dialect: Dialect) -> Vec<Inner> {
    let read = |word: &Word| match word {
        Word::Literal(text) => text.split_once('=').map(|(_, text)| text_of(text, dialect)),
        Word::Pattern(_) | Word::Dynamic { .. } => Some(Inner::Unknown),
    };
    arguments.iter().filter_map(read).collect()
}

fn su(arguments: &[Word]) -> Result<Vec<Inner>, String> {
    // Options may stand after the user's name as well.
    let (mut rest, mut scripts) = (arguments, Vec::new());
    loop {
        let given = SU.read(rest)?;
        scripts.extend(
            given.value(&["c", "command", "session-command"]).map(|text| text_of(text, Dialect::Other)),
        );
        match given.rest.split_first() {
            Some((Word::Literal(_), after)) => rest = after,
            Some((Word::Pattern(_) | Word::Dynamic { .. }, _)) => {
                return Err("an unknown user or option".to_owned());
            }
            None => break,
        }
    }
    Ok(if scripts.is_empty() { vec![Inner::Input(Dialect::Other)] } else { scripts })
}

fn flock(arguments: &[Word]) -> Result<Vec<Inner>, String> {
    let before = FLOCK.read(arguments)?;
    let Some((_, after)) = before.rest.split_first() else { return Ok(Vec::new()) };
    operands(before.rest, 1)?;
    match after.first().and_then(Word::literal) {
        Some("-c" | "--command") => {
            let text = after.get(1).and_then(Word::literal);
            Ok(vec![text.map_or(Inner::Unknown, |text| text_of(text, Dialect::Other))])
        }
        Some(_) | None => Ok(run(after)),
    }
}

fn shell(program: &str, arguments: &[Word]) -> Result<Vec<Inner>, String> {
    let dialect = if matches!(program, "bash" | "rbash") { Dialect::Bash } else { Dialect::Other };
    // `+x` sets an option back, but `+c` and `+s` are the same as `-c` and `-s`, and the value of `+o` is the next word.
    let plus = |word: &Word| word.literal().is_some_and(|word| word.starts_with('+'));
    let odd = |text: &str| match text.strip_prefix('-') {
        // To bash, `-rcfile` is `--rcfile`.
        Some(name) => SHELL.long.contains(&name) || SHELL.long_valued.contains(&name),
        None => text.contains(['c', 's']) || text.trim_end_matches(['o', 'O']).contains(['o', 'O']),
    };
    let options = arguments.iter().filter_map(Word::literal);
    if options.take_while(|word| word.starts_with(['-', '+'])).any(odd) {
        return Err("options of a shell in an odd form".to_owned());
    }
    let (mut given, mut script) = (Given::default(), false);
    let mut rest = arguments;
    loop {
        let more = SHELL.read(rest)?;
        script |= more.has(&["c"]);
        given.options.extend(more.options.iter().cloned());
        rest = more.rest;
        match rest.split_first() {
            Some((word, after)) if plus(word) => {
                if word.literal().is_some_and(odd) {
                    return Err("options of a shell in an odd form".to_owned());
                }
                rest = if word.literal().is_some_and(|word| word.contains(['o', 'O'])) {
                    after.get(1..).unwrap_or_default()
                } else {
                    after
                };
            }
            Some(_) | None => break,
        }
    }
    if given.has(&["rcfile", "init-file"]) || given.has(&["k", "p"]) && program != "bash" {
        return Err("a shell with a start-up file of its own".to_owned());
    }
    let first = rest.first();
    match (script, first) {
        // To bash it ends the options.
        (true, Some(Word::Literal(text))) if text == "-" => {
            Err("options of a shell in an odd form".to_owned())
        }
        (true, Some(Word::Literal(text))) => Ok(vec![text_of(text, dialect)]),
        (true, Some(Word::Pattern(_) | Word::Dynamic { .. })) => Ok(vec![Inner::Unknown]),
        (true, None) => Ok(Vec::new()),
        (false, None) => Ok(vec![Inner::Input(dialect)]),
        (false, Some(_)) if given.has(&["s"]) => Ok(vec![Inner::Input(dialect)]),
        (false, Some(Word::Literal(file)))
            if matches!(file.as_str(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") =>
        {
            Ok(vec![Inner::Input(dialect)])
        }
        // An empty variable leaves the next word to be an option.
        (false, Some(word)) if word.may_vanish() => Ok(vec![Inner::Unknown]),
        (false, Some(_)) => Ok(Vec::new()),
    }
}
