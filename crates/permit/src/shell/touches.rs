use super::arguments::{self, Arguments};
use super::programs::{PROGRAMS, Program, Role};
use super::{RedirectKind, Simple, Word, elsewhere, own_syntax, program_name};

/// The files and hosts that a command names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touches {
    /// Files and folders that it reads.
    pub reads: Vec<Word>,
    /// Files and folders that it writes, creates or removes.
    pub writes: Vec<Word>,
    /// Folders that it is told to work in, as by `make -C`: it reads and writes there.
    pub works_in: Vec<Word>,
    /// Hosts that it speaks with.
    pub hosts: Vec<String>,
    /// Its arguments were understood. Otherwise only its redirections are in the lists.
    pub known: bool,
}

/// The files and hosts that a command names, by what its program does with them.
pub fn touches(simple: &Simple) -> Touches {
    let mut touches = Touches { known: true, ..Touches::default() };
    if let Some((first, arguments)) = simple.words.split_first() {
        program_name(first).into_iter().for_each(|name| elsewhere::named(name, arguments, &mut touches));
        touches.known = program_name(first)
            .is_some_and(|program| by_program(program, arguments, &mut touches))
            || super::reads::only_runs(&simple.words)
            || super::reads::asks_version(&simple.words);
    }
    // What is added to its arguments is not known.
    touches.known &= !simple.place.wrappers.iter().any(|wrapper| wrapper.adds_arguments);
    for redirect in &simple.redirects {
        match redirect.kind {
            RedirectKind::Read => touches.reads.push(redirect.file.clone()),
            RedirectKind::Write => touches.writes.push(redirect.file.clone()),
        }
        touches.hosts.extend(redirect.file.literal().and_then(arguments::socket_host).map(str::to_owned));
    }
    touches
}

/// Adds what the arguments of a program name; whether they were understood.
fn by_program(program: &str, words: &[Word], touches: &mut Touches) -> bool {
    if let Some(known) = PROGRAMS.iter().find(|known| known.names.contains(&program)) {
        let arguments = arguments::read(known, words);
        by_role(known, &arguments, touches);
        return special(program, &arguments, touches);
    }
    match program {
        "[" | "[[" | "test" => own_syntax::tested(words, touches),
        "dd" => own_syntax::dd(words, touches),
        "find" => own_syntax::find(words, touches),
        "tar" | "bsdtar" => own_syntax::tar(words, touches),
        "curl" => own_syntax::curl(words, touches),
        "wget" => own_syntax::wget(words, touches),
        "git" => return own_syntax::git(words, touches),
        "ssh" | "sftp" | "nc" | "ncat" | "netcat" | "telnet" | "ping" | "dig" | "nslookup" | "host" => {
            let host = words
                .iter()
                .filter_map(Word::literal)
                .find(|word| !word.starts_with('-') && word.contains(['.', '@']));
            touches.hosts.extend(host.map(|host| arguments::host(host).to_owned()));
            return false;
        }
        _ => return false,
    }
    true
}

fn by_role(program: &Program, arguments: &Arguments, touches: &mut Touches) {
    touches.reads.extend(arguments.values(program.reads));
    touches.writes.extend(arguments.values(program.writes));
    let operands = &arguments.operands;
    let brought = !arguments.values(program.brings).is_empty() || arguments.has(program.brings);
    let after_first = operands.get(usize::from(!brought)..).unwrap_or_default();
    match program.role {
        Role::Nothing => {}
        Role::Reads => touches.reads.extend_from_slice(operands),
        Role::ReadsAfterFirst => touches.reads.extend_from_slice(after_first),
        Role::Writes => touches.writes.extend_from_slice(operands),
        Role::WritesAfterFirst => touches.writes.extend_from_slice(after_first),
        Role::Copies => {
            let into = arguments.has(&["t", "target-directory"]);
            let (last, rest) =
                operands.split_last().map_or((None, operands.as_slice()), |(last, rest)| (Some(last), rest));
            touches.reads.extend_from_slice(rest);
            if into { touches.reads.extend(last.cloned()) } else { touches.writes.extend(last.cloned()) }
        }
        Role::Filters => {
            touches.reads.extend(operands.first().cloned());
            touches.writes.extend(operands.get(1..).unwrap_or_default().iter().cloned());
        }
        Role::Packs => {
            touches.writes.extend(operands.first().cloned());
            touches.reads.extend(operands.get(1..).unwrap_or_default().iter().cloned());
        }
    }
}

/// What the table cannot say; whether the arguments are understood.
fn special(program: &str, arguments: &Arguments, touches: &mut Touches) -> bool {
    match program {
        "sed" | "gsed" => {
            if arguments.options.iter().any(|(name, _)| name == "i" || name == "in-place") {
                touches.writes.append(&mut touches.reads.clone());
            }
            arguments.scripts(&["e", "expression"]).all(arguments::is_plain_sed)
        }
        "awk" | "gawk" | "mawk" | "nawk" => arguments.scripts(&[]).all(arguments::is_plain_awk),
        "scp" | "rsync" => {
            let remote =
                |word: &Word| word.literal().is_some_and(|word| arguments::remote_host(word).is_some());
            let files = arguments.operands.iter().filter_map(Word::literal);
            touches.hosts.extend(files.filter_map(arguments::remote_host).map(str::to_owned));
            touches.reads.retain(|word| !remote(word));
            touches.writes.retain(|word| !remote(word));
            if program == "rsync" && arguments.has(&["remove-source-files"]) {
                touches.writes.append(&mut touches.reads.clone());
            }
            !arguments.has(&["e", "rsh", "rsync-path", "o", "S"])
        }
        // What they run, or where they search, is not in their arguments.
        "source" | "." => false,
        "ls" | "du" | "tree" | "rg" | "ag" | "ack" if touches.reads.is_empty() => {
            touches.reads.push(Word::Literal(".".to_owned()));
            true
        }
        "grep" | "egrep" | "fgrep" if touches.reads.is_empty() && arguments.has(&["r", "R", "recursive"]) => {
            touches.reads.push(Word::Literal(".".to_owned()));
            true
        }
        "cd" | "pushd" if arguments.operands.is_empty() => {
            touches.reads.push(Word::Dynamic { text: "~".to_owned(), known: String::new() });
            true
        }
        "unzip" if !arguments.has(&["d", "l", "t", "p", "Z"]) => {
            touches.writes.push(Word::Literal(".".to_owned()));
            true
        }
        _ => true,
    }
}
