//! A scripted model that any client can be pointed at.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;

use rail_testkit::{Asked, Models, Question, Turn, read_script};

const USAGE: &str = "\
A scripted model: answers clients of every protocol, turn by turn.

Usage: scripted-model [--listen ADDRESS] [--script FILE]

  --listen ADDRESS  where to listen; 127.0.0.1:0 takes a free port [default: 127.0.0.1:0]
  --script FILE     a JSON list of turns, such as [{\"text\": \"Hello\"}]; without it the last user text comes back
  --help            this text

crates/testkit/README.md says what may stand in a script.
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // Nobody can be told when even this fails.
            let _ = writeln!(io::stderr(), "scripted-model: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let Some(options) = Options::read(std::env::args().skip(1))? else {
        return say(USAGE);
    };
    let script = match &options.script {
        None => vec![Turn::echo().repeat()],
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            read_script(&text).map_err(|error| format!("{file}: {error}"))?
        }
    };
    let models = Models::listen(options.listen, script, |asked| {
        // A closed pipe must not end the server.
        let _ = say(&line(asked));
    });
    let models = models.map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
    say(&greeting(&models.url("")))?;
    loop {
        thread::park();
    }
}

struct Options {
    listen: SocketAddr,
    script: Option<String>,
}

impl Options {
    /// None when help is asked for.
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let mut options = Options { listen: SocketAddr::from(([127, 0, 0, 1], 0)), script: None };
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            let mut value =
                || value.clone().or_else(|| arguments.next()).ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--help" | "-h" => return Ok(None),
                "--listen" => {
                    let given = value()?;
                    let parsed = given.parse();
                    options.listen = parsed
                        .map_err(|_| format!("--listen: `{given}` is no address such as 127.0.0.1:8080"))?;
                }
                "--script" => options.script = Some(value()?),
                other => {
                    return Err(format!("unknown argument `{other}`; `scripted-model --help` lists them"));
                }
            }
        }
        Ok(Some(options))
    }
}

fn greeting(url: &str) -> String {
    let mut text = format!("listening on {url}\n");
    for (clients, base) in [
        ("Anthropic SDKs, Claude Code (ANTHROPIC_BASE_URL)", String::new()),
        ("OpenAI SDKs, chat completions (OPENAI_BASE_URL)", "/v1".to_owned()),
        ("OpenAI SDKs, responses; Codex (base_url)", "/v1".to_owned()),
        ("Gemini SDKs, Gemini CLI (GOOGLE_GEMINI_BASE_URL)", String::new()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {clients}: {url}{base}");
    }
    text.push_str("  any key and any model name will do\n");
    text
}

fn line(asked: &Asked) -> String {
    let Asked { protocol, operation, call, question, turn, losses, connection } = asked;
    let what = match question {
        Question::Request(request) => {
            let parts: usize = request.messages.iter().map(|message| message.parts.len()).sum();
            let (messages, tools) = (request.messages.len(), request.tools.len());
            let stream = if request.stream { ", streamed" } else { "" };
            format!("model {}, {messages} messages of {parts} parts, {tools} tools{stream}", request.model)
        }
        Question::Embed(request) => format!("model {}, {} inputs", request.model, request.inputs.len()),
        Question::Models => String::new(),
        Question::Unreadable(error) => format!("unreadable: {error}"),
    };
    let turn = turn.map_or(String::new(), |turn| format!("; turn {turn}"));
    let lost: Vec<&str> = losses.iter().map(|loss| loss.path.as_str()).collect();
    let lost = if lost.is_empty() { String::new() } else { format!("; could not say {}", lost.join(", ")) };
    let (method, path, bytes) = (&call.method, &call.path, call.body.len());
    format!("#{connection} {method} {path} ({protocol}, {operation:?}, {bytes} bytes) {what}{turn}{lost}\n")
}

fn say(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| format!("standard output: {error}"))
}
