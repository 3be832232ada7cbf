use std::path::PathBuf;

use rail_config::settings::{HookGroup, Hooks};
use rail_tool::HookedCall;
use serde_json::{Map, Value, json};

use super::names;

/// A moment of a session at which hooks run, with what they are told of it.
#[derive(Clone, PartialEq, Debug)]
pub enum HookEvent {
    /// A session begins or goes on.
    SessionStart {
        /// How it came about.
        source: StartSource,
        /// The model that is asked, if it is known.
        model: Option<String>,
    },
    /// The user has said something; blocked, it is not sent.
    UserPromptSubmit {
        /// What the user said.
        prompt: String,
    },
    /// A tool is about to run.
    PreToolUse(HookedCall),
    /// The user is about to be asked for permission.
    PermissionRequest(HookedCall),
    /// A tool has run; blocked, the reason goes to the model.
    PostToolUse {
        /// The call.
        call: HookedCall,
        /// What the model reads of its result.
        output: String,
    },
    /// A tool has failed.
    PostToolUseFailure {
        /// The call.
        call: HookedCall,
        /// What the model reads of it.
        error: String,
        /// Why it failed, as far as hooks are told.
        by: FailedBy,
    },
    /// The user is told something.
    Notification {
        /// What kind it is, such as `permission_prompt` or `idle_prompt`.
        kind: String,
        /// Its title.
        title: Option<String>,
        /// What is said.
        message: String,
    },
    /// A sub-agent begins.
    SubagentStart {
        /// Its id.
        id: String,
        /// Its type.
        agent_type: String,
    },
    /// A sub-agent has ended; blocked, it goes on with the reason.
    SubagentStop {
        /// Its id.
        id: String,
        /// Its type.
        agent_type: String,
        /// Its journal.
        transcript: Option<PathBuf>,
        /// What it said last.
        last_message: Option<String>,
        /// Whether it already went on because of such a hook.
        round: StopRound,
    },
    /// The conversation is about to be made shorter; blocked, it is not.
    PreCompact {
        /// Who wanted it.
        trigger: CompactTrigger,
        /// What the user wants to be kept.
        instructions: String,
    },
    /// The agent has answered; blocked, it goes on with the reason.
    Stop {
        /// What it said last.
        last_message: Option<String>,
        /// Whether it already went on because of such a hook.
        round: StopRound,
    },
    /// A session has ended.
    SessionEnd {
        /// Why.
        reason: EndReason,
    },
}

/// Enums of words that hooks are told, each with its word.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $variant:ident = $word:literal),* $(,)? })*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$own])* $variant),*
        }

        impl $name {
            /// The word that hooks are told.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        })*
    };
}

words! {
    /// How a session came about.
    StartSource {
        /// It is new.
        Startup = "startup",
        /// An earlier one goes on.
        Resume = "resume",
        /// The conversation was cleared.
        Clear = "clear",
        /// The conversation was made shorter.
        Compact = "compact",
    }
    /// Who wanted the conversation to be shorter.
    CompactTrigger {
        /// The user.
        Manual = "manual",
        /// The window was nearly full.
        Auto = "auto",
    }
    /// Why a session ended.
    EndReason {
        /// The conversation was cleared.
        Clear = "clear",
        /// The user left at the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Another session goes on in its place.
        Resume = "resume",
        /// Anything else.
        Other = "other",
    }
}

/// Whether an agent already went on because a hook did not let it stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopRound {
    /// It did not.
    First,
    /// It did: a hook that always blocks would never let it stop.
    Again,
}

/// Why a call failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedBy {
    /// The tool did not succeed.
    Tool,
    /// Nobody wanted the result any more.
    Interrupt,
}

/// What a hook can do to its moment by blocking it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocks {
    /// The call is not done.
    Call,
    /// What it was about to be is not done, or goes on.
    Moment,
    /// Nothing: the reason is for the user.
    Nothing,
}

