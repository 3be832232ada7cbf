//! `rail run`: a real client on a gateway that lives as long as it.
//!
//! A client is one file here, and a word in the table of `client.rs`.

mod aim;
mod child;
mod claude;
mod client;
mod codex;
mod gemini;
mod launch;
mod opencode;
mod plain;
mod qwen;
mod stage;

use std::ffi::OsString;

use clap::Args;

use crate::Failure;
use crate::setup::{Common, warn};
use crate::state::upstream;

pub(crate) use aim::Aim;
pub(crate) use client::Client;
pub(crate) use stage::{Program, Stage};

#[derive(Args)]
pub(crate) struct Run {
    /// The client: claude, codex, gemini, qwen or opencode.
    #[arg(value_name = "CLIENT", value_parser = client::parse)]
    client: &'static Client,
    /// What the client is given.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        let aim = Aim::find(&loaded, common.model.as_deref())?;
        warn(&loaded);
        let env = common.inputs()?.env;
        let upstream = upstream(&loaded, &env);
        let stage = Stage { loaded, env, upstream, aim };
        ended(stage.run(&Program::Client(self.client, &self.args))?)
    }
}

/// The program's exit code is ours.
pub(crate) fn ended(code: u8) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure::Ended(code)) }
}
