use std::sync::Arc;

use rail_model::Event;

use crate::{Catalog, ExtractStage, NativeStage, Note, OneCallStage, Profile, SettleStage, Written};

/// A step between a decoder and the reader of its events: events in, events out, both in an order that `Grammar` accepts.
pub trait Stage: Send {
    /// Takes the next event and appends what it becomes.
    fn event(&mut self, event: Event, out: &mut Vec<Event>);
    /// No more events will come; an answer that never finished gives back what was held.
    fn finish(&mut self, out: &mut Vec<Event>);
    /// What there is to say since the last time.
    fn notes(&mut self) -> Vec<Note>;
    /// The calls of those notes as the model wrote them, as far as this stage knows. Each is given once; the first counts.
    fn written(&mut self) -> Vec<Written>;
}

/// Stages one after the other; itself a stage.
#[derive(Default)]
pub struct Pipeline(Vec<Box<dyn Stage>>);

impl Pipeline {
    /// Runs events through these stages, in this order.
    pub fn new(stages: Vec<Box<dyn Stage>>) -> Self {
        Self(stages)
    }

    /// Runs `events` through the stages from number `from` on.
    fn run(&mut self, from: usize, mut events: Vec<Event>, out: &mut Vec<Event>) {
        for stage in self.0.iter_mut().skip(from) {
            let mut next = Vec::with_capacity(events.len());
            events.into_iter().for_each(|event| stage.event(event, &mut next));
            events = next;
        }
        out.append(&mut events);
    }
}

impl Stage for Pipeline {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        self.run(0, vec![event], out);
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        for at in 0..self.0.len() {
            let mut last = Vec::new();
            if let Some(stage) = self.0.get_mut(at) {
                stage.finish(&mut last);
            }
            self.run(at + 1, last, out);
        }
    }

    fn notes(&mut self) -> Vec<Note> {
        self.0.iter_mut().flat_map(|stage| stage.notes()).collect()
    }

    fn written(&mut self) -> Vec<Written> {
        self.0.iter_mut().flat_map(|stage| stage.written()).collect()
    }
}

/// The stages that an answer passes: the pieces of its calls put together, then calls found in its text, then each brought
/// home. The text comes second, so that a call that was said in both ways can be told.
pub fn stages(profile: &Profile, catalog: &Arc<Catalog>) -> Pipeline {
    let mut stages: Vec<Box<dyn Stage>> = vec![
        Box::new(NativeStage::new(Arc::clone(catalog))),
        Box::new(ExtractStage::new(profile.clone(), Arc::clone(catalog))),
    ];
    if profile.one_call {
        stages.push(Box::new(OneCallStage::default()));
    }
    stages.push(Box::new(SettleStage::new(Arc::clone(catalog)).knowing(profile)));
    Pipeline::new(stages)
}
