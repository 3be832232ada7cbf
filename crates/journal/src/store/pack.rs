//! Many contents in one file: a workspace of a thousand files is not a thousand new files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{ContentId, Draft, Pruned, Store, entries, remove_old, touch};

/// The folder of packs in a store.
const FOLDER: &str = "packs";

/// Bytes that are gathered before they are written.
const GATHERED: usize = 256 << 10;

/// Bytes of one line of a pack's index: the name, where it begins, its length.
const LINE: usize = 48;

/// What is known of the packs of a store.
#[derive(Debug, Default)]
pub(super) struct Packs {
    /// Those whose index was read.
    read: BTreeSet<ContentId>,
    /// Those whose time was set to now.
    fresh: BTreeSet<ContentId>,
    places: HashMap<ContentId, Place>,
    looked: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    pack: ContentId,
    start: u64,
    len: u64,
}

/// Contents that are written into one file. None of them is there before [`finish`](Self::finish).
pub struct Batch<'a> {
    store: &'a Store,
    draft: Draft,
    gathered: Vec<u8>,
    at: u64,
    index: BTreeMap<ContentId, (u64, u64)>,
}

impl Store {
    /// Begins to keep many contents in one file, which is far cheaper than one by one.
    ///
    /// # Errors
    /// The store can't be written.
    pub fn batch(&self) -> io::Result<Batch<'_>> {
        let draft = self.draft()?;
        Ok(Batch { store: self, draft, gathered: Vec::new(), at: 0, index: BTreeMap::new() })
    }

    /// The bytes of a content that is in a pack; nothing if it is in none that is known.
    pub(super) fn get_packed(&self, id: &ContentId) -> Option<io::Result<Vec<u8>>> {
        let place = *self.packs().places.get(id)?;
        let read = || {
            let mut bytes = vec![0; usize::try_from(place.len).unwrap_or(usize::MAX)];
            File::open(self.pack_path(&place.pack))?.read_exact_at(&mut bytes, place.start)?;
            Ok(bytes)
        };
        Some(read())
    }

    /// The pack that holds a content.
    pub(super) fn pack_of(&self, id: &ContentId) -> Option<PathBuf> {
        let pack = self.packs().places.get(id)?.pack;
        Some(self.pack_path(&pack))
    }

    /// The length of a content that is in a pack.
    pub(super) fn packed(&self, id: &ContentId) -> Option<u64> {
        self.packs().places.get(id).map(|place| place.len)
    }

    /// The pack of a content counts as written now. Once for each is enough: sessions are shorter than what is old.
    pub(super) fn freshen_pack(&self, id: &ContentId) -> bool {
        let mut packs = self.packs();
        let Some(pack) = packs.places.get(id).map(|place| place.pack) else { return false };
        if packs.fresh.contains(&pack) {
            return true;
        }
        let there = touch(&self.pack_path(&pack));
        if there {
            packs.fresh.insert(pack);
        } else {
            packs.places.retain(|_, place| place.pack != pack);
            packs.read.remove(&pack);
        }
        there
    }

    /// Looks for packs that others have written in the meantime.
    pub(super) fn look_for_packs(&self) {
        let mut packs = self.guard();
        self.look(&mut packs);
    }

    /// Throws packs away of which nothing is wanted; of those of which little is, the rest.
    pub(super) fn prune_packs(
        &self,
        keep: &dyn Fn(&ContentId) -> bool,
        older_than: SystemTime,
    ) -> io::Result<Pruned> {
        let mut pruned = Pruned::default();
        for entry in entries(&self.folder.join(FOLDER))? {
            let Some(pack) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let old = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|time| time < older_than);
            let (true, Some(index)) = (old, self.index_of(&pack)) else { continue };
            let (kept, gone): (Vec<_>, Vec<_>) = index.into_iter().partition(|(id, _)| keep(id));
            let bytes = |list: &[(ContentId, Place)]| list.iter().map(|(_, place)| place.len).sum::<u64>();
            if bytes(&kept) > bytes(&gone) || gone.is_empty() {
                continue;
            }
            for (_, place) in &kept {
                let mut bytes = vec![0; usize::try_from(place.len).unwrap_or(usize::MAX)];
                File::open(entry.path())?.read_exact_at(&mut bytes, place.start)?;
                self.put_alone(&ContentId::of(&bytes), &bytes)?;
            }
            if remove_old(&entry, older_than)?.is_some() {
                pruned.contents += gone.len() as u64;
                pruned.bytes += bytes(&gone);
            }
        }
        *self.guard() = Packs::default();
        Ok(pruned)
    }

    fn pack_path(&self, pack: &ContentId) -> PathBuf {
        self.folder.join(FOLDER).join(pack.to_string())
    }

    fn guard(&self) -> MutexGuard<'_, Packs> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn packs(&self) -> MutexGuard<'_, Packs> {
        let mut packs = self.guard();
        if !packs.looked {
            self.look(&mut packs);
        }
        packs
    }

    fn look(&self, packs: &mut Packs) {
        packs.looked = true;
        for entry in entries(&self.folder.join(FOLDER)).unwrap_or_default() {
            let Some(pack) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if packs.read.contains(&pack) {
                continue;
            }
            // A pack whose index is damaged holds nothing that can be found.
            packs.places.extend(self.index_of(&pack).unwrap_or_default());
            packs.read.insert(pack);
        }
    }

    fn index_of(&self, pack: &ContentId) -> Option<Vec<(ContentId, Place)>> {
        let mut file = File::open(self.pack_path(pack)).ok()?;
        let len = file.metadata().ok()?.len();
        let mut count = [0; 8];
        file.read_exact_at(&mut count, len.checked_sub(8)?).ok()?;
        let size = u64::from_be_bytes(count).checked_mul(LINE as u64)?;
        let start = len.checked_sub(8)?.checked_sub(size)?;
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut index = Vec::new();
        file.take(size).read_to_end(&mut index).ok()?;
        if ContentId::of(&index) != *pack {
            return None;
        }
        let (lines, _) = index.as_chunks::<LINE>();
        lines.iter().map(|line| place(*pack, line, start)).collect()
    }
}

