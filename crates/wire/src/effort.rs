//! How hard to think, in tokens or in a word: what one protocol says in the one, another takes only in the other.

use rail_model::{Effort, Loss, Thinking};

/// How hard to think where only a word can say it. A budget becomes the word that stands for it, and that is named.
pub(crate) fn word(asked: &Thinking, losses: &mut Vec<Loss>) -> Option<Effort> {
    let Some(budget) = asked.budget else { return asked.effort.clone() };
    let (effort, became) = match &asked.effort {
        Some(effort) => (effort.clone(), "gave way to"),
        None => (effort_of(budget), "became"),
    };
    let reason = format!("only an effort can be said here; {budget} tokens {became} `{}`", effort.word());
    losses.push(Loss::new("thinking.budget", reason));
    Some(effort)
}

/// How hard to think where only tokens can say it. An effort becomes the budget that stands for it, and that is named.
pub(crate) fn tokens(asked: &Thinking, losses: &mut Vec<Loss>) -> Option<u64> {
    let Some(effort) = &asked.effort else { return asked.budget };
    let (budget, became) = match asked.budget {
        Some(budget) => (budget, "gave way to"),
        None => (budget_of(effort), "became"),
    };
    let reason = format!("only a budget can be said here; `{}` {became} {budget} tokens", effort.word());
    losses.push(Loss::new("thinking.effort", reason));
    Some(budget)
}

/// Names an effort that is said in another word.
pub(crate) fn renamed(asked: &Effort, said: &str, losses: &mut Vec<Loss>) {
    if !asked.word().eq_ignore_ascii_case(said) {
        let reason = format!("there is no `{}` here; it became `{said}`", asked.word());
        losses.push(Loss::new("thinking.effort", reason));
    }
}

/// The budget for a model that is to think and was not told how much.
pub(crate) const USUAL_BUDGET: u64 = 8192;

fn effort_of(budget: u64) -> Effort {
    match budget {
        0 => Effort::None,
        1..=1024 => Effort::Low,
        1025..=8192 => Effort::Medium,
        8193.. => Effort::High,
    }
}

fn budget_of(effort: &Effort) -> u64 {
    match effort {
        Effort::None => 0,
        Effort::Minimal => 512,
        Effort::Low => 1024,
        Effort::Medium | Effort::Other(_) => USUAL_BUDGET,
        Effort::High => 24_576,
        Effort::XHigh | Effort::Max => 32_768,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_value_is_named() {
        let asked =
            |budget: Option<u64>, effort: Option<Effort>| Thinking { budget, effort, ..Thinking::default() };
        let mut losses = Vec::new();
        assert_eq!(word(&asked(Some(2048), None), &mut losses), Some(Effort::Medium));
        assert_eq!(word(&asked(Some(512), Some(Effort::High)), &mut losses), Some(Effort::High));
        assert_eq!(tokens(&asked(None, Some(Effort::Low)), &mut losses), Some(1024));
        assert_eq!(tokens(&asked(Some(7), Some(Effort::Max)), &mut losses), Some(7));
        renamed(&Effort::Max, "HIGH", &mut losses);
        let losses: Vec<String> =
            losses.into_iter().map(|loss| format!("{}: {}", loss.path, loss.reason)).collect();
        assert_eq!(
            losses,
            [
                "thinking.budget: only an effort can be said here; 2048 tokens became `medium`",
                "thinking.budget: only an effort can be said here; 512 tokens gave way to `high`",
                "thinking.effort: only a budget can be said here; `low` became 1024 tokens",
                "thinking.effort: only a budget can be said here; `max` gave way to 7 tokens",
                "thinking.effort: there is no `max` here; it became `HIGH`",
            ]
        );
    }

    #[test]
    fn a_value_that_can_be_said_is_no_loss() {
        let mut losses = Vec::new();
        let effort = Thinking { effort: Some(Effort::XHigh), ..Thinking::default() };
        assert_eq!(word(&effort, &mut losses), Some(Effort::XHigh));
        let budget = Thinking { budget: Some(9), ..Thinking::default() };
        assert_eq!(tokens(&budget, &mut losses), Some(9));
        assert_eq!(
            (word(&Thinking::default(), &mut losses), tokens(&Thinking::default(), &mut losses)),
            (None, None)
        );
        renamed(&Effort::High, "HIGH", &mut losses);
        assert_eq!(losses, []);
    }
}
