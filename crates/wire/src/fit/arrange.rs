//! Puts the results of a turn where the target expects them.

use std::collections::{BTreeMap, BTreeSet};

use rail_model::{Extras, Part, PartBody, Role, ToolResult};

use super::Work;
use super::losses::Place;
use super::media;
use super::pairing::{Answer, Answered, Call, Group};
use super::rules::Results;
use super::turns::{Piece, Turn};

/// What a result says that never came.
const INTERRUPTED: &str = "The call was interrupted and has no result.";

/// Appends a group to the turns: as it is where that is valid, otherwise with its results in place.
pub(super) fn arrange(work: &mut Work<'_>, calls: &mut [Call], mut group: Group) {
    let calls = calls.get_mut(group.calls.clone()).unwrap_or_default();
    if is_in_place(work, calls, &group) {
        work.turns.append(&mut group.said);
        work.turns.append(&mut group.run);
        return;
    }
    let (mut found, mut rest) = take_results(group.run);
    let mut answers: Vec<Answered> =
        calls.iter_mut().filter_map(|call| answer(work, call, &mut found)).collect();
    // Answers to calls we can't see, or of an earlier turn where that is allowed.
    answers.extend(found.into_values());
    let mut shown = Vec::new();
    for answered in &mut answers {
        shown.append(&mut show(&mut answered.piece));
    }
    if !(rest.is_empty() && answers.is_empty()) {
        group
            .said
            .iter_mut()
            .flat_map(|turn| &mut turn.pieces)
            .for_each(|piece| shown.append(&mut show(piece)));
    }
    work.turns.append(&mut group.said);
    match work.rules.results {
        Results::InUserMessage => {
            let mut pieces: Vec<Piece> = answers.into_iter().map(|answered| answered.piece).collect();
            pieces.append(&mut shown);
            lead(&mut rest, pieces);
        }
        Results::OwnMessages => {
            work.turns.extend(answers.into_iter().map(own_message));
            lead(&mut rest, shown);
        }
    }
    work.turns.append(&mut rest);
}

/// Whether nothing has to move. The protocol's own clients may answer in any order.
fn is_in_place(work: &Work<'_>, calls: &[Call], group: &Group) -> bool {
    let turns = || group.said.iter().chain(&group.run);
    if turns().flat_map(|turn| &turn.pieces).any(|piece| !piece.aside.is_empty()) {
        return false;
    }
    if work.own && work.rules.results_anywhere {
        let stand = group.run.iter().all(|turn| stands(work, turn));
        return stand && !calls.iter().any(|call| matches!(call.answer, Answer::Missing));
    }
    let wanted: Vec<&str> =
        calls.iter().filter(|call| needs_answer(call)).map(|call| call.id.as_str()).collect();
    let mut found = Vec::new();
    let mut over = false;
    for turn in group.run.iter().filter(|turn| !turn.pieces.is_empty()) {
        let before = found.len();
        found.extend(turn.pieces.iter().filter_map(result_id));
        if !stands(work, turn) || (over && found.len() > before) {
            return false;
        }
        over |= found.len() - before < turn.pieces.len();
    }
    // What else was found answers calls that we can't read or see.
    let ours: BTreeSet<&str> = wanted.iter().copied().collect();
    found.retain(|id| ours.contains(id));
    if work.own { found.len() == wanted.len() } else { found == wanted }
}

/// Whether a message may hold its results as it does.
fn stands(work: &Work<'_>, turn: &Turn) -> bool {
    let results = turn.pieces.iter().filter(|piece| piece.is_result()).count();
    let leading = turn.pieces.iter().take_while(|piece| piece.is_result()).count();
    match (work.rules.results, turn.role) {
        (Results::InUserMessage, Role::User) => leading == results,
        // A message with a role of its own for results, in the protocol that knows it.
        (Results::InUserMessage, Role::Tool) => work.own && results == turn.pieces.len(),
        (Results::OwnMessages, Role::Tool) => {
            turn.pieces.is_empty() || (results == 1 && turn.pieces.len() == 1)
        }
        (Results::OwnMessages, Role::User) | (_, Role::System | Role::Assistant) => results == 0,
    }
}