/// Reads a line of an index; what it names must stand before the index.
fn place(pack: ContentId, line: &[u8; LINE], end: u64) -> Option<(ContentId, Place)> {
    let (id, rest) = line.split_first_chunk::<32>()?;
    let (start, len) = rest.split_first_chunk::<8>()?;
    let (start, len) = (u64::from_be_bytes(*start), u64::from_be_bytes(*len.first_chunk()?));
    (start.checked_add(len)? <= end).then_some((ContentId(*id), Place { pack, start, len }))
}

impl Batch<'_> {
    /// Keeps these bytes, unless they are there already.
    ///
    /// # Errors
    /// They can't be written.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<ContentId> {
        let id = ContentId::of(bytes);
        if self.index.contains_key(&id) || self.store.freshen_pack(&id) {
            return Ok(id);
        }
        if self.gathered.len() + bytes.len() > GATHERED {
            self.draft.file.write_all(&self.gathered)?;
            self.gathered.clear();
        }
        if bytes.len() > GATHERED {
            self.draft.file.write_all(bytes)?;
        } else {
            self.gathered.extend_from_slice(bytes);
        }
        self.index.insert(id, (self.at, bytes.len() as u64));
        self.at += bytes.len() as u64;
        Ok(id)
    }

    /// All of them are there.
    ///
    /// # Errors
    /// They can't be written; then none of them is there.
    pub fn finish(mut self) -> io::Result<()> {
        if self.index.is_empty() {
            return Ok(());
        }
        let mut index = Vec::with_capacity(self.index.len() * LINE);
        for (id, (start, len)) in &self.index {
            index.extend_from_slice(id.digest());
            index.extend_from_slice(&start.to_be_bytes());
            index.extend_from_slice(&len.to_be_bytes());
        }
        let pack = ContentId::of(&index);
        self.gathered.extend_from_slice(&index);
        self.gathered.extend_from_slice(&(self.index.len() as u64).to_be_bytes());
        self.draft.file.write_all(&self.gathered)?;
        DirBuilder::new().recursive(true).mode(0o700).create(self.store.folder.join(FOLDER))?;
        fs::rename(&self.draft.path, self.store.pack_path(&pack))?;
        self.draft.path.clear();
        let mut packs = self.store.packs();
        packs.read.insert(pack);
        packs.fresh.insert(pack);
        let places =
            self.index.iter().map(|(id, (start, len))| (*id, Place { pack, start: *start, len: *len }));
        packs.places.extend(places);
        Ok(())
    }
}

impl std::fmt::Debug for Batch<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Batch({} contents)", self.index.len())
    }
}

/// Shared by all copies of a store, so that each index is read once.
pub(super) type Shared = Arc<std::sync::Mutex<Packs>>;
