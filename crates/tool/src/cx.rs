use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_permit::Grant;
use rail_sandbox::Shape;
use tokio_util::sync::CancellationToken;

use crate::names::meant;
use crate::unsaved::Unsaved;
use crate::{
    AgentCall, AgentDone, AgentTask, Asks, Choices, Chosen, Confine, Files, Inquiry, Session, SkillCard,
    Told, ToolFault,
};

/// What a tool may know to say what it will touch.
#[derive(Clone, Copy, Debug)]
pub struct FacetCx<'a> {
    /// The folder that relative paths start from.
    pub cwd: &'a Path,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// The skills that a model may load.
    pub skills: &'a [SkillCard],
    /// How commands are confined.
    pub confine: Confine,
}

impl FacetCx<'_> {
    /// The absolute path that a model means: relative ones start from the working folder, `~` is the home folder, and `\xNN`
    /// is a byte, as [`shown`](crate::shown) writes it.
    pub fn path(&self, written: &str) -> PathBuf {
        let rest = written.strip_prefix("~/").or_else(|| (written == "~").then_some(""));
        let path = match (rest, self.home) {
            (Some(rest), Some(home)) => home.join(meant(rest)),
            (Some(_) | None, _) => self.cwd.join(meant(written)),
        };
        // `./x` is `x`; what `..` means, only the file system knows.
        path.components().collect()
    }
}

/// A tool's only ways to the world. It can't be made without a grant.
#[derive(Clone, Debug)]
pub struct ToolCx {
    grant: Grant,
    session: Arc<Session>,
    progress: Progress,
    cancel: CancellationToken,
    shape: Shape,
    person: Person,
}

/// Who is in front of the session, for one call.
#[derive(Clone)]
pub(crate) struct Person {
    /// The call's id.
    pub(crate) id: String,
    /// The way to them. A tool sees nothing of it but the choices: it can't ask for leave.
    pub(crate) asks: Arc<dyn Asks>,
    /// Whether they want a plan before anything is changed.
    pub(crate) wants_plan: bool,
}

impl std::fmt::Debug for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Person")
    }
}

/// Where a tool says how far it is.
#[derive(Clone)]
pub struct Progress(pub(crate) Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// Says something to whoever is watching.
    pub fn say(&self, text: &str) {
        (self.0)(text);
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

impl ToolCx {
    pub(crate) fn new(
        grant: Grant,
        session: Arc<Session>,
        shape: Shape,
        progress: Progress,
        cancel: CancellationToken,
        person: Person,
    ) -> Self {
        Self { grant, session, progress, cancel, shape, person }
    }

    /// What all calls of the session share.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Files, as far as the grant goes.
    pub fn files(&self) -> Files {
        let workspace = self.session.workspace.clone();
        let buffers = self.session.editor.buffers.clone();
        let editor = buffers.map(|buffers| Unsaved { buffers, workspace });
        Files { editor, ..Files::new(self.grant.clone()) }
    }

    /// The call's id.
    pub fn call(&self) -> &str {
        &self.person.id
    }

    /// How a command that this call starts is confined.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Where it says how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Ends when nobody wants the result any more.
    pub fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether a file is a secret: leave to write it is no leave to show it.
    pub fn is_secret(&self, path: &Path) -> bool {
        rail_permit::secret(path).is_some()
    }

    /// Whether the session is in plan mode: only what reads is done.
    pub fn is_planning(&self) -> bool {
        self.person.wants_plan
    }

    /// Lets the person in front of the session choose. The question is taken back when nobody wants the result any more.
    ///
    /// # Errors
    /// That it was taken back.
    pub async fn choose(&self, choices: &Choices) -> Result<Chosen, ToolFault> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ToolFault::new("the question was taken back before it was answered")),
            chosen = self.person.asks.choose(&self.person.id, choices) => Ok(chosen),
        }
    }

    /// Asks a model outside of the conversation. The question is taken back when nobody wants the result any more.
    ///
    /// # Errors
    /// There is no answer, or it was taken back.
    pub async fn ask(&self, inquiry: Inquiry) -> Result<Told, ToolFault> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(ToolFault::new("the model was not asked to its end: the call was cancelled")),
            told = self.session.models.ask(inquiry, &self.cancel) => told.map_err(ToolFault::new),
        }
    }

    /// Has another agent do a task. It ends by itself when nobody wants the result any more.
    ///
    /// # Errors
    /// It could not be begun, or ended without an answer.
    pub async fn delegate(&self, task: AgentTask) -> Result<AgentDone, ToolFault> {
        let call = AgentCall {
            id: &self.person.id,
            session: &self.session,
            progress: &self.progress,
            cancel: &self.cancel,
        };
        self.session.agents.run(task, call).await
    }

    /// The absolute path that a model means, as [`FacetCx::path`] has it.
    pub fn path(&self, written: &str) -> PathBuf {
        let cwd = self.session.cwd();
        self.session.facet_cx(&cwd).path(written)
    }

    /// Does work that waits for the disk or takes long, beside the others. A thread can't be broken off: when nobody waits for the
    /// work any more, the call counts as cancelled, and work that looks there ([`Self::cancel`]) ends.
    ///
    /// # Errors
    /// The work's own, or that it broke off.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ToolFault> + Send + 'static,
    ) -> Result<T, ToolFault> {
        let dropped = self.cancel.clone().drop_guard();
        let ended = tokio::task::spawn_blocking(work).await;
        dropped.disarm();
        match ended {
            Ok(done) => done,
            Err(error) => Err(ToolFault::caused(
                "the tool broke off; this is a fault of the tool, try another way",
                error,
            )),
        }
    }
}
