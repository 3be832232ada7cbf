//! What an answer passes on its way from bytes to events.

use std::sync::Arc;

use rail_model::{Delta, Event, PartKind, ProtocolId};
use rail_repair::{OwnIds, Pipeline, Stage};
use rail_route::Provider;
use rail_wire::{Decode, Restore, WireError};

use crate::Mended;
use crate::issuer::claim;

/// What an answer passes: the decoder, the name of who seals, the stages that repair calls, what keeps their ids apart from those of
/// the history, and what the writing of the request must undo.
pub(crate) struct Flow {
    decoder: Box<dyn Decode>,
    issuer: Option<(ProtocolId, String)>,
    stages: Option<Box<Pipeline>>,
    ids: Option<Box<OwnIds>>,
    restore: Restore,
    pub(crate) provider: Arc<Provider>,
    /// The decoder has seen content, though a stage may still hold it.
    pub(crate) begun: bool,
}

impl Flow {
    pub(crate) fn new(
        decoder: Box<dyn Decode>,
        issuer: Option<(ProtocolId, String)>,
        stages: Option<Box<Pipeline>>,
        ids: Option<Box<OwnIds>>,
        restore: Restore,
        provider: Arc<Provider>,
    ) -> Self {
        Self { decoder, issuer, stages, ids, restore, provider, begun: false }
    }

    /// Whether seals get the name of another issuer than the protocol.
    pub(crate) fn names_seals(&self) -> bool {
        self.issuer.is_some()
    }

    /// What the stages have to say since the last time.
    pub(crate) fn mended(&mut self) -> Mended {
        let Some(stages) = &mut self.stages else { return Mended::default() };
        let mut mended = Mended { notes: stages.notes(), written: stages.written() };
        if let Some(ids) = &self.ids {
            ids.rename(&mut mended.notes, &mut mended.written);
        }
        mended
    }

    /// Takes bytes, or the end of the body; what they become is appended, also when they end in an error.
    pub(crate) fn take(&mut self, bytes: Option<&[u8]>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let mut raw = Vec::new();
        let read = match bytes {
            Some(bytes) => self.decoder.push(bytes, &mut raw),
            None => self.decoder.finish(&mut raw),
        };
        self.begun |= raw.iter().any(|event| is_content(event) || matches!(event, Event::Finished { .. }));
        if let Some((protocol, issuer)) = &self.issuer {
            raw.iter_mut().for_each(|event| claim(event, *protocol, issuer));
        }
        let mut settled = Vec::new();
        match &mut self.stages {
            None => settled = raw,
            Some(stages) => {
                raw.into_iter().for_each(|event| stages.event(event, &mut settled));
                if bytes.is_none() {
                    stages.finish(&mut settled);
                }
            }
        }
        if let Some(ids) = &mut self.ids {
            settled.iter_mut().for_each(|event| ids.event(event));
        }
        if self.restore.is_empty() {
            out.append(&mut settled);
        } else {
            settled.into_iter().for_each(|event| self.restore.event(event, out));
        }
        read
    }
}

/// Whether an event says something: that a part begins which is still empty does not.
pub(crate) fn is_content(event: &Event) -> bool {
    match event {
        Event::Opened { kind, .. } => match kind {
            PartKind::Text | PartKind::Refusal | PartKind::Thinking => false,
            PartKind::Redacted(_) | PartKind::ToolCall { .. } | PartKind::Media(_) | PartKind::Opaque(_) => {
                true
            }
        },
        Event::Delta { delta, .. } => match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text) => !text.is_empty(),
            Delta::Seal(_) | Delta::Logprobs(_) | Delta::Extra { .. } => true,
        },
        Event::Started { .. }
        | Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => false,
    }
}

/// Whether an event tells of reasoning, which may be sealed.
pub(crate) fn reasons(event: &Event) -> bool {
    match event {
        Event::Opened { kind, .. } => match kind {
            PartKind::Thinking | PartKind::Redacted(_) => true,
            PartKind::Text
            | PartKind::Refusal
            | PartKind::ToolCall { .. }
            | PartKind::Media(_)
            | PartKind::Opaque(_) => false,
        },
        Event::Delta { delta, .. } => match delta {
            Delta::Seal(_) | Delta::Thinking(_) => true,
            Delta::Text(_) | Delta::Arguments(_) | Delta::Logprobs(_) | Delta::Extra { .. } => false,
        },
        Event::Started { .. }
        | Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => false,
    }
}
