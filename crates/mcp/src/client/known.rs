//! What is remembered of servers: the tools that each had, so that they are there before it is.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

use super::lists::Listed;
use super::spec::ServerSpec;

/// The form of the file; one of another form is not read.
const FORM: u32 = 1;
/// Bytes of such a file.
const LONGEST: u64 = 32 << 20;

#[derive(Serialize, Deserialize)]
struct Known {
    form: u32,
    tools: Vec<Listed>,
}

/// The file for a server in a folder.
pub(crate) fn file(folder: &Path, spec: &ServerSpec) -> PathBuf {
    folder.join(format!("{}.json", spec.key()))
}

/// The tools that a server had the last time; none if that is not known.
pub(crate) fn load(file: &Path) -> Vec<Arc<Listed>> {
    let mut text = Vec::new();
    // What can't be read is asked of the server.
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_end(&mut text));
    let known = read.ok().and_then(|_| serde_json::from_slice::<Known>(&text).ok());
    known
        .filter(|known| known.form == FORM)
        .map(|known| known.tools.into_iter().map(Arc::new).collect())
        .unwrap_or_default()
}

/// Keeps the tools of a server.
pub(crate) fn save(file: &Path, tools: &[Arc<Listed>]) {
    let known = Known { form: FORM, tools: tools.iter().map(|tool| Listed::clone(tool)).collect() };
    if let Ok(text) = serde_json::to_vec(&known) {
        // Without it the next start only waits for the server.
        let _ = replace(file, &text, Access::Owner);
    }
}
