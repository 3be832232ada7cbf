//! The end of a conversation that stays as it is.

use rail_model::Message;
use rail_route::estimate_message;

use super::account::Images;
use super::bound::bound_results;
use super::steps::{boundaries, is_users};

/// What the end of a conversation may be at most.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) tokens: u64,
    pub(super) images: Images,
}

/// The end of a conversation.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tail {
    /// The first message that it stands for.
    pub(super) from: usize,
    pub(super) messages: Vec<Message>,
}

/// The longest end that fits, from `earliest` on, where no call is parted from its result. When not even the last step fits, its
/// results are cut; when that does not help either, the tail is empty.
pub(super) fn tail(messages: &[Message], earliest: usize, room: Room) -> Tail {
    let whole = boundaries(messages);
    let mut from = messages.len();
    let (mut tokens, mut images) = (0_u64, Images::default());
    for (at, message) in messages.iter().enumerate().rev() {
        tokens = tokens.saturating_add(estimate_message(message));
        images = images.and(Images::of(&message.parts));
        if at < earliest || tokens > room.tokens || !images.within(room.images) {
            break;
        }
        if whole.get(at) == Some(&true) {
            from = at;
        }
    }
    let kept = |from: usize| messages.get(from..).unwrap_or_default();
    if from < messages.len() {
        return Tail { from, messages: kept(from).to_vec() };
    }
    let from = whole.iter().take(messages.len()).rposition(|at| *at).unwrap_or(messages.len());
    let step = kept(from);
    let bounded =
        if step.iter().any(is_users) { None } else { bound_results(step, room.tokens, room.images) };
    let fits = |step: &Vec<Message>| all_images(step).within(room.images);
    match bounded.filter(fits) {
        Some(messages) => Tail { from, messages },
        None => Tail { from: messages.len(), messages: Vec::new() },
    }
}

/// All images of these messages.
pub(super) fn all_images(messages: &[Message]) -> Images {
    messages.iter().map(|message| Images::of(&message.parts)).fold(Images::default(), Images::and)
}

/// All tokens of these messages, by our own estimate.
pub(super) fn all_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(estimate_message).fold(0, u64::saturating_add)
}
