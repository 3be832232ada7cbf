use std::collections::BTreeMap;

use rail_model::Event;

/// Lets parts through one at a time, in order, for protocols in which a part must end before the next begins.
///
/// The first open part flows as it comes; what comes for later ones waits until those before are closed.
#[derive(Default, Debug)]
pub struct InOrder {
    current: usize,
    waiting: BTreeMap<usize, Vec<Event>>,
}

impl InOrder {
    /// Takes the next event and gives those whose turn it is to `sink`.
    pub fn push(&mut self, event: &Event, sink: &mut dyn FnMut(&Event)) {
        let at = match event {
            Event::Opened { at, .. } | Event::Delta { at, .. } | Event::Closed { at, .. } => *at,
            Event::Started { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => return sink(event),
        };
        if at != self.current {
            self.waiting.entry(at).or_default().push(event.clone());
            return;
        }
        sink(event);
        if matches!(event, Event::Closed { .. }) {
            self.advance(sink);
        }
    }

    fn advance(&mut self, sink: &mut dyn FnMut(&Event)) {
        loop {
            self.current += 1;
            let Some(events) = self.waiting.remove(&self.current) else { return };
            events.iter().for_each(&mut *sink);
            if !matches!(events.last(), Some(Event::Closed { .. })) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rail_model::{Delta, Extras, PartKind};

    #[test]
    fn overlapping_parts_come_out_one_after_the_other() {
        let open = |at| Event::Opened { at, kind: PartKind::Text, extras: Extras::NONE };
        let text =
            |at, text: &str| Event::Delta { at, delta: Delta::Text(text.into()), extras: Extras::NONE };
        let close = |at| Event::Closed { at, extras: Extras::NONE };
        let input = [
            open(0),
            open(1),
            text(1, "b"),
            text(0, "a"),
            open(2),
            close(1),
            close(0),
            text(2, "c"),
            close(2),
        ];
        let mut order = InOrder::default();
        let mut seen = Vec::new();
        for event in &input {
            order.push(event, &mut |event| seen.push(event.clone()));
        }
        let expected = [
            open(0),
            text(0, "a"),
            close(0),
            open(1),
            text(1, "b"),
            close(1),
            open(2),
            text(2, "c"),
            close(2),
        ];
        assert_eq!(seen, expected);
    }
}
