//! What must still work in the sandbox: the programs of every day.
#![expect(clippy::disallowed_methods, reason = "the tests start real programs, with and without a sandbox")]

use std::fs;

use rail_sandbox::{Namespaces, Network, Support, support};

use crate::scene::{Scene, missing, program, root, run};

/// Runs a line of bash, confined, in a workspace, and gives what it printed.
fn works(needs: &[&str], line: &str) -> Option<String> {
    let real = support();
    if real.ready().is_err() || real.namespaces.is_err() {
        missing("a sandbox with namespaces");
    }
    on(&real, needs, line)
}

fn on(system: &Support, needs: &[&str], line: &str) -> Option<String> {
    for name in needs {
        if program(name).is_none() {
            missing(name);
            return None;
        }
    }
    if system.ready().is_err() {
        return None;
    }
    let scene = Scene::quiet();
    let shape = match system.namespaces {
        Ok(_) => scene.confined(Network::Off),
        Err(_) => scene.open(Network::Off),
    };
    let mut command = scene.command("bash");
    let output = run(command.args(["-euc", line]), &shape, system).unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{line}\n{}\n{out}\n{err}", output.status);
    Some(out.trim().to_owned())
}

#[track_caller]
fn says(needs: &[&str], line: &str, expected: &str) {
    if let Some(out) = works(needs, line) {
        assert_eq!(out, expected, "{line}");
    }
}

#[test]
fn a_shell() {
    says(&["bash"], "seq 3 | while read n; do echo $((n * n)); done | tail -1", "9");
    says(
        &["bash"],
        "diff <(echo a) <(echo a) && cat <(echo same) > >(tr a-z A-Z; echo end) && wait; sleep 0",
        "SAME\nend",
    );
    says(&["bash"], "cat <<< here; f=$(mktemp); echo x > $f; cat $f; rm $f", "here\nx");
    says(&["bash"], "echo out > /dev/stdout; echo gone > /dev/null; head -c 2 /dev/zero | wc -c", "out\n2");
    says(&["bash"], "sleep 100 & kill $!; wait $! || echo $?", "143");
    says(&["bash"], "mkfifo p; echo through > p & cat p", "through");
}

#[test]
fn files_of_the_workspace() {
    says(
        &["bash"],
        "mkdir -p a b; echo 1 > a/f; ln a/f b/g; ln -s ../a/f b/s; mv a/f b/f; chmod 600 b/f; touch -d @1 b/f; cat b/f b/g; rm -r a b/g; ls b",
        "1\n1\nf\ns",
    );
    says(&["bash"], "echo 1 > x; mv x $TMPDIR/x; mv $TMPDIR/x y; cat y", "1");
}

#[test]
fn processes_are_listed() {
    if let Some(out) = works(&["bash", "ps"], "ps -e -o pid= | wc -l") {
        assert!(out.parse::<u32>().unwrap() > 1, "{out}");
    }
}

#[test]
fn git() {
    let line = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q repo; cd repo; echo 1 > f; git add -A; git commit -qm one; git mv f g; git commit -qm two
        git gc -q; git clone -q . ../other; git -C ../other log --format=%s";
    says(&["bash", "git"], line, "two\none");
}

#[test]
fn git_does_not_lose_a_hidden_file() {
    if support().namespaces.is_err() {
        return missing("a sandbox with namespaces");
    }
    let (Some(git), scene) = (program("git"), Scene::quiet()) else { return missing("git") };
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
    for line in [&["init", "-q"][..], &["add", "-A"], &["commit", "-qm", "one"]] {
        let status = scene.command(&git).args(identity).args(line).status().unwrap();
        assert!(status.success(), "{line:?}");
    }
    fs::write(scene.path("work/new"), "new").unwrap();
    let mut add = scene.command(&git);
    run(add.args(["commit", "-qam", "all"]), &scene.confined(Network::Off), &support()).unwrap();
    run(scene.command(&git).args(["add", "-A"]), &scene.confined(Network::Off), &support()).unwrap();
    let shown = scene.command(&git).args(["ls-files", "--stage", ".env"]).output().unwrap();
    let status = scene.command(&git).args(["status", "--short", ".env"]).output().unwrap();
    assert!(shown.stdout.ends_with(b"\t.env\n"), "{shown:?}");
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
}

