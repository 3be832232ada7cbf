//! A real PostgreSQL server for tests, in a folder of its own.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

use crate::ServerCert;
use crate::install::{in_ci, tell};

/// Reads until its own end of the pipe is closed, by us or by our death, and then ends the server as a crash would.
const GUARD: &str = r#""$@" </dev/null & read -r _; kill -QUIT $!; wait"#;
/// What a server says when it is there.
const READY: &str = "database system is ready to accept connections";

/// A server that only this process knows, without a password; dropping it ends it, and so does the end of this process.
#[derive(Debug)]
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    /// A port on the loopback, if it listens there as well.
    port: Option<u16>,
    databases: AtomicU64,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    guard: Child,
    /// Closing it is what ends the server.
    leash: ChildStdin,
    reading: JoinHandle<()>,
}

impl Postgres {
    /// Starts a server on a socket in its folder; the error says what is missing.
    pub fn start() -> io::Result<Self> {
        Self::with(None)
    }

    /// Starts a server that listens on a port of the loopback as well, with TLS.
    pub fn start_tls(tls: &ServerCert) -> io::Result<Self> {
        Self::with(Some(tls))
    }

    /// A server, or None where there is no PostgreSQL, which is told; in CI that is a failure.
    pub fn start_or_skip() -> Option<Self> {
        match Self::start() {
            Ok(server) => Some(server),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !in_ci() => {
                tell(&format!("skipped: PostgreSQL ({error})"));
                None
            }
            Err(error) => panic!("PostgreSQL: {error}"),
        }
    }

    /// The server that all tests of this process share while one of them needs it, each with a database of its own; None as for
    /// [`Postgres::start_or_skip`]. Who ends it ends it for all.
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let started = Self::start_or_skip().map(Arc::new);
        *shared = started.as_ref().map(Arc::downgrade).unwrap_or_default();
        started
    }

    fn with(tls: Option<&ServerCert>) -> io::Result<Self> {
        let programs = programs()?;
        let folder = tempfile::Builder::new().prefix("rail-pg-").tempdir()?;
        let port = match tls {
            Some(_) => Some(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port()),
            None => None,
        };
        let server = Self { folder, programs, port, databases: AtomicU64::new(0), running: Mutex::new(None) };
        if let Some(tls) = tls {
            server.private("server.crt", &tls.certificate)?;
            server.private("server.key", &tls.key)?;
        }
        own(server.folder.path())?;
        let mut init = server.command("initdb");
        init.args([
            "--no-sync",
            "--auth=trust",
            "--username=postgres",
            "--no-locale",
            "--encoding=UTF8",
            "--pgdata",
        ]);
        succeeded(&init.arg(server.data()).output()?)?;
        server.restart()?;
        Ok(server)
    }

    /// A new, empty database's address, on the socket.
    pub fn database(&self) -> io::Result<String> {
        let name = self.new_database()?;
        let folder = self.folder.path().to_string_lossy().replace('/', "%2F");
        Ok(format!("postgres://postgres@{folder}/{name}"))
    }

    /// A new, empty database's address on the port, under this name of the loopback.
    pub fn database_at(&self, host: &str) -> io::Result<String> {
        let port = self.port.ok_or_else(|| io::Error::other("this server listens on no port"))?;
        Ok(format!("postgres://postgres@{host}:{port}/{}", self.new_database()?))
    }

    fn new_database(&self) -> io::Result<String> {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.run(&format!("CREATE DATABASE {name}"), "postgres").map(|_| name)
    }

    /// What `psql` prints of a statement in the database of an address.
    pub fn sql(&self, address: &str, sql: &str) -> io::Result<String> {
        self.run(sql, address.rsplit('/').next().unwrap_or_default())
    }

    fn run(&self, sql: &str, database: &str) -> io::Result<String> {
        let mut psql = self.command("psql");
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--username=postgres", "--host"]);
        let output = psql.arg(self.folder.path()).args(["--dbname", database, "--command", sql]).output()?;
        succeeded(&output)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// Ends the server at once, as a crash would; what was committed stays.
    pub fn stop(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { mut guard, leash, reading }) = running else { return };
        drop(leash);
        // It was told to end, and there is nobody to tell that it would not.
        let _ = guard.wait();
        let _ = reading.join();
    }

    /// Starts the server again where it was.
    pub fn restart(&self) -> io::Result<()> {
        self.stop();
        let mut command = self.command("sh");
        command
            .args(["-c", GUARD, "postgres"])
            .arg(self.programs.join("postgres"))
            .arg("-D")
            .arg(self.data());
        let mut set = |name: &str, value: &str| {
            command.arg("-c").arg(format!("{name}={value}"));
        };
        set("unix_socket_directories", &self.folder.path().to_string_lossy());
        // No test pulls the plug of the machine, so that the system's own memory is safe enough.
        set("fsync", "off");
        set("max_connections", "200");
        set("shared_buffers", "16MB");
        match self.port {
            None => set("listen_addresses", ""),
            Some(port) => {
                set("listen_addresses", "127.0.0.1");
                set("port", &port.to_string());
                set("ssl", "on");
                for (name, file) in [("ssl_cert_file", "server.crt"), ("ssl_key_file", "server.key")] {
                    set(name, &self.folder.path().join(file).to_string_lossy());
                }
            }
        }
        let command = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut guard = command.spawn()?;
        let (Some(leash), Some(said)) = (guard.stdin.take(), guard.stderr.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let reading = ready(BufReader::new(said))?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Running { guard, leash, reading });
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A file that only its owner can read.
    fn private(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.path().join(name);
        fs::write(&path, text)?;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        own(&path)
    }

    /// A program of PostgreSQL's, or of the system's, without the rights of root: a server refuses to run with them.
    #[expect(
        clippy::disallowed_methods,
        reason = "the server is a foreign program, and this is no product code"
    )]
    fn command(&self, name: &str) -> Command {
        let program = if name == "sh" { PathBuf::from(name) } else { self.programs.join(name) };
        let mut command = match unprivileged() {
            None => Command::new(program),
            Some(Account { user, group }) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={user}")).arg(format!("--regid={group}")).arg("--clear-groups");
                command.arg(program);
                command
            }
        };
        command.current_dir(self.folder.path()).env_clear().env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("PGPORT", self.port.unwrap_or(5432).to_string());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads what a server says until it is there, and then on, so that it never waits for a reader.
