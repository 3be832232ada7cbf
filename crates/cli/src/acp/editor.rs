//! The editor's files and terminals, as tools use them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rail_acp::TerminalCommand;
use rail_sandbox::Order;
use rail_stdx::Access;
use rail_tool::{BoxFuture, Buffers, Editor, Terminal, TerminalEnd, TerminalOutput, Terminals};
use tokio::runtime::Handle;

/// What an editor has, for a session in this folder; its own name of it may go through links.
pub(super) fn editor(
    editor: &Arc<rail_acp::Editor>,
    workspace: &Path,
    cwd: &Path,
    orders: PathBuf,
) -> Editor {
    let buffers = (editor.reads() || editor.writes()).then(|| {
        Arc::new(Texts {
            editor: Arc::clone(editor),
            workspace: workspace.to_owned(),
            cwd: cwd.to_owned(),
            runtime: Handle::current(),
        }) as Arc<dyn Buffers>
    });
    let terminals = editor.has_terminals().then(|| {
        Arc::new(Screens { editor: Arc::clone(editor), orders, next: AtomicU64::new(0) })
            as Arc<dyn Terminals>
    });
    Editor { buffers, terminals }
}

struct Texts {
    editor: Arc<rail_acp::Editor>,
    workspace: PathBuf,
    cwd: PathBuf,
    runtime: Handle,
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl Texts {
    /// A path as the editor knows it.
    fn named(&self, real: &Path) -> PathBuf {
        real.strip_prefix(&self.workspace).map_or_else(|_| real.to_owned(), |inner| self.cwd.join(inner))
    }
}

impl Buffers for Texts {
    fn read(&self, real: &Path) -> Option<String> {
        let path = self.named(real);
        self.editor.reads().then(|| self.runtime.block_on(self.editor.read_text(&path)).ok())?
    }

    fn write(&self, real: &Path, text: &str) -> bool {
        let path = self.named(real);
        self.editor.writes() && self.runtime.block_on(self.editor.write_text(&path, text)).is_ok()
    }
}

/// Runs commands in the editor's terminals. What such a terminal starts is `rail` itself, which confines itself as the order says and
/// then becomes the command: so the sandbox is the same as ever.
struct Screens {
    editor: Arc<rail_acp::Editor>,
    /// Where orders are written down; no command can write there.
    orders: PathBuf,
    next: AtomicU64,
}

impl fmt::Debug for Screens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screens").finish_non_exhaustive()
    }
}

impl Terminals for Screens {
    fn start<'a>(
        &'a self,
        call: &'a str,
        order: Order,
        output_bytes: u64,
    ) -> BoxFuture<'a, Result<Box<dyn Terminal>, String>> {
        Box::pin(async move {
            let rail = std::env::current_exe().map_err(|error| format!("`rail` can't be found: {error}"))?;
            let rail = rail.to_str().ok_or("the name of `rail` is no text")?.to_owned();
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let file = self.orders.join(format!("order-{}-{number}.json", std::process::id()));
            let name = file.to_str().ok_or("the folder of orders is no text")?.to_owned();
            let written = serde_json::to_vec(&order).map_err(|error| error.to_string())?;
            rail_stdx::replace(&file, &written, Access::Owner).map_err(|error| error.to_string())?;
            let file = Written(file);
            let args = vec!["confined".to_owned(), name];
            let command =
                TerminalCommand { program: rail, args, env: Vec::new(), cwd: order.cwd, output_bytes };
            match self.editor.terminal(call, command).await {
                Ok(terminal) => Ok(Box::new(Screen { terminal, _order: file }) as Box<dyn Terminal>),
                // An editor may start it and not say so: it is run here only if nobody can have begun.
                Err(why) if file.take_back() => Err(why),
                Err(why) => Ok(Box::new(Unknown(why)) as Box<dyn Terminal>),
            }
        })
    }
}

/// An order that is written down; the command takes it away when it begins.
struct Written(PathBuf);

impl Written {
    /// Takes the order back; whether nobody had taken it.
    fn take_back(&self) -> bool {
        std::fs::remove_file(&self.0).is_ok()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // It is gone already, but for a command that never began.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A command that has begun in a terminal which is not known, and why.
struct Unknown(String);

impl Terminal for Unknown {
    fn wait(&self) -> BoxFuture<'_, Result<TerminalEnd, String>> {
        let why = format!(
            "{}, but the command had begun there; how far it came is not known, and it was not run again",
            self.0
        );
        Box::pin(std::future::ready(Err(why)))
    }

    fn output(&self) -> BoxFuture<'_, Result<TerminalOutput, String>> {
        Box::pin(std::future::ready(Ok(TerminalOutput::default())))
    }

    fn kill(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Screen {
    terminal: rail_acp::Terminal,
    _order: Written,
}

impl Terminal for Screen {
    fn wait(&self) -> BoxFuture<'_, Result<TerminalEnd, String>> {
        Box::pin(async {
            let ended = self.terminal.wait().await?;
            Ok(match (ended.code, ended.signal) {
                (Some(code), _) => TerminalEnd::Code(code),
                (None, signal) => TerminalEnd::Signal(signal.unwrap_or_else(|| "a signal".to_owned())),
            })
        })
    }

    fn output(&self) -> BoxFuture<'_, Result<TerminalOutput, String>> {
        Box::pin(async {
            let output = self.terminal.output().await?;
            Ok(TerminalOutput { text: output.text, is_cut: output.is_cut })
        })
    }

    fn kill(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // A terminal that is gone needs no end.
            let _ = self.terminal.kill().await;
        })
    }
}
