//! Attacks on the sandbox, by real programs. Each one is seen to succeed without it first.

mod files;
mod hidden;
mod kernel;
mod network;
mod processes;
mod users;

use std::process::Output;

use rail_sandbox::{Network, Shape, Support, support};

use crate::scene::{Scene, missing, python, root, run, tested};

const PROBE: &str = include_str!("../probe.py");

/// What must hold for an attack to be stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stopped {
    /// Landlock and seccomp are enough.
    Always,
    /// Landlock must know of signals.
    BySixthLandlock,
    /// The system must have namespaces.
    ByNamespaces,
}

/// Where an attack succeeds without a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Free {
    /// Everywhere.
    Succeeds,
    /// For root.
    AsRoot,
    /// For root where the project is tested: the kernel has it, and nobody switched it off.
    Tested,
    /// On some systems; on others there is nothing to attack. The test says where it was seen.
    Perhaps,
}

impl Free {
    /// Whether an attack must succeed without a sandbox, here and for this user.
    fn must_succeed(self) -> bool {
        match self {
            Self::Succeeds => true,
            Self::AsRoot => root(),
            Self::Tested => root() && tested(),
            Self::Perhaps => false,
        }
    }
}

/// An attack: what it is, what stops it, where it would succeed, and its Python.
type Attack = (&'static str, Stopped, Free, &'static str);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Done,
    Refused,
}

const BOTH: &[Network] = &[Network::Off, Network::On];

/// Runs every attack without the sandbox, in it, and in one of a system without namespaces.
fn withstand(scene: fn() -> Scene, networks: &[Network], attacks: &[Attack]) {
    if python().is_none() {
        return missing("python3");
    }
    let real = support();
    if real.ready().is_err() || real.namespaces.is_err() {
        missing("a sandbox with namespaces");
    }
    let (kept, mut spare) = (scene(), scene());
    let before = kept.untouched();
    for (name, stopped, free, code) in attacks {
        if *stopped == Stopped::BySixthLandlock && real.landlock.clone().is_ok_and(|version| version < 6) {
            missing("a Landlock that keeps signals in");
            continue;
        }
        // Attacks with another process leave things as they found them.
        if !spare.has_peer() {
            spare = scene();
        }
        let unguarded = attack(&spare, &Shape::Free, &real, code);
        if free.must_succeed() {
            assert_eq!(unguarded, End::Done, "{name}: without the sandbox");
        } else {
            let seen = if unguarded == End::Done { "succeeds" } else { "finds nothing to attack" };
            eprintln!("without the sandbox {seen}: {name}");
        }
        for network in networks {
            if real.namespaces.is_ok() {
                assert_eq!(
                    attack(&kept, &kept.confined(*network), &real, code),
                    End::Refused,
                    "{name}, {network:?}"
                );
            }
            let without = without_namespaces();
            if *stopped != Stopped::ByNamespaces && without.ready().is_ok() {
                let end = attack(&kept, &kept.open(*network), &without, code);
                assert_eq!(end, End::Refused, "{name}, {network:?}: without namespaces");
            }
            assert_eq!(kept.untouched(), before, "{name}, {network:?}: something changed outside");
        }
    }
}

/// This system, if it had no namespaces.
fn without_namespaces() -> Support {
    Support { namespaces: Err(String::from("not for this test")), ..support() }
}

fn attack(scene: &Scene, shape: &Shape, support: &Support, code: &str) -> End {
    let mut command = scene.command(python().unwrap());
    let output = run(command.args(["-ISc", PROBE, code]), shape, support).unwrap();
    end(&output).unwrap_or_else(|| panic!("a broken attack:\n{code}\n{}", told(&output)))
}

fn end(output: &Output) -> Option<End> {
    match output.status.code() {
        Some(0) if output.stdout.ends_with(b"done\n") => Some(End::Done),
        Some(7) => Some(End::Refused),
        Some(_) | None => None,
    }
}

fn told(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{}\n{out}\n{err}", output.status)
}
