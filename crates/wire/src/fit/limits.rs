//! Numbers within the target's limits.

use rail_model::ThinkingMode;

use super::Work;
use super::losses::Place;
use super::seals::switch_off;

/// Clamps the output limit and keeps the thinking budget below it.
pub(super) fn settle(work: &mut Work<'_>) {
    if let (Some(asked), Some(most)) = (work.request.sampling.max_output, work.target.max_output)
        && asked > most
    {
        work.request.sampling.max_output = Some(most);
        work.losses.add(
            Place::Request,
            "max_output",
            format!("{asked} is more than the target gives; asked for {most}"),
        );
    }
    if let Some(least) = work.rules.budget_min {
        settle_budget(work, least);
    }
}

/// Raises the output limit above the budget if the target allows it, otherwise lowers the budget.
fn settle_budget(work: &mut Work<'_>, least: u64) {
    let most = work.target.max_output.unwrap_or(u64::MAX);
    let Some(thinking) = &mut work.request.thinking else { return };
    let Some(asked) = thinking.budget.filter(|_| thinking.mode != Some(ThinkingMode::Off)) else { return };
    let output = work.request.sampling.max_output.unwrap_or(work.target.default_max_output).min(most);
    let budget = asked.max(least);
    let wanted = if budget < output { output } else { budget.saturating_add(output).min(most) };
    if wanted > output {
        work.request.sampling.max_output = Some(wanted);
        work.losses.add(
            Place::Request,
            "max_output",
            format!("raised to {wanted}, above the thinking budget"),
        );
    }
    // A quarter of what there is stays for the answer.
    let budget = if budget < wanted { budget } else { wanted - wanted / 4 };
    if budget < least || budget >= wanted {
        switch_off(thinking);
        work.losses.add(
            Place::Request,
            "thinking",
            format!("off: {wanted} tokens of output leave no room for it"),
        );
    } else if budget != asked {
        thinking.budget = Some(budget);
        work.losses.add(
            Place::Request,
            "thinking.budget",
            format!("{asked} became {budget} to fit the target"),
        );
    }
}
