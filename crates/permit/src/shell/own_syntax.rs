//! What programs with a syntax of their own touch.

use super::programs::{Program, Role};
use super::touches::Touches;
use super::{Word, arguments, reads};

/// Files that a test looks at; what it only compares is none.
pub(super) fn tested(words: &[Word], touches: &mut Touches) {
    const FILES: &str = "bcdefghkprsuwxGLNOS";
    for pair in words.windows(2) {
        let [sign, file] = pair else { continue };
        let letter =
            sign.literal().and_then(|sign| sign.strip_prefix('-')).filter(|letter| letter.len() == 1);
        if letter.is_some_and(|letter| FILES.contains(letter)) {
            touches.reads.push(file.clone());
        }
    }
    for three in words.windows(3) {
        let [one, sign, two] = three else { continue };
        if matches!(sign.literal(), Some("-nt" | "-ot" | "-ef")) {
            touches.reads.extend([one.clone(), two.clone()]);
        }
    }
}

pub(super) fn dd(words: &[Word], touches: &mut Touches) {
    for word in words {
        touches.reads.extend(arguments::after_prefix(word, "if="));
        touches.writes.extend(arguments::after_prefix(word, "of="));
    }
}

/// The folders that `find` begins with.
pub(super) fn starts(words: &[Word]) -> Vec<Word> {
    let expression = |word: &&Word| {
        !word
            .literal()
            .is_some_and(|word| word.starts_with('-') && word.len() > 2 || matches!(word, "!" | "(" | ","))
    };
    let mut options = 0;
    while let Some(option) = words.get(options).and_then(Word::literal) {
        options += match option {
            "-D" => 2,
            "-H" | "-L" | "-P" => 1,
            level if level.starts_with("-O") => 1,
            _ => break,
        };
    }
    let starts: Vec<Word> = words.iter().skip(options).take_while(expression).cloned().collect();
    if starts.is_empty() { vec![Word::Literal(".".to_owned())] } else { starts }
}

pub(super) fn find(words: &[Word], touches: &mut Touches) {
    let starts = starts(words);
    if words.iter().any(|word| word.literal() == Some("-delete")) {
        touches.writes.extend(starts.iter().cloned());
    }
    touches.reads.extend(starts);
    for pair in words.windows(2) {
        let [option, value] = pair else { continue };
        match option.literal() {
            Some("-fprint" | "-fprint0" | "-fprintf" | "-fls") => touches.writes.push(value.clone()),
            Some("-newer" | "-anewer" | "-cnewer" | "-samefile" | "-files0-from") => {
                touches.reads.push(value.clone())
            }
            Some(_) | None => {}
        }
    }
}

pub(super) fn tar(words: &[Word], touches: &mut Touches) {
    const TAR: Program = Program {
        names: &[],
        role: Role::Reads,
        valued: &[
            "exclude",
            "transform",
            "strip-components",
            "owner",
            "group",
            "mode",
            "format",
            "I",
            "use-compress-program",
            "b",
        ],
        brings: &[],
        reads: &["T", "files-from", "X", "exclude-from"],
        writes: &["C", "directory", "f", "file"],
    };
    // `tar xzf a` is `tar -xzf a`.
    let mut words = words.to_vec();
    if let Some(Word::Literal(first)) = words.first_mut()
        && !first.starts_with('-')
    {
        first.insert(0, '-');
    }
    let arguments = arguments::read(&TAR, &words);
    let (archive, folder) = (arguments.values(&["f", "file"]), arguments.values(&["C", "directory"]));
    touches.reads.extend(arguments.values(TAR.reads));
    if arguments.has(&["c", "create", "r", "append", "u", "update"]) {
        touches.writes.extend(archive);
        touches.reads.extend(folder);
        touches.reads.extend(arguments.operands);
    } else if arguments.has(&["t", "list"]) {
        touches.reads.extend(archive);
    } else {
        touches.reads.extend(archive);
        touches.writes.extend(if folder.is_empty() { vec![Word::Literal(".".to_owned())] } else { folder });
    }
}

