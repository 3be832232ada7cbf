use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rail_sandbox::{Ended, Input, Process};
use rail_tool::{
    Card, Display, Example, Exec, Facet, FacetCx, Generation, Held, Lane, Level, Session, Shown, Telling,
    TerminalEnd, Tool, ToolCx, ToolFault, ToolOutput, needs_terminal,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shell::script::Folder;
use crate::shell::shells::{Order, Shells};
use crate::shell::{said, stopped, terminal};
use crate::words;

/// How long a command has to end by itself when it is over its time or nobody wants it any more. It must be less than what the
/// executor waits for a cancelled call.
const GRACE: Duration = Duration::from_millis(1_500);
/// How often those who watch are told of new output.
const TOLD_EVERY: Duration = Duration::from_millis(250);

/// Runs a shell command.
pub(crate) struct Bash;

/// A command, and how it is to be run.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct BashInput {
    /// The command; it may have several lines.
    command: String,
    /// Milliseconds it may run: {command_timeout} if not given, {max_command_timeout} at most.
    timeout: Option<u64>,
    /// What it does, in 5 to 10 words, for the user.
    #[expect(dead_code, reason = "it is for whoever looks at the call")]
    description: Option<String>,
    /// Return at once; `bash_output` reads what it prints.
    #[serde(default)]
    run_in_background: bool,
    /// What becomes of it when its time is over: `end` (the default), or `background` to let it go on.
    #[serde(default)]
    on_timeout: OnTimeout,
    /// The folder for this command only.
    workdir: Option<String>,
    /// Run it outside the sandbox; the user is asked.
    #[serde(default, rename = "dangerouslyDisableSandbox")]
    outside: bool,
}

/// What becomes of a command when its time is over.
#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnTimeout {
    #[default]
    End,
    Background,
}

/// How a command that was waited for came out.
enum Over {
    Ended(Arc<Ended>),
    Late,
    Cancelled,
}

impl Tool for Bash {
    type Input = BashInput;

