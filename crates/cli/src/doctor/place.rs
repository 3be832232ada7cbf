//! Where this runs: the home, the folder, the terminal.

use std::io::{IsTerminal, stderr, stdin, stdout};

use super::Cx;
use super::check::{Check, State};
use super::show::is_utf8;

pub(super) fn home(cx: &Cx) -> Check {
    let set = "set `HOME` to an absolute path of a folder that is yours";
    let env = &cx.inputs.env;
    match (env.home(), env.get("HOME")) {
        (Some(home), _) if home.is_dir() => Check::ok("home", home.display().to_string()),
        (Some(home), _) => {
            let says = format!("{} is no folder", home.display());
            Check::new("home", State::Problem, says).with_fix(format!("make it, or {set}"))
        }
        (None, Some(said)) => {
            let says = format!("`HOME` is `{said}`, which is no absolute path");
            Check::new("home", State::Problem, says).with_fix(set)
        }
        (None, None) => Check::new(
            "home",
            State::Problem,
            "`HOME` is not set, so that no file of yours is read and nothing is kept",
        )
        .with_fix(set),
    }
}

pub(super) fn working_folder(cx: &Cx) -> Check {
    match &cx.lost {
        None => Check::ok("folder", cx.shown(&cx.inputs.working_folder)),
        Some(error) => {
            Check::new("folder", State::Problem, format!("the working folder can't be found: {error}"))
                .with_fix("change to a folder that exists")
        }
    }
}

pub(super) fn terminal(cx: &Cx) -> Check {
    let env = &cx.inputs.env;
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return Check::skipped("terminal", "there is none here: nobody can be asked, and rules decide");
    }
    let term = env.get("TERM").unwrap_or("unknown");
    let size = size().map(|(columns, rows)| format!(", {columns} by {rows}")).unwrap_or_default();
    let says = format!("{term}{size}");
    if !is_utf8(env) {
        return Check::new("terminal", State::Warning, format!("{says}, and the locale is not UTF-8"))
            .with_fix("set `LANG` to one that ends in `.UTF-8`, such as `C.UTF-8`");
    }
    if matches!(term, "dumb" | "unknown") {
        return Check::new("terminal", State::Warning, format!("{says}: it can't be drawn on"))
            .with_fix("set `TERM` to what your terminal is, such as `xterm-256color`");
    }
    Check::ok("terminal", format!("{says}, UTF-8"))
}

#[cfg(unix)]
fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stdout()).or_else(|_| rustix::termios::tcgetwinsize(stderr()));
    size.ok().map(|size| (size.ws_col, size.ws_row))
}

#[cfg(not(unix))]
fn size() -> Option<(u16, u16)> {
    None
}
