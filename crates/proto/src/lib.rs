//! The agent's own protocol: a front end sends [`Command`]s and reads [`SessionEvent`]s, and knows nothing else of the agent.

mod agents;
mod ask;
mod call;
mod choices;
mod command;
mod event;
mod mention;
mod offered;
mod shells;
mod shown;
mod todo;

pub use agents::{AgentBegan, AgentEnded};
pub use ask::{Answer, Doing, Lasting, Leave, PermissionAsk};
pub use call::{Finish, ToolEnd, ToolStart};
pub use choices::{About, Choice, ChoiceOption, Choices, Chosen, Pick, Picked};
pub use command::{Command, Mode, Prompt, What};
pub use event::{
    Compacted, Done, Memory, NoteKind, Opened, Reason, Restored, Routed, SessionEvent, Spent, Window,
};
pub use mention::{Mention, mention, mentions};
pub use offered::{Offered, OfferedCommand, OfferedResource};
pub use shells::{Shell, ShellState};
pub use shown::{FileChange, Hunk, Line, Mark, Shown};
pub use todo::{Todo, TodoStatus};
