//! What a command may not do to what others run and trust, by real commands. Each attack is seen to succeed without the sandbox first.

use std::fs;

use serde_json::json;

use crate::scratch::Home;

/// A workspace that is a repository, with a submodule, another repository in it, and settings of several programs.
fn home() -> Home {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("tmp/here", "");
    let temp = home.path("tmp");
    let home = home.with("TMPDIR", temp.to_str().unwrap());
    for folder in ["repo/.git", "repo/.git/modules/lib/sub", "repo/inner/.git"] {
        for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("hooks/kept", "")] {
            home.write(&format!("{folder}/{name}"), text);
        }
    }
    for name in ["repo/.mcp.json", "repo/.vscode/tasks.json", "repo/.claude/settings.json"] {
        home.write(name, "{}");
    }
    home
}

fn bash(home: &Home, command: &str, more: &[&str]) -> String {
    let input = json!({"command": command}).to_string();
    let args = [&["tool", "run", "bash", "--input", &input, "--allow", "Bash", "--json"], more].concat();
    home.rail(&args, "").whole()
}

/// A program that tries all it is told; it is no fault of it if the system does not let it.
fn attack(python: &str) -> String {
    format!("python3 -ISc \"import os, shutil\ntry: {python}\nexcept OSError as error: print(error)\"")
}

fn evil(home: &Home, file: &str) -> bool {
    fs::read_to_string(home.path(file)).is_ok_and(|text| text.contains("evil"))
}

const WRITES: &[(&str, &str)] = &[
    ("repo/.git/hooks/pre-commit", "open('.git/hooks/pre-commit', 'w').write('evil')"),
    ("repo/.git/config", "open('.git/config', 'a').write('evil')"),
    ("repo/.git/modules/lib/sub/config", "open('.git/modules/lib/sub/config', 'a').write('evil')"),
    ("repo/.git/modules/lib/sub/hooks/x", "open('.git/modules/lib/sub/hooks/x', 'w').write('evil')"),
    ("repo/inner/.git/config", "open('inner/.git/config', 'a').write('evil')"),
    ("repo/inner/.git/hooks/pre-commit", "open('inner/.git/hooks/pre-commit', 'w').write('evil')"),
    (
        "repo/inner/.git/config",
        "os.rename('inner', 'away'); shutil.copytree('away', 'inner'); open('inner/.git/config', 'w').write('evil')",
    ),
    ("repo/.mcp.json", "open('.mcp.json', 'w').write('evil')"),
    ("repo/.mcp.json", "open('x', 'w').write('evil'); os.rename('x', '.mcp.json')"),
    ("repo/.vscode/tasks.json", "open('.vscode/tasks.json', 'w').write('evil')"),
    (
        "repo/.vscode/tasks.json",
        "os.rename('.vscode', 'away'); os.mkdir('.vscode'); open('.vscode/tasks.json', 'w').write('evil')",
    ),
    ("repo/.claude/settings.json", "open('.claude/settings.json', 'w').write('evil')"),
    (
        "repo/.switchrail/config.toml",
        "os.makedirs('.switchrail', exist_ok=True); open('.switchrail/config.toml', 'w').write('evil')",
    ),
    (
        "repo/.switchrail/config.toml",
        "os.mkdir('x'); open('x/config.toml', 'w').write('evil'); os.rename('x', '.switchrail')",
    ),
    (
        "repo/.switchrail/config.toml",
        "os.path.exists('.switchrail') and os.rmdir('.switchrail'); os.mkdir('x'); open('x/config.toml', 'w').write('evil'); os.symlink('x', '.switchrail')",
    ),
];

#[test]
fn a_command_writes_nothing_that_others_run() {
    for (file, python) in WRITES {
        let free = home();
        let said = bash(&free, &attack(python), &["--sandbox", "off"]);
        assert!(evil(&free, file), "without the sandbox: {python}\n{said}");
        let held = home();
        let said = bash(&held, &attack(python), &[]);
        assert!(!evil(&held, file), "{python}\n{said}");
        assert!(said.contains("Errno"), "{python}\n{said}");
    }
}

#[test]
fn what_a_command_makes_for_others_is_told() {
    for name in
        [".envrc", ".mcp.json", ".claude/settings.local.json", ".vscode/tasks.json", ".git/config.worktree"]
    {
        let home = home();
        let _ = fs::remove_file(home.path("repo").join(name));
        let said = bash(&home, &attack(&format!("open('{name}', 'w').write('evil')")), &[]);
        let told = format!("the command made `{name}`, from which other programs take settings");
        assert!(said.contains(&told), "{name}: {said}");
    }
    let home = home();
    let said = bash(&home, "git init -q other; echo x > plain", &["--allow", "Edit"]);
    assert!(said.contains("\"success\": true") && !said.contains("the command made"), "{said}");
}

