use rail_model::{Message, Part, Role};
use rail_route::estimate_message;

use super::account::Images;
use super::bound::bound_parts;
use super::budget::{Budget, Percent};
use super::steps::{newest_users, noted};
use super::tail::{Room, Tail, all_images, all_tokens, tail as longest};

/// What is kept of the room, so that it is not needed again soon.
const KEPT: Percent = Percent(50);

/// What stands in the place of what is gone.
const NOTICE: &str = "What was said before this point is no longer shown, for want of room. Look again at files that matter before you \
                      change them, and ask if something is missing.";

/// The end of the conversation and the newest message of the user, without any model: always works and always fits.
///
/// What is below the mark at which a conversation is compacted comes back as it is. Otherwise half of the room is filled: a note
/// that something is missing, the newest message of the user (cut in the middle if it is too long by itself) and the longest end
/// that does not part a call from its result.
pub fn truncate(messages: &[Message], budget: &Budget) -> Vec<Message> {
    if fits(messages, budget) {
        return messages.to_vec();
    }
    let target = KEPT.of(budget.room_to(budget.compact_at));
    let note = Message::new(Role::User, vec![Part::text(noted(NOTICE))]);
    // In a tiny window, the user's words come first.
    let note = Some(note).filter(|note| estimate_message(note) <= target / 4);
    let newest = newest_users(messages);
    let room = target.saturating_sub(note.as_ref().map_or(0, estimate_message));
    let whole = Room { tokens: room, images: budget.images };
    let with_user = longest(messages, 0, whole);
    let (user, tail) = match newest.and_then(|at| Some((at, messages.get(at)?))) {
        Some((at, user)) if at < with_user.from => {
            let user = bound_user(user, Room { tokens: room / 2, images: budget.images });
            let left = Room {
                tokens: room.saturating_sub(estimate_message(&user)),
                images: budget.images.without(Images::of(&user.parts)),
            };
            (Some(user), longest(messages, at + 1, left))
        }
        Some(_) | None => (None, with_user),
    };
    let Tail { messages: tail, .. } = tail;
    note.into_iter().chain(user).chain(tail).collect()
}

/// Whether nothing has to go.
fn fits(messages: &[Message], budget: &Budget) -> bool {
    all_tokens(messages) < budget.room_to(budget.compact_at).max(1)
        && all_images(messages).within(budget.images)
}

/// A message of the user that is no larger than this; there is always something left of it.
pub(super) fn bound_user(message: &Message, room: Room) -> Message {
    let frame = estimate_message(&Message::new(Role::User, Vec::new()));
    let mut parts = bound_parts(message.parts.clone(), room.tokens.saturating_sub(frame), room.images);
    if parts.is_empty() {
        parts.push(Part::text("[…]"));
    }
    Message { parts, ..message.clone() }
}
