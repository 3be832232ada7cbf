use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rail_model::Usage;
use tokio::sync::Notify;

use crate::machine::Bounds;

/// Tokens of an answer, before there was one to go by.
const USUAL_OUTPUT: u64 = 500;

/// What a task and all agents that it sets to work may take together, and have taken.
///
/// A turn is taken before a request and given back if there is no answer, so that agents side by side can't take more than there are.
/// What a request may cost is held for it likewise, as far as it can be estimated.
#[derive(Debug)]
pub struct Purse {
    turns: Option<u64>,
    tokens: Option<u64>,
    usd: Option<f64>,
    taken: Mutex<Taken>,
    /// Told when something that was held is free again.
    freed: Notify,
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
    /// What is held for requests that are under way, and how many they are.
    held: Estimate,
    holds: u64,
    /// The tokens that answers had, and how many there were.
    output: u64,
    answers: u64,
}

/// What a request will take, as far as that can be said before.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Dollars, as far as prices are known.
    pub usd: f64,
}

/// A turn that was taken; it is given back when it is dropped before it was used.
#[derive(Debug)]
pub struct Turn {
    purse: Arc<Purse>,
    task: u64,
    used: bool,
}

/// What is held for a request that is under way; it is free again when this is dropped.
#[derive(Debug)]
pub struct Hold {
    purse: Arc<Purse>,
    task: u64,
    estimate: Estimate,
}

impl Purse {
    /// A full one.
    pub fn new(bounds: &Bounds) -> Self {
        let Bounds { turns, tokens, usd, .. } = *bounds;
        Self { turns, tokens, usd, taken: Mutex::default(), freed: Notify::new() }
    }

    /// How many dollars there are in all, if that is bounded.
    pub fn usd(&self) -> Option<f64> {
        self.usd
    }

    /// A new task begins: it is full again.
    pub fn refill(&self) {
        let mut taken = self.locked();
        *taken = Taken { task: taken.task + 1, ..Taken::default() };
        drop(taken);
        self.freed.notify_waiters();
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

    /// Holds what a request will take. As long as all that is left is held for others it waits: they may take less. So the last request
    /// may go beyond what is allowed, but only one.
    ///
    /// # Errors
    /// Nothing is left, in a sentence for the user.
    pub async fn hold(self: &Arc<Self>, estimate: Estimate) -> Result<Hold, String> {
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // Before it is looked at, so that nothing is missed.
            freed.as_mut().enable();
            if let Some(hold) = self.hold_now(estimate)? {
                return Ok(hold);
            }
            freed.await;
        }
    }

    fn hold_now(self: &Arc<Self>, estimate: Estimate) -> Result<Option<Hold>, String> {
        let mut taken = self.locked();
        self.left(&taken)?;
        let all_tokens = taken.tokens.saturating_add(taken.held.tokens);
        let all_usd = taken.usd + taken.held.usd;
        if self.tokens.is_some_and(|tokens| all_tokens >= tokens)
            || self.usd.is_some_and(|usd| all_usd >= usd)
        {
            return Ok(None);
        }
        taken.held.tokens = taken.held.tokens.saturating_add(estimate.tokens);
        taken.held.usd += estimate.usd;
        taken.holds += 1;
        Ok(Some(Hold { purse: Arc::clone(self), task: taken.task, estimate }))
    }

