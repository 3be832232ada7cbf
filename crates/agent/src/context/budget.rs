use super::account::{Account, Images};

/// A share of something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Percent(pub u64);

impl Percent {
    /// This share of an amount.
    pub fn of(self, amount: u64) -> u64 {
        (u128::from(amount) * u128::from(self.0) / 100).try_into().unwrap_or(u64::MAX)
    }
}

/// What the window of the model that would serve allows, and when something is done about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Budget {
    /// Tokens of the window.
    pub limit: u64,
    /// Tokens of it that the answer needs.
    pub reserve_output: u64,
    /// The most images that a request may have.
    pub images: Images,
    /// Old outputs are trimmed when the room is used to this share.
    pub trim_at: Percent,
    /// A model is asked to summarise when the room is used to this share.
    pub compact_at: Percent,
    /// The least share of the room that trimming must free: the provider's cache is lost each time.
    pub free_at_least: Percent,
    /// Steps at the end (an answer with its calls and their results) that trimming leaves alone.
    pub tail_steps: usize,
    /// Estimated tokens of instructions and tools.
    pub fixed: u64,
    /// Tokens that the model counts for one that is estimated.
    pub factor: f64,
}

impl Budget {
    /// The usual shares: trim at 80 %, compact at 90 %, free 25 %, leave 4 steps alone; at most 100 images of 30 MB together.
    pub fn new(limit: u64, reserve_output: u64) -> Self {
        Self {
            limit,
            reserve_output,
            images: Images { count: 100, bytes: 30_000_000, pixels: u64::MAX },
            trim_at: Percent(80),
            compact_at: Percent(90),
            free_at_least: Percent(25),
            tail_steps: 4,
            fixed: 0,
            factor: 1.0,
        }
    }

    /// The same behind instructions and tools of so many estimated tokens, for a model that counts `factor` for each of them.
    #[must_use]
    pub fn behind(self, fixed: u64, factor: f64) -> Self {
        Self { fixed, factor, ..self }
    }

    /// The tokens of input that the model takes, as it counts them.
    pub fn input(&self) -> u64 {
        self.limit.saturating_sub(self.reserve_output)
    }

    /// The room for messages, in estimated tokens.
    pub fn room(&self) -> u64 {
        self.room_to(Percent(100))
    }

    /// The room for messages until the input is used to this share, in estimated tokens.
    pub fn room_to(&self, share: Percent) -> u64 {
        // A report that makes no sense must not make a window of no or of any size.
        let factor = if self.factor.is_finite() { self.factor.clamp(0.25, 4.0) } else { 1.0 };
        let all = (share.of(self.input()) as f64 / factor).floor() as u64;
        all.saturating_sub(self.fixed)
    }
}

/// What was already done for the request that is to go out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tried {
    /// Nothing.
    #[default]
    Nothing,
    /// Old outputs were trimmed, or there were not enough of them.
    Trim,
    /// A model was asked to summarise, whether it could or not.
    Compaction,
}

/// What is due before the next request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Nothing: send it.
    Go,
    /// [`trim`](super::trim); if it has nothing, ask again.
    Trim,
    /// [`plan`](super::plan) a summary.
    Compact,
    /// [`truncate`](super::truncate), and then send it: nothing more can be done.
    Truncate,
}

/// What is due before the next request. Each answer but `Go` is done, and then this is asked again with what was tried.
pub fn next(account: &Account, budget: &Budget, tried: Tried) -> Next {
    let (used, input) = (account.total(), budget.input());
    let images_fit = account.images().within(budget.images);
    let over = |share: Percent| used >= share.of(input).max(1) || !images_fit;
    match tried {
        Tried::Nothing if over(budget.trim_at) => Next::Trim,
        Tried::Trim if over(budget.compact_at) => Next::Compact,
        Tried::Compaction if over(budget.compact_at) => Next::Truncate,
        Tried::Nothing | Tried::Trim | Tried::Compaction => Next::Go,
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{Message, Part, Role};

    use super::*;

    fn account(tokens: u64) -> Account {
        let mut account = Account::new(tokens - 5);
        account.push(&Message::new(Role::User, vec![Part::text("a")]));
        assert_eq!(account.total(), tokens);
        account
    }

    #[test]
    fn what_is_due_depends_on_how_full_it_is_and_on_what_was_tried() {
        use Next::{Compact, Go, Trim, Truncate};
        let budget = Budget::new(1100, 100);
        for (tokens, due) in [
            (799, [Go, Go, Go]),
            (800, [Trim, Go, Go]),
            (899, [Trim, Go, Go]),
            (900, [Trim, Compact, Truncate]),
            (5000, [Trim, Compact, Truncate]),
        ] {
            let found = [Tried::Nothing, Tried::Trim, Tried::Compaction]
                .map(|tried| next(&account(tokens), &budget, tried));
            assert_eq!(found, due, "{tokens}");
        }
        let blind = Budget { images: Images::default(), ..budget };
        assert_eq!(next(&account(10), &blind, Tried::Nothing), Go);
    }

    #[test]
    fn the_room_is_what_is_left_for_messages() {
        for (limit, reserve, fixed, factor, room) in [
            (1000, 100, 0, 1.0, 900),
            (1000, 100, 50, 1.5, 550),
            (1000, 2000, 0, 1.0, 0),
            (1000, 0, 5000, 1.0, 0),
            (1000, 0, 0, f64::NAN, 1000),
        ] {
            assert_eq!(Budget::new(limit, reserve).behind(fixed, factor).room(), room);
        }
    }
}
