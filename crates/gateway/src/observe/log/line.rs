//! The lines of the log.

use std::borrow::Cow;
use std::fmt::Write;

use rail_ledger::{Entry, Tokens};
use serde::Serialize;

use crate::clock::{time_of_day, written};

/// The most characters of a text from outside in one line.
const MOST_CHARS: usize = 500;

/// Whether a line is about something wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    /// All is well.
    Info,
    /// Somebody should look at it.
    Warn,
}

/// Something worth knowing.
pub(crate) struct Remark<'a> {
    pub(crate) level: Level,
    /// A word for it: `failover`, `circuit-opened`, ….
    pub(crate) event: &'a str,
    /// The request it happened to.
    pub(crate) request: Option<&'a str>,
    /// The target it happened at.
    pub(crate) target: Option<&'a str>,
    /// What there is to say.
    pub(crate) said: &'a str,
}

impl Remark<'_> {
    /// The line for people.
    pub(super) fn text(&self, at: u64) -> String {
        let mut out = String::new();
        begin(&mut out, at, self.event);
        if let Some(target) = self.target {
            let _ = write!(out, " {}:", harmless(target));
        }
        let _ = write!(out, " {}", harmless(self.said));
        if let Some(request) = self.request {
            let _ = write!(out, "  [{}]", harmless(request));
        }
        out
    }

    /// The line of JSON.
    pub(super) fn json(&self, at: u64) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            time: String,
            level: Level,
            event: &'a str,
            request: Option<&'a str>,
            target: Option<&'a str>,
            message: &'a str,
        }
        json(&Line {
            time: written(at),
            level: self.level,
            event: self.event,
            request: self.request,
            target: self.target,
            message: short(self.said),
        })
    }
}

/// The line of a request for people.
pub(super) fn request_text(entry: &Entry) -> String {
    let mut out = String::new();
    begin(&mut out, entry.at.saturating_add(entry.total_ms), entry.ending.word());
    let asked = if entry.asked.is_empty() { "-" } else { &entry.asked };
    let _ = write!(out, " {} {:>8}  {}", entry.status, time(entry.total_ms), harmless(asked));
    if let Some(target) = &entry.target {
        let _ = write!(out, " -> {}", harmless(target));
    }
    if let Some(virtual_model) = &entry.virtual_model {
        let _ = write!(out, "  {}", harmless(virtual_model));
    }
    if let Some(first) = entry.first_ms {
        let _ = write!(out, "  first {}", time(first));
    }
    tokens(&mut out, entry.tokens);
    if let Some(cost) = entry.cost {
        let _ = write!(out, "  {cost}");
    }
    if entry.sent.len() > 1 {
        let _ = write!(out, "  {} sends", entry.sent.len());
    }
    if !entry.client.is_empty() {
        let _ = write!(out, "  {}", harmless(&entry.client));
    }
    if let Some(problem) = &entry.problem {
        let _ = write!(out, "  {}", harmless(problem));
    }
    let _ = write!(out, "  [{}]", harmless(&entry.id));
    out
}

/// The line of a request as JSON.
pub(super) fn request_json(entry: &Entry) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        time: String,
        level: Level,
        event: &'static str,
        request: &'a str,
        ending: &'static str,
        status: u16,
        protocol: &'a str,
        operation: &'a str,
        stream: bool,
        key: Option<&'a str>,
        client: &'a str,
        session: Option<&'a str>,
        asked: &'a str,
        virtual_model: Option<&'a str>,
        target: Option<&'a str>,
        relayed: bool,
        sends: usize,
        repairs: usize,
        losses: usize,
        tokens: Tokens,
        cost_usd: Option<f64>,
        first_ms: Option<u64>,
        total_ms: u64,
        message: Option<&'a str>,
    }
    let wrong = matches!(entry.ending, rail_ledger::Ending::Failed | rail_ledger::Ending::Broken);
    json(&Line {
        time: written(entry.at.saturating_add(entry.total_ms)),
        level: if wrong { Level::Warn } else { Level::Info },
        event: "request",
        request: &entry.id,
        ending: entry.ending.word(),
        status: entry.status,
        protocol: &entry.protocol,
        operation: &entry.operation,
        stream: entry.stream,
        key: entry.key.as_ref().map(|key| key.0.as_str()),
        client: short(&entry.client),
        session: entry.session.as_deref().map(short),
        asked: short(&entry.asked),
        virtual_model: entry.virtual_model.as_deref(),
        target: entry.target.as_deref().map(short),
        relayed: entry.relayed,
        sends: entry.sent.len(),
        repairs: entry.repairs.len(),
        losses: entry.losses.len(),
        tokens: entry.tokens,
        cost_usd: entry.cost.map(|cost| cost.dollars()),
        first_ms: entry.first_ms,
        total_ms: entry.total_ms,
        message: entry.problem.as_deref().map(short),
    })
}

fn begin(out: &mut String, at: u64, word: &str) {
    let _ = write!(out, "{}Z {word:<14}", time_of_day(at / 1000));
}

fn tokens(out: &mut String, tokens: Tokens) {
    let input = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
    let output = tokens.output.saturating_add(tokens.reasoning);
    if input > 0 || output > 0 {
        let _ = write!(out, "  {input}+{output} tokens");
    }
}

fn time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..100_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} s", ms / 1000),
    }
}

fn json(line: &impl Serialize) -> String {
    // Plain values in a struct can always be written.
    let line = serde_json::to_string(line).unwrap_or_default();
    if !line.contains(is_odd) {
        return line;
    }
    // JSON itself lets some of them stand; they are only ever inside strings, where their number means the same.
    let mut out = String::new();
    for c in line.chars() {
        if is_odd(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// The beginning of a text.
fn short(text: &str) -> &str {
    if text.len() <= MOST_CHARS {
        return text;
    }
    text.char_indices().nth(MOST_CHARS).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// The beginning of a text, as it can stand in a line: what would move the cursor, begin a line or turn the writing around is
/// shown by its number.
fn harmless(text: &str) -> Cow<'_, str> {
    let text = short(text);
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        if is_odd(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
