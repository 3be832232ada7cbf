//! Every call has one result and every result a call, under ids that the target accepts.
//!
//! One pass finds for each result the call it answers; `arrange` then puts each turn's results where they belong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use rail_model::{CallId, CallKind, Extras, Part, PartBody, Role, ToolResult};
use serde_json::Value;

use super::Work;
use super::arrange::arrange;
use super::losses::Place;
use super::rules::Rules;
use super::turns::{Piece, Turn};
use crate::ids;

/// What the assistant said in one turn, and what followed up to its next.
#[derive(Default)]
pub(super) struct Group {
    pub(super) said: Vec<Turn>,
    pub(super) run: Vec<Turn>,
    pub(super) calls: Range<usize>,
}

/// A call of the conversation.
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) kind: CallKind,
    pub(super) place: Place,
    pub(super) answer: Answer,
}

/// Where a call's result is.
pub(super) enum Answer {
    /// There is none.
    Missing,
    /// In the run after the call, or later where that is allowed.
    Here,
    /// Found later and taken out, to be moved up.
    Moved(Box<Answered>),
    /// The call had no name and went out as text, so it needs none.
    Unneeded,
}

/// A result off its place, with the extras of the message it was alone in.
pub(super) struct Answered {
    pub(super) piece: Piece,
    pub(super) extras: Extras,
}

/// Pairs calls and results, and puts the results where the target expects them.
pub(super) fn pair(work: &mut Work<'_>) {
    let mut calls = Calls { hidden: keeps_history(work), ..Calls::default() };
    let may_point = work.own && !work.rules.stored_history.is_empty();
    let mut groups = split(work);
    for group in &mut groups {
        calls.next_group();
        // Only for what follows: a later part can't stand for the call, and may yet be cut off with the assistant's
        // last words.
        calls.hidden |= may_point && group.has_opaque();
        let from = calls.list.len();
        let strays = scan_said(work, &mut calls, &mut group.said);
        if !strays.is_empty() {
            group.run.insert(0, Turn::new(Role::Tool, strays));
        }
        group.calls = from..calls.list.len();
        for turn in &mut group.run {
            scan_run(work, &mut calls, group.calls.start, turn);
        }
    }
    for group in groups {
        arrange(work, &mut calls.list, group);
    }
}

impl Group {
    fn has_opaque(&self) -> bool {
        let mut pieces = self.said.iter().chain(&self.run).flat_map(|turn| &turn.pieces);
        pieces.any(|piece| matches!(piece.part.body, PartBody::Opaque(_)))
    }
}

/// Whether the server keeps earlier messages, so that results may answer calls that are not in the request.
fn keeps_history(work: &Work<'_>) -> bool {
    let Work { request, rules, .. } = work;
    let stored =
        |key: &&str| request.extras.get(rules.protocol, key).is_some_and(|value| *value != Value::Null);
    work.own && rules.stored_history.iter().any(stored)
}

/// The ids by which a result could name a part that we have no word for.
fn opaque_ids(part: &Part) -> impl Iterator<Item = &str> {
    let value = if let PartBody::Opaque(opaque) = &part.body { Some(&opaque.value) } else { None };
    ["id", "call_id"].into_iter().filter_map(move |key| value?.get(key)?.as_str())
}

/// Cuts the conversation before each turn of the assistant. One that says nothing is dropped, so it parts nothing; nor
/// does one that holds only results, of which nothing is left when they are taken out.
fn split(work: &mut Work<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut group = Group::default();
    for turn in std::mem::take(&mut work.turns) {
        if turn.role != Role::Assistant {
            group.run.push(turn);
            continue;
        }
        if turn.pieces.is_empty() && !(turn.came_empty && work.keeps_blanks()) {
            continue;
        }
        if !turn.pieces.is_empty() && turn.pieces.iter().all(Piece::is_result) {
            group.run.push(Turn::new(Role::Tool, turn.pieces));
            continue;
        }
        let joins = group.said.is_empty() || work.rules.joined_turns;
        if !(joins && group.run.is_empty()) {
            groups.push(std::mem::take(&mut group));
        }
        group.said.push(turn);
    }
    groups.push(group);
    groups
}

