//! Answers for a client, whole, as server-sent events or as a growing array.
//!
//! Parts gather in a frame. An answer of this protocol comes with the ends of its frames marked and goes out in the same
//! frames; any other goes out as it comes, text by piece and calls when they are complete.

use rail_model::{
    ApiError, Delta, ErrorKind, Event, Extras, Loss, Map, Opaque, Part, PartBody, PartKind, Stop, ToolCall,
    Usage,
};
use serde_json::Value;

use super::frame_out::{Gathering, Head, Layout, overlay_map, to_owned};
use super::parts_out::{Client, owned, piece};
use super::types::Piece;
use super::{
    EMPTY_TEXT, EMPTY_THOUGHT, FRAME_END, FRAMES, ID, NO_ANSWER_ID, NO_CANDIDATES, NO_CONTENT, NO_FINISH,
    NO_INDEX, NO_MODEL, NO_PARTS, NO_ROLE, NO_TEXT, NO_TIME, OWN_PIECE, RELEASED, SAME_DETAILS, TOP, error,
    reply, seal,
};
use crate::order::InOrder;
use crate::protocol::{BodyKind, Encode, ReplyTo};
use crate::told::Told;

/// Writes an answer.
pub(super) struct AnswerOut {
    layout: Layout,
    model: Option<String>,
    seed: String,
    order: InOrder,
    told: Told,
    head: Head,
    frame: Gathering,
    open: Option<Part>,
    usage: Option<Usage>,
    details: Map,
    ending: bool,
    done: bool,
}

impl Encode for AnswerOut {
    fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.push(event, &mut |event| self.event(event, out));
        self.order = order;
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.done {
            let error =
                ApiError::new(ErrorKind::Server, "the upstream broke off before its answer was complete");
            self.failed(&error, out);
        }
    }

    fn losses(&mut self) -> Vec<Loss> {
        self.told.take()
    }
}

