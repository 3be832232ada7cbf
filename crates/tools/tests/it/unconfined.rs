//! Commands on a system that can't confine them as it should.

use std::sync::{Arc, Mutex};

use rail_permit::{Answer, Mode, Question, Rule};
use rail_sandbox::{Support, support};
use rail_tool::{Asks, BoxFuture, Confine, HookedCall, Reply};
use serde_json::json;

use crate::scratch::Scratch;

/// Says yes to everything, and keeps what it was told besides.
#[derive(Default)]
struct Hears(Mutex<Vec<Option<String>>>);

impl Asks for Hears {
    fn ask<'a>(&'a self, _: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        self.0.lock().unwrap().push(question.note.clone());
        Box::pin(std::future::ready(Answer::Once.into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

/// A session on this system, changed, with a home beside its workspace.
fn on(change: impl FnOnce(&mut Support)) -> (Scratch, Arc<Hears>) {
    let hears = Arc::new(Hears::default());
    let mut system = support();
    change(&mut system);
    let scratch = Scratch::asking_with(Arc::clone(&hears) as Arc<dyn Asks>, |session| {
        session.env.retain(|(name, _)| name != "SHELL");
        session.confine = Confine::Workspace;
        session.support = Some(system);
    });
    let home = scratch.outside().join("home");
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id_ed25519"), "the-hidden-words").unwrap();
    scratch.executor.change_policy(|policy| {
        policy.mode = Mode::Default;
        policy.home = Some(home);
    });
    (scratch, hears)
}

fn without_namespaces(system: &mut Support) {
    system.namespaces = Err("namespaces are not for this test".to_owned());
}

/// Whether this system confines without namespaces; where the project is tested, it must.
#[expect(
    clippy::disallowed_methods,
    reason = "whether a missing part is a failure is the machine's own setting"
)]
fn can() -> bool {
    let mut system = support();
    without_namespaces(&mut system);
    let ready = system.ready();
    assert!(ready.is_ok() || std::env::var_os("CI").is_none(), "{ready:?}");
    if let Err(error) = &ready {
        eprintln!("skipped: {error}");
    }
    ready.is_ok()
}

#[test]
fn without_namespaces_commands_run_and_read_no_secrets_of_the_home_folder() {
    if !can() {
        return;
    }
    let (scratch, hears) = on(without_namespaces);
    let key = scratch.outside().join("home/.ssh/id_ed25519");
    let line = format!("echo made > made; cat made; cat {}/* 2>&1", key.parent().unwrap().display());
    let said = scratch.says("bash", &json!({ "command": line }));
    assert!(said.starts_with("error: made\n") && said.contains("Permission denied"), "{said}");
    assert!(!said.contains("the-hidden-words"), "{said}");
    let said = scratch.says("bash", &json!({ "command": "cat made" }));
    assert!(said.starts_with("ok: made\n"), "{said}");
    let heard = hears.0.lock().unwrap().clone();
    let first = heard[0].as_deref().unwrap();
    assert!(first.starts_with("No namespaces: namespaces are not for this test: "), "{first}");
    assert!(heard[1..].iter().all(Option::is_none), "it is said once: {heard:?}");
}

#[test]
fn a_secret_that_can_t_be_hidden_stops_a_command_and_the_way_out_is_said() {
    if !can() {
        return;
    }
    let (scratch, hears) = on(without_namespaces);
    scratch.write(".env", "the-hidden-words");
    let said = scratch.says("bash", &json!({ "command": "cat .e*" }));
    assert_eq!(
        said,
        "error: the command was not run: the command can't be confined: `{workspace}/.env` can't be hidden from commands on this system: namespaces are not for this test; run the command only where it may read this: outside of the sandbox; if it is needed, call again with `dangerouslyDisableSandbox: true`, which asks the user"
    );
    let asked = hears.0.lock().unwrap().len();
    let said = scratch.says("bash", &json!({ "command": "cat .e*", "dangerouslyDisableSandbox": true }));
    assert!(said.starts_with("ok: the-hidden-words"), "{said}");
    assert_eq!(hears.0.lock().unwrap().len(), asked + 1, "it asks");
}

#[test]
fn without_any_sandbox_the_first_question_says_so_and_the_way_out_is_said() {
    let (scratch, hears) = on(|system| system.landlock = Err("Landlock is not for this test".to_owned()));
    let said = scratch.says("bash", &json!({ "command": "touch made" }));
    assert!(said.starts_with("error: the command was not run: "), "{said}");
    assert!(
        said.ends_with("call again with `dangerouslyDisableSandbox: true`, which asks the user"),
        "{said}"
    );
    assert!(!scratch.path("made").exists());
    let heard = hears.0.lock().unwrap().clone();
    let first = heard[0].as_deref().unwrap();
    assert!(first.starts_with("No sandbox: ") && first.contains("Landlock is not for this test"), "{first}");
    let said = scratch.says("bash", &json!({ "command": "touch made", "dangerouslyDisableSandbox": true }));
    assert!(said.starts_with("ok: ") && scratch.path("made").exists(), "{said}");
}

#[test]
fn where_commands_can_be_confined_nothing_is_said() {
    let (scratch, hears) = on(|system| {
        system.landlock = Ok(7);
        system.seccomp = Ok(());
        system.namespaces = Ok(rail_sandbox::Namespaces::InUser);
    });
    scratch.says("bash", &json!({ "command": "touch made" }));
    assert_eq!(*hears.0.lock().unwrap(), [None]);
}
