//! What the command line says of a run.

use std::path::PathBuf;
use std::time::Duration;

/// What a run is told.
pub(crate) struct Options {
    /// Where `rail` is.
    pub(crate) rail: Option<PathBuf>,
    /// Leaves `rail` out, and measures the bare proxy alone.
    pub(crate) without_rail: bool,
    /// How long each figure is measured.
    pub(crate) time: Duration,
    /// Only rows whose name holds this.
    pub(crate) only: String,
    /// How many requests, where they are counted.
    pub(crate) requests: usize,
    /// How many streams wait.
    pub(crate) streams: usize,
}

impl Options {
    pub(crate) fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            rail: None,
            without_rail: false,
            time: Duration::from_secs(2),
            only: String::new(),
            requests: 1_000_000,
            streams: 5000,
        };
        while let Some(flag) = args.next() {
            if flag == "--without-rail" {
                options.without_rail = true;
                continue;
            }
            let value = args.next().ok_or_else(|| format!("`{flag}` needs a value"))?;
            let bad = |_| format!("`{flag} {value}`: not a number");
            match flag.as_str() {
                "--rail" => options.rail = Some(value.into()),
                "--seconds" => {
                    options.time = Duration::from_secs_f64(
                        value.parse().map_err(|_| format!("`{flag} {value}`: not a number"))?,
                    )
                }
                "--only" => options.only = value,
                "--requests" => options.requests = value.parse().map_err(bad)?,
                "--streams" => options.streams = value.parse().map_err(bad)?,
                _ => {
                    return Err(format!(
                        "no option `{flag}`; there are: --rail PATH, --without-rail, --seconds N, --only NAME, --requests N, --streams N"
                    ));
                }
            }
        }
        Ok(options)
    }
}
