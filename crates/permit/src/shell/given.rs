//! What a program adds to the arguments of another: `find . -exec grep x {} +`, `git ls-files | xargs wc -l`.

use super::wrappers::XARGS;
use super::{Script, Simple, Word, own_syntax, reads, touches};

/// A command with the files that it is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenCommand {
    /// The command as if it had them among its words: the folders or patterns that hold them.
    pub simple: Simple,
    /// They are these files and no others. Otherwise the name of a file can come to several words: whoever names files could
    /// name others.
    pub certain: bool,
}

/// The command with what it is given, if that comes from a list of files whose places are known. `command` is the text that the
/// script was read from.
pub fn given(script: &Script, at: usize, command: &str) -> Option<GivenCommand> {
    let simple = script.commands.get(at)?;
    let wrapper = simple.place.wrappers.last().filter(|wrapper| wrapper.adds_arguments)?;
    let before = script.commands.get(..at)?;
    let runs_it = |outer: &&Simple| {
        outer.source == simple.source && outer.words.first().and_then(Word::literal) == Some(&wrapper.program)
    };
    let outer = before.iter().rev().find(runs_it)?;
    let arguments = outer.words.get(1..)?;
    match wrapper.program.as_str() {
        "find" => {
            let from_file = arguments.iter().any(|word| word.literal() == Some("-files0-from"));
            (!from_file).then_some(())?;
            let simple = filled(simple, &own_syntax::starts(arguments), false)?;
            Some(GivenCommand { simple, certain: true })
        }
        "xargs" => {
            let options = XARGS.read(arguments).ok()?;
            let own_input = options.has(&["a", "arg-file"]) || !outer.redirects.is_empty();
            let (files, ends) = listed(script, outer, command)?;
            let certain = ends == Ends::Nul && options.has(&["0", "null"]);
            let marked = options.has(&["I", "i", "J", "replace"]);
            (!own_input).then_some(())?;
            Some(GivenCommand { simple: filled(simple, &files, !marked)?, certain })
        }
        _ => None,
    }
}

/// How the names of a list end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    Nul,
    Line,
}

/// The places of the files whose names a command reads from its pipe, through filters that leave whole lines out.
fn listed(script: &Script, reader: &Simple, command: &str) -> Option<(Vec<Word>, Ends)> {
    let from = script.commands.get(reader.place.piped_from?)?;
    // Nothing else may write to the pipe.
    let between = command.get(from.source.end..reader.source.start)?.trim();
    if between != "|" || !from.redirects.is_empty() || !from.place.wrappers.is_empty() {
        return None;
    }
    let (first, words) = from.words.split_first()?;
    let has =
        |names: &[&str]| words.iter().any(|word| word.literal().is_some_and(|word| names.contains(&word)));
    let reads = || touches(from).reads;
    match first.literal()? {
        "find" => {
            let own = ["-printf", "-files0-from", "-exec", "-execdir", "-ok", "-okdir", "-ls", "-fprint"];
            let ends = if has(&["-print0"]) { Ends::Nul } else { Ends::Line };
            let mixed = has(&["-print0"]) && has(&["-print"]);
            let plain = !mixed && !has(&own);
            plain.then(|| (own_syntax::starts(words), ends))
        }
        // They may begin with a dash, as any name that a pattern stands for.
        "git" if words.first().and_then(Word::literal) == Some("ls-files") => {
            let plain = !has(&["--format", "-s", "--stage", "-u", "-t", "--eol"])
                && words.iter().all(|word| word.literal().is_some_and(|word| !word.starts_with("--format")));
            let ends = if has(&["-z"]) { Ends::Nul } else { Ends::Line };
            plain.then(|| (vec![Word::Pattern("*".to_owned())], ends))
        }
        "rg" if has(&["-l", "--files", "--files-with-matches"]) => Some((reads(), Ends::Line)),
        "grep" if words.iter().any(|word| word.literal().is_some_and(is_short_list)) => {
            Some((reads(), Ends::Line))
        }
        "ls" => {
            let mut files = reads();
            files.push(Word::Pattern("*".to_owned()));
            Some((files, Ends::Line))
        }
        "grep" | "egrep" | "fgrep" | "head" | "tail" | "sort" | "uniq" => {
            // Parts of a line would be other names.
            let cuts = |word: &Word| {
                word.literal().is_none_or(|word| {
                    word.starts_with("--")
                        || word.starts_with('-') && word.contains(['o', 'c', 'b', 'h', 'H'])
                })
            };
            let whole = reads().is_empty() && !words.iter().any(cuts) && reads::only_reads(from);
            listed(script, from, command).filter(|_| whole).map(|(files, _)| (files, Ends::Line))
        }
        _ => None,
    }
}

/// `-l`, `-rl`, `-lr`, …
fn is_short_list(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|letters| letters.contains('l') && letters.chars().all(|c| "rRnilwEFI".contains(c)))
}

/// The command with files in the place of `{}`, or behind its words.
fn filled(simple: &Simple, files: &[Word], behind: bool) -> Option<Simple> {
    let mut words = Vec::new();
    for word in &simple.words {
        match word {
            Word::Dynamic { text, .. } if text == "{}" => words.extend_from_slice(files),
            // A part of a word, such as `{}.bak`, is another file.
            Word::Dynamic { text, .. } if text.contains("{}") => return None,
            Word::Literal(_) | Word::Pattern(_) | Word::Dynamic { .. } => words.push(word.clone()),
        }
    }
    if behind {
        words.extend_from_slice(files);
    }
    let mut full = Simple { words, ..simple.clone() };
    for wrapper in &mut full.place.wrappers {
        wrapper.adds_arguments = false;
    }
    Some(full)
}
