//! Continued lines: a `\` and the line end after it are nothing to a shell, in the middle of a word or sign too.

use proptest::prelude::*;
use rail_permit::shell::{Script, Word, counts_unknown, read};

use crate::differential::{Ground, check, covers, damage, list};

/// Scripts that run `p1`, and whether they must be understood (otherwise they may be asked about as a whole).
const RUN: &[(&str, bool)] = &[
    // Reserved words.
    ("p0 `t\\\nime -p y={a,b} 'p1'`", true),
    ("t\\\nime y=a p1", true),
    ("time -\\\np y=a p1", true),
    ("time -p -\\\n- y=a p1", true),
    ("i\\\nf p1; t\\\nhen p0; f\\\ni", true),
    ("wh\\\nile p1; d\\\no break; d\\\none", true),
    ("for i i\\\nn a; do p1; don\\\ne", true),
    ("f\\\nunction f1 { p1; }; f1", true),
    ("{\\\n p1; \\\n}", true),
    ("!\\\n p1", true),
    ("[[ -n a ]\\\n]\np1\n[[ -n b ]]", true),
    ("[\\\n[ -n a ]]\np1", true),
    ("(case x in a) p0;; es\\\nac | p1 )\n(case y in b) p3;; esac )\nesac)", false),
    // Signs.
    ("p0 &\\\n& p0; p1", true),
    ("false |\\\n| p1", true),
    ("p0 |\\\n& p1", true),
    ("case x in x) p0;\\\n; *) p0;; esac; p1", true),
    ("(\\\n(1)); p1", true),
    ("((p1) \\\n)", false),
    ("p0 $((2)\\\n); p1", false),
    ("for (\\\n( ; ;\\\n)); do p1; break; done", true),
    ("p0 $\\\n(p1)", true),
    ("p0 $(\\\n(1 + $\\\n(p1)))", true),
    ("p0 \"$\\\n(p1)\"", true),
    ("p0 \"$\\\n{\\\nx:\\\n-$(p1)}\"", true),
    ("p0 <\\\n(p1); wait $!", true),
    ("f1 (\\\n) { p1; }; f1", true),
    // Descriptors and redirections.
    ("1\\\n2>out p1", true),
    ("{f\\\nd}>out p1", true),
    ("{fd[1]}>out p1", false),
    ("{fd[1\\\n]}\\\n>out p1", false),
    ("2\\\n>out p1", true),
    ("&\\\n>out p1", true),
    ("<\\\n<\\\n<a p1", true),
    ("p0 <<E\\\n1\na\nE1\np1", false),
    ("p0 <<\\\n-E\n\ta\n\tE\np1", false),
    ("p0 <<E 'a\\\nb'\nE\np1\nE", false),
    // Where the line end is taken out before quotes and comments are looked at.
    ("p0 `'p\\\n1'`", true),
    ("p0 \"`'p\\\n1'`\"", true),
    ("p0 `p\\\\\n1`", true),
    ("p0 `p0 \\`'p\\\n1'\\``", true),
    ("p0 <<E\n$('p\\\n1')\nE\n", false),
    ("p0 <<E\n`'p\\\n1'`\nE\n", false),
    ("p0 <<E\n$\\\n(p1)\nE\n", false),
    ("p0 <<E\n${x:-$\\\n(p1)}\nE\n", false),
    ("{ bash <<E\np\\\n1\nE\n}", true),
    // Where it is not.
    ("p0 # a\\\np1", true),
    ("p0 $(p0 # a\\\np1)", true),
    ("p0 'a\\\n'; p1", true),
    ("p0 \\\\\np1", true),
    ("p0 \"\\\\\n$(p1)\"", true),
    ("{ bash <<'E'\np\\\n1\nE\n}", true),
    ("p0 a\\\n#b; p1", true),
    ("p0 \\\n# b\np1", true),
    ("p\\\n\\\n\\\n1", true),
    ("p1\\\n", true),
    ("\\\np1 \\\n", true),
];

#[test]
fn what_runs_is_seen_whatever_lines_are_continued() {
    let ground = Ground::new("continued");
    for (script, understood) in RUN {
        if let Some(ground) = &ground {
            assert!(
                ground.calls(script).iter().any(|call| call == &["p1"]),
                "bash does not run it: {script}"
            );
        }
        match read(script) {
            Ok(seen) => assert!(covers(&seen, &["p1".to_owned()]), "not seen: {script}\n{:?}", words(&seen)),
            Err(unclear) => assert!(!understood, "{unclear}: {script}"),
        }
    }
}

#[test]
fn words_are_joined_where_a_line_is_continued() {
    for (script, expected) in [
        ("ls \\\n  -l \\\n  src", &["ls -l src"][..]),
        ("l\\\ns -\\\nl", &["ls -l"]),
        ("echo \"a\\\nb\"", &["echo ab"]),
        ("echo 'a\\\nb'", &["echo a\\\nb"]),
        ("echo a\\\\\nls", &["echo a\\", "ls"]),
        ("`echo 'a\\\nb' # c\\\nrm x`", &["`echo 'a\\\nb' # c\\\nrm x`", "echo ab"]),
        ("cat <<E\nRUN a \\\n  b $x \\\n$y\nE\n", &["cat"]),
        ("'time' y=a ls", &["time y=a ls", "y=a ls"]),
    ] {
        let seen = read(script).unwrap_or_else(|unclear| panic!("{unclear}: {script}"));
        assert_eq!(words(&seen), expected, "{script}");
    }
}

/// Older shells join words, but not all signs.
#[test]
fn a_line_that_not_every_shell_continues_alike_is_unclear() {
    for script in ["sh -c 'p0 &\\\n& p1'", "sh -c 'p\\\n1'", "dash -c 'p0 $\\\n(p1)'"] {
        assert!(read(script).is_err(), "{script}");
    }
    assert!(read("sh -c 'ls \\\n  -l'").is_ok());
}

#[test]
fn counting_is_seen_whatever_lines_are_continued() {
    for script in ["n=`cat x`; (\\\n( n ))", "n=$\\\n(cat x); echo $(\\\n(n))"] {
        assert!(counts_unknown(script, &read(script).unwrap()), "{script}");
    }
}

#[test]
fn every_program_that_bash_runs_is_seen_in_scripts_with_continued_lines() {
    let Some(ground) = Ground::new("lines") else { return };
    let places = prop::collection::vec(any::<prop::sample::Index>(), 1..5);
    let continued = (list(3), places).prop_map(|(script, places)| {
        places
            .iter()
            .fold(script, |script, place| damage(&script, place.index(script.chars().count() + 1), "\\\n", 0))
    });
    let understood = check(&ground, 150, continued.boxed());
    assert!(understood.0 * 2 > understood.1, "too few of the scripts were understood: {understood:?}");
}

fn words(script: &Script) -> Vec<String> {
    let line = |words: &[Word]| words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    script.commands.iter().map(|simple| line(&simple.words)).collect()
}
