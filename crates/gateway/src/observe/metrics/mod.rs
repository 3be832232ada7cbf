//! What is counted, in the text form that Prometheus reads.
//!
//! Written by hand: labels are looked up without copying them, and the form is a few lines of text.

mod family;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rail_ledger::{Ending, Entry, SentEntry};
use rail_model::Json;
use rail_route::TargetHealth;
use serde::Deserialize;

use super::known::{Known, OTHER, model_of};
use family::{Counters, Histograms, Word, Words, head, number, sample};

/// The bounds that the GenAI conventions give for durations, in seconds.
const SECONDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/// The bounds that the GenAI conventions give for tokens.
const TOKENS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// Kinds of repair that have a label of their own.
const MOST_KINDS: usize = 64;

/// All that is counted.
pub(crate) struct Metrics(Mutex<Counted>);

/// What is not counted but looked up when somebody asks.
pub(crate) struct Gauges<'a> {
    /// Requests on their way.
    pub(crate) in_flight: usize,
    /// Open connections, if somebody tells.
    pub(crate) connections: Option<u64>,
    /// How targets fare.
    pub(crate) health: &'a [TargetHealth],
    /// When the gateway started, in Unix milliseconds.
    pub(crate) started: u64,
    /// What was given up, by what it was: its name and how many.
    pub(crate) dropped: &'a [(&'static str, u64)],
}

struct Counted {
    words: Words,
    repair_kinds: Vec<String>,
    requests: Counters<6>,
    seconds: Histograms<3>,
    first_seconds: Histograms<2>,
    sends: Counters<2>,
    retries: Counters<1>,
    failovers: Counters<1>,
    tokens: Counters<2>,
    cost: Counters<1>,
    repairs: Counters<1>,
    losses: Counters<0>,
    operation_seconds: Histograms<4>,
    first_chunk_seconds: Histograms<3>,
    token_usage: Histograms<4>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self(Mutex::new(Counted::new()))
    }
}

impl Metrics {
    /// Counts a request that came to its end.
    pub(crate) fn ended(&self, entry: &Entry, known: &Known) {
        self.counted().ended(entry, known);
    }

    /// All of it as text.
    pub(crate) fn text(&self, gauges: &Gauges<'_>, known: &Known) -> String {
        let mut out = self.counted().text();
        gauges.write(known, &mut out);
        out
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        // A panic while counting leaves numbers that are at most one request behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn new() -> Self {
        let gen_ai = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"];
        let [operation, provider, model] = gen_ai;
        Self {
            words: Words::default(),
            repair_kinds: Vec::new(),
            requests: Counters::new(
                "switchrail_requests_total",
                ["protocol", "operation", "virtual_model", "target", "ending", "status"],
                "Requests that came to their end.",
            ),
            seconds: Histograms::new(
                "switchrail_request_duration_seconds",
                ["protocol", "operation", "ending"],
                SECONDS,
                "Time from a request's arrival to its end.",
            ),
            first_seconds: Histograms::new(
                "switchrail_request_first_content_seconds",
                ["protocol", "operation"],
                SECONDS,
                "Time from a request's arrival to its first content.",
            ),
            sends: Counters::new("switchrail_sends_total", ["target", "outcome"], "Sends to targets."),
            retries: Counters::new(
                "switchrail_retries_total",
                ["target"],
                "Sends to a target that was asked just before.",
            ),
            failovers: Counters::new(
                "switchrail_failovers_total",
                ["target"],
                "Times that a target was left for the next.",
            ),
            tokens: Counters::new(
                "switchrail_tokens_total",
                ["target", "kind"],
                "Tokens, each counted once.",
            ),
            cost: Counters::new("switchrail_cost_dollars_total", ["target"], "What answers cost."),
            repairs: Counters::new("switchrail_repairs_total", ["kind"], "Calls that were mended."),
            losses: Counters::new(
                "switchrail_losses_total",
                [],
                "Things that could not be carried between protocols.",
            ),
            operation_seconds: Histograms::new(
                "gen_ai_client_operation_duration_seconds",
                [operation, provider, model, "error_type"],
                SECONDS,
                "GenAI operation duration: one send to a target.",
            ),
            first_chunk_seconds: Histograms::new(
                "gen_ai_client_operation_time_to_first_chunk_seconds",
                gen_ai,
                SECONDS,
                "Time from a send to the first chunk of a streamed answer.",
            ),
            token_usage: Histograms::new(
                "gen_ai_client_token_usage",
                [operation, provider, model, "gen_ai_token_type"],
                TOKENS,
                "Number of input and output tokens used.",
            ),
        }
    }

