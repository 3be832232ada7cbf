//! `cargo xtask NAME`: the project's own commands.

mod fuzz;
mod preflight;
mod real_model;

use std::io::Write;
use std::process::ExitCode;

use xtask::Fmt;

const HELP: &str = "\
cargo xtask NAME

  preflight                        build, test, format, lints, dependency rules: all that must hold before a push
  fmt [--check]                    format every Rust file of the repository, or say which ones are not
  fuzz [--seconds N] [--seed S] [TARGET...]
                                   run the targets of fuzz/, or those named, N seconds each (20 unless told);
                                   a seed makes the order of trials the same in every run
  real-model [tasks [NAME...]] [--port P]
                                   ten small tasks with `rail` and a real weak model on this machine (1.1 GB)
  real-model get|serve|record|check [--port P]
                                   fetch it, serve it, record its answers (`--out DIR`, and ids to record only some),
                                   or check what is found in new ones
  help                             this
";

/// Why a command did not do its work.
enum Failure {
    /// It was called wrongly.
    Usage(String),
    /// It ran, and something is not as it should be.
    Broken(String),
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (message, code) = match run(&args) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => (format!("{message}; `cargo xtask help` lists the commands"), 2),
        Err(Failure::Broken(message)) => (message, 1),
    };
    eprintln!("xtask: {message}");
    ExitCode::from(code)
}

fn run(args: &[&str]) -> Result<(), Failure> {
    match args {
        ["help" | "--help" | "-h"] => {
            let written = std::io::stdout().write_all(HELP.as_bytes());
            written.map_err(|error| Failure::Broken(format!("the help could not be written: {error}")))
        }
        ["preflight"] => preflight::run().map_err(Failure::Broken),
        ["fmt"] => xtask::rustfmt(Fmt::Write).map_err(Failure::Broken),
        ["fmt", "--check"] => xtask::rustfmt(Fmt::Check)
            .map_err(|files| Failure::Broken(format!("not formatted; run `cargo xtask fmt`:\n{files}"))),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["real-model", rest @ ..] => real_model::run(rest),
        [] => Err(Failure::Usage("no command given".into())),
        [name @ ("preflight" | "fmt" | "help"), ..] => {
            Err(Failure::Usage(format!("`{name}` does not take these arguments")))
        }
        [name, ..] => Err(Failure::Usage(format!("there is no command `{name}`"))),
    }
}
