//! What is written for the user, into real files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rail_config::import::Imported;
use rail_config::{Existing, Places, SaveError, Saved, existing, save};
use rail_stdx::Secret;

use crate::machine::{Machine, USER};

const ENV: &str = "user/.config/switchrail/.env";

fn new(toml: &str, env: &[(&str, &str)]) -> Imported {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect();
    Imported { toml: toml.to_owned(), env, notes: Vec::new() }
}

fn places(machine: &Machine) -> Places {
    let inputs = machine.inputs(&[]);
    Places::find(&inputs.env, &inputs.working_folder).unwrap()
}

fn text(machine: &Machine, file: &str) -> String {
    fs::read_to_string(machine.0.path().join(file)).unwrap()
}

fn mode(machine: &Machine, file: &str) -> u32 {
    fs::metadata(machine.0.path().join(file)).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_first_file_and_its_keys_are_the_users_alone() {
    let machine = Machine::new();
    let places = places(&machine);
    let imported = new("[tui]\ntheme = \"dark\"\n", &[("K", "sk-1")]);
    let saved = save(&places, &imported, Existing::Refuse).unwrap();
    assert_eq!((saved.config, saved.env), (existing(&places), Some(places.env())));
    assert_eq!(
        (text(&machine, USER), text(&machine, ENV)),
        (imported.toml.clone(), "K=\"sk-1\"\n".to_owned())
    );
    assert_eq!((mode(&machine, USER), mode(&machine, ENV)), (0o600, 0o600));
    let refused = save(&places, &imported, Existing::Refuse);
    assert!(matches!(refused, Err(SaveError::Exists(_))), "{refused:?}");
    assert_eq!(save(&places, &imported, Existing::Add).unwrap(), Saved::default(), "all is there");
}

#[test]
fn adding_keeps_what_is_there() {
    let machine = Machine::new();
    let places = places(&machine);
    machine.write(USER, "# mine\n[router]\ndefault = \"a,1\"\n").write(ENV, "OTHER=x # kept");
    let imported = new("[router]\ndefault = \"b,1\"\ncoding = \"b,2\"\n", &[("K", "sk-1")]);
    let saved = save(&places, &imported, Existing::Add).unwrap();
    assert_eq!(
        (saved.added, saved.kept),
        (vec!["router.coding".to_owned()], vec!["router.default".to_owned()])
    );
    assert_eq!(text(&machine, USER), "# mine\n[router]\ndefault = \"a,1\"\ncoding = \"b,2\"\n");
    assert_eq!(text(&machine, ENV), "OTHER=x # kept\nK=\"sk-1\"\n");

    let other = new("[tui]\ntheme = \"dark\"\n", &[("K", "sk-2")]);
    let differs = save(&places, &other, Existing::Add).unwrap_err();
    assert!(!differs.to_string().contains("sk-"), "{differs}");
    assert!(matches!(differs, SaveError::Differs { .. }), "{differs}");
    assert!(!text(&machine, USER).contains("tui"), "nothing is written by halves");
}

#[test]
fn replacing_keeps_a_backup() {
    let machine = Machine::new();
    let places = places(&machine);
    machine.write(USER, "broken =").write(ENV, "K=sk-old\nL=1\n");
    let imported = new("[tui]\n", &[("K", "sk-new")]);
    let broken = save(&places, &imported, Existing::Add);
    assert!(matches!(broken, Err(SaveError::Unreadable { .. })), "{broken:?}");
    let saved = save(&places, &imported, Existing::Replace).unwrap();
    let backup = "user/.config/switchrail/config.toml.bak";
    assert_eq!(saved.backups, [machine.0.path().join(backup)]);
    assert_eq!((text(&machine, backup).as_str(), mode(&machine, backup)), ("broken =", 0o600));
    assert_eq!(
        (text(&machine, USER).as_str(), text(&machine, ENV).as_str()),
        ("[tui]\n", "L=1\nK=\"sk-new\"\n")
    );
    let saved = save(&places, &new("[agent]\n", &[]), Existing::Replace).unwrap();
    assert_eq!(saved.backups, [machine.0.path().join("user/.config/switchrail/config.toml.bak2")]);
    assert_eq!(text(&machine, backup), "broken =", "the first backup stays");
}

#[test]
fn a_configuration_in_json_is_not_touched_unless_it_is_replaced() {
    let machine = Machine::new();
    let places = places(&machine);
    let json = "user/.config/switchrail/config.json";
    machine.write(json, "{}");
    let refused = save(&places, &new("[tui]\n", &[]), Existing::Add);
    assert!(matches!(refused, Err(SaveError::Json(_))), "{refused:?}");
    save(&places, &new("[tui]\n", &[]), Existing::Replace).unwrap();
    assert_eq!(text(&machine, "user/.config/switchrail/config.json.bak"), "{}");
    assert!(!machine.0.path().join(json).exists() && machine.0.path().join(USER).exists());
}

#[test]
fn a_link_stays_a_link() {
    let machine = Machine::new();
    machine.write("dotfiles/config.toml", "[tui]\n").write(ENV, "");
    std::os::unix::fs::symlink(machine.0.path().join("dotfiles/config.toml"), machine.0.path().join(USER))
        .unwrap();
    save(&places(&machine), &new("[agent]\n", &[]), Existing::Add).unwrap();
    assert!(fs::symlink_metadata(machine.0.path().join(USER)).unwrap().is_symlink());
    assert_eq!(text(&machine, "dotfiles/config.toml"), "[tui]\n\n[agent]\n");
}
