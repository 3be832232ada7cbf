use std::sync::Arc;

use rail_permit::shell;
use rail_tool::{Admitted, AnyTool, Card, Example, InputFault, Registry};
use serde_json::Value;

use super::{AgentType, Tools};

/// What only the agent that speaks with the user has.
const NOT_FOR_AGENTS: &[&str] = &["plan_mode", "exit_plan_mode", "ask_user_question"];
/// What is of use only to whoever runs commands.
const OF_COMMANDS: &[&str] = &["bash_output", "kill_bash"];

/// The tools of an agent of a type. It has `task` only where agents may set others to work.
pub(crate) fn of_type(registry: &Registry, kind: &AgentType, deeper: bool) -> Registry {
    let may = |card: &Card<'_>| !NOT_FOR_AGENTS.contains(&card.name) && (deeper || card.name != "task");
    let own = registry.only(|card| may(card) && kind.has(card));
    let runs = own.get("bash").is_some();
    let own = own.only(|card| runs || !OF_COMMANDS.contains(&card.name));
    match kind.tools {
        Tools::All | Tools::ReadOnly | Tools::Named(_) => own,
        Tools::Reviewing => Registry::new(own.tools().iter().map(|tool| -> Arc<dyn AnyTool> {
            if tool.card().name == "bash" { Arc::new(GitReader(Arc::clone(tool))) } else { Arc::clone(tool) }
        })),
    }
}

/// `bash` for an agent that only looks: it takes commands of git that only read. They are judged like any other.
struct GitReader(Arc<dyn AnyTool>);

impl AnyTool for GitReader {
    fn card(&self) -> Card<'_> {
        // Said in the declaration: after the first call it would be too late.
        Card {
            summary: "Runs commands of git that only read (status, diff, log, show, blame), one a call and no other programs",
            ..self.0.card()
        }
    }

    fn schema(&self) -> Value {
        self.0.schema()
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
        if reads_git(command) {
            return self.0.admit(arguments);
        }
        Err(InputFault {
            path: "command".to_owned(),
            what: "must be a command of git that only reads, such as `git diff`, `git log`, `git show`, `git status` or `git blame`, with nothing around it: this agent only looks"
                .to_owned(),
        })
    }
}

fn reads_git(command: &str) -> bool {
    let is_git = |simple: &shell::Simple| {
        simple.words.first().and_then(shell::Word::literal) == Some("git") && shell::only_reads(simple)
    };
    shell::read(command).is_ok_and(|script| script.commands.iter().all(is_git))
}

#[cfg(test)]
mod tests {
    use rail_permit::Mode;

    use super::*;
    use crate::team::types::built_in;

    fn names(change: impl FnOnce(&mut AgentType), deeper: bool) -> Vec<String> {
        let mut kind = built_in().swap_remove(0);
        change(&mut kind);
        let registry = of_type(&rail_tools::registry(), &kind, deeper);
        registry.tools().iter().map(|tool| tool.card().name.to_owned()).collect()
    }

    #[test]
    fn an_agent_has_no_tool_that_needs_the_user_and_sets_nobody_to_work() {
        let all = names(|_| (), false);
        assert!(all.iter().any(|name| name == "bash") && all.iter().any(|name| name == "edit_file"));
        for not in ["task", "plan_mode", "exit_plan_mode", "ask_user_question"] {
            assert!(!all.iter().any(|name| name == not), "{not}");
        }
        assert!(names(|_| (), true).iter().any(|name| name == "task"));
    }

    #[test]
    fn one_that_only_looks_can_t_write_or_run() {
        for change in [(|kind: &mut AgentType| kind.tools = Tools::ReadOnly) as fn(&mut AgentType), |kind| {
            kind.mode = Some(Mode::Plan)
        }] {
            let only = names(change, false);
            assert!(only.iter().any(|name| name == "grep") && only.iter().any(|name| name == "read_file"));
            for not in [
                "bash",
                "bash_output",
                "kill_bash",
                "write_file",
                "edit_file",
                "multi_edit",
                "apply_patch",
                "notebook_edit",
            ] {
                assert!(!only.iter().any(|name| name == not), "{not}");
            }
        }
    }

    #[test]
    fn one_that_reviews_runs_what_git_only_reads() {
        let only = names(|kind| kind.tools = Tools::Reviewing, false);
        assert!(only.iter().any(|name| name == "bash") && !only.iter().any(|name| name == "write_file"));
        for command in [
            "git diff",
            "git --no-pager diff HEAD~1 -- src",
            "git log --oneline -5",
            "git show HEAD:a.txt",
            "git status --short && git diff --stat",
            "git blame a.txt 2>/dev/null",
        ] {
            assert!(reads_git(command), "{command}");
        }
        for command in [
            "ls",
            "git diff | head",
            "git push",
            "git diff --output=a.txt",
            "git diff > a.txt",
            "git diff --ext-diff",
            "GIT_EXTERNAL_DIFF=x git diff",
            "git -c core.pager=x log",
            "git diff $(touch x)",
            "git commit -m x",
            "./git diff",
            "X=1",
            "git diff (",
        ] {
            assert!(!reads_git(command), "{command}");
        }
    }

    #[test]
    fn a_mode_that_gives_leave_has_no_effect() {
        let named = |kind: &mut AgentType| {
            kind.tools = Tools::Named(vec!["read_file".to_owned()]);
            kind.mode = Some(Mode::Bypass);
        };
        assert_eq!(names(named, false), ["read_file"]);
    }
}
