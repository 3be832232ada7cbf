use super::{Finding, Seen, ask};

/// A program that is always asked about.
struct Entry {
    names: &'static [&'static str],
    /// Words that must follow, in this order, options left out.
    words: &'static [&'static str],
    /// One of these must begin an argument, if there are any.
    options: &'static [&'static str],
    what: &'static str,
}

const fn entry(names: &'static [&'static str], what: &'static str) -> Entry {
    Entry { names, words: &[], options: &[], what }
}

const fn subcommand(
    names: &'static [&'static str],
    words: &'static [&'static str],
    what: &'static str,
) -> Entry {
    Entry { names, words, options: &[], what }
}

const fn option(
    names: &'static [&'static str],
    options: &'static [&'static str],
    what: &'static str,
) -> Entry {
    Entry { names, words: &[], options, what }
}

const TABLE: &[Entry] = &[
    entry(
        &["doas", "gosu", "pkexec", "run0", "runuser", "su", "su-exec", "sudo", "sudoedit"],
        "runs with other rights",
    ),
    entry(&["halt", "init", "poweroff", "reboot", "shutdown", "telinit", "kexec"], "stops the machine"),
    entry(&["mount", "umount", "losetup", "swapoff", "swapon", "pivot_root"], "changes what is mounted"),
    entry(&["insmod", "modprobe", "rmmod"], "changes the kernel"),
    entry(
        &["at", "batch", "crontab", "launchctl", "systemctl", "systemd-run", "service"],
        "starts or plans what runs later",
    ),
    entry(&["ip6tables", "iptables", "nft", "pfctl", "ufw", "firewall-cmd"], "changes the firewall"),
    entry(
        &[
            "chpasswd", "chsh", "groupadd", "passwd", "useradd", "userdel", "usermod", "visudo", "adduser",
            "deluser",
        ],
        "changes who may use the machine",
    ),
    entry(
        &[
            "badblocks",
            "cfdisk",
            "cryptsetup",
            "fdisk",
            "gdisk",
            "hdparm",
            "lvremove",
            "nvme",
            "parted",
            "pvremove",
            "sfdisk",
            "sgdisk",
            "vgremove",
            "zpool",
            "diskutil",
        ],
        "changes disks",
    ),
    entry(&["chroot", "nsenter", "unshare", "capsh"], "runs in another view of the machine"),
    entry(&["gdb", "lldb", "strace", "ltrace"], "looks into other programs"),
    option(&["sysctl"], &["-w", "--write", "-p", "--load"], "changes the kernel's settings"),
    option(&["history"], &["-c", "-d", "-w"], "deletes the shell's history"),
    option(&["hash"], &["-p"], "changes what a program's name means"),
    option(&["enable"], &["-f", "-n", "-d"], "changes what a program's name means"),
    option(&["set"], &["-k", "-H", "hist"], "changes how words are read"),
    Entry {
        options: &[
            "--privileged",
            "--pid=host",
            "--net=host",
            "--network=host",
            "--cap-add",
            "--device",
            "-v/:",
            "--volume=/:",
            "/:/",
        ],
        ..subcommand(&["docker", "podman", "nerdctl"], &["run"], "gives a container the machine")
    },
    Entry {
        options: &["--privileged", "-v/:", "--volume=/:", "/:/"],
        ..subcommand(&["docker", "podman"], &["create"], "gives a container the machine")
    },
    subcommand(&["docker", "podman"], &["system", "prune"], "deletes images and containers"),
    subcommand(&["npm", "pnpm", "yarn", "bun"], &["publish"], "publishes a package"),
    subcommand(&["npm"], &["unpublish"], "takes a package back"),
    subcommand(&["cargo"], &["publish"], "publishes a package"),
    subcommand(&["cargo"], &["yank"], "takes a package back"),
    subcommand(&["cargo", "npm"], &["login"], "gives a key to a registry"),
    subcommand(&["gem"], &["push"], "publishes a package"),
    subcommand(&["twine"], &["upload"], "publishes a package"),
    subcommand(&["poetry", "uv", "hatch", "flit"], &["publish"], "publishes a package"),
    subcommand(&["docker", "podman"], &["push"], "publishes an image"),
    subcommand(&["gh"], &["repo", "delete"], "deletes a repository"),
    subcommand(&["gh"], &["release", "delete"], "deletes a release"),
    subcommand(&["gh"], &["secret"], "handles secrets"),
    subcommand(&["gh"], &["auth"], "handles keys"),
    subcommand(&["kubectl"], &["delete"], "deletes from a cluster"),
    subcommand(&["kubectl"], &["drain"], "empties a machine of a cluster"),
    subcommand(&["helm"], &["uninstall"], "deletes from a cluster"),
    subcommand(&["terraform", "tofu", "pulumi"], &["destroy"], "deletes what is deployed"),
    subcommand(&["terraform", "tofu"], &["apply"], "changes what is deployed"),
    option(&["aws"], &["delete", "rb", "terminate"], "deletes in a cloud"),
    option(&["gcloud", "az"], &["delete"], "deletes in a cloud"),
    option(&["dropdb"], &[], "deletes a database"),
    option(
        &["ssh", "scp", "sftp"],
        &["-oProxyCommand", "-oLocalCommand", "ProxyCommand", "LocalCommand", "-oPermitLocal", "-S"],
        "runs a program to connect",
    ),
    option(
        &["tar", "bsdtar"],
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "-I",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "-F",
        ],
        "runs a program for each file",
    ),
    option(&["zip"], &["-TT", "--unzip-command"], "runs a program to test"),
    option(&["sort"], &["--compress-program", "--com"], "runs a program to compress"),
    option(&["rg"], &["--pre"], "runs a program for each file"),
    option(&["rsync"], &["-e", "--rsh", "--rsync-path"], "runs a program to connect"),
    option(&["curl"], &["-K", "--config"], "reads its options from a file"),
    option(&["wget"], &["--use-askpass", "-e", "--execute"], "runs a command or a program"),
    option(&["make", "gmake"], &["SHELL=", "--eval", "-E"], "runs a text as rules"),
    option(&["cargo"], &["--config"], "runs the programs that a setting names"),
    option(
        &["npm", "pnpm", "yarn", "npx"],
        &["--script-shell", "--shell", "--node-options", "--git"],
        "runs the programs that a setting names",
    ),
    option(
        &["go"],
        &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"],
        "runs a program to build or test",
    ),
    option(&["gradle", "./gradlew", "gradlew"], &["-I", "--init-script"], "runs a script before it builds"),
    option(
        &["git"],
        &["--output", "--template", "--sendmail-cmd"],
        "writes a file, or takes hooks, where it is told",
    ),
    Entry {
        options: &["-c", "--config", "-u", "--upload-pack"],
        ..subcommand(&["git"], &["clone"], "takes settings that can run programs")
    },
    subcommand(&["git"], &["hook"], "runs a program of the repository"),
    subcommand(&["git"], &["mergetool"], "runs a program of the repository's settings"),
    subcommand(&["git"], &["credential"], "handles keys"),
    subcommand(&["git"], &["daemon"], "gives the repository to others"),
    subcommand(&["git"], &["instaweb"], "gives the repository to others"),
    subcommand(&["git"], &["maintenance", "start"], "is started by the system on its own"),
    option(&["man"], &["-P", "-H", "--pager", "--html"], "runs a program to show pages"),
    option(
        &["vi", "vim", "nvim", "ex", "emacs", "ed"],
        &["-c", "+", "--cmd", "--eval", "-S", "-es"],
        "runs commands of an editor",
    ),
];

/// Programs, subcommands and options that are always asked about.
pub(super) fn programs(seen: &Seen<'_>) -> Option<Finding> {
    let found = TABLE.iter().find(|entry| entry.names.contains(&seen.program) && entry.matches(seen));
    found.and_then(|entry| ask(entry.what))
}

impl Entry {
    fn matches(&self, seen: &Seen<'_>) -> bool {
        let mut operands = seen.literals().filter(|word| !word.starts_with('-'));
        let words = self.words.iter().all(|word| operands.next() == Some(word));
        let option = |word: &str| self.options.iter().any(|option| word.starts_with(option));
        words && (self.options.is_empty() || seen.literals().any(option))
    }
}
