//! `rail record`: a program runs on a gateway, and what its providers are asked and answer is kept.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_stdx::date;
use rail_upstream::{CassetteHead, Record, Transport};

use crate::clock::Now;
use crate::run::{Program, Scene, ended};
use crate::setup::{Common, transports};
use crate::state::upstream_through;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Recording {
    /// The cassette, which must not be there yet; if not given, a name with the time, in this folder.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A client as for `rail run`, or any program whose SDK takes its address from the environment, and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Recording {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let program = Program::of(&self.command).ok_or_else(|| Failure::Usage(anyhow!("name a command")))?;
        let scene = Scene::set(common)?;
        let now = Now::read().unix;
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("cassette-{}-{now}.jsonl", date(now))));
        let tape = Tape::new(out)?;
        let head = CassetteHead {
            protocol: scene.aim.protocol,
            provider: scene.aim.first.provider.clone(),
            model: Some(scene.aim.first.model.clone()),
            recorded: date(now),
        };
        let recorder = Record::create(&tape.draft, &head, transports(&scene.inputs.env));
        let recorder = Arc::new(recorder.map_err(|error| Failure::Usage(error.into()))?);
        let upstream = upstream_through(&scene.loaded, Arc::clone(&recorder) as Arc<dyn Transport>);
        let (runtime, stage) = scene.stage(upstream)?;
        let code = stage.run(runtime, &program)?;
        if let Some(trouble) = recorder.trouble() {
            return Err(Failure::Task(anyhow!(
                "the cassette is not whole: {trouble}; nothing is kept of it"
            )));
        }
        match tape.keep()? {
            0 => output::tell("no provider was asked, so there is no cassette"),
            1 => output::tell(&format!("1 exchange in {}", tape.out.display())),
            many => output::tell(&format!("{many} exchanges in {}", tape.out.display())),
        }
        ended(code)
    }
}

/// A recording on its way. It has its name only once it is whole; what is left of it is removed.
struct Tape {
    out: PathBuf,
    draft: PathBuf,
}

impl Tape {
    fn new(out: PathBuf) -> Result<Self, Failure> {
        if out.exists() {
            let problem =
                format!("{} is there already, and a recording never replaces a file", out.display());
            return Err(Failure::Usage(anyhow!(problem)));
        }
        let mut name = OsString::from(".");
        name.push(out.file_name().unwrap_or_default());
        name.push(format!(".{}", std::process::id()));
        Ok(Self { draft: out.with_file_name(name), out })
    }

    /// Gives the recording its name, unless it is empty; how many exchanges it has.
    fn keep(&self) -> Result<usize, Failure> {
        let exchanges =
            exchanges(&self.draft).with_context(|| format!("{} can't be read", self.draft.display()))?;
        if exchanges > 0 {
            // Unlike a rename a link can't take the place of a file that was made meanwhile; not all file systems have links.
            let linked = fs::hard_link(&self.draft, &self.out).or_else(|error| match self.out.exists() {
                true => Err(error),
                false => fs::rename(&self.draft, &self.out),
            });
            linked.with_context(|| format!("{} can't be written", self.out.display()))?;
        }
        Ok(exchanges)
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // Nothing is there when it could not even be made.
        let _ = fs::remove_file(&self.draft);
    }
}

/// Every line after the head is one.
fn exchanges(path: &Path) -> io::Result<usize> {
    let mut lines = 0_usize;
    for line in BufReader::new(fs::File::open(path)?).split(b'\n') {
        line?;
        lines += 1;
    }
    Ok(lines.saturating_sub(1))
}
