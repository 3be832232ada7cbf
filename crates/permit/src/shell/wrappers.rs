use super::options::{NONE, Options};

/// A program that runs the words after its options and operands.
pub(super) struct Plain {
    pub(super) names: &'static [&'static str],
    pub(super) options: Options,
    /// Words before the command that are its own.
    pub(super) operands: usize,
}

/// Programs that only run another, with other rights, limits or signals.
pub(super) const PLAIN: &[Plain] = &[
    Plain {
        names: &[
            "builtin",
            "busybox",
            "fakeroot",
            "nocorrect",
            "noglob",
            "nohup",
            "toybox",
            "torsocks",
            "unbuffer",
        ],
        options: NONE,
        operands: 0,
    },
    Plain { names: &["doas"], options: Options { flags: "Lns", valued: "aCu", ..NONE }, operands: 0 },
    Plain {
        names: &["nice"],
        options: Options { valued: "n", long_valued: &["adjustment"], numbers: true, ..NONE },
        operands: 0,
    },
    Plain {
        names: &["ionice"],
        options: Options {
            flags: "t",
            valued: "cn",
            long: &["ignore"],
            long_valued: &["class", "classdata"],
            ..NONE
        },
        operands: 0,
    },
    Plain {
        names: &["setsid"],
        options: Options { flags: "cfw", long: &["ctty", "fork", "wait"], ..NONE },
        operands: 0,
    },
    Plain {
        names: &["stdbuf"],
        options: Options { valued: "ioe", long_valued: &["input", "output", "error"], ..NONE },
        operands: 0,
    },
    Plain {
        names: &["timeout", "gtimeout"],
        options: Options {
            flags: "vfp",
            valued: "sk",
            long: &["foreground", "preserve-status", "verbose"],
            long_valued: &["signal", "kill-after"],
            ..NONE
        },
        operands: 1,
    },
    Plain {
        names: &["time", "gtime"],
        options: Options {
            flags: "apvqlh",
            valued: "fo",
            long: &["append", "portability", "verbose", "quiet"],
            long_valued: &["format", "output"],
            ..NONE
        },
        operands: 0,
    },
    Plain { names: &["exec"], options: Options { flags: "cl", valued: "a", ..NONE }, operands: 0 },
    Plain {
        names: &["ltrace", "strace"],
        options: Options {
            flags: "cCdDfFhiknNqrtTuvVwxyYzZL",
            valued: "aAbeEIloOpPsSuUX",
            long: &["follow-forks", "summary-only", "decode-fds", "seccomp-bpf", "quiet"],
            long_valued: &["trace", "output", "attach", "env", "signal", "string-limit"],
            ..NONE
        },
        operands: 0,
    },
    Plain {
        names: &["chroot"],
        options: Options { long: &["skip-chdir"], long_valued: &["userspec", "groups"], ..NONE },
        operands: 1,
    },
    Plain {
        names: &["chrt"],
        options: Options {
            flags: "abdfimorRv",
            valued: "TPD",
            long: &["batch", "deadline", "fifo", "idle", "other", "rr", "reset-on-fork", "verbose"],
            ..NONE
        },
        operands: 1,
    },
    Plain {
        names: &["taskset"],
        options: Options { flags: "ac", long: &["all-tasks", "cpu-list"], ..NONE },
        operands: 1,
    },
    Plain {
        names: &["unshare"],
        options: Options {
            flags: "cfmuinpUCTr",
            valued: "SGRw",
            long: &[
                "fork",
                "mount",
                "uts",
                "ipc",
                "net",
                "pid",
                "user",
                "cgroup",
                "time",
                "map-root-user",
                "map-current-user",
                "mount-proc",
                "kill-child",
                "keep-caps",
                "propagation",
                "map-auto",
                "map-user",
                "map-group",
                "setgroups",
            ],
            long_valued: &["setuid", "setgid", "root", "wd"],
            ..NONE
        },
        operands: 0,
    },
    Plain {
        names: &["nsenter"],
        options: Options {
            flags: "aFZ",
            valued: "tSG",
            optional: "muinpUCTrw",
            long: &[
                "all",
                "mount",
                "uts",
                "ipc",
                "net",
                "pid",
                "cgroup",
                "user",
                "time",
                "root",
                "wd",
                "no-fork",
                "preserve-credentials",
                "follow-context",
            ],
            long_valued: &["target", "setuid", "setgid"],
            ..NONE
        },
        operands: 0,
    },
    Plain {
        names: &["pkexec"],
        options: Options { long: &["disable-internal-agent"], long_valued: &["user"], ..NONE },
        operands: 0,
    },
    Plain { names: &["gosu", "su-exec"], options: NONE, operands: 1 },
    Plain { names: &["caffeinate"], options: Options { flags: "dimsu", valued: "tw", ..NONE }, operands: 0 },
    Plain {
        names: &["proxychains", "proxychains4"],
        options: Options { flags: "q", valued: "f", ..NONE },
        operands: 0,
    },
];

