//! A client of the Agent Client Protocol that plays a script with an agent, and prints all that was said.

use std::io::Write;
use std::process::{ExitCode, Stdio};

use rail_testkit::AcpClient;
use rail_testkit::install::program;
use serde_json::Value;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [script, agent, rest @ ..] = args.as_slice() else {
        return ended("use: acp-client SCRIPT.json PROGRAM [ARGS…], as in `acp-client steps.json rail acp`");
    };
    match played(script, agent, rest) {
        Ok(transcript) => {
            // Whoever reads no further has seen enough.
            let _ = std::io::stdout().write_all(transcript.as_bytes());
            ExitCode::SUCCESS
        }
        Err(why) => ended(&why),
    }
}

fn played(script: &str, agent: &str, rest: &[String]) -> Result<String, String> {
    let text = std::fs::read_to_string(script).map_err(|error| format!("{script}: {error}"))?;
    let script: Value = serde_json::from_str(&text).map_err(|error| format!("{script}: {error}"))?;
    let mut child = program(agent)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{agent}: {error}"))?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the agent has no streams".to_owned());
    };
    let cwd = std::env::current_dir().map_err(|error| error.to_string())?;
    let mut client = AcpClient::new(to, from).keeping("cwd", &cwd.to_string_lossy());
    let played = client.play_script(&script);
    let transcript = client.transcript();
    drop(client);
    child.wait().map_err(|error| error.to_string())?;
    played.map(|()| transcript)
}

fn ended(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::from(2)
}
