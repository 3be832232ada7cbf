//! The processes that take part, each with its own account of CPU and memory.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rail_model::ProtocolId;
use rail_wire::{anthropic, openai_chat};
use tempfile::TempDir;

use super::model::Manner;

/// What a program of our own says first on its output.
const LISTENS: &str = "listens on ";

/// Tells the parent where this program listens.
pub(crate) fn tell_address(addr: SocketAddr) {
    println!("{LISTENS}{addr}");
}

/// Ends this program when its parent does.
pub(crate) fn end_with_parent() {
    thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
}

/// A process that serves; it ends with this value.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    _input: Option<ChildStdin>,
    home: Option<TempDir>,
}

impl Server {
    /// This same program in another role.
    pub(crate) fn own(role: &str, args: &[String]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("no path of our own: {error}"))?;
        let mut command = Command::new(program);
        command.arg(role).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{role} can't be started: {error}"))?;
        let input = child.stdin.take();
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(|error| format!("{role}: {error}"))?;
        }
        let addr = line.trim().strip_prefix(LISTENS).and_then(|addr| addr.parse().ok());
        let addr = addr.ok_or_else(|| format!("{role} did not say where it listens"))?;
        Ok(Self { child, addr, _input: input, home: None })
    }

    /// `rail serve` in a scratch home, with the model as its only server; its ledger is on, and it has no keys.
    pub(crate) fn rail(program: &Path, model: SocketAddr) -> Result<Self, String> {
        let told = |error: io::Error| format!("{}: {error}", program.display());
        let home = TempDir::new().map_err(told)?;
        let config = home.path().join("config/switchrail");
        fs::create_dir_all(&config).map_err(told)?;
        fs::write(config.join("config.toml"), settings(model)).map_err(told)?;
        // Not where the configuration is, nor where it runs: both are watched for changes.
        let work = home.path().join("work");
        fs::create_dir_all(&work).map_err(told)?;
        let log = fs::File::create(home.path().join("log")).map_err(told)?;
        let addr = free_address().map_err(told)?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", &addr.to_string()]).env_clear().current_dir(work);
        for (name, folder) in [
            ("HOME", "."),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, home.path().join(folder));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(told)?;
        let mut server = Self { child, addr, _input: None, home: Some(home) };
        server.wait_until_it_listens()?;
        Ok(server)
    }

    fn wait_until_it_listens(&mut self) -> Result<(), String> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            if TcpStream::connect(self.addr).is_ok() {
                return Ok(());
            }
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() > end {
                return Err(format!("`rail serve` does not listen; it said:\n{}", self.log()));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The last things that it logged.
    pub(crate) fn log(&self) -> String {
        let file = self.home.as_ref().map(|home| home.path().join("log"));
        let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(5)..).unwrap_or_default().join("\n")
    }

    /// The CPU time that it has used, in user and system mode.
    pub(crate) fn cpu(&self) -> Duration {
        // Linux tells user programs of clock ticks of 10 ms, whatever it counts in itself.
        const TICK: Duration = Duration::from_millis(10);
        let text = fs::read_to_string(self.file("stat")).unwrap_or_default();
        // The name, in parentheses, may hold blanks; user and system time are the 12th and 13th fields behind it.
        let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks: u32 = fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
        TICK * ticks
    }

    /// The memory that is its own or shared, now, in KiB.
    pub(crate) fn rss(&self) -> u64 {
        let text = fs::read_to_string(self.file("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
    }

    fn file(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.child.id().to_string()).join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a model's calls are trusted, or looked for in its text and mended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Calls {
    Trusted,
    Mended,
}

/// The protocols that models are asked in: a maker's own server is trusted with its calls, others are not.
const ASKED: [(ProtocolId, Calls); 3] = [
    (anthropic::PROTOCOL.id, Calls::Trusted),
    (openai_chat::PROTOCOL.id, Calls::Trusted),
    (openai_chat::PROTOCOL.id, Calls::Mended),
];

/// A provider for each of them and for each manner, with one model of the same name.
fn settings(model: SocketAddr) -> String {
    let mut text = String::new();
    for ((protocol, calls), manner) in
        ASKED.iter().flat_map(|asked| Manner::ALL.map(|manner| (asked, manner)))
    {
        let name = model_name(*protocol, *calls, manner);
        let tools = match calls {
            Calls::Trusted => "native",
            Calls::Mended => "mixed",
        };
        text += &format!(
            "[providers.{name}]\nprotocol = \"{protocol}\"\nbase_url = \"http://{model}/{}/v1\"\n\
             models.{name}.tools = \"{tools}\"\n",
            manner.name()
        );
    }
    text
}

/// The name of the model that answers so.
pub(crate) fn model_name(protocol: ProtocolId, calls: Calls, manner: Manner) -> String {
    let calls = match calls {
        Calls::Trusted => "trusted",
        Calls::Mended => "mended",
    };
    format!("{}-{calls}-{protocol}", manner.name())
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// Where `rail` is: where it was said to be, or beside this program.
pub(crate) fn rail_program(said: Option<PathBuf>) -> Result<PathBuf, String> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("rail"));
    let program = said.or_else(beside).filter(|program| program.is_file());
    program.ok_or_else(|| {
        "no `rail` beside this program; run `cargo build --release -p rail-cli`, or say `--rail PATH`"
            .to_owned()
    })
}
