//! The one file that keeps registrations and tokens, and the locks beside it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::AuthError;
use super::client::Registration;
use super::grant::Grant;

/// The form of the file.
const VERSION: u32 = 1;
/// How long somebody else may hold a lock: as long as a renewal may take, and a little more.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a lock is tried.
const PAUSE: Duration = Duration::from_millis(20);

/// Where tokens are kept.
#[derive(Clone, Debug)]
pub(super) struct Store {
    path: PathBuf,
}

/// Whose tokens: those of a server's address for one client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub(super) server: String,
    pub(super) client: String,
}

/// What is kept for one key.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    server: String,
    client: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registration: Option<Registration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) grant: Option<Grant>,
    /// The scopes that the server missed in the token; the next login asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) wanted_scope: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    entries: Vec<Entry>,
}

/// A lock that is held until it is dropped, also against other processes.
pub(super) struct Held {
    _file: File,
}

impl Store {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// What is kept for a key.
    pub(super) fn entry(&self, key: &Key) -> Result<Option<Entry>, AuthError> {
        Ok(self.read()?.entries.into_iter().find(|entry| entry.is_for(key)))
    }

    /// Changes what is kept for a key, while nobody else does. An entry without anything in it is removed.
    pub(super) async fn change(
        &self,
        key: &Key,
        change: impl FnOnce(&mut Entry) + Send + 'static,
    ) -> Result<(), AuthError> {
        let held = self.lock("lock").await?;
        let (store, key) = (self.clone(), key.clone());
        let changed = tokio::task::spawn_blocking(move || store.changed(&key, change, held)).await;
        changed.unwrap_or(Err(AuthError::Ended))
    }

    fn changed(&self, key: &Key, change: impl FnOnce(&mut Entry), held: Held) -> Result<(), AuthError> {
        let mut document = self.read()?;
        let at = document.entries.iter().position(|entry| entry.is_for(key));
        let before = at.map(|at| document.entries.remove(at));
        let mut entry = before.clone().unwrap_or_else(|| Entry::of(key));
        change(&mut entry);
        if before.as_ref() == Some(&entry) || (before.is_none() && entry.is_empty()) {
            return Ok(());
        }
        if !entry.is_empty() {
            let at = at.unwrap_or(document.entries.len());
            document.entries.insert(at, entry);
        }
        let bytes = serde_json::to_vec_pretty(&document).map_err(|error| self.broken(&error.to_string()))?;
        let written = replace(&self.path, &bytes, Access::Owner);
        drop(held);
        written.map_err(|error| self.broken(&format!("can't be written: {error}; nothing was kept")))
    }

    /// The right to renew a key's token: one process at a time has it.
    pub(super) async fn lock_renewal(&self, key: &Key) -> Result<Held, AuthError> {
        let digest: [u8; 32] = Sha256::digest(format!("{}\n{}", key.server, key.client)).into();
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        self.lock(&format!("{name}.lock")).await
    }

    async fn lock(&self, ending: &str) -> Result<Held, AuthError> {
        let mut path = self.path.clone().into_os_string();
        path.push(".");
        path.push(ending);
        let path = PathBuf::from(path);
        let failed =
            |error: io::Error| self.broken(&format!("can't be locked by {}: {error}", path.display()));
        let file = open_lock(&path).map_err(failed)?;
        let locked = async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(()),
                    // The one who holds it may be in another process, which can't wake us.
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
                    Err(TryLockError::Error(error)) => return Err(failed(error)),
                }
            }
        };
        match tokio::time::timeout(PATIENCE, locked).await {
            Ok(locked) => locked.map(|()| Held { _file: file }),
            Err(_) => {
                let why =
                    format!("has been locked by another process for {} seconds; end it", PATIENCE.as_secs());
                Err(self.broken(&why))
            }
        }
    }

    fn read(&self) -> Result<Document, AuthError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Document { version: VERSION, entries: Vec::new() });
            }
            Err(error) => return Err(self.broken(&format!("can't be read: {error}"))),
        };
        close_to_others(&self.path).map_err(|error| self.broken(&format!("is open to others: {error}")))?;
        let way_out = "move it away and log in again";
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| {
            // The reader's own message may quote a value.
            self.broken(&format!("is damaged at line {}; {way_out}", error.line()))
        })?;
        if document.version != VERSION {
            let version = document.version;
            return Err(self.broken(&format!("has the form {version} of another version; {way_out}")));
        }
        Ok(document)
    }

    fn broken(&self, why: &str) -> AuthError {
        AuthError::Store { path: self.path.clone(), why: why.to_owned() }
    }
}

impl Entry {
    fn of(key: &Key) -> Self {
        Self { server: key.server.clone(), client: key.client.clone(), ..Self::default() }
    }

    fn is_for(&self, key: &Key) -> bool {
        self.server == key.server && self.client == key.client
    }

    fn is_empty(&self) -> bool {
        self.registration.is_none() && self.grant.is_none() && self.wanted_scope.is_none()
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A copy or a restored backup may have been given to everybody.
#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mut permissions = fs::metadata(path)?.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(());
    }
    permissions.set_mode(0o600);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn close_to_others(_path: &Path) -> io::Result<()> {
    Ok(())
}
