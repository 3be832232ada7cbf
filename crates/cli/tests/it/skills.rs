//! Skills and types of agents, through the real program and a scripted model.

use rail_model::Part;
use rail_testkit::{Models, Turn};
use serde_json::{Value, json};

use crate::scratch::Home;
use crate::sessions::{calls, good, said, talking};

const PDF: &str = "---\nname: pdf\ndescription: Fills in forms.\nallowed-tools: Bash(touch made)\n---\nFill $ARGUMENTS. See forms.md.";

/// A home with a skill of the user's, outside of the workspace.
fn skilled(turns: Vec<Turn>) -> (Home, Models) {
    let (home, models) = talking(turns);
    home.write("user/.claude/skills/pdf/SKILL.md", PDF)
        .write("user/.claude/skills/pdf/forms.md", "Field one is the name.\n");
    (home, models)
}

fn load() -> Turn {
    calls("skill", json!({"skill": "pdf", "args": "a.pdf"}))
}

fn read() -> Turn {
    calls("read_file", json!({"file_path": "~/.claude/skills/pdf/forms.md"}))
}

/// All that the last request said, and the names of its tools.
fn asked(models: &Models) -> (String, Vec<String>) {
    let asked = models.requests().pop().unwrap();
    let request = asked.request().unwrap();
    let system: String = request.system.iter().filter_map(Part::as_text).collect();
    let tools = request.tools.iter().map(|tool| tool.name.clone()).collect();
    (format!("{system}\n{:?}", request.messages), tools)
}

#[test]
fn a_skill_is_loaded_its_file_read_and_what_it_lends_done() {
    let touch = calls("bash", json!({"command": "touch made"}));
    let (home, models) = skilled(vec![load(), read(), touch, said("Filled in.")]);
    assert_eq!(good(&home, &["-p", "fill in a.pdf", "--allow", "Skill(pdf)"]), "Filled in.\n");
    let (told, tools) = asked(&models);
    assert!(tools.contains(&"skill".to_owned()), "{tools:?}");
    let expected = [
        "load it with `skill` before you begin.\n- pdf: Fills in forms.\n",
        "Fill a.pdf. See forms.md.",
        "`forms.md` (23 bytes)",
        "Field one is the name.",
    ];
    for part in expected {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("$ARGUMENTS"), "{told}");
    assert!(home.path("repo/made").exists());
}

#[test]
fn a_skill_that_nobody_allows_is_not_loaded() {
    let (home, models) = skilled(vec![load(), read(), said("Not done.")]);
    let run = home.rail(&["-p", "fill in a.pdf"], "");
    assert_eq!(run.code, Some(1), "{}", run.whole());
    assert!(run.err.contains("Skill(pdf)"), "{}", run.err);
    let (told, _) = asked(&models);
    assert!(!told.contains("See forms.md") && !told.contains("Field one"), "{told}");
    assert!(told.contains("is yours and may do `Bash(touch made)` without asking"), "{told}");
}

#[test]
fn without_skills_no_model_is_told_of_them() {
    let (home, models) = talking(vec![said("ok")]);
    good(&home, &["-p", "hello"]);
    let (told, tools) = asked(&models);
    assert!(!tools.contains(&"skill".to_owned()) && !told.contains("# Skills"), "{tools:?}");
    let listed = "there are no skills; a folder `.switchrail/skills/NAME` with a `SKILL.md` in it is one\n";
    assert_eq!(good(&home, &["-p", "/skills"]), listed);
}

#[test]
fn skills_are_listed_called_for_and_shown_in_the_prompt() {
    let (home, models) = skilled(vec![read(), said("Seen.")]);
    home.write(
        "repo/.claude/skills/own/SKILL.md",
        "---\nallowed-tools: Bash\nuser-invocable: false\n---\nOurs.",
    )
    .write("repo/.claude/skills/up/SKILL.md", "---\nname: ../up\n---\nx")
    .write("repo/.claude/skills/help/SKILL.md", "---\ndisable-model-invocation: true\n---\nHelp.")
    .write("secret.md", "sesame");
    std::fs::create_dir(home.path("repo/.claude/skills/out")).unwrap();
    std::os::unix::fs::symlink(home.path("secret.md"), home.path("repo/.claude/skills/out/SKILL.md"))
        .unwrap();
    insta::assert_snapshot!(good(&home, &["-p", "/skills"]));
    assert_eq!(good(&home, &["-p", "/pdf b.pdf"]), "Seen.\n");
    let (told, _) = asked(&models);
    assert!(told.contains("Fill b.pdf. See forms.md.") && told.contains("Field one is the name."), "{told}");
    let prompt = good(&home, &["debug", "prompt", "--json"]);
    let prompt: Value = serde_json::from_str(&prompt).unwrap();
    let parts = prompt["parts"].as_array().unwrap();
    let skills = parts.iter().find(|part| part["name"] == "skills").unwrap();
    let text = skills["text"].as_str().unwrap();
    assert!(text.ends_with("\n- own: Ours.\n- pdf: Fills in forms."), "{text}");
}

#[test]
fn a_session_begins_with_the_names_of_its_agents_and_skills() {
    let (home, _models) = skilled(vec![said("ok").repeat()]);
    home.write("repo/.claude/agents/mine.md", "---\nname: mine\ndescription: Ours.\n---\nYou are ours.");
    let stream = ["-p", "hello", "--output-format", "stream-json"];
    let begun = |more: &[&str]| {
        let out = good(&home, &[&stream, more].concat());
        let init: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert_eq!(init["subtype"], "init", "{init}");
        (init["agents"].clone(), init["skills"].clone())
    };
    let (agents, skills) = begun(&[]);
    assert_eq!(skills, json!(["pdf"]));
    let agents = agents.as_array().unwrap().clone();
    assert!(agents.contains(&json!("mine")) && agents.contains(&json!("general-purpose")), "{agents:?}");
    // What no tool leads to is not there.
    assert_eq!(begun(&["--generation", "gen1"]), (json!([]), json!([])));
}

#[test]
fn types_of_agents_are_listed() {
    let (home, _models) = talking(vec![said("ok")]);
    home.write(
        "repo/.claude/agents/review.md",
        "---\nname: code-reviewer\ndescription: Reviews as we do.\ntools: Read, Grep, Nonsense\nmodel: haiku\n---\nYou review.",
    )
    .write("config/switchrail/agents/helper.md", "---\ndisallowedTools: Bash\n---\n# Helps\nwell");
    insta::assert_snapshot!(good(&home, &["-p", "/agents"]));
}
