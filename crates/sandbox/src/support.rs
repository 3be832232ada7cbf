//! What this system can do to confine a command, in honest words.

use std::sync::OnceLock;

use crate::confine::ConfineError;

/// What this system can do to confine a command; where it can't, why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Support {
    /// The version of Landlock's interface.
    pub landlock: Result<u32, String>,
    /// Filters of system calls.
    pub seccomp: Result<(), String>,
    /// Namespaces, by which files are hidden.
    pub namespaces: Result<Namespaces, String>,
}

/// How namespaces are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Namespaces {
    /// By right, as root.
    Direct,
    /// Inside of a user namespace that holds only the own user.
    InUser,
}

/// The first version of Landlock that lets files be moved between folders.
const MOVES: u32 = 2;
/// The first version of Landlock that keeps files from being emptied.
const TRUNCATE: u32 = 3;
/// The first version of Landlock that keeps signals in.
const SIGNALS: u32 = 6;

/// What this system can do. It is tried for real once, with processes that end at once.
pub fn support() -> Support {
    static SUPPORT: OnceLock<Support> = OnceLock::new();
    SUPPORT.get_or_init(probe).clone()
}

#[cfg(target_os = "linux")]
fn probe() -> Support {
    use crate::confine::{landlock, namespaces, seccomp};
    Support { landlock: landlock(), seccomp: seccomp(), namespaces: namespaces() }
}

#[cfg(not(target_os = "linux"))]
fn probe() -> Support {
    let only = |what: &str| format!("{what} is only in Linux");
    Support {
        landlock: Err(only("Landlock")),
        seccomp: Err(only("seccomp")),
        namespaces: Err(only("a mount namespace")),
    }
}

impl Support {
    /// Whether commands can be confined at all, or the error that says what is missing. On macOS they can, by a profile.
    pub fn ready(&self) -> Result<(), ConfineError> {
        if cfg!(target_os = "macos") {
            return Ok(());
        }
        let missing = match (&self.landlock, &self.seccomp, &self.namespaces) {
            (Err(why), _, _) | (_, Err(why), _) => why.clone(),
            (Ok(version), Ok(()), Err(why)) if *version < TRUNCATE => format!(
                "Landlock of this kernel can't keep a command from emptying files (Linux 6.2 or newer is needed), and {why}"
            ),
            (Ok(_), Ok(()), _) => return Ok(()),
        };
        Err(ConfineError::Impossible { missing })
    }

    /// What is to be known before a command is allowed, where this system can't confine it as it should; nothing where it can.
    pub fn lacks(&self) -> Option<String> {
        match (self.ready(), &self.namespaces) {
            (Err(_), _) => Some(self.says()),
            (Ok(()), Err(why)) if cfg!(target_os = "linux") => Some(without_namespaces(why)),
            (Ok(()), _) => None,
        }
    }

    /// What a confined command can't do here, and what it still can: one line for each part, for people.
    pub fn says(&self) -> String {
        if cfg!(target_os = "macos") {
            return String::from(
                "Seatbelt: commands are confined by a profile that was not yet verified on a Mac.",
            );
        }
        if let Err(error) = self.ready() {
            return format!("No sandbox: {error}.");
        }
        let mut lines = String::new();
        let mut line = |part: &str, text: &str| lines.extend([part, ": ", text, ".\n"]);
        if let Ok(version) = &self.landlock {
            let signals = match *version {
                SIGNALS.. => "and signal only one another",
                _ => "but can signal your other processes (Linux 6.12 or newer would stop that)",
            };
            let says = format!(
                "commands write only where they may, reach only harmless devices and trace no other process, {signals}"
            );
            line(&format!("Landlock {version}"), &says);
            if *version < MOVES {
                line(
                    "But",
                    "commands can't move files from one folder to another (Linux 5.19 or newer lets them)",
                );
            }
        }
        line(
            "seccomp",
            "commands make no mounts, load nothing into the kernel and touch neither keys nor clocks",
        );
        match &self.namespaces {
            Ok(kind) => {
                let how = match kind {
                    Namespaces::Direct => "Namespaces",
                    Namespaces::InUser => "Namespaces of an ordinary user",
                };
                line(
                    how,
                    "secret files are hidden; git's hooks and settings stay as they are; modes, owners and times of files outside stay as they are; with the network off, commands meet only themselves on the loopback",
                );
            }
            Err(why) => lines.push_str(&without_namespaces(why)),
        }
        lines.truncate(lines.trim_end().len());
        lines
    }
}

