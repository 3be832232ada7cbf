use rail_tool::{Card, Registry};

use super::AgentType;

/// What only the agent that speaks with the user has.
const NOT_FOR_AGENTS: &[&str] = &["plan_mode", "exit_plan_mode", "ask_user_question"];

/// The tools of an agent of a type. It has `task` only where agents may set others to work.
pub(crate) fn of_type(registry: &Registry, kind: &AgentType, deeper: bool) -> Registry {
    let may = |card: &Card<'_>| !NOT_FOR_AGENTS.contains(&card.name) && (deeper || card.name != "task");
    registry.only(|card| may(card) && kind.has(card))
}

#[cfg(test)]
mod tests {
    use rail_permit::Mode;

    use super::*;
    use crate::team::Tools;
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
            for not in ["bash", "write_file", "edit_file", "multi_edit", "apply_patch", "notebook_edit"] {
                assert!(!only.iter().any(|name| name == not), "{not}");
            }
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
