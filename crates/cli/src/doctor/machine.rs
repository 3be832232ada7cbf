//! What this machine gives: a sandbox, certificates, programs.

use std::path::PathBuf;

use super::Cx;
use super::check::{Check, State};
use super::programs::{find, is_program, version};

pub(super) fn sandbox(_: &Cx) -> Check {
    let support = rail_sandbox::support();
    let says = support.says();
    if support.ready().is_err() {
        return Check::new("sandbox", State::Warning, says).with_fix(
            "use a newer kernel, or a container that allows Landlock, seccomp and namespaces; until then every command is asked about",
        );
    }
    if support.namespaces.is_err() && cfg!(target_os = "linux") {
        return Check::new("sandbox", State::Warning, says)
            .with_fix("allow namespaces of ordinary users: `sysctl kernel.unprivileged_userns_clone=1`, or your system's own switch for them");
    }
    Check::ok("sandbox", says)
}

pub(super) fn tls(_: &Cx) -> Check {
    let found = rail_upstream::authorities();
    let problems: String = found.problems.iter().map(|problem| format!("\n{problem}")).collect();
    match found.system {
        0 => {
            let says = format!(
                "the system has no certificate authorities; the {} built-in ones are used{problems}",
                found.built_in
            );
            Check::new("TLS", State::Warning, says)
                .with_fix("install `ca-certificates`, so that authorities of your own count")
        }
        count if found.problems.is_empty() => {
            Check::ok("TLS", format!("{count} certificate authorities of the system"))
        }
        count => {
            let says = format!("{count} certificate authorities of the system, but not all{problems}");
            Check::new("TLS", State::Warning, says)
                .with_fix("correct `SSL_CERT_FILE` or `SSL_CERT_DIR`, or install `ca-certificates` anew")
        }
    }
}

pub(super) fn git(cx: &Cx) -> Check {
    let Some(path) = find(&cx.inputs.env, "git") else {
        return Check::new("git", State::Warning, "there is no `git` on the PATH")
            .with_fix("install git: without it the agent does not see what has changed");
    };
    told("git", cx, path)
}

pub(super) fn shell(cx: &Cx) -> Check {
    let usual = ["/bin/bash", "/usr/bin/bash"].map(PathBuf::from);
    let bash = find(&cx.inputs.env, "bash").or_else(|| usual.into_iter().find(|path| is_program(path)));
    match bash {
        Some(path) => told("shell", cx, path),
        None if is_program(&PathBuf::from("/bin/sh")) => {
            Check::new("shell", State::Warning, "there is no bash: commands run in /bin/sh")
                .with_fix("install bash, which models write for")
        }
        None => Check::new("shell", State::Problem, "there is no shell: no command can run")
            .with_fix("install bash"),
    }
}

/// Names of browsers that can be driven, the first that is there counts.
const BROWSERS: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];
/// Where a Mac keeps it.
const MAC: &str = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

pub(super) fn browser(cx: &Cx) -> Check {
    let found = BROWSERS.into_iter().find_map(|name| find(&cx.inputs.env, name));
    match found.or_else(|| Some(PathBuf::from(MAC)).filter(|path| is_program(path))) {
        Some(path) => told("browser", cx, path),
        None => Check::skipped("browser", "there is no Chromium or Chrome on the PATH")
            .with_fix("install `chromium` for tools that look at web pages; nothing else needs it"),
    }
}

/// A program that is here, if it runs.
fn told(name: &str, cx: &Cx, path: PathBuf) -> Check {
    let shown = cx.shown(&path);
    match version(cx, &path) {
        Ok(version) => Check::ok(name, format!("{version}, {shown}")),
        Err(why) => Check::new(name, State::Warning, format!("{shown} does not run: {why}"))
            .with_fix("install it anew, or take it off the PATH"),
    }
}
