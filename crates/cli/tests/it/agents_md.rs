//! `rail init --agents-md` in small repositories of several kinds.

use std::fs;

use crate::scratch::Home;

/// A repository of these files.
fn repository(files: &[(&str, &str)]) -> Home {
    let home = Home::new();
    for (path, text) in files {
        home.write(&format!("repo/{path}"), text);
    }
    home
}

const INIT: [&str; 2] = ["init", "--agents-md"];
const FILE: &str = "repo/AGENTS.md";

/// The file that is written, which is right at once: a second time changes nothing.
fn written(home: &Home) -> String {
    let said = home.rail(&INIT, "");
    assert!(said.code == Some(0) && said.out.starts_with("written: /repo/AGENTS.md, "), "{}", said.whole());
    let text = home.read(FILE);
    let again = home.rail(&INIT, "");
    assert_eq!(again.out, "nothing to add: /repo/AGENTS.md says all of it\n", "{}", again.whole());
    assert_eq!(home.read(FILE), text);
    assert!(text.lines().count() <= 60, "{text}");
    text
}

#[test]
fn rust() {
    let home = repository(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\n[workspace.package]\ndescription = \"Counts\\n things.\"\n[workspace.lints.clippy]\nall = \"warn\"\n",
        ),
        ("rustfmt.toml", "max_width = 110\nuse_small_heuristics = \"Max\"\n"),
        (".cargo/config.toml", "[alias]\nxtask = \"run -p xtask --\"\n"),
        (
            ".github/workflows/ci.yml",
            "jobs:\n  a:\n    steps:\n      - run: cargo test --workspace\n      - run: |\n          cargo deny check\n          cargo publish --dry-run\n",
        ),
        ("crates/one/Cargo.toml", "[package]\nname = \"one\"\n"),
        ("crates/one/src/lib.rs", ""),
        ("crates/one/AGENTS.md", "# one\n"),
        ("crates/two/src/main.rs", ""),
        ("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n"),
        ("xtask/src/main.rs", ""),
        ("docs/guide.md", ""),
        ("CLAUDE.md", "@AGENTS.md\n"),
        (".cursor/rules/style.mdc", "x"),
        (".gitignore", "/target\n"),
        ("target/debug/junk.py", ""),
    ]);
    insta::assert_snapshot!("rust", written(&home));
}

#[test]
fn typescript() {
    let scripts = r#"{"dev": "vite", "build": "tsc && vite build", "test": "vitest run", "test:watch": "vitest", "test:e2e": "playwright test",
        "lint": "eslint .", "typecheck": "tsc --noEmit", "format": "prettier -w .", "prepare": "husky", "bad; rm -rf": "x"}"#;
    let package = format!(
        r#"{{"name": "shop", "description": "A shop.", "packageManager": "pnpm@9.1.0", "scripts": {scripts}, "prettier": {{"semi": false, "singleQuote": true}}}}"#
    );
    let home = repository(&[
        ("package.json", &package),
        ("pnpm-lock.yaml", ""),
        ("tsconfig.json", r#"{"compilerOptions": {"strict": true}}"#),
        ("eslint.config.js", "export default []\n"),
        (
            ".editorconfig",
            "root = true\n[*]\nindent_style = space\nindent_size = 2\n[*.md]\nindent_size = 4\n",
        ),
        ("src/app.tsx", ""),
        ("src/components/cart.tsx", ""),
        ("src/lib/money.ts", ""),
        ("tests/cart.spec.ts", ""),
        ("public/logo.svg", ""),
        (".github/copilot-instructions.md", "Be kind.\n"),
        (".windsurfrules", "x"),
    ]);
    insta::assert_snapshot!("typescript", written(&home));
}

#[test]
fn python() {
    let home = repository(&[
        (
            "pyproject.toml",
            "[project]\nname = \"weather\"\ndescription = \"Tells the weather.\"\n[dependency-groups]\ndev = [\"pytest\", \"mypy\"]\n[tool.ruff]\nline-length = 100\ntarget-version = \"py312\"\n[tool.mypy]\nstrict = true\n",
        ),
        ("uv.lock", ""),
        ("tox.ini", "[tox]\nenvlist = py312\n"),
        ("src/weather/__init__.py", ""),
        ("src/weather/rain.py", ""),
        ("tests/test_rain.py", ""),
        (".pre-commit-config.yaml", "repos: []\n"),
        (".gitlab-ci.yml", "test:\n  script:\n    - uv sync\n    - uv run pytest --cov\n"),
        (".clinerules/one.md", "x"),
    ]);
    insta::assert_snapshot!("python", written(&home));
}

#[test]
fn go_with_a_makefile() {
    let home = repository(&[
        ("go.mod", "module example.org/team/pinger\n\ngo 1.23\n"),
        (
            "Makefile",
            ".PHONY: build test\nVERSION := 1\nbuild: deps\n\tgo build -o bin/pinger ./cmd/pinger\ntest:\n\tgo test -race ./...\nlint:\n\tgolangci-lint run\ndeps:\n\tgo mod download\nrelease: build\nbin/pinger:\n",
        ),
        (".golangci.yml", "linters: {}\n"),
        ("README.md", "# pinger\n\n![badge](x)\n\nPings hosts, and tells\nwho is gone.\n"),
        ("cmd/pinger/main.go", ""),
        ("internal/net/ping.go", ""),
        ("internal/net/ping_test.go", ""),
    ]);
    insta::assert_snapshot!("go", written(&home));
}

