use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::cx::Cx;
use super::families::{self, Evidence, Family};
use super::reasoning::{self, Pair};

/// All words that begin or end something, as one automaton.
static OPENERS: LazyLock<Openers> = LazyLock::new(Openers::build);

/// What a word in the text stands for.
#[derive(Clone, Copy)]
pub(super) enum Opener {
    /// The start of a call; the number of the opener, see [`families_of`].
    Call(usize),
    /// The start of reasoning.
    Think(&'static Pair),
    /// The end of reasoning.
    Unthink(&'static Pair),
}

struct Openers {
    nodes: Vec<Node>,
    /// Bytes that some opener begins with.
    first: [bool; 256],
    /// For each opener of calls, the formats that begin with it, in the order they are listed.
    readers: Vec<Vec<&'static Family>>,
}

#[derive(Default)]
struct Node {
    next: BTreeMap<u8, usize>,
    word: Option<Opener>,
}

impl Openers {
    fn build() -> Self {
        let mut openers = Self { nodes: vec![Node::default()], first: [false; 256], readers: Vec::new() };
        for pair in reasoning::PAIRS {
            openers.add(pair.open, Opener::Think(pair));
            openers.add(pair.close, Opener::Unthink(pair));
        }
        let mut by_word: BTreeMap<&str, usize> = BTreeMap::new();
        for family in families::all() {
            for word in family.openers {
                let at = *by_word.entry(word).or_insert_with(|| {
                    openers.readers.push(Vec::new());
                    openers.readers.len() - 1
                });
                openers.add(word, Opener::Call(at));
                if let Some(readers) = openers.readers.get_mut(at) {
                    readers.push(family);
                }
            }
        }
        openers
    }

    fn add(&mut self, word: &str, opener: Opener) {
        let mut at = 0;
        for byte in word.bytes() {
            let new = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = *node.next.entry(byte).or_insert(new);
            if at == new {
                self.nodes.push(Node::default());
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.word = Some(opener);
        }
        if let Some(first) = word.bytes().next().and_then(|byte| self.first.get_mut(usize::from(byte))) {
            *first = true;
        }
    }
}

/// Whether some opener begins with this byte.
pub(super) fn may_begin(byte: u8) -> bool {
    OPENERS.first.get(usize::from(byte)).copied().unwrap_or(false)
}

/// The formats that begin with an opener.
pub(super) fn families_of(opener: usize) -> &'static [&'static Family] {
    OPENERS.readers.get(opener).map_or(&[], Vec::as_slice)
}

/// The longest opener at the cursor, with its length; waits while there may still be one, and moves nothing.
pub(super) async fn here(cx: &mut Cx) -> Option<(Opener, usize)> {
    let (mut at, mut length, mut found) = (0, 0, None);
    loop {
        let node = OPENERS.nodes.get(at)?;
        if let Some(word) = node.word {
            found = Some((word, length));
        }
        if node.next.is_empty() {
            return found;
        }
        let Some(byte) = cx.peek_at(length).await else { return found };
        let Some(next) = node.next.get(&byte) else { return found };
        (at, length) = (*next, length + 1);
    }
}

/// Whether a text is nothing but the beginning of call markup, as some servers leave it behind when they take the call out.
pub(super) fn is_leak(text: &str) -> bool {
    // Fewer letters may be anything.
    let begun = text.trim();
    let opens = |family: &Family| {
        family.evidence == Evidence::Strong && family.openers.iter().any(|word| word.starts_with(begun))
    };
    begun.starts_with(['<', '[']) && begun.chars().count() >= 4 && families::all().any(opens)
}
