use crate::{ApiError, Delta, Event, Extras, Opaque, Part, PartBody, Reply, Stop, Usage};

/// Folds events into a whole answer; the only place where streamed pieces are put together.
#[derive(Clone, Default, Debug)]
pub struct Assembler {
    id: Option<String>,
    model: Option<String>,
    parts: Vec<Part>,
    usage: Option<Usage>,
    end: Option<(Stop, Extras)>,
    failed: Option<ApiError>,
    extras: Extras,
    noise: Vec<Opaque>,
}

impl Assembler {
    /// Takes the next event, which must keep the grammar; what does not fit is ignored.
    pub fn push(&mut self, event: Event) {
        match event {
            Event::Started { id, model, extras } => {
                (self.id, self.model) = (id, model);
                self.extras.merge(extras);
            }
            Event::Opened { at: _, kind, extras } => {
                self.parts.push(Part { extras, ..Part::new(kind.begun()) })
            }
            Event::Delta { at, delta, extras: _ } => {
                if let Some(part) = self.parts.get_mut(at) {
                    add(part, delta);
                }
            }
            Event::Closed { at, extras } => {
                if let Some(part) = self.parts.get_mut(at) {
                    part.extras.merge(extras);
                }
            }
            Event::Usage(usage) => self.usage.get_or_insert_default().update(usage),
            Event::Finished { stop, extras } => self.end = Some((stop, extras)),
            Event::Failed(error) => self.failed = Some(error),
            Event::Ping => {}
            Event::Opaque(opaque) => self.noise.push(opaque),
        }
    }

    /// What has been said so far.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Events we had no word for.
    pub fn noise(&self) -> &[Opaque] {
        &self.noise
    }

    /// The whole answer, or the error it ended with, or None when it had no end.
    pub fn finish(self) -> Option<Result<Reply, ApiError>> {
        if let Some(error) = self.failed {
            return Some(Err(error));
        }
        let (stop, end) = self.end?;
        let Self { id, model, parts, usage, extras, .. } = self;
        Some(Ok(Reply { id, model, parts, stop, usage, extras, end }))
    }
}

fn add(part: &mut Part, delta: Delta) {
    match (delta, &mut part.body) {
        (Delta::Text(piece), PartBody::Text(text) | PartBody::Refusal(text)) => text.push_str(&piece),
        (Delta::Thinking(piece), PartBody::Thinking(text)) => text.push_str(&piece),
        (Delta::Arguments(piece), PartBody::ToolCall(call)) => call.arguments.push_str(&piece),
        (Delta::Text(_) | Delta::Thinking(_) | Delta::Arguments(_), _) => {}
        (Delta::Seal(seal), _) => part.seal = Some(seal),
        (Delta::Logprobs(more), _) => part.logprobs.extend(more),
        (Delta::Extra { origin, key, value }, _) => part.extras.append(origin, key, value),
    }
}
