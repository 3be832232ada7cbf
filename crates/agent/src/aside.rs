//! Models that tools ask outside of the conversation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rail_config::found::from_environment;
use rail_config::{Env, Loaded};
use rail_model::{
    Delta, Event, Extras, Media, MediaKind, MediaSource, Message, Part, PartBody, Purpose, Request, Role,
    Stop, ToolDecl, ToolKind, Usage,
};
use rail_proto::Spent;
use rail_route::{
    Attempt, Client, Health, Plan, PlanInput, Routing, Sessions, Skipped, Target, VisionInput,
    document_vision, estimate, facts, is_minimax_vl, named_vision, plan, vision,
};
use rail_tool::{BoxFuture, Inquired, Inquiry, Models, Told};
use rail_tools::Sight;
use rail_upstream::{Fix, Upstream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::bill::Bill;
use crate::plans::{self, bytes, leave_out_unpriced, nobody};
use crate::team::Purse;

/// How long an answer may take, all that is tried for it included.
const LIMIT: Duration = Duration::from_secs(300);

/// What models that tools ask are reached with.
pub struct AsideParts {
    /// The way to models.
    pub upstream: Upstream,
    /// The configuration.
    pub loaded: Arc<Loaded>,
    /// The environment: a key in it makes a provider that can be asked about images, whatever is configured.
    pub env: Env,
    /// The session's model.
    pub model: String,
    /// What it is paid from; with a budget in dollars nobody is asked whose price is not known.
    pub purse: Arc<Purse>,
    /// Hears what each answer took, also one that was not heard to its end; estimated where nothing was reported.
    pub heard: Arc<dyn Fn(Spent) + Send + Sync>,
}

/// Asks models for tools, outside of the conversation.
pub struct Aside {
    parts: AsideParts,
    /// The configuration's, and what is found in the environment besides.
    routing: Routing,
    model: Mutex<String>,
    limit: Duration,
}

/// Why one that was asked did not answer, and who it was where the answer had begun.
struct Unanswered {
    why: String,
    begun: Option<Target>,
}

impl Aside {
    /// What asks through these.
    pub fn new(parts: AsideParts) -> Self {
        let routing = with_found(&parts.loaded, &parts.env);
        let model = Mutex::new(parts.model.clone());
        Self { parts, routing, model, limit: LIMIT }
    }

    /// The same, with another time limit than five minutes for an answer.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The session goes on with another model.
    pub fn set_model(&self, model: &str) {
        model.clone_into(&mut self.model.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn model(&self) -> String {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn answer(&self, inquiry: Inquiry) -> Result<Told, String> {
        self.parts.purse.open()?;
        let asker = inquiry.asker;
        let request = Request {
            model: self.model(),
            system: inquiry.system.into_iter().map(Part::text).collect(),
            messages: vec![Message::new(Role::User, inquiry.parts)],
            sampling: rail_model::Sampling {
                max_output: inquiry.max_output,
                stop: inquiry.stop,
                ..rail_model::Sampling::default()
            },
            stream: true,
            purpose: Purpose::Background,
            ..Request::default()
        };
        let plan = self.plan(&inquiry.to, &request)?;
        if plan.attempts.is_empty() {
            return Err(nobody(&plan, &self.parts.loaded));
        }
        self.ask_in_turn(plan, &request, &asker).await
    }

    fn plan(&self, to: &Inquired, request: &Request) -> Result<Plan, String> {
        let AsideParts { upstream, loaded, purse, .. } = &self.parts;
        let budget = purse.usd();
        let mut plan = match to {
            Inquired::Background => {
                let now = Instant::now().into_std();
                return Ok(plans::plan(upstream, loaded, &Sessions::default(), request, budget, now));
            }
            Inquired::Vision { model: Some(named) } => named_vision(&self.routing, named),
            Inquired::Vision { model: None } | Inquired::Document => {
                let main = main_attempt(&self.routing, &upstream.health(), &request.model);
                let input = VisionInput {
                    routing: &self.routing,
                    configured: loaded.settings.agent.image_model.as_deref(),
                    main: main.as_ref().map(|attempt| &attempt.target),
                };
                let found = if *to == Inquired::Document { document_vision(&input) } else { vision(&input) };
                found.ok_or_else(|| NOBODY_SEES.to_owned())?
            }
        };
        plan.estimated = estimate(request).total();
        self.leave_out_blind(&mut plan);
        if budget.is_some() {
            leave_out_unpriced(&mut plan);
        }
        Ok(plan)
    }

    /// A target that refused images once is sent notes in their place, and would make up what it did not see.
    fn leave_out_blind(&self, plan: &mut Plan) {
        let learned = self.parts.upstream.learned();
        let is_blind = |target: &Target| learned.of(target).iter().any(|lesson| lesson.fix == Fix::NoImages);
        let (blind, seeing): (Vec<Attempt>, Vec<Attempt>) =
            std::mem::take(&mut plan.attempts).into_iter().partition(|attempt| is_blind(&attempt.target));
        plan.attempts = seeing;
        plan.skipped.extend(blind.into_iter().map(|attempt| Skipped {
            target: attempt.target,
            why: "it was found to take no images".to_owned(),
        }));
    }

    /// Asks one after the other. Those in a row that speak a protocol are one plan.
    async fn ask_in_turn(&self, mut plan: Plan, request: &Request, asker: &str) -> Result<Told, String> {
        let mut left = std::mem::take(&mut plan.attempts);
        let one_at_a_time = |attempt: &Attempt| is_minimax_vl(&attempt.target);
        // One image a call is no way to compare several: it is the last resort then.
        if images(request).count() > 1 {
            left.sort_by_key(one_at_a_time);
        }
        let mut failed = Vec::new();
        while !left.is_empty() {
            let several = left.iter().take_while(|attempt| !one_at_a_time(attempt)).count();
            let now: Vec<Attempt> = left.drain(..several.max(1)).collect();
            let those = Plan { attempts: now.clone(), ..plan.clone() };
            let asked = match now.first() {
                Some(attempt) if several == 0 => self.look(attempt, &those, request, asker).await,
                Some(_) | None => self.converse(&those, request, asker).await,
            };
            match asked {
                Ok(told) => return Ok(told),
                Err(Unanswered { why, begun }) => {
                    failed.push(why);
                    // Those behind one whose answer broke off were not asked yet.
                    let behind = |target| now.iter().position(|attempt| attempt.target == target);
                    let rest = begun.and_then(behind).and_then(|at| now.get(at + 1..)).unwrap_or_default();
                    left.splice(0..0, rest.iter().cloned());
                }
            }
        }
        Err(failed.join("; "))
    }

    /// Asks those who speak a protocol.
    async fn converse(&self, plan: &Plan, request: &Request, asker: &str) -> Result<Told, Unanswered> {
        let billed = self.billed(plan, request, asker).await?;
        let asked = self.parts.upstream.ask(plan, request, &()).await;
        let mut reply = asked.map_err(|error| Unanswered { why: error.error.message, begun: None })?;
        let target = reply.target().clone();
        if let Some(attempt) = plan.attempts.iter().find(|attempt| attempt.target == target) {
            billed.bill.answers(attempt, plan.estimated);
        }
        let (mut text, mut stop, mut broken) = (String::new(), Stop::EndTurn, None);
        while let Some(next) = reply.next().await {
            match next {
                Ok(event) => {
                    billed.bill.heard(bytes(std::slice::from_ref(&event)), reply.usage());
                    match event {
                        Event::Delta { delta: Delta::Text(more), .. } => text.push_str(&more),
                        Event::Finished { stop: why, .. } => stop = why,
                        Event::Started { .. }
                        | Event::Opened { .. }
                        | Event::Delta { .. }
                        | Event::Closed { .. }
                        | Event::Usage(_)
                        | Event::Failed(_)
                        | Event::Ping
                        | Event::Opaque(_) => {}
                    }
                }
                Err(error) => {
                    broken = Some(error.error.message);
                    break;
                }
            }
        }
        billed.bill.heard(0, reply.usage());
        drop(billed);
        let nothing = || text.trim().is_empty().then(|| "its answer was empty".to_owned());
        match broken.or_else(nothing) {
            Some(why) => Err(Unanswered { why: format!("{target}: {why}"), begun: Some(target) }),
            None => {
                let (text, stop) = ended(text, stop, &request.sampling.stop);
                Ok(Told { text, model: written_as(&target), stop })
            }
        }
    }

    /// Asks MiniMax's own API, with one image a call.
    async fn look(
        &self,
        attempt: &Attempt,
        plan: &Plan,
        request: &Request,
        asker: &str,
    ) -> Result<Told, Unanswered> {
        let target = &attempt.target;
        let failed = |why: String| Unanswered { why: format!("{target}: {why}"), begun: None };
        let prompt = prompt(request);
        let all: Vec<&Media> = images(request).collect();
        let mut texts = Vec::new();
        for (at, image) in all.iter().enumerate() {
            let MediaSource::Base64(data) = &image.source else {
                return Err(failed("it takes images by their bytes only".to_owned()));
            };
            let url = format!("data:{};base64,{data}", image.mime.as_deref().unwrap_or("image/png"));
            let billed = self.billed(plan, request, asker).await?;
            let looked = self.parts.upstream.look(&attempt.provider, &prompt, &url).await;
            let text = looked.map_err(|error| failed(error.message))?;
            billed.bill.answers(attempt, plan.estimated / all.len() as u64);
            billed.bill.heard(text.len() as u64, &Usage::default());
            drop(billed);
            texts.push(match (all.len(), &image.name) {
                (1, _) => text,
                (_, Some(name)) => format!("Image {} ({name}): {text}", at + 1),
                (_, None) => format!("Image {}: {text}", at + 1),
            });
        }
        if texts.is_empty() {
            return Err(failed("it answers only of images, and there is none".to_owned()));
        }
        let (text, stop) = ended(texts.join("\n\n"), Stop::EndTurn, &request.sampling.stop);
        Ok(Told { text, model: written_as(target), stop })
    }

    /// What a request will take is held for it.
    async fn billed<'a>(
        &'a self,
        plan: &Plan,
        request: &Request,
        asker: &'a str,
    ) -> Result<Billed<'a>, Unanswered> {
        let bill = Bill::new(Instant::now().into_std());
        let held = bill.hold(&self.parts.purse, plan, request).await;
        held.map_err(|why| Unanswered { why, begun: None })?;
        Ok(Billed { bill, asker, heard: &*self.parts.heard })
    }
}

/// A request that is paid for when this is dropped, however far its answer was heard.
struct Billed<'a> {
    bill: Bill,
    asker: &'a str,
    heard: &'a (dyn Fn(Spent) + Send + Sync),
}

impl Drop for Billed<'_> {
    fn drop(&mut self) {
        if let Some(spent) = self.bill.settle() {
            (self.heard)(Spent { aside: Some(self.asker.to_owned()), ..spent });
        }
    }
}

