//! Of the calls in an answer, the first.

use std::collections::BTreeSet;

use rail_model::{CallId, Event, PartKind};

use crate::stage::Stage;
use crate::{Note, Repair, Step, Written};

/// Gives out an answer up to the end of its first call.
///
/// A small model writes down all steps that it expects, with results it has not seen: it reads a file, changes a line that it made
/// up, and to be sure overwrites the file. With its first call alone it is told a result, and goes on from there.
#[derive(Default)]
pub struct OneCallStage {
    /// The number of the first call, and its id.
    first: Option<(usize, CallId)>,
    /// The parts behind it, which are not given out.
    later: BTreeSet<usize>,
    notes: Vec<Note>,
}

impl Stage for OneCallStage {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match &event {
            Event::Opened { at, kind, .. } => match (&self.first, kind) {
                (Some((_, id)), _) => {
                    let (call, repair) = (id.as_str().to_owned(), Repair::new(Step::Alone, ""));
                    let said = Note::Repaired { call, repair };
                    if matches!(kind, PartKind::ToolCall { .. }) && !self.notes.contains(&said) {
                        self.notes.push(said);
                    }
                    self.later.insert(*at);
                    return;
                }
                (None, PartKind::ToolCall { id, .. }) => self.first = Some((*at, id.clone())),
                (None, _) => {}
            },
            Event::Delta { at, .. } | Event::Closed { at, .. } if self.later.contains(at) => return,
            _ => {}
        }
        out.push(event);
    }

    fn finish(&mut self, _: &mut Vec<Event>) {}

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn written(&mut self) -> Vec<Written> {
        Vec::new()
    }
}
