//! Recorded traffic: a file of JSON lines, one for its head and one for each exchange.

mod line;
mod play;
mod record;
mod replay;
mod scrub;
mod switch;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use rail_model::ProtocolId;

pub use record::Record;
pub use replay::{Matching, Pace, Replay};
pub use switch::Transports;

use line::{Exchange, HeadLine};

/// The version of the format that this code writes; it reads no other.
const VERSION: u32 = 1;

/// What a cassette says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CassetteHead {
    /// The protocol of the recorded provider.
    pub protocol: ProtocolId,
    /// The provider's name in the configuration that it was recorded with.
    pub provider: String,
    /// The model, where there was one.
    pub model: Option<String>,
    /// When it was recorded, as whoever records it wants it written.
    pub recorded: String,
}

/// Why a cassette can't be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CassetteError {
    /// The file can't be read.
    #[error("the cassette {} can't be read: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file can't be made.
    #[error("the cassette {} can't be written: {why}; a recording never replaces a file", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file is no cassette that we can play.
    #[error("the cassette {} is damaged in line {line}: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
}

/// The protocol that a cassette was recorded in: a `replay` provider is spoken to in that one.
pub fn cassette_protocol(path: &Path) -> Result<ProtocolId, CassetteError> {
    let unreadable =
        |error: io::Error| CassetteError::Unreadable { path: path.to_owned(), why: error.to_string() };
    let mut line = String::new();
    BufReader::new(File::open(path).map_err(unreadable)?).read_line(&mut line).map_err(unreadable)?;
    head(path, &line).map(|head| head.protocol)
}

/// Reads a whole cassette, its exchanges in the order in which they began.
fn open(path: &Path) -> Result<(CassetteHead, Vec<Exchange>), CassetteError> {
    let text = read(path)?;
    let head = head(path, text.lines().next().unwrap_or_default())?;
    let mut exchanges = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let exchange: Exchange = serde_json::from_str(line).map_err(|error| CassetteError::Damaged {
            path: path.to_owned(),
            line: at + 1,
            problem: format!("{error}; a line that was cut while recording can be removed"),
        })?;
        exchange.check().map_err(|problem| damaged(path, at + 1, problem))?;
        exchanges.push(exchange);
    }
    exchanges.sort_by_key(|exchange| exchange.n);
    Ok((head, exchanges))
}

fn read(path: &Path) -> Result<String, CassetteError> {
    fs::read_to_string(path)
        .map_err(|error| CassetteError::Unreadable { path: path.to_owned(), why: error.to_string() })
}

fn head(path: &Path, line: &str) -> Result<CassetteHead, CassetteError> {
    let damaged = |problem| damaged(path, 1, problem);
    let HeadLine { cassette, protocol, provider, model, recorded } = serde_json::from_str(line)
        .map_err(|error| damaged(format!("it is no head of a cassette: {error}")))?;
    if cassette != VERSION {
        return Err(damaged(format!(
            "it has version {cassette} of the format; this program plays {VERSION}"
        )));
    }
    match rail_wire::find(&protocol) {
        Some(known) => Ok(CassetteHead { protocol: known.id, provider, model, recorded }),
        None => {
            let known: Vec<&str> = rail_wire::ALL.iter().map(|known| known.id.name()).collect();
            Err(damaged(format!("`{protocol}` is no protocol; there are {}", known.join(", "))))
        }
    }
}

fn damaged(path: &Path, line: usize, problem: String) -> CassetteError {
    CassetteError::Damaged { path: path.to_owned(), line, problem }
}
