use super::super::{Word, program_name};
use super::places::{folder, target};
use super::{Finding, Seen, Weight, ask, refuse};

/// `rm -r` and its like.
pub(super) fn recursive(seen: &Seen<'_>) -> Option<Finding> {
    let unknown = seen.program.is_empty() && !seen.simple.words.is_empty();
    if !unknown && !matches!(seen.program, "rm" | "rimraf" | "srm") {
        return None;
    }
    if seen.has("", &["no-preserve-root"]) {
        return refuse("deletes with `--no-preserve-root`");
    }
    if !seen.has("rR", &["recursive"]) && seen.program != "rimraf" {
        return None;
    }
    let operands = seen.operands();
    let worst = operands.iter().filter_map(|word| target(word, seen.home)).max_by_key(|(weight, _)| *weight);
    if unknown {
        // `/bin/r? -rf /`: an unknown program with the arguments of a deletion.
        let grave = worst.filter(|(weight, _)| *weight == Weight::Refuse);
        return grave.and_then(|(_, what)| ask(format!("may be one that {what}")));
    }
    if seen.simple.place.wrappers.iter().any(|wrapper| wrapper.adds_arguments) {
        return worst
            .filter(|(weight, _)| *weight == Weight::Refuse)
            .or_else(|| ask("deletes folders that another program names"));
    }
    let (weight, what) = worst?;
    match operands.iter().any(|word| is_here(word)) && moved_to_grave(seen) {
        true => refuse(format!("{what}, after `cd` to the root or home folder")),
        false => Some((weight, what)),
    }
}

/// `*`, `.` and their like.
fn is_here(word: &Word) -> bool {
    match word {
        Word::Literal(text) | Word::Pattern(text) => {
            text.chars().all(|c| "*.?/".contains(c)) && !text.starts_with('/')
        }
        Word::Dynamic { .. } => false,
    }
}

/// Whether a `cd` before it went to the root or home folder.
fn moved_to_grave(seen: &Seen<'_>) -> bool {
    let before = seen.script.commands.iter().take(seen.index).rev();
    let moves =
        before.filter(|simple| matches!(simple.words.first().and_then(program_name), Some("cd" | "pushd")));
    let to =
        |words: &[Word]| words.get(1).map_or(folder(seen.home, seen.home), |word| target(word, seen.home));
    moves.take(1).any(|simple| to(&simple.words).is_some_and(|(weight, _)| weight == Weight::Refuse))
}

/// `find … -delete`, `find … -exec rm`
pub(super) fn by_find(seen: &Seen<'_>) -> Option<Finding> {
    if seen.program != "find" {
        return None;
    }
    let runs = seen.arguments.windows(2).any(|pair| {
        let [option, program] = pair else { return false };
        matches!(option.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir"))
            && matches!(program_name(program), Some("rm" | "shred" | "unlink" | "sh" | "bash"))
    });
    if !runs && !seen.literals().any(|word| word == "-delete") {
        return None;
    }
    let narrow = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-mtime",
        "-mmin",
        "-size",
        "-newer",
        "-empty",
    ];
    let narrow = seen.literals().any(|word| narrow.contains(&word));
    let starts = seen
        .arguments
        .iter()
        .take_while(|word| !word.literal().is_some_and(|word| word.starts_with('-') && word.len() > 2));
    let (weight, what) =
        starts.filter_map(|word| target(word, seen.home)).max_by_key(|(weight, _)| *weight)?;
    match (weight, narrow) {
        (Weight::Refuse, false) => refuse(what),
        (Weight::Refuse, true) => ask("deletes files all over the root or home folder"),
        (Weight::AlwaysAsk, _) if what.ends_with("folder `.`") => None,
        (Weight::AlwaysAsk, _) => ask(what),
    }
}

/// Folders that are moved away or emptied by other programs.
pub(super) fn by_others(seen: &Seen<'_>) -> Option<Finding> {
    let operands = seen.operands();
    match seen.program {
        "mv" => {
            let (_, sources) = operands.split_last()?;
            let grave = sources
                .iter()
                .filter_map(|word| target(word, seen.home))
                .any(|(weight, _)| weight == Weight::Refuse);
            grave.then(|| ask("moves the root or home folder away")).flatten()
        }
        "rsync" if seen.literals().any(|word| word.starts_with("--del")) => {
            let (weight, what) = target(operands.last()?, seen.home)?;
            (weight == Weight::Refuse || what.contains("system"))
                .then(|| ask(format!("{what}, as far as it is not in the source")))
                .flatten()
        }
        _ => None,
    }
}