impl Models for Aside {
    fn ask<'a>(
        &'a self,
        inquiry: Inquiry,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Told, String>> {
        Box::pin(async move {
            let limit = self.limit;
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err("the model was not asked to its end: the call was cancelled".to_owned()),
                told = tokio::time::timeout(limit, self.answer(inquiry)) => told.unwrap_or_else(|_| {
                    Err(format!("no model answered within {limit:?}; ask for less, or name a faster one"))
                }),
            }
        })
    }
}

impl fmt::Debug for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aside").field("model", &self.model()).finish_non_exhaustive()
    }
}

const NOBODY_SEES: &str = "no model that sees images can be asked: set `agent.image_model`, or a key of OpenAI, Anthropic, Gemini or MiniMax";

/// Who sees images in a session with this model.
pub fn sight(loaded: &Loaded, env: &Env, model: &str) -> Sight {
    let routing = with_found(loaded, env);
    let main = main_attempt(&routing, &Health::default(), model);
    let input = VisionInput {
        routing: &routing,
        configured: loaded.settings.agent.image_model.as_deref(),
        main: main.as_ref().map(|attempt| &attempt.target),
    };
    match (vision(&input), main) {
        (None, _) => Sight::Nobody,
        (Some(_), Some(main)) if main.profile.vision => Sight::MainToo,
        (Some(_), _) => Sight::Others,
    }
}

