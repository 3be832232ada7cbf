//! A request's record as spans.

use std::borrow::Cow;

use rail_ledger::{Ending, Entry, SentEntry};
use serde::Deserialize;

use super::context::{Context, new_span};
use super::proto::{Message, Value};
use crate::observe::Mask;
use crate::observe::known::{Known, model_of};
use crate::observe::metrics::{error_type, operation_name, whole_ms};

/// The most characters of a text in a span.
const MOST_CHARS: usize = 500;
/// Who answers when no target does.
const OURSELVES: &str = "switchrail";

const SERVER: u64 = 2;
const CLIENT: u64 = 3;
const ERROR: u64 = 2;

/// The field of `Span` for attributes.
const ATTRIBUTES: u32 = 9;
/// The field of `ScopeSpans` for spans.
const SPANS: u32 = 2;

/// Spans, each as a field of `ScopeSpans`.
#[derive(Debug)]
pub(super) struct Spans {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u64,
}

/// The span of a request, and those of its sends.
pub(super) fn spans(entry: &Entry, context: &Context, known: &Known, mask: &Mask) -> Spans {
    let told = Told { entry, context, known, mask };
    let mut all = Message::default();
    all.inner(SPANS, |span| told.request(span));
    for (at, sent) in entry.sent.iter().enumerate() {
        let took = if at + 1 == entry.sent.len() { whole_ms(entry, sent) } else { sent.took_ms };
        all.inner(SPANS, |span| told.sent(span, sent, took));
    }
    Spans { bytes: all.0, count: 1 + entry.sent.len() as u64 }
}

struct Told<'a> {
    entry: &'a Entry,
    context: &'a Context,
    known: &'a Known,
    mask: &'a Mask,
}

/// What of a route stands in a span.
#[derive(Deserialize)]
struct Why<'a> {
    #[serde(borrow)]
    why: Cow<'a, str>,
}