fn ready(mut said: impl BufRead + Send + 'static) -> io::Result<JoinHandle<()>> {
    let mut before = String::new();
    loop {
        let start = before.len();
        if said.read_line(&mut before)? == 0 {
            return Err(io::Error::other(format!("the server did not start:\n{before}")));
        }
        if before.get(start..).is_some_and(|line| line.contains(READY)) {
            break;
        }
    }
    thread::Builder::new().name("postgres".to_owned()).spawn(move || {
        let _ = said.read_to_end(&mut Vec::new());
    })
}

/// Where the server's programs are: the newest of Debian's, or those on the path.
fn programs() -> io::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).max_by_key(|path| number(path));
    let candidates = newest
        .map(|path| path.join("bin"))
        .into_iter()
        .chain(["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"].map(PathBuf::from));
    let found = candidates.into_iter().find(|folder| folder.join("initdb").is_file());
    let missing = || {
        let text = "no `initdb` found; install PostgreSQL, with Debian `apt-get install postgresql`";
        io::Error::new(io::ErrorKind::NotFound, text)
    };
    found.ok_or_else(missing)
}

/// A user and a group by number.
#[derive(Clone, Copy)]
struct Account {
    user: u32,
    group: u32,
}

/// Whom the server runs as when we are root: `postgres`, or nobody.
fn unprivileged() -> Option<Account> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of = |name: &str| {
        let line = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let mut fields = line.split(':').skip(1);
        Some(Account { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    };
    let nobody = Account { user: 65_534, group: 65_534 };
    is_root.then(|| of("postgres").or_else(|| of("nobody")).unwrap_or(nobody))
}

/// Gives a file to whom the server runs as.
fn own(path: &Path) -> io::Result<()> {
    match unprivileged() {
        Some(Account { user, group }) => std::os::unix::fs::chown(path, Some(user), Some(group)),
        None => Ok(()),
    }
}

fn succeeded(output: &Output) -> io::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{} failed:\n{said}", output.status)))
}
