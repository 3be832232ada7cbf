//! Answers as the API sends them, whole or streamed. Every frame of a stream is a whole answer that holds the next parts;
//! a body that is not streamed is the same with one frame.
//!
//! So that a client of this protocol gets the same frames again, the last event of a frame is marked; what a frame says
//! beside its parts and in another form than the first frame follows as an opaque event that ends it.

use rail_model::{Delta, Event, Extras, Opaque, Part, PartBody, PartKind, ProtocolId, Stop, Usage};
use serde_json::Value;

use super::odd::{
    Flow, Head, Odd, candidates, flow, is_blocked, mark_end, named, released, sealed, seals_thought,
    whole_part, without_usage,
};
use super::parts_in::{self, From};
use super::reply::{self, Details};
use super::types::{Answer, Candidate, Logprobs, Many, Piece};
use super::{
    EMPTY_TEXT, EMPTY_THOUGHT, FRAMES, ID, NO_ANSWER_ID, NO_CANDIDATES, NO_CONTENT, NO_FINISH, NO_INDEX,
    NO_MODEL, NO_PARTS, NO_ROLE, NO_TIME, error,
};
use crate::error::{WireError, parse};
use crate::frame::{Frame, Mapper};
use crate::ids;
use crate::protocol::HttpReply;
use crate::shape::Count;

/// Maps frames to events.
#[derive(Default)]
pub(super) struct AnswerIn {
    whole: bool,
    started: bool,
    failed: bool,
    parts: usize,
    open: Option<(usize, Flow)>,
    called: bool,
    head: Head,
    details: Details,
    end: Option<End>,
}

/// The end, held back until the body is over, because tokens may still come.
struct End {
    stop: Stop,
    odd: Odd,
    usage: Option<Usage>,
    /// The frame itself, when it has no parts that its rest could be put to.
    frame: Option<Value>,
    released: bool,
}

impl Mapper for AnswerIn {
    fn protocol(&self) -> ProtocolId {
        ID
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let blank = frame.data.iter().all(u8::is_ascii_whitespace);
        // Some proxies end the stream as OpenAI does.
        if self.failed || (!self.whole && (blank || frame.data == b"[DONE]")) {
            return Ok(());
        }
        let answer: Answer<'_> = match parse(ID, frame.data) {
            Ok(answer) => answer,
            Err(_) if error::is_error(frame.data) => {
                Answer { error: Some(crate::arguments::empty()), ..Answer::default() }
            }
            Err(error) => return Err(error),
        };
        if answer.error.is_some() {
            self.failed = true;
            let reply = HttpReply { body: frame.data.to_vec(), ..HttpReply::default() };
            out.push(Event::Failed(error::read(&reply)));
            return Ok(());
        }
        self.answer(answer, frame.data, out)
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), WireError> {
        if self.failed {
            return Ok(());
        }
        let Some(end) = self.end.take() else {
            return Err(WireError::truncated(ID, "the stream ended without a finishReason"));
        };
        self.close(out);
        out.extend(end.usage.map(Event::Usage));
        let extras = if end.released { released() } else { end.odd.into_extras() };
        let stop = if end.stop == Stop::EndTurn && self.called { Stop::ToolUse } else { end.stop };
        out.push(Event::Finished { stop, extras });
        Ok(())
    }
}

impl AnswerIn {
    pub(super) fn whole() -> Self {
        Self { whole: true, ..Self::default() }
    }

    pub(super) fn stream() -> Self {
        Self::default()
    }

    fn answer(&mut self, mut answer: Answer<'_>, raw: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.release(out);
        let from = out.len();
        let mut odd = Odd::default();
        let tokens = answer.usage_metadata.take();
        let (main, others) = candidates(&mut answer, self.whole);
        odd.others = others;
        let blocked = main.is_none() && is_blocked(&answer);
        self.head(answer, main.as_ref(), &mut odd, out);
        let given = main.is_some();
        let mut reason = None;
        let before = self.parts;
        let spoke = match main {
            Some(candidate) => self.candidate(candidate, &mut odd, &mut reason, out)?,
            None => false,
        };
        let usage = tokens.map(|tokens| reply::usage(tokens, &mut self.details));
        let ends = reason.is_some() || blocked || self.whole;
        if ends && self.end.is_none() {
            let stop = self.stop(reason.as_deref(), blocked, given, &mut odd);
            let frame = (!spoke && before == self.parts && !self.whole).then(|| without_usage(raw));
            self.end = Some(End { stop, odd, usage, frame: frame.flatten(), released: false });
            return Ok(());
        }
        if let Some(reason) = reason {
            // Older models said it with every frame; the last one counts.
            if let Some(end) = &mut self.end {
                end.stop = reply::stop(&reason, self.called);
            }
            odd.candidate.insert("finishReason".to_owned(), Value::from(reason));
        }
        let counted = usage.is_some();
        out.extend(usage.map(Event::Usage));
        let plain = odd.is_plain() && (spoke || (counted && !given));
        if plain && mark_end(out, from, odd.empty) {
            return Ok(());
        }
        let value =
            if spoke { odd.into_rest() } else { named("frame", without_usage(raw).unwrap_or_default()) };
        out.push(Event::Opaque(Opaque { origin: ID, value }));
        Ok(())
    }

