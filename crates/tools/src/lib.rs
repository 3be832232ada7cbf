//! The built-in tools, one file each. A tool is a file and a word in [`tools!`](self).

use std::sync::Arc;
use std::time::Duration;

use rail_tool::{AnyTool, Registry, Session, Shell};

mod change;
mod foresee;
mod image_source;
mod magic;
mod missing;
mod notebook;
mod notebook_view;
mod page;
mod patching;
mod pdf;
mod picture;
mod planning;
mod reading;
mod search;
mod selection;
mod shell;
mod sight;
mod style;
mod text;
pub mod web;
mod words;

pub use foresee::foreseen;
pub use planning::{findings, recall, todos};
pub use shell::shown::ShellWatch;
pub use sight::{Sight, seeing};
pub use task::figures as agent_figures;

/// Ends all that a session's commands have started and that still runs: it is asked to end, and killed after the grace.
///
/// For whoever ends a session in order. A session that is only dropped kills at once.
pub async fn end_commands(session: &Session, grace: Duration) {
    session.services.get::<shell::shells::Shells>().end(grace).await;
}

/// The commands in the background of a session, as front ends are told of them.
pub fn background(session: &Session) -> Vec<Shell> {
    session.services.get::<shell::shells::Shells>().shown()
}

/// Tells what becomes of the commands in the background of a session.
pub fn watch_background(session: &Session) -> ShellWatch {
    ShellWatch::new(session.services.get::<shell::shells::Shells>())
}

/// Ends a command in the background, with all that it started. Whoever reads its output next learns that it has ended. One that is
/// not there has ended.
pub async fn kill_background(session: &Session, id: &str) {
    if let Ok(shell) = session.services.get::<shell::shells::Shells>().find(id) {
        shell.kill(kill_bash::GRACE).await;
    }
}

/// Makes the modules of the tools and the list of them, in the order in which they are declared to a model.
macro_rules! tools {
    ($($file:ident::$tool:ident),* $(,)?) => {
        $(mod $file;)*

        /// All built-in tools.
        pub fn registry() -> Registry {
            let tools: Vec<Arc<dyn AnyTool>> = vec![$(Arc::new($file::$tool)),*];
            Registry::new(tools)
        }
    };
}

tools! {
    bash::Bash,
    bash_output::BashOutput,
    kill_bash::KillBash,
    read_file::ReadFile,
    write_file::WriteFile,
    edit_file::EditFile,
    multi_edit::MultiEdit,
    apply_patch::ApplyPatch,
    notebook_edit::NotebookEdit,
    glob::Glob,
    grep::Grep,
    list_directory::ListDirectory,
    read_many_files::ReadManyFiles,
    task::Task,
    todo_write::TodoWrite,
    ask_user_question::AskUserQuestion,
    plan_mode::PlanMode,
    exit_plan_mode::ExitPlanMode,
    findings::Findings,
    sequentialthinking::SequentialThinking,
    skill::Skill,
    web_fetch::WebFetch,
    web_search::WebSearch,
    image::Image,
    read_pdf::ReadPdf,
}
