//! The result of a task.

use std::collections::BTreeMap;

use rail_model::Usage;
use rail_proto::{Done, Reason, Spent};
use serde_json::{Map, Value, json};

use super::blocks;
use crate::agent::ending;

/// What is added up until a task is over, and over all tasks.
#[derive(Default)]
pub(crate) struct Sums {
    usage: Usage,
    targets: Vec<String>,
    denials: Vec<Value>,
    /// Of all tasks, by target.
    models: BTreeMap<String, Model>,
    cost_usd: f64,
}

#[derive(Default)]
struct Model {
    usage: Usage,
    cost_usd: f64,
    window: Option<u64>,
}

impl Sums {
    pub(super) fn add(&mut self, spent: &Spent) {
        add(&mut self.usage, &spent.usage);
        if !self.targets.contains(&spent.target) {
            self.targets.push(spent.target.clone());
        }
        let model = self.models.entry(spent.target.clone()).or_default();
        add(&mut model.usage, &spent.usage);
        model.cost_usd += spent.cost_usd.unwrap_or(0.0);
        // The window is the conversation's, whoever asked.
        let own = spent.window.limit.filter(|_| spent.aside.is_none());
        model.window = own.or(model.window);
    }

    pub(super) fn denied(&mut self, denial: Value) {
        self.denials.push(denial);
    }

    /// The result of a task; the next begins with nothing but the sums over all.
    pub(super) fn result(&mut self, done: &Done) -> Value {
        self.cost_usd += done.cost_usd;
        let answered = done.reason == Reason::Answered;
        let denials = done.denials.iter().map(|(tool, allow)| json!({"tool": tool, "allow": allow}));
        let mut result = json!({
            "type": "result",
            "subtype": subtype(done.reason),
            "is_error": ending::failed(done),
            "duration_ms": done.duration_ms,
            "duration_api_ms": done.api_ms,
            "num_turns": done.turns,
            "result": done.text,
            "stop_reason": if answered { json!("end_turn") } else { Value::Null },
            "total_cost_usd": self.cost_usd,
            "usage": blocks::usage(&std::mem::take(&mut self.usage)),
            "modelUsage": self.models(),
            "permission_denials": std::mem::take(&mut self.denials),
            "reason": done.reason,
            "targets": std::mem::take(&mut self.targets),
            "denials": denials.collect::<Vec<_>>(),
        });
        if let (Some(why), Value::Object(fields)) = (ending::errors(done), &mut result) {
            fields.insert("errors".to_owned(), json!([why]));
        }
        result
    }

    fn models(&self) -> Value {
        let model = |(target, model): (&String, &Model)| {
            let used = json!({
                "inputTokens": model.usage.input.unwrap_or(0),
                "outputTokens": model.usage.all_output(),
                "cacheReadInputTokens": model.usage.cache_read.unwrap_or(0),
                "cacheCreationInputTokens": model.usage.cache_write.unwrap_or(0),
                "webSearchRequests": 0,
                "costUSD": model.cost_usd,
                "contextWindow": model.window.unwrap_or(0),
                "maxOutputTokens": 0,
            });
            (target.clone(), used)
        };
        Value::Object(self.models.iter().map(model).collect::<Map<_, _>>())
    }
}

fn add(sum: &mut Usage, usage: &Usage) {
    let add = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    add(&mut sum.input, usage.input);
    add(&mut sum.cache_read, usage.cache_read);
    add(&mut sum.cache_write, usage.cache_write);
    add(&mut sum.output, usage.output);
    add(&mut sum.reasoning, usage.reasoning);
}

/// The end in Claude Code's words; `reason` has ours.
fn subtype(reason: Reason) -> &'static str {
    match reason {
        Reason::Answered => "success",
        Reason::TurnLimit => "error_max_turns",
        Reason::Budget => "error_max_budget_usd",
        Reason::Refused | Reason::Interrupted | Reason::Failed => "error_during_execution",
    }
}
