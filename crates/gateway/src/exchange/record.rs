//! The record of one request, from its arrival to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::Response;
use rail_config::Loaded;
use rail_ledger::{Ending, Entry, Hold, LEFT, Money, SentEntry};
use rail_model::{ApiError, Event, Json, Loss, Usage};
use rail_route::{Attempt, Explanation, Plan, SessionKey, Target};
use rail_upstream::{Mended, Note, Notes, Outcome, Reply, Sent};
use rail_wire::{HttpReply, Inbound};

use super::bill::{Bill, InVain};
use super::head;
use super::kept::Kept;
use super::losses;
use super::repairs::{Contents, Repairs};
use super::tally::{self, Tally};
use crate::arrival::Arrival;
use crate::body::Body;
use crate::clock::{millis, now};
use crate::observe::Came;
use crate::{Gateway, Observe};

/// What is recorded of clients that were sent away without an answer when the gateway stopped.
const STOPPED: u16 = 503;
/// Why they were.
const CUT_OFF: &str = "the gateway was told to stop, and this took longer than `gateway.grace`";

/// A request that has no end yet. However it ends, it is recorded once: what is known when this is closed, or at last dropped, is
/// its record. One that nobody ended was left by its client, or cut off with the gateway.
///
/// It must outlive whatever asks targets for it, or sends that are dropped would come too late for it.
pub(super) struct Open {
    gateway: Gateway,
    loaded: Arc<Loaded>,
    came: Instant,
    heard: Arc<Heard>,
    hold: Option<Hold>,
    plan: Option<Arc<Plan>>,
    session: Option<SessionKey>,
    target: Option<Target>,
    /// Tokens of input as estimated; none for what nobody pays for.
    paid_input: Option<u64>,
    tally: Tally,
    repairs: Repairs,
    kept: Option<Kept>,
    entry: Entry,
    /// Losses that are only counted.
    unnamed_losses: usize,
    passed_on: Vec<(String, String)>,
    closed: bool,
}

impl Open {
    /// A request has come.
    pub(super) fn new(gateway: &Gateway, arrival: &Arrival) -> Self {
        let loaded = gateway.configuration();
        let Arrival { id, came, at, key, protocol, operation, call, room: _ } = arrival;
        let entry = Entry {
            key: key.as_ref().map(|key| key.id.clone()),
            protocol: protocol.id.name().to_owned(),
            operation: crate::arrival::word(*operation).to_owned(),
            ..Entry::begun(id.clone(), *at)
        };
        gateway.observe().came(&Came {
            id,
            at: *at,
            protocol: &entry.protocol,
            operation: &entry.operation,
            traceparent: call.header("traceparent"),
        });
        let kept = loaded.settings.gateway.log_bodies.then(|| Kept::of(&call.body));
        let (observe, state) = (gateway.observe().clone(), Mutex::default());
        Self {
            gateway: gateway.clone(),
            came: *came,
            heard: Arc::new(Heard { observe, id: id.clone(), came: *came, state }),
            hold: None,
            plan: None,
            session: None,
            target: None,
            paid_input: None,
            tally: Tally::default(),
            repairs: Repairs::new(if kept.is_some() { Contents::Kept } else { Contents::Left }),
            kept,
            loaded,
            entry,
            unnamed_losses: 0,
            passed_on: Vec::new(),
            closed: false,
        }
    }