pub(super) fn curl(words: &[Word], touches: &mut Touches) {
    const CURL: Program = Program {
        names: &[],
        role: Role::Reads,
        valued: &[
            "X",
            "H",
            "d",
            "F",
            "u",
            "A",
            "e",
            "m",
            "b",
            "x",
            "w",
            "y",
            "Y",
            "z",
            "C",
            "r",
            "Q",
            "U",
            "P",
            "t",
            "request",
            "header",
            "data",
            "data-raw",
            "data-binary",
            "data-urlencode",
            "form",
            "user",
            "user-agent",
            "referer",
            "max-time",
            "cookie",
            "proxy",
            "write-out",
            "connect-timeout",
            "retry",
            "retry-delay",
            "json",
            "range",
            "resolve",
            "max-redirs",
            "connect-to",
            "interface",
            "limit-rate",
            "url-query",
            "oauth2-bearer",
        ],
        brings: &[],
        reads: &["T", "upload-file", "K", "config", "E", "cert", "key", "cacert", "netrc-file"],
        writes: &[
            "o",
            "output",
            "D",
            "dump-header",
            "c",
            "cookie-jar",
            "output-dir",
            "trace",
            "trace-ascii",
            "stderr",
            "libcurl",
            "hsts",
            "etag-save",
        ],
    };
    let arguments = arguments::read(&CURL, words);
    touches.reads.extend(arguments.values(CURL.reads));
    touches.writes.extend(arguments.values(CURL.writes));
    let sent =
        arguments.values(&["d", "data", "data-binary", "data-urlencode", "F", "form", "json", "H", "header"]);
    for word in &sent {
        let file = word
            .literal()
            .and_then(|text| text.split_once('@').filter(|(name, _)| name.is_empty() || name.ends_with('=')));
        touches.reads.extend(file.map(|(_, file)| Word::Literal(file.to_owned())));
    }
    if arguments.has(&["O", "remote-name", "remote-name-all", "J"]) {
        touches.writes.push(Word::Literal(".".to_owned()));
    }
    let urls = arguments.operands.iter().cloned().chain(arguments.values(&["url"]));
    touches.hosts.extend(urls.filter_map(|word| arguments::url_host(&word)));
}

pub(super) fn wget(words: &[Word], touches: &mut Touches) {
    const WGET: Program = Program {
        names: &[],
        role: Role::Reads,
        valued: &[
            "t",
            "T",
            "w",
            "Q",
            "U",
            "e",
            "l",
            "A",
            "R",
            "D",
            "I",
            "X",
            "header",
            "user-agent",
            "tries",
            "timeout",
            "post-data",
            "level",
        ],
        brings: &[],
        reads: &[
            "i",
            "input-file",
            "post-file",
            "body-file",
            "load-cookies",
            "config",
            "ca-certificate",
            "certificate",
            "private-key",
        ],
        writes: &[
            "O",
            "output-document",
            "P",
            "directory-prefix",
            "o",
            "output-file",
            "a",
            "append-output",
            "save-cookies",
        ],
    };
    let arguments = arguments::read(&WGET, words);
    touches.reads.extend(arguments.values(WGET.reads));
    touches
        .writes
        .extend(arguments.values(WGET.writes).into_iter().filter(|word| word.literal() != Some("-")));
    if !arguments.has(&["O", "output-document", "P", "directory-prefix", "spider"]) {
        touches.writes.push(Word::Literal(".".to_owned()));
    }
    touches.hosts.extend(arguments.operands.iter().filter_map(arguments::url_host));
}

/// The file that a word of `git` may name, in the working tree or in a commit. A path outside of the repository makes
/// `git diff` read that, whatever it is.
fn named_to_git(word: &Word) -> Option<Word> {
    let Some(text) = word.literal() else { return Some(word.clone()) };
    match text.rsplit_once(':') {
        _ if text.starts_with('-') => None,
        Some((_, path)) if path.starts_with(['/', '(', '!', '^']) || path.is_empty() => None,
        Some((_, path)) => Some(Word::Literal(path.to_owned())),
        None => Some(word.clone()),
    }
}

/// The options of `git` before its subcommand, and what follows them.
pub(super) fn git_options(words: &[Word]) -> (&[Word], &[Word]) {
    let mut at = 0;
    while let Some(option) = words.get(at).and_then(Word::literal).filter(|word| word.starts_with('-')) {
        let takes = matches!(
            option,
            "-C" | "-c"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--config-env"
                | "--exec-path"
                | "--super-prefix"
        );
        at += if takes { 2 } else { 1 };
    }
    words.split_at_checked(at).unwrap_or((words, &[]))
}

/// Addresses that `git` is told; what it does to the repository is judged by its subcommand.
pub(super) fn git(words: &[Word], touches: &mut Touches) -> bool {
    let urls = words.iter().filter_map(Word::literal).filter(|word| {
        word.contains("://")
            || arguments::remote_host(word).is_some_and(|host| word.contains('@') && !host.is_empty())
    });
    touches.hosts.extend(urls.filter_map(|word| match word.contains("://") {
        true => arguments::url_host(&Word::Literal(word.to_owned())),
        false => arguments::remote_host(word).map(str::to_owned),
    }));
    let (Some("clone"), Some(last)) = (words.first().and_then(Word::literal), words.last()) else {
        let only_reads = reads::git_only_reads(words);
        if only_reads {
            touches.reads.extend(words.iter().skip(1).filter_map(named_to_git));
        }
        return only_reads;
    };
    let target = match last.literal() {
        Some(url) if url.contains("://") || url.contains(':') => Word::Literal(".".to_owned()),
        Some(_) | None => last.clone(),
    };
    touches.writes.push(target);
    true
}
