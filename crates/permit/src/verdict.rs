use crate::{Grant, Question, Rule};

/// What becomes of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It may be done.
    Allow(Grant),
    /// Somebody must say so first.
    Ask(Question),
    /// It is not done, whatever anybody says.
    Deny(Denial),
}

/// Why it was decided so.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reason {
    /// In a sentence, without a full stop.
    pub why: String,
    /// The rule that decided, with its origin.
    pub rule: Option<Rule>,
    /// The part of a compound command, or the path, that decided.
    pub about: Option<String>,
}

/// A refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denial {
    /// Why, with the rule that decided.
    pub reason: Reason,
    /// What the model is told: what was refused, by what, and what it can do instead.
    pub say: String,
}

impl Denial {
    /// A refusal that no answer can change.
    pub(crate) fn fixed(reason: Reason) -> Self {
        let what = reason.about.as_ref().map(|about| format!("`{about}` was refused: ")).unwrap_or_default();
        let by = reason
            .rule
            .as_ref()
            .map(|rule| format!(" (the rule `{rule}` of {})", rule.origin))
            .unwrap_or_default();
        let say = format!(
            "{what}{}{by}. Nothing was done. Do not try the same in another way; do it without this, or tell the user what you need and why.",
            reason.why
        );
        Self { reason, say }
    }

    /// A refusal because nobody could be asked.
    pub(crate) fn unasked(reason: Reason, way: &str) -> Self {
        let what = reason.about.as_ref().map_or_else(|| "This".to_owned(), |about| format!("`{about}`"));
        let say = format!(
            "{what} has to be asked about ({}), and there is nobody to ask. Nothing was done. {way}",
            reason.why
        );
        Self { reason, say }
    }

    /// A refusal by the user.
    pub(crate) fn by_user(reason: Reason, explained: Option<String>) -> Self {
        let what = reason.about.as_ref().map_or_else(|| "This".to_owned(), |about| format!("`{about}`"));
        let explained = explained.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let say = match explained {
            Some(text) => format!(
                "{what} was refused by the user, who says: {text}\nNothing was done. Do as the user says; do not try the same in another way."
            ),
            None => format!(
                "{what} was refused by the user. Nothing was done. Do not try the same in another way; ask the user what to do instead, or go on without it."
            ),
        };
        Self { reason, say }
    }
}