    const CARD: Card<'static> = Card {
        name: "bash",
        title: "Bash",
        summary: "Runs a shell command",
        prompt: include_str!("prompts/bash.md"),
        generation: Generation::Gen1,
        level: Level::Execute,
        lane: Lane::Exclusive,
        shown: Shown::Whole,
    };

    fn facets(input: &BashInput, cx: &FacetCx<'_>) -> Vec<Facet> {
        let cwd = input.workdir.as_deref().map_or_else(|| cx.cwd.to_owned(), |workdir| cx.path(workdir));
        let held = if input.outside { Held::Outside } else { Held::Sandbox };
        vec![Facet::Exec(Exec { command: input.command.clone(), cwd, held })]
    }

    async fn run(input: BashInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let session = Arc::clone(cx.session());
        let shells = session.services.get::<Shells>();
        let cwd = starts_in(&input, &cx)?;
        if input.command.contains('\0') {
            return Err(ToolFault::new(
                "the command has a NUL character in it, which no shell takes; it was not run. Write such bytes with `printf`",
            ));
        }
        if let Some(needs) = needs_terminal(&input.command) {
            let waits =
                "` waits for keys at a terminal, which commands do not have; the command was not run. ";
            let program = Telling::said("`").then(Telling::shown(needs.program));
            return Err(ToolFault::new(program.then(waits).then(needs.instead)));
        }
        if input.run_in_background {
            shells.room(&session)?;
        }
        let limit = limit(&input, &session);
        let by_terminal = !input.run_in_background && input.on_timeout == OnTimeout::End;
        if by_terminal
            && let Some(seen) = terminal::run(&input.command, cwd.clone(), limit, &cx, &shells).await
        {
            return in_terminal(&input, &cx, seen, limit);
        }
        let stdin = if input.run_in_background { Input::Written } else { Input::Nothing };
        let order = Order { command: &input.command, cwd, input: stdin, shape: cx.shape().clone() };
        let process = tokio::select! {
            started = shells.start(&session, order) => started?,
            () = cx.cancel().cancelled() => return Err(ToolFault::new("the command was cancelled before it began")),
        };
        if input.run_in_background {
            let shell = shells.keep(&input.command, cx.shape().clone(), process, 0);
            return Ok(ToolOutput::told(format!(
                "It runs in the background as `{0}`. Read its output with ‹bash_output› and `bash_id: \"{0}\"`; end it with ‹kill_bash›.",
                shell.id()
            )));
        }
        match watched(&process, &cx, limit).await {
            Over::Ended(ended) => done(&input, &cx, &shells, &process, &ended),
            Over::Late => late(&input, &cx, &shells, process, limit).await,
            Over::Cancelled => {
                process.end(GRACE).await;
                let note = "the command was cancelled, and all it had started was ended; what it had changed until then is not undone";
                Err(ToolFault::new(said::with_notes(output_of(&process, &cx), vec![note.into()])))
            }
        }
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// The folder that a command starts in. A relative path means something else in another folder than the one that was judged: so
/// where that is gone nothing is run.
fn starts_in(input: &BashInput, cx: &ToolCx) -> Result<PathBuf, ToolFault> {
    let session = cx.session();
    if let Some(workdir) = &input.workdir {
        let cwd = cx.path(workdir);
        if cwd.is_dir() {
            return Ok(cwd);
        }
        return Err(ToolFault::new(format!(
            "‹workdir› is no folder: `{}`; the command was not run. Give one that exists, or leave it out to run in `{}`",
            cwd.display(),
            session.cwd().display()
        )));
    }
    let cwd = session.cwd();
    if cwd.is_dir() {
        return Ok(cwd);
    }
    session.set_cwd(&session.workspace);
    Err(ToolFault::new(format!(
        "the working folder `{}` is gone, so the command was not run; the working folder is now the workspace `{}`. Call again if the command fits there",
        cwd.display(),
        session.workspace.display()
    )))
}

fn limit(input: &BashInput, session: &Session) -> Duration {
    let asked = input.timeout.filter(|millis| *millis > 0).map(Duration::from_millis);
    asked.unwrap_or(session.limits.command).min(session.limits.command_at_most)
}

/// Waits for a command, and tells those who watch of its last lines.
async fn watched(process: &Process, cx: &ToolCx, limit: Duration) -> Over {
    let mut late = std::pin::pin!(tokio::time::sleep(limit));
    let mut tell = tokio::time::interval(TOLD_EVERY);
    let mut told = 0;
    loop {
        tokio::select! {
            biased;
            ended = process.wait() => return Over::Ended(ended),
            () = cx.cancel().cancelled() => return Over::Cancelled,
            () = &mut late => return Over::Late,
            _ = tell.tick() => {
                let printed = process.printed();
                if printed > told {
                    told = printed;
                    cx.progress().say(&process.last_lines(3));
                }
            }
        }
    }
}

/// The result of a command that has ended by itself.
fn done(
    input: &BashInput,
    cx: &ToolCx,
    shells: &Shells,
    process: &Arc<Process>,
    ended: &Ended,
) -> Result<ToolOutput, ToolFault> {
    let output = output_of(process, cx);
    let mut notes: Vec<Telling> = Vec::new();
    let nothing = if output.is_empty() { ", no output" } else { "" };
    let how = if ended.exit.success() { "done".to_owned() } else { ended.exit.to_string() };
    notes.push(format!("{how} in {}{nothing}", words::time(ended.took)).into());
    notes.extend(said::left_behind(ended));
    if input.workdir.is_none() {
        notes.extend(moved(cx.session(), &Folder::of(&ended.report)).map(Telling::said));
    }
    if !ended.exit.success() {
        notes.extend(stopped::told(cx.shape(), &process.last_lines(50)).map(Telling::said));
    }
    shells.keep_daemons(process);
    if ended.exit.success() { Ok(shown(output, notes, cx)) } else { Err(failed(output, notes)) }
}

/// The result of a command in a terminal of the editor.
fn in_terminal(
    input: &BashInput,
    cx: &ToolCx,
    seen: terminal::Seen,
    limit: Duration,
) -> Result<ToolOutput, ToolFault> {
    let terminal::Seen { output, is_cut, over, took, folder } = seen;
    let nothing = if output.is_empty() { ", no output" } else { "" };
    let took = words::time(took);
    let (is_done, how) = match over {
        terminal::Over::Ended(TerminalEnd::Code(0)) => (true, format!("done in {took}{nothing}")),
        terminal::Over::Ended(TerminalEnd::Code(code)) => {
            (false, format!("exit code {code} in {took}{nothing}"))
        }
        terminal::Over::Ended(TerminalEnd::Signal(signal)) => {
            (false, format!("killed by {signal} after {took}{nothing}"))
        }
        terminal::Over::Late => (
            false,
            format!(
                "its time of {} was over, so it was ended with all it had started; if it needs longer, call again with a larger ‹timeout› or with ‹run_in_background›",
                words::time(limit)
            ),
        ),
        terminal::Over::Cancelled => (
            false,
            "the command was cancelled, and all it had started was ended; what it had changed until then is not undone"
                .to_owned(),
        ),
        terminal::Over::Lost(why) => (false, format!("the editor's terminal was lost, and the command ended: {why}")),
    };
    let mut notes: Vec<Telling> = Vec::new();
    if is_cut {
        notes.push(
            "the beginning of the output is left out; run it again with its output in a file if you need it"
                .into(),
        );
    }
    notes.push(how.into());
    if input.workdir.is_none() {
        notes.extend(moved(cx.session(), &folder).map(Telling::said));
    }
    if !is_done {
        notes.extend(stopped::told(cx.shape(), &output).map(Telling::said));
    }
    let output = Telling::shown(output);
    if is_done { Ok(shown(output, notes, cx)) } else { Err(failed(output, notes)) }
}

/// The result of a command whose time is over.
async fn late(
    input: &BashInput,
    cx: &ToolCx,
    shells: &Shells,
    process: Arc<Process>,
    limit: Duration,
) -> Result<ToolOutput, ToolFault> {
    let limit = words::time(limit);
    let room = shells.room(cx.session());
    if input.on_timeout == OnTimeout::Background && room.is_ok() {
        let piece = process.since(0);
        let kept = process.kept();
        let (printed, at_most) = (process.printed(), cx.session().limits.output_chars);
        let output = said::output(piece.text(), kept.as_ref(), printed, at_most);
        let shell = shells.keep(&input.command, cx.shape().clone(), process, piece.next);
        let note = format!(
            "still running after {limit}; it goes on in the background as `{0}`: read what it prints with ‹bash_output› and `bash_id: \"{0}\"`, end it with ‹kill_bash›",
            shell.id()
        );
        return Ok(shown(output, vec![note.into()], cx));
    }
    let ended = process.end(GRACE).await;
    let output = output_of(&process, cx);
    let most = words::time(cx.session().limits.command_at_most);
    let mut notes = vec![Telling::said(format!(
        "its time of {limit} was over, so it was ended with all it had started; if it needs longer, call again with a larger ‹timeout› (at most {most}), with ‹run_in_background›, or with `on_timeout: \"background\"`"
    ))];
    if ended.is_none() {
        let id = process.id();
        notes.push(format!("the system holds process {id}, which could not be ended yet").into());
    }
    notes.extend(room.err().map(|fault| fault.say));
    Err(failed(output, notes))
}

fn output_of(process: &Process, cx: &ToolCx) -> Telling {
    let kept = process.kept();
    let (text, printed) = (process.since(0).text(), process.printed());
    said::output(text, kept.as_ref(), printed, cx.session().limits.output_chars)
}

fn shown(output: Telling, notes: Vec<Telling>, cx: &ToolCx) -> ToolOutput {
    let text = said::with_notes(output, notes);
    let lines = cx.session().limits.preview_command_lines;
    let preview = Display::Preview { text: text.to_string(), lines };
    ToolOutput::told(text).shown(preview)
}

/// A command that did not end well is a failed call; its output says why.
fn failed(output: Telling, notes: Vec<Telling>) -> ToolFault {
    ToolFault::new(said::with_notes(output, notes))
}

/// Keeps the folder that a command ended in, and says if it is another.
fn moved(session: &Session, folder: &Folder) -> Option<String> {
    let gone = |what: &Path| {
        session.set_cwd(&session.workspace);
        format!(
            "the working folder `{}` is gone; it is now the workspace `{}`",
            what.display(),
            session.workspace.display()
        )
    };
    match folder {
        Folder::Unknown => None,
        Folder::Gone => Some(gone(&session.cwd())),
        Folder::At(folder) if *folder == session.cwd() => None,
        Folder::At(folder) if folder.is_dir() => {
            session.set_cwd(folder);
            Some(format!("the working folder is now `{}`", folder.display()))
        }
        Folder::At(folder) => Some(gone(folder)),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "Both streams, in order",
        files: &[],
        read: &[],
        input: r#"{"command": "echo out; echo err >&2; echo out again", "description": "Print three lines"}"#,
        output: "out\nerr\nout again\n[done in {ms} ms]",
        after: &[],
    },
    Example {
        about: "A folder that lasts, and an exit code",
        files: &[("sub/a.txt", "hello\n")],
        read: &[],
        input: r#"{"command": "cd sub && cat a.txt && false"}"#,
        output: "hello\n[exit code 1 in {ms} ms]\n[the working folder is now `{workspace}/sub`]",
        after: &[],
    },
    Example {
        about: "Nothing is printed",
        files: &[],
        read: &[],
        input: r#"{"command": "printf 'made\\n' > made.txt"}"#,
        output: "[done in {ms} ms, no output]",
        after: &[("made.txt", "made\n")],
    },
    Example {
        about: "In the background",
        files: &[],
        read: &[],
        input: r#"{"command": "cat", "run_in_background": true}"#,
        output: "It runs in the background as `bash_1`. Read its output with `bash_output` and `bash_id: \"bash_1\"`; end it with `kill_bash`.",
        after: &[],
    },
];