#[test]
fn python() {
    says(&["bash", "python3"], "python3 -m venv --without-pip v; v/bin/python -c 'print(6 * 7)'", "42");
    let pool = "import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1, -2])); p.close(); p.join()";
    says(&["bash", "python3"], &format!("python3 -c '{pool}'"), "[1, 2]");
    let loopback = "import socket
server = socket.create_server((\"127.0.0.1\", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].sendall(b\"hi\")
print(client.recv(2).decode())";
    says(&["bash", "python3"], &format!("python3 -c '{loopback}'"), "hi");
    let terminal = "import os, pty; pty.spawn([\"tty\"])";
    says(&["bash", "python3"], &format!("python3 -c '{terminal}' | tr -d '\\r'"), "/dev/pts/0");
}

#[test]
fn node() {
    let line = "node -e 'console.log(require(\"child_process\").execSync(\"echo child\").toString().trim())'";
    says(&["bash", "node"], line, "child");
}

#[test]
fn make_with_two_jobs() {
    let line = "printf 'all: a b\\na b:\\n\\t@touch $@\\n.PHONY: all\\n' > Makefile; make -sj2; ls a b";
    says(&["bash", "make"], line, "a\nb");
}

#[test]
fn cargo() {
    let Some(cargo) = program("cargo") else {
        // Another user may not see root's toolchain.
        return if root() {
            missing("cargo")
        };
    };
    if std::process::Command::new(&cargo).arg("--version").output().is_ok_and(|out| out.status.success()) {
        let line = "mkdir -p c/src; cd c; echo 'fn main() { println!(\"built\") }' > src/main.rs
            printf '[package]\\nname = \"tiny\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[workspace]\\n' > Cargo.toml
            cargo run -q --offline";
        says(&["bash"], line, "built");
    }
}

#[test]
fn on_older_systems() {
    let real = support();
    let Ok(version) = real.landlock else { return missing("Landlock") };
    let line = "mkdir a b; echo 1 > a/f; cat a/f; echo gone > /dev/null; rm a/f; seq 3 | tail -1
        (echo x > ../outside/new) 2>&- || echo kept; (: >> ../outside/file) 2>&- || echo kept";
    for version in 1..=version {
        for namespaces in
            [real.namespaces.clone(), Ok(Namespaces::InUser), Err(String::from("not for this test"))]
        {
            if namespaces.is_ok() && real.namespaces.is_err() || namespaces.is_err() && version < 3 {
                continue;
            }
            let system = Support { landlock: Ok(version), namespaces, ..real.clone() };
            let out = on(&system, &["bash"], line);
            assert_eq!(out.as_deref(), Some("1\n3\nkept\nkept"), "{system:?}");
        }
    }
}

#[test]
fn a_sandbox_in_a_sandbox() {
    if support().ready().is_err() || support().namespaces.is_err() {
        return missing("a sandbox with namespaces");
    }
    let scene = Scene::quiet();
    let mut command = scene.command(std::env::current_exe().unwrap());
    command.args(["--exact", "daily::on_older_systems"]);
    let output = run(&mut command, &scene.confined(Network::Off), &support()).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

#[test]
fn never_free_by_mistake() {
    let scene = Scene::quiet();
    let real = support();
    let none = Err(String::from("there is none"));
    for system in [
        Support { landlock: none.clone().map(|()| 1), ..real.clone() },
        Support { seccomp: none.clone(), ..real.clone() },
        Support { landlock: Ok(2), namespaces: none.map(|()| Namespaces::Direct), ..real },
    ] {
        let mut command = scene.command("touch");
        let refusal = run(command.arg("ran"), &scene.open(Network::Off), &system).unwrap_err().to_string();
        assert!(refusal.contains("--sandbox off"), "{refusal}");
        assert!(!scene.path("work/ran").exists());
    }
}
