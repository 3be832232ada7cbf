//! One way through all memory files, imports included.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::imports::{Import, imports, is_nothing_else};
use super::read::{Reader, Text};
use super::{MemoryFile, MemoryNote, MemoryPlaces, NotRead, Whose};

/// How deep imports are followed.
const DEEPEST: usize = 5;
/// Bytes of all files together.
const ALL: usize = 256 << 10;

/// The user's files and those of these folders, in order, and what is to be told of them.
pub(super) fn gather(
    places: &MemoryPlaces,
    folders: &[PathBuf],
    reader: &mut Reader,
    is_late: &dyn Fn() -> bool,
) -> (Vec<MemoryFile>, Vec<MemoryNote>) {
    let mut gathering = Gathering {
        places,
        reader,
        is_late,
        seen: BTreeSet::new(),
        bytes: 0,
        is_over: false,
        files: Vec::new(),
        notes: Vec::new(),
    };
    let user = places.user.iter().map(|folder| (folder, Whose::User));
    for (folder, whose) in user.chain(folders.iter().map(|folder| (folder, Whose::Project))) {
        for name in &places.names {
            gathering.take(&Wanted { path: folder.join(name), whose, by: None, depth: 0 });
        }
    }
    (gathering.files, gathering.notes)
}

/// A file that is to be read.
struct Wanted {
    path: PathBuf,
    whose: Whose,
    by: Option<(PathBuf, Import)>,
    depth: usize,
}

impl Wanted {
    /// Whether it may not be meant as a file at all.
    fn is_perhaps_a_word(&self) -> bool {
        self.by.as_ref().is_some_and(|(_, import)| !import.is_surely_a_file())
    }
}

/// One way through all files.
struct Gathering<'a> {
    places: &'a MemoryPlaces,
    reader: &'a mut Reader,
    is_late: &'a dyn Fn() -> bool,
    /// Real paths that were met.
    seen: BTreeSet<PathBuf>,
    bytes: usize,
    /// The time was up.
    is_over: bool,
    files: Vec<MemoryFile>,
    notes: Vec<MemoryNote>,
}

impl Gathering<'_> {
    /// Whether what a file says is among the files now.
    fn take(&mut self, wanted: &Wanted) -> bool {
        if self.is_over || (self.is_late)() {
            if !std::mem::replace(&mut self.is_over, true) {
                self.note(wanted, NotRead::TimeUp);
            }
            return false;
        }
        let refuses = |real: &Path| refused(real, wanted.whose, self.places.project());
        match self.reader.read(&wanted.path, &refuses) {
            Ok(read) if self.seen.contains(&read.real) => true,
            Ok(_) if wanted.depth > DEEPEST => self.note(wanted, NotRead::TooDeep),
            Ok(read) if self.bytes + read.text.len() > ALL => {
                self.seen.insert(read.real);
                self.note(wanted, NotRead::Full)
            }
            Ok(read) => {
                self.keep(wanted, &read);
                true
            }
            // Most folders have no memory file, and not every `@word` means one.
            Err(NotRead::Missing) if wanted.by.is_none() => false,
            Err(NotRead::Missing | NotRead::NoFile) if wanted.is_perhaps_a_word() => false,
            Err(why) => self.note(wanted, why),
        }
    }

    /// Takes a file in, and what it imports.
    fn keep(&mut self, wanted: &Wanted, read: &Text) {
        self.seen.insert(read.real.clone());
        for flaw in &read.flaws {
            self.note(wanted, flaw.clone());
        }
        let (place, inner) = (self.files.len(), imports(&read.text));
        let is_new = !self.files.iter().any(|file| file.text == read.text);
        self.bytes += read.text.len();
        // What the user's file imports from the project is the project's word, and can bring no more than that.
        let is_project = wanted.by.is_some() && read.real.starts_with(self.places.project());
        let whose = if is_project { Whose::Project } else { wanted.whose };
        // A file that only imports says nothing itself, unless something that it names is not here.
        let mut says_something = !is_nothing_else(&read.text, &inner);
        let path = if wanted.by.is_some() { &read.real } else { &wanted.path };
        for import in inner {
            let is_here = self.meant(&import, &read.real).is_some_and(|meant| {
                self.take(&Wanted {
                    path: meant,
                    whose,
                    by: Some((path.clone(), import)),
                    depth: wanted.depth + 1,
                })
            });
            says_something |= !is_here;
        }
        if is_new && says_something {
            let file = MemoryFile {
                path: path.clone(),
                whose,
                imported_by: wanted.by.as_ref().map(|(by, _)| by.clone()),
                text: Arc::clone(&read.text),
            };
            self.files.insert(place, file);
        }
    }

    /// The file that an import means; relative ones count from the file that they stand in.
    fn meant(&self, import: &Import, file: &Path) -> Option<PathBuf> {
        match import.path.strip_prefix("~/") {
            Some(inner) => Some(self.places.home.as_ref()?.join(inner)),
            None => Some(file.parent()?.join(&import.path).components().collect()),
        }
    }

    /// Tells why a file is not here.
    fn note(&mut self, wanted: &Wanted, what: NotRead) -> bool {
        self.notes.push(note(&wanted.path, wanted.by.as_ref().map(|(by, _)| by.as_path()), what));
        false
    }
}

pub(super) fn note(path: &Path, by: Option<&Path>, what: NotRead) -> MemoryNote {
    MemoryNote { path: path.to_owned(), imported_by: by.map(Path::to_owned), what }
}

/// Why a file may not be read, by its real path.
fn refused(real: &Path, whose: Whose, project: &Path) -> Option<NotRead> {
    if let Some(kind) = rail_permit::secret(real) {
        return Some(NotRead::Secret { kind });
    }
    match whose {
        Whose::Project if !real.starts_with(project) => Some(NotRead::Outside { real: real.to_owned() }),
        Whose::Project | Whose::User => None,
    }
}
