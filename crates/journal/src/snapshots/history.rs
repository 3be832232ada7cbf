//! Which steps there are, and which of them are done: a pure value.

use super::SnapshotId;

/// A step that may have changed files: the workspace before it and after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Before it.
    pub before: SnapshotId,
    /// After it.
    pub after: SnapshotId,
}

/// The files that differ between two snapshots are to be brought from one to the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Restore {
    /// What is expected now.
    pub from: SnapshotId,
    /// What is wanted.
    pub to: SnapshotId,
}

/// What must be done to go to another place in the history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// What is to be restored, in this order.
    pub restores: Vec<Restore>,
    /// How many steps are done afterwards.
    pub done: usize,
}

/// The steps of a session. Those behind the place where it stands can be done again.
///
/// What somebody else changed between two steps belongs to neither: each step is undone by itself, so such changes stay, or
/// are conflicts where a step touched the same file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    steps: Vec<Step>,
    done: usize,
}

impl History {
    /// A step was done. What was undone before it can't be done again.
    pub fn record(&mut self, step: Step) {
        self.steps.truncate(self.done);
        self.steps.push(step);
        self.done = self.steps.len();
    }

    /// How many steps are done.
    pub fn done(&self) -> usize {
        self.done
    }

    /// All steps, also those that are undone.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How the last step is undone; nothing if none is done.
    pub fn undo(&self) -> Option<Plan> {
        self.rewind(self.done.checked_sub(1)?)
    }

    /// How the last undone step is done again; nothing if there is none.
    pub fn redo(&self) -> Option<Plan> {
        self.rewind(self.done + 1)
    }

    /// How to go to where so many steps were done, back or forth; nothing if there are not so many.
    pub fn rewind(&self, done: usize) -> Option<Plan> {
        let back = self.steps.get(done..self.done).unwrap_or_default().iter().rev();
        let back = back.map(|step| Restore { from: step.after, to: step.before });
        let forth = self.steps.get(self.done..done).unwrap_or_default().iter();
        let forth = forth.map(|step| Restore { from: step.before, to: step.after });
        let mut restores: Vec<Restore> = Vec::new();
        for next in back.chain(forth).filter(|restore| restore.from != restore.to) {
            match restores.last_mut() {
                // Nobody came between the two steps, so they are one.
                Some(last) if last.to == next.from => last.to = next.to,
                Some(_) | None => restores.push(next),
            }
        }
        restores.retain(|restore| restore.from != restore.to);
        (done <= self.steps.len()).then_some(Plan { restores, done })
    }

    /// A plan was carried out.
    pub fn went(&mut self, plan: &Plan) {
        self.done = plan.done.min(self.steps.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::ContentId;

    fn at(name: u8) -> SnapshotId {
        ContentId::of(&[name]).into()
    }

    fn step(before: u8, after: u8) -> Step {
        Step { before: at(before), after: at(after) }
    }

    fn plan(restores: &[(u8, u8)], done: usize) -> Option<Plan> {
        let restores = restores.iter().map(|(from, to)| Restore { from: at(*from), to: at(*to) }).collect();
        Some(Plan { restores, done })
    }

    #[test]
    fn steps_are_undone_and_done_again() {
        let mut history = History::default();
        assert_eq!((history.undo(), history.redo(), history.rewind(0)), (None, None, plan(&[], 0)));
        for (before, after) in [(0, 1), (1, 2), (3, 4), (4, 4)] {
            history.record(step(before, after));
        }
        // A step that changed nothing, two that nobody came between, and one somebody did.
        assert_eq!(history.undo(), plan(&[], 3));
        assert_eq!(history.redo(), None);
        assert_eq!(history.rewind(0), plan(&[(4, 3), (2, 0)], 0));
        assert_eq!(history.rewind(2), plan(&[(4, 3)], 2));
        assert_eq!(history.rewind(5), None);
        history.went(&history.rewind(1).unwrap());
        assert_eq!(history.undo(), plan(&[(1, 0)], 0));
        assert_eq!(history.redo(), plan(&[(1, 2)], 2));
        assert_eq!(history.rewind(4), plan(&[(1, 2), (3, 4)], 4));
        history.record(step(1, 7));
        assert_eq!((history.redo(), history.steps().len()), (None, 2));
        assert_eq!(history.rewind(0), plan(&[(7, 0)], 0));
    }

    proptest! {
        /// As long as nobody else changes anything, every way through the history leads to the tree that was there.
        #[test]
        fn every_way_leads_to_the_same_tree(moves in prop::collection::vec((0..4_u8, any::<u8>()), 0..40)) {
            let mut history = History::default();
            let mut now = at(0);
            let mut trees = vec![now];
            for (kind, value) in moves {
                let plan = match kind {
                    0 => history.undo(),
                    1 => history.redo(),
                    2 => history.rewind(usize::from(value) % (trees.len() + 1)),
                    _ => {
                        let after = at(value % 5);
                        trees.truncate(history.done() + 1);
                        trees.push(after);
                        history.record(Step { before: now, after });
                        now = after;
                        None
                    }
                };
                let Some(plan) = plan else { continue };
                for restore in &plan.restores {
                    prop_assert_eq!(restore.from, now);
                    now = restore.to;
                }
                history.went(&plan);
                prop_assert_eq!(now, trees[history.done()]);
            }
        }
    }
}