    /// How many tokens an answer will have: as many as those before it had.
    pub fn usual_output(&self) -> u64 {
        let Taken { output, answers, .. } = *self.locked();
        output.checked_div(answers).unwrap_or(USUAL_OUTPUT)
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

impl Hold {
    /// The request took this; the rest of what was held for it is free again.
    pub fn spent(self, usage: &Usage, usd: f64) {
        let mut taken = self.purse.locked();
        if taken.task == self.task {
            taken.tokens = taken.tokens.saturating_add(usage.total());
            taken.usd += usd;
            taken.output = taken.output.saturating_add(usage.all_output());
            taken.answers += 1;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut taken = self.purse.locked();
        if taken.task == self.task {
            taken.holds = taken.holds.saturating_sub(1);
            taken.held.tokens = taken.held.tokens.saturating_sub(self.estimate.tokens);
            taken.held.usd -= self.estimate.usd;
            if taken.holds == 0 {
                // What sums of fractions leave over must not be held for ever.
                taken.held = Estimate::default();
            }
        }
        drop(taken);
        self.purse.freed.notify_waiters();
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

    fn read(tokens: u64) -> Usage {
        Usage { input: Some(tokens), ..Usage::default() }
    }

    #[tokio::test]
    async fn what_is_spent_anywhere_counts_everywhere() {
        let nothing = Estimate::default();
        let tokens = purse(Bounds { tokens: Some(100), ..Bounds::default() });
        tokens.hold(nothing).await.unwrap().spent(&read(99), 0.0);
        assert!(tokens.turn().is_ok() && tokens.open().is_ok());
        tokens.hold(nothing).await.unwrap().spent(&read(1), 0.0);
        let over = "the task and its agents have used 100 tokens of 100 that were allowed";
        assert_eq!(tokens.turn().unwrap_err(), over);
        assert_eq!(tokens.hold(nothing).await.unwrap_err(), over);
        let usd = purse(Bounds { usd: Some(0.5), ..Bounds::default() });
        usd.hold(nothing).await.unwrap().spent(&read(0), 0.5);
        assert_eq!(
            usd.open().unwrap_err(),
            "the task and its agents have spent $0.5000 of $0.5 that were allowed"
        );
        assert!(purse(Bounds::default()).turn().is_ok());
    }

    /// Whether it is held at once.
    async fn at_once(purse: &Arc<Purse>, estimate: Estimate) -> Option<Hold> {
        tokio::select! {
            biased;
            hold = purse.hold(estimate) => hold.ok(),
            () = std::future::ready(()) => None,
        }
    }

    #[tokio::test]
    async fn what_others_may_take_is_waited_for_and_what_they_did_not_take_is_left() {
        for (bounds, estimate) in [
            (Bounds { tokens: Some(100), ..Bounds::default() }, Estimate { tokens: 60, usd: 0.0 }),
            (Bounds { usd: Some(0.1), ..Bounds::default() }, Estimate { tokens: 0, usd: 0.06 }),
        ] {
            let purse = purse(bounds);
            // Whatever it may take, the first is never refused.
            let (one, two) = (purse.hold(estimate).await.unwrap(), purse.hold(estimate).await.unwrap());
            assert!(at_once(&purse, estimate).await.is_none());
            // There was no answer: nothing was taken.
            drop(one);
            let three = at_once(&purse, estimate).await.unwrap();
            two.spent(&read(10), 0.01);
            three.spent(&read(10), 0.01);
            let four = at_once(&purse, estimate).await.unwrap();
            let mut waits = std::pin::pin!(purse.hold(estimate));
            let five = at_once(&purse, estimate).await.unwrap();
            tokio::select! {
                biased;
                _ = &mut waits => panic!("all is held"),
                () = std::future::ready(()) => {}
            }
            four.spent(&read(80), 0.08);
            five.spent(&read(0), 0.0);
            assert!(waits.await.unwrap_err().contains("that were allowed"));
            // What the task before held or takes is nothing to the next.
            purse.refill();
            let late = purse.hold(estimate).await.unwrap();
            purse.refill();
            late.spent(&read(100), 0.1);
            assert_eq!(purse.taken(), Taken { task: 2, ..Taken::default() });
        }
    }

    #[tokio::test]
    async fn answers_are_thought_to_be_as_long_as_those_before() {
        let purse = purse(Bounds::default());
        assert_eq!(purse.usual_output(), USUAL_OUTPUT);
        for output in [10, 30] {
            let usage = Usage { output: Some(output), ..read(1_000) };
            purse.hold(Estimate::default()).await.unwrap().spent(&usage, 0.0);
        }
        assert_eq!(purse.usual_output(), 20);
    }
}
