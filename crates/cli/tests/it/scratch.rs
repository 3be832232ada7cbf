//! A home of its own for the binary: nothing of this machine's environment, files and servers is seen.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rail_testkit::{Conversation, Peer, Step, http_whole};
use tempfile::TempDir;

/// The user's configuration, in a home.
pub(crate) const CONFIG: &str = "config/switchrail/config.toml";
/// The user's keys, in a home.
pub(crate) const ENV: &str = "config/switchrail/.env";

/// A scratch home with a folder to work in.
pub(crate) struct Home {
    folder: TempDir,
    variables: Vec<(String, String)>,
    /// What is told by another name, since it differs from run to run.
    names: Vec<(String, &'static str)>,
}

/// What the binary said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// All of it in one text.
    pub(crate) fn whole(&self) -> String {
        let code = self.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        format!("exit {code}\n=== stdout\n{}=== stderr\n{}", self.out, self.err)
    }
}

impl Home {
    /// An empty home, where no server is looked for.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("repo/.git")).unwrap();
        let path = fs::canonicalize(folder.path()).unwrap();
        let names = vec![(path.to_str().unwrap().to_owned(), "")];
        Self { folder, variables: Vec::new(), names }.with("SWITCHRAIL_DISCOVERY__SERVERS", "[]")
    }

    /// The same with a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with servers that are looked for, each told by its name.
    pub(crate) fn with_servers(mut self, servers: &[(&'static str, &Peer)]) -> Self {
        let urls: Vec<String> = servers.iter().map(|(_, peer)| format!("\"{}\"", peer.url(""))).collect();
        for (name, peer) in servers {
            self.names.push((peer.addr().to_string(), name));
        }
        // Far more than an answer takes, so that a slow machine fails no test.
        self.with("SWITCHRAIL_DISCOVERY__SERVERS", &format!("[{}]", urls.join(","))).patient()
    }

    /// The same where a server has long to say that it is there.
    fn patient(self) -> Self {
        self.with("SWITCHRAIL_DISCOVERY__WAIT", "20s")
    }

    /// The same where this server is told by a name.
    pub(crate) fn naming(mut self, name: &'static str, peer: &Peer) -> Self {
        self.names.push((peer.addr().to_string(), name));
        self.patient()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        rail_stdx::replace(&self.path(file), text.as_bytes(), rail_stdx::Access::Owner).unwrap();
        self
    }

    pub(crate) fn read(&self, file: &str) -> String {
        self.told(&fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}")))
    }

    /// Runs the binary in the folder to work in.
    pub(crate) fn rail(&self, args: &[&str], input: &str) -> Said {
        self.program(env!("CARGO_BIN_EXE_rail"), args, input)
    }

    /// Starts the binary in the folder to work in, for whoever talks with it.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(env!("CARGO_BIN_EXE_rail")).args(args).spawn().unwrap()
    }

    /// Runs any program in the folder to work in.
    pub(crate) fn program(&self, program: &str, args: &[&str], input: &str) -> Said {
        let mut child = self.command(program).args(args).spawn().unwrap();
        // The command may refuse before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| self.told(&String::from_utf8_lossy(bytes));
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Runs a shell command at a real terminal, where these keys are typed at its first prompt: how it ended and what was shown.
    pub(crate) fn script(&self, command: &str, keys: &str) -> (Option<i32>, String) {
        let mut child = self.command("script").args(["-qec", command, "/dev/null"]).spawn().unwrap();
        let (mut out, mut shown) = (child.stdout.take().unwrap(), Vec::new());
        let mut byte = [0];
        while !shown.ends_with(b"\n> ") && out.read(&mut byte).unwrap() == 1 {
            shown.push(byte[0]);
        }
        let mut typing = child.stdin.take().unwrap();
        typing.write_all(keys.as_bytes()).unwrap();
        out.read_to_end(&mut shown).unwrap();
        (child.wait().unwrap().code(), self.told(&String::from_utf8_lossy(&shown)))
    }

    /// A program in the folder to work in, with nothing of this machine's environment.
    #[expect(clippy::disallowed_methods, reason = "the test is about the process")]
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let at = |file: &str| -> PathBuf { self.path(file) };
        command.current_dir(at("repo")).env_clear();
        command.env("HOME", at("user")).env("XDG_CONFIG_HOME", at("config"));
        command.env("XDG_STATE_HOME", at("state")).env("XDG_CACHE_HOME", at("cache"));
        command.envs(self.variables.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn told(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (what, name)| text.replace(what, name))
    }
}

/// A model server that lists these models, whoever asks, under the owner that tells its kind.
pub(crate) fn server(owner: &str, models: &[&str]) -> Peer {
    let model = |name: &&str| serde_json::json!({"id": name, "owned_by": owner});
    let list = serde_json::json!({"object": "list", "data": models.iter().map(model).collect::<Vec<_>>()});
    answering(200, &list.to_string())
}

/// A server that gives one answer to everything.
pub(crate) fn answering(status: u16, body: &str) -> Peer {
    let answer = || [Step::ReadRequest, Step::Send(http_whole(status, "application/json", body))];
    // A client may ask more than once on a connection.
    let steps = std::iter::repeat_with(answer).take(8).flatten();
    Peer::start(vec![Conversation::new(steps.chain([Step::Stall])).repeat()]).unwrap()
}

/// Whether only its owner can read a file.
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o077 == 0
}
