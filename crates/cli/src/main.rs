//! `rail`: one coding agent on any model, and any coding agent on any model.

mod acp;
mod agent;
mod cassette;
mod clock;
mod config;
mod debug;
mod demo;
mod doctor;
mod images;
mod init;
mod key;
mod ledger;
mod mcp;
mod output;
mod permission;
mod permit;
mod provider;
mod route;
mod run;
mod serve;
mod sessions;
mod setup;
mod signals;
mod state;
mod table;
mod tool;
mod trust;
mod usage;

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(
    name = "rail",
    version,
    about = "One coding agent on any model, and any coding agent on any model."
)]
struct Cli {
    #[command(flatten)]
    common: setup::Common,
    #[command(flatten)]
    agent: agent::AgentFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The agent for editors: the Agent Client Protocol on stdin and stdout.
    Acp(acp::Acp),
    /// What terminals of editors start: a command that confines itself.
    #[command(hide = true)]
    Confined(acp::Confined),
    /// The configuration: what is in force, what is wrong with it, where it is.
    #[command(subcommand)]
    Config(config::Config),
    /// A tour of the agent without a key or a network, in a scratch folder.
    Demo(demo::Demo),
    /// Look inside: one request, answer or stream through the codecs.
    #[command(subcommand)]
    Debug(debug::Debug),
    /// Check keys, endpoints, clients, TLS, the sandbox, the database and more, and say how to mend what is wrong.
    Doctor(doctor::Doctor),
    /// Write a first configuration, by asking; or AGENTS.md, by looking at the repository.
    ///
    /// Without a terminal, and with nothing on the standard input, nothing is asked and all that is found is written; answers
    /// may also come from a pipe, one a line.
    Init(init::Init),
    /// The gateway's own keys: who may use it, and how much.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// MCP: servers whose tools the agent uses, and the agent's own tools for other programs.
    #[command(subcommand)]
    Mcp(mcp::McpCommand),
    /// What may be done without asking.
    #[command(subcommand)]
    Permit(permit::PermitCommand),
    /// The providers: what is known of them, whether they answer, and which of them comes first.
    #[command(subcommand)]
    Provider(provider::ProviderCommand),
    /// Run a program on your models, and keep what the providers are asked and answer in a cassette.
    Record(cassette::Recording),
    /// Answer from a cassette, byte for byte, instead of asking providers.
    Replay(cassette::Replaying),
    /// Which model answers a request, and why.
    #[command(subcommand)]
    Route(route::Route),
    /// Start a coding agent on your models: claude, codex, gemini, qwen or opencode.
    ///
    /// It is the real one, pointed at a gateway that lives as long as it; its own configuration stays as it is.
    Run(run::Run),
    /// The gateway: clients of the Anthropic, OpenAI and Gemini APIs on your models.
    ///
    /// It serves until Ctrl-C or SIGTERM, lets what is on its way come to its end, and follows changes of the configuration.
    Serve(serve::Serve),
    /// Earlier sessions of the agent: list, show, export, fork, delete, search and prove them.
    #[command(subcommand)]
    Sessions(sessions::Sessions),
    /// The tools: which there are, and one of them run by hand.
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    /// What requests through the gateway used: tokens, cost, latency, failures.
    Usage(usage::Usage),
}

const NO_MODEL: &str = "`--model` says nothing to this command; it is for `rail run`, `rail record`, `rail route` and `rail provider`";

impl Command {
    /// Whether a model can be said.
    fn takes_model(&self) -> bool {
        match self {
            Self::Key(key::KeyCommand::List(_) | key::KeyCommand::Revoke(_))
            | Self::Confined(_)
            | Self::Demo(_)
            | Self::Doctor(_)
            | Self::Mcp(_)
            | Self::Permit(_)
            | Self::Replay(_)
            | Self::Serve(_)
            | Self::Sessions(_)
            | Self::Tool(_)
            | Self::Usage(_) => false,
            Self::Key(key::KeyCommand::Create(_))
            | Self::Acp(_)
            | Self::Config(_)
            | Self::Debug(_)
            | Self::Init(_)
            | Self::Provider(_)
            | Self::Record(_)
            | Self::Route(_)
            | Self::Run(_) => true,
        }
    }
}

/// How a command failed: what the user got wrong, or what went wrong.
enum Failure {
    /// The command line or the configuration is at fault.
    Usage(anyhow::Error),
    /// The task was understood and failed.
    Task(anyhow::Error),
    /// Ctrl-C.
    Interrupted,
    /// A program that was started ended with this code, and has said why.
    Ended(u8),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Task(error)
    }
}

fn main() -> ExitCode {
    let Cli { common, agent, command } = Cli::parse();
    let Some(command) = command else { return ended(agent.run(&common)) };
    if agent.print || agent.prompt.is_some() {
        return ended(Err(Failure::Usage(anyhow!(
            "a task and a command do not go together; a prompt that is the name of a command is told from it by `--`: `rail -p -- \"demo\"`"
        ))));
    }
    let result = match command {
        _ if common.model.is_some() && !command.takes_model() => Err(Failure::Usage(anyhow!(NO_MODEL))),
        Command::Acp(acp) => acp.run(&common),
        Command::Confined(confined) => confined.run(),
        Command::Config(config) => config.run(&common),
        Command::Debug(debug) => debug.run(&common),
        Command::Demo(demo) => demo.run(),
        Command::Doctor(doctor) => doctor.run(&common),
        Command::Mcp(mcp) => mcp.run(&common),
        Command::Permit(permit) => permit.run(&common),
        Command::Provider(provider) => provider.run(&common),
        Command::Route(route) => route.run(&common),
        Command::Init(init) => init.run(&common),
        Command::Run(run) => run.run(&common),
        Command::Record(recording) => recording.run(&common),
        Command::Replay(replaying) => replaying.run(&common),
        Command::Serve(serve) => serve.run(&common),
        Command::Sessions(sessions) => sessions.run(&common),
        Command::Key(key) => key.run(&common),
        Command::Tool(tool) => tool.run(&common),
        Command::Usage(usage) => usage.run(&common),
    };
    ended(result)
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    let (error, code) = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Usage(error)) => (error, 2),
        Err(Failure::Task(error)) => (error, 1),
        Err(Failure::Interrupted) => return ExitCode::from(130),
        Err(Failure::Ended(code)) => return ExitCode::from(code),
    };
    if is_broken_pipe(&error) {
        // The reader has seen enough, as in `rail … | head`.
        return ExitCode::SUCCESS;
    }
    output::tell(&format!("{error:#}"));
    ExitCode::from(code)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
