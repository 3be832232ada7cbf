//! Options that name another folder for a program to work in, or files for it to read and write.

use super::arguments;
use super::programs::{Program, Role};
use super::touches::Touches;
use super::{Word, own_syntax};

/// Options of a program that name places.
struct Elsewhere {
    programs: &'static [&'static str],
    /// The subcommand that knows them; empty for all.
    subcommand: &'static [&'static str],
    /// Folders that it works in: it reads and writes there.
    works_in: &'static [&'static str],
    /// Files and folders that it reads.
    reads: &'static [&'static str],
    /// Files and folders that it writes.
    writes: &'static [&'static str],
}

const fn of(programs: &'static [&'static str], works_in: &'static [&'static str]) -> Elsewhere {
    Elsewhere { programs, subcommand: &[], works_in, reads: &[], writes: &[] }
}

const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere {
        reads: &["userconfig", "globalconfig"],
        writes: &["cache"],
        ..of(&["npm", "npx"], &["prefix", "C"])
    },
    Elsewhere {
        writes: &["store-dir", "virtual-store-dir"],
        ..of(&["pnpm", "pnpx"], &["C", "dir", "prefix"])
    },
    Elsewhere { writes: &["modules-folder", "cache-folder"], ..of(&["yarn"], &["cwd"]) },
    of(&["bun", "bunx", "deno"], &["cwd"]),
    Elsewhere {
        reads: &["manifest-path", "lockfile-path"],
        writes: &["target-dir", "artifact-dir", "out-dir", "root"],
        ..of(&["cargo"], &["C"])
    },
    Elsewhere { writes: &["o", "out-dir"], ..of(&["rustc"], &[]) },
    Elsewhere {
        reads: &["f", "file", "makefile", "I", "include-dir"],
        ..of(&["make", "gmake", "ninja", "just", "bmake"], &["C", "directory", "working-directory", "d"])
    },
    Elsewhere {
        reads: &["S", "C", "P", "toolchain"],
        writes: &["B", "prefix"],
        ..of(&["cmake"], &["build", "install"])
    },
    of(&["meson", "ctest", "bazel"], &["C", "test-dir", "output_base"]),
    Elsewhere {
        reads: &["r", "requirement", "c", "constraint", "e", "editable", "find-links"],
        writes: &[
            "t",
            "target",
            "prefix",
            "root",
            "src",
            "d",
            "dest",
            "w",
            "wheel-dir",
            "cache-dir",
            "report",
            "log",
        ],
        ..of(&["pip", "pip3"], &[])
    },
    Elsewhere {
        writes: &["target", "prefix", "python-prefix", "cache-dir"],
        ..of(&["uv"], &["directory", "project"])
    },
    of(&["poetry", "pdm", "hatch"], &["C", "directory", "P", "project", "p"]),
    Elsewhere { reads: &["modfile", "overlay"], writes: &["o", "outputdir"], ..of(&["go"], &["C"]) },
    Elsewhere {
        writes: &["gradle-user-home", "g"],
        ..of(&["gradle", "./gradlew", "gradlew"], &["p", "project-dir"])
    },
    Elsewhere { reads: &["s", "settings"], ..of(&["mvn", "./mvnw", "mvnw"], &["f", "file"]) },
    Elsewhere {
        writes: &["outDir", "outFile", "declarationDir", "tsBuildInfoFile"],
        ..of(&["tsc"], &["p", "project"])
    },
    Elsewhere {
        reads: &["c", "confcutdir"],
        writes: &["junitxml", "junit-xml", "basetemp", "log-file", "resultlog"],
        ..of(&["pytest"], &["rootdir"])
    },
    Elsewhere { writes: &["o"], ..of(&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as"], &[]) },
    of(
        &["bundle", "composer", "mix", "rake", "swift", "dotnet", "flutter"],
        &["working-dir", "d", "package-path", "gemfile"],
    ),
    Elsewhere {
        reads: &["i", "input"],
        writes: &["o", "output", "r", "reject-file"],
        ..of(&["patch"], &["d", "directory"])
    },
    Elsewhere {
        subcommand: &["format-patch", "archive", "bugreport", "diagnose"],
        writes: &["o", "output-directory", "output"],
        ..of(&["git"], &[])
    },
    Elsewhere { subcommand: &["diff", "log", "show", "shortlog"], writes: &["output"], ..of(&["git"], &[]) },
    Elsewhere {
        subcommand: &["clone", "init"],
        writes: &["separate-git-dir"],
        reads: &["template", "reference"],
        ..of(&["git"], &[])
    },
    Elsewhere { subcommand: &["apply"], ..of(&["git"], &["directory"]) },
    Elsewhere { subcommand: &["commit", "tag"], reads: &["F", "file", "t", "template"], ..of(&["git"], &[]) },
];

/// Subcommands of `git` whose operand is a folder that they make, and which one that is.
const GIT_FOLDERS: &[(&[&str], usize)] =
    &[(&["worktree", "add"], 0), (&["worktree", "move"], 1), (&["init"], 0), (&["submodule", "add"], 1)];

/// Adds the places that options name, whatever else is known of the program.
pub(super) fn named(program: &str, words: &[Word], touches: &mut Touches) {
    let (words, subcommand) = match program {
        "git" => {
            let (before, rest) = own_syntax::git_options(words);
            own_folders(before, touches);
            (rest, rest.first().and_then(Word::literal))
        }
        _ => (words, None),
    };
    let here = |entry: &&Elsewhere| {
        entry.programs.contains(&program)
            && (entry.subcommand.is_empty()
                || subcommand.is_some_and(|name| entry.subcommand.contains(&name)))
    };
    for entry in ELSEWHERE.iter().filter(here) {
        let options = Program {
            names: &[],
            role: Role::Nothing,
            valued: entry.works_in,
            brings: &[],
            reads: entry.reads,
            writes: entry.writes,
        };
        let given = arguments::read(&options, words);
        touches.works_in.extend(given.values(entry.works_in));
        touches.reads.extend(given.values(entry.reads));
        touches.writes.extend(given.values(entry.writes));
    }
    if program == "git" {
        made_by_git(words, touches);
    }
}

/// `-C`, `--git-dir` and `--work-tree` before the subcommand.
fn own_folders(words: &[Word], touches: &mut Touches) {
    const GIT: Program = Program {
        names: &[],
        role: Role::Nothing,
        valued: &["C", "git-dir", "work-tree", "c", "namespace", "config-env"],
        brings: &[],
        reads: &[],
        writes: &[],
    };
    touches.works_in.extend(arguments::read(&GIT, words).values(&["C", "git-dir", "work-tree"]));
}

fn made_by_git(words: &[Word], touches: &mut Touches) {
    const VALUED: Program = Program {
        names: &[],
        role: Role::Nothing,
        valued: &[
            "b",
            "B",
            "reason",
            "initial-branch",
            "template",
            "separate-git-dir",
            "name",
            "reference",
            "depth",
            "orphan",
        ],
        brings: &[],
        reads: &[],
        writes: &[],
    };
    for (subcommand, at) in GIT_FOLDERS {
        let Some(rest) = words.get(subcommand.len()..) else { continue };
        if words.iter().zip(*subcommand).all(|(word, name)| word.literal() == Some(name)) {
            touches.works_in.extend(arguments::read(&VALUED, rest).operands.get(*at).cloned());
        }
    }
}