fn without_namespaces(why: &str) -> String {
    format!(
        "No namespaces: {why}: secret files can't be read where commands don't write, but their names can be seen; where commands do write they can't be hidden, so with one in the workspace a command runs only outside of the sandbox, which you are asked about; git's hooks and settings in the workspace can be changed; modes, owners and times of your files can be changed, and shared memory reached; with the network off there is no loopback either, and there are no new terminals."
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn system(landlock: u32, namespaces: Result<Namespaces, String>) -> Support {
        Support { landlock: Ok(landlock), seccomp: Ok(()), namespaces }
    }

    fn none() -> Result<Namespaces, String> {
        Err(String::from("namespaces can't be made here (moving into namespaces of its own: not permitted)"))
    }

    #[test]
    fn says_what_holds() {
        insta::assert_snapshot!(system(7, Ok(Namespaces::InUser)).says(), @"
        Landlock 7: commands write only where they may, reach only harmless devices and trace no other process, and signal only one another.
        seccomp: commands make no mounts, load nothing into the kernel and touch neither keys nor clocks.
        Namespaces of an ordinary user: secret files are hidden; git's hooks and settings stay as they are; modes, owners and times of files outside stay as they are; with the network off, commands meet only themselves on the loopback.
        ");
        insta::assert_snapshot!(system(4, none()).says(), @"
        Landlock 4: commands write only where they may, reach only harmless devices and trace no other process, but can signal your other processes (Linux 6.12 or newer would stop that).
        seccomp: commands make no mounts, load nothing into the kernel and touch neither keys nor clocks.
        No namespaces: namespaces can't be made here (moving into namespaces of its own: not permitted): secret files can't be read where commands don't write, but their names can be seen; where commands do write they can't be hidden, so with one in the workspace a command runs only outside of the sandbox, which you are asked about; git's hooks and settings in the workspace can be changed; modes, owners and times of your files can be changed, and shared memory reached; with the network off there is no loopback either, and there are no new terminals.
        ");
        insta::assert_snapshot!(system(1, Ok(Namespaces::Direct)).says(), @"
        Landlock 1: commands write only where they may, reach only harmless devices and trace no other process, but can signal your other processes (Linux 6.12 or newer would stop that).
        But: commands can't move files from one folder to another (Linux 5.19 or newer lets them).
        seccomp: commands make no mounts, load nothing into the kernel and touch neither keys nor clocks.
        Namespaces: secret files are hidden; git's hooks and settings stay as they are; modes, owners and times of files outside stay as they are; with the network off, commands meet only themselves on the loopback.
        ");
        insta::assert_snapshot!(system(2, none()).says(), @"No sandbox: commands can't be confined on this system: Landlock of this kernel can't keep a command from emptying files (Linux 6.2 or newer is needed), and namespaces can't be made here (moving into namespaces of its own: not permitted); with `--sandbox off` they run with all your rights, each one asked for.");
    }

    #[test]
    fn what_is_missing_is_said_and_nothing_else() {
        assert_eq!(system(7, Ok(Namespaces::InUser)).lacks(), None);
        let lacks = system(7, none()).lacks().unwrap();
        assert!(
            lacks.starts_with("No namespaces: ") && system(7, none()).says().ends_with(&lacks),
            "{lacks}"
        );
        let lacks = system(2, none()).lacks().unwrap();
        assert!(lacks.starts_with("No sandbox: "), "{lacks}");
    }

    #[test]
    fn ready_only_if_writes_are_kept_in() {
        let missing = || Err(String::from("missing"));
        let ready = |support: Support| support.ready().is_ok();
        assert!(ready(system(7, Ok(Namespaces::Direct))));
        assert!(ready(system(3, none())));
        assert!(ready(system(1, Ok(Namespaces::InUser))));
        assert!(!ready(system(2, none())));
        assert!(!ready(Support { landlock: missing().map(|()| 0), ..system(7, Ok(Namespaces::Direct)) }));
        assert!(!ready(Support { seccomp: missing(), ..system(7, Ok(Namespaces::Direct)) }));
    }
}
