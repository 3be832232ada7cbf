//! An editor in front of a session: texts that are not saved, and terminals.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rail_sandbox::Order;

use crate::BoxFuture;

/// The texts that an editor has open, saved or not.
///
/// Both may wait, and are called only where waiting harms nobody. Paths have their links resolved; whether a file may be read or
/// written was judged before.
pub trait Buffers: fmt::Debug + Send + Sync {
    /// The text of a file; nothing where the editor gives none: then the disk counts.
    fn read(&self, real: &Path) -> Option<String>;

    /// Has the editor write a file; whether it did.
    fn write(&self, real: &Path, text: &str) -> bool;
}

/// Terminals of an editor.
pub trait Terminals: fmt::Debug + Send + Sync {
    /// Starts a command in one, shown with the call of this id. How it is confined stands in the order: whoever starts it must keep that.
    ///
    /// # Errors
    /// Why it was not started.
    fn start<'a>(
        &'a self,
        call: &'a str,
        order: Order,
        output_bytes: u64,
    ) -> BoxFuture<'a, Result<Box<dyn Terminal>, String>>;
}

/// A command in a terminal. Dropping it lets the terminal go.
pub trait Terminal: Send + Sync {
    /// Waits for its end: its exit code, or the signal that ended it.
    ///
    /// # Errors
    /// Why that can't be known.
    fn wait(&self) -> BoxFuture<'_, Result<TerminalEnd, String>>;

    /// What it has printed, as far as it was kept.
    ///
    /// # Errors
    /// Why that can't be known.
    fn output(&self) -> BoxFuture<'_, Result<TerminalOutput, String>>;

    /// Ends the command.
    fn kill(&self) -> BoxFuture<'_, ()>;
}

/// How a command in a terminal ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TerminalEnd {
    /// With this code.
    Code(u32),
    /// By this signal, as the editor calls it.
    Signal(String),
}

/// What a command in a terminal printed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalOutput {
    /// The text.
    pub text: String,
    /// Whether its beginning is gone.
    pub is_cut: bool,
}

/// What an editor in front of a session has.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    /// Its texts.
    pub buffers: Option<Arc<dyn Buffers>>,
    /// Its terminals.
    pub terminals: Option<Arc<dyn Terminals>>,
}
