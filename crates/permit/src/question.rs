use crate::{Denial, Facet, Grant, Reason, Rule};

/// A question for the user.
#[derive(Clone, PartialEq, Debug)]
pub struct Question {
    /// What would be done.
    pub facets: Vec<Facet>,
    /// Why it is asked.
    pub reason: Reason,
    /// Always asks, whatever rules would allow it: only `Once` and the refusals can answer it.
    pub always_asks: bool,
    /// What can be allowed for longer, the narrowest first; empty where nothing can.
    pub offers: Vec<Offer>,
    /// What whoever is asked is to know besides, in sentences: what this system can't do.
    pub note: Option<String>,
    // In a box, so that a verdict is not as large as its largest kind.
    pub(crate) grant: Box<Grant>,
}

/// Something that an answer could allow for longer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The rules that would be added to what is allowed.
    pub rules: Vec<Rule>,
    /// What they would allow, in a sentence.
    pub says: String,
}

/// For how long an answer holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Until the session ends.
    Session,
    /// Written to the project-local configuration.
    Always,
}

/// The user's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// This time.
    Once,
    /// What an offer says, for as long as the scope says.
    Offer(Offer, Scope),
    /// Not this time, perhaps with an explanation for the model.
    No(Option<String>),
    /// There is nobody who could be asked, and what to do about that.
    Nobody(String),
}

/// What an answer comes to.
#[derive(Clone, PartialEq, Debug)]
pub enum Answered {
    /// It may be done; the rules are to be kept for as long as the scope says.
    Granted(Grant, Option<(Vec<Rule>, Scope)>),
    /// It is not done.
    Denied(Denial),
}

impl Question {
    /// A question about what was allowed, since a hook wants somebody to be asked.
    pub fn by_hook(grant: Grant, why: &str) -> Self {
        let reason = Reason { why: format!("a hook wants you to be asked: {why}"), ..Reason::default() };
        Self {
            facets: grant.facets.clone(),
            reason,
            always_asks: true,
            offers: Vec::new(),
            note: None,
            grant: Box::new(grant),
        }
    }

    /// Leave given by somebody else than the user, such as a hook of theirs.
    pub fn granted_by(self, why: &str) -> Grant {
        Grant { reason: Reason { why: why.to_owned(), ..Reason::default() }, ..*self.grant }
    }

    /// A rule that would allow it without a question, the narrowest there is; None where none would. It is shown to be typed at a shell, in
    /// quotes, so that one without quotes of its own is better.
    pub fn rule(&self) -> Option<String> {
        let mut rules = self.offers.iter().filter_map(|offer| offer.rules.first());
        let first = rules.clone().next();
        let rule = rules.find(|rule| !rule.text.contains('\'')).or(first);
        match (rule, self.facets.as_slice(), &self.reason.about) {
            (Some(rule), _, _) => Some(rule.text.clone()),
            // A secret: nothing is offered, but a rule that names it allows it.
            (None, [Facet::Read(_)], Some(path)) if !self.always_asks => {
                let written = if path.starts_with('/') { format!("/{path}") } else { path.clone() };
                Some(format!("Read({written})"))
            }
            (None, _, _) => None,
        }
    }

    /// What an answer comes to. An offer that is none of the question's own counts as [`Answer::Once`].
    pub fn answer(self, answer: Answer) -> Answered {
        match answer {
            Answer::Once => Answered::Granted(*self.grant, None),
            Answer::Offer(offer, scope) if self.offers.contains(&offer) => {
                Answered::Granted(*self.grant, Some((offer.rules, scope)))
            }
            Answer::Offer(..) => Answered::Granted(*self.grant, None),
            Answer::No(explained) => Answered::Denied(Denial::by_user(self.reason, explained)),
            Answer::Nobody(way) => Answered::Denied(Denial::unasked(self.reason, &way)),
        }
    }
}
