use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::machine::Bounds;

/// What a task and all agents that it sets to work may take together, and have taken.
///
/// A turn is taken before a request and given back if there is no answer, so that agents side by side can't take more than there are.
#[derive(Debug)]
pub struct Purse {
    turns: Option<u64>,
    tokens: Option<u64>,
    usd: Option<f64>,
    taken: Mutex<Taken>,
}

/// What was taken.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Taken {
    /// Answers, and requests that have none yet.
    pub turns: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Dollars, as far as prices are known.
    pub usd: f64,
    /// Which task it is: a turn that an earlier one took is not given back to it.
    task: u64,
}

/// A turn that was taken; it is given back when it is dropped before it was used.
#[derive(Debug)]
pub struct Turn {
    purse: Arc<Purse>,
    task: u64,
    used: bool,
}

impl Purse {
    /// A full one.
    pub fn new(bounds: &Bounds) -> Self {
        Self { turns: bounds.turns, tokens: bounds.tokens, usd: bounds.usd, taken: Mutex::default() }
    }

    /// How many dollars there are in all, if that is bounded.
    pub fn usd(&self) -> Option<f64> {
        self.usd
    }

    /// A new task begins: it is full again.
    pub fn refill(&self) {
        let mut taken = self.locked();
        *taken = Taken { task: taken.task + 1, ..Taken::default() };
    }

    /// What was taken so far.
    pub fn taken(&self) -> Taken {
        *self.locked()
    }

    /// Takes a turn.
    ///
    /// # Errors
    /// Nothing is left, in a sentence for the user.
    pub fn turn(self: &Arc<Self>) -> Result<Turn, String> {
        let mut taken = self.locked();
        if let Some(turns) = self.turns.filter(|turns| taken.turns >= *turns) {
            return Err(format!("the task and its agents have had {turns} turns, as many as were allowed"));
        }
        self.left(&taken)?;
        taken.turns += 1;
        Ok(Turn { purse: Arc::clone(self), task: taken.task, used: false })
    }

    /// Whether something is left to be spent, for requests that are no turn.
    ///
    /// # Errors
    /// Nothing is, in a sentence for the user.
    pub fn open(&self) -> Result<(), String> {
        self.left(&self.locked())
    }

    /// Something was spent.
    pub fn spend(&self, tokens: u64, usd: f64) {
        let mut taken = self.locked();
        taken.tokens = taken.tokens.saturating_add(tokens);
        taken.usd += usd;
    }

    fn left(&self, taken: &Taken) -> Result<(), String> {
        if let Some(tokens) = self.tokens.filter(|tokens| taken.tokens >= *tokens) {
            let used = taken.tokens;
            return Err(format!(
                "the task and its agents have used {used} tokens of {tokens} that were allowed"
            ));
        }
        match self.usd.filter(|usd| taken.usd >= *usd) {
            Some(usd) => {
                let spent = taken.usd;
                Err(format!("the task and its agents have spent ${spent:.4} of ${usd} that were allowed"))
            }
            None => Ok(()),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// There was an answer.
    pub fn used(mut self) {
        self.used = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.used {
            let mut taken = self.purse.locked();
            if taken.task == self.task {
                taken.turns = taken.turns.saturating_sub(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purse(bounds: Bounds) -> Arc<Purse> {
        Arc::new(Purse::new(&bounds))
    }

    #[test]
    fn agents_side_by_side_take_no_more_turns_than_there_are() {
        let purse = purse(Bounds { turns: Some(2), ..Bounds::default() });
        let (one, two) = (purse.turn().unwrap(), purse.turn().unwrap());
        assert!(purse.turn().unwrap_err().contains("2 turns"));
        drop(one);
        purse.turn().unwrap().used();
        two.used();
        assert!(purse.turn().is_err());
        assert_eq!(purse.taken().turns, 2);
        purse.refill();
        // A turn of the task before is not given back to this one.
        let late = purse.turn().unwrap();
        purse.refill();
        purse.turn().unwrap().used();
        drop(late);
        assert_eq!(purse.taken().turns, 1);
    }

    #[test]
    fn what_is_spent_anywhere_counts_everywhere() {
        let tokens = purse(Bounds { tokens: Some(100), ..Bounds::default() });
        tokens.spend(99, 0.0);
        assert!(tokens.turn().is_ok() && tokens.open().is_ok());
        tokens.spend(1, 0.0);
        assert_eq!(
            tokens.turn().unwrap_err(),
            "the task and its agents have used 100 tokens of 100 that were allowed"
        );
        let usd = purse(Bounds { usd: Some(0.5), ..Bounds::default() });
        usd.spend(0, 0.5);
        assert_eq!(
            usd.open().unwrap_err(),
            "the task and its agents have spent $0.5000 of $0.5 that were allowed"
        );
        assert!(purse(Bounds::default()).turn().is_ok());
    }
}
