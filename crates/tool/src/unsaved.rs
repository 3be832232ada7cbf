//! Files by way of an editor: what is not saved is read, and what is written is in its buffers at once.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::writing::before;
use crate::{Buffers, Expected, FileFault, Files, Opened};

/// The largest text that an editor is asked about.
const LARGEST: u64 = 8 << 20;

/// The editor's texts of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Unsaved {
    pub(crate) buffers: Arc<dyn Buffers>,
    /// The workspace, links resolved: nothing else is the editor's business.
    pub(crate) workspace: PathBuf,
}

impl Files {
    /// As [`open`](Files::open), but of a text that an editor has open and not saved, what it says there.
    ///
    /// # Errors
    /// As of [`open`](Files::open).
    pub fn open_current(&self, path: &Path) -> Result<Opened, FileFault> {
        let opened = self.open(path)?;
        let Some(text) = self.unsaved(&opened) else { return Ok(opened) };
        match held(text.as_bytes()) {
            Ok(file) => Ok(Opened { file, ..opened }),
            // Without a place for it the disk counts.
            Err(_) => Ok(opened),
        }
    }

    /// What an editor has of an open file, where that is something else than the disk has.
    pub(crate) fn unsaved(&self, opened: &Opened) -> Option<String> {
        let editor = self.editor.as_ref().filter(|editor| opened.real.starts_with(&editor.workspace))?;
        let disk = whole(&opened.file)?;
        let disk = plain(&disk)?;
        let text = editor.buffers.read(&opened.real)?;
        let is_text = plain(text.as_bytes()).is_some() && text.len() as u64 <= LARGEST;
        (is_text && text != disk).then_some(text)
    }

    /// Has an editor replace a file; nothing where it is none of its business, or it can't: then the disk is written.
    pub(crate) fn by_editor(
        &self,
        path: &Path,
        bytes: &[u8],
        expected: Expected<'_>,
    ) -> Result<Option<Opened>, FileFault> {
        let Some(editor) = &self.editor else { return Ok(None) };
        let Some(text) = plain(bytes).filter(|text| text.len() as u64 <= LARGEST) else { return Ok(None) };
        let (dir, name, real) = self.place(path)?;
        if !real.starts_with(&editor.workspace) {
            return Ok(None);
        }
        let disk = match before(&dir, &name, path)? {
            None => None,
            Some((file, _)) => match whole(&file) {
                Some(disk) if plain(&disk).is_some() => Some(disk),
                // An encoding of its own is ours to keep.
                Some(_) | None => return Ok(None),
            },
        };
        let changed = || FileFault::Changed { path: path.to_owned() };
        match (expected, &disk) {
            (Expected::Nothing, Some(_)) | (Expected::Bytes(_), None) => return Err(changed()),
            (Expected::Bytes(wanted), Some(disk)) => {
                let now = editor.buffers.read(&real).map_or_else(|| disk.clone(), String::into_bytes);
                if now != wanted {
                    return Err(changed());
                }
            }
            (Expected::Nothing, None) | (Expected::Anything, Some(_) | None) => {}
        }
        if !editor.buffers.write(&real, text) {
            return Ok(None);
        }
        let written = Opened::if_real(&real, |real| self.grant.writes(real) || self.grant.reads(real));
        match written {
            // An editor that keeps it to itself: commands must see it too.
            Err(FileFault::Missing { .. }) => Ok(None),
            Ok(written)
                if disk.is_some() && whole(&written.file) == disk && disk.as_deref() != Some(bytes) =>
            {
                Ok(None)
            }
            written => written.map(Some),
        }
    }
}

/// A text in the one form that every editor has in common: UTF-8 without a mark, its lines ended by line feeds.
fn plain(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain = !text.starts_with('\u{feff}') && !text.contains(['\r', '\0']);
    is_plain.then_some(text)
}

/// All bytes of a file that is not too large; it stands at its beginning again.
fn whole(mut file: &File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    file.seek(SeekFrom::Start(0)).ok()?;
    (bytes.len() as u64 <= LARGEST).then_some(bytes)
}

/// A file without a name that holds these bytes.
fn held(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}
