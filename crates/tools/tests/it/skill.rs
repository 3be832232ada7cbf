//! Skills from real folders, through the executor.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use rail_permit::{Mode, Rule};
use rail_tool::{Asks, BoxFuture, HookedCall, Reply, Session, SkillCard};
use serde_json::json;

use crate::scratch::Scratch;

/// Nobody says yes.
struct No;

impl Asks for No {
    fn ask<'a>(&'a self, _: &'a HookedCall, question: &'a rail_permit::Question) -> BoxFuture<'a, Reply> {
        let rules: Vec<String> =
            question.offers.iter().flat_map(|offer| &offer.rules).map(Rule::to_string).collect();
        let way = format!("It takes {}.", rules.join(" or "));
        Box::pin(std::future::ready(rail_permit::Answer::Nobody(way).into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

fn rule(text: &str) -> Rule {
    let native = |name: &str| match name {
        "Bash" => Some("bash".to_owned()),
        "Skill" => Some("skill".to_owned()),
        _ => None,
    };
    Rule::parse(text, "a test", &native).unwrap()
}

/// A skill in a folder beside the workspace.
fn card(session: &Session, name: &str, files: &[(&str, &str)], lends: &[&str]) -> SkillCard {
    let folder = session.workspace.parent().unwrap().join("skills").join(name);
    for (file, text) in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    SkillCard {
        name: name.to_owned(),
        description: String::new(),
        folder: folder.canonicalize().unwrap(),
        from: "yours".to_owned(),
        lends: lends.iter().map(|text| rule(text)).collect(),
    }
}

const PDF: &[(&str, &str)] = &[
    ("SKILL.md", "---\nname: pdf\ndescription: x\n---\n\nFill $ARGUMENTS. See forms.md.\n"),
    ("forms.md", "All forms.\n"),
    ("scripts/fill.py", "print(1)\n"),
    (".hidden/x", "x"),
    (".env", "KEY=1"),
];

/// With rules, and with nobody to ask.
fn scratch(rules: &[&str], lends: &[&str]) -> Scratch {
    let scratch = Scratch::asking_with(Arc::new(No), |session| {
        let card = card(session, "pdf", PDF, lends);
        session.skills.push(card);
    });
    let rules: Vec<Rule> = rules.iter().map(|text| rule(text)).collect();
    scratch.executor.change_policy(|policy| {
        policy.mode = Mode::Default;
        policy.rules.allow = rules;
    });
    scratch
}

fn within(scratch: &Scratch, text: &str) -> String {
    let root = scratch.workspace().parent().unwrap().canonicalize().unwrap();
    text.replace(root.to_str().unwrap(), "{root}")
}

#[test]
fn a_skill_is_loaded_and_its_files_can_be_read_then() {
    let scratch = scratch(&["Skill(pdf)"], &[]);
    let forms = scratch.session.skills[0].folder.join("forms.md");
    let read = json!({"file_path": forms});
    assert!(!scratch.run("read_file", &read).success());
    let loaded = scratch.run("skill", &json!({"skill": "/PDF", "args": "a.pdf"}));
    assert!(loaded.success());
    insta::assert_snapshot!(within(&scratch, &loaded.text()));
    assert!(scratch.says("read_file", &read).contains("All forms."));
    // What lies beside the folder, and secrets in it, are asked about as before.
    for file in ["../other.md", ".env"] {
        let path = scratch.session.skills[0].folder.join(file);
        std::fs::write(&path, "x").unwrap();
        assert!(!scratch.run("read_file", &json!({"file_path": path})).success(), "{file}");
    }
}

#[test]
fn a_skill_asks_by_default_and_says_where_it_is_from() {
    let scratch = scratch(&[], &["Bash(touch made)"]);
    let denied = scratch.run("skill", &json!({"skill": "pdf"}));
    assert!(!denied.success());
    insta::assert_snapshot!(within(&scratch, &denied.text()));
    let forms = scratch.session.skills[0].folder.join("forms.md");
    assert!(!scratch.run("read_file", &json!({"file_path": forms})).success());
    assert!(!scratch.run("bash", &json!({"command": "touch made"})).success());
}

#[test]
fn what_a_skill_lends_ends_with_the_task() {
    let scratch = scratch(&["Skill"], &["Bash(touch made)"]);
    let touch = json!({"command": "touch made"});
    assert!(!scratch.run("bash", &touch).success());
    let loaded = scratch.says("skill", &json!({"name": "pdf"}));
    assert!(
        loaded.contains("Until the task is done, this is not asked about: `Bash(touch made)`.\n"),
        "{loaded}"
    );
    assert!(scratch.run("bash", &touch).success());
    // Loaded twice, it is still lent once.
    scratch.run("skill", &json!({"skill": "pdf"}));
    scratch.executor.end_lent();
    assert!(!scratch.run("bash", &touch).success());
    let forms = scratch.session.skills[0].folder.join("forms.md");
    assert!(scratch.run("read_file", &json!({"file_path": forms})).success());
    let rules: Vec<String> = scratch.executor.policy().rules.allow.iter().map(Rule::to_string).collect();
    let rules = within(&scratch, &rules.join(" "));
    assert!(rules.starts_with("Skill Read(/") && rules.ends_with("/skills/pdf/**)"), "{rules}");
}

#[test]
fn names_that_are_not_there_are_told_with_those_that_are() {
    let scratch = scratch(&[], &[]);
    for (name, expected) in [
        ("pdff", "there is no skill `pdff`; did you mean `pdf`?"),
        ("../pdf", "there is no skill `../pdf`; there are `pdf`"),
        ("spreadsheets", "there is no skill `spreadsheets`; there are `pdf`"),
        ("", "there is no skill ``; there are `pdf`"),
    ] {
        assert_eq!(scratch.run("skill", &json!({"skill": name})).text(), expected);
    }
}

#[test]
fn hostile_folders_give_an_error_and_nothing_else() {
    let scratch = Scratch::with(|session| {
        let skills = [("large", vec![b'x'; 300 << 10]), ("binary", vec![0xff, 0xfe, 0x00])];
        for (name, bytes) in skills {
            let card = card(session, name, &[("SKILL.md", "")], &[]);
            std::fs::write(card.folder.join("SKILL.md"), bytes).unwrap();
            session.skills.push(card);
        }
        let linked = card(session, "linked", &[("x", "x")], &[]);
        let secret = session.workspace.parent().unwrap().join("secret");
        std::fs::write(&secret, "sesame").unwrap();
        symlink(&secret, linked.folder.join("SKILL.md")).unwrap();
        session.skills.push(linked);
        let gone = card(session, "gone", &[("SKILL.md", "x")], &[]);
        std::fs::remove_dir_all(&gone.folder).unwrap();
        session.skills.push(gone);
        let many = card(session, "many", &[("SKILL.md", "Many.")], &[]);
        (0..80).for_each(|n| std::fs::write(many.folder.join(format!("f{n:02}")), "x").unwrap());
        symlink(&secret, many.folder.join("a-link")).unwrap();
        symlink(".", many.folder.join("round")).unwrap();
        session.skills.push(many);
    });
    let said: Vec<String> = ["large", "binary", "linked", "gone"]
        .map(|name| {
            let outcome = scratch.run("skill", &json!({"skill": name}));
            assert!(!outcome.success() && !outcome.text().contains("sesame"), "{name}");
            within(&scratch, &outcome.text())
        })
        .to_vec();
    insta::assert_snapshot!(said.join("\n"));
    let many = scratch.says("skill", &json!({"skill": "many"}));
    assert!(
        many.contains("- and 30 more\n") && !many.contains("a-link") && !many.contains("round"),
        "{many}"
    );
    assert!(many.ends_with("\n\nMany."), "{many}");
}

#[test]
fn a_folder_whose_name_looks_like_a_pattern_lets_nothing_else_be_read() {
    let scratch = Scratch::asking_with(Arc::new(No), |session| {
        let odd = card(session, "[ab]*", &[("SKILL.md", "x"), ("f", "mine")], &[]);
        let other = card(session, "ab", &[("f", "other")], &[]);
        assert!(Path::new(&other.folder).exists());
        session.skills.push(SkillCard { name: "odd".to_owned(), ..odd });
    });
    scratch.executor.change_policy(|policy| {
        policy.mode = Mode::Default;
        policy.rules.allow = vec![rule("Skill(odd)")];
    });
    assert!(scratch.run("skill", &json!({"skill": "odd"})).success());
    let folder = scratch.session.skills[0].folder.clone();
    assert!(scratch.run("read_file", &json!({"file_path": folder.join("f")})).success());
    let beside = folder.parent().unwrap().join("ab/f");
    assert!(!scratch.run("read_file", &json!({"file_path": beside})).success());
}
