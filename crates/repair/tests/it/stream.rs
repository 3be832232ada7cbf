//! A text in pieces through the stages, with what must hold of the events checked as they come.

use std::sync::Arc;

use rail_model::{Assembler, Delta, Event, Extras, Grammar, Part, PartBody, PartKind, Stop, ToolDecl};
use rail_repair::{Catalog, Note, Profile, Stage, Step, stages};
use serde_json::json;

use crate::decode::Case;

/// What a text became.
#[derive(PartialEq, Debug)]
pub(crate) struct Became {
    pub(crate) parts: Vec<Part>,
    pub(crate) notes: Vec<Note>,
    pub(crate) stop: Stop,
    /// The most bytes that were held back at any time.
    pub(crate) held: Held,
}

/// A figure that depends on the pieces, so that it is not compared.
#[derive(Debug)]
pub(crate) struct Held(pub(crate) usize);

impl PartialEq for Held {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An answer that is text, before it is cut into pieces.
pub(crate) struct Answer<'a> {
    pub(crate) text: &'a str,
    pub(crate) tools: &'a [ToolDecl],
    pub(crate) profile: Profile,
    pub(crate) stop: Stop,
}

impl Answer<'_> {
    /// Runs the text through the stages in these pieces.
    ///
    /// Panics if the events break the grammar, or take back or reorder what was given out.
    pub(crate) fn in_pieces<'p>(&self, pieces: impl IntoIterator<Item = &'p str>) -> Became {
        let catalog = Arc::new(Catalog::new(self.tools));
        let mut pipeline = stages(&self.profile, &catalog);
        let mut watched = Watched::default();
        let mut notes = Vec::new();
        let begin = [
            Event::Started { id: Some("answer".into()), model: None, extras: Extras::NONE },
            Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        ];
        let end = [
            Event::Closed { at: 0, extras: Extras::NONE },
            Event::Finished { stop: self.stop.clone(), extras: Extras::NONE },
        ];
        let deltas = pieces.into_iter().map(|piece| Event::Delta {
            at: 0,
            delta: Delta::Text(piece.into()),
            extras: Extras::NONE,
        });
        let (mut out, mut fed, mut held) = (Vec::new(), 0, 0);
        for event in begin.into_iter().chain(deltas).chain(end) {
            if let Event::Delta { delta: Delta::Text(text), .. } = &event {
                fed += text.len();
            }
            pipeline.event(event, &mut out);
            notes.append(&mut pipeline.notes());
            out.drain(..).for_each(|event| watched.take(event));
            held = held.max(fed.saturating_sub(watched.given));
        }
        pipeline.finish(&mut out);
        assert_eq!(out, [], "after the end");
        watched.grammar.end().unwrap();
        // Stages speak of calls when they are asked, so only the order of what is said of one call is theirs.
        notes.sort_by(|one, other| one.call().cmp(other.call()));
        let reply = watched.assembler.finish().unwrap().unwrap();
        Became { parts: reply.parts, notes, stop: reply.stop, held: Held(held) }
    }
}

/// Events as they come out.
#[derive(Default)]
struct Watched {
    grammar: Grammar,
    assembler: Assembler,
    /// The last text and the last reasoning that were opened.
    last_text: usize,
    last_thought: usize,
    /// Bytes of text, reasoning and arguments given out.
    given: usize,
}

impl Watched {
    fn take(&mut self, event: Event) {
        self.grammar.accept(&event).unwrap();
        match &event {
            Event::Opened { at, kind: PartKind::Text, .. } => self.last_text = *at,
            Event::Opened { at, kind: PartKind::Thinking, .. } => self.last_thought = *at,
            // All texts are read one after the other, so only the last may grow.
            Event::Delta { at, delta: Delta::Text(text), .. } => {
                assert_eq!(*at, self.last_text);
                self.given += text.len();
            }
            Event::Delta { at, delta: Delta::Thinking(text), .. } => {
                assert_eq!(*at, self.last_thought);
                self.given += text.len();
            }
            Event::Delta { delta: Delta::Arguments(text), .. } => self.given += text.len(),
            _ => {}
        }
        self.assembler.push(event);
    }
}

impl Became {
    pub(crate) fn content(&self) -> String {
        let texts: Vec<&str> =
            self.parts.iter().filter_map(Part::as_text).filter(|text| !text.is_empty()).collect();
        texts.join("\n")
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.parts
            .iter()
            .filter_map(|part| match &part.body {
                PartBody::ToolCall(call) => Some(call.id.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Calls that were found in the text.
    pub(crate) fn found(&self) -> usize {
        let found = |note: &&Note| match note {
            Note::Repaired { repair, .. } => matches!(repair.step, Step::Found(_)),
            Note::Unknown { .. } | Note::Incomplete { .. } | Note::Invalid { .. } => false,
        };
        self.notes.iter().filter(found).count()
    }
}

/// The text in pieces of this many characters.
pub(crate) fn by_chars(text: &str, size: usize) -> Vec<&str> {
    let starts: Vec<usize> = text.char_indices().step_by(size).map(|(at, _)| at).collect();
    cut(text, starts)
}

/// The text as it is read when its bytes come in pieces of this size: a character comes with its last byte, so some
/// pieces are empty.
pub(crate) fn by_bytes(text: &str, size: usize) -> Vec<&str> {
    cut(text, (0..text.len()).step_by(size).map(|at| text.floor_char_boundary(at)))
}

/// The text in pieces of random lengths, the same for the same seed.
pub(crate) fn at_random(text: &str, seed: u64) -> Vec<&str> {
    let mut state = seed | 1;
    let mut at = 0;
    let starts = std::iter::from_fn(|| {
        let start = at;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        at += 1 + usize::try_from(state % 23).unwrap();
        (start < text.len()).then(|| text.floor_char_boundary(start))
    });
    cut(text, starts)
}

fn cut(text: &str, starts: impl IntoIterator<Item = usize>) -> Vec<&str> {
    let mut starts: Vec<usize> = starts.into_iter().collect();
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Tools that the generated texts call.
pub(crate) fn tools() -> Vec<ToolDecl> {
    let tools = json!([
        {"name": "list_dir", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
        {"name": "edit_file", "parameters": {"type": "object", "properties": {
            "file_path": {"type": "string"}, "old_string": {"type": "string"}, "new_string": {"type": "string"},
            "replace_all": {"type": "boolean"}, "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        }, "required": ["file_path"]}},
    ]);
    Case(json!({"tools": tools})).tools()
}
