//! Programs that fill a screen and wait for keys.

use super::{RedirectKind, Simple, Word, program_name, read};

/// A program that waits for somebody at a terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NeedsTerminal {
    /// Its name.
    pub program: String,
    /// What to do instead, as a sentence in which names of tools and parameters are marked, `‹read_file›`: models know them by
    /// different ones.
    pub instead: &'static str,
}

const EDIT: &str = "Change files with ‹edit_file› or ‹write_file›, or by a command that is told what to do, such as `sed -i`";
const LOOK: &str = "Read files with ‹read_file› or `cat`";
const ONCE: &str = "Run the command itself, once, or in a loop that ends";
const STATE: &str = "Use `ps`, `free` or `top -bn1`";
const PLAIN: &str = "Use a program that prints what it finds and ends, such as `ls`, `git log` or `git diff`";
const SHELL: &str = "Run the command itself; for one that goes on, ‹run_in_background›";

/// Programs, what to do instead, and beginnings of arguments with which they do their work and end.
const PROGRAMS: &[(&[&str], &str, &[&str])] = &[
    (
        &["vi", "vim", "nvim", "vimdiff", "nvi", "vim.tiny", "vim.basic"],
        EDIT,
        &["-c", "-e", "-E", "-s", "-S", "+", "--cmd", "--version", "--help", "-h"],
    ),
    (&["view"], LOOK, &["-c", "-e", "-E", "-s", "-S", "+", "--cmd", "--version", "--help"]),
    (&["emacs"], EDIT, &["--batch", "-batch", "--script", "--version", "--help", "--daemon"]),
    (
        &["nano", "pico", "micro", "joe", "mcedit", "hx", "helix", "kak"],
        EDIT,
        &["--version", "-V", "--help", "-h"],
    ),
    (
        &["watch"],
        ONCE,
        &["--version", "-v", "--help", "-h", "-g", "--chgexit", "-e", "--errexit", "-q", "--equexit"],
    ),
    (
        &["htop", "btop", "atop", "glances", "nvtop"],
        STATE,
        &["--version", "-V", "--help", "-h", "-P", "--stdout"],
    ),
    (
        &["mc", "ranger", "nnn", "lf", "tig", "lazygit", "gitui", "lazydocker", "k9s", "ncdu"],
        PLAIN,
        &["--version", "-v", "-V", "--help", "-h", "version"],
    ),
    (
        &["script"],
        SHELL,
        &["-c", "--command", "-qc", "-ec", "-qec", "-qefc", "--version", "--help", "-V", "-h"],
    ),
];

/// The program of a command that would wait for keys that nobody presses. What can't be read is not looked at.
pub fn needs_terminal(command: &str) -> Option<NeedsTerminal> {
    let script = read(command).ok()?;
    script.commands.iter().find_map(waits)
}

fn waits(simple: &Simple) -> Option<NeedsTerminal> {
    let (first, arguments) = simple.words.split_first()?;
    let program = program_name(first)?;
    let (_, instead, working) = PROGRAMS.iter().find(|(names, _, _)| names.contains(&program))?;
    // Keys that come from a pipe or a file may end it.
    let feeds = |file: &Word| file.literal() != Some("/dev/null");
    let fed = simple.place.piped_from.is_some()
        || simple
            .redirects
            .iter()
            .any(|redirect| redirect.kind == RedirectKind::Read && feeds(&redirect.file));
    let works =
        |word: &Word| word.literal().is_none_or(|word| working.iter().any(|begin| word.starts_with(begin)));
    (!fed && !arguments.iter().any(works)).then(|| NeedsTerminal { program: program.to_owned(), instead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_wait_for_keys() {
        for (command, expected) in [
            ("vi f", Some("vi")),
            ("cd x && /usr/bin/vim f g", Some("vim")),
            ("timeout 5 nano f", Some("nano")),
            ("vi f < /dev/null", Some("vi")),
            ("watch ls", Some("watch")),
            ("htop", Some("htop")),
            ("script", Some("script")),
            ("bash -c 'vi f'", Some("vi")),
            ("vim -es -c '%s/a/b/' -c wq f", None),
            ("vim -c wq f", None),
            ("vim +wq f", None),
            ("vim --version", None),
            ("printf ':wq\\n' | vi f", None),
            ("vi f < keys", None),
            ("vi f <<< ':wq'", Some("vi")),
            ("emacs --batch -l x.el", None),
            ("echo vi", None),
            ("which vi", None),
            ("less f", None),
            ("man ls", None),
            ("script -qec ls out", None),
            ("vi $x", None),
            ("vi '", None),
        ] {
            assert_eq!(needs_terminal(command).map(|it| it.program).as_deref(), expected, "{command}");
        }
    }
}
