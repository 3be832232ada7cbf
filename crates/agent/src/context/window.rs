use rail_model::{Message, Part, Role};

use super::plan::CompactionPlan;
use super::steps::noted;
use super::summary::Summary;
use super::truncate::truncate;

const INTRODUCTION: &str = "The conversation so far was summarised for want of room. What follows are the user's messages from \
                            before, as they were said, and then the last steps as they were. Go on from there.";

/// The conversation to go on with: the summary as a message of the user that is marked as ours, what the user said, and the tail.
pub fn window(summary: &Summary, plan: &CompactionPlan) -> Vec<Message> {
    let left_out = match plan.left_out {
        0 => String::new(),
        count => format!(" {count} older messages of the user are in the summary only."),
    };
    let text = noted(&format!("{INTRODUCTION}{left_out}\n\n{}", summary.text()));
    let first = Message::new(Role::User, vec![Part::text(text)]);
    let users = plan.users.iter().cloned();
    let all: Vec<Message> = [first].into_iter().chain(users).chain(plan.tail.iter().cloned()).collect();
    // The shares leave room; only a window that hardly holds the words around them is too small for all three.
    truncate(&all, &plan.budget)
}
