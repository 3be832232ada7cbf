/// What a program does with the files among its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// None of them are files.
    Nothing,
    /// It reads all.
    Reads,
    /// It reads all but the first, which is a pattern, a filter or a script, unless an option brings that.
    ReadsAfterFirst,
    /// It writes all.
    Writes,
    /// It writes all but the first, which is a mode or an owner.
    WritesAfterFirst,
    /// It reads all but the last, which it writes.
    Copies,
    /// It reads the first and writes the second, if there is one.
    Filters,
    /// It writes the first and reads the rest.
    Packs,
}

/// A program whose arguments are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) role: Role,
    /// Options whose value is no file: letters and long names.
    pub(super) valued: &'static [&'static str],
    /// Options that bring the pattern, filter or script.
    pub(super) brings: &'static [&'static str],
    /// Options whose value is a file that it reads.
    pub(super) reads: &'static [&'static str],
    /// Options whose value is a file or folder that it writes.
    pub(super) writes: &'static [&'static str],
}

const fn program(names: &'static [&'static str], role: Role) -> Program {
    Program { names, role, valued: &[], brings: &[], reads: &[], writes: &[] }
}

/// Programs whose arguments are known well enough to say what they touch.
pub(super) const PROGRAMS: &[Program] = &[
    program(
        &[
            "((", ":", "basename", "date", "dirname", "echo", "exit", "export", "false", "hostname", "id",
            "printf", "pwd", "read", "return", "seq", "set", "shift", "sleep", "true", "tty", "type",
            "uname", "unset", "wait", "which", "whoami", "local", "declare", "break", "continue", "tr",
            "yes", "nproc", "uptime", "arch", "getconf", "expr", "wait", "kill",
        ],
        Role::Nothing,
    ),
    program(
        &[
            "b2sum",
            "bat",
            "cat",
            "cksum",
            "cmp",
            "comm",
            "expand",
            "hexdump",
            "ls",
            "ll",
            "dir",
            "md5sum",
            "more",
            "nl",
            "od",
            "paste",
            "readlink",
            "realpath",
            "rev",
            "sha1sum",
            "sha256sum",
            "sha512sum",
            "strings",
            "sum",
            "tac",
            "cd",
            "pushd",
            "source",
            ".",
            "tsort",
            "unexpand",
            "vdir",
            "zcat",
            "lsof",
            "getfacl",
        ],
        Role::Reads,
    ),
    Program {
        valued: &["n", "c", "lines", "bytes", "s", "pid", "sleep-interval"],
        ..program(&["head", "tail"], Role::Reads)
    },
    Program { writes: &["o", "O", "log-file", "LOG-FILE"], ..program(&["less"], Role::Reads) },
    Program { reads: &["files0-from"], ..program(&["wc"], Role::Reads) },
    Program {
        valued: &[
            "k",
            "t",
            "S",
            "key",
            "field-separator",
            "buffer-size",
            "parallel",
            "batch-size",
            "compress-program",
        ],
        reads: &["files0-from", "random-source"],
        writes: &["o", "output", "T", "temporary-directory"],
        ..program(&["sort"], Role::Reads)
    },
    Program { valued: &["f", "s", "w", "skip-fields", "skip-chars"], ..program(&["uniq"], Role::Filters) },
    Program { valued: &["l", "s", "c", "g", "o"], ..program(&["xxd"], Role::Filters) },
    Program {
        valued: &["b", "c", "d", "f", "bytes", "characters", "delimiter", "fields", "output-delimiter"],
        ..program(&["cut"], Role::Reads)
    },
    Program { valued: &["t", "j", "1", "2", "a", "e", "o", "v"], ..program(&["join"], Role::Reads) },
    Program { valued: &["w", "width"], ..program(&["fold", "base64", "base32", "column"], Role::Reads) },
    Program {
        valued: &[
            "U",
            "C",
            "I",
            "x",
            "W",
            "unified",
            "context",
            "label",
            "exclude",
            "ignore-matching-lines",
            "color",
        ],
        reads: &["X", "exclude-from", "from-file", "to-file"],
        writes: &["output"],
        ..program(&["diff", "colordiff", "diff3", "sdiff"], Role::Reads)
    },
    Program {
        valued: &["m", "e", "P", "F"],
        reads: &["f", "files-from", "magic-file"],
        ..program(&["file"], Role::Reads)
    },
    Program { valued: &["c", "f", "format", "printf"], ..program(&["stat"], Role::Reads) },
    Program {
        valued: &["d", "B", "t", "max-depth", "block-size", "exclude", "threshold", "type", "x"],
        reads: &["X", "exclude-from", "files0-from"],
        ..program(&["du", "df"], Role::Reads)
    },
    Program {
        valued: &["L", "I", "P", "H", "T", "filelimit", "charset", "sort", "timefmt"],
        writes: &["o"],
        ..program(&["tree"], Role::Reads)
    },
    Program {
        valued: &[
            "A",
            "B",
            "C",
            "m",
            "d",
            "D",
            "e",
            "regexp",
            "include",
            "exclude",
            "exclude-dir",
            "color",
            "colour",
            "max-count",
            "after-context",
            "before-context",
            "context",
            "label",
        ],
        brings: &["e", "f", "regexp", "file"],
        reads: &["f", "file", "exclude-from"],
        ..program(&["grep", "egrep", "fgrep", "zgrep"], Role::ReadsAfterFirst)
    },
    Program {
        valued: &[
            "A",
            "B",
            "C",
            "m",
            "e",
            "g",
            "t",
            "T",
            "j",
            "M",
            "E",
            "r",
            "regexp",
            "glob",
            "iglob",
            "type",
            "type-not",
            "max-count",
            "after-context",
            "before-context",
            "context",
            "color",
            "colors",
            "max-depth",
            "max-filesize",
            "sort",
            "sortr",
            "replace",
            "threads",
            "encoding",
            "engine",
            "type-add",
            "max-columns",
        ],
        brings: &["e", "f", "regexp", "file", "files", "type-list"],
        reads: &["f", "file", "ignore-file"],
        ..program(&["rg", "ag", "ack"], Role::ReadsAfterFirst)
    },
    Program {
        valued: &["e", "E", "l", "expression", "line-length"],
        brings: &["e", "f", "expression", "file"],
        reads: &["f", "file"],
        ..program(&["sed", "gsed"], Role::ReadsAfterFirst)
    },
    Program {
        valued: &["F", "v", "field-separator", "assign"],
        brings: &["f", "file"],
        reads: &["f", "file"],
        ..program(&["awk", "gawk", "mawk", "nawk"], Role::ReadsAfterFirst)
    },
    Program {
        valued: &["arg", "argjson", "indent", "tab"],
        brings: &["f", "from-file"],
        reads: &["f", "from-file", "slurpfile", "rawfile", "L"],
        ..program(&["jq", "yq"], Role::ReadsAfterFirst)
    },
    Program {
        valued: &["S", "suffix", "backup", "sparse", "reflink"],
        writes: &["t", "target-directory"],
        ..program(&["cp"], Role::Copies)
    },
    Program {
        valued: &["S", "suffix", "m", "o", "g", "mode", "owner", "group"],
        writes: &["t", "target-directory"],
        ..program(&["ln", "install"], Role::Copies)
    },
    Program {
        valued: &[
            "e", "f", "rsh", "exclude", "include", "filter", "bwlimit", "timeout", "port", "chmod", "chown",
            "info",
        ],
        reads: &["exclude-from", "include-from", "files-from", "password-file"],
        writes: &["log-file", "T", "temp-dir", "backup-dir", "partial-dir"],
        ..program(&["rsync"], Role::Copies)
    },
    Program {
        valued: &["P", "o", "c", "l", "J", "S"],
        reads: &["i", "F"],
        ..program(&["scp"], Role::Copies)
    },
    Program {
        valued: &["S", "suffix", "backup"],
        writes: &["t", "target-directory"],
        ..program(&["mv"], Role::Writes)
    },
    Program {
        valued: &["m", "mode", "Z", "context"],
        ..program(&["mkdir", "mkfifo", "mknod"], Role::Writes)
    },
    Program {
        valued: &["d", "t", "date", "time", "s", "size", "n", "iterations"],
        reads: &["r", "reference"],
        ..program(&["touch", "truncate", "shred"], Role::Writes)
    },
    program(
        &["rm", "rmdir", "unlink", "tee", "gunzip", "bunzip2", "unxz", "dos2unix", "unix2dos", "rimraf"],
        Role::Writes,
    ),
    Program {
        valued: &["T", "threads", "S", "suffix"],
        ..program(&["gzip", "bzip2", "xz", "zstd"], Role::Writes)
    },
    Program {
        valued: &["from"],
        reads: &["reference"],
        ..program(&["chmod", "chown", "chgrp", "setfacl"], Role::WritesAfterFirst)
    },
    Program { valued: &["x", "i", "P", "n", "t"], ..program(&["zip"], Role::Packs) },
    Program { valued: &["x", "P"], writes: &["d"], ..program(&["unzip"], Role::Reads) },
    Program {
        valued: &["n", "l", "b", "a", "suffix-length", "lines", "bytes"],
        ..program(&["split", "csplit"], Role::Filters)
    },
];
