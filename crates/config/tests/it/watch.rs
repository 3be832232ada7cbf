//! A configuration follows its files: real files, real changes.

use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rail_config::{Change, Inputs, Live, Loaded, set_active};

use crate::machine::{LOCAL, Machine, PROJECT, USER};

/// Far longer than any change takes to be told.
const PATIENCE: Duration = Duration::from_secs(60);

struct Followed {
    live: Live,
    changes: Receiver<Change>,
}

impl Followed {
    fn start(inputs: Inputs) -> Self {
        let (tell, changes) = channel();
        let live = Live::start(inputs, move |change| tell.send(change).unwrap()).unwrap();
        Self { live, changes }
    }

    /// Waits until what is in force is right. Changes on the way there are let pass.
    fn until(&self, what: &str, is_right: impl Fn(&Loaded) -> bool) {
        while !is_right(&self.live.current()) {
            match self.changes.recv_timeout(PATIENCE) {
                Ok(Change::Loaded(loaded)) if is_right(&loaded) => assert!(is_right(&self.live.current())),
                Ok(Change::Loaded(_) | Change::Kept(_)) => {}
                Ok(Change::Blind(why)) => panic!("{what}: {why}"),
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }

    /// Waits until the files are told to be broken.
    fn until_broken(&self) -> String {
        loop {
            match self.changes.recv_timeout(PATIENCE).unwrap() {
                Change::Kept(problems) => return problems.to_string(),
                Change::Loaded(_) => {}
                Change::Blind(why) => panic!("{why}"),
            }
        }
    }

    fn until_default(&self, what: &str, chain: Option<&str>) {
        self.until(what, |loaded| default(loaded).as_deref() == chain);
    }
}

fn default(loaded: &Loaded) -> Option<String> {
    loaded.routing.chains.get("default").map(ToString::to_string)
}

fn saying(chain: &str) -> String {
    format!("[router]\ndefault = \"{chain}\"\n")
}

#[test]
fn files_are_followed_through_every_kind_of_change() {
    let machine = Machine::new();
    machine.write(USER, &saying("a,1"));
    let followed = Followed::start(machine.inputs(&[]));
    assert_eq!(default(&followed.live.current()).as_deref(), Some("a,1"));
    let user = machine.0.path().join(USER);

    fs::write(&user, saying("a,2")).unwrap();
    followed.until_default("written in place", Some("a,2"));

    fs::write(&user, "[router]\ndefault = 1").unwrap();
    let told = followed.until_broken();
    assert!(told.contains("config.toml:2:11: router.default: a string is wanted here"), "{told}");
    assert_eq!(default(&followed.live.current()).as_deref(), Some("a,2"), "the old stays in force");

    fs::write(&user, saying("a,3")).unwrap();
    followed.until_default("mended", Some("a,3"));

    machine.write(USER, &saying("a,4"));
    followed.until_default("renamed over", Some("a,4"));
    machine.write(USER, &saying("a,5"));
    followed.until_default("renamed over again", Some("a,5"));

    fs::remove_file(&user).unwrap();
    followed.until_default("deleted", None);
    machine.write("user/.config/switchrail/config.json", "{\"router\": {\"default\": \"a,6\"}}");
    followed.until_default("made anew in another form", Some("a,6"));
}

#[test]
fn files_that_are_not_there_yet_are_waited_for() {
    let machine = Machine::new();
    let followed = Followed::start(machine.inputs(&[]));
    assert_eq!(default(&followed.live.current()), None);
    // Not even the folder of the user's file is there, nor that above it.
    machine.write(USER, &saying("a,1"));
    followed.until_default("the user's", Some("a,1"));
    machine.write(PROJECT, &saying("a,2"));
    followed.until_default("the project's", Some("a,2"));
    machine.write(LOCAL, &saying("a,3"));
    followed.until_default("the project's for this machine", Some("a,3"));
    let (folder, away) = (machine.0.path().join("repo/.switchrail"), machine.0.path().join("repo/away"));
    fs::rename(&folder, &away).unwrap();
    followed.until_default("the project's folder is moved away", Some("a,1"));
    machine.write(PROJECT, &saying("a,4"));
    followed.until_default("another one in its place", Some("a,4"));
    fs::remove_dir_all(&folder).unwrap();
    followed.until_default("and removed", Some("a,1"));
    fs::rename(&away, &folder).unwrap();
    followed.until_default("and moved back", Some("a,3"));
}

#[test]
fn what_values_refer_to_is_followed_too() {
    let machine = Machine::new();
    let provider =
        "[providers.a]\nprotocol = \"gemini\"\nbase_url = \"http://a\"\nkey = \"file:../../key\"\n";
    machine.write(USER, provider);
    let followed = Followed::start(machine.inputs(&[]));
    let keys = |loaded: &Loaded| -> Vec<String> {
        loaded.routing.providers["a"].keys.iter().map(|key| key.reveal().to_owned()).collect()
    };
    assert!(followed.live.current().routing.providers["a"].unusable.is_some());
    fs::write(machine.0.path().join("user/key"), "one\n").unwrap();
    followed.until("a key that was missing", |loaded| keys(loaded) == ["one"]);
    fs::write(machine.0.path().join("user/key"), "two\n").unwrap();
    followed.until("a key that changed", |loaded| keys(loaded) == ["two"]);

    let places = followed.live.current().places.clone().unwrap();
    set_active(&places, Some("a")).unwrap();
    followed.until("the active provider", |loaded| loaded.routing.active.as_deref() == Some("a"));
    set_active(&places, None).unwrap();
    followed.until("none", |loaded| loaded.routing.active.is_none());

    let given = "[gateway]\nlog_bodies = true\n";
    machine.write(PROJECT, given);
    followed.until("ignored", |loaded| loaded.warnings.iter().any(|warning| warning.key == "gateway"));
    let repo = machine.0.path().join("repo");
    machine.write("user/.local/state/switchrail/trust.json", &serde_json::json!([repo]).to_string());
    followed.until("trusted", |loaded| loaded.settings.gateway.log_bodies);
}

#[test]
fn a_file_behind_a_link_is_followed() {
    let machine = Machine::new();
    machine.write("dotfiles/rail.toml", &saying("a,1"));
    let user = machine.0.path().join(USER);
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(machine.0.path().join("dotfiles/rail.toml"), &user).unwrap();
    let followed = Followed::start(machine.inputs(&[]));
    assert_eq!(default(&followed.live.current()).as_deref(), Some("a,1"));
    machine.write("dotfiles/rail.toml", &saying("a,2"));
    followed.until_default("the file behind the link", Some("a,2"));
}

#[test]
fn after_many_quick_changes_the_last_is_in_force() {
    let machine = Machine::new();
    machine.write(USER, &saying("a,0"));
    let followed = Followed::start(machine.inputs(&[]));
    for number in 1..=300 {
        if number % 3 == 0 {
            machine.write(USER, &saying(&format!("a,{number}")));
        } else {
            fs::write(machine.0.path().join(USER), saying(&format!("a,{number}"))).unwrap();
        }
    }
    followed.until_default("the last", Some("a,300"));
}

#[test]
fn what_is_broken_from_the_beginning_is_told() {
    let machine = Machine::new();
    machine.write(USER, "[rooter]");
    let error = Live::start(machine.inputs(&[]), |_| {}).err().unwrap();
    assert_eq!(
        machine.told(error),
        "/user/.config/switchrail/config.toml:1:2: rooter: there is no such key; did you mean `router`?"
    );
}
