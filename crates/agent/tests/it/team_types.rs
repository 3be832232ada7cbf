//! Types of agents from real folders.

use std::os::unix::fs::symlink;
use std::path::Path;

use rail_agent::commands::{FileKind, OwnedFolder, Owner, Places};
use rail_agent::team::types::{AgentType, Tools, all};
use rail_config::Trusted;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn folders(root: &Path, trusted: Trusted) -> Vec<OwnedFolder> {
    let (project, config, home) = (root.join("project"), root.join("config"), root.join("home"));
    let places = Places { project: &project, trusted, config: Some(&config), home: Some(&home) };
    places.folders(FileKind::Agents)
}

#[test]
fn files_come_before_what_is_built_in_and_the_project_before_the_user() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            (
                "project/.claude/agents/review.md",
                "---\nname: code-reviewer\ntools: Read\n---\nThe project's.",
            ),
            ("project/.switchrail/agents/own.md", "---\nname: searcher\n---\nOurs."),
            ("project/.claude/agents/own.md", "---\nname: searcher\n---\nHidden by ours."),
            ("config/agents/review.md", "---\nname: code-reviewer\n---\nThe user's."),
            ("home/.claude/agents/deep/helper.md", "Helps."),
            ("home/.claude/agents/notes.txt", "none"),
        ],
    );
    let mut problems = Vec::new();
    let all = all(&folders(root.path(), Trusted::Yes), &mut problems);
    let shown = |kind: &AgentType| {
        let text = if kind.path.is_some() { kind.prompt.as_str() } else { "built in" };
        format!("{} {:?} {:?} {text}", kind.name, kind.owner, kind.tools)
    };
    let listed: Vec<String> = all.iter().map(shown).collect();
    assert_eq!(
        listed,
        [
            "general-purpose BuiltIn All built in",
            "code-refactorer BuiltIn All built in",
            "security-auditor BuiltIn ReadOnly built in",
            "project-rules-architect BuiltIn All built in",
            "code-reviewer Project(Yes) Named([\"read_file\"]) The project's.",
            "test-writer BuiltIn All built in",
            "doc-writer BuiltIn All built in",
            "architect BuiltIn ReadOnly built in",
            "searcher Project(Yes) All Ours.",
            "helper User All Helps.",
        ]
    );
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn files_that_are_hostile_are_left_out_and_named() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("project/.claude/agents/up.md", "---\nname: ../up\n---\nx"),
            ("project/.claude/agents/empty.md", "---\nname: empty\n---\n"),
            ("project/.env", "KEY=secret"),
            ("outside/private.md", "A private text."),
            ("home/.claude/agents/fine.md", "Fine."),
        ],
    );
    let agents = root.path().join("project/.claude/agents");
    std::fs::write(agents.join("large.md"), vec![b'x'; 300 * 1024]).unwrap();
    std::fs::write(agents.join("bytes.md"), b"\xff\xfe\x00").unwrap();
    symlink(root.path().join("outside/private.md"), agents.join("out.md")).unwrap();
    symlink("../../.env", agents.join("secret.md")).unwrap();
    symlink(".", agents.join("round")).unwrap();
    symlink("../agents", agents.join("and-round")).unwrap();
    // The user's own may lie anywhere.
    symlink(root.path().join("outside/private.md"), root.path().join("home/.claude/agents/linked.md"))
        .unwrap();
    let mut problems = Vec::new();
    let own = rail_agent::team::types::read(&folders(root.path(), Trusted::No), &mut problems);
    let names: Vec<&str> = own.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["fine", "linked"]);
    assert!(own.iter().all(|kind| kind.owner == Owner::User && kind.tools == Tools::All));
    problems.retain(|problem| !problem.contains("round"));
    let root = root.path().canonicalize().unwrap();
    let problems = problems.join("\n").replace(root.to_str().unwrap(), "{root}");
    insta::assert_snapshot!(problems);
}

#[test]
fn an_untrusted_project_replaces_no_type_and_chooses_no_model() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("project/.claude/agents/general-purpose.md", "---\nmodel: far,m\n---\nDo as I say."),
            ("project/.claude/agents/mine.md", "---\nmodel: far,m\n---\nThe project's."),
            ("project/.claude/agents/new.md", "---\nmodel: far,m\n---\nOne more."),
            ("config/agents/mine.md", "---\nmodel: near,m\n---\nThe user's."),
        ],
    );
    let mut problems = Vec::new();
    let all = all(&folders(root.path(), Trusted::No), &mut problems);
    let of = |name: &str| all.iter().find(|kind| kind.name == name).unwrap();
    assert_eq!(of("general-purpose").owner, Owner::BuiltIn);
    assert_eq!((of("mine").owner, of("mine").model.as_deref()), (Owner::User, Some("near,m")));
    assert_eq!((of("new").prompt.as_str(), of("new").model.as_deref()), ("One more.", None));
    assert!(problems.iter().any(|problem| problem.contains("`general-purpose`")), "{problems:?}");
}
