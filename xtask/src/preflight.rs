//! All that must hold before a push, in one command.
#![expect(clippy::disallowed_methods, reason = "each step's time is shown to the developer")]

use std::process::Stdio;
use std::time::Instant;

use xtask::{Fmt, cargo, rustfmt};

/// Runs the steps in order; the first that fails ends it.
pub(crate) fn run() -> Result<(), String> {
    step("build", || run_cargo(&["build", "--workspace", "--all-targets"]))?;
    step("test", || run_cargo(&["test", "--workspace"]))?;
    step("format", || {
        rustfmt(Fmt::Check).map_err(|files| format!("not formatted; run `cargo xtask fmt`:\n{files}"))
    })?;
    step("clippy", || run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    if has_deny() {
        step("deny", || run_cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
        eprintln!("\npreflight: all steps passed");
    } else {
        eprintln!("\npreflight: passed, but LEFT OUT `cargo deny check bans licenses sources`:");
        eprintln!("cargo-deny is not installed; `cargo install cargo-deny --locked` installs it");
    }
    Ok(())
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    eprintln!("\n== {name}");
    let begun = Instant::now();
    let result = work();
    let seconds = begun.elapsed().as_secs_f64();
    match result {
        Ok(()) => {
            eprintln!("== {name}: passed, {seconds:.1} s");
            Ok(())
        }
        Err(problem) => Err(format!("preflight stopped at {name:?} after {seconds:.1} s: {problem}")),
    }
}

fn run_cargo(args: &[&str]) -> Result<(), String> {
    let shown = format!("cargo {}", args.join(" "));
    eprintln!("{shown}");
    // What needs packages from outside and does not have them says so and is left out; here nothing is installed.
    let status = cargo()
        .args(args)
        .env("RAIL_NO_INSTALL", "1")
        .status()
        .map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status}); see above")) }
}

fn has_deny() -> bool {
    let asked = cargo().args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}
