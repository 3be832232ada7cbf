//! Messages on the bench, and what the order of turns must keep.

use rail_model::{Extras, Message, Part, PartBody, Role};

use super::Work;
use super::losses::Place;

/// A message on the bench.
pub(super) struct Turn {
    pub(super) place: Place,
    pub(super) role: Role,
    pub(super) pieces: Vec<Piece>,
    pub(super) extras: Extras,
    /// It had no parts when it came in.
    pub(super) came_empty: bool,
}

/// A part that knows where it came from, so that it can be named after it has moved.
pub(super) struct Piece {
    pub(super) place: Place,
    pub(super) part: Part,
    /// Media that stood inside and must be shown in the user message that follows.
    pub(super) aside: Vec<Part>,
}

impl Piece {
    /// A part that keeps the place of what it stands for.
    pub(super) fn new(place: Place, part: Part) -> Self {
        Self { place, part, aside: Vec::new() }
    }

    /// A text of our own.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::new(Place::Ours, Part::text(text))
    }

    /// Whether it is a tool's result.
    pub(super) fn is_result(&self) -> bool {
        matches!(self.part.body, PartBody::ToolResult(_))
    }
}

impl Turn {
    /// A message of our own.
    pub(super) fn new(role: Role, pieces: Vec<Piece>) -> Self {
        Self { place: Place::Ours, role, pieces, extras: Extras::NONE, came_empty: false }
    }

    /// The message again.
    pub(super) fn close(self) -> Message {
        let parts = self.pieces.into_iter().map(|piece| piece.part).collect();
        Message { role: self.role, parts, extras: self.extras }
    }

    /// Puts pieces before what is said.
    pub(super) fn prepend(&mut self, mut pieces: Vec<Piece>) {
        pieces.append(&mut self.pieces);
        self.pieces = pieces;
    }
}

const EMPTY: &str = "[empty message]";
const BEGIN: &str = "[the conversation begins with the assistant's words]";
const CONTINUE: &str = "Continue.";

/// Instructions in mid-conversation become marked user text, in place: hoisting them would cost the cached prefix.
pub(super) fn lower_midway_system(work: &mut Work<'_>) {
    if work.rules.system_midway {
        return;
    }
    let mut pending = Vec::new();
    for mut turn in std::mem::take(&mut work.turns) {
        match turn.role {
            Role::System => {
                if !turn.pieces.is_empty() {
                    work.losses.add(
                        turn.place,
                        "role",
                        "instructions in mid-conversation, sent as marked user text",
                    );
                }
                pending.extend(turn.pieces.into_iter().map(reminder));
                continue;
            }
            Role::User => turn.prepend(std::mem::take(&mut pending)),
            Role::Assistant | Role::Tool => flush(&mut pending, &mut work.turns),
        }
        work.turns.push(turn);
    }
    flush(&mut pending, &mut work.turns);
}

fn flush(pending: &mut Vec<Piece>, turns: &mut Vec<Turn>) {
    if !pending.is_empty() {
        turns.push(Turn::new(Role::User, std::mem::take(pending)));
    }
}

fn reminder(mut piece: Piece) -> Piece {
    if let PartBody::Text(text) = &piece.part.body {
        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
        piece.part = Part { cache: piece.part.cache, ..Part::text(text) };
    }
    piece
}

/// Drops messages with nothing in them. A user message stays, with a note, where without it nobody would speak for the user.
pub(super) fn settle_empty(work: &mut Work<'_>) {
    let keeps_blanks = work.keeps_blanks();
    let bare = |turn: &Turn| keeps_blanks && turn.came_empty && turn.role != Role::Tool;
    let stays = |turn: &Turn| !turn.pieces.is_empty() || bare(turn);
    let turns = std::mem::take(&mut work.turns);
    let mut user_next = vec![false; turns.len()];
    let mut next = false;
    for (turn, slot) in turns.iter().zip(&mut user_next).rev() {
        *slot = next;
        if stays(turn) {
            next = speaks_for_user(turn);
        }
    }
    for (mut turn, user_next) in turns.into_iter().zip(user_next) {
        if !stays(&turn) {
            let spoken = user_next || work.turns.last().is_some_and(speaks_for_user);
            if turn.role != Role::User || spoken {
                continue;
            }
            work.losses.add(turn.place, "", "nothing is left of this message but a note");
            turn.pieces.push(Piece::text(EMPTY));
        }
        work.turns.push(turn);
    }
}

fn speaks_for_user(turn: &Turn) -> bool {
    match turn.role {
        Role::User | Role::Tool => true,
        Role::Assistant | Role::System => false,
    }
}

/// Trims the assistant's last words where a conversation can't end with them; if nobody else spoke, the user asks for more.
pub(super) fn trim_prefill(work: &mut Work<'_>) {
    if work.rules.prefill {
        return;
    }
    let ends_with_assistant = |turns: &[Turn]| turns.last().is_some_and(|turn| turn.role == Role::Assistant);
    if !work.turns.iter().any(speaks_for_user) && ends_with_assistant(&work.turns) {
        work.turns.push(Turn::new(Role::User, vec![Piece::text(CONTINUE)]));
    }
    while ends_with_assistant(&work.turns) {
        let Some(turn) = work.turns.pop() else { return };
        work.losses.add(
            turn.place,
            "",
            "the conversation can't end with the assistant's words here; left out",
        );
    }
}

/// Puts a short user message before a conversation that the assistant begins. A client that begins so in its own
/// protocol knows what it does (a compacted history begins with the assistant's summary).
pub(super) fn begin_with_user(work: &mut Work<'_>) {
    if !work.rules.user_first || work.own {
        return;
    }
    let first = work.turns.iter().position(|turn| turn.role != Role::System);
    let role = first.and_then(|at| work.turns.get(at)).map(|turn| turn.role);
    if role != Some(Role::User) {
        let text = if role.is_some() { BEGIN } else { EMPTY };
        work.turns.insert(first.unwrap_or(work.turns.len()), Turn::new(Role::User, vec![Piece::text(text)]));
    }
}