    /// The head of the answer with the first frame; later ones must say the same.
    fn head(
        &mut self,
        mut answer: Answer<'_>,
        main: Option<&Candidate<'_>>,
        odd: &mut Odd,
        out: &mut Vec<Event>,
    ) {
        if !self.started {
            self.started = true;
            let role = main
                .and_then(|main| main.content.as_ref())
                .map(|content| content.role.as_deref() == Some("model"));
            self.head = Head {
                id: answer.response_id.take().map(|id| id.into_string()),
                model: answer.model_version.take().map(|model| model.into_string()),
                time: answer.create_time.as_deref().map(str::to_owned),
                index: main.is_none_or(|main| main.index.is_some()),
                role: role.unwrap_or(true),
            };
            let mut extras = Extras::rest(ID, answer.leftovers());
            extras.mark(ID, FRAMES);
            for (mark, lacks) in [(NO_INDEX, !self.head.index), (NO_ROLE, !self.head.role)] {
                if lacks {
                    extras.mark(ID, mark);
                }
            }
            let (id, model) = (self.head.id.clone(), self.head.model.clone());
            out.push(Event::Started { id, model, extras });
            return;
        }
        let slots = [
            (&mut answer.response_id, &self.head.id, NO_ANSWER_ID),
            (&mut answer.model_version, &self.head.model, NO_MODEL),
            (&mut answer.create_time, &self.head.time, NO_TIME),
        ];
        for (said, first, mark) in slots {
            if said.as_deref() == first.as_deref() {
                *said = None;
            } else if said.is_none() {
                odd.lacks.push(mark);
            }
        }
        odd.top = answer.leftovers();
    }

    /// The parts of the answer proper. True when something was said.
    fn candidate(
        &mut self,
        mut main: Candidate<'_>,
        odd: &mut Odd,
        reason: &mut Option<String>,
        out: &mut Vec<Event>,
    ) -> Result<bool, WireError> {
        *reason = main.finish_reason.take().map(|reason| reason.into_string());
        if main.index.take_if(|index| *index == Count(0) && self.head.index).is_none() && self.head.index {
            odd.lacks.push(NO_INDEX);
        }
        let probabilities = main.logprobs_result.take();
        let mut pieces = None;
        match main.content.take() {
            None => odd.lacks.push(NO_CONTENT),
            Some(mut content) => {
                if content.role.take_if(|role| role == "model" && self.head.role).is_none() && self.head.role
                {
                    odd.lacks.push(NO_ROLE);
                }
                pieces = content.parts.take();
                let left = content.leftovers();
                if !left.is_empty() {
                    main.rest.get_or_insert_default().insert("content".to_owned(), Value::Object(left));
                }
            }
        }
        if pieces.is_none() {
            odd.lacks.push(NO_PARTS);
        }
        odd.candidate = main.leftovers();
        let from = out.len();
        let pieces = pieces.map(Many::into_vec).unwrap_or_default();
        if self.whole {
            self.whole_parts(pieces, probabilities, odd, out)?;
        } else {
            self.pieces(pieces, odd, out)?;
            self.probabilities(probabilities, out.len() > from, odd, out);
        }
        Ok(out.len() > from || odd.empty.is_some())
    }

    fn pieces(
        &mut self,
        pieces: Vec<Piece<'_>>,
        odd: &mut Odd,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let last = pieces.len().saturating_sub(1);
        for (at, mut piece) in pieces.into_iter().enumerate() {
            let Some(flow) = flow(&piece) else {
                let part =
                    parts_in::part(piece, From::Upstream, &format!("candidates[0].content.parts[{at}]"))?;
                self.part(part, out);
                continue;
            };
            let text = piece.text.take().map(|text| text.into_string()).unwrap_or_default();
            piece.thought.take_if(|thought| *thought);
            let mut left = piece.leftovers();
            match (text.is_empty(), at == last && left.is_empty()) {
                (false, _) => {}
                (true, true) => {
                    odd.empty = Some(if flow == Flow::Text { EMPTY_TEXT } else { EMPTY_THOUGHT });
                    continue;
                }
                // An empty text before other parts: no words, but the client shall see it in its place.
                (true, false) => {
                    left.insert("text".to_owned(), Value::from(""));
                    if flow == Flow::Thinking {
                        left.insert("thought".to_owned(), Value::Bool(true));
                    }
                    let opaque = Opaque { origin: ID, value: Value::Object(left) };
                    self.part(Part::new(PartBody::Opaque(opaque)), out);
                    continue;
                }
            }
            let extras = Extras::rest(ID, left);
            let at = self.flowing(flow, out);
            let delta = match flow {
                Flow::Text => Delta::Text(text),
                Flow::Thinking => Delta::Thinking(text),
            };
            out.push(Event::Delta { at, delta, extras });
        }
        Ok(())
    }

