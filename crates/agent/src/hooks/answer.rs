//! What one hook said, from its exit status and what it printed.

use rail_sandbox::Exit;
use rail_tool::HookSay;
use serde_json::{Map, Value};

use super::event::Blocks;
use super::process::{Ending, Ran};
use super::{HookEvent, HookOutcome, names};

/// How much of what a hook says of its errors is told.
const TOLD: usize = 2_000;

/// Reads the answer of one hook.
pub(super) fn read(event: &HookEvent, ran: &Ran) -> HookOutcome {
    let mut answer = Answer { event, outcome: HookOutcome::default() };
    match &ran.ending {
        Ending::Exit(Exit::Code(0)) => answer.printed(ran.output.trim()),
        Ending::Exit(Exit::Code(2)) => {
            let why = cut(ran.errors.trim());
            answer.block(if why.is_empty() { "it gave no reason".to_owned() } else { why });
        }
        // The shell did not find the command, could not run it, or tells of a signal.
        Ending::Exit(exit @ (Exit::Code(126 | 127 | 129..) | Exit::Signal(_))) => {
            answer.broken(&with_errors(&exit.to_string(), &ran.errors));
        }
        Ending::Exit(exit @ Exit::Code(_)) => answer.problem(&with_errors(&exit.to_string(), &ran.errors)),
        Ending::Late(limit) => answer.broken(&with_errors(
            &format!(
                "it took longer than its {} s and was ended; a larger `timeout` gives it more",
                limit.as_secs()
            ),
            &ran.errors,
        )),
        Ending::NotStarted(why) => answer.broken(why),
        Ending::Flooded(most) => {
            answer.broken(&format!("it printed more than {most} bytes, so that its answer was not read"));
        }
    }
    if !ran.swept.is_empty() {
        let swept = ran.swept.join("`, `");
        answer.problem(&format!(
            "it left `{swept}` running, which was ended with it; what is started by `setsid` goes on"
        ));
    }
    let mut outcome = answer.outcome;
    for problem in &mut outcome.problems {
        *problem = format!("the {} hook `{}`: {problem}", event.name(), short(&ran.command));
    }
    outcome
}

/// An answer that is being read.
struct Answer<'a> {
    event: &'a HookEvent,
    outcome: HookOutcome,
}

impl Answer<'_> {
    fn problem(&mut self, what: &str) {
        self.outcome.problems.push(what.to_owned());
    }

    /// A hook without an answer that can be understood. It may have been about to refuse the call, so that somebody is asked.
    fn broken(&mut self, what: &str) {
        self.problem(what);
        let refused = matches!(self.outcome.say, Some(HookSay::Deny(_)));
        if matches!(self.event, HookEvent::PreToolUse(_)) && !refused {
            self.outcome.say = Some(HookSay::Ask(format!("a hook that checks this call is broken: {what}")));
        }
    }

    fn block(&mut self, why: String) {
        match self.event.blocks() {
            Blocks::Call => self.outcome.say = Some(HookSay::Deny(why)),
            Blocks::Moment => self.outcome.blocked = Some(why),
            Blocks::Nothing => self.outcome.messages.push(why),
        }
    }

    fn printed(&mut self, output: &str) {
        if !output.starts_with('{') {
            if self.event.takes_plain_text() && !output.is_empty() {
                self.outcome.context.push(output.to_owned());
            }
            return;
        }
        match serde_json::from_str::<Map<String, Value>>(output) {
            Ok(said) => {
                if let Err(what) = self.said(&said) {
                    self.broken(&what);
                }
            }
            Err(error) => self.broken(&format!("its answer begins like JSON and is none: {error}")),
        }
    }

    fn said(&mut self, said: &Map<String, Value>) -> Result<(), String> {
        self.outcome.messages.extend(text(said, "systemMessage")?);
        if flag(said, "continue")? == Some(false) {
            let why = text(said, "stopReason")?;
            self.outcome.stop = Some(why.unwrap_or_else(|| "a hook wants it to stop".to_owned()));
        }
        let reason = text(said, "reason")?.unwrap_or_else(|| "it gave no reason".to_owned());
        let is_call = self.event.blocks() == Blocks::Call;
        match text(said, "decision")?.as_deref() {
            Some("block" | "deny") => self.block(reason),
            Some("approve" | "allow") if is_call => self.outcome.say = Some(HookSay::Allow),
            Some("ask") if is_call => self.outcome.say = Some(HookSay::Ask(reason)),
            None | Some("approve" | "allow") => {}
            Some(other) => return Err(format!("`decision` is `{other}`; it can be `block` or `approve`")),
        }
        match said.get("hookSpecificOutput") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Object(own)) => self.own(own),
            Some(_) => Err("`hookSpecificOutput` is no object".to_owned()),
        }
    }

    /// What an event has for itself.
    fn own(&mut self, own: &Map<String, Value>) -> Result<(), String> {
        let name = self.event.name();
        if let Some(other) = text(own, "hookEventName")?.filter(|other| other != name) {
            return Err(format!("`hookEventName` is `{other}`, but this is `{name}`"));
        }
        self.outcome.context.extend(text(own, "additionalContext")?.filter(|context| !context.is_empty()));
        if own.contains_key("updatedMCPToolOutput") {
            self.problem("`updatedMCPToolOutput` is not obeyed: a result is what the tool gave");
        }
        match self.event {
            HookEvent::PreToolUse(_) => self.permission(own),
            HookEvent::PermissionRequest(_) => match own.get("decision") {
                None | Some(Value::Null) => Ok(()),
                Some(Value::Object(decision)) => self.decision(decision),
                Some(_) => Err("`decision` is no object".to_owned()),
            },
            HookEvent::SessionStart { .. }
            | HookEvent::UserPromptSubmit { .. }
            | HookEvent::PostToolUse { .. }
            | HookEvent::PostToolUseFailure { .. }
            | HookEvent::Notification { .. }
            | HookEvent::SubagentStart { .. }
            | HookEvent::SubagentStop { .. }
            | HookEvent::PreCompact { .. }
            | HookEvent::Stop { .. }
            | HookEvent::SessionEnd { .. } => Ok(()),
        }
    }

    /// The decision of a hook before a call.
    fn permission(&mut self, own: &Map<String, Value>) -> Result<(), String> {
        let reason = text(own, "permissionDecisionReason")?.unwrap_or_else(|| "it gave no reason".to_owned());
        match text(own, "permissionDecision")?.as_deref() {
            None => {}
            Some("allow") => self.outcome.say = Some(HookSay::Allow),
            Some("deny") => self.outcome.say = Some(HookSay::Deny(reason)),
            Some("ask") => self.outcome.say = Some(HookSay::Ask(reason)),
            Some(other) => {
                return Err(format!("`permissionDecision` is `{other}`; it can be `allow`, `deny` or `ask`"));
            }
        }
        self.input(own)
    }

    /// The answer of a hook in place of the user.
    fn decision(&mut self, decision: &Map<String, Value>) -> Result<(), String> {
        let why = text(decision, "message")?;
        match text(decision, "behavior")?.as_deref() {
            Some("allow") => self.outcome.say = Some(HookSay::Allow),
            Some("deny") => {
                let why = why.unwrap_or_else(|| "it gave no reason".to_owned());
                if flag(decision, "interrupt")? == Some(true) {
                    self.outcome.stop = Some(why.clone());
                }
                self.outcome.say = Some(HookSay::Deny(why));
            }
            other => {
                let other = other.unwrap_or("missing");
                return Err(format!("`behavior` is `{other}`; it can be `allow` or `deny`"));
            }
        }
        if decision.contains_key("updatedPermissions") {
            self.problem(
                "`updatedPermissions` is not obeyed: a hook allows one call, rules are written in the settings",
            );
        }
        self.input(decision)
    }

    fn input(&mut self, from: &Map<String, Value>) -> Result<(), String> {
        match (from.get("updatedInput"), self.event.call()) {
            (None | Some(Value::Null), _) | (Some(_), None) => Ok(()),
            (Some(Value::Object(input)), Some(call)) => {
                self.outcome.updated_input = Some(names::home(&call.tool, input.clone()));
                Ok(())
            }
            (Some(_), Some(_)) => Err("`updatedInput` is no object".to_owned()),
        }
    }
}

