//! Which targets a request concerns, in their order, before anybody asks whether they can serve it.

use std::borrow::Cow;

use crate::asked::{Asked, asked};
use crate::classify::{DEFAULT, classify};
use crate::figures::ordinal;
use crate::{Chain, Facts, Routing, Session, Target, Wanted};

/// The targets that a request concerns, and what it was taken for.
pub(crate) struct Line {
    pub(crate) virtual_model: Option<String>,
    pub(crate) why: String,
    /// Without duplicates.
    pub(crate) places: Vec<Place>,
    /// How many of the places are the request's own chain.
    own: usize,
    /// Who decided on the chain.
    choice: Choice,
}

/// One target and the place in a chain that it has.
pub(crate) struct Place {
    pub(crate) target: Target,
    pub(crate) why: String,
}

/// Who decided on a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Our own reading of the request.
    Ours,
    /// The user, by a name or by a rule.
    Users,
}

impl Line {
    /// Lines up the targets of the chain, of the security chain and, if so configured, of the default chain.
    pub(crate) fn up(routing: &Routing, facts: &Facts<'_>, session: Option<&Session>) -> Self {
        let wanted = classify(routing, facts, session);
        let mut line = Self::new(routing, &wanted, asked(routing, facts.asked));
        line.own = line.places.len();
        let class = line.virtual_model.clone().unwrap_or(wanted.virtual_model);
        if let Some((of, chain)) = with_default(&class, |name| routing.security.get(name)) {
            line.append(routing, &chain.0, &format!("the security chain of `{of}`"));
        }
        if routing.options.default_as_last_resort
            && let Some(chain) = routing.chains.get(DEFAULT)
        {
            line.append(routing, &chain.0, "chain `default`, as the last resort");
        }
        line
    }

    fn new(routing: &Routing, wanted: &Wanted, asked: Asked) -> Self {
        let mut line = Self {
            virtual_model: None,
            why: String::new(),
            places: Vec::new(),
            own: 0,
            choice: Choice::Users,
        };
        match asked {
            Asked::Targets(targets, why) => {
                line.why = why;
                line.append(routing, &targets, "what was asked for");
            }
            Asked::Virtual(name, why) => {
                line.why = why;
                line.append_chain(routing, &name, None);
                line.virtual_model = Some(name);
            }
            Asked::Classified(alias) => {
                line.why = match alias {
                    None => wanted.why.clone(),
                    Some(alias) => format!("{alias} for what the request is: {}", wanted.why),
                };
                line.choice = if wanted.rule.is_some() { Choice::Users } else { Choice::Ours };
                line.append_chain(routing, &wanted.virtual_model, wanted.rule);
                line.virtual_model = Some(wanted.virtual_model.clone());
            }
        }
        line
    }

    /// Whether a conversation may stay with this target. What the user chose is never left; what we chose may be, for any
    /// target that is still named somewhere.
    pub(crate) fn lets_stay(&self, routing: &Routing, target: &Target) -> bool {
        let in_own = self.places.iter().take(self.own).any(|place| place.target == *target);
        match self.choice {
            Choice::Users => in_own,
            Choice::Ours => in_own || routing.names(target),
        }
    }

    fn append_chain(&mut self, routing: &Routing, name: &str, rule: Option<usize>) {
        match with_default(name, |name| routing.chain(name, rule)) {
            Some((of, chain)) if of == name => self.append(routing, &chain.0, &format!("chain `{of}`")),
            Some((of, chain)) => {
                self.append(routing, &chain.0, &format!("chain `{of}`, as `{name}` has none"));
            }
            None => {}
        }
    }

    /// Adds those that are not there yet; the targets of the active provider first.
    fn append(&mut self, routing: &Routing, targets: &[Target], of: &str) {
        let is_active =
            |target: &&Target| routing.active.as_ref().is_some_and(|active| *active == target.provider);
        let (first, behind): (Vec<&Target>, Vec<&Target>) = targets.iter().partition(is_active);
        for target in first.iter().chain(&behind).copied() {
            if self.places.iter().any(|place| place.target == *target) {
                continue;
            }
            let place = targets.iter().position(|other| other == target).unwrap_or_default() + 1;
            let mut why = match targets {
                [_] => of.to_owned(),
                _ => format!("{} of {of}", ordinal(place)),
            };
            if is_active(&target) && place > 1 {
                why.push_str(&format!("; first, as `{}` is the active provider", target.provider));
            }
            self.places.push(Place { target: target.clone(), why });
        }
    }
}

/// What is under a name, else what is under `default`, with the name that has it.
fn with_default<T>(name: &str, get: impl Fn(&str) -> Option<T>) -> Option<(&str, T)> {
    get(name).map(|found| (name, found)).or_else(|| get(DEFAULT).map(|found| (DEFAULT, found)))
}

impl Routing {
    /// The chain of a virtual model: that of the rule that matched, else under `[router]`, else of any rule with its name.
    fn chain(&self, name: &str, rule: Option<usize>) -> Option<Cow<'_, Chain>> {
        let own = |rule: &crate::Rule| rule.chain.as_ref().and_then(|text| text.parse().ok()).map(Cow::Owned);
        let matched = rule.and_then(|at| self.rules.get(at)).filter(|rule| rule.name == name);
        matched
            .and_then(own)
            .or_else(|| self.chains.get(name).map(Cow::Borrowed))
            .or_else(|| self.rules.iter().filter(|rule| rule.name == name).find_map(own))
    }

    /// Whether a virtual model has a chain of its own.
    pub(crate) fn has_chain(&self, name: &str) -> bool {
        self.chain(name, None).is_some()
    }

    /// Whether any chain has this target. Security chains do not count: who is there for want of others is left as soon as
    /// one of them is there again.
    fn names(&self, target: &Target) -> bool {
        let of_rules = || self.rules.iter().filter_map(|rule| rule.chain.as_ref()?.parse::<Chain>().ok());
        self.chains.values().flat_map(|chain| &chain.0).any(|known| known == target)
            || of_rules().any(|chain| chain.0.contains(target))
    }
}