/// The configured providers, and those whose keys are in the environment.
fn with_found(loaded: &Loaded, env: &Env) -> Routing {
    let kept = loaded.extras.variables.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
    let set = env.all().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables: BTreeMap<String, String> = kept.chain(set).collect();
    let mut routing = Routing::clone(&loaded.routing);
    for found in from_environment(&variables) {
        let (name, provider) = (found.provider.name.clone(), found.provider);
        routing.providers.entry(name).or_insert_with(|| Arc::new(provider));
    }
    routing
}

/// Who answers first in a conversation with this model, which has tools.
fn main_attempt(routing: &Routing, health: &Health, model: &str) -> Option<Attempt> {
    let tool = ToolDecl {
        name: "bash".to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: None },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    let request = Request { model: model.to_owned(), tools: vec![tool], ..Request::default() };
    let client = Client { headers: &[], name: Some("rail") };
    let facts = facts(&request, &client, 0);
    let now = Instant::now().into_std();
    let plan = plan(&PlanInput { routing, facts: &facts, health, session: None, now });
    plan.attempts.into_iter().next()
}

fn images(request: &Request) -> impl Iterator<Item = &Media> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.filter_map(|part| match &part.body {
        PartBody::Media(media) if media.kind == MediaKind::Image => Some(media),
        _ => None,
    })
}

/// All that is said, for somebody who takes one text.
fn prompt(request: &Request) -> String {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let texts: Vec<&str> = request.system.iter().chain(parts).filter_map(Part::as_text).collect();
    texts.join("\n\n")
}

/// An answer up to the first of the strings that end it: not every target can be told of them.
fn ended(mut text: String, stop: Stop, stops: &[String]) -> (String, Stop) {
    let found =
        stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| Some((text.find(stop)?, stop)));
    match found.min_by_key(|(at, _)| *at) {
        Some((at, by)) => {
            text.truncate(at);
            (text, Stop::StopSequence(Some(by.clone())))
        }
        None => (text, stop),
    }
}

fn written_as(target: &Target) -> String {
    format!("{}/{}", target.provider, target.model)
}
