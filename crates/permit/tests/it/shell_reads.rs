//! What commands touch, and which of them only read.

use rail_permit::shell::{Word, only_reads, read, touches};

#[test]
fn commands_that_only_read() {
    let reading = [
        "ls -la",
        "cat a b",
        "/bin/cat a",
        "/usr/bin/head -n 5 a",
        "grep -rn x .",
        "rg x",
        "find . -name '*.rs'",
        "git status",
        "git diff HEAD~1",
        "git --no-pager log --oneline",
        "git branch -a",
        "git show HEAD",
        "git rev-parse HEAD",
        "git remote -v",
        "git stash list",
        "pwd",
        "echo a > /dev/null",
        "which a",
        "stat a",
        "du -sh .",
        "date",
        "date +%s",
        "sort a",
        "sort -k1,1 -rn a",
        "cut -d: -f1 a",
        "uniq -c",
        "diff a b",
        "true",
        "[ -f a ]",
        "[[ -f a ]]",
        "basename a",
        "jq .a b",
        "tree -L 2",
        "sed -n '1,20p' a",
        "timeout 5 ls",
        "time ls",
        "command -v ls",
        "bash -c 'ls'",
        "env A=1 ls",
        "cat \"$x\"",
        "ls *",
        "wc -l *.rs",
        "cd a",
        "X=1",
        "printf '%s' a",
        "git blame a",
        "xargs grep x",
        "set -e",
        "export A=1",
        "2>/dev/null ls",
    ];
    let doing = [
        "rm a",
        "./ls",
        "/tmp/ls",
        "$x a",
        "ls > a",
        "ls >> a",
        "rg --pre ./x a",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -fprint a",
        "git commit",
        "git",
        "git diff --output=a",
        "git diff --ext-diff",
        "git log -Oa",
        "git -c a=b status",
        "git -C x status",
        "git branch x",
        "git branch -D x",
        "git config a b",
        "git stash",
        "git diff $x",
        "date -s x",
        "date 01010101",
        "sort -o a b",
        "sort -ro a b",
        "sort --output=a b",
        "sort $x",
        "sort *",
        "sort --compress-program=x",
        "tree -o a",
        "uniq a b",
        "printenv",
        "env",
        "export",
        "export -p",
        "export $x",
        "find ./$x",
        "read $x",
        "set",
        "declare -p",
        "sed -i s/a/b/ c",
        "sed -n '1w a' b",
        "sed 's/a/b/e' c",
        "sed -n '1e x' c",
        "PATH=. ls",
        "LD_PRELOAD=x ls",
        "env PATH=. ls",
        "bash x.sh",
        "bash",
        "bash -c \"$x\"",
        "eval \"$x\"",
        "python3 -c 1",
        "cat < /dev/tcp/a/1",
        "sudo ls",
        "/usr/bin/time -o a ls",
        "find $x",
        "hostname a",
        "fd -x rm",
        "curl x.example",
        "git grep -O x",
        "awk -f a b",
        "awk '{print > \"x\"}' a",
        "source a",
        "nohup ls",
        "exec > a",
        "ls &> a",
    ];
    for command in reading {
        assert!(only_reads(&read(command).unwrap().commands[0]), "{command}");
    }
    for command in doing {
        assert!(!only_reads(&read(command).unwrap().commands[0]), "{command}");
    }
    let added = read("xargs grep x").unwrap();
    assert!(!only_reads(&added.commands[1]), "what xargs adds is not known");
}

