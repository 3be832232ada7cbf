use super::{Simple, Word};

/// Variables that change which program runs, what it loads first, or what it starts by itself.
const VARIABLES: &[&str] = &[
    "BASHOPTS",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BASH_XTRACEFD",
    "BROWSER",
    "BUNDLE_GEMFILE",
    "CARGO_HOME",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "COMSPEC",
    "CXX",
    "DOTNET_STARTUP_HOOKS",
    "EDITOR",
    "ENV",
    "EXECIGNORE",
    "FCEDIT",
    "FIGNORE",
    "FPATH",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GLOBIGNORE",
    "GOENV",
    "GOFLAGS",
    "GOPROXY",
    "GREP_OPTIONS",
    "HOME",
    "IFS",
    "INPUTRC",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "LUA_INIT",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "MANPATH",
    "MAVEN_OPTS",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PSModulePath",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFLAGS",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TAR_OPTIONS",
    "TERMINFO",
    "TMPDIR",
    "VISUAL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
/// Beginnings of such variables.
const FAMILIES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "MALLOC_",
    "CARGO_TARGET_",
    "CARGO_BUILD_",
    "npm_config_",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
];
/// Variables of those families that change no program.
const HARMLESS: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_JOBS",
];
/// Values of pagers and editors that run nothing else.
const PLAIN_VALUES: &[(&str, &[&str])] = &[
    ("PAGER", &["", "cat"]),
    ("GIT_PAGER", &["", "cat"]),
    ("MANPAGER", &["", "cat"]),
    ("EDITOR", &["true"]),
    ("GIT_EDITOR", &["true"]),
];
/// Builtins whose arguments name variables.
const SETTERS: &[&str] = &[
    "declare",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "typeset",
    "unset",
];
/// Builtins that, besides those, evaluate an argument once more, as arithmetic or as a name with an index.
const EVALUATORS: &[&str] = &["[", "test", "wait"];

/// The variable that a command sets and that changes what runs, if there is one.
///
/// Seen are assignments before a program, those that `env` and `sudo` take, and builtins such as `export` and `read`.
pub fn influences(simple: &Simple) -> Option<&str> {
    let strong = |name: &str, value: Option<&str>| changes_what_runs(name) && !is_plain(name, value);
    let set = simple.assignments.iter().find(|set| strong(&set.name, set.value.literal()));
    if let Some(set) = set {
        return Some(&set.name);
    }
    let (program, arguments) = simple.words.split_first()?;
    let program = super::program_name(program)?;
    if let Some(unknown) = sets_unknown(program, arguments) {
        return Some(unknown);
    }
    let arguments = arguments.iter().map(|word| match word {
        Word::Literal(text) | Word::Pattern(text) => text.as_str(),
        Word::Dynamic { known, .. } => known.as_str(),
    });
    if SETTERS.contains(&program) {
        let mut arguments = arguments.map(|argument| {
            argument.split_once('=').map_or((argument, None), |(name, value)| (name, Some(value)))
        });
        return arguments.find(|(name, value)| strong(bare(name), *value)).map(|(name, _)| name);
    }
    if matches!(program, "env" | "sudo" | "doas" | "export") {
        let mut set = arguments.filter_map(|argument| argument.split_once('='));
        return set.find(|(name, value)| strong(name, Some(value))).map(|(name, _)| name);
    }
    None
}

/// The word of a builtin that sets a variable whose name is known only when it runs.
fn sets_unknown<'a>(program: &str, arguments: &'a [Word]) -> Option<&'a str> {
    let prints =
        program == "printf" && !arguments.first()?.literal().is_none_or(|option| option.starts_with("-v"));
    if !SETTERS.contains(&program) || prints {
        return None;
    }
    arguments.iter().find_map(|word| match word {
        Word::Dynamic { text, known } if !known.contains('=') => Some(text.as_str()),
        Word::Literal(_) | Word::Pattern(_) | Word::Dynamic { .. } => None,
    })
}

/// A name without the index or sign after it, or the option before it.
fn bare(name: &str) -> &str {
    let name = name.strip_prefix("-v").unwrap_or(name);
    name.split(['[', '+', '-']).next().unwrap_or(name)
}

/// Whether a variable changes which program runs or what it does first.
pub(super) fn changes_what_runs(name: &str) -> bool {
    let family = FAMILIES.iter().any(|family| name.starts_with(family)) && !HARMLESS.contains(&name);
    family || VARIABLES.contains(&name)
}

fn is_plain(name: &str, value: Option<&str>) -> bool {
    let plain = PLAIN_VALUES.iter().find(|(variable, _)| *variable == name);
    plain.zip(value).is_some_and(|((_, values), value)| values.contains(&value))
}

/// Whether a text has a variable in it whose name says that it is a secret, or one that is known only when it runs (`${!x}`).
pub fn names_secret(text: &str) -> bool {
    const MARKS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];
    text.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest).trim_start_matches('#');
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        rest.starts_with('!') && rest.len() > 1 && rest.get(1..2).is_some_and(|c| c != "}")
            || MARKS.iter().any(|mark| name.to_ascii_uppercase().contains(mark))
    })
}

/// Whether a builtin declares variables, and so takes `NAME=(…)`.
pub(super) fn declares(program: &str) -> bool {
    matches!(program, "declare" | "export" | "local" | "readonly" | "typeset")
}

/// Whether a builtin evaluates an argument once more.
pub(super) fn evaluates(program: &str) -> bool {
    SETTERS.contains(&program) || EVALUATORS.contains(&program)
}

/// Whether a text, evaluated once more, would run a command.
pub(super) fn holds_command(text: &str) -> bool {
    text.contains('[') && (text.contains("$(") || text.contains('`'))
}

#[cfg(test)]
mod tests {
    use super::influences;
    use crate::shell::read;

    #[test]
    fn what_changes_what_runs_is_named() {
        let cases = [
            ("PATH=. ls", Some("PATH")),
            ("LD_PRELOAD=./x.so ls", Some("LD_PRELOAD")),
            ("export PATH=$PWD:$PATH", Some("PATH")),
            ("declare -x BASH_ENV=x", Some("BASH_ENV")),
            ("env -i GIT_SSH_COMMAND='sh x' git fetch", Some("GIT_SSH_COMMAND")),
            ("read PATH", Some("PATH")),
            ("printf -v IFS x", Some("IFS")),
            ("BASH_CMDS[ls]=./x", Some("BASH_CMDS")),
            ("export PATH+=:x", Some("PATH")),
            ("GIT_PAGER=cat git log", None),
            ("GIT_PAGER='sh x' git log", Some("GIT_PAGER")),
            ("RUST_LOG=debug cargo test", None),
            ("GIT_AUTHOR_NAME=a git commit", None),
            ("echo PATH=x", None),
            ("export $x", Some("$x")),
            ("declare \"$x=1\"", Some("\"$x=1\"")),
            ("read \"$x\"", Some("\"$x\"")),
            ("printf -v \"$x\" y", Some("\"$x\"")),
            ("printf '%s' \"$x\"", None),
            ("local x=$1", None),
        ];
        for (command, variable) in cases {
            let script = read(command).unwrap();
            assert_eq!(influences(&script.commands[0]).map(super::bare), variable, "{command}");
        }
    }
}