/// Registers the calls of a turn and gives them their ids; results that stand here are taken out.
fn scan_said(work: &mut Work<'_>, calls: &mut Calls, said: &mut [Turn]) -> Vec<Piece> {
    let mut strays = Vec::new();
    for turn in said {
        let (results, others) = std::mem::take(&mut turn.pieces).into_iter().partition(Piece::is_result);
        strays.extend::<Vec<_>>(results);
        turn.pieces = others;
        for piece in &mut turn.pieces {
            calls.unread.extend(opaque_ids(&piece.part).map(str::to_owned));
            let PartBody::ToolCall(call) = &mut piece.part.body else { continue };
            let id = calls.fresh_id(&call.id, work.rules);
            if id != call.id {
                work.losses.once(
                    piece.place,
                    "id",
                    format!("{} takes no such id; sent as another", work.rules.protocol),
                );
            }
            let original = std::mem::replace(&mut call.id, id.clone());
            let nameless = call.name.trim().is_empty();
            let answer = if nameless { Answer::Unneeded } else { Answer::Missing };
            let known = Call { id, name: call.name.clone(), kind: call.kind, place: piece.place, answer };
            calls.register(&original, known);
            if nameless {
                work.losses.add(piece.place, "", "a call without a tool's name; sent as text");
                piece.part = Part::text(format!("[call without a tool's name: {}]", call.arguments));
            }
        }
    }
    strays
}

/// Finds for each result of a message the call it answers.
fn scan_run(work: &mut Work<'_>, calls: &mut Calls, group_start: usize, turn: &mut Turn) {
    let alone = turn.role == Role::Tool && turn.pieces.len() == 1;
    let loose = work.own && work.rules.results_anywhere;
    for mut piece in std::mem::take(&mut turn.pieces) {
        let PartBody::ToolResult(result) = &mut piece.part.body else {
            turn.pieces.push(piece);
            continue;
        };
        match calls.claim(result.id.as_str(), work.rules) {
            Claim::Call(at) => {
                let Some(call) = calls.list.get_mut(at) else { continue };
                if matches!(call.answer, Answer::Unneeded) {
                    turn.pieces.extend(as_text(work, piece, "which had no tool's name"));
                    continue;
                }
                agree(result, call, work.rules);
                if at >= group_start || loose {
                    call.answer = Answer::Here;
                    turn.pieces.push(piece);
                } else {
                    work.losses.add(piece.place, "", "a result apart from its call; moved up to it");
                    let extras = if alone { std::mem::take(&mut turn.extras) } else { Extras::NONE };
                    call.answer = Answer::Moved(Box::new(Answered { piece, extras }));
                }
            }
            Claim::Twice => work.losses.add(piece.place, "", "a second result of one call; the first stays"),
            Claim::Hidden if result.name.is_some() || !work.rules.results_named => turn.pieces.push(piece),
            Claim::Hidden | Claim::Nobody => {
                work.losses.add(piece.place, "", "a result without a call; sent as user text");
                turn.pieces.extend(as_text(work, piece, "which is not in this conversation"));
            }
        }
    }
}

/// Lets a result say of its call what the call says of itself.
fn agree(result: &mut ToolResult, call: &Call, rules: &Rules) {
    result.id = call.id.clone();
    result.kind = call.kind;
    if result.name.is_some() || rules.results_named {
        result.name = Some(call.name.clone());
    }
}

