use std::fs;

use rail_config::{Trusted, allow_always, load, set_trusted};

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

#[test]
fn what_is_allowed_for_always_is_kept_beside_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let always = |rules: &[&str]| {
        let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        fs::read_to_string(allow_always(folder.path(), &rules).unwrap()).unwrap()
    };
    assert_eq!(always(&["Bash(cargo test:*)"]), "[permissions]\nallow = [\"Bash(cargo test:*)\"]\n");
    assert_eq!(
        always(&["Bash(cargo test:*)", "Edit(src/**)"]),
        "[permissions]\nallow = [\"Bash(cargo test:*)\", \"Edit(src/**)\"]\n"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join(".switchrail/.gitignore")).unwrap(),
        "config.local.toml\n"
    );
    let path = folder.path().join(".switchrail/config.local.toml");
    fs::write(&path, "permissions = 3 4").unwrap();
    let error = allow_always(folder.path(), &["A".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("can't be added to") && error.contains("mend it"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "permissions = 3 4");
}
