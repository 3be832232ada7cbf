//! Servers of others, installed below the target folder.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rail_testkit::install::{Packages, Wanted, commands_in, installed, program};

const NODE: &str = r#"{"private": true, "dependencies": {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31"
}}"#;
const PYTHON: &str = "mcp-server-git==2026.10.19\nmcp-server-fetch==2026.10.24\n";

fn folder(title: &str, name: &str, packages: Packages<'_>) -> Option<PathBuf> {
    let wanted = Wanted { title, place: ("mcp-servers", name), packages, crate_name: "rail-mcp" };
    installed(&wanted, Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The command of a server of npm.
pub(crate) fn node(name: &str) -> Option<String> {
    let folder = folder("the MCP servers of npm", "node", Packages::Node(NODE))?;
    Some(commands_in(&folder).join(name).to_str().unwrap().to_owned())
}

/// The command of a server of PyPI.
pub(crate) fn python(name: &str) -> Option<String> {
    let folder = folder("the MCP servers of PyPI", "python", Packages::Python(PYTHON))?;
    Some(folder.join("venv/bin").join(name).to_str().unwrap().to_owned())
}

/// A server that somebody else started; it ends with the test.
pub(crate) struct Started {
    child: Child,
    pub(crate) port: u16,
}

impl Started {
    /// Starts the everything server, and waits until it listens.
    pub(crate) fn everything(command: &str, transport: &str, port: Option<u16>) -> Self {
        let port =
            port.unwrap_or_else(|| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
        let mut child = program(command)
            .arg(transport)
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listens = lines.by_ref().map_while(Result::ok).any(|line| line.contains(" on port "));
        assert!(listens, "the server did not start");
        // It goes on to write: somebody has to read.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