fn needs_answer(call: &Call) -> bool {
    match call.answer {
        Answer::Unneeded => false,
        Answer::Missing | Answer::Here | Answer::Moved(_) => true,
    }
}

fn result_id(piece: &Piece) -> Option<&str> {
    if let PartBody::ToolResult(result) = &piece.part.body { Some(result.id.as_str()) } else { None }
}

/// Takes the results out of the messages after a turn, in the order found; what else was said stays.
fn take_results(run: Vec<Turn>) -> (Found, Vec<Turn>) {
    let mut found = Found::default();
    let mut rest = Vec::new();
    for mut turn in run {
        let alone = turn.role == Role::Tool && turn.pieces.len() == 1;
        let (results, others): (Vec<_>, _) =
            std::mem::take(&mut turn.pieces).into_iter().partition(Piece::is_result);
        turn.pieces = others;
        let own = if alone { std::mem::take(&mut turn.extras) } else { Extras::NONE };
        for piece in results {
            found.push(Answered { piece, extras: own.clone() });
        }
        if turn.role == Role::Tool {
            if turn.pieces.is_empty() {
                continue;
            }
            (turn.role, turn.extras) = (Role::User, Extras::NONE);
        }
        rest.push(turn);
    }
    (found, rest)
}

/// Results by id, in the order found.
#[derive(Default)]
struct Found {
    by_id: BTreeMap<String, usize>,
    slots: Vec<Option<Answered>>,
}

impl Found {
    fn push(&mut self, answered: Answered) {
        if let Some(id) = result_id(&answered.piece) {
            self.by_id.insert(id.to_owned(), self.slots.len());
            self.slots.push(Some(answered));
        }
    }

    fn take(&mut self, id: &str) -> Option<Answered> {
        self.slots.get_mut(*self.by_id.get(id)?)?.take()
    }

    fn into_values(self) -> impl Iterator<Item = Answered> {
        self.slots.into_iter().flatten()
    }
}

/// A call's result: found, moved up or made up. None when it needs none here.
fn answer(work: &mut Work<'_>, call: &mut Call, found: &mut Found) -> Option<Answered> {
    match std::mem::replace(&mut call.answer, Answer::Unneeded) {
        Answer::Unneeded => None,
        Answer::Here => found.take(call.id.as_str()),
        Answer::Moved(answered) => Some(*answered),
        Answer::Missing => {
            work.losses.add(call.place, "", "a call without a result; one that says so was added");
            let result = ToolResult {
                id: call.id.clone(),
                name: work.rules.results_named.then(|| call.name.clone()),
                content: vec![Part::text(INTERRUPTED)],
                is_error: work.rules.error_results.then_some(true),
                kind: call.kind,
            };
            let piece = Piece::new(Place::Ours, Part::new(PartBody::ToolResult(result)));
            Some(Answered { piece, extras: Extras::NONE })
        }
    }
}

/// The media that a piece could not hold, each led by a text that says whose it is.
fn show(piece: &mut Piece) -> Vec<Piece> {
    let place = piece.place;
    let whose = match result_id(piece) {
        Some(id) => format!("of the result of tool call `{id}`"),
        None => "of the assistant's message above".to_owned(),
    };
    let mut pieces = Vec::new();
    for part in std::mem::take(&mut piece.aside) {
        if let PartBody::Media(media) = &part.body {
            pieces.push(Piece::text(format!("[{} {whose}:]", media::word(media.kind))));
        }
        pieces.push(Piece::new(place, part));
    }
    pieces
}

fn own_message(answered: Answered) -> Turn {
    Turn { extras: answered.extras, ..Turn::new(Role::Tool, vec![answered.piece]) }
}

/// Puts pieces at the head of the user message that comes first, or in one of their own.
fn lead(rest: &mut Vec<Turn>, pieces: Vec<Piece>) {
    if pieces.is_empty() {
        return;
    }
    match rest.first_mut() {
        Some(turn) if turn.role == Role::User => turn.prepend(pieces),
        Some(_) | None => rest.insert(0, Turn::new(Role::User, pieces)),
    }
}