    /// The gateway it came to.
    pub(super) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// The configuration that it sees from beginning to end.
    pub(super) fn loaded(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// Who hears what happens to it.
    pub(super) fn heard(&self) -> Arc<Heard> {
        Arc::clone(&self.heard)
    }

    /// What is known of it so far.
    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The answer is wanted as a stream.
    pub(super) fn streams(&mut self) {
        self.entry.stream = true;
    }

    /// The name of the client, which may be all that is known of a request that can't be read.
    pub(super) fn comes_from(&mut self, client: &str) {
        client.clone_into(&mut self.entry.client);
    }

    /// Its route was decided; it belongs to this conversation.
    pub(super) fn routed(&mut self, plan: &Arc<Plan>, session: SessionKey, route: &Explanation) {
        self.session = Some(session);
        self.entry.asked.clone_from(&route.asked);
        self.entry.virtual_model.clone_from(&route.virtual_model);
        self.entry.session = Some(route.facts.session.clone());
        let shown = Json::of(route);
        self.gateway.observe().routed(&self.entry.id, &shown);
        self.entry.route = Some(shown);
        self.plan = Some(Arc::clone(plan));
    }

    /// It holds this of its key's budget.
    pub(super) fn holds(&mut self, hold: Hold) {
        self.hold = Some(hold);
    }

    /// Its tokens are paid for; this is what its input is estimated at.
    pub(super) fn is_paid(&mut self, input: u64) {
        self.paid_input = Some(input);
    }

    /// A target answers.
    pub(super) fn answers(&mut self, target: &Target) {
        self.entry.target = Some(target.to_string());
        self.target = Some(target.clone());
        self.entry.first_ms = Some(millis(now().saturating_duration_since(self.came)));
    }

    /// An event of its answer.
    pub(super) fn event(&mut self, event: &Event) {
        self.tally.event(event);
        self.repairs.event(event);
    }

    /// The target's own bytes are passed on, and so is what it says beside them.
    pub(super) fn is_relayed(&mut self, reply: &Reply) {
        self.entry.relayed = true;
        // The provider's limits are those of its own key, which many keys of ours may share.
        let shared = |name: &str| self.entry.key.is_some() && name.contains("ratelimit-");
        self.passed_on = reply.headers().iter().filter(|(name, _)| !shared(name)).cloned().collect();
    }

    /// What the target says beside its answer, for a client that gets it as it came.
    pub(super) fn passed_on(&self) -> &[(String, String)] {
        &self.passed_on
    }

    /// The events of bytes that were passed on; true when the end is among them.
    pub(super) fn hears(&mut self, reply: &mut Reply) -> bool {
        let mut finished = false;
        while let Some(event) = reply.heard() {
            finished |= matches!(event, Event::Finished { .. });
            self.event(&event);
        }
        finished
    }

    /// Its answer is complete, and its conversation remembers who gave it.
    pub(super) fn completes(&mut self) {
        let (Some(session), Some(target)) = (self.session, &self.target) else { return };
        let virtual_model = self.entry.virtual_model.as_deref();
        let mut sessions = self.gateway.sessions().lock().unwrap_or_else(PoisonError::into_inner);
        sessions.saw(session, target, virtual_model, self.tally.usage(), now());
    }

    /// What was mended in its calls since the last time.
    pub(super) fn repaired(&mut self, mended: Mended) {
        self.repairs.noted(mended);
    }

    /// What could not be told to the target, which it has said itself.
    pub(super) fn lost_to_target(&mut self, losses: &[Loss]) {
        losses::name(losses, &mut self.entry.losses, &mut self.unnamed_losses);
    }

    /// What could not be told to the client.
    pub(super) fn lost_to_client(&mut self, losses: Vec<Loss>) {
        self.lost_to_target(&losses);
        let Some(target) = &self.target else { return };
        for loss in losses {
            self.heard.observe.noted(&self.entry.id, &Note::Lost { target: target.clone(), loss });
        }
    }

    /// Bytes that the client is given.
    pub(super) fn gave(&mut self, bytes: &[u8]) {
        if let Some(kept) = &mut self.kept {
            kept.gave(bytes);
        }
    }

    /// The client sees this status.
    pub(super) fn shows(&mut self, status: u16) {
        self.entry.status = status;
    }

    /// Something is to be said of it although it goes on.
    pub(super) fn has_problem(&mut self, problem: &str) {
        self.entry.problem = Some(problem.to_owned());
    }

    /// It has come to its end; what happens later belongs to its record no more.
    pub(super) fn ends(&mut self, ending: Ending) {
        self.entry.ending = ending;
        self.close();
    }

    /// Ends with a whole answer.
    pub(super) fn answer(mut self, reply: HttpReply) -> Response<Body> {
        self.shows(reply.status);
        self.gave(&reply.body);
        let mut response = head::of_whole(reply, Some(&self.entry));
        head::pass_on(&self.passed_on, response.headers_mut());
        self.ends(Ending::Answered);
        response
    }

    /// Ends with an error instead of an answer.
    pub(super) fn fail(mut self, inbound: &dyn Inbound, error: &ApiError, ending: Ending) -> Response<Body> {
        let reply = inbound.write_error(error);
        self.shows(reply.status);
        self.gave(&reply.body);
        self.has_problem(&error.message);
        let response = head::of_whole(reply, Some(&self.entry));
        self.ends(ending);
        response
    }

    fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let mut entry = std::mem::replace(&mut self.entry, Entry::begun(String::new(), 0));
        let State { sent, last, in_vain } = std::mem::take(&mut *self.heard.state());
        entry.sent = sent;
        entry.total_ms = millis(now().saturating_duration_since(self.came));
        let bill = self.bill(entry.ending, last, in_vain);
        entry.tokens = tally::entry(&bill.tokens);
        entry.cost = bill.cost();
        // The configuration may have changed since the request came: both know secrets. Without bodies there are none to cover.
        let mask = self.kept.as_ref().map(|_| self.loaded.mask([])).unwrap_or_default();
        let observe = self.gateway.observe();
        let cover = |text: &str| observe.cover(&mask.cover(text));
        entry.repairs = self.repairs.take(cover);
        entry.bodies = self.kept.take().map(|kept| kept.into_bodies(cover));
        self.gateway.observe().ended(&entry);
        self.gateway.ledger().record(entry, self.hold.take());
    }

