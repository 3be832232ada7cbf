//! Files that are no files, and words that should not be seen.

use std::fs;
use std::os::unix::fs::symlink;

use rail_config::{
    Checked, FileFound, Inputs, Trusted, Which, With, check, load, set_active, set_trusted, show_toml,
};

use crate::machine::{Machine, PROJECT, USER};

fn told(machine: &Machine, checked: &Checked) -> String {
    let all = checked.problems.0.iter().chain(&checked.warnings);
    all.map(|problem| machine.told(problem)).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_link_of_a_repository_leads_to_is_not_read_without_end() {
    let machine = Machine::new();
    machine.write(USER, "[router]\ndefault = \"a,b\"");
    let folder = machine.0.path().join(PROJECT).parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    symlink("/dev/zero", folder.join("config.toml")).unwrap();
    symlink("/dev/zero", folder.join(".env")).unwrap();
    let checked = check(&machine.inputs(&[]));
    insta::assert_snapshot!(told(&machine, &checked), @r"
    /repo/.switchrail/config.toml:1:1: it can't be read: it is no regular file; make it readable, or move it away
    /repo/.switchrail/.env:1:1: it can't be read: it is no regular file; make it readable, or move it away
    ");
    let project = checked.files.iter().find(|file| file.path == folder.join("config.toml")).unwrap();
    assert_eq!(project.found, FileFound::Unreadable);
    let long = fs::File::create(folder.join("config.json")).unwrap();
    long.set_len(17 << 20).unwrap();
    fs::remove_file(folder.join("config.toml")).unwrap();
    fs::remove_file(folder.join(".env")).unwrap();
    assert_eq!(
        told(&machine, &check(&machine.inputs(&[]))),
        "/repo/.switchrail/config.json:1:1: it can't be read: it is longer than 16 MiB; make it readable, or move it away"
    );
}

#[test]
fn what_a_file_says_that_cannot_be_read_is_not_called_missing() {
    let machine = Machine::new();
    machine.write(PROJECT, "[router]\ndefault = \"a,b\"\nmine = \"a,b\"");
    let inputs = machine.inputs(&[("SWITCHRAIL_PROVIDERS__A__KEY", "x")]);
    machine.write(USER, "[providers.a");
    assert!(told(&machine, &check(&inputs)).starts_with("/user/.config/switchrail/config.toml:1:"));
    assert_eq!(told(&machine, &check(&inputs)).lines().count(), 1);
    let user = machine.0.path().join(USER);
    fs::remove_file(&user).unwrap();
    // Neither of the two can be read, which is no reason to remove one of them.
    for path in [user.clone(), user.with_extension("json")] {
        symlink(&path, &path).unwrap();
    }
    let told = told(&machine, &check(&inputs));
    assert_eq!((told.lines().count(), told.contains("keep one")), (2, false), "{told}");
}

#[test]
fn without_a_home_it_is_told_that_no_file_counts() {
    let checked = check(&Inputs { working_folder: "/".into(), ..Inputs::default() });
    assert_eq!(
        checked.warnings[0].to_string(),
        "configuration: there is no home folder, so that no file of yours or of the project is read; set `HOME` or \
         `XDG_CONFIG_HOME` to an absolute path"
    );
}

#[test]
fn a_state_folder_that_is_a_file_says_so_only_when_it_is_written() {
    let machine = Machine::new();
    machine.write("user/.local/state/switchrail", "").write(USER, "[router]\ndefault = \"a,b\"");
    let loaded = load(&machine.inputs(&[])).unwrap();
    assert!(loaded.warnings.iter().all(|warning| !warning.key.is_empty()), "{:?}", loaded.warnings);
    let error = set_active(&loaded.places.unwrap(), Some("a")).unwrap_err();
    assert_eq!(
        machine.told(error),
        "/user/.local/state/switchrail/active.json can't be written: File exists (os error 17); make it yours, or move \
         away what is in its place"
    );
}

#[test]
fn a_relative_path_trusts_no_folder() {
    let machine = Machine::new();
    machine.write(PROJECT, "[permissions]\nmode = \"bypass\"");
    let here = std::env::current_dir().unwrap();
    let up = here.ancestors().skip(1).map(|_| "..").collect::<Vec<_>>().join("/");
    let repo = fs::canonicalize(machine.0.path().join("repo")).unwrap();
    let relative = format!("{up}{}", repo.display());
    assert_eq!(fs::canonicalize(&relative).unwrap(), repo);
    machine.write("user/.local/state/switchrail/trust.json", &serde_json::json!([relative]).to_string());
    assert_eq!(load(&machine.inputs(&[])).unwrap().settings.permissions.mode, Default::default());
}

#[test]
fn variables_that_no_key_has_name_each_that_there_is_once() {
    let machine = Machine::new();
    machine.write(
        USER,
        "[router]\ndefault = \"a,b\"\n[[router.rules]]\nname = \"x\"\nchain = \"a,b\"\nmodel = \"m\"",
    );
    for (name, expected) in [
        ("SWITCHRAIL_CONFIGG", "no key has this variable; did you mean `SWITCHRAIL_CONFIG`?"),
        (
            "SWITCHRAIL_ROUTER__",
            "no key has this variable; after `SWITCHRAIL_ROUTER__` come: `DEFAULT`, `CODING`, `IMAGE_PROCESSING`, \
             `LONG_CONTEXT`, `WEB_SEARCH`, `REASONING`, `OPTIONS`, `RULES`",
        ),
    ] {
        let problems = load(&machine.inputs(&[(name, "x")])).unwrap_err();
        assert_eq!(problems.to_string(), format!("{name}: {expected}"));
    }
}

#[test]
fn a_key_in_a_wrong_place_is_not_shown() {
    let key = "sk-proj-s3cret-0123456789-s3cret";
    let machine = Machine::new();
    machine.write(
        USER,
        &format!(
            "[router]\ndefault = \"{key},m\"\ncoding = \"https://evil/v1,m\"\n[providers.a]\nprotocol = \"gemini\"\n\
             base_url = \"https://h\"\nkey = \"file:{key}\"\n"
        ),
    );
    let checked = check(&machine.inputs(&[]));
    insta::assert_snapshot!(told(&machine, &checked), @r#"
    /user/.config/switchrail/config.toml:2:11: router.default: no provider `***` is configured, so that its targets are skipped; add [providers.***]
    /user/.config/switchrail/config.toml:3:10: router.coding: no provider `https://evil/v1` is configured, so that its targets are skipped; add [providers."https://evil/v1"]
    /user/.config/switchrail/config.toml:7:7: providers.a.key: /user/.config/switchrail/*** can't be read: No such file or directory (os error 2); write the value there, or correct the path
    "#);
    let loaded = checked.loaded.unwrap();
    assert!(!show_toml(&loaded, Which::All, With::Origins).contains("s3cret"));
    assert!(!loaded.routing.providers["a"].unusable.as_ref().unwrap().contains("s3cret"));
    assert!(!loaded.choose(key).unwrap_err().to_string().contains("s3cret"));
    let inputs = machine.inputs(&[(&format!("SWITCHRAIL_{key}"), "x")]);
    assert!(!load(&inputs).unwrap_err().to_string().contains("s3cret"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_the_list_cannot_name_is_not_trusted() {
    use std::os::unix::ffi::OsStrExt;
    let machine = Machine::new();
    let folder = machine.0.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir_all(&folder).unwrap();
    let places = load(&machine.inputs(&[])).unwrap().places.unwrap();
    let error = set_trusted(&places, &folder, Trusted::Yes).unwrap_err();
    assert_eq!(
        machine.told(error),
        "/odd-\u{fffd} is no folder that can be trusted: its path is no UTF-8 text; name one that is"
    );
}