/// `sudo`, before whose command variables may be set.
pub(super) const SUDO: Options = Options {
    flags: "ABbEHiKklnNPSsVv",
    valued: "CDghpRrTtUu",
    long: &[
        "askpass",
        "background",
        "bell",
        "preserve-env",
        "set-home",
        "login",
        "remove-timestamp",
        "reset-timestamp",
        "list",
        "non-interactive",
        "preserve-groups",
        "stdin",
        "shell",
        "validate",
        "version",
    ],
    long_valued: &[
        "close-from",
        "chdir",
        "group",
        "host",
        "prompt",
        "chroot",
        "role",
        "type",
        "command-timeout",
        "other-user",
        "user",
    ],
    ..NONE
};

/// `env`, before whose command variables may be set.
pub(super) const ENV: Options = Options {
    flags: "i0v",
    valued: "uCSP",
    long: &[
        "ignore-environment",
        "null",
        "debug",
        "block-signal",
        "default-signal",
        "ignore-signal",
        "list-signal-handling",
    ],
    long_valued: &["unset", "chdir", "split-string"],
    ..NONE
};

/// `command`, which with `-v` runs nothing.
pub(super) const COMMAND: Options = Options { flags: "pvV", ..NONE };

/// `xargs`, which adds arguments.
pub(super) const XARGS: Options = Options {
    flags: "0rtpxo",
    valued: "adEILnPsJR",
    optional: "eil",
    long: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "interactive",
        "exit",
        "open-tty",
        "replace",
        "max-lines",
        "eof",
        "show-limits",
    ],
    long_valued: &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
    ..NONE
};

/// GNU `parallel`, as far as its options run nothing themselves.
pub(super) const PARALLEL: Options = Options {
    flags: "k0Xmqut",
    valued: "jnNPLIda",
    long: &[
        "keep-order",
        "null",
        "bar",
        "progress",
        "eta",
        "will-cite",
        "no-notice",
        "dry-run",
        "ungroup",
        "line-buffer",
        "lb",
        "quote",
        "verbose",
        "halt-on-error",
        "no-run-if-empty",
        "tag",
    ],
    long_valued: &[
        "jobs",
        "max-args",
        "max-procs",
        "delimiter",
        "arg-file",
        "halt",
        "timeout",
        "retries",
        "delay",
        "colsep",
    ],
    ..NONE
};

/// Shells: `c` marks the script.
pub(super) const SHELL: Options = Options {
    flags: "abcefhiklmnprstuvxBCDEHPT",
    apart: "oO",
    long: &[
        "login",
        "norc",
        "noprofile",
        "posix",
        "restricted",
        "verbose",
        "noediting",
        "debugger",
        "version",
        "help",
    ],
    long_valued: &["rcfile", "init-file"],
    ..NONE
};

/// `su` and `runuser`.
pub(super) const SU: Options = Options {
    flags: "lmpPf",
    valued: "cgGsw",
    long: &["login", "preserve-environment", "pty", "fast"],
    long_valued: &["command", "group", "supp-group", "shell", "whitelist-environment", "session-command"],
    ..NONE
};

/// `flock`, which takes a file and then a command or `-c`.
pub(super) const FLOCK: Options = Options {
    flags: "sxenuoFv",
    valued: "wEc",
    long: &["shared", "exclusive", "nonblock", "nb", "unlock", "close", "no-fork", "verbose"],
    long_valued: &["timeout", "wait", "conflict-exit-code", "command"],
    ..NONE
};

/// `watch`, which gives its words to a shell.
pub(super) const WATCH: Options = Options {
    flags: "bceghprtvwxC",
    valued: "nqs",
    optional: "d",
    long: &[
        "beep",
        "color",
        "no-color",
        "differences",
        "errexit",
        "chgexit",
        "precise",
        "no-title",
        "exec",
        "no-wrap",
        "no-rerun",
    ],
    long_valued: &["interval", "equexit", "shotsdir"],
    ..NONE
};

/// `script`, which records a terminal.
pub(super) const SCRIPT: Options = Options {
    flags: "aefq",
    valued: "cBEIOTmo",
    optional: "t",
    long: &["append", "return", "flush", "force", "quiet", "timing"],
    long_valued: &[
        "command",
        "echo",
        "log-in",
        "log-out",
        "log-io",
        "log-timing",
        "logging-format",
        "output-limit",
    ],
    ..NONE
};