/// A result as user text that names its call; its media stay media.
fn as_text(work: &mut Work<'_>, piece: Piece, which: &str) -> Vec<Piece> {
    let Piece { place, part: Part { body, cache, .. }, aside } = piece;
    let PartBody::ToolResult(result) = body else { return Vec::new() };
    let mut text = format!("[result of the tool call `{}`, {which}]", result.id.as_str());
    let mut rest = Vec::new();
    for (at, part) in result.content.into_iter().enumerate() {
        match part.body {
            PartBody::Text(more) | PartBody::Refusal(more) => {
                text.push('\n');
                text.push_str(&more);
            }
            PartBody::Media(_) => rest.push(Piece::new(place.inside(at), part)),
            PartBody::Opaque(_) => {
                work.losses.add(place, "content", "a block that only a result can hold; left out")
            }
            // Nothing else is left inside a result by now.
            PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::ToolResult(_) => {}
        }
    }
    rest.extend(aside.into_iter().map(|part| Piece::new(place, part)));
    let mut pieces = vec![Piece::new(place, Part { cache, ..Part::text(text) })];
    pieces.append(&mut rest);
    pieces
}

/// The calls so far, and which of them wait for a result.
#[derive(Default)]
struct Calls {
    list: Vec<Call>,
    /// Waiting calls of this group and of earlier ones, by the id they came with.
    here: BTreeMap<String, VecDeque<usize>>,
    earlier: BTreeMap<String, VecDeque<usize>>,
    taken: BTreeSet<String>,
    suffixes: BTreeMap<String, usize>,
    /// Results may answer calls that are not in the request: the server keeps them, or an earlier part points at them.
    hidden: bool,
    /// Ids of parts of this group that may be calls of a kind we do not know.
    unread: BTreeSet<String>,
}

/// Which call a result answers.
enum Claim {
    Call(usize),
    /// One that has its result.
    Twice,
    /// One that only the server can see.
    Hidden,
    Nobody,
}

impl Calls {
    fn next_group(&mut self) {
        self.unread.clear();
        for (id, mut waiting) in std::mem::take(&mut self.here) {
            self.earlier.entry(id).or_default().append(&mut waiting);
        }
    }

    fn register(&mut self, original: &CallId, call: Call) {
        self.here.entry(original.as_str().to_owned()).or_default().push_back(self.list.len());
        self.list.push(call);
    }

    /// The call that a result with this id answers: the nearest turn's first, then the oldest that waits.
    fn claim(&mut self, id: &str, rules: &Rules) -> Claim {
        let near = self.here.get_mut(id);
        let known = near.is_some() || self.earlier.contains_key(id);
        let near = near.and_then(VecDeque::pop_front);
        match near.or_else(|| self.earlier.get_mut(id).and_then(VecDeque::pop_front)) {
            Some(at) => Claim::Call(at),
            None if known => Claim::Twice,
            // The server knows the call by an id it made itself, which no call of ours may have then.
            None if (self.hidden || self.unread.contains(id)) && legal(id, rules) == id => {
                if self.taken.insert(id.to_owned()) { Claim::Hidden } else { Claim::Twice }
            }
            None => Claim::Nobody,
        }
    }

    /// An id that the target accepts and that no earlier call has. It depends on nothing that comes later, so it stays
    /// the same while the conversation grows.
    fn fresh_id(&mut self, id: &CallId, rules: &Rules) -> CallId {
        let mut text = legal(id.as_str(), rules);
        if self.taken.contains(&text) {
            let base = text.clone();
            let suffix = self.suffixes.entry(base.clone()).or_insert(1);
            while self.taken.contains(&text) {
                *suffix += 1;
                text = legal(&format!("{base}_{suffix}"), rules);
            }
        }
        self.taken.insert(text.clone());
        with_text(id, text)
    }
}

fn legal(id: &str, rules: &Rules) -> String {
    match id {
        "" => "call".to_owned(),
        id if rules.any_id => ids::shorten(id, rules.id_max),
        id => ids::legal(id, rules.id_max),
    }
}

fn with_text(id: &CallId, text: String) -> CallId {
    match id {
        CallId::Given(_) => CallId::Given(text),
        CallId::Minted(_) => CallId::Minted(text),
    }
}
