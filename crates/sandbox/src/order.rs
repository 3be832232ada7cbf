//! Commands that somebody else's terminal starts: the process that it starts confines itself, and then becomes the command.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::confine::dress;
use crate::process::{Groups, command, end, kill};
use crate::trace::{self, Trace};
use crate::{Shape, StartError};

/// A command for somebody else's terminal.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// What it may do.
    pub shape: Shape,
}

impl Order {
    /// Becomes the command: from then on this process is its program, confined. It must have one thread only.
    ///
    /// What is given back is what stopped it.
    pub fn become_it(self) -> StartError {
        let Self { program, args, env, cwd, shape } = self;
        let mut command = command(&program);
        command.args(args).env_clear().envs(env).current_dir(&cwd).stdin(Stdio::null());
        let dressed = match dress(&mut command, &shape) {
            Ok(dressed) => dressed,
            Err(error) => return StartError::Confine(error),
        };
        let cause = command.exec();
        match dressed.explain(&cause) {
            Some(confine) => StartError::Confine(confine),
            None => StartError::System { program, cwd, cause },
        }
    }
}

/// All that came of an order. Dropping it ends whatever is left.
#[derive(Debug)]
pub struct Ordered {
    trace: Trace,
}

impl Groups {
    /// Makes the order one of this session: whatever comes of it is found again.
    pub fn order(&self, mut order: Order) -> (Order, Ordered) {
        let mark = self.mark();
        order.env.push((trace::VARIABLE.into(), mark.clone().into()));
        (order, Ordered { trace: Trace { leader: None, mark } })
    }
}

impl Ordered {
    /// Ends what is left of it: it is asked to end, and whoever is there after the grace is killed.
    pub async fn end(&self, grace: Duration) {
        end(&self.trace, grace).await;
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        kill(&self.trace);
    }
}
