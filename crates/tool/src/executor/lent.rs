//! What a skill that was loaded allows.

use std::sync::{Mutex, PoisonError};

use rail_permit::Rule;

use super::Executor;
use crate::SkillLoaded;

/// What is allowed until the task is done. Clones of the rules are in the policy.
#[derive(Default)]
struct Lent(Mutex<Vec<Rule>>);

impl Executor {
    /// A skill was loaded.
    pub(super) fn lend(&self, loaded: &SkillLoaded) {
        let lent = self.session.services.get::<Lent>();
        let mut lent = lent.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.change_policy(|policy| {
            let allow = &mut policy.rules.allow;
            let is_new = |rule: &&Rule, allow: &[Rule]| !allow.contains(rule);
            let kept: Vec<Rule> = loaded.kept.iter().filter(|rule| is_new(rule, allow)).cloned().collect();
            allow.extend(kept);
            let new: Vec<Rule> = loaded.lent.iter().filter(|rule| is_new(rule, allow)).cloned().collect();
            allow.extend(new.iter().cloned());
            lent.extend(new);
        });
    }

    /// The task is done, or another one begins: what skills were lent ends. What they may read stays.
    pub fn end_lent(&self) {
        let lent = self.session.services.get::<Lent>();
        let ended = std::mem::take(&mut *lent.0.lock().unwrap_or_else(PoisonError::into_inner));
        if !ended.is_empty() {
            self.change_policy(|policy| policy.rules.allow.retain(|rule| !ended.contains(rule)));
        }
    }
}
