//! A call whose arguments are on their way.

use rail_model::{CallKind, Extras, ToolCall};

use super::scan::Scan;
use crate::Tool;
use crate::arguments::{self, Reading};
use crate::entities::Entities;
use crate::free_text::{self, FreeText};
use crate::json::State;
use crate::schema::{Kind, Schema};
use crate::settle::is_free_text;

/// A call whose arguments are looked at.
pub(super) struct Live {
    pub(super) out: usize,
    /// The call as the model wrote it so far.
    pub(super) call: ToolCall,
    /// The declared name.
    pub(super) tool: String,
    pub(super) takes: Takes,
    pub(super) scan: Scan,
    /// How many bytes of the arguments have been passed on.
    pub(super) sent: usize,
    /// The end that is held until it is known how the answer went on.
    pub(super) held: Option<(Extras, Over)>,
}

/// What a call's arguments are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    Json,
    Text,
}

/// What the arguments turned out to be.
pub(super) enum Over {
    Json(Reading),
    Text,
}

impl Live {
    pub(super) fn new(out: usize, call: ToolCall, tool: &Tool, entities: Entities) -> Self {
        let takes = if is_free_text(call.kind, tool) { Takes::Text } else { Takes::Json };
        let scan = Scan::new(entities);
        Self { out, call, tool: tool.name.clone(), takes, scan, sent: 0, held: None }
    }

    /// Takes a piece of arguments; gives what of the text can't change any more and was not yet passed on.
    pub(super) fn take(&mut self, piece: &str, tool: Option<&Tool>) -> String {
        self.call.arguments.push_str(piece);
        let safe = match self.takes {
            Takes::Json => {
                self.scan.push(piece, |key| tool.is_some_and(|tool| can_stream(tool, key)));
                self.scan.safe()
            }
            Takes::Text if self.is_plain() => self.call.arguments.len(),
            Takes::Text => 0,
        };
        let ready = self.call.arguments.get(self.sent..safe).unwrap_or_default().to_owned();
        self.sent += ready.len();
        ready
    }

    /// Whether the text passes as it is, because nothing stands around it.
    fn is_plain(&self) -> bool {
        match self.call.kind {
            CallKind::Custom => true,
            CallKind::Function => !free_text::may_be_wrapped(&self.call.arguments),
        }
    }

    /// What the arguments are, now that no more come; and whether they are whole whatever follows.
    pub(super) fn over(&self) -> (Over, bool) {
        match self.takes {
            Takes::Json => {
                let reading = arguments::read(&self.call.arguments);
                let decided = match &reading {
                    Reading::Values(values) => values.state == State::Complete,
                    Reading::Fault(_) => true,
                    Reading::Empty | Reading::Bare(_) => false,
                };
                (Over::Json(reading), decided)
            }
            Takes::Text => {
                let wrapped = || matches!(free_text::read(&self.call.arguments), FreeText::Wrapped(_));
                (Over::Text, !self.is_plain() && wrapped())
            }
        }
    }
}

/// Whether the string under a key stays as it is whatever follows: its schema allows strings, and no alternative of the
/// whole could ask for something else.
fn can_stream(tool: &Tool, key: &str) -> bool {
    if tool.schema().is_none() {
        return true;
    }
    let schema = Schema::of(tool);
    let string = |property: Schema<'_>| property.types().has(Kind::String);
    schema.declares(key) && schema.branches().is_empty() && schema.property(key).is_some_and(string)
}