#[test]
fn cmake_with_a_justfile() {
    let home = repository(&[
        ("CMakeLists.txt", "project(engine)\nenable_testing()\nadd_subdirectory(src)\n"),
        (
            "justfile",
            "default: build\nbuild:\n  cmake --build build\ntest *args:\n  ctest {{args}}\nfmt:\n  x\n_private:\nrun target:\n  ./{{target}}\n",
        ),
        (".clang-format", "BasedOnStyle: Google\n"),
        ("src/engine.cpp", ""),
        ("src/engine.hpp", ""),
        ("third_party/zlib/zlib.c", ""),
        ("GEMINI.md", "x"),
        (".cursorrules", "x"),
    ]);
    insta::assert_snapshot!("cmake", written(&home));
}

#[test]
fn folders_that_are_built_by_themselves() {
    let home = repository(&[
        ("backend/Cargo.toml", "[package]\nname = \"backend\"\n"),
        ("backend/src/main.rs", ""),
        ("frontend/package.json", r#"{"scripts": {"test": "x", "build": "y"}}"#),
        ("frontend/package-lock.json", "{}"),
        ("frontend/src/main.js", ""),
        ("infra/main.tf", ""),
    ]);
    insta::assert_snapshot!("folders", written(&home));
}

#[test]
fn what_is_written_already_is_kept() {
    let home = repository(&[("go.mod", "module x\n"), ("main.go", ""), ("pkg/a.go", "")]);
    let mine = "# Mine\r\n\r\n## How to test\r\n\r\nAsk Bob.  \r\n\r\nno end";
    home.write(FILE, mine);
    let said = home.rail(&INIT, "");
    insta::assert_snapshot!(said.whole(), @r"
    exit 0
    === stdout
    added to /repo/AGENTS.md: Layout
    next:    read it, and correct what a look at names can't know
    === stderr
    ");
    let text = fs::read_to_string(home.path(FILE)).unwrap();
    assert!(text.starts_with(mine), "{text}");
    insta::assert_snapshot!(format!("{:?}", text.strip_prefix(mine).unwrap()), @r#""\r\n\r\n## Layout\r\n\r\n- `pkg/`: 1 Go file\r\n""#);
    assert!(home.rail(&INIT, "").out.starts_with("nothing to add"));
    assert_eq!(fs::read_to_string(home.path(FILE)).unwrap(), text);
    // Only by force it is written anew, and the old one is kept.
    assert!(home.rail(&["init", "--agents-md", "--force"], "").out.starts_with("written"));
    assert_eq!(fs::read_to_string(home.path("repo/AGENTS.md.bak")).unwrap(), text);
    assert!(home.read(FILE).contains("`go test ./...`") && !home.read(FILE).contains("Bob"));
}

#[test]
fn an_empty_repository_has_a_name() {
    let home = repository(&[]);
    assert_eq!(written(&home), "# repo\n");
    // A folder in its place can't be written over.
    let home = repository(&[("AGENTS.md/file", "")]);
    let said = home.rail(&INIT, "");
    assert!(said.code == Some(2) && said.err.contains("AGENTS.md can't be read"), "{}", said.whole());
}

#[test]
fn it_is_written_at_the_root_and_through_a_link() {
    let home = repository(&[("go.mod", "module x\n"), ("deep/down/a.go", ""), ("CLAUDE.md", "mine\n")]);
    std::os::unix::fs::symlink("CLAUDE.md", home.path(FILE)).unwrap();
    let rail = env!("CARGO_BIN_EXE_rail");
    let said = home.program("/bin/sh", &["-c", &format!("cd deep/down && '{rail}' init --agents-md")], "");
    assert!(said.out.starts_with("added to /repo/CLAUDE.md: Commands, "), "{}", said.whole());
    assert!(home.read("repo/CLAUDE.md").starts_with("mine\n\n## Commands\n"));
    assert!(home.path(FILE).is_symlink() && !home.path("repo/deep/down/AGENTS.md").exists());
}

#[test]
fn a_model_is_handed_what_was_seen() {
    let home = repository(&[("go.mod", "module x\n"), ("main.go", "")]);
    let said = home.rail(&["init", "--agents-md", "--prompt"], "");
    insta::assert_snapshot!("prompt", said.out);
    assert!(!home.path(FILE).exists());
    home.write(FILE, "# x\n");
    assert!(
        home.rail(&["init", "--agents-md", "--prompt"], "").out.starts_with("Improve the file AGENTS.md")
    );
    assert_eq!(home.rail(&["init", "--prompt"], "").code, Some(2));
    assert_eq!(home.rail(&["init", "--agents-md", "--provider", "ollama"], "").code, Some(2));
}

#[test]
fn a_home_is_not_needed() {
    let home = repository(&[("go.mod", "module x\n")]);
    let none = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    let home = none.iter().fold(home, |home, name| home.with(name, ""));
    assert_eq!(home.rail(&INIT, "").code, Some(0));
}
