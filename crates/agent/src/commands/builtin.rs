/// Makes the enum of built-in commands from one list.
macro_rules! builtins {
    ($($variant:ident $name:literal $hint:literal $help:literal;)*) => {
        /// A command that comes with the program.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Builtin {
            $(#[doc = $help] $variant),*
        }

        impl Builtin {
            /// All of them, in the order in which help lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// What is typed behind the slash.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }

            /// What may be typed behind the name.
            pub fn hint(self) -> &'static str {
                match self {
                    $(Self::$variant => $hint),*
                }
            }

            /// What it does, in a line.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$variant => $help),*
                }
            }
        }
    };
}

builtins! {
    Help "help" "" "Lists the commands.";
    Model "model" "[name]" "Shows the models, or switches to one.";
    Init "init" "" "Looks at the project and writes its AGENTS.md.";
    Route "route" "[prompt]" "Explains which model would answer, and why.";
    Provider "provider" "[name]" "Shows the providers and their health, or puts one first.";
    Generation "generation" "[gen1 … gen8]" "Shows the tools of the generation in force, or of another one.";
    Permissions "permissions" "" "Shows what is allowed, asked about and denied, and the mode.";
    Memory "memory" "" "Shows the memory files that are loaded.";
    Agents "agents" "" "Lists the types of sub-agents, and those that run.";
    Mcp "mcp" "" "Lists the MCP servers with their state.";
    Hooks "hooks" "" "Lists the hooks of each moment.";
    Skills "skills" "" "Lists the skills.";
    Todo "todo" "" "Shows the list of what is to be done.";
    Plan "plan" "[what to plan]" "Switches to planning, where nothing is changed, and back.";
    Compact "compact" "[what to keep]" "Makes the conversation shorter, and keeps what matters.";
    Rewind "rewind" "[message] [code|conversation|both]" "Goes back to before a message: files, conversation, or both.";
    Undo "undo" "" "Takes back the changes of files of the last step.";
    Redo "redo" "" "Does again what was taken back last.";
    Diff "diff" "" "Shows what the session has changed in files.";
    Usage "usage" "" "Shows tokens, cost and time of this session.";
    Sessions "sessions" "[words]" "Lists earlier sessions, or searches in them.";
    Resume "resume" "[id]" "Goes on with an earlier session.";
    Fork "fork" "" "Makes a copy of this session, and says its id.";
    Export "export" "[file]" "Writes the session as Markdown or JSON.";
    Theme "theme" "[name]" "Shows the themes, or switches to one.";
    Config "config" "[key]" "Shows the settings, each with its origin.";
    Doctor "doctor" "" "Checks the installation and says what to do.";
    Quit "quit" "" "Ends the session.";
}

impl Builtin {
    /// The command of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|builtin| builtin.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_whole_and_every_name_is_found() {
        let names: Vec<String> = Builtin::ALL.iter().map(|builtin| format!("/{}", builtin.name())).collect();
        assert_eq!(
            names.join(" "),
            "/help /model /init /route /provider /generation /permissions /memory /agents /mcp /hooks /skills /todo /plan /compact /rewind /undo /redo /diff /usage /sessions /resume /fork /export /theme /config /doctor /quit"
        );
        for builtin in Builtin::ALL {
            assert_eq!(Builtin::from_name(builtin.name()), Some(*builtin));
            assert!(builtin.help().ends_with('.') && !builtin.help().contains('\n'), "{builtin:?}");
        }
        assert_eq!(Builtin::from_name("Help"), None);
    }
}
