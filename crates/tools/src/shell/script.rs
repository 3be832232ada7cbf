use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest command that is passed as an argument; the system takes none of 128 KiB.
const LONGEST_ARGUMENT: usize = 96 * 1024;

/// Runs the command that it is given (`$1`, or what the file `$3` holds) and reports to the file `$2` the folder it ended in.
///
/// The report is written behind the command, and once more when the shell exits: a command may exit in the middle, and may have an
/// exit trap of its own, which takes the place of ours. The last report counts. Everything is on one line, so that the shell counts
/// the lines of the command from 1.
const WRAPPER: &str = concat!(
    r#"case $# in 3) __rail=$(cat <$3);; *) __rail=$1;; esac; "#,
    r#"trap "{ set +x; command pwd -P || :; printf '\\0'; } >$2 2>/dev/null" EXIT; "#,
    r#"__rail_report=$2; set --; eval "$__rail"; "#,
    r#"{ __rail=$?; set +x; command pwd -P || :; printf '\0'; } >$__rail_report 2>/dev/null; exit $__rail"#,
);

/// How a shell is told to run a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Script {
    /// The shell's arguments; the names of the files for the report and for what is fed come behind them.
    pub(crate) args: Vec<OsString>,
    /// The command, if it is too long for an argument.
    pub(crate) fed: Option<Vec<u8>>,
}

/// Where a command left its shell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Folder {
    /// Nobody said so: the shell was replaced or killed.
    Unknown,
    /// In a folder that is gone.
    Gone,
    /// Here.
    At(PathBuf),
}

impl Script {
    pub(crate) fn new(command: &str) -> Self {
        let (argument, fed) = if command.len() <= LONGEST_ARGUMENT {
            (command, None)
        } else {
            ("", Some(command.as_bytes().to_vec()))
        };
        Self { args: ["-c", WRAPPER, "bash", argument].map(OsString::from).to_vec(), fed }
    }
}

impl Folder {
    /// Reads a shell's report: paths that end with a new line and a NUL, of which the last counts.
    pub(crate) fn of(report: &[u8]) -> Self {
        let Some(last) = report.split(|byte| *byte == 0).rev().nth(1) else { return Self::Unknown };
        let path = last.strip_suffix(b"\n").unwrap_or(last);
        if path.first() == Some(&b'/') {
            Self::At(PathBuf::from(OsStr::from_bytes(path)))
        } else {
            Self::Gone
        }
    }
}

/// The shell that runs commands: bash where the search path or the usual places have it, else `sh`. Places that depend on the
/// working folder do not count: whoever writes there would be the shell.
pub(crate) fn shell(path: Option<&OsStr>, exists: impl Fn(&Path) -> bool) -> PathBuf {
    let folders = std::env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
    let usual = ["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from);
    let bash = folders.chain(usual).map(|folder| folder.join("bash")).find(|bash| exists(bash));
    bash.unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_report_says_where_a_command_ended() {
        for (report, expected) in [
            (&b""[..], Folder::Unknown),
            (b"/half", Folder::Unknown),
            (b"/a\n\0", Folder::At("/a".into())),
            (b"/a\n\0/b\n\0", Folder::At("/b".into())),
            (b"/a\n\0\0", Folder::Gone),
            (b"\n\0", Folder::Gone),
            (b"/with\nlines\n\n\0", Folder::At("/with\nlines\n".into())),
            (b"/\xff\n\0", Folder::At(OsStr::from_bytes(b"/\xff").into())),
        ] {
            assert_eq!(Folder::of(report), expected, "{report:?}");
        }
    }

    #[test]
    fn the_shell_is_bash_where_there_is_one() {
        for (path, there, expected) in [
            ("/a:/b", &["/b/bash", "/bin/bash"][..], "/b/bash"),
            (".:bin:/a", &["./bash", "bin/bash", "/a/bash"], "/a/bash"),
            ("/a", &["/usr/bin/bash"], "/usr/bin/bash"),
            ("", &["/bin/bash"], "/bin/bash"),
            ("/a", &[], "/bin/sh"),
        ] {
            let exists = |file: &Path| there.iter().any(|there| Path::new(there) == file);
            assert_eq!(shell(Some(OsStr::new(path)), exists), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_long_command_is_fed() {
        let long = "x".repeat(LONGEST_ARGUMENT + 1);
        let script = Script::new(&long);
        assert_eq!((script.args[3].len(), script.fed.unwrap().len()), (0, long.len()));
        assert_eq!(Script::new("ls").args[3], "ls");
    }

    proptest! {
        #[test]
        fn any_report_is_read(report in proptest::collection::vec(any::<u8>(), 0..60)) {
            Folder::of(&report);
        }

        #[test]
        fn a_folder_is_read_back(folder in "/[^\0]{0,20}", before in "[^\0]{0,9}") {
            let report = format!("{before}\0{folder}\n\0");
            prop_assert_eq!(Folder::of(report.as_bytes()), Folder::At(folder.into()));
        }
    }
}