impl Told<'_> {
    fn request(&self, span: &mut Message) {
        let Self { entry, context, known, .. } = self;
        span.bytes(1, &context.trace);
        span.bytes(2, &context.span);
        if let Some(parent) = context.parent {
            span.bytes(4, &parent);
        }
        let operation = operation_name(entry);
        let asked = self.text(&entry.asked);
        span.bytes(5, format!("{operation} {asked}").trim_end().as_bytes());
        span.number(6, SERVER);
        span.fixed64(7, nanos(entry.at));
        span.fixed64(8, nanos(entry.at.saturating_add(entry.total_ms)));

        let target = entry.target.as_deref();
        text(span, "gen_ai.operation.name", operation);
        text(span, "gen_ai.provider.name", target.map_or(OURSELVES, |target| known.system(target)));
        text(span, "gen_ai.request.model", &asked);
        text(span, "gen_ai.response.model", target.map_or("", model_of));
        text(span, "gen_ai.conversation.id", &self.text(entry.session.as_deref().unwrap_or_default()));
        set(span, "gen_ai.request.stream", Value::Bool(entry.stream));
        self.usage(span);
        set(span, "http.response.status_code", Value::Int(u64::from(entry.status)));
        self.own(span);

        let (error, failed) = match entry.ending {
            Ending::Answered => ("", false),
            Ending::Failed | Ending::Broken => (entry.ending.word(), true),
            // What the client did wrong, or that it went away, is no error of the server's.
            Ending::Refused | Ending::Left => (entry.ending.word(), false),
        };
        match entry.status {
            status if !error.is_empty() && status >= 400 => text(span, "error.type", &status.to_string()),
            _ => text(span, "error.type", error),
        }
        if failed {
            self.status(span, entry.problem.as_deref());
        }
        span.fixed32(16, flags(context));
    }

    /// Tokens as the conventions count them: cached input is input, reasoning is output.
    fn usage(&self, span: &mut Message) {
        let tokens = self.entry.tokens;
        let input = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
        let output = tokens.output.saturating_add(tokens.reasoning);
        for (name, count) in [
            ("gen_ai.usage.input_tokens", input),
            ("gen_ai.usage.output_tokens", output),
            ("gen_ai.usage.cache_read.input_tokens", tokens.cache_read),
            ("gen_ai.usage.cache_creation.input_tokens", tokens.cache_write),
            ("gen_ai.usage.reasoning.output_tokens", tokens.reasoning),
        ] {
            if count > 0 {
                set(span, name, Value::Int(count));
            }
        }
        if let Some(first) = self.entry.first_ms.filter(|_| self.entry.stream) {
            set(span, "gen_ai.response.time_to_first_chunk", Value::Double(seconds(first)));
        }
    }

    /// What the conventions have no word for.
    fn own(&self, span: &mut Message) {
        let entry = self.entry;
        text(span, "switchrail.request.id", &entry.id);
        text(span, "switchrail.protocol", &entry.protocol);
        text(span, "switchrail.client", &self.text(&entry.client));
        text(span, "switchrail.key", entry.key.as_ref().map_or("", |key| &key.0));
        text(span, "switchrail.virtual_model", entry.virtual_model.as_deref().unwrap_or_default());
        let why = entry.route.as_ref().and_then(|route| serde_json::from_str::<Why<'_>>(route.text()).ok());
        text(span, "switchrail.route.why", &why.map(|route| self.text(&route.why)).unwrap_or_default());
        text(span, "switchrail.target", entry.target.as_deref().unwrap_or_default());
        text(span, "switchrail.ending", entry.ending.word());
        set(span, "switchrail.relayed", Value::Bool(entry.relayed));
        set(span, "switchrail.sends", Value::Int(entry.sent.len() as u64));
        set(span, "switchrail.repairs", Value::Int(entry.repairs.len() as u64));
        set(span, "switchrail.losses", Value::Int(entry.losses.len() as u64));
        if let Some(cost) = entry.cost {
            set(span, "switchrail.cost_usd", Value::Double(cost.dollars()));
        }
    }

    fn sent(&self, span: &mut Message, sent: &SentEntry, took_ms: u64) {
        let Self { entry, context, known, .. } = self;
        span.bytes(1, &context.trace);
        span.bytes(2, &new_span());
        span.bytes(4, &context.span);
        let (operation, model) = (operation_name(entry), model_of(&sent.target));
        span.bytes(5, format!("{operation} {model}").as_bytes());
        span.number(6, CLIENT);
        let began = entry.at.saturating_add(sent.began_ms);
        span.fixed64(7, nanos(began));
        span.fixed64(8, nanos(began.saturating_add(took_ms)));
        text(span, "gen_ai.operation.name", operation);
        text(span, "gen_ai.provider.name", known.system(&sent.target));
        text(span, "gen_ai.request.model", model);
        if let Some(provider) = known.provider(&sent.target) {
            text(span, "server.address", &provider.host);
            set(span, "server.port", Value::Int(u64::from(provider.port)));
        }
        if let Some(status) = sent.status {
            set(span, "http.response.status_code", Value::Int(u64::from(status)));
        }
        text(span, "switchrail.target", &sent.target);
        text(span, "switchrail.outcome", &sent.outcome);
        set(span, "switchrail.possible_charge", Value::Bool(sent.possible_charge));
        let error = error_type(entry, sent);
        text(span, "error.type", &error);
        if !error.is_empty() && sent.outcome != "left" {
            self.status(span, sent.problem.as_deref());
        }
        span.fixed32(16, flags(context));
    }

    fn status(&self, span: &mut Message, problem: Option<&str>) {
        span.inner(15, |status| {
            status.bytes(2, self.text(problem.unwrap_or_default()).as_bytes());
            status.number(3, ERROR);
        });
    }

    /// Text from outside: no secret, and not without end.
    fn text(&self, text: &str) -> String {
        self.mask.cover(text).chars().take(MOST_CHARS).collect()
    }
}

fn text(span: &mut Message, name: &str, value: &str) {
    if !value.is_empty() {
        set(span, name, Value::Text(value));
    }
}

fn set(span: &mut Message, name: &str, value: Value<'_>) {
    span.attribute(ATTRIBUTES, name, value);
}

fn flags(context: &Context) -> u32 {
    u32::from(context.sampled)
}

fn nanos(ms: u64) -> u64 {
    ms.saturating_mul(1_000_000)
}

#[expect(clippy::cast_precision_loss, reason = "no request takes so long")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
