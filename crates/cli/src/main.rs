//! `rail`: one coding agent on any model, and any coding agent on any model.

mod debug;
mod setup;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "rail",
    version,
    about = "One coding agent on any model, and any coding agent on any model."
)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    common: setup::Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Look inside: one request, answer or stream through the codecs.
    #[command(subcommand)]
    Debug(debug::Debug),
}

/// How a command failed: what the user got wrong, or what went wrong.
enum Failure {
    /// The command line or the configuration is at fault.
    Usage(anyhow::Error),
    /// The task was understood and failed.
    Task(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Task(error)
    }
}

fn main() -> ExitCode {
    let Cli { common: _, command } = Cli::parse();
    let result = match command {
        Command::Debug(debug) => debug.run(),
    };
    let (error, code) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(error)) => (error, 2),
        Err(Failure::Task(error)) => (error, 1),
    };
    if is_broken_pipe(&error) {
        // The reader has seen enough, as in `rail … | head`.
        return ExitCode::SUCCESS;
    }
    // A closed stderr must not turn one failure into another.
    let _ = writeln!(std::io::stderr(), "rail: {error:#}");
    ExitCode::from(code)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