#[test]
fn git_is_not_led_to_other_settings() {
    let detour = "open('.git/commondir', 'w').write('../evil')";
    let home = home();
    let said = bash(&home, &attack(detour), &[]);
    assert!(said.contains("it was removed again") && !home.path("repo/.git/commondir").exists(), "{said}");
    // One that was there before is the user's.
    home.write("repo/.git/commondir", ".");
    let said = bash(&home, "touch x", &[]);
    assert!(home.path("repo/.git/commondir").exists() && !said.contains("removed"), "{said}");
}

#[test]
fn a_repository_that_runs_programs_is_not_only_read() {
    let home = home();
    let git = |home: &Home| {
        home.rail(&["tool", "run", "bash", "--input", "{\"command\": \"git status\"}"], "").whole()
    };
    fs::remove_dir_all(home.path("repo/.git")).unwrap();
    bash(&home, "git init -q .", &[]);
    assert!(git(&home).contains("exit 0"), "{}", git(&home));
    home.write(
        "repo/.git/config",
        "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch ran; false\"\n",
    );
    let said = bash(&home, "git status", &[]);
    assert!(home.path("repo/ran").exists(), "git runs it where a rule allows git: {said}");
    fs::remove_file(home.path("repo/ran")).unwrap();
    let said = git(&home);
    assert!(said.contains("makes git run a program here, by `core.fsmonitor`"), "{said}");
    assert!(!home.path("repo/ran").exists());
}

#[test]
fn the_error_of_a_change_shows_no_secret() {
    let home = home();
    home.write("repo/.env", "KEY=sesame\n");
    let patch = "*** Begin Patch\n*** Update File: .env\n-KEY=sesam\n+KEY=x\n*** End Patch";
    let edit = json!({"file_path": ".env", "old_string": "KEY=sesam", "new_string": "x"});
    for (tool, input) in [("apply_patch", json!({ "patch": patch })), ("Edit", edit)] {
        let args = ["tool", "run", tool, "--input", &input.to_string(), "--permission-mode", "accept-edits"];
        let said = home.rail(&args, "").whole();
        assert!(said.contains("settings with secrets") && !said.contains("sesame"), "{said}");
    }
}

#[test]
fn an_empty_folder_of_ours_does_not_hide_the_project_s() {
    let home = home();
    fs::remove_dir_all(home.path("repo/.git")).unwrap();
    home.write(".switchrail/config.toml", "");
    let said = bash(&home, "touch x", &[]);
    assert!(home.path("repo/x").exists() && !home.path("repo/.switchrail").exists(), "{said}");
    let said = bash(&home, &attack("os.mkdir('.switchrail')"), &[]);
    assert!(said.contains("the command made `.switchrail`"), "{said}");
}

#[test]
fn keys_of_providers_do_not_reach_commands() {
    let home = home()
        .with("ANTHROPIC_API_KEY", "one-secret")
        .with("MY_OWN_KEY", "two-secret")
        .with("SWITCHRAIL_PROVIDERS__mine__MODELS", "[\"three-secret\"]")
        .with("PLAIN", "four-plain")
        .with("SHELL", "/bin/sh");
    home.write("user/.profile", "export OPENAI_API_KEY=five-secret\n");
    home.write(
        crate::scratch::CONFIG,
        "[providers.mine]\nprotocol = \"openai-chat\"\nbase_url = \"http://localhost:1\"\nkey = \"env:MY_OWN_KEY\"\nmodels = []\n",
    );
    let said = bash(&home, "env", &[]);
    assert!(said.contains("four-plain") && !said.contains("-secret"), "{said}");
    let home = home.with("SWITCHRAIL_TOOLS__KEEP_ENV", "[\"MY_OWN_KEY\", \"OPENAI_API_KEY\"]");
    let said = bash(&home, "env", &[]);
    assert!(
        said.contains("two-secret") && said.contains("five-secret") && !said.contains("one-secret"),
        "{said}"
    );
}

#[test]
fn a_program_of_the_workspace_is_not_run_in_the_place_of_another() {
    let home =
        home().with("PATH", ".::/usr/local/bin:/usr/bin:/bin").with("BASH_FUNC_ls%%", "() { echo evil; }");
    home.write("repo/wc", "#!/bin/sh\necho evil\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(home.path("repo/wc"), mode).unwrap();
    let said = bash(&home, "wc -l .mcp.json; ls", &[]);
    assert!(said.contains("0 .mcp.json") && !said.contains("evil"), "{said}");
}
