//! Harmless commands of every day: asked about no more than they must be, with an offer where they are, and no way around by them.

use rail_permit::Decision::{Allow, AlwaysAsk, Ask, Deny};

use crate::setup::{Call, Links, check, with};

#[test]
fn what_only_reads_is_judged_by_what_it_reads() {
    check(&[
        (&[], "for f in *.rs; do wc -l \"$f\"; done", Allow),
        (&[], "for f in src/*.rs tests/*.rs; do echo \"== $f\"; head -5 \"$f\"; done", Allow),
        (&[], "for d in a b c; do ls $d; done", Allow),
        (&[], "for f in *; do [ -f \"$f\" ] && grep -c x \"$f\"; done", Allow),
        (&[], "find . -name '*.rs' -exec grep -n x {} +", Allow),
        (&[], "find src tests -type f -exec wc -l {} \\;", Allow),
        (&[], "find . -type f -print0 | xargs -0 wc -l", Allow),
        (&[], "git ls-files -z '*.rs' | xargs -0 cat", Allow),
        (&[], "find . -type f -print0 | xargs -0 -I{} head -1 {}", Allow),
        (&[], "awk '{print $1}' file", Allow),
        (&[], "awk -F: -v n=3 'NR==n {print $1, NF}' file other", Allow),
        (&[], "ls -l | awk '{s+=$5} END {print s}'", Allow),
        (&["mode plan"], "for f in *.rs; do wc -l \"$f\"; done", Allow),
    ]);
}

#[test]
fn what_only_reads_elsewhere_asks() {
    check(&[
        (&[], "for f in /etc/*.conf; do wc -l \"$f\"; done", Ask),
        (&[], "for f in a ../b; do wc -l \"$f\"; done", Ask),
        (&[], "for f in a .env; do cat \"$f\"; done", Ask),
        (&[], "for f in .e*; do cat \"$f\"; done", Ask),
        (&["deny Read(secret.txt)"], "for f in a secret.txt; do cat \"$f\"; done", Deny),
        (&["deny Read(secret.txt)"], "for f in s*; do cat \"$f\"; done", Deny),
        (&[], "find / -name x -exec cat {} +", Ask),
        (&[], "find .. -name x -print0 | xargs -0 cat", Ask),
        (&[], "find -O3 /etc -exec cat {} +", Ask),
        (&[], "find -D exec -L /etc -type f", Ask),
        (&[], "find -files0-from list -exec cat {} +", Ask),
        (&[], "awk '{print $1}' /etc/passwd", Ask),
        (&[], "awk '{print $1}' .env", Ask),
    ]);
}

#[test]
fn a_loop_is_no_way_around() {
    check(&[
        (&[], "for f in *.rs; do wc -l $f; done", Ask),
        (&[], "for f in *.rs; do f=/etc/passwd; cat \"$f\"; done", Ask),
        (&[], "for f in *.rs; do read -r f; cat \"$f\"; done", Ask),
        (&[], "for f in *.rs; do : \"${f:=x}\"; cat \"$f\"; done", Ask),
        (&[], "trap 'f=/etc/passwd' DEBUG; for f in *.rs; do cat \"$f\"; done", Ask),
        (&[], "for f in *.rs; do sort \"$f\"; done", Ask),
        (&[], "for f in -o; do sort \"$f\" x; done", Ask),
        (&[], "for f in -delete; do find . \"$f\"; done", Ask),
        (&[], "for f in a b; do uniq x \"$f\"; done", Ask),
        (&[], "for f in 'rm -rf /'; do bash -c \"$f\"; done", AlwaysAsk),
        (&[], "for f in ls; do \"$f\"; done", AlwaysAsk),
        (&[], "for f in /; do rm -rf \"$f\"; done", Deny),
        (&["allow Bash"], "for f in -rf; do rm \"$f\" /; done", Deny),
        (&["allow Bash(rm:*)"], "for d in build dist; do rm -rf \"$d\"; done", Allow),
        (&["allow Bash(rm:*)"], "for d in build /srv/other; do rm -rf \"$d\"; done", Ask),
        (&["allow Bash(cp:*)"], "for d in a /srv/other/b; do cp x \"$d\"; done", Ask),
        (&["allow Bash(cp:*)"], "for d in /srv/other/b a; do cp x \"$d\"; done", Ask),
        (&["mode accept-edits"], "for f in a .git/config; do echo x > \"$f\"; done", AlwaysAsk),
    ]);
}

#[test]
fn what_is_given_is_no_way_around() {
    check(&[
        // The name of a file can hold a line end, and behind it another name.
        (&[], "find . -name '*.rs' | xargs cat", Ask),
        (&[], "find . -print0 | xargs cat", Ask),
        (&[], "find . | xargs -0 cat", Ask),
        (&[], "git ls-files | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "echo /etc/passwd | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "cat list | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "find / -name x | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "find . -printf '/etc/passwd\\n' | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "find . | grep -o '/etc.*' | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "find . | tail -c 12 | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "{ echo /etc/passwd; find .; } | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "find . | xargs -a list cat", Ask),
        (&["allow Bash(cat:*)"], "find . | xargs cat < list", Ask),
        (&["allow Bash(cat:*)"], "find -files0-from list | xargs cat", Ask),
        (&["allow Bash(cat:*)"], "git ls-files --format=/etc/passwd | xargs cat", Ask),
        (&["allow Bash(rm:*)"], "find . -name '*.log' | xargs rm", Ask),
        (&[], "find . -exec sh {} +", AlwaysAsk),
        (&[], "find . -exec sh -c 'cat \"$1\"' x {} \\;", Ask),
        (&[], "find . -exec awk 'BEGIN{system(\"id\")}' {} +", Ask),
        (&[], "find . -exec cat {}.bak \\;", Ask),
        (&[], "find . -name x -exec grep -n x {} + -delete", Ask),
        (&[], "find . -name x -exec grep -n x {} + -fprint out", Ask),
        (&[], "find . -ok grep -n x {} +", Ask),
        (&[], "find . -exec sort -o x {} +", Ask),
        (&[], "find . -print0 | xargs -0 sort -o x", Ask),
        (&[], "git ls-files -z | xargs -0 sort", Ask),
        (&[], "find . -type f -exec {} \\;", AlwaysAsk),
    ]);
}

