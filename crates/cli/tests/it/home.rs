//! A user's home in a scratch folder, and the binary run in it with nothing else around.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

pub(crate) struct Home {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Home {
    /// An empty home, and an empty folder to work in.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("work")).unwrap();
        Self { folder, variables: Vec::new() }
    }

    /// A home with this configuration.
    pub(crate) fn with(config: &str) -> Self {
        let home = Self::new();
        home.write(".config/switchrail/config.toml", config);
        home
    }

    /// The same with a variable.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write(&self, file: &str, text: &str) {
        rail_stdx::replace(&self.path(file), text.as_bytes(), rail_stdx::Access::Owner).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The variables that the binary sees.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let home = self.folder.path();
        let place = |name: &str, path: &Path| (name.to_owned(), path.to_str().unwrap().to_owned());
        let mut all = vec![
            place("HOME", home),
            place("XDG_CONFIG_HOME", &home.join(".config")),
            place("XDG_STATE_HOME", &home.join("state")),
            place("XDG_CACHE_HOME", &home.join("cache")),
        ];
        all.extend(self.variables.iter().cloned());
        all
    }

    /// The binary, started with pipes at its ends.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.program(env!("CARGO_BIN_EXE_rail"), args)
    }

    /// The same, ended when it takes far longer than it should.
    pub(crate) fn start_bounded(&self, args: &[&str]) -> Child {
        let bounded = ["-s", "KILL", "120", env!("CARGO_BIN_EXE_rail")];
        self.program("/usr/bin/timeout", &[&bounded[..], args].concat())
    }

    #[expect(clippy::disallowed_methods, reason = "the test is about the process")]
    fn program(&self, program: &str, args: &[&str]) -> Child {
        Command::new(program)
            .args(args)
            .env_clear()
            .envs(self.variables())
            .current_dir(self.path("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What the binary says to this input, ended when it takes far longer than it should.
    pub(crate) fn bounded(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.start_bounded(args);
        // The command may end before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// What the binary says to this input.
    pub(crate) fn rail(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.start(args);
        // The command may end before it reads.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// All that the binary says, with its exit code where that is not 0, and without this machine's folders.
    pub(crate) fn said(&self, args: &[&str], input: &str) -> String {
        let Output { status, stdout, stderr } = self.rail(args, input);
        let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let code = match status.code() {
            Some(0) => String::new(),
            code => format!("exit {}\n", code.map_or("by a signal".to_owned(), |code| code.to_string())),
        };
        let said = format!("{stdout}{stderr}{code}");
        said.replace(self.folder.path().to_str().unwrap(), "HOME")
    }
}
