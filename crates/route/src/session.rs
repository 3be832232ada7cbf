use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use rail_model::{Part, PartBody, Request, Role, Usage};

use crate::{Client, Target};

/// The most conversations that are remembered; the one not heard of for longest goes first.
const MOST: usize = 10_000;

/// How long after an answer its prompt is taken to be in the provider's cache. Providers promise five minutes or more.
const CACHE_LASTS: Duration = Duration::from_secs(10 * 60);

/// How much of each part at the beginning of a conversation tells it from others.
const BEGINNING_BYTES: usize = 512;

/// Names one conversation: the same for each of its requests, another for those of its sub-agents and background calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionKey(pub u64);

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl SessionKey {
    /// By the ids that the client gives, and by how the conversation begins: calls on the side share the ids and not the
    /// beginning, and only who begins the same can share a provider's cache.
    pub(crate) fn of(request: &Request, client: &Client<'_>) -> Self {
        let mut hash = Fnv::new();
        hash.field(client.known_as());
        hash.field(request.user.as_deref().unwrap_or_default());
        let cache_key =
            request.extras.origin().and_then(|origin| request.extras.get(origin, "prompt_cache_key"));
        let mut named = false;
        for id in client.session_ids().chain(cache_key.and_then(|key| key.as_str())) {
            hash.field(id);
            named = true;
        }
        if !named {
            // A system prompt may hold the time of day or a request's number; who has an id needs no such help.
            request.system.iter().for_each(|part| hash.beginning(part));
        }
        let first = request.messages.iter().find(|message| message.role == Role::User);
        first.iter().flat_map(|message| &message.parts).for_each(|part| hash.beginning(part));
        Self(hash.0)
    }
}

/// FNV-1a: the same on every machine and in every build.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0 =
            bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    /// A text and its length, so that two fields never read as one.
    fn field(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&(text.len() as u64).to_le_bytes());
    }

    fn beginning(&mut self, part: &Part) {
        let text = part.as_text().unwrap_or_default();
        self.bytes(text.as_bytes().get(..BEGINNING_BYTES).unwrap_or(text.as_bytes()));
        self.bytes(&(text.len() as u64).to_le_bytes());
        if let PartBody::Media(_) = part.body {
            self.bytes(b"media");
        }
    }
}

/// What is remembered of a conversation: who answered last, and what a switch would cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Session {
    /// Who answered last.
    pub target: Target,
    /// The virtual model of that request; None when a target was asked for by name.
    pub virtual_model: Option<String>,
    /// How many requests in a row were taken for that virtual model, this one included.
    pub in_a_row: u32,
    /// Tokens of its prompt that the provider has in its cache since then.
    pub cached_tokens: u64,
    /// Tokens that it gave out.
    pub output_tokens: u64,
    /// When that was.
    pub seen: Instant,
}

impl Session {
    /// The tokens that are still in the provider's cache, as far as one can tell.
    pub fn cached_at(&self, now: Instant) -> u64 {
        if now.saturating_duration_since(self.seen) <= CACHE_LASTS { self.cached_tokens } else { 0 }
    }
}

/// The conversations lately heard of, as a value of bounded size.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    known: BTreeMap<SessionKey, (u64, Session)>,
    /// The keys by when they were last heard of.
    order: BTreeMap<u64, SessionKey>,
    turn: u64,
}

impl Sessions {
    /// What is remembered of a conversation.
    pub fn get(&self, key: SessionKey) -> Option<&Session> {
        self.known.get(&key).map(|(_, session)| session)
    }

    /// A target answered a request of this conversation, and the answer is complete.
    pub fn saw(
        &mut self,
        key: SessionKey,
        target: &Target,
        virtual_model: Option<&str>,
        usage: &Usage,
        now: Instant,
    ) {
        let before = self.get(key).filter(|before| before.virtual_model.as_deref() == virtual_model);
        let session = Session {
            target: target.clone(),
            virtual_model: virtual_model.map(str::to_owned),
            in_a_row: before.map_or(1, |before| before.in_a_row.saturating_add(1)),
            cached_tokens: [usage.cache_read, usage.cache_write]
                .into_iter()
                .flatten()
                .fold(0, u64::saturating_add),
            output_tokens: usage.all_output(),
            seen: now,
        };
        self.turn += 1;
        if let Some((before, _)) = self.known.insert(key, (self.turn, session)) {
            self.order.remove(&before);
        }
        self.order.insert(self.turn, key);
        while self.known.len() > MOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.known.remove(&oldest);
        }
    }

    /// All that are remembered, the one heard of last first.
    pub fn newest(&self) -> impl Iterator<Item = (SessionKey, &Session)> {
        self.order.values().rev().filter_map(|key| Some((*key, self.get(*key)?)))
    }

    /// How many conversations are remembered.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}