#[test]
fn awk_that_does_more_asks() {
    for program in [
        "BEGIN{system(\"id\")}",
        "{print > \"out\"}",
        "{print | \"sh\"}",
        "BEGIN{\"id\" | getline x}",
        "BEGIN{getline x < \"/etc/passwd\"}",
        "BEGIN{ARGV[1]=\"/etc/passwd\"; ARGC=2}",
        "BEGIN{print ENVIRON[\"KEY\"]}",
        "BEGIN{f=\"system\"; @f(\"id\")}",
        "BEGIN{print SYMTAB[\"x\"]}",
    ] {
        check(&[(&[], &format!("awk '{program}' file"), Ask)]);
    }
    check(&[
        (&[], "awk -f prog.awk file", Ask),
        (&[], "awk -v x=1 -f prog.awk file", Ask),
        (&[], "gawk -i inplace '{print}' file", Ask),
        (&[], "gawk -o/tmp/x '{print}' file", Ask),
        (&[], "awk \"$prog\" file", Ask),
        (&[], "awk \"{print \\$1 $x}\" file", Ask),
        (&[], "awk '{print $1}' $x", Ask),
        (&[], "./awk '{print $1}' file", Ask),
        (&[], "LD_PRELOAD=./x awk '{print $1}' file", Ask),
    ]);
}

#[test]
fn git_in_a_repository_that_runs_programs_asks() {
    check(&[
        (&[], "git status", Allow),
        (&[], "cd hostile && git status", Ask),
        (&[], "git -C hostile status", Ask),
        (&[], "git -C hostile/sub log --oneline", Ask),
        (&[], "cd hostile && ls", Allow),
        (&["mode plan"], "cd hostile && git status", Deny),
        (&["allow Bash(git status:*)"], "cd hostile && git status", Allow),
    ]);
}

/// The rules that are offered for a command, and what they would allow.
fn offered(command: &str) -> Vec<(Vec<String>, String)> {
    let explained = Call::new(command).explain(&with(&[]), &Links::default());
    explained.offers.iter().map(|offer| (offer.rules.clone(), offer.says.clone())).collect()
}

#[test]
fn everyday_commands_have_an_offer_that_holds() {
    for (command, rules) in [
        ("git checkout -b x", &["Bash(git checkout -b x)"][..]),
        ("git stash", &["Bash(git stash)"]),
        (
            "git stash && git pull --rebase && git stash pop",
            &["Bash(git stash)", "Bash(git pull --rebase)", "Bash(git stash pop)"],
        ),
        ("python -m pytest", &["Bash(python -m pytest)"]),
        ("python3 -m pytest -x tests", &["Bash(python3 -m pytest -x tests)"]),
        ("make", &["Bash(make)"]),
        ("make test", &["Bash(make test)"]),
        ("npm test", &["Bash(npm test)"]),
        ("cargo build", &["Bash(cargo build)"]),
        ("find . -name '*.rs' | xargs wc -l", &["Bash(wc:*)"]),
        ("git ls-files | grep -v target | xargs wc -l", &["Bash(wc:*)"]),
        ("rg -l foo src | xargs grep -n bar", &["Bash(grep:*)"]),
        ("for f in *.py; do ruff check \"$f\"; done", &["Bash(ruff:*)"]),
    ] {
        let offers = offered(command);
        assert_eq!(offers.first().map(|(rules, _)| rules.clone()).unwrap_or_default(), rules, "{command}");
        let policy: Vec<String> = rules.iter().map(|rule| format!("allow {rule}")).collect();
        let policy: Vec<&str> = policy.iter().map(String::as_str).collect();
        check(&[(&policy, command, Allow)]);
    }
    let says = offered("make").first().map(|(_, says)| says.clone());
    assert_eq!(says.as_deref(), Some("lets the agent run `make` with nothing behind it"));
    check(&[
        (&["allow Bash(make)"], "make install", Ask),
        (&["allow Bash(git stash)"], "git stash drop", AlwaysAsk),
        (&["allow Bash(git stash:*)"], "git stash && git stash pop", Allow),
        (&["allow Bash(git checkout -b:*)"], "git checkout -- .", AlwaysAsk),
        (&["allow Bash(git checkout -b:*)"], "git -c alias.checkout=!sh checkout -b x", AlwaysAsk),
        (&["allow Bash(python -m pytest:*)"], "python -m pip install x", Ask),
    ]);
}

#[test]
fn what_runs_anything_has_no_offer() {
    for command in [
        "git",
        "git checkout x",
        "git checkout -B x",
        "git -c alias.x=!sh x",
        "python x.py",
        "python -m x",
        "python",
        "awk -f x y",
        "xargs ls",
        "make -f x",
        "make SHELL=x",
        "env x",
        "sudo make",
        "bash",
        "rm x",
        "find . -exec sh {} +",
        "echo x | xargs sh",
    ] {
        assert!(offered(command).is_empty(), "{command}: {:?}", offered(command));
    }
}
