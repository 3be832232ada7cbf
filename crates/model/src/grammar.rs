use crate::{Delta, Event, PartKind};

/// Checks that events come in a legal order: the one grammar that all decoders keep and all encoders rely on.
///
/// ```text
/// answer  = noise* Started (noise | Usage | part events)* (Finished | Failed)      Failed may also come first
/// part n  = Opened{n} Delta{n}* Closed{n}        parts may overlap; n rises by one with each Opened
/// noise   = Ping | Opaque
/// ```
#[derive(Default, Debug)]
pub struct Grammar {
    started: bool,
    ended: bool,
    parts: Vec<Slot>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    Text,
    Thinking,
    Call,
    Whole,
    Closed,
}

/// How an event sequence broke the grammar.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("event grammar: {0}")]
pub struct GrammarError(String);

impl Grammar {
    /// Takes the next event, or says why it may not come here.
    pub fn accept(&mut self, event: &Event) -> Result<(), GrammarError> {
        if self.ended {
            return Err(broken(format!("{event:?} after the end")));
        }
        match event {
            Event::Ping | Event::Opaque(_) => Ok(()),
            Event::Failed(_) => {
                self.ended = true;
                Ok(())
            }
            Event::Started { .. } if self.started => Err(broken("Started twice".to_owned())),
            Event::Started { .. } => {
                self.started = true;
                Ok(())
            }
            Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Closed { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
                if !self.started =>
            {
                Err(broken(format!("{event:?} before Started")))
            }
            Event::Usage(_) => Ok(()),
            Event::Opened { at, kind, .. } => self.opened(*at, kind),
            Event::Delta { at, delta, .. } => self.delta(*at, delta),
            Event::Closed { at, .. } => self.closed(*at),
            Event::Finished { .. } => self.finished(),
        }
    }

    /// The stream is over: it must have ended by its own end marker.
    pub fn end(&self) -> Result<(), GrammarError> {
        if self.ended { Ok(()) } else { Err(broken("the answer has no end".to_owned())) }
    }

    fn opened(&mut self, at: usize, kind: &PartKind) -> Result<(), GrammarError> {
        if at != self.parts.len() {
            return Err(broken(format!("part {at} opened, {} expected", self.parts.len())));
        }
        self.parts.push(match kind {
            PartKind::Text | PartKind::Refusal => Slot::Text,
            PartKind::Thinking => Slot::Thinking,
            PartKind::ToolCall { .. } => Slot::Call,
            PartKind::Redacted(_) | PartKind::Media(_) | PartKind::Opaque(_) => Slot::Whole,
        });
        Ok(())
    }

    fn delta(&self, at: usize, delta: &Delta) -> Result<(), GrammarError> {
        let slot = self.parts.get(at).copied();
        let fits = match delta {
            Delta::Text(_) | Delta::Logprobs(_) => slot == Some(Slot::Text),
            Delta::Thinking(_) => slot == Some(Slot::Thinking),
            Delta::Arguments(_) => slot == Some(Slot::Call),
            Delta::Seal(_) | Delta::Extra { .. } => slot.is_some_and(|slot| slot != Slot::Closed),
        };
        if fits { Ok(()) } else { Err(broken(format!("{delta:?} into part {at}, which is {slot:?}"))) }
    }

    fn closed(&mut self, at: usize) -> Result<(), GrammarError> {
        match self.parts.get_mut(at) {
            Some(slot) if *slot != Slot::Closed => {
                *slot = Slot::Closed;
                Ok(())
            }
            Some(_) | None => Err(broken(format!("part {at} closed but not open"))),
        }
    }

    fn finished(&mut self) -> Result<(), GrammarError> {
        if let Some(at) = self.parts.iter().position(|slot| *slot != Slot::Closed) {
            return Err(broken(format!("finished while part {at} is open")));
        }
        self.ended = true;
        Ok(())
    }
}

fn broken(what: String) -> GrammarError {
    GrammarError(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extras, Stop};

    fn verdict(events: &[Event]) -> Result<(), String> {
        let mut grammar = Grammar::default();
        events
            .iter()
            .try_for_each(|event| grammar.accept(event))
            .and_then(|()| grammar.end())
            .map_err(|e| e.to_string())
    }

    fn started() -> Event {
        Event::Started { id: None, model: None, extras: Extras::NONE }
    }
    fn open(at: usize) -> Event {
        Event::Opened { at, kind: PartKind::Text, extras: Extras::NONE }
    }
    fn text(at: usize) -> Event {
        Event::Delta { at, delta: Delta::Text("x".into()), extras: Extras::NONE }
    }
    fn close(at: usize) -> Event {
        Event::Closed { at, extras: Extras::NONE }
    }
    fn done() -> Event {
        Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE }
    }

    #[test]
    fn legal_orders() {
        assert_eq!(verdict(&[started(), done()]), Ok(()));
        assert_eq!(verdict(&[Event::Ping, started(), open(0), text(0), close(0), done()]), Ok(()));
        assert_eq!(
            verdict(&[started(), open(0), open(1), text(1), text(0), close(1), close(0), done()]),
            Ok(())
        );
    }

    #[test]
    fn illegal_orders_say_why() {
        let table: &[(&[Event], &str)] = &[
            (&[done()], "before Started"),
            (&[started(), started()], "Started twice"),
            (&[started(), open(1)], "part 1 opened, 0 expected"),
            (&[started(), text(0)], "into part 0, which is None"),
            (&[started(), open(0), close(0), text(0)], "which is Some(Closed)"),
            (&[started(), open(0), close(0), close(0)], "closed but not open"),
            (&[started(), open(0), done()], "finished while part 0 is open"),
            (&[started(), done(), Event::Ping], "after the end"),
            (&[started()], "no end"),
        ];
        for (events, why) in table {
            let said = verdict(events).unwrap_err();
            assert!(said.contains(why), "{said:?} should say {why:?}");
        }
    }
}
