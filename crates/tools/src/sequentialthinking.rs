use std::num::NonZeroU64;
use std::sync::{Mutex, PoisonError};

use rail_tool::{
    Card, Display, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Tool, ToolCx, ToolFault,
    ToolOutput,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Thinks in steps.
pub(crate) struct SequentialThinking;

/// One thought.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SequentialThinkingInput {
    /// This step.
    thought: String,
    /// From 1.
    thought_number: NonZeroU64,
    /// A guess that may change.
    total_thoughts: NonZeroU64,
    /// Another follows.
    next_thought_needed: bool,
    /// It revises another.
    #[expect(dead_code, reason = "it is for the model; what it thinks is in the call")]
    is_revision: Option<bool>,
    /// Which.
    #[expect(dead_code, reason = "it is for the model; what it thinks is in the call")]
    revises_thought: Option<NonZeroU64>,
    /// Where it branches off.
    branch_from_thought: Option<NonZeroU64>,
    /// The branch.
    branch_id: Option<String>,
    /// More than guessed.
    #[expect(dead_code, reason = "it is for the model; what it thinks is in the call")]
    needs_more_thoughts: Option<bool>,
}

/// How far the session's thinking is. The thoughts themselves are in the conversation.
#[derive(Default)]
struct Thoughts(Mutex<Course>);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Course {
    thoughts: u64,
    /// In the order in which they began.
    branches: Vec<String>,
}

/// What the model is given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Thought {
    thought_number: u64,
    total_thoughts: u64,
    next_thought_needed: bool,
    branches: Vec<String>,
    thought_history_length: u64,
}

impl Tool for SequentialThinking {
    type Input = SequentialThinkingInput;

    const CARD: Card<'static> = Card {
        name: "sequentialthinking",
        title: "Think",
        summary: "Thinks a hard problem through in numbered steps that can be revised and branched",
        prompt: include_str!("prompts/sequentialthinking.md"),
        generation: Generation::Gen3,
        level: Level::None,
        lane: Lane::Exclusive,
        shown: Shown::Brief,
    };

    fn facets(_: &SequentialThinkingInput, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: SequentialThinkingInput, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        if input.thought.trim().is_empty() {
            return Err(ToolFault::new("‹thought› is empty: write down the step, then call this again"));
        }
        let thoughts = cx.session().services.get::<Thoughts>();
        let taken = thoughts.0.lock().unwrap_or_else(PoisonError::into_inner).take(&input);
        let text = serde_json::to_string_pretty(&taken).map_err(|error| {
            ToolFault::caused("the thought could not be told back; go on without it", error)
        })?;
        Ok(ToolOutput::text(text).shown(Display::Preview { text: input.thought, lines: 3 }))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

impl Course {
    fn take(&mut self, input: &SequentialThinkingInput) -> Thought {
        self.thoughts = self.thoughts.saturating_add(1);
        // A branch has a name and a place that it comes from; either alone says nothing.
        if let (Some(_), Some(branch)) = (input.branch_from_thought, &input.branch_id)
            && !branch.is_empty()
            && !self.branches.contains(branch)
        {
            self.branches.push(branch.clone());
        }
        let number = input.thought_number.get();
        Thought {
            thought_number: number,
            // The guess was too low where there is a later thought.
            total_thoughts: input.total_thoughts.get().max(number),
            next_thought_needed: input.next_thought_needed,
            branches: self.branches.clone(),
            thought_history_length: self.thoughts,
        }
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "A thought beyond the guess, in a branch",
        files: &[],
        read: &[],
        input: r#"{"thought": "What if the lock is taken twice?", "thoughtNumber": 4, "totalThoughts": 3, "nextThoughtNeeded": true, "branchFromThought": 2, "branchId": "locks"}"#,
        output: "{\n  \"thoughtNumber\": 4,\n  \"totalThoughts\": 4,\n  \"nextThoughtNeeded\": true,\n  \"branches\": [\n    \"locks\"\n  ],\n  \"thoughtHistoryLength\": 1\n}",
        after: &[],
    },
    Example {
        about: "Thoughts are counted from 1",
        files: &[],
        read: &[],
        input: r#"{"thought": "First", "thoughtNumber": 0, "totalThoughts": 3, "nextThoughtNeeded": true}"#,
        output: "the arguments of `sequentialthinking` do not fit: `thoughtNumber`: must be a whole number of 1 or more",
        after: &[],
    },
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thought(number: u64, total: u64, from: Option<u64>, branch: Option<&str>) -> SequentialThinkingInput {
        let at_least_one = |number: u64| NonZeroU64::new(number).unwrap();
        SequentialThinkingInput {
            thought: "x".to_owned(),
            thought_number: at_least_one(number),
            total_thoughts: at_least_one(total),
            next_thought_needed: true,
            is_revision: None,
            revises_thought: None,
            branch_from_thought: from.map(at_least_one),
            branch_id: branch.map(str::to_owned),
            needs_more_thoughts: None,
        }
    }

    proptest! {
        #[test]
        fn numbers_never_go_astray(
            steps in prop::collection::vec(
                (1_u64.., 1_u64.., prop::option::of(1_u64..), prop::option::of("[ab]{0,2}")), 0..20,
            )
        ) {
            let mut course = Course::default();
            for (nth, (number, total, from, branch)) in (1_u64..).zip(&steps) {
                let before = course.branches.clone();
                let taken = course.take(&thought(*number, *total, *from, branch.as_deref()));
                prop_assert_eq!(taken.thought_number, *number);
                prop_assert_eq!(taken.total_thoughts, *number.max(total));
                prop_assert_eq!(taken.thought_history_length, nth);
                // Branches only come, at the end, and each once.
                prop_assert!(taken.branches.starts_with(&before));
                let mut names = taken.branches.clone();
                names.sort();
                names.dedup();
                prop_assert_eq!(names.len(), taken.branches.len());
                let named = from.is_some() && branch.as_ref().is_some_and(|branch| !branch.is_empty());
                prop_assert_eq!(
                    taken.branches.len() > before.len(),
                    named && branch.as_ref().is_some_and(|branch| !before.contains(branch))
                );
            }
        }
    }
}