    fn ended(&mut self, entry: &Entry, known: &Known) {
        let target = entry.target.as_deref().map_or("", |target| known.label(target));
        let protocol = self.words.of(&entry.protocol);
        let operation = self.words.of(&entry.operation);
        let virtual_model = self.words.of(entry.virtual_model.as_deref().unwrap_or_default());
        let target_word = self.words.of(target);
        let ending = self.words.of(entry.ending.word());
        let status = self.words.of(&entry.status.to_string());
        self.requests.add([protocol, operation, virtual_model, target_word, ending, status], 1.0);
        self.seconds.saw([protocol, operation, ending], seconds(entry.total_ms));
        if let Some(first) = entry.first_ms {
            self.first_seconds.saw([protocol, operation], seconds(first));
        }
        self.sends(entry, known);
        self.spent(entry, target_word);
        self.mended(entry);
        self.answered(entry, known);
    }

    fn sends(&mut self, entry: &Entry, known: &Known) {
        let operation = self.words.of(operation_name(entry));
        let mut before: Option<&SentEntry> = None;
        for (at, sent) in entry.sent.iter().enumerate() {
            let target = self.words.of(known.label(&sent.target));
            let outcome = self.words.of(&sent.outcome);
            self.sends.add([target, outcome], 1.0);
            match before {
                Some(before) if before.target == sent.target => self.retries.add([target], 1.0),
                Some(before) => {
                    let left = self.words.of(known.label(&before.target));
                    self.failovers.add([left], 1.0);
                }
                None => {}
            }
            before = Some(sent);
            let gen_ai = self.gen_ai(operation, &sent.target, known);
            let [_, provider, model] = gen_ai;
            let is_last = at + 1 == entry.sent.len();
            let error = self.words.of(&error_type(entry, sent));
            let took = if is_last { whole_ms(entry, sent) } else { sent.took_ms };
            self.operation_seconds.saw([operation, provider, model, error], seconds(took));
            if entry.stream && sent.outcome == "answered" {
                self.first_chunk_seconds.saw(gen_ai, seconds(sent.took_ms));
            }
        }
    }

    /// The labels of the GenAI conventions for a target.
    fn gen_ai(&mut self, operation: Word, target: &str, known: &Known) -> [Word; 3] {
        let provider = self.words.of(known.system(target));
        let model = self.words.of(model_of(known.label(target)));
        [operation, provider, model]
    }

    fn spent(&mut self, entry: &Entry, target: Word) {
        let tokens = entry.tokens;
        for (kind, count) in [
            ("input", tokens.input),
            ("cache_read", tokens.cache_read),
            ("cache_write", tokens.cache_write),
            ("output", tokens.output),
            ("reasoning", tokens.reasoning),
        ] {
            if count > 0 {
                let kind = self.words.of(kind);
                self.tokens.add([target, kind], float(count));
            }
        }
        if let Some(cost) = entry.cost {
            self.cost.add([target], cost.dollars());
        }
    }

    fn mended(&mut self, entry: &Entry) {
        for kind in entry.repairs.iter().flat_map(repair_steps) {
            if !self.repair_kinds.contains(&kind) && self.repair_kinds.len() < MOST_KINDS {
                self.repair_kinds.push(kind.clone());
            }
            let is_known = self.repair_kinds.contains(&kind);
            let word = self.words.of(if is_known { &kind } else { OTHER });
            self.repairs.add([word], 1.0);
        }
        self.losses.add([], float(entry.losses.len() as u64));
    }