fn text(from: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match from.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` is no text")),
    }
}

fn flag(from: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match from.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("`{key}` is neither true nor false")),
    }
}

fn with_errors(what: &str, errors: &str) -> String {
    let errors = errors.trim();
    if errors.is_empty() { what.to_owned() } else { format!("{what}: {}", cut(errors)) }
}

/// A text, or as much of it as is told.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A command on one line.
fn short(command: &str) -> String {
    let line: String = command.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_tool::HookedCall;
    use serde_json::json;

    use super::*;

    fn ran(code: i32, output: &str) -> Ran {
        Ran {
            command: "check\n.sh".to_owned(),
            ending: Ending::Exit(Exit::Code(code)),
            output: output.to_owned(),
            errors: output.to_owned(),
            swept: Vec::new(),
        }
    }

    fn events() -> [HookEvent; 3] {
        let call = HookedCall { id: "1".to_owned(), tool: "bash".to_owned(), input: json!({}) };
        let prompt = HookEvent::UserPromptSubmit { prompt: String::new() };
        [HookEvent::PreToolUse(call.clone()), HookEvent::PermissionRequest(call), prompt]
    }

    /// Any value that an answer may hold where something else is meant.
    fn any_value() -> impl Strategy<Value = Value> {
        let words = ["allow", "deny", "ask", "block", "approve", "PreToolUse", "x"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            Just(json!(5)),
            prop::sample::select(words.to_vec()).prop_map(Value::from),
        ];
        let keys = vec![
            "continue",
            "decision",
            "reason",
            "hookSpecificOutput",
            "hookEventName",
            "permissionDecision",
            "updatedInput",
            "additionalContext",
            "behavior",
            "systemMessage",
        ];
        leaf.prop_recursive(3, 16, 5, move |inner| {
            let member = (prop::sample::select(keys.clone()), inner);
            proptest::collection::vec(member, 0..5).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            })
        })
    }

    proptest! {
        #[test]
        fn any_output_is_read(code in 0..150, output in "[{}\":a-c\\n é]{0,30}") {
            for event in events() {
                let outcome = read(&event, &ran(code, &output));
                let understood = match code {
                    0 => !output.trim().starts_with('{') || serde_json::from_str::<Value>(&output).is_ok(),
                    code => code == 2,
                };
                prop_assert_eq!(outcome.problems.is_empty(), understood);
            }
        }

        /// A check whose answer can't be understood never lets a call through in silence.
        #[test]
        fn an_answer_with_a_problem_is_no_leave(answer in any_value()) {
            let [before, ..] = events();
            let outcome = read(&before, &ran(0, &answer.to_string()));
            let broken = outcome.problems.iter().any(|problem| problem.starts_with("the PreToolUse hook `check .sh`: "));
            prop_assert_eq!(broken, !outcome.problems.is_empty());
            prop_assert!(!broken || matches!(outcome.say, Some(HookSay::Ask(_) | HookSay::Deny(_))));
        }
    }
}
