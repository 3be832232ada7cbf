//! `cargo run --release -p rail-bench -- wire|repair|route|tokens|upstream`: figures as ratios to a reference measured in the same run.
#![expect(clippy::print_stdout, reason = "a program whose output is its figures")]
#![expect(clippy::disallowed_methods, reason = "measuring is reading the clock")]

mod repair;
mod route;
mod timing;
mod tokens;
mod upstream;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("wire") | None => {
            wire::run();
            ExitCode::SUCCESS
        }
        Some("repair") => {
            repair::run();
            ExitCode::SUCCESS
        }
        Some("route") => {
            route::run();
            ExitCode::SUCCESS
        }
        Some("tokens") => {
            match std::env::args().nth(2).as_deref() {
                Some("write") => tokens::write_counts(),
                Some(_) | None => tokens::run(),
            }
            ExitCode::SUCCESS
        }
        Some("upstream") => {
            upstream::run();
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprintln!("no benchmark `{other}`; there are: wire, repair, route, tokens, upstream");
            ExitCode::from(2)
        }
    }
}
