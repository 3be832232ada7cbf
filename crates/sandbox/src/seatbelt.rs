//! Profiles for macOS's Seatbelt. They follow what other programs are known to use; they were not yet verified on a Mac.
//!
//! The order matters: of the rules that fit, the last one counts.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::{Network, Shape};

/// The program that starts another one under a profile.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Devices that hold nothing and steer nothing.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper"];

/// The profile of a shape, in Seatbelt's own language. Paths should be true names, without links: `/tmp` is a link there.
pub fn profile(shape: &Shape) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n");
    let Shape::Confined { writable, kept, hidden, network } = shape else { return text };
    let mut line = |rule: String| text.extend([rule.as_str(), "\n"]);
    line(String::from("(deny file-write*)"));
    for device in DEVICES {
        line(format!("(allow file-write-data file-ioctl (literal {}))", quoted(Path::new(device))));
    }
    line(String::from("(allow file-write-data file-ioctl (regex #\"^/dev/ttys[0-9]+$\"))"));
    for path in writable {
        line(format!("(allow file-write* (subpath {}))", quoted(path)));
    }
    for path in kept {
        let path = quoted(path);
        line(format!("(deny file-write* (subpath {path}))"));
        line(format!("(deny file-write-unlink (path-ancestors {path}))"));
    }
    line(String::from("(deny file-write-create (vnode-type CHARACTER-DEVICE) (vnode-type BLOCK-DEVICE))"));
    for path in hidden {
        let path = quoted(path);
        line(format!("(deny file-read* file-write* (subpath {path}))"));
        // Whoever moves the folder around it would give it another name.
        line(format!("(deny file-write-unlink (path-ancestors {path}))"));
    }
    line(String::from("(deny signal)\n(allow signal (target same-sandbox))\n(deny mach-priv-task-port)"));
    match network {
        // Also the loopback and Unix sockets, behind which other programs of this machine listen.
        Network::Off => line(String::from("(deny network*)")),
        Network::On => {}
    }
    text
}

/// The program and arguments that start this one under the profile of the shape; a free shape leaves them as they are.
pub fn command(shape: &Shape, program: &OsStr, args: &[OsString]) -> (OsString, Vec<OsString>) {
    match shape {
        Shape::Free => (program.into(), args.to_vec()),
        Shape::Confined { .. } => {
            let mut all =
                vec![OsString::from("-p"), profile(shape).into(), OsString::from("--"), program.into()];
            all.extend_from_slice(args);
            (PROGRAM.into(), all)
        }
    }
}

/// A path as a string of the profile's language: it ends only where it should, whatever the name holds.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for c in path.to_string_lossy().chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    fn confined(writable: &[&str], hidden: &[&str], network: Network) -> Shape {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        Shape::Confined { writable: paths(writable), kept: Vec::new(), hidden: paths(hidden), network }
    }

    #[test]
    fn a_profile_writes_in_its_places_only() {
        let shape = confined(&["/Users/me/work", "/private/tmp"], &["/Users/me/.ssh"], Network::Off);
        insta::assert_snapshot!(profile(&shape), @r##"
        (version 1)
        (allow default)
        (deny file-write*)
        (allow file-write-data file-ioctl (literal "/dev/null"))
        (allow file-write-data file-ioctl (literal "/dev/zero"))
        (allow file-write-data file-ioctl (literal "/dev/random"))
        (allow file-write-data file-ioctl (literal "/dev/urandom"))
        (allow file-write-data file-ioctl (literal "/dev/tty"))
        (allow file-write-data file-ioctl (literal "/dev/ptmx"))
        (allow file-write-data file-ioctl (literal "/dev/dtracehelper"))
        (allow file-write-data file-ioctl (regex #"^/dev/ttys[0-9]+$"))
        (allow file-write* (subpath "/Users/me/work"))
        (allow file-write* (subpath "/private/tmp"))
        (deny file-write-create (vnode-type CHARACTER-DEVICE) (vnode-type BLOCK-DEVICE))
        (deny file-read* file-write* (subpath "/Users/me/.ssh"))
        (deny file-write-unlink (path-ancestors "/Users/me/.ssh"))
        (deny signal)
        (allow signal (target same-sandbox))
        (deny mach-priv-task-port)
        (deny network*)
        "##);
        insta::assert_snapshot!(profile(&confined(&[], &[], Network::On)), @r##"
        (version 1)
        (allow default)
        (deny file-write*)
        (allow file-write-data file-ioctl (literal "/dev/null"))
        (allow file-write-data file-ioctl (literal "/dev/zero"))
        (allow file-write-data file-ioctl (literal "/dev/random"))
        (allow file-write-data file-ioctl (literal "/dev/urandom"))
        (allow file-write-data file-ioctl (literal "/dev/tty"))
        (allow file-write-data file-ioctl (literal "/dev/ptmx"))
        (allow file-write-data file-ioctl (literal "/dev/dtracehelper"))
        (allow file-write-data file-ioctl (regex #"^/dev/ttys[0-9]+$"))
        (deny file-write-create (vnode-type CHARACTER-DEVICE) (vnode-type BLOCK-DEVICE))
        (deny signal)
        (allow signal (target same-sandbox))
        (deny mach-priv-task-port)
        "##);
    }

    #[test]
    fn a_command_stands_behind_its_profile() {
        let args = [OsString::from("-p"), OsString::from("x")];
        assert_eq!(command(&Shape::Free, OsStr::new("mkdir"), &args), ("mkdir".into(), args.to_vec()));
        let shape = confined(&[], &[], Network::On);
        let words = ["-p", &profile(&shape), "--", "mkdir", "-p", "x"].map(OsString::from);
        assert_eq!(command(&shape, OsStr::new("mkdir"), &args), (PROGRAM.into(), words.to_vec()));
    }

    /// Reads a string of the profile's language, and gives what stands behind it.
    fn read(text: &str) -> Option<(String, &str)> {
        let mut chars = text.strip_prefix('"')?.chars();
        let mut value = String::new();
        loop {
            match chars.next()? {
                '"' => return Some((value, chars.as_str())),
                '\\' => value.push(match chars.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    c => c,
                }),
                c => value.push(c),
            }
        }
    }

    proptest! {
        #[test]
        fn a_path_can_t_end_its_string(path in any::<String>()) {
            let quoted = quoted(Path::new(&path));
            prop_assert!(!quoted.contains('\n'));
            prop_assert_eq!(read(&quoted), Some((path, "")));
        }

        #[test]
        fn a_hostile_path_adds_no_rule(path in "[\"\\\\()\n ;a]{0,20}") {
            let plain = profile(&confined(&["x"], &["y"], Network::Off));
            let hostile = profile(&confined(&[&path], &["y"], Network::Off));
            prop_assert_eq!(plain.lines().count(), hostile.lines().count());
        }
    }
}
