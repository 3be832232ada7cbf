use rail_tool::HookSay;
use serde_json::Value;

/// What the hooks of one moment come to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HookOutcome {
    /// Why the moment is blocked: a prompt is not sent, an agent does not stop, a conversation is not made shorter. Behind a tool it
    /// is what the model is told.
    pub blocked: Option<String>,
    /// What is to become of a call.
    pub say: Option<HookSay>,
    /// The input that takes the place of the call's, in native names.
    pub updated_input: Option<Value>,
    /// What is added for the model.
    pub context: Vec<String>,
    /// Why nothing more is to be done until the user says something.
    pub stop: Option<String>,
    /// For the user.
    pub messages: Vec<String>,
    /// Hooks that are broken: for the user, always.
    pub problems: Vec<String>,
}

impl HookOutcome {
    /// Several answers as one, in the order of the settings: deny beats ask beats allow, and reasons of the same weight are all said.
    pub(super) fn fold(answers: impl IntoIterator<Item = Self>) -> Self {
        let mut all = answers.into_iter().fold(Self::default(), Self::and);
        if matches!(all.say, Some(HookSay::Deny(_))) {
            all.updated_input = None;
        }
        all
    }

    fn and(mut self, other: Self) -> Self {
        let Self { blocked, say, updated_input, context, stop, messages, problems } = other;
        join(&mut self.blocked, blocked);
        join(&mut self.stop, stop);
        self.say = stronger(self.say.take(), say);
        self.context.extend(context);
        self.messages.extend(messages);
        self.problems.extend(problems);
        if let Some(input) = updated_input {
            if self.updated_input.as_ref().is_some_and(|before| *before != input) {
                let problem = "two hooks changed the input of one call; the change of the last one counts";
                self.problems.push(problem.to_owned());
            }
            self.updated_input = Some(input);
        }
        self
    }
}

fn join(to: &mut Option<String>, more: Option<String>) {
    match (to.as_mut(), more) {
        (Some(text), Some(more)) => {
            text.push('\n');
            text.push_str(&more);
        }
        (None, Some(more)) => *to = Some(more),
        (Some(_) | None, None) => {}
    }
}

fn stronger(one: Option<HookSay>, other: Option<HookSay>) -> Option<HookSay> {
    let (one, other) = match (one, other) {
        (Some(one), Some(other)) => (one, other),
        (one, other) => return one.or(other),
    };
    Some(match (one, other) {
        (HookSay::Deny(one), HookSay::Deny(other)) => HookSay::Deny(format!("{one}\n{other}")),
        (HookSay::Ask(one), HookSay::Ask(other)) => HookSay::Ask(format!("{one}\n{other}")),
        (HookSay::Deny(why), HookSay::Ask(_) | HookSay::Allow)
        | (HookSay::Ask(_) | HookSay::Allow, HookSay::Deny(why)) => HookSay::Deny(why),
        (HookSay::Ask(why), HookSay::Allow) | (HookSay::Allow, HookSay::Ask(why)) => HookSay::Ask(why),
        (HookSay::Allow, HookSay::Allow) => HookSay::Allow,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn say(say: HookSay) -> HookOutcome {
        HookOutcome { say: Some(say), ..HookOutcome::default() }
    }

    #[test]
    fn deny_beats_ask_beats_allow() {
        let (allow, none) = (say(HookSay::Allow), HookOutcome::default());
        let ask = |why: &str| say(HookSay::Ask(why.to_owned()));
        let deny = |why: &str| say(HookSay::Deny(why.to_owned()));
        for (answers, expected) in [
            (vec![], none.clone()),
            (vec![none.clone(), none.clone()], none.clone()),
            (vec![none.clone(), allow.clone(), none.clone()], allow.clone()),
            (vec![allow.clone(), allow.clone()], allow.clone()),
            (vec![allow.clone(), ask("a")], ask("a")),
            (vec![ask("a"), allow.clone()], ask("a")),
            (vec![ask("a"), none, ask("b")], ask("a\nb")),
            (vec![ask("a"), deny("b"), allow.clone()], deny("b")),
            (vec![deny("a"), ask("c"), deny("b")], deny("a\nb")),
            (vec![allow, deny("a")], deny("a")),
        ] {
            assert_eq!(HookOutcome::fold(answers.clone()), expected, "{answers:?}");
        }
    }

    #[test]
    fn everything_else_adds_up_in_order() {
        let one = HookOutcome {
            blocked: Some("tests fail".into()),
            say: None,
            updated_input: Some(json!({"a": 1})),
            context: vec!["c1".into()],
            stop: None,
            messages: vec!["m1".into()],
            problems: vec!["p1".into()],
        };
        let two = HookOutcome {
            blocked: Some("lint fails".into()),
            say: Some(HookSay::Allow),
            updated_input: Some(json!({"a": 2})),
            context: vec!["c2".into()],
            stop: Some("enough".into()),
            messages: vec!["m2".into()],
            problems: vec!["p2".into()],
        };
        let expected = HookOutcome {
            blocked: Some("tests fail\nlint fails".into()),
            say: Some(HookSay::Allow),
            updated_input: Some(json!({"a": 2})),
            context: vec!["c1".into(), "c2".into()],
            stop: Some("enough".into()),
            messages: vec!["m1".into(), "m2".into()],
            problems: vec![
                "p1".into(),
                "p2".into(),
                "two hooks changed the input of one call; the change of the last one counts".into(),
            ],
        };
        assert_eq!(HookOutcome::fold([one.clone(), two]), expected);
        assert_eq!(HookOutcome::fold([one.clone(), one.clone()]).problems, ["p1", "p1"]);
        let denied = HookOutcome::fold([one, say(HookSay::Deny("no".into()))]);
        assert_eq!(denied.updated_input, None);
    }
}
