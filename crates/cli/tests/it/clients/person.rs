//! A user with a client: a home, a folder to work in, and nothing else of this machine but its programs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use rail_ledger::{Ending, Entry, Ledger, Place};

use rail_testkit::install::program;

use super::install::{installed, path_of_this_machine};
use super::table::{AFTER, BEFORE, Files, Tested};
use super::task::DONE;

/// Far longer than any client takes here; one that hangs must not hang the tests.
const DEADLINE: Duration = Duration::from_secs(150);

/// The list of models by which Codex declares its tool for patches.
const CATALOG: &str = r#"{"models": [{
    "slug": "any", "display_name": "any", "base_instructions": "Do it.", "apply_patch_tool_type": "freeform",
    "shell_type": "unified_exec", "supported_reasoning_levels": [], "support_verbosity": false,
    "truncation_policy": {"mode": "tokens", "limit": 10000}, "experimental_supported_tools": [],
    "visibility": "list", "supported_in_api": true, "priority": 0
}]}"#;

pub(super) struct Person {
    client: &'static Tested,
    folder: tempfile::TempDir,
    bin: PathBuf,
}

impl Person {
    /// A user with this client; None where it can't be had.
    pub(super) fn with(client: &'static Tested) -> Option<Self> {
        let bin = installed(client)?;
        let folder = tempfile::tempdir().unwrap();
        let person = Self { client, folder, bin };
        person.write("work/notes.txt", BEFORE);
        // Gemini CLI takes the way to sign in from nowhere else.
        person
            .write(".gemini/settings.json", r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#);
        person.write("codex.json", CATALOG);
        Some(person)
    }

    /// The same with this configuration of ours.
    pub(super) fn configured(self, providers: &[String], chain: &str) -> Self {
        let config = format!(
            "[gateway]\nkeep_alive = \"100ms\"\nhold = \"200ms\"\n{}\n[router]\ndefault = \"{chain}\"\n",
            providers.concat()
        );
        self.write(".config/switchrail/config.toml", &config);
        self
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Writes a file that only its owner can read.
    pub(super) fn write(&self, file: &str, text: &str) {
        rail_stdx::replace(&self.path(file), text.as_bytes(), rail_stdx::Access::Owner).unwrap();
    }

    pub(super) fn files(&self) -> Files {
        Files::of(&self.path("work"))
    }

    /// A program in the folder to work in, with this home and nothing else.
    pub(super) fn command(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = program(name);
        let path = format!("{}:{}", self.bin.display(), path_of_this_machine());
        command.env_clear().env("PATH", path).current_dir(self.path("work")).stdin(Stdio::null());
        for (name, place) in [
            ("HOME", ""),
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
            ("TMPDIR", "tmp"),
        ] {
            fs::create_dir_all(self.path(place)).unwrap();
            command.env(name, self.path(place));
        }
        // What opencode would fetch for plugins that nobody has.
        command.env("npm_config_offline", "true");
        command
    }

    pub(super) fn rail(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_rail"));
        command.args(args);
        command
    }

    /// The client with its task, pointed at a gateway by hand.
    pub(super) fn client(&self, url: &str) -> Command {
        let Tested { name, args, env, .. } = self.client;
        let mut command = self.command(self.bin.join(name));
        let home = self.folder.path().to_str().unwrap();
        for (name, value) in *env {
            command.env(name, value.replace("GATEWAY", url));
        }
        if self.client.name == "codex" {
            let provider = format!(
                r#"{{name = "s", base_url = "{url}/v1", env_key = "RAIL_TEST_TOKEN", wire_api = "responses"}}"#
            );
            for setting in [
                "model=\"any\"".to_owned(),
                "model_provider=\"s\"".to_owned(),
                "web_search=\"disabled\"".to_owned(),
                format!("model_providers.s={provider}"),
                format!("model_catalog_json=\"{home}/codex.json\""),
            ] {
                command.args(["-c", &setting]);
            }
        }
        command.args(*args).arg("Make it blue in notes.txt");
        command
    }

    /// What a program says until it ends, by itself.
    pub(super) fn outcome(mut command: Command) -> Output {
        // A group of its own, so that a client ends with all that it has started.
        let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        let (send, ended) = channel();
        thread::spawn(move || send.send(child.wait_with_output()));
        ended
            .recv_timeout(DEADLINE)
            .unwrap_or_else(|_| {
                let _ = program("kill").args(["-KILL", "--", &format!("-{id}")]).status();
                panic!("{command:?} did not end in {DEADLINE:?}: {:?}", ended.recv());
            })
            .unwrap()
    }

    /// Checks that the task was done, by what is on disk and by what the client said.
    pub(super) fn check(&self, output: &Output) {
        let said = format!(
            "{}: {}\n{}\n{}",
            self.client.name,
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{said}");
        let read = |file: &str| fs::read_to_string(self.path("work").join(file)).unwrap_or_default();
        assert_eq!(read("notes.txt"), AFTER, "{said}");
        assert_eq!(read("count.txt").trim(), AFTER.len().to_string(), "{said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(DONE), "{said}");
    }

    /// Where requests are recorded.
    pub(super) fn ledger(&self) -> PathBuf {
        self.path("state/switchrail/ledger.db")
    }

    /// A gateway, until it is dropped.
    pub(super) fn gateway(&self) -> Gateway {
        let mut child = self
            .rail(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert_ne!(out.read_line(&mut line).unwrap(), 0, "the gateway does not say where it is");
        }
        let at = line.find("http://").unwrap();
        let url = line[at..].split(|sign: char| sign.is_whitespace() || ";,".contains(sign)).next().unwrap();
        let url = url.trim_end_matches(':').to_owned();
        thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Gateway { child, url, ledger: self.ledger() }
    }
}

/// `rail serve`.
pub(super) struct Gateway {
    child: Child,
    pub(super) url: String,
    ledger: PathBuf,
}

impl Gateway {
    /// Ends it as whoever runs it does, and checks that the ledger has every request of this client, each answered, and that these
    /// targets answered them, in this order.
    pub(super) fn check_ledger(mut self, client: &Tested, targets: &[&str]) {
        let _ = program("kill").args(["-TERM", &self.child.id().to_string()]).status();
        self.child.wait().unwrap();
        check_ledger(&self.ledger, client, targets);
    }
}

/// The same for a ledger that nobody writes to any more.
pub(super) fn check_ledger(file: &Path, client: &Tested, targets: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let entries = runtime.block_on(async {
        let ledger = Ledger::open(&Place::File(file.to_owned())).await.unwrap();
        ledger.recent(100, None).await.unwrap()
    });
    let said = format!("{entries:#?}");
    assert!(entries.len() >= 4, "{said}");
    for Entry { client: name, protocol, ending, status, .. } in &entries {
        let seen = (name.as_str(), protocol.as_str(), *ending, *status);
        assert_eq!(seen, (client.known_as, client.protocol, Ending::Answered, 200), "{said}");
    }
    let mut answered: Vec<&str> = entries.iter().rev().filter_map(|entry| entry.target.as_deref()).collect();
    answered.dedup();
    assert_eq!(answered, targets, "{said}");
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
