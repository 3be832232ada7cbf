use super::Word;
use super::programs::Program;

/// The arguments of a program, told apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Arguments {
    /// Each option, a letter or a long name, with its value.
    pub(super) options: Vec<(String, Option<Word>)>,
    /// The rest.
    pub(super) operands: Vec<Word>,
}

impl Arguments {
    /// The values of these options.
    pub(super) fn values(&self, names: &[&str]) -> Vec<Word> {
        let given = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        given.filter_map(|(_, value)| value.clone()).collect()
    }

    /// Whether one of these options was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Texts of scripts: the values of these options, or the first operand; an unknown one is empty text with a mark.
    pub(super) fn scripts<'a>(&'a self, options: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let given = self
            .options
            .iter()
            .filter(|(name, _)| options.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_ref());
        let own = if given.clone().next().is_none() { self.operands.first() } else { None };
        given.chain(own).map(|word| word.literal().unwrap_or("$("))
    }
}

/// Tells options, their values and operands apart; an option that is not known is taken to stand alone.
pub(super) fn read(program: &Program, words: &[Word]) -> Arguments {
    let valued = |name: &str| {
        [program.valued, program.brings, program.reads, program.writes]
            .iter()
            .any(|list| list.contains(&name))
    };
    let mut all = Arguments::default();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = match word {
            Word::Literal(text) | Word::Pattern(text) | Word::Dynamic { known: text, .. } => text,
        };
        if word.literal() == Some("--") {
            all.operands.extend_from_slice(after);
            break;
        }
        let mut take = |name: &str, all: &mut Arguments| match rest.split_first() {
            Some((value, after)) => {
                all.options.push((name.to_owned(), Some(value.clone())));
                rest = after;
            }
            None => all.options.push((name.to_owned(), None)),
        };
        match (text.strip_prefix("--"), text.strip_prefix('-').filter(|letters| !letters.is_empty())) {
            (Some(long), _) => match long.split_once('=') {
                Some((name, _)) => {
                    all.options.push((name.to_owned(), after_prefix(word, &format!("--{name}="))))
                }
                None if valued(long) => take(long, &mut all),
                None => all.options.push((long.to_owned(), None)),
            },
            (None, Some(letters)) => {
                for (at, letter) in letters.char_indices() {
                    let name = letter.to_string();
                    let until = 1 + at + letter.len_utf8();
                    if !valued(&name) {
                        all.options.push((name, None));
                    } else if let Some(value) = text
                        .get(..until)
                        .and_then(|before| after_prefix(word, before))
                        .filter(|value| *value != Word::Literal(String::new()))
                    {
                        all.options.push((name, Some(value)));
                        break;
                    } else {
                        take(&name, &mut all);
                        break;
                    }
                }
            }
            (None, None) => all.operands.push(word.clone()),
        }
    }
    all
}

/// What a word is after a known beginning.
pub(super) fn after_prefix(word: &Word, prefix: &str) -> Option<Word> {
    Some(match word {
        Word::Literal(text) => Word::Literal(text.strip_prefix(prefix)?.to_owned()),
        Word::Pattern(text) => Word::Pattern(text.strip_prefix(prefix)?.to_owned()),
        Word::Dynamic { text, known } => {
            let known = known.strip_prefix(prefix)?.to_owned();
            Word::Dynamic { text: text.strip_prefix(prefix).unwrap_or(text).to_owned(), known }
        }
    })
}

/// The host of `user@host:port`, without the rest.
pub(super) fn host(text: &str) -> &str {
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host);
    text.split([':', '/', '?', '#']).next().unwrap_or(text)
}

/// The host of a URL; one without a scheme is taken for `http`.
pub(super) fn url_host(word: &Word) -> Option<String> {
    let text = match word {
        Word::Literal(text) | Word::Pattern(text) => text,
        // `https://host/$path` names its host, `https://$host` does not.
        Word::Dynamic { known, .. } => {
            known.split_once("://").filter(|(_, rest)| rest.contains('/')).map(|_| known)?
        }
    };
    let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or(six),
        None => host.split(':').next().unwrap_or(host),
    };
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The host of `host:path`, as `scp` and `git` write it.
pub(super) fn remote_host(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(':')?;
    let name = before.rsplit_once('@').map_or(before, |(_, host)| host);
    (!before.is_empty() && !before.contains('/')).then_some(name)
}

/// The host of `/dev/tcp/host/port`, which the shell opens as a connection.
pub(super) fn socket_host(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    rest.split('/').next()
}

/// Whether a `sed` script only prints, deletes or replaces.
pub(super) fn is_plain_sed(script: &str) -> bool {
    let addressed =
        script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!' | '~'));
    if matches!(addressed, "p" | "d" | "q" | "=" | "$p") {
        return true;
    }
    // `s/a/b/g`: its flags must not run (`e`) or write (`w`).
    let mut chars = addressed.chars();
    let (Some('s' | 'y'), Some(sign)) = (chars.next(), chars.next()) else { return false };
    let parts: Vec<&str> = chars.as_str().split(sign).collect();
    let plain = !script.contains(['\\', '\n', ';', '{']) && sign.is_ascii_punctuation();
    plain
        && parts.len() == 3
        && parts.last().is_some_and(|flags| flags.chars().all(|c| c.is_ascii_digit() || "gpiIm".contains(c)))
}

/// Whether an `awk` program only reads its input.
pub(super) fn is_plain_awk(script: &str) -> bool {
    // By the last ones it names files that are not among its arguments, or its functions and variables by a text.
    const MORE: &[&str] = &[
        "system", "getline", "|", ">", "close", "@", "ENVIRON", "$(", "ARGV", "ARGC", "SYMTAB", "FUNCTAB",
        "PROCINFO",
    ];
    !MORE.iter().any(|sign| script.contains(sign))
}
