//! `cargo run --release -p rail-bench -- NAME`: figures as ratios to a reference measured in the same run.
#![expect(clippy::print_stdout, reason = "a program whose output is its figures")]
#![expect(clippy::disallowed_methods, reason = "measuring is reading the clock")]

mod agent;
mod gateway;
mod repair;
mod route;
mod search;
mod sessions;
mod snapshots;
mod talk;
mod timing;
mod tokens;
mod tui;
mod upstream;
mod wire;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("wire") | None => {
            match std::env::args().nth(2).as_deref() {
                Some("requests") => wire::requests(),
                Some(_) | None => wire::run(),
            }
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
        Some("agent") => told(agent::run()),
        Some("sessions") => told(sessions::run()),
        Some("search") => told(search::run()),
        Some("snapshots") => told(snapshots::run()),
        Some("tokens") => {
            match std::env::args().nth(2).as_deref() {
                Some("write") => tokens::write_counts(),
                Some(_) | None => tokens::run(),
            }
            ExitCode::SUCCESS
        }
        Some("tui") => {
            tui::run();
            ExitCode::SUCCESS
        }
        Some("upstream") => {
            upstream::run();
            ExitCode::SUCCESS
        }
        Some(name @ ("gateway" | "gateway-memory" | "gateway-streams" | "model" | "bare-proxy")) => {
            told(gateway::run(name, std::env::args().skip(2)))
        }
        Some(other) => {
            eprintln!(
                "no benchmark `{other}`; there are: agent, sessions, wire, repair, route, search, snapshots, tokens, tui, upstream, gateway, gateway-memory, gateway-streams"
            );
            ExitCode::from(2)
        }
    }
}

fn told(done: Result<(), String>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
