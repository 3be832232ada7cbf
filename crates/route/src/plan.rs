use std::sync::Arc;
use std::time::Instant;

use crate::figures::{count, grouped};
use crate::line::{Line, Place};
use crate::stay::{Stay, stay};
use crate::{
    Calibration, Circuit, Facts, Health, ImageMatch, ModelProfile, Provider, Routing, Session, Target,
    ToolStyle,
};

/// Tokens of output that a request needs room for when it does not say how many it wants.
const USUAL_OUTPUT: u64 = 1_024;

/// All that a plan is made of.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// What the configuration says.
    pub routing: &'a Routing,
    /// What the request is.
    pub facts: &'a Facts<'a>,
    /// What was seen of targets lately.
    pub health: &'a Health,
    /// What is remembered of the conversation.
    pub session: Option<&'a Session>,
    /// This moment.
    pub now: Instant,
}

/// The ordered attempts for one request, each with the reason why it is there.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The model name that was asked for.
    pub asked: String,
    /// The virtual model it was taken for; None when a target was asked for by name.
    pub virtual_model: Option<String>,
    /// Why this virtual model or this target.
    pub why: String,
    /// Tokens of input, as estimated for any target: what a target reports teaches how it counts.
    pub estimated: u64,
    /// What is tried, in this order.
    pub attempts: Vec<Attempt>,
    /// What could have been tried and is not.
    pub skipped: Vec<Skipped>,
}

/// One target that is tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// The target.
    pub target: Target,
    /// How to reach it.
    pub provider: Arc<Provider>,
    /// What is known of the model.
    pub profile: Arc<ModelProfile>,
    /// Why it is there.
    pub why: String,
}

/// One target that is not tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// The target.
    pub target: Target,
    /// Why not.
    pub why: String,
}

/// Orders the targets that may answer a request: those of its chain, of the security chain, and at last, if so configured, of
/// the default chain.
pub fn plan(input: &PlanInput<'_>) -> Plan {
    let line = Line::up(input.routing, input.facts, input.session);
    let (mut attempts, skipped) = able(input, &line.places);
    wait_for_open_circuits(input, &mut attempts);
    prefer_the_last_target(input, &line, &mut attempts);
    Plan {
        asked: input.facts.asked.to_owned(),
        virtual_model: line.virtual_model,
        why: line.why,
        estimated: input.facts.estimated,
        attempts,
        skipped,
    }
}

/// The plan for the tokens that the target asked first will count, and the facts with them: the estimate, and what was learned
/// of that target.
pub fn calibrated<'a>(input: &PlanInput<'a>, learned: impl Fn(&Target) -> Calibration) -> (Plan, Facts<'a>) {
    let estimated = plan(input);
    let calibration = estimated.attempts.first().map(|attempt| learned(&attempt.target)).unwrap_or_default();
    let facts = Facts { tokens: calibration.apply(input.facts.tokens), ..input.facts.clone() };
    if facts.tokens == input.facts.tokens {
        return (estimated, facts);
    }
    (plan(&PlanInput { facts: &facts, ..*input }), facts)
}

/// Those that can serve the request, and why the others can't. Who is there but not able comes back when nobody is able: a
/// provider may still find a way, and its own error says more than ours.
fn able(input: &PlanInput<'_>, places: &[Place]) -> (Vec<Attempt>, Vec<Skipped>) {
    let (mut attempts, mut unable, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for Place { target, why } in places {
        match reach(input, target) {
            Err(why) => skipped.push(Skipped { target: target.clone(), why }),
            Ok((provider, profile)) => {
                let lack = lacks(input, &profile);
                let attempt = Attempt { target: target.clone(), provider, profile, why: why.clone() };
                match lack {
                    None => attempts.push(attempt),
                    Some(lack) => unable.push((attempt, lack)),
                }
            }
        }
    }
    if attempts.is_empty() {
        attempts.extend(unable.into_iter().map(|(attempt, lack)| {
            let why = format!("{}; nothing else is left, although {lack}", attempt.why);
            Attempt { why, ..attempt }
        }));
    } else {
        skipped
            .extend(unable.into_iter().map(|(attempt, lack)| Skipped { target: attempt.target, why: lack }));
    }
    (attempts, skipped)
}

/// How to reach a target and what is known of its model, or why it can't be reached as configured.
pub(crate) fn reach(
    input: &PlanInput<'_>,
    target: &Target,
) -> Result<(Arc<Provider>, Arc<ModelProfile>), String> {
    let name = &target.provider;
    let Some(provider) = input.routing.providers.get(name) else {
        return Err(format!("the provider `{name}` is not configured"));
    };
    match &provider.unusable {
        Some(why) => Err(why.clone()),
        None => Ok((Arc::clone(provider), input.routing.profiles.of(provider, &target.model))),
    }
}

/// What a model lacks to serve the request, if anything.
pub(crate) fn lacks(input: &PlanInput<'_>, profile: &ModelProfile) -> Option<String> {
    let facts = input.facts;
    let output = facts.max_output.unwrap_or(USUAL_OUTPUT);
    if let Some(room) = profile.room(output).filter(|room| facts.tokens > *room) {
        // More output than the model gives is clamped before it is sent.
        let output = grouped(output.min(profile.max_output.unwrap_or(output)));
        let [tokens, room] = [facts.tokens, room].map(grouped);
        return Some(format!(
            "{tokens} tokens are more than the {room} that it takes beside {output} of output"
        ));
    }
    // Older images are replaced by a note where they can't be seen, unless every image is said to count.
    let images = match input.routing.options.image_match {
        ImageMatch::LastTurn => facts.last_images,
        ImageMatch::Any => facts.images,
    };
    if images > 0 && !profile.vision {
        return Some(format!("it sees no images, and the request holds {}", count(images, "image")));
    }
    match profile.tools {
        ToolStyle::None if !facts.tools.is_empty() => {
            Some(format!("it calls no tools, and {} declared", are(facts.tools.len())))
        }
        ToolStyle::None | ToolStyle::Native | ToolStyle::Mixed | ToolStyle::Prompted => None,
    }
}

fn are(tools: usize) -> String {
    format!("{} {}", count(tools, "tool"), if tools == 1 { "is" } else { "are" })
}

/// Moves targets whose circuit is open to the end. A half-open one keeps its place: that is how it is found to work again.
fn wait_for_open_circuits(input: &PlanInput<'_>, attempts: &mut Vec<Attempt>) {
    let mut open = Vec::new();
    for mut attempt in std::mem::take(attempts) {
        match input.health.circuit(&attempt.target, input.now) {
            Circuit::Closed => attempts.push(attempt),
            Circuit::HalfOpen => {
                attempt.why.push_str("; it failed lately, and is tried again");
                attempts.push(attempt);
            }
            Circuit::Open(until) => {
                let seconds = until.saturating_duration_since(input.now).as_secs_f64().ceil();
                attempt
                    .why
                    .push_str(&format!("; moved to the end: its circuit is open for {seconds} s more"));
                open.push(attempt);
            }
        }
    }
    attempts.append(&mut open);
}

/// Puts the target that answered last in front, where leaving it would cost more than it gains.
fn prefer_the_last_target(input: &PlanInput<'_>, line: &Line, attempts: &mut Vec<Attempt>) {
    match stay(input, line, attempts.first()) {
        Stay::No => {}
        Stay::Leave(why) => {
            if let Some(first) = attempts.first_mut() {
                first.why.push_str(&format!("; {why}"));
            }
        }
        Stay::With(attempt) => {
            attempts.retain(|other| other.target != attempt.target);
            attempts.insert(0, *attempt);
        }
    }
}