/// The groups of hooks of each event, by its name.
pub(super) fn groups(hooks: &Hooks) -> [(&'static str, &[HookGroup]); 12] {
    [
        ("SessionStart", &hooks.session_start),
        ("UserPromptSubmit", &hooks.user_prompt_submit),
        ("PreToolUse", &hooks.pre_tool_use),
        ("PermissionRequest", &hooks.permission_request),
        ("PostToolUse", &hooks.post_tool_use),
        ("PostToolUseFailure", &hooks.post_tool_use_failure),
        ("Notification", &hooks.notification),
        ("SubagentStart", &hooks.subagent_start),
        ("SubagentStop", &hooks.subagent_stop),
        ("PreCompact", &hooks.pre_compact),
        ("Stop", &hooks.stop),
        ("SessionEnd", &hooks.session_end),
    ]
}

impl HookEvent {
    /// Its name, as settings and hooks have it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::UserPromptSubmit { .. } => "UserPromptSubmit",
            Self::PreToolUse(_) => "PreToolUse",
            Self::PermissionRequest(_) => "PermissionRequest",
            Self::PostToolUse { .. } => "PostToolUse",
            Self::PostToolUseFailure { .. } => "PostToolUseFailure",
            Self::Notification { .. } => "Notification",
            Self::SubagentStart { .. } => "SubagentStart",
            Self::SubagentStop { .. } => "SubagentStop",
            Self::PreCompact { .. } => "PreCompact",
            Self::Stop { .. } => "Stop",
            Self::SessionEnd { .. } => "SessionEnd",
        }
    }

    /// The names that a matcher may match, any of them; none where matchers mean nothing and all hooks run.
    pub(super) fn subjects(&self) -> Vec<String> {
        match self {
            Self::PreToolUse(call)
            | Self::PermissionRequest(call)
            | Self::PostToolUse { call, .. }
            | Self::PostToolUseFailure { call, .. } => names::all(&call.tool),
            Self::SessionStart { source, .. } => vec![source.word().to_owned()],
            Self::Notification { kind, .. } => vec![kind.clone()],
            Self::SubagentStart { agent_type, .. } | Self::SubagentStop { agent_type, .. } => {
                vec![agent_type.clone()]
            }
            Self::PreCompact { trigger, .. } => vec![trigger.word().to_owned()],
            Self::SessionEnd { reason } => vec![reason.word().to_owned()],
            Self::UserPromptSubmit { .. } | Self::Stop { .. } => Vec::new(),
        }
    }

    /// What blocking does.
    pub(super) fn blocks(&self) -> Blocks {
        match self {
            Self::PreToolUse(_) | Self::PermissionRequest(_) => Blocks::Call,
            Self::UserPromptSubmit { .. }
            | Self::PostToolUse { .. }
            | Self::PostToolUseFailure { .. }
            | Self::SubagentStop { .. }
            | Self::PreCompact { .. }
            | Self::Stop { .. } => Blocks::Moment,
            Self::SessionStart { .. }
            | Self::Notification { .. }
            | Self::SubagentStart { .. }
            | Self::SessionEnd { .. } => Blocks::Nothing,
        }
    }

    /// Whether what a hook prints without JSON is added for the model.
    pub(super) fn takes_plain_text(&self) -> bool {
        matches!(self, Self::SessionStart { .. } | Self::UserPromptSubmit { .. })
    }

    /// The call that it is about.
    pub(super) fn call(&self) -> Option<&HookedCall> {
        match self {
            Self::PreToolUse(call)
            | Self::PermissionRequest(call)
            | Self::PostToolUse { call, .. }
            | Self::PostToolUseFailure { call, .. } => Some(call),
            Self::SessionStart { .. }
            | Self::UserPromptSubmit { .. }
            | Self::Notification { .. }
            | Self::SubagentStart { .. }
            | Self::SubagentStop { .. }
            | Self::PreCompact { .. }
            | Self::Stop { .. }
            | Self::SessionEnd { .. } => None,
        }
    }

    /// What hooks are told of it besides what they are always told, and the input of the call.
    pub(super) fn fields(&self, input: &Value) -> Map<String, Value> {
        let fields = match self {
            Self::SessionStart { source, model } => json!({"source": source.word(), "model": model}),
            Self::UserPromptSubmit { prompt } => json!({"prompt": prompt}),
            Self::PreToolUse(_) | Self::PermissionRequest(_) => json!({}),
            Self::PostToolUse { call, output } => {
                json!({"tool_response": names::response(&call.tool, input, output)})
            }
            Self::PostToolUseFailure { error, by, .. } => {
                json!({"error": error, "is_interrupt": *by == FailedBy::Interrupt})
            }
            Self::Notification { kind, title, message } => {
                json!({"message": message, "title": title, "notification_type": kind})
            }
            Self::SubagentStart { id, agent_type } => json!({"agent_id": id, "agent_type": agent_type}),
            Self::SubagentStop { id, agent_type, transcript, last_message, round } => json!({
                "stop_hook_active": *round == StopRound::Again,
                "agent_id": id,
                "agent_type": agent_type,
                "agent_transcript_path": transcript.as_ref().map(|path| path.to_string_lossy()),
                "last_assistant_message": last_message,
            }),
            Self::PreCompact { trigger, instructions } => {
                json!({"trigger": trigger.word(), "custom_instructions": instructions})
            }
            Self::Stop { last_message, round } => {
                json!({"stop_hook_active": *round == StopRound::Again, "last_assistant_message": last_message})
            }
            Self::SessionEnd { reason } => json!({"reason": reason.word()}),
        };
        let Value::Object(mut fields) = fields else { return Map::new() };
        // What is not known is not said: a hook that looks for the key would find a null where it expects a text.
        fields.retain(|_, value| !value.is_null());
        fields
    }
}
