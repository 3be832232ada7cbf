//! What a Python project says.

use super::commands::{Found, Purpose};
use super::manifests::toml_of;

pub(super) fn find(found: &mut Found<'_>) {
    let marks = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "noxfile.py"];
    if !marks.iter().any(|name| found.has(name)) {
        return;
    }
    let project = toml_of(&found.text("pyproject.toml"));
    let tool = |name: &str| project.pointer(&format!("/tool/{name}")).is_some();
    let (setup, run) = match () {
        () if found.has("uv.lock") || tool("uv") => ("uv sync", "uv run "),
        () if found.has("poetry.lock") || tool("poetry") => ("poetry install", "poetry run "),
        () if found.has("pdm.lock") || tool("pdm") => ("pdm install", "pdm run "),
        () if found.has("pyproject.toml") || found.has("setup.py") => ("pip install -e .", ""),
        () if found.has("requirements.txt") => ("pip install -r requirements.txt", ""),
        () => ("", ""),
    };
    if !setup.is_empty() {
        found.add(Purpose::Setup, setup);
    }
    let said = found.text("pyproject.toml") + &found.text("setup.cfg") + &found.text("tox.ini");
    let mut add = |purpose: Purpose, line: &str| found.add(purpose, format!("{run}{line}"));
    let says = |word: &str| said.contains(word);
    if tool("pytest") || says("pytest") {
        add(Purpose::Test, "pytest");
        add(Purpose::OneTest, "pytest -k NAME");
    }
    let ruff = tool("ruff") || says("ruff");
    if ruff {
        add(Purpose::Lint, "ruff check");
    }
    if says("flake8") {
        add(Purpose::Lint, "flake8");
    }
    if tool("mypy") || says("mypy") {
        add(Purpose::Lint, "mypy .");
    }
    if tool("pyright") || says("pyright") {
        add(Purpose::Lint, "pyright");
    }
    match (tool("black") || says("black"), ruff) {
        (true, _) => add(Purpose::Format, "black ."),
        (false, true) => add(Purpose::Format, "ruff format"),
        (false, false) => {}
    }
    if found.has("ruff.toml") || found.has(".ruff.toml") {
        found.add(Purpose::Lint, format!("{run}ruff check"));
    }
    if found.has("tox.ini") {
        found.add(Purpose::Test, "tox");
    }
    if found.has("noxfile.py") {
        found.add(Purpose::Test, "nox");
    }
}