impl AnswerOut {
    pub(super) fn new(kind: BodyKind, reply_to: &ReplyTo) -> Self {
        Self {
            layout: Layout::new(kind),
            model: reply_to.model.clone(),
            seed: reply_to.seed.clone(),
            order: InOrder::default(),
            told: Told::default(),
            head: Head::default(),
            frame: Gathering::default(),
            open: None,
            usage: None,
            details: Map::new(),
            ending: false,
            done: false,
        }
    }

    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Started { id, model, extras } => {
                self.started(id.as_deref(), model.as_deref(), extras, out)
            }
            Event::Opened { at, kind, extras } => self.opened(*at, kind, extras, out),
            Event::Delta { at, delta, extras } => self.delta(*at, delta, extras, out),
            Event::Closed { at, extras } => self.closed(*at, extras, out),
            Event::Usage(usage) => self.counted(usage, out),
            Event::Finished { stop, extras } => self.finished(stop, extras, out),
            Event::Failed(error) => self.failed(error, out),
            Event::Ping => {}
            Event::Opaque(opaque) => self.opaque(opaque, out),
        }
    }

    fn started(&mut self, id: Option<&str>, model: Option<&str>, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, "", extras);
        let own = extras.marked(ID, FRAMES);
        let seed = Some(self.seed.clone()).filter(|seed| !own && !seed.is_empty());
        let kept = extras.owned_by(ID);
        self.head = Head {
            own,
            id: id.map(str::to_owned).or(seed),
            model: self.model.clone().or_else(|| model.map(str::to_owned)),
            renamed: self.model.is_some(),
            time: kept.and_then(|kept| kept.get("createTime")).and_then(Value::as_str).map(str::to_owned),
            no_index: extras.marked(ID, NO_INDEX),
            no_role: extras.marked(ID, NO_ROLE),
        };
        self.frame.rest = kept.cloned().unwrap_or_default();
        if self.head.time.is_some() {
            self.frame.rest.shift_remove("createTime");
        }
        self.end_of_frame(extras, out);
    }

    fn opened(&mut self, at: usize, kind: &PartKind, extras: &Extras, out: &mut Vec<u8>) {
        self.tell(at, extras);
        let body = match kind {
            PartKind::Text => PartBody::Text(String::new()),
            PartKind::Refusal => {
                self.told.once(format!("parts[{at}]"), "gemini has no refusal part; said as text");
                PartBody::Refusal(String::new())
            }
            PartKind::Thinking => PartBody::Thinking(String::new()),
            PartKind::Redacted(seal) => PartBody::Redacted(seal.clone()),
            PartKind::ToolCall { id, name, kind } => PartBody::ToolCall(ToolCall {
                id: id.clone(),
                name: name.clone(),
                arguments: String::new(),
                kind: *kind,
            }),
            PartKind::Media(media) => PartBody::Media(media.clone()),
            PartKind::Opaque(opaque) => PartBody::Opaque(opaque.clone()),
        };
        self.frame.grows = false;
        self.open = Some(Part { extras: extras.clone(), ..Part::new(body) });
        self.end_of_frame(extras, out);
    }

    fn delta(&mut self, at: usize, delta: &Delta, extras: &Extras, out: &mut Vec<u8>) {
        self.tell(at, extras);
        let Some(open) = &mut self.open else { return };
        let flows = matches!(open.body, PartBody::Text(_) | PartBody::Refusal(_) | PartBody::Thinking(_));
        match delta {
            // Another protocol's empty piece is no part; in this protocol it was one.
            Delta::Text(text) | Delta::Thinking(text) if text.is_empty() && !self.head.own => {}
            Delta::Text(text) | Delta::Thinking(text) => self.text(text, extras),
            Delta::Arguments(text) => {
                if let PartBody::ToolCall(call) = &mut open.body {
                    call.arguments.push_str(text);
                }
            }
            Delta::Seal(sealed) if flows => {
                if !self.frame.grows || extras.marked(ID, OWN_PIECE) {
                    self.text("", extras);
                }
                if let Some(piece) = self.frame.pieces.last_mut() {
                    piece.thought_signature = Some(owned(seal::write(sealed)));
                }
            }
            Delta::Seal(sealed) => open.seal = Some(sealed.clone()),
            Delta::Logprobs(list) => self.frame.probabilities.extend(list.iter().cloned()),
            Delta::Extra { origin, key, value: _ } => {
                if *origin != ID {
                    self.told.once(format!("parts[{at}].{key}"), "gemini can't say it; left out");
                }
            }
        }
        // A frame without parts would be taken for a broken answer.
        if !self.head.own && flows && !self.frame.pieces.is_empty() {
            self.flush(out);
        }
        self.end_of_frame(extras, out);
    }

    /// Names what another protocol said besides about a part.
    fn tell(&mut self, at: usize, extras: &Extras) {
        if extras.lost_on(ID).next().is_some() {
            self.told.extras(ID, &format!("parts[{at}]"), extras);
        }
    }

    /// A piece of text: in a stream a part of its own, in a whole answer more of the same part.
    fn text(&mut self, text: &str, extras: &Extras) {
        let Some(open) = &mut self.open else { return };
        let grows = self.frame.grows && self.layout.kind == BodyKind::Whole;
        if !grows {
            // What the part itself says besides goes with its first piece.
            let first = std::mem::take(&mut open.extras);
            let thought = matches!(open.body, PartBody::Thinking(_)).then_some(true);
            let text =
                (!first.marked(ID, NO_TEXT) && !extras.marked(ID, NO_TEXT)).then(|| owned(String::new()));
            let piece = Piece { text, thought, ..Piece::default() };
            self.frame.pieces.push(piece.with_rest(first.owned_by(ID)));
            self.frame.grows = true;
        }
        if let Some(piece) = self.frame.pieces.last_mut() {
            if let Some(before) = &mut piece.text {
                before.0.to_mut().push_str(text);
            }
            if let Some(kept) = extras.owned_by(ID) {
                piece.rest.get_or_insert_default().extend(kept.clone());
            }
        }
    }

    fn closed(&mut self, at: usize, extras: &Extras, out: &mut Vec<u8>) {
        self.tell(at, extras);
        if let Some(mut part) = self.open.take() {
            part.extras.merge(extras.clone());
            let flows = matches!(part.body, PartBody::Text(_) | PartBody::Refusal(_) | PartBody::Thinking(_));
            let said = self.frame.grows || !self.head.own || self.layout.kind != BodyKind::Whole;
            if !flows || !said {
                self.whole(at, &part, out);
            }
            self.frame.grows = false;
        }
        self.end_of_frame(extras, out);
    }

    fn whole(&mut self, at: usize, part: &Part, out: &mut Vec<u8>) {
        let mut losses = Vec::new();
        let spelled =
            piece(part, &Client, &format!("parts[{at}]"), &mut losses).map(|piece| to_owned(&piece));
        losses.into_iter().for_each(|loss| self.told.once(loss.path, &loss.reason));
        let Some(piece) = spelled else { return };
        self.frame.pieces.push(piece);
        if !self.head.own {
            self.flush(out);
        }
    }

    fn counted(&mut self, usage: &Usage, out: &mut Vec<u8>) {
        self.told.extras(ID, "usage", &usage.extras);
        if !self.head.own {
            self.usage.get_or_insert_default().update(usage.clone());
            return;
        }
        let mut usage = usage.clone();
        if usage.extras.marked(ID, SAME_DETAILS) {
            for (key, value) in &self.details {
                usage.extras.insert(ID, key.clone(), value.clone());
            }
        } else {
            let kept = usage.extras.owned_by(ID);
            let lists = kept.into_iter().flatten().filter(|(key, _)| DETAILS.contains(&key.as_str()));
            self.details = lists.map(|(key, value)| (key.clone(), value.clone())).collect();
        }
        let marks = usage.extras.clone();
        self.frame.usage = Some(usage);
        self.end_of_frame(&marks, out);
    }

    fn finished(&mut self, stop: &Stop, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, "", extras);
        match stop {
            Stop::StopSequence(Some(_)) => {
                self.told.once("stop_sequence", "gemini does not say which stop string it was")
            }
            Stop::Pause | Stop::Other(_) if !self.head.own => {
                self.told.once("stop", "gemini has no word for this end")
            }
            Stop::EndTurn
            | Stop::MaxTokens
            | Stop::StopSequence(None)
            | Stop::ToolUse
            | Stop::Refusal
            | Stop::Pause
            | Stop::ContextFull
            | Stop::MalformedCall
            | Stop::Other(_) => {}
        }
        self.ending = true;
        let released = extras.marked(ID, RELEASED);
        if !released || self.layout.kind == BodyKind::Whole {
            self.last_frame(stop, extras);
            self.flush(out);
        }
        self.end(out);
    }

    fn last_frame(&mut self, stop: &Stop, extras: &Extras) {
        let kept = extras.owned_by(ID).cloned().unwrap_or_default();
        let mut candidate = kept;
        let others = candidate.shift_remove("candidates");
        if let Some(Value::Object(top)) = candidate.shift_remove(TOP) {
            self.frame.rest.extend(top);
        }
        for mark in [
            NO_CANDIDATES,
            NO_CONTENT,
            NO_PARTS,
            NO_ROLE,
            NO_INDEX,
            NO_FINISH,
            NO_MODEL,
            NO_ANSWER_ID,
            NO_TIME,
            EMPTY_TEXT,
            EMPTY_THOUGHT,
        ] {
            if extras.marked(ID, mark) {
                self.frame.lacks.push(mark.to_owned());
            }
        }
        if !extras.marked(ID, NO_FINISH) && !candidate.contains_key("finishReason") {
            self.frame.reason = Some(reply::reason(stop));
        }
        let mut list: Vec<Value> = Vec::new();
        if !candidate.is_empty() || others.is_some() {
            list.push(Value::Object(candidate));
        }
        if let Some(Value::Array(others)) = others {
            list.extend(others);
        }
        if !list.is_empty() {
            self.frame.rest.insert("candidates".to_owned(), Value::Array(list));
        }
        if !self.head.own {
            self.frame.usage = self.usage.take();
            // The API itself ends with an empty text; SDKs take a frame without parts for a broken answer.
            if self.frame.pieces.is_empty() {
                self.frame.lacks.push(EMPTY_TEXT.to_owned());
            }
        }
    }

    fn failed(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        if !self.frame.pieces.is_empty() && self.layout.kind != BodyKind::Whole {
            self.flush(out);
        }
        let body = error::body(error);
        self.layout.frame(&body, out);
        self.end(out);
    }

    fn opaque(&mut self, opaque: &Opaque, out: &mut Vec<u8>) {
        if opaque.origin != ID {
            self.told.once("event", "an event of another protocol; left out");
            return;
        }
        let rest = opaque.value.get("rest").and_then(Value::as_object);
        let frame = opaque.value.get("frame").and_then(Value::as_object);
        match (frame, rest) {
            (said, rest) if self.layout.kind == BodyKind::Whole => {
                for said in [said, rest].into_iter().flatten() {
                    overlay_map(&mut self.frame.rest, said.clone());
                }
            }
            (Some(frame), _) => self.frame.write_as_it_came(frame.clone(), &self.head, &mut self.layout, out),
            (None, rest) => {
                overlay_map(&mut self.frame.rest, rest.cloned().unwrap_or_default());
                let marks = opaque.value.get("marks").and_then(Value::as_array).into_iter().flatten();
                self.frame.lacks.extend(marks.filter_map(Value::as_str).map(str::to_owned));
                self.flush(out);
            }
        }
    }

    /// A frame of this protocol ends where it ended.
    fn end_of_frame(&mut self, extras: &Extras, out: &mut Vec<u8>) {
        if !extras.marked(ID, FRAME_END) || self.layout.kind == BodyKind::Whole {
            return;
        }
        for mark in [EMPTY_TEXT, EMPTY_THOUGHT] {
            if extras.marked(ID, mark) {
                self.frame.lacks.push(mark.to_owned());
            }
        }
        self.flush(out);
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.layout.kind == BodyKind::Whole && !self.ending {
            return;
        }
        // Log probabilities of another protocol wait for the last frame, because they came apart from their text.
        let later = !self.head.own && !self.ending;
        let probabilities = if later { std::mem::take(&mut self.frame.probabilities) } else { Vec::new() };
        self.frame.write(&self.head, &mut self.layout, out);
        self.frame.probabilities = probabilities;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.done = true;
        self.layout.end(out);
    }
}

/// The fields that a report repeats.
const DETAILS: &[&str] = &[
    "promptTokensDetails",
    "cacheTokensDetails",
    "candidatesTokensDetails",
    "toolUsePromptTokensDetails",
    "trafficType",
    "serviceTier",
];
