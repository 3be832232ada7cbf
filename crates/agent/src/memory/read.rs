//! One memory file, read once for each time that it changes.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_tool::{FileFault, Opened};

use super::NotRead;

/// The most that is read of one file.
pub(super) const LONGEST: u64 = 64 << 10;

/// The files that were read, by the path that they were asked for.
#[derive(Debug, Default)]
pub(super) struct Reader {
    kept: BTreeMap<PathBuf, (Stamp, Text)>,
}

/// By what a changed file is told.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Stamp {
    device: u64,
    node: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What a memory file holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Text {
    /// Its path, links resolved.
    pub(super) real: PathBuf,
    /// The text, without a byte order mark and without blanks at its ends.
    pub(super) text: Arc<str>,
    /// What is not as it stands there.
    pub(super) flaws: Vec<NotRead>,
}

impl Reader {
    /// What a file holds, if its real path is one that may be read.
    pub(super) fn read(
        &mut self,
        path: &Path,
        refuses: &dyn Fn(&Path) -> Option<NotRead>,
    ) -> Result<Text, NotRead> {
        // The look by name is cheap; what counts is looked at again once the file is open.
        let meta = path.metadata().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => NotRead::Missing,
            _ => NotRead::Refused(error.to_string()),
        })?;
        if let Some((stamp, text)) = self.kept.get(path)
            && *stamp == Stamp::of(&meta)
        {
            return refuses(&text.real).map_or_else(|| Ok(text.clone()), Err);
        }
        let opened =
            Opened::if_real(path, |real| refuses(real).is_none()).map_err(|fault| of(fault, refuses))?;
        let text = text_of(&opened).map_err(|error| NotRead::Refused(error.to_string()))?;
        self.kept.insert(path.to_owned(), (Stamp::of(&opened.meta), text.clone()));
        Ok(text)
    }
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            node: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

fn of(fault: FileFault, refuses: &dyn Fn(&Path) -> Option<NotRead>) -> NotRead {
    match fault {
        FileFault::Missing { .. } => NotRead::Missing,
        FileFault::Folder { .. } | FileFault::Special { .. } => NotRead::NoFile,
        FileFault::Denied { real, .. } => refuses(&real).unwrap_or(NotRead::Outside { real }),
        FileFault::System { cause, .. } => NotRead::Refused(cause.to_string()),
        fault @ (FileFault::TooLarge { .. } | FileFault::ReadOnly { .. } | FileFault::Changed { .. }) => {
            NotRead::Refused(fault.to_string())
        }
    }
}

fn text_of(opened: &Opened) -> std::io::Result<Text> {
    let mut bytes = Vec::new();
    // One byte more tells whether there is more than that.
    (&opened.file).take(LONGEST + 1).read_to_end(&mut bytes)?;
    let mut flaws = Vec::new();
    let is_cut = bytes.len() as u64 > LONGEST;
    if is_cut {
        bytes.truncate(whole_lines(&bytes));
        flaws.push(NotRead::Cut { read: bytes.len() as u64, all: opened.meta.len().max(LONGEST + 1) });
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        flaws.push(NotRead::NoText);
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    let text = text.trim_start_matches('\u{feff}').trim();
    let end = if is_cut { "\n[The file goes on; read it for the rest.]" } else { "" };
    Ok(Text { real: opened.real.clone(), text: format!("{text}{end}").into(), flaws })
}

/// Where the last line that was read as a whole ends; without one, the last character.
fn whole_lines(bytes: &[u8]) -> usize {
    let most = usize::try_from(LONGEST).unwrap_or(usize::MAX).min(bytes.len());
    let head = bytes.get(..most).unwrap_or_default();
    let line = head.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    line.unwrap_or_else(|| {
        let cut = head.utf8_chunks().last().map_or(0, |last| last.invalid().len());
        most - if cut < 4 { cut } else { 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("AGENTS.md");
        std::fs::write(&path, "first").unwrap();
        let mut reader = Reader::default();
        let mut read = || reader.read(&path, &|_| None).unwrap().text;
        let first = read();
        assert!(Arc::ptr_eq(&first, &read()), "it was read again");
        std::fs::write(&path, "second").unwrap();
        let second = read();
        assert_eq!((&*first, &*second), ("first", "second"));
        // What may be read is asked each time.
        let no_file = |_: &Path| Some(NotRead::NoFile);
        assert_eq!(reader.read(&path, &no_file), Err(NotRead::NoFile));
    }

    #[test]
    fn a_long_file_is_cut_at_a_line_or_a_character() {
        let long = usize::try_from(LONGEST).unwrap();
        for (bytes, expected) in [
            ("a".repeat(long + 1), long),
            (format!("{}\n{}", "a".repeat(10), "b".repeat(long)), 11),
            (format!("a{}", "\u{e4}".repeat(long)), long - 1),
            (String::new(), 0),
        ] {
            let head: Vec<u8> = bytes.bytes().take(long + 1).collect();
            assert_eq!(whole_lines(&head), expected);
        }
    }
}
