//! `rail debug prompt`, as a user runs it.

use serde_json::Value;

use crate::scratch::{CONFIG, Home};

const PROVIDER: &str = "[providers.local]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\nkey = \"none\"\nmodels = [\"big\", \"small-1b\"]\n\n[router]\ndefault = \"local,big\"\n";

fn shown(home: &Home, args: &[&str]) -> Value {
    let said = home.rail(&[&["debug", "prompt", "--json"], args].concat(), "");
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn the_prompt_is_shown_by_parts_with_counts() {
    let home = Home::new();
    home.write(CONFIG, PROVIDER)
        .write("repo/AGENTS.md", "Be kind. @/etc/passwd")
        .write("config/switchrail/AGENTS.md", "Mine.");
    let said = home.rail(&["debug", "prompt"], "");
    assert_eq!(said.code, Some(0), "{}", said.err);
    for line in ["== base · ", "== memory · ", "Be kind.", "Mine.", "TOOL", "dialect native, for local,big)"]
    {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    assert!(
        said.err.contains("memory file `/etc/passwd`, imported by `/repo/AGENTS.md`: not read"),
        "{}",
        said.err
    );
    let full = shown(&home, &[]);
    assert_eq!(names(&full["parts"]), ["base", "tools", "security", "environment", "memory", "agents"]);
    let counted: u64 =
        full["parts"].as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert!(full["tokens"]["system"].as_u64().unwrap().abs_diff(counted) < 20, "{full}");
}

#[test]
fn the_model_the_dialect_the_generation_and_the_mode_decide() {
    let home = Home::new();
    home.write(CONFIG, PROVIDER);
    let lean = shown(&home, &["-m", "local,small-1b"]);
    assert_eq!((&lean["form"], &lean["target"]), (&"lean".into(), &"local,small-1b".into()));
    assert!(lean["tokens"]["total"].as_u64().unwrap() < 800, "{lean}");
    let first = shown(&home, &["--generation", "gen1", "--dialect", "claude"]);
    assert!(names(&first["tools"]).contains(&"Bash") && !names(&first["tools"]).contains(&"Grep"), "{first}");
    let plan = shown(&home, &["--permission-mode", "plan"]);
    assert!(!names(&plan["tools"]).contains(&"edit_file"), "{plan}");
    home.write(CONFIG, &format!("{PROVIDER}[agent]\nprompt = \"lean\"\noutput_style = \"Brief.\"\n"));
    let set = shown(&home, &[]);
    assert_eq!((&set["form"], names(&set["parts"]).pop()), (&"lean".into(), Some("style")));
}
