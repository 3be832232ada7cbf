//! What a shell command would do, read with a real grammar: every simple command in it, wherever it stands.
//!
//! The grammar is an allow-list: what it does not know, and what shells read differently, is [`Unclear`] and must be asked
//! about as a whole. Programs that run other programs are unrolled, so that `sudo env X=1 rm` is three commands.

mod ansi;
mod arguments;
mod compound;
mod counting;
mod danger;
mod elsewhere;
mod expand;
mod given;
mod grammar;
mod influence;
mod lex;
mod loops;
mod options;
mod own_syntax;
mod prefix;
mod programs;
mod reads;
mod redirect;
mod script;
mod terminal;
mod text;
mod touches;
mod unroll;
mod word;
mod wrapped;
mod wrappers;

pub use counting::counts_unknown;
pub use danger::{Danger, Weight, danger};
pub use given::{GivenCommand, given};
pub use influence::{influences, names_secret};
pub use loops::unrolled;
pub use prefix::{prefix, whole};
pub use reads::{find_only_runs, only_reads};
pub use script::{Assignment, Loop, Place, Redirect, RedirectKind, Script, Simple, Unclear, Word, Wrapper};
pub use terminal::{NeedsTerminal, needs_terminal};
pub use touches::{Touches, touches};

use text::{Found, Reader};

/// Reads a command as the shell would.
///
/// # Errors
/// What of it has no certain meaning: it must be asked about as a whole.
pub fn read(command: &str) -> Result<Script, Unclear> {
    let mut found = Found::default();
    Reader::new(command, &mut found).script()?;
    Ok(Script { commands: found.commands })
}

/// The name of a program without its folder, if it is known.
fn program_name(word: &Word) -> Option<&str> {
    let program = word.literal()?;
    Some(program.rsplit_once('/').map_or(program, |(_, name)| name))
}
