use std::path::Path;
use std::{fs, io};

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

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
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
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
pub fn set_active(places: &Places, provider: Option<&str>) -> io::Result<()> {
    let path = places.active();
    match provider {
        Some(provider) => {
            let text = serde_json::to_vec(&Active { provider: provider.to_owned() })?;
            replace(&path, &text, Access::Usual)
        }
        None => remove(&path),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
