//! Options that lead a program to another folder: a broad rule covers the workspace, not what such an option names.

use rail_permit::Decision::{Allow, AlwaysAsk, Ask, Deny};

use crate::setup::{check, decide, with};

#[test]
fn a_broad_rule_does_not_reach_another_folder() {
    for command in [
        "npm --prefix /srv/other test",
        "npm --prefix=/srv/other test",
        "npm test --prefix ../other",
        "npm -C /srv/other test",
        "pnpm -C /srv/other install",
        "pnpm --dir /srv/other install",
        "yarn --cwd /srv/other build",
        "bun --cwd=/srv/other test",
        "cargo test --manifest-path /srv/other/Cargo.toml",
        "cargo build --target-dir=/srv/other",
        "cargo -C /srv/other build",
        "cargo install --root /srv/other x",
        "make -C /srv/other",
        "make -C/srv/other test",
        "make -j4 -C ../other test",
        "make --directory=/srv/other",
        "make -f /srv/other/Makefile",
        "ninja -C /srv/other",
        "cmake -S . -B /srv/other",
        "cmake --build /srv/other",
        "pip install --target /srv/other x",
        "pip install -t /srv/other x",
        "pip3 install --prefix=/srv/other x",
        "pip install -e /srv/other",
        "uv --directory /srv/other sync",
        "poetry -C /srv/other install",
        "go -C /srv/other build",
        "go build -o /srv/other/x",
        "gradle -p /srv/other build",
        "mvn -f /srv/other/pom.xml test",
        "tsc --outDir /srv/other",
        "tsc -p /srv/other",
        "pytest --rootdir /srv/other",
        "pytest --junitxml=/srv/other/x.xml",
        "gcc x.c -o /srv/other/x",
        "patch -d /srv/other -p1",
        "tar -xf a.tar -C /srv/other",
        "git -C /srv/other commit -m x",
        "git --git-dir=/srv/other/repo commit -m x",
        "git --git-dir /srv/other/repo --work-tree /srv/other commit",
        "git -c a.b=c -C ../other add .",
        "git worktree add ../x",
        "git worktree add -b new ../x main",
        "git worktree move a ../x",
        "git init ../x",
        "git init --separate-git-dir=/srv/other x",
        "git submodule add https://example.org/x ../x",
        "git format-patch -o /srv/other HEAD~1",
        "git format-patch HEAD~1 --output-directory=/srv/other",
        "git archive -o /srv/other/x.tar HEAD",
        "git log --output=/srv/other/x",
        "git commit -F /srv/other/message",
        "make -C $X",
        "env make -C /srv/other",
    ] {
        let decided = decide(&with(&["allow Bash"]), command);
        assert!(matches!(decided, Ask | AlwaysAsk), "{command}: {decided:?}");
        check(&[(&["mode bypass"], command, Allow)]);
    }
    check(&[
        (&["allow Bash", "deny Edit(//srv/other/**)"], "make -C /srv/other", Deny),
        (&["allow Bash", "allow Edit(//srv/other/**)"], "make -C /srv/other", Allow),
        (&["allow Bash(make -C /srv/other)"], "make -C /srv/other", Allow),
        (&["allow Bash"], "make -C ~/.ssh", AlwaysAsk),
    ]);
}

#[test]
fn folders_of_the_workspace_are_covered() {
    for command in [
        "npm --prefix web test",
        "cargo test --manifest-path crates/x/Cargo.toml",
        "make -C sub test",
        "make -j4",
        "git -C sub status",
        "git worktree add wt",
        "git commit -C HEAD~1",
        "git commit -m x",
        "git format-patch -o patches HEAD~1",
        "pip install -r requirements.txt",
        "go build -o bin/x ./cmd/x",
        "cmake -S . -B build",
        "tar -xf a.tar -C sub",
        "npm run build -- --prefix /x",
        "cargo test -- --manifest-path /x",
    ] {
        check(&[(&["allow Bash"], command, Allow)]);
    }
}
