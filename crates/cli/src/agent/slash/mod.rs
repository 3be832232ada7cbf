//! Slash commands without a terminal interface: what `rail -p "/…"` does, and a message of a client that begins with `/`.

mod attach;
mod elsewhere;
mod ground;
mod here;
mod listed;
mod offered;
mod session;

use anyhow::anyhow;
use rail_agent::commands::{Builtin, CustomCommand, Typed};
use rail_proto::{Command, Mode, What};

use crate::Failure;

pub(crate) use attach::{Ready, image, image_of, images, ready, submit};
pub(crate) use ground::Ground;
pub(crate) use offered::{Offered, offered, offered_at_a_terminal};
pub(crate) use session::{NO_CHANGES, changes};

/// What becomes of what the user typed.
pub(crate) enum Step {
    /// The answer is there already, and no model is asked.
    Say(String),
    /// The session is told something, and its answer is the end.
    Tell(Command, Until),
    /// The model is to answer a text, in which `@path` names files.
    Ask(String),
    /// The model plans what the text says.
    Plan(String),
    /// A command of the user's own is to be answered.
    Custom(Box<CustomCommand>, String),
    /// A prompt of an MCP server is to be answered, as it was typed.
    Remote(String),
}

/// What ends a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Until {
    /// The model has answered.
    #[default]
    Answered,
    /// The conversation is shorter, or could not be made so.
    Compacted,
    /// Something went back, or could not.
    Restored,
    /// Another model is asked.
    Model,
    /// Another mode is in force.
    Mode,
}

/// The prompt for `/init`.
const INIT: &str = include_str!("../texts/init.md");

/// What becomes of a text.
pub(crate) fn step(text: &str, ground: &Ground) -> Result<Step, Failure> {
    match ground.prepared.brought.commands.read(text) {
        Typed::Text => Ok(Step::Ask(text.to_owned())),
        Typed::Builtin(builtin, args) => run(builtin, &args, ground),
        Typed::Custom(command, args) => Ok(Step::Custom(Box::new(command.clone()), args)),
        Typed::Remote(..) => Ok(Step::Remote(text.to_owned())),
        // Which prompts servers have is known once they are connected.
        Typed::Unknown { .. } if may_be_remote(text) => Ok(Step::Remote(text.to_owned())),
        Typed::Unknown { name, nearest } => {
            let meant = nearest.map(|name| format!("did you mean `/{name}`? ")).unwrap_or_default();
            Err(Failure::Usage(anyhow!("there is no command `/{name}`; {meant}`/help` lists all")))
        }
    }
}

/// Whether what was typed has the form of a prompt of an MCP server: `/mcp__server__prompt` or `/server:prompt (MCP)`.
fn may_be_remote(text: &str) -> bool {
    text.starts_with("/mcp__") || text.split_whitespace().nth(1) == Some("(MCP)")
}

/// One line for each command.
fn run(builtin: Builtin, args: &str, ground: &Ground) -> Result<Step, Failure> {
    match builtin {
        Builtin::Help => Ok(Step::Say(here::help(ground))),
        Builtin::Model => Ok(model(args, ground)),
        Builtin::Init => Ok(Step::Ask(init(args))),
        Builtin::Route => elsewhere::route(args, ground).map(Step::Say),
        Builtin::Provider => elsewhere::provider(args, ground).map(Step::Say),
        Builtin::Generation => elsewhere::generation(args, ground).map(Step::Say),
        Builtin::Doctor => elsewhere::doctor(ground).map(Step::Say),
        Builtin::Permissions => here::permissions(ground).map(Step::Say),
        Builtin::Memory => here::memory(ground).map(Step::Say),
        Builtin::Hooks => Ok(Step::Say(here::hooks(ground))),
        Builtin::Config => here::config(args, ground).map(Step::Say),
        Builtin::Todo => session::todo(ground).map(Step::Say),
        Builtin::Plan => plan(args, ground),
        Builtin::Compact => resumed(ground, Command::Compact { keep: kept(args) }, Until::Compacted),
        Builtin::Rewind => rewind(args, ground),
        Builtin::Undo => resumed(ground, Command::Undo, Until::Restored),
        Builtin::Redo => resumed(ground, Command::Redo, Until::Restored),
        Builtin::Diff => session::diff(ground).map(Step::Say),
        Builtin::Usage => session::usage(ground).map(Step::Say),
        Builtin::Sessions => session::sessions(args, ground).map(Step::Say),
        Builtin::Fork => session::fork(ground).map(Step::Say),
        Builtin::Export => session::export(args, ground).map(Step::Say),
        Builtin::Resume => absent(builtin, "go on with a session by `rail -c` or `rail -r ID`"),
        Builtin::Agents => Ok(Step::Say(listed::agents(ground))),
        Builtin::Skills => Ok(Step::Say(listed::skills(ground))),
        Builtin::Mcp => Ok(Step::Say(crate::mcp::listed(&ground.prepared.mcp).trim_end().to_owned())),
        Builtin::Theme | Builtin::Quit => absent(builtin, "without one there is nothing to change or leave"),
    }
}

/// A command that is for the terminal interface alone.
fn absent(builtin: Builtin, instead: &str) -> Result<Step, Failure> {
    let name = builtin.name();
    Err(Failure::Usage(anyhow!("`/{name}` is for the terminal interface; {instead}")))
}

/// A command that makes sense only in a session that goes on.
fn resumed(ground: &Ground, command: Command, until: Until) -> Result<Step, Failure> {
    ground.session()?;
    Ok(Step::Tell(command, until))
}

fn kept(args: &str) -> Option<String> {
    (!args.is_empty()).then(|| args.to_owned())
}

fn init(args: &str) -> String {
    if args.is_empty() { INIT.to_owned() } else { format!("{INIT}\nThe user adds: {args}") }
}

fn model(args: &str, ground: &Ground) -> Step {
    match args {
        "" => Step::Say(here::models(ground)),
        name => Step::Tell(Command::SetModel(name.to_owned()), Until::Model),
    }
}

/// Planning begins, with something to plan or for the next prompt; without that, and while planning already, it ends.
fn plan(args: &str, ground: &Ground) -> Result<Step, Failure> {
    if !args.is_empty() {
        return Ok(Step::Plan(args.to_owned()));
    }
    let mode = if session::is_planning(ground)? { Mode::Default } else { Mode::Plan };
    Ok(Step::Tell(Command::SetMode(mode), Until::Mode))
}

fn rewind(args: &str, ground: &Ground) -> Result<Step, Failure> {
    let mut words = args.split_whitespace();
    let Some(turn) = words.next() else { return session::messages(ground).map(Step::Say) };
    let wrong = || {
        let text = "`/rewind` takes the number of a message and, if you like, `code`, `conversation` or `both`; `/rewind` alone lists the messages";
        Failure::Usage(anyhow!(text))
    };
    let turn = turn.parse().map_err(|_| wrong())?;
    let what = match words.next() {
        None | Some("both") => What::Both,
        Some("code") => What::Code,
        Some("conversation") => What::Conversation,
        Some(_) => return Err(wrong()),
    };
    resumed(ground, Command::Rewind { turn, what }, Until::Restored)
}