    /// The open part for this kind of text, opened if need be.
    fn flowing(&mut self, flow: Flow, out: &mut Vec<Event>) -> usize {
        if let Some((at, _)) = self.open.filter(|(_, open)| *open == flow) {
            return at;
        }
        self.close(out);
        let at = self.parts;
        self.parts += 1;
        self.open = Some((at, flow));
        let kind = match flow {
            Flow::Text => PartKind::Text,
            Flow::Thinking => PartKind::Thinking,
        };
        out.push(Event::Opened { at, kind, extras: Extras::NONE });
        at
    }

    fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((at, _)) = self.open.take() {
            out.push(Event::Closed { at, extras: Extras::NONE });
        }
    }

    /// A part that came complete, or the end of the open thought.
    fn part(&mut self, mut part: Part, out: &mut Vec<Event>) {
        if let Some((at, Flow::Thinking)) = self.open
            && seals_thought(&part)
        {
            sealed(part, at, out);
            return self.close(out);
        }
        self.close(out);
        if let PartBody::ToolCall(call) = &mut part.body {
            self.called = true;
            if call.id.as_str().is_empty() {
                // Without an answer's id the call itself tells one answer from another.
                let answer =
                    self.head.id.clone().unwrap_or_else(|| format!("{}{}", call.name, call.arguments));
                call.id = ids::mint(&answer, self.parts);
            }
        }
        whole_part(part, self.parts, out);
        self.parts += 1;
    }

    fn whole_parts(
        &mut self,
        pieces: Vec<Piece<'_>>,
        probabilities: Option<Logprobs>,
        odd: &mut Odd,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let mut parts = Vec::with_capacity(pieces.len());
        for (at, piece) in pieces.into_iter().enumerate() {
            parts.push(parts_in::part(piece, From::Upstream, &format!("candidates[0].content.parts[{at}]"))?);
        }
        let last = parts.iter_mut().rev().find(|part: &&mut Part| part.as_text().is_some());
        if let Some(probabilities) = probabilities {
            let read = if last.is_some() { reply::logprobs(probabilities) } else { Err(probabilities) };
            let list = odd.keep_probabilities(read);
            if let Some(part) = last {
                part.logprobs = list;
            }
        }
        parts.into_iter().for_each(|part| self.part(part, out));
        Ok(())
    }

    /// Log probabilities belong to the text that this frame added; without such they stay where they are.
    fn probabilities(&mut self, given: Option<Logprobs>, spoke: bool, odd: &mut Odd, out: &mut Vec<Event>) {
        let Some(given) = given else { return };
        let open = self.open.filter(|(_, flow)| spoke && *flow == Flow::Text);
        let read = if open.is_some() { reply::logprobs(given) } else { Err(given) };
        let list = odd.keep_probabilities(read);
        if let (Some((at, _)), false) = (open, list.is_empty()) {
            out.push(Event::Delta { at, delta: Delta::Logprobs(list), extras: Extras::NONE });
        }
    }

    fn stop(&self, reason: Option<&str>, blocked: bool, given: bool, odd: &mut Odd) -> Stop {
        if !given {
            odd.lacks.push(NO_CANDIDATES);
        }
        let Some(reason) = reason else {
            odd.lacks.push(NO_FINISH);
            return match (blocked, given) {
                (true, _) => Stop::Refusal,
                (false, true) => reply::stop("STOP", self.called),
                (false, false) => Stop::Other("NO_CANDIDATES".to_owned()),
            };
        };
        let stop = reply::stop(reason, self.called);
        if reply::reason(&stop) != reason {
            odd.candidate.insert("finishReason".to_owned(), Value::from(reason));
        }
        stop
    }

    /// A frame after the one with the end: that one is given now, with its reason.
    fn release(&mut self, out: &mut Vec<Event>) {
        let Some(end) = self.end.as_mut().filter(|end| !end.released) else { return };
        end.released = true;
        out.extend(end.usage.take().map(Event::Usage));
        let mut odd = std::mem::take(&mut end.odd);
        let value = match end.frame.take() {
            Some(frame) => named("frame", frame),
            None => {
                let reason = Value::from(reply::reason(&end.stop));
                odd.candidate.entry("finishReason").or_insert(reason);
                odd.into_rest()
            }
        };
        out.push(Event::Opaque(Opaque { origin: ID, value }));
    }
}
