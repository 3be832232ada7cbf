//! What was said, kept for the record up to a bound, without the keys of providers.

use rail_ledger::Bodies;
use rail_route::Routing;

/// The most that is kept of either side.
const MOST: usize = 1 << 20;
/// Shorter keys are words that may stand anywhere, such as those that local servers ignore.
const LEAST_KEY: usize = 8;

/// Both sides of an exchange so far.
pub(super) struct Kept {
    request: Side,
    answer: Side,
}

#[derive(Default)]
struct Side {
    bytes: Vec<u8>,
    all: usize,
}

impl Kept {
    /// Begins with the client's request.
    pub(super) fn of(request: &[u8]) -> Self {
        let mut kept = Self { request: Side::default(), answer: Side::default() };
        kept.request.add(request);
        kept
    }

    /// More of the answer.
    pub(super) fn gave(&mut self, bytes: &[u8]) {
        self.answer.add(bytes);
    }

    /// As it is recorded.
    pub(super) fn into_bodies(self, routing: &Routing) -> Bodies {
        Bodies { request: self.request.text(routing), answer: self.answer.text(routing) }
    }
}

impl Side {
    fn add(&mut self, bytes: &[u8]) {
        self.all += bytes.len();
        let room = MOST.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn text(self, routing: &Routing) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        for key in routing.providers.values().flat_map(|provider| &provider.keys) {
            if key.reveal().len() >= LEAST_KEY && text.contains(key.reveal()) {
                text = text.replace(key.reveal(), "***");
            }
        }
        if self.all > self.bytes.len() {
            text.push_str(&format!("\n… cut here: {} bytes in all", self.all));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rail_model::ProtocolId;
    use rail_route::Provider;
    use rail_stdx::Secret;

    use super::*;

    #[test]
    fn keys_are_masked_and_long_bodies_cut() {
        let mut provider = Provider::new("p", ProtocolId::new("anthropic"), "http://localhost");
        provider.keys = vec![Secret::new("sk-very-secret"), Secret::new("none")];
        let mut routing = Routing::default();
        routing.providers.insert("p".to_owned(), Arc::new(provider));
        let mut kept = Kept::of(b"my key is sk-very-secret, not none \xff");
        kept.gave(b"one ");
        kept.gave(&vec![b'x'; MOST]);
        let Bodies { request, answer } = kept.into_bodies(&routing);
        assert_eq!(request, "my key is ***, not none \u{fffd}");
        assert_eq!(answer.len(), MOST + "\n… cut here: 1048580 bytes in all".len());
        assert!(answer.starts_with("one xxx") && answer.ends_with("cut here: 1048580 bytes in all"));
    }
}
