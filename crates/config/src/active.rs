use std::path::{Path, PathBuf};
use std::{fs, io};

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

use crate::regular::{is_missing, read_text};
use crate::{Layer, Origin, Place, Places, Problem};

/// What `active.json` says.
#[derive(Serialize, Deserialize)]
struct Active {
    provider: String,
}

/// The provider that was chosen by `rail provider use`, if one was.
pub(crate) fn read(places: &Places) -> Result<Option<String>, Problem> {
    let path = places.active();
    let wrong = |text: &str| {
        let origin = Origin::File {
            layer: Layer::User,
            file: path.as_path().into(),
            at: Place { line: 1, column: 1 },
        };
        Problem::new(&origin, "", format!("{text}; run `rail provider use NAME` to write it anew"))
    };
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(wrong(&format!("it can't be read: {error}"))),
    };
    let active: Active = serde_json::from_str(&text).map_err(|_| {
        wrong("it does not say {\"provider\": \"NAME\"}, so that no provider is put in front")
    })?;
    Ok(Some(active.provider))
}

/// Chooses the provider that stands at the front of every chain that has it; None takes the choice back.
///
/// The user's own files stay as they are. A gateway or an agent that runs sees the change.
pub fn set_active(places: &Places, provider: Option<&str>) -> Result<(), ActiveError> {
    let path = places.active();
    let done = match provider {
        Some(provider) => serde_json::to_vec(&Active { provider: provider.to_owned() })
            .map_err(io::Error::from)
            .and_then(|text| replace(&path, &text, Access::Usual)),
        None => remove(&path),
    };
    done.map_err(|source| ActiveError { path, source })
}

/// Why a choice can't be kept.
#[derive(Debug, thiserror::Error)]
#[error("{} can't be written: {source}; make it yours, or move away what is in its place", path.display())]
pub struct ActiveError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    pub source: io::Error,
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
