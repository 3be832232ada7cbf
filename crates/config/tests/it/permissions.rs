use std::fs;

use rail_config::{AllowError, Inputs, Trusted, allow_always, check, load, set_trusted, trust_wishes};

use crate::machine::{LOCAL, Machine, PROJECT, USER};

#[test]
fn rules_of_all_files_add_up() {
    let machine = Machine::new();
    machine.write(USER, "[permissions]\nallow = [\"Bash(ls:*)\"]\ndeny = [\"Read(x)\"]\n");
    machine.write(PROJECT, "[permissions]\nallow = [\"Edit(src/**)\"]\ndeny = []\n");
    machine.write(LOCAL, "[permissions]\nallow = [\"WebFetch\"]\n");
    let inputs = machine.inputs(&[("SWITCHRAIL_PERMISSIONS__DENY", "[\"Bash(rm:*)\"]")]);
    let rules = |inputs| {
        let settings = load(inputs).unwrap().settings.permissions;
        let texts = |rules: Vec<rail_config::settings::PermissionRule>| {
            rules.into_iter().map(|rule| rule.0).collect::<Vec<_>>().join(" ")
        };
        (texts(settings.allow), texts(settings.deny))
    };
    assert_eq!(rules(&inputs), ("Bash(ls:*)".to_owned(), "Read(x) Bash(rm:*)".to_owned()));
    let places = load(&inputs).unwrap().places.unwrap();
    set_trusted(&places, &machine.0.path().join("repo"), Trusted::Yes).unwrap();
    assert_eq!(
        rules(&inputs),
        ("Bash(ls:*) Edit(src/**) WebFetch".to_owned(), "Read(x) Bash(rm:*)".to_owned())
    );
}

fn always(inputs: &Inputs, rules: &[&str]) -> Result<String, AllowError> {
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    allow_always(inputs, &rules).map(|path| fs::read_to_string(path).unwrap())
}

/// The rules in force.
fn allowed(inputs: &Inputs) -> String {
    let allow = load(inputs).unwrap().settings.permissions.allow;
    allow.into_iter().map(|rule| rule.0).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_allowed_for_always_is_kept_beside_what_is_there() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[]);
    let folder = &inputs.working_folder;
    assert_eq!(
        always(&inputs, &["Bash(cargo test:*)"]).unwrap(),
        "[permissions]\nallow = [\"Bash(cargo test:*)\"]\n"
    );
    assert_eq!(
        always(&inputs, &["Bash(cargo test:*)", "Edit(src/**)"]).unwrap(),
        "[permissions]\nallow = [\"Bash(cargo test:*)\", \"Edit(src/**)\"]\n"
    );
    assert_eq!(fs::read_to_string(folder.join(".switchrail/.gitignore")).unwrap(), "config.local.toml\n");
    let path = folder.join(".switchrail/config.local.toml");
    fs::write(&path, "permissions = 3 4").unwrap();
    let error = always(&inputs, &["A"]).unwrap_err().to_string();
    assert!(error.contains("can't be added to") && error.contains("mend it"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "permissions = 3 4");
}

#[test]
fn an_always_in_a_plain_folder_counts_and_trusts_nothing_else() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[]);
    always(&inputs, &["Bash(make:*)"]).unwrap();
    assert_eq!(allowed(&inputs), "Bash(make:*)");
    assert_eq!((check(&inputs).trusted, trust_wishes(&inputs)), (Trusted::No, Vec::new()));
    let told =
        || load(&inputs).unwrap().warnings.into_iter().filter(|told| told.text.contains("not trusted"));
    assert_eq!(told().count(), 0);
    // What somebody adds to the files later is not the user's word.
    let local = "repo/src/.switchrail/config.local.toml";
    machine.write(local, "[permissions]\nallow = [\"Bash(make:*)\", \"Bash(rm:*)\"]\nmode = \"bypass\"\n");
    machine.write(
        "repo/src/.switchrail/config.toml",
        "[permissions]\nallow = [\"Bash(make:*)\", \"Bash(sh:*)\"]\n",
    );
    assert_eq!(allowed(&inputs), "Bash(make:*)");
    assert_eq!(load(&inputs).unwrap().settings.permissions.mode, rail_config::settings::Mode::Default);
    assert_eq!((told().count(), trust_wishes(&inputs).len()), (2, 2));
    // A rule that the user takes out of the file is gone, and so are all when trust is taken back.
    machine.write(local, "").write("repo/src/.switchrail/config.toml", "");
    assert_eq!(allowed(&inputs), "");
    always(&inputs, &["Bash(make:*)"]).unwrap();
    let places = check(&inputs).places.unwrap();
    assert!(set_trusted(&places, &inputs.working_folder, Trusted::No).unwrap());
    assert_eq!(allowed(&inputs), "");
}

#[test]
fn an_always_does_not_activate_what_a_folder_ships() {
    let machine = Machine::new();
    let shipped = "[permissions]\nallow = [\"Bash(curl:*)\"]\n";
    machine.write(LOCAL, shipped);
    let inputs = machine.inputs(&[]);
    let error = always(&inputs, &["Bash(make:*)"]).unwrap_err().to_string();
    assert!(error.contains("not trusted") && error.contains("rail config trust"), "{error}");
    assert_eq!(allowed(&inputs), "");
    assert_eq!(fs::read_to_string(machine.0.path().join(LOCAL)).unwrap(), shipped);
    // Once it is trusted, the rule stands in the project's own file and not in a new one further down.
    let places = check(&inputs).places.unwrap();
    set_trusted(&places, &machine.0.path().join("repo"), Trusted::Yes).unwrap();
    always(&inputs, &["Bash(make:*)"]).unwrap();
    assert_eq!(allowed(&inputs), "Bash(curl:*) Bash(make:*)");
}

#[test]
fn an_always_does_not_write_through_a_link_that_a_folder_ships() {
    let machine = Machine::new();
    machine.write("other/.switchrail/config.toml", "");
    let other = machine.0.path().join("other/.switchrail");
    std::os::unix::fs::symlink(&other, machine.0.path().join("repo/.switchrail")).unwrap();
    let error = always(&machine.inputs(&[]), &["Bash(make:*)"]).unwrap_err().to_string();
    assert!(error.contains("not trusted"), "{error}");
    assert!(!other.join("config.local.toml").exists());
}

#[test]
fn a_broken_list_of_what_is_allowed_allows_nothing_and_is_told() {
    let machine = Machine::new();
    let inputs = machine.inputs(&[]);
    always(&inputs, &["Bash(make:*)"]).unwrap();
    machine.write("user/.local/state/switchrail/allowed.json", "{");
    let warnings = load(&inputs).unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.text.contains("no JSON list of folders")), "{warnings:?}");
    assert_eq!(allowed(&inputs), "");
}

#[test]
fn an_always_does_not_speak_for_what_is_unpacked_below() {
    let machine = Machine::new();
    let downloads = machine.0.path().join("downloads");
    machine.write("downloads/other/Makefile", "all:\n").write("downloads/.switchrail/.keep", "");
    let at = |folder: &str| Inputs { working_folder: downloads.join(folder), ..machine.inputs(&[]) };
    always(&at(""), &["Bash(make:*)"]).unwrap();
    assert_eq!(allowed(&at("")), "Bash(make:*)");
    assert_eq!(allowed(&at("other")), "");
    let error = always(&at("other"), &["Bash(make:*)"]).unwrap_err().to_string();
    assert!(error.contains("not trusted"), "{error}");
    // A repository is one thing.
    machine.write("downloads/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(allowed(&at("other")), "Bash(make:*)");
}
