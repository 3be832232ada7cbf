use std::collections::BTreeSet;

use super::super::text::Dialect;
use super::super::wrapped::{self, Inner};
use super::super::{Simple, Word, arguments, program_name};
use super::{Finding, Seen, ask};

/// Programs that bring something from the network.
const NETWORK: &[&str] = &[
    "aria2c",
    "curl",
    "fetch",
    "ftp",
    "http",
    "https",
    "lwp-request",
    "lynx",
    "nc",
    "ncat",
    "netcat",
    "scp",
    "sftp",
    "socat",
    "ssh",
    "telnet",
    "w3m",
    "wget",
    "xh",
];
/// Interpreters besides the shells, by the beginning of their names.
const INTERPRETERS: &[&str] =
    &["bun", "deno", "fish", "lua", "node", "osascript", "perl", "php", "pwsh", "python", "ruby", "tclsh"];

/// A script that an interpreter gets through a pipe.
pub(super) fn into_interpreter(seen: &Seen<'_>) -> Option<Finding> {
    let shell = wrapped::is_shell(seen.program);
    if !shell && !is_interpreter(seen.program) || !reads_script(seen) {
        return None;
    }
    let feeders = feeders(seen);
    let from = |names: &[&str]| {
        feeders.iter().any(|simple| {
            simple.words.first().and_then(program_name).is_some_and(|program| names.contains(&program))
        })
    };
    if from(NETWORK) {
        return ask("runs what comes from the network");
    }
    if shell && !feeders.is_empty() {
        return ask("runs what comes through a pipe as a script");
    }
    (shell && !is_fed(seen)).then(|| ask("runs a script that is known only when it runs")).flatten()
}

fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.iter().any(|name| {
        program
            .strip_prefix(name)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | 'w')))
    })
}

/// Whether it gets its script from its input.
fn reads_script(seen: &Seen<'_>) -> bool {
    if wrapped::is_shell(seen.program) {
        let inner = wrapped::wrapped(&seen.simple.words, Dialect::Bash).unwrap_or_default();
        return inner.iter().any(|inner| matches!(inner, Inner::Input(_)));
    }
    let inline = seen.literals().any(|word| matches!(word, "-c" | "-e" | "-m" | "-r" | "-p" | "--eval"));
    let named = seen.literals().any(|word| matches!(word, "-" | "/dev/stdin"));
    named || (!inline && seen.operands().is_empty())
}

/// Whether the script that a shell reads stands in the command, and so among the commands after it.
fn is_fed(seen: &Seen<'_>) -> bool {
    let outer = &seen.simple.place.wrappers;
    let inner = |simple: &Simple| {
        let rest = simple.place.wrappers.strip_prefix(outer.as_slice());
        rest.and_then(<[_]>::first).is_some_and(|wrapper| wrapper.program == seen.program)
    };
    seen.script.commands.iter().skip(seen.index + 1).any(inner)
}

/// The commands whose output comes to this one through pipes.
fn feeders<'a>(seen: &Seen<'a>) -> Vec<&'a Simple> {
    let commands = &seen.script.commands;
    let mut indices = BTreeSet::new();
    let (mut end, mut from) = (seen.index, seen.simple.place.piped_from);
    while let Some(start) = from.filter(|start| *start < end) {
        indices.extend(start..end);
        from = commands.get(start).and_then(|simple| simple.place.piped_from);
        end = start;
    }
    indices.into_iter().filter_map(|index| commands.get(index)).collect()
}

/// `bash <(curl …)`, `eval "$(wget …)"`, `python -c "$(curl …)"`
pub(super) fn script_in_words(seen: &Seen<'_>) -> Option<Finding> {
    let runs = wrapped::is_shell(seen.program)
        || is_interpreter(seen.program)
        || matches!(seen.program, "eval" | "source" | "." | "su" | "xargs" | "trap");
    if !runs {
        return None;
    }
    let within = |simple: &&Simple| {
        simple.place.substituted
            && simple.source.start >= seen.simple.source.start
            && simple.source.end <= seen.simple.source.end
    };
    let mut inner = seen.script.commands.iter().skip(seen.index + 1).filter(within);
    let network = inner.any(|simple| {
        simple.words.first().and_then(program_name).is_some_and(|program| NETWORK.contains(&program))
    });
    network.then(|| ask("runs what comes from the network")).flatten()
}

/// A script that is known only when it runs.
pub(super) fn unknown_script(seen: &Seen<'_>) -> Option<Finding> {
    let inner = wrapped::wrapped(&seen.simple.words, Dialect::Bash).unwrap_or_default();
    if inner.contains(&Inner::Unknown) {
        return ask("runs a script that is known only when it runs");
    }
    let added = seen.simple.place.wrappers.last().is_some_and(|wrapper| wrapper.adds_arguments);
    if added
        && wrapped::is_wrapper(seen.program)
        && inner.iter().all(|inner| matches!(inner, Inner::Input(_)))
    {
        return ask("runs a command that another program names");
    }
    None
}

/// Connections that the shell or a program opens and gives to a shell.
pub(super) fn sockets(seen: &Seen<'_>) -> Option<Finding> {
    let socket = |word: &Word| match word {
        Word::Literal(path) | Word::Pattern(path) | Word::Dynamic { known: path, .. } => {
            arguments::socket_host(path).is_some()
                || path.starts_with("/dev/tcp")
                || path.starts_with("/dev/udp")
        }
    };
    if seen.simple.redirects.iter().any(|redirect| socket(&redirect.file)) {
        return ask("opens a connection from the shell");
    }
    let runs = match seen.program {
        "nc" | "ncat" | "netcat" => seen.has("ec", &["exec", "sh-exec"]),
        "socat" => seen.arguments.iter().any(|word| {
            let text = word.shown().to_ascii_lowercase();
            text.contains("exec:") || text.contains("system:") || text.contains("shell:")
        }),
        _ => false,
    };
    runs.then(|| ask("gives a shell to a connection")).flatten()
}
