//! Skills from real folders.

use std::os::unix::fs::symlink;
use std::path::Path;

use rail_agent::commands::{Commands, FileKind, Places, Typed};
use rail_agent::skills::{Skill, cards, read};
use rail_config::Trusted;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn skills(root: &Path, problems: &mut Vec<String>) -> Vec<Skill> {
    let (project, config, home) = (root.join("project"), root.join("config"), root.join("home"));
    let places = Places { project: &project, trusted: Trusted::No, config: Some(&config), home: Some(&home) };
    read(&places.folders(FileKind::Skills), problems)
}

#[test]
fn the_first_of_a_name_counts_and_hostile_ones_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    write(
        &root,
        &[
            ("project/.switchrail/skills/pdf/SKILL.md", "The project's."),
            ("project/.claude/skills/pdf/SKILL.md", "Hidden by the other."),
            ("project/.claude/skills/lends/SKILL.md", "---\nallowed-tools: Bash\n---\nx"),
            ("project/.claude/skills/up/SKILL.md", "---\nname: ../up\n---\nx"),
            ("project/.claude/skills/none/readme.md", "no skill"),
            ("project/.claude/skills/file.md", "no skill"),
            ("project/.claude/skills/link/x", "x"),
            ("project/.env", "KEY=1"),
            ("outside/SKILL.md", "Elsewhere."),
            ("home/.claude/skills/pdf/SKILL.md", "The user's."),
        ],
    );
    let own = root.join("project/.claude/skills");
    symlink(root.join("project/.env"), own.join("link/SKILL.md")).unwrap();
    symlink(root.join("outside"), own.join("out")).unwrap();
    // The user's own may lie anywhere.
    symlink(root.join("outside"), root.join("home/.claude/skills/linked")).unwrap();
    let bomb: String = ["---\n", &"a:\n".repeat(100_000), "---\nx"].concat();
    write(&own, &[("bomb/SKILL.md", &bomb), ("twice/SKILL.md", "---\na: b\na: c\n---\nx")]);
    let mut problems = Vec::new();
    let all = skills(&root, &mut problems);
    let listed: Vec<String> =
        all.iter().map(|skill| format!("{} {:?} {}", skill.name, skill.owner, skill.body)).collect();
    assert_eq!(listed, ["pdf Project(No) The project's.", "lends Project(No) x", "linked User Elsewhere."]);
    assert_eq!(all[2].folder, root.join("outside"));
    assert!(cards(&all, &mut problems).iter().all(|card| card.lends.is_empty()));
    insta::assert_snapshot!(problems.join("\n").replace(root.to_str().unwrap(), "{root}"));
}

#[test]
fn skills_are_commands_unless_a_command_has_the_name() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        &[
            ("project/.claude/skills/pdf/SKILL.md", "Fill $1."),
            ("project/.claude/skills/help/SKILL.md", "x"),
            ("project/.claude/skills/fix/SKILL.md", "the skill"),
            ("project/.claude/skills/quiet/SKILL.md", "---\nuser-invocable: false\n---\nx"),
            ("project/.claude/commands/fix.md", "the command"),
        ],
    );
    let skills = skills(root.path(), &mut Vec::new());
    let project = root.path().join("project");
    let places = Places { project: &project, trusted: Trusted::Yes, config: None, home: None };
    let commands = Commands::load(&places.folders(FileKind::Commands)).with_skills(&skills);
    let body = |typed: &str| match commands.read(typed) {
        Typed::Custom(command, args) => format!("{} {args}", command.body.lines().next().unwrap()),
        other => format!("{other:?}"),
    };
    assert_eq!(body("/pdf a.pdf"), "Fill $1. a.pdf");
    assert_eq!(body("/fix it"), "the command it");
    assert_eq!(body("/help"), "Builtin(Help, \"\")");
    assert_eq!(body("/quiet"), "Unknown { name: \"quiet\", nearest: Some(\"quit\") }");
    assert_eq!(commands.problems().len(), 1, "{:?}", commands.problems());
}