    fn answered(&mut self, entry: &Entry, known: &Known) {
        let Some(target) = &entry.target else { return };
        let tokens = entry.tokens;
        let input = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
        let output = tokens.output.saturating_add(tokens.reasoning);
        let operation = self.words.of(operation_name(entry));
        let [_, provider, model] = self.gen_ai(operation, target, known);
        for (kind, count) in [("input", input), ("output", output)] {
            if count > 0 {
                let kind = self.words.of(kind);
                self.token_usage.saw([operation, provider, model, kind], float(count));
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let words = &self.words;
        self.requests.write(words, &mut out);
        self.seconds.write(words, &mut out);
        self.first_seconds.write(words, &mut out);
        self.sends.write(words, &mut out);
        self.retries.write(words, &mut out);
        self.failovers.write(words, &mut out);
        self.tokens.write(words, &mut out);
        self.cost.write(words, &mut out);
        self.repairs.write(words, &mut out);
        self.losses.write(words, &mut out);
        self.operation_seconds.write(words, &mut out);
        self.first_chunk_seconds.write(words, &mut out);
        self.token_usage.write(words, &mut out);
        out
    }
}

impl Gauges<'_> {
    fn write(&self, known: &Known, out: &mut String) {
        let mut gauge = |name: &str, help: &str, value: String| {
            head(out, name, "gauge", help);
            sample(out, name, &[], &value);
        };
        gauge("switchrail_requests_in_flight", "Requests on their way.", self.in_flight.to_string());
        if let Some(open) = self.connections {
            gauge("switchrail_connections_open", "Open connections of clients.", open.to_string());
        }
        let started = number(seconds(self.started));
        gauge("switchrail_start_time_seconds", "When the gateway started, in Unix seconds.", started);
        let name = "switchrail_circuit_state";
        head(out, name, "gauge", "1 for the state that a target's circuit is in.");
        for target in self.health.iter().filter(|target| known.has(&target.target)) {
            for state in ["closed", "half-open", "open"] {
                let is = if target.circuit == state { "1" } else { "0" };
                sample(out, name, &[("target", &target.target), ("state", state)], is);
            }
        }
        let name = "switchrail_dropped_total";
        head(out, name, "counter", "What was given up because nobody took it in time.");
        for (what, count) in self.dropped {
            sample(out, name, &[("what", what)], &count.to_string());
        }
        let name = "switchrail_build_info";
        head(out, name, "gauge", "The version that runs.");
        sample(out, name, &[("version", env!("CARGO_PKG_VERSION"))], "1");
    }
}

/// What the GenAI conventions call what was asked.
pub(crate) fn operation_name(entry: &Entry) -> &str {
    match entry.operation.as_str() {
        "generate" if entry.protocol == "gemini" => "generate_content",
        "generate" => "chat",
        "embed" => "embeddings",
        "count" => "count_tokens",
        other => other,
    }
}

/// What went wrong with a send, in a word that does not name it; empty when nothing did.
pub(crate) fn error_type(entry: &Entry, sent: &SentEntry) -> String {
    match (sent.outcome.as_str(), sent.status) {
        ("answered", _) if entry.ending == Ending::Broken => "broken".to_owned(),
        ("answered", _) => String::new(),
        ("failed", Some(status)) if status >= 400 => status.to_string(),
        (outcome, _) => outcome.to_owned(),
    }
}

/// How long the last send took in all: if it was answered, until the request's end.
pub(crate) fn whole_ms(entry: &Entry, sent: &SentEntry) -> u64 {
    match sent.outcome.as_str() {
        "answered" => entry.total_ms.saturating_sub(sent.began_ms).max(sent.took_ms),
        _ => sent.took_ms,
    }
}

/// What was done to a mended call, in words: the `step` of each thing in `done`.
pub(crate) fn repair_steps(repair: &Json) -> Vec<String> {
    #[derive(Deserialize)]
    struct Repair {
        #[serde(default)]
        done: Vec<Done>,
    }
    #[derive(Deserialize)]
    struct Done {
        step: String,
    }
    let read = serde_json::from_str::<Repair>(repair.text());
    read.map(|repair| repair.done.into_iter().map(|done| done.step).collect()).unwrap_or_default()
}

fn seconds(ms: u64) -> f64 {
    float(ms) / 1000.0
}

#[expect(clippy::cast_precision_loss, reason = "nobody reads sixteen digits of a metric")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
