//! A command in a terminal of the editor, confined as it would be here.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_sandbox::shown;
use rail_tool::{TerminalEnd, TerminalOutput, ToolCx};

use super::script::Folder;
use super::shells::{self, Shells};

/// How much of its output an editor is asked to keep.
const OUTPUT: u64 = 1 << 20;
/// How long what a command left behind has to end.
const GRACE: Duration = Duration::from_millis(500);

/// How long an editor may take to say what a command printed that has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a command in a terminal came out.
pub(crate) struct Seen {
    /// What it printed, without what only a terminal understands.
    pub(crate) output: String,
    /// Whether the beginning of that is gone.
    pub(crate) is_cut: bool,
    pub(crate) over: Over,
    pub(crate) took: Duration,
    /// Where it left its shell.
    pub(crate) folder: Folder,
}

/// Why it is over.
pub(crate) enum Over {
    Ended(TerminalEnd),
    Late,
    Cancelled,
    /// The editor does not say how it ended.
    Lost(String),
}

/// Runs a command in a terminal; nothing where there is none to be had: then it is run as ever.
pub(crate) async fn run(
    command: &str,
    cwd: PathBuf,
    limit: Duration,
    cx: &ToolCx,
    shells: &Shells,
) -> Option<Seen> {
    let session = cx.session();
    let terminals = session.editor.terminals.as_ref()?;
    let report = Report::new(session.temp.as_deref()?)?;
    let order =
        shells::Order { command, cwd, input: rail_sandbox::Input::Nothing, shape: cx.shape().clone() };
    let mut order = shells.for_terminal(session, order).await?;
    order.args.push(report.path.clone().into_os_string());
    order.env.extend(PLAIN.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    let (order, ordered) = shells.order(order);
    // Also when nobody wants it any more: a terminal that the editor has made must be let go.
    let terminal = match terminals.start(cx.call(), order, OUTPUT).await {
        Ok(terminal) => terminal,
        Err(why) => {
            cx.progress().say(&format!("no terminal of the editor is used: {why}"));
            return None;
        }
    };
    let began = tokio::time::Instant::now();
    let over = tokio::select! {
        biased;
        ended = terminal.wait() => ended.map_or_else(Over::Lost, Over::Ended),
        () = cx.cancel().cancelled() => Over::Cancelled,
        () = tokio::time::sleep(limit) => Over::Late,
    };
    let took = began.elapsed();
    let kill = async {
        if !matches!(over, Over::Ended(_)) {
            // An editor that does not answer is not waited for: an interruption is felt.
            let _ = tokio::time::timeout(GRACE, terminal.kill()).await;
        }
    };
    // Whatever the terminal ended: what the command started is ours to end.
    tokio::join!(kill, ordered.end(GRACE));
    let patience = if matches!(over, Over::Ended(_)) { PATIENCE } else { GRACE };
    let output = tokio::time::timeout(patience, terminal.output()).await;
    let output = output.unwrap_or_else(|_| Ok(TerminalOutput::default())).unwrap_or_default();
    let folder = report.read();
    Some(Seen { output: shown(output.text.as_bytes()), is_cut: output.is_cut, over, took, folder })
}

/// A terminal's programs draw and colour; what a model reads is to be plain.
const PLAIN: [(&str, &str); 4] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat")];

/// The file to which the shell says where it ended: no descriptor of ours reaches it.
struct Report {
    path: PathBuf,
}

impl Report {
    /// A new file among the temporary ones, where every shape lets a command write.
    fn new(temp: &Path) -> Option<Self> {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = temp.join(format!("rail-report-{}-{number}", std::process::id()));
        // The script names it without quotes.
        let fits = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        path.to_str().filter(|path| path.chars().all(fits))?;
        fs::OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
        Some(Self { path })
    }

    fn read(&self) -> Folder {
        Folder::of(&fs::read(&self.path).unwrap_or_default())
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // Whoever took it away has done our work.
        let _ = fs::remove_file(&self.path);
    }
}
