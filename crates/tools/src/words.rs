//! Paths, lengths, numbers and times as they are said to a model.

use std::path::Path;
use std::time::Duration;

pub(crate) use rail_tool::{digits, size};

/// A path from the working folder if it is in it, whole otherwise, so that any tool takes it back.
pub(crate) fn path(path: &Path, cwd: &Path) -> String {
    match path.strip_prefix(cwd) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => rail_tool::shown(below),
        Err(_) => rail_tool::shown(path),
    }
}

/// A number with its word, `1 line`, `2 lines`.
pub(crate) fn count(number: u64, word: &str) -> String {
    count_of(number, word, &format!("{word}s"))
}

/// A number with its word where more than one is another word, `1 match`, `2 matches`.
pub(crate) fn count_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", digits(number), if number == 1 { one } else { many })
}

/// `12 ms`, `75.3 s`.
pub(crate) fn time(took: Duration) -> String {
    match (took.as_secs(), took.subsec_millis() / 100) {
        (0..10, _) => format!("{} ms", took.as_millis()),
        (seconds, 0) => format!("{seconds} s"),
        (seconds, tenths) => format!("{seconds}.{tenths} s"),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn paths_are_short_where_they_can_be() {
        let cases: [(&[u8], &str); 7] = [
            (b"/srv/src/main.rs", "src/main.rs"),
            (b"/srv", "."),
            (b"/srvshop/a", "/srvshop/a"),
            (b"/etc/hosts", "/etc/hosts"),
            ("/srv/größe 1.txt".as_bytes(), "größe 1.txt"),
            (b"/srv/caf\xe9.txt", "caf\\xe9.txt"),
            (b"/srv/two\nlines\x1b", "two\\x0alines\\x1b"),
        ];
        for (given, expected) in cases {
            assert_eq!(path(Path::new(OsStr::from_bytes(given)), Path::new("/srv")), expected);
        }
    }

    #[test]
    fn numbers_are_easy_to_read() {
        let said = [0, 1, 999, 1_234_567].map(|number| count(number, "file"));
        assert_eq!(said, ["0 files", "1 file", "999 files", "1,234,567 files"]);
        assert_eq!([1, 2].map(|number| count_of(number, "match", "matches")), ["1 match", "2 matches"]);
    }

    #[test]
    fn times_are_short() {
        let said = [0, 9_999, 10_040, 75_340, 600_000].map(Duration::from_millis).map(time);
        assert_eq!(said, ["0 ms", "9999 ms", "10 s", "75.3 s", "600 s"]);
    }
}