#[test]
fn files_and_hosts_by_their_role() {
    let cases: &[(&str, &str, &str, &str)] = &[
        ("cat a b", "a b", "", ""),
        ("head -n 5 a", "a", "", ""),
        ("tail -c5 -- -a", "-a", "", ""),
        ("grep -rn x src -A 3", "src", "", ""),
        ("grep -e x -f p a", "p a", "", ""),
        ("grep -r x", ".", "", ""),
        ("sed s/a/b/ c", "c", "", ""),
        ("sed -i s/a/b/ c d", "c d", "c d", ""),
        ("sed -i.bak -e s/a/b/ c", "c", "c", ""),
        ("awk '{print}' a", "a", "", ""),
        ("sort -o out in", "in", "out", ""),
        ("sort --output=out in", "in", "out", ""),
        ("uniq in out", "in", "out", ""),
        ("cp a b c", "a b", "c", ""),
        ("cp -t d a b", "a b", "d", ""),
        ("mv a b", "", "a b", ""),
        ("ln -s a b", "a", "b", ""),
        ("rm -rf a b", "", "a b", ""),
        ("mkdir -p -m 755 a", "", "a", ""),
        ("touch -d x a", "", "a", ""),
        ("tee -a x", "", "x", ""),
        ("chmod +x a", "", "a", ""),
        ("chmod 644 a b", "", "a b", ""),
        ("dd if=a of=b bs=1", "a", "b", ""),
        ("find a b -name x", "a b", "", ""),
        ("find -L a -delete", "a", "a", ""),
        ("find . -fprint out", ".", "out", ""),
        ("tar xzf a.tgz", "a.tgz", ".", ""),
        ("tar -xzf a.tgz -C d", "a.tgz", "d", ""),
        ("tar -czf a.tgz src", "src", "a.tgz", ""),
        ("tar tf a.tgz", "a.tgz", "", ""),
        ("zip -r a.zip b c", "b c", "a.zip", ""),
        ("unzip a.zip -d d", "a.zip", "d", ""),
        ("curl -o a https://x.example/p", "", "a", "x.example"),
        ("curl -d @secret X.example:80/p", "secret", "", "x.example"),
        ("curl -O https://u:p@x.example", "", ".", "x.example"),
        ("wget -O a https://x.example", "", "a", "x.example"),
        ("wget https://x.example/f", "", ".", "x.example"),
        ("scp a u@x.example:b", "a", "", "x.example"),
        ("rsync -a a/ b", "a/", "b", ""),
        ("git clone https://x.example/r.git d", "", "d", "x.example"),
        ("git clone git@x.example:r.git", "", ".", "x.example"),
        ("git -C d status", "", "", ""),
        ("ls", ".", "", ""),
        ("ls > a 2> b < c", ". c", "a b", ""),
        ("cd", "~", "", ""),
        ("source a", "a", "", ""),
        ("cat $x/a", "$x/a", "", ""),
        ("jq .a b.json", "b.json", "", ""),
        ("diff a b", "a b", "", ""),
        ("python3 a.py > b", "", "b", ""),
        ("timeout 5 cat a", "", "", ""),
        ("[ -f a ]", "a", "", ""),
        ("[ \"$x\" = b ]", "", "", ""),
        ("[[ -n $x && a -nt b ]]", "a b", "", ""),
    ];
    let line = |words: &[Word]| words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    for (command, reads, writes, hosts) in cases {
        let found = touches(&read(command).unwrap().commands[0]);
        assert_eq!(
            (line(&found.reads).as_str(), line(&found.writes).as_str(), found.hosts.join(" ").as_str()),
            (*reads, *writes, *hosts),
            "{command}"
        );
    }
}

#[test]
fn folders_that_a_program_is_told_to_work_in() {
    for (command, expected) in
        [("git -C d status", "d"), ("make -C d -j4", "d"), ("npm --prefix=d test", "d"), ("make d", "")]
    {
        let touched = touches(&read(command).unwrap().commands[0]);
        let shown: Vec<String> = touched.works_in.iter().map(Word::shown).collect();
        assert_eq!(shown.join(" "), expected, "{command}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    let known = [
        "ls",
        "cat a",
        "cp a b",
        "git status",
        "timeout 5 ls",
        "sed -n 5p a",
        "awk '{print $1}' a",
        "curl x.example",
        "X=1",
    ];
    let unknown = [
        "python3 a",
        "./x",
        "$x",
        "git commit",
        "make",
        "sudo ls",
        "sed 's/a/b/w c' d",
        "awk '{system($1)}' a",
        "source a",
        "rsync -e ./x a b",
    ];
    for command in known {
        assert!(touches(&read(command).unwrap().commands[0]).known, "{command}");
    }
    for command in unknown {
        assert!(!touches(&read(command).unwrap().commands[0]).known, "{command}");
    }
    assert!(!touches(&read("xargs cat").unwrap().commands[1]).known);
}

#[test]
fn home_is_put_into_words() {
    let home = |text: &str| {
        read(&format!("echo {text}")).unwrap().commands[0].words[1].at_home(Some("/srv/people/ann"))
    };
    assert_eq!(home("~"), Word::Literal("/srv/people/ann".to_owned()));
    assert_eq!(home("~/.ssh/x"), Word::Literal("/srv/people/ann/.ssh/x".to_owned()));
    assert_eq!(home("\"$HOME\"/x"), Word::Literal("/srv/people/ann/x".to_owned()));
    assert_eq!(home("${HOME}/*"), Word::Pattern("/srv/people/ann/*".to_owned()));
    assert_eq!(home("'~/x'"), Word::Literal("~/x".to_owned()));
    assert_eq!(home("~/$x"), Word::Dynamic { text: "~/$x".to_owned(), known: "/srv/people/ann/".to_owned() });
    assert_eq!(home("~bob/x"), Word::Dynamic { text: "~bob/x".to_owned(), known: String::new() });
}