    /// Whoever answered, or was asked last, is paid; so is who reported what it used although it gave no answer.
    fn bill(&mut self, ending: Ending, last: Option<Target>, in_vain: InVain) -> Bill {
        let mut bill = Bill::default();
        let Some(input) = self.paid_input else { return bill };
        let in_vain = in_vain.used(self.target.as_ref());
        let answered = self.target.take().or(last).map(|target| (target, self.tally.spent(ending, input)));
        for (target, tokens) in answered.into_iter().chain(in_vain) {
            bill.add(&tokens, self.attempt(&target).and_then(|attempt| cost(attempt, &tokens)));
        }
        bill
    }

    fn attempt(&self, target: &Target) -> Option<&Attempt> {
        self.plan.as_ref()?.attempts.iter().find(|attempt| attempt.target == *target)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.closed && self.gateway.is_cut_off() {
            self.entry.ending = Ending::Broken;
            self.has_problem(CUT_OFF);
            if self.entry.status == LEFT {
                self.shows(STOPPED);
            }
        }
        self.close();
    }
}

/// What this usage costs at a target; none when its price is not known.
pub(super) fn cost(attempt: &Attempt, usage: &Usage) -> Option<Money> {
    attempt.profile.cost(usage).and_then(Money::from_dollars)
}

/// Hears what happens to a request, passes it on, and keeps its sends.
pub(super) struct Heard {
    observe: Observe,
    id: String,
    came: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sent: Vec<SentEntry>,
    /// The target that was asked last: the one that answers, or that was left.
    last: Option<Target>,
    in_vain: InVain,
}

impl Heard {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one call: a panic elsewhere leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes for Heard {
    fn note(&self, note: Note) {
        self.observe.noted(&self.id, &note);
        match note {
            Note::Sending { target, .. } => self.state().last = Some(target),
            Note::Sent(sent) => {
                let since = now().saturating_duration_since(self.came);
                let mut state = self.state();
                state.in_vain.hear(&sent);
                match sent.outcome {
                    Outcome::Answered | Outcome::Left => {}
                    // Who leaves before the next send has left nobody.
                    Outcome::Empty | Outcome::Failed { .. } => state.last = None,
                }
                state.sent.push(entry(sent, since));
            }
            Note::Deferred { .. }
            | Note::Probing { .. }
            | Note::Retrying { .. }
            | Note::Fixing { .. }
            | Note::Learned { .. }
            | Note::Refused { .. }
            | Note::CircuitOpened { .. }
            | Note::Lost { .. }
            | Note::NotKept { .. } => {}
        }
    }
}

/// A send that came to its end so long after the request's arrival.
fn entry(sent: Sent, since: std::time::Duration) -> SentEntry {
    let (outcome, problem) = match sent.outcome {
        Outcome::Answered => ("answered", None),
        Outcome::Empty => ("empty", None),
        Outcome::Failed { problem, .. } => ("failed", Some(problem)),
        Outcome::Left => ("left", None),
    };
    SentEntry {
        target: sent.target.to_string(),
        began_ms: millis(since.saturating_sub(sent.took)),
        took_ms: millis(sent.took),
        status: sent.status,
        outcome: outcome.to_owned(),
        problem,
        possible_charge: sent.possible_charge,
    }
}

#[cfg(test)]
mod tests {
    use rail_upstream::{Class, Outcome};

    use super::*;

    #[test]
    fn who_leaves_between_two_sends_has_left_nobody() {
        let target: Target = "p,m".parse().unwrap();
        let ended = |outcome| {
            let (began, took) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
            let (target, key) = (target.clone(), None);
            let (status, fix, possible_charge, reported) = (None, None, false, None);
            Note::Sent(Sent { target, key, began, took, status, fix, outcome, possible_charge, reported })
        };
        let failed =
            || Outcome::Failed { class: Class::Passing { retry_after: None }, problem: String::new() };
        for (outcome, left) in [
            (Some(failed()), false),
            (Some(Outcome::Empty), false),
            (Some(Outcome::Left), true),
            (Some(Outcome::Answered), true),
            (None, true),
        ] {
            let (id, state) = ("r".to_owned(), Mutex::default());
            let heard = Heard { observe: Observe::default(), id, came: now(), state };
            heard.note(Note::Sending { target: target.clone(), key: None });
            let about = format!("{outcome:?}");
            outcome.into_iter().for_each(|outcome| heard.note(ended(outcome)));
            assert_eq!(heard.state().last.is_some(), left, "{about}");
        }
    }
}
