//! `rail provider list`: all that is known of providers, and no secret.

use std::fmt::Write;

use clap::Args;
use rail_config::{Env, KeyShown, ListedProvider, Loaded};
use rail_route::{Calibration, Target};
use rail_stdx::date;
use rail_upstream::{KeptHealth, Lesson};
use serde_json::{Value, json};

use super::NONE;
use crate::clock::Now;
use crate::setup::{Common, warn};
use crate::state::{State, home};
use crate::{Failure, output};

/// So wide may the list of a provider's models be.
const WIDTH: usize = 100;
/// So much of a message is shown.
const MESSAGE: usize = 70;

#[derive(Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        warn(&loaded);
        let env = common.inputs()?.env;
        if self.json {
            let home = home(&env);
            let listed = loaded.listed_providers(home.as_deref());
            let listing = Listing { loaded: &loaded, state: State::load(&loaded), now: Now::read() };
            let providers: Vec<Value> = listed.iter().map(|one| listing.json(one)).collect();
            return output::print_json(&json!({"active": loaded.routing.active, "providers": providers}));
        }
        output::print(&listed(&loaded, &env))
    }
}

/// The list, for people.
pub(crate) fn listed(loaded: &Loaded, env: &Env) -> String {
    let home = home(env);
    let listed = loaded.listed_providers(home.as_deref());
    if listed.is_empty() {
        return format!("{NONE}\n");
    }
    let listing = Listing { loaded, state: State::load(loaded), now: Now::read() };
    listed.iter().map(|one| listing.text(one)).collect()
}

struct Listing<'a> {
    loaded: &'a Loaded,
    state: State,
    now: Now,
}

/// What is known of a target.
struct Known<'a> {
    target: Target,
    health: Option<&'a KeptHealth>,
    lessons: &'a [Lesson],
    calibration: Calibration,
}

impl Known<'_> {
    fn is_nothing(&self) -> bool {
        self.health.is_none() && self.lessons.is_empty() && self.calibration.reports() == 0
    }
}

impl Listing<'_> {
    fn known(&self, provider: &str) -> Vec<Known<'_>> {
        let State { learned, health } = &self.state;
        let known = |target: Target| Known {
            health: health.of(&target),
            lessons: learned.of(&target),
            calibration: learned.calibration(&target),
            target,
        };
        self.loaded.routing.targets_of(provider).into_iter().map(known).collect()
    }

    fn json(&self, listed: &ListedProvider<'_>) -> Value {
        let provider = listed.provider;
        let keys = match &listed.key {
            KeyShown::Hints(hints) => hints.clone(),
            KeyShown::None | KeyShown::InHeader(_) => Vec::new(),
        };
        let targets: Vec<Value> =
            self.known(&provider.name).iter().map(|known| target_json(known, self.now)).collect();
        json!({
            "name": provider.name,
            "active": listed.active,
            "protocol": provider.protocol.name(),
            "address": listed.address,
            "origin": listed.origin,
            "keys": keys,
            "unusable": provider.unusable,
            "targets": targets,
        })
    }

    fn text(&self, listed: &ListedProvider<'_>) -> String {
        let (provider, mut out) = (listed.provider, String::new());
        let star = if listed.active { '*' } else { ' ' };
        let key = match &listed.key {
            KeyShown::None => "no key".to_owned(),
            KeyShown::Hints(hints) => format!("key {}", hints.join(", ")),
            KeyShown::InHeader(name) => format!("key in `{name}`"),
        };
        // A string takes no errors.
        let _ = writeln!(out, "{star} {}  {}  {}", provider.name, provider.protocol.name(), listed.address);
        let _ = writeln!(out, "    {key}; {}", listed.origin);
        if let Some(why) = &provider.unusable {
            let _ = writeln!(out, "    can't be used: {why}");
        }
        let (quiet, known): (Vec<_>, Vec<_>) =
            self.known(&provider.name).into_iter().partition(Known::is_nothing);
        let wide = known.iter().map(|known| known.target.model.chars().count()).max().unwrap_or_default();
        for known in &known {
            let mut model = known.target.model.as_str();
            for line in target_lines(known, self.now) {
                let _ = writeln!(out, "    {model:<wide$}  {line}");
                model = "";
            }
        }
        let quiet: Vec<&str> = quiet.iter().map(|known| known.target.model.as_str()).collect();
        out.push_str(&wrapped("    not asked lately: ", &quiet));
        out
    }
}

fn target_json(known: &Known<'_>, now: Now) -> Value {
    let health = known.health.map(|kept| {
        json!({
            "circuit": kept.circuit(now.unix),
            "open_until": kept.open_until,
            "failure_rate": kept.failure_rate,
            "latency_ms": kept.latency_ms,
            "last_error": kept.last_error,
            "at": kept.at,
        })
    });
    let lesson = |lesson: &Lesson| json!({"does": lesson.fix.to_string(), "fix": lesson.fix, "because": lesson.because, "at": lesson.at});
    let learned: Vec<Value> = known.lessons.iter().map(lesson).collect();
    let calibration = (known.calibration.reports() > 0)
        .then(|| json!({"factor": known.calibration.factor(), "answers": known.calibration.reports()}));
    json!({
        "target": known.target.to_string(),
        "health": health,
        "learned": learned,
        "calibration": calibration,
    })
}

fn target_lines(known: &Known<'_>, now: Now) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(kept) = known.health {
        lines.push(health_line(kept, now));
        let error = kept.last_error.as_ref().filter(|_| kept.failure_rate.is_some_and(|rate| rate > 0.0));
        lines.extend(error.map(|error| format!("last failure: {}", short(&error.text))));
    }
    for Lesson { fix, because, at } in known.lessons {
        lines.push(format!("{fix} since {}: {}", date(*at), short(because)));
    }
    if known.calibration.reports() > 0 {
        let (factor, answers) = (known.calibration.factor(), known.calibration.reports());
        lines.push(format!(
            "counts {factor:.2} tokens for each that is estimated, by {}",
            answers_of(answers)
        ));
    }
    lines
}

fn answers_of(number: u32) -> String {
    format!("{number} answer{}", if number == 1 { "" } else { "s" })
}

fn health_line(kept: &KeptHealth, now: Now) -> String {
    let mut line = format!("circuit {}", kept.circuit(now.unix));
    if let Some(left) = kept.open_until.and_then(|until| until.checked_sub(now.unix)).filter(|left| *left > 0)
    {
        line += &format!(" for {} min more", left.div_ceil(60));
    }
    if let Some(rate) = kept.failure_rate {
        line += &format!(", {:.0} % failed", rate * 100.0);
    }
    if let Some(latency) = kept.latency_ms {
        line += &format!(", first content after {latency} ms");
    }
    let (day, today) = (date(kept.at), date(now.unix));
    line + &format!(", asked {}", if day == today { "today" } else { &day })
}

/// One line of a message, not too long.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().filter(|c| !c.is_control()).take(MESSAGE).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// Names behind a head, on as many lines as they need.
fn wrapped(head: &str, names: &[&str]) -> String {
    let (mut out, mut line) = (String::new(), head.to_owned());
    let indent = " ".repeat(head.chars().count());
    for (at, name) in names.iter().enumerate() {
        let comma = if at + 1 < names.len() { ", " } else { "" };
        if line.len() > indent.len() && line.chars().count() + name.chars().count() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line.clone_from(&indent);
        }
        line += &format!("{name}{comma}");
    }
    if !names.is_empty() {
        out += &format!("{line}\n");
    }
    out
}
