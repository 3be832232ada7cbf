use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::{Ending, Piece};
use crate::note::keep;
use crate::{Catalog, Effect, Profile, Tool};

/// What passes between a reader and the outside.
#[derive(Default, Debug)]
pub(super) struct Line {
    pub(super) incoming: String,
    pub(super) ending: Option<Ending>,
    pub(super) outgoing: Vec<Piece>,
    /// Blanks that are held are to be given out.
    pub(super) paused: bool,
    /// Something other than blanks is held.
    pub(super) held: bool,
}

/// The text as far as it is known, a cursor in it, and what is known of the model. Places count from the start of the text.
pub(super) struct Cx {
    line: Arc<Mutex<Line>>,
    pub(super) profile: Profile,
    pub(super) catalog: Arc<Catalog>,
    text: String,
    /// The place of the first byte of `text`; all before is gone.
    base: usize,
    at: usize,
    ending: Option<Ending>,
    /// Text from here on has not been given out.
    unsaid: usize,
    /// Text up to here is text whatever follows, blanks at its end excepted.
    solid: usize,
    /// What unsaid text is.
    pub(super) voice: Voice,
    /// Something was said since the last markup, so blanks before more of it count.
    pub(super) spoke: bool,
    /// What was said last, if no call came after it.
    last: Option<Voice>,
    /// The markup since something was last said, or since the call before it was over.
    markup_text: String,
    /// The same, as it is given out with every call that was found in it.
    wrote: Option<Arc<str>>,
    /// A call is over, and none has begun since.
    ended: bool,
    /// How many bytes were read a second time, so that hostile text can't make reading quadratic.
    reread: usize,
    /// Calls may be given out before they are whole.
    pub(super) may_stream: bool,
    /// Where the markup that is being read began.
    pub(super) markup: usize,
    /// The text is a message of a protocol of channels. Messages do not nest, whatever protocol the next one is of.
    pub(super) in_message: bool,
    /// More than may be held was held.
    choked: bool,
    /// More text was asked for than there is, since this was last unset.
    pub(super) hit_end: bool,
}

/// What text is, as long as it is no markup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Voice {
    Text,
    Thinking,
}

/// At most so many bytes are held.
pub(super) const MAX_HELD: usize = 8 << 20;

impl Cx {
    pub(super) fn new(line: Arc<Mutex<Line>>, profile: Profile, catalog: Arc<Catalog>) -> Self {
        Self {
            line,
            profile,
            catalog,
            text: String::new(),
            base: 0,
            at: 0,
            ending: None,
            unsaid: 0,
            solid: 0,
            voice: Voice::Text,
            spoke: false,
            last: None,
            markup_text: String::new(),
            wrote: None,
            ended: false,
            reread: 0,
            may_stream: true,
            markup: 0,
            in_message: false,
            choked: false,
            hit_end: false,
        }
    }

    // ---- reading

    /// The cursor.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Puts the cursor back to where it was.
    pub(super) fn rewind(&mut self, to: usize) {
        self.reread += self.at.saturating_sub(to);
        self.at = to.max(self.base);
    }

    /// Moves the cursor over bytes that were looked at.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.base + self.text.len());
    }

    /// So much was read again that hostile text is likely; readers then give up early.
    pub(super) fn is_tired(&self) -> bool {
        self.reread > 1 << 20 && self.reread > 8 * self.at
    }

    /// All that is known from the cursor on.
    pub(super) fn rest(&self) -> &str {
        self.slice(self.at, self.base + self.text.len())
    }

    /// The text between two places.
    pub(super) fn slice(&self, from: usize, to: usize) -> &str {
        self.text.get(from.saturating_sub(self.base)..to.saturating_sub(self.base)).unwrap_or_default()
    }

    /// The byte before the cursor, if it is still known.
    pub(super) fn before(&self, place: usize) -> Option<u8> {
        let index = place.checked_sub(self.base + 1)?;
        self.text.as_bytes().get(index).copied()
    }

    /// The next byte, if it is known already.
    pub(super) fn known(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at - self.base).copied()
    }

    /// The next byte; None at the end of the text.
    pub(super) async fn peek(&mut self) -> Option<u8> {
        loop {
            if let Some(byte) = self.known() {
                return Some(byte);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// The byte `ahead` of the next one; None at the end of the text.
    pub(super) async fn peek_at(&mut self, ahead: usize) -> Option<u8> {
        loop {
            if let Some(byte) = self.text.as_bytes().get(self.at - self.base + ahead) {
                return Some(*byte);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// Whether the text goes on with this; waits only while it still may.
    pub(super) async fn sees(&mut self, word: &str) -> bool {
        loop {
            let rest = self.rest().as_bytes();
            let known = rest.len().min(word.len());
            if rest.get(..known) != word.as_bytes().get(..known) {
                return false;
            }
            if known == word.len() {
                return true;
            }
            if !self.more().await {
                return false;
            }
        }
    }

    /// Moves over this if the text goes on with it.
    pub(super) async fn take(&mut self, word: &str) -> bool {
        let sees = self.sees(word).await;
        if sees {
            self.advance(word.len());
        }
        sees
    }

    /// Moves over the first of these that the text goes on with; put longer ones first.
    pub(super) async fn take_any(&mut self, words: &[&str]) -> bool {
        for word in words {
            if self.take(word).await {
                return true;
            }
        }
        false
    }

    /// Whether the text goes on with one of these.
    pub(super) async fn sees_any(&mut self, words: &[&str]) -> bool {
        for word in words {
            if self.sees(word).await {
                return true;
            }
        }
        false
    }

    /// Whether what stands right before the cursor is this.
    pub(super) fn follows(&self, word: &str) -> bool {
        self.at.checked_sub(word.len()).is_some_and(|from| self.slice(from, self.at) == word)
    }

    /// Moves over one character.
    pub(super) fn step(&mut self) {
        let step = self.rest().chars().next().map_or(0, char::len_utf8);
        self.advance(step);
    }

    /// Moves over blanks and line ends.
    pub(super) async fn blanks(&mut self) {
        while self.peek().await.is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.advance(1);
        }
    }

    /// Moves over spaces and tabs.
    pub(super) async fn spaces(&mut self) {
        while self.peek().await.is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.advance(1);
        }
    }

    /// Whether the text is over at the cursor.
    pub(super) async fn is_over(&mut self) -> bool {
        self.peek().await.is_none()
    }

    /// How the text ended; `Stopped` as long as it goes on.
    pub(super) fn ending(&self) -> Ending {
        self.ending.unwrap_or(Ending::Stopped)
    }

    /// Reads up to the first of these words, which stays; None when the text ends before or `most` bytes have none.
    pub(super) async fn until(&mut self, words: &[&str], most: usize) -> Option<String> {
        let from = self.at;
        loop {
            for word in words {
                if self.sees(word).await {
                    return Some(self.slice(from, self.at).to_owned());
                }
            }
            if self.peek().await.is_none() || self.at - from >= most {
                return None;
            }
            self.step();
        }
    }

    /// Waits for more text; false when there is no more. What is surely said leaves first.
    pub(super) async fn more(&mut self) -> bool {
        if self.has_more() {
            return true;
        }
        if self.ending.is_some() {
            self.hit_end = true;
            return false;
        }
        self.say_solid();
        if self.base + self.text.len() - self.unsaid > MAX_HELD {
            // As if the text ended here: whoever reads gives up, and what was held is text.
            self.choked = true;
            return false;
        }
        let more = poll_fn(|_| match self.has_more() {
            true => Poll::Ready(true),
            false if self.ending.is_some() => Poll::Ready(false),
            false => {
                self.rest_for_now();
                Poll::Pending
            }
        })
        .await;
        self.hit_end |= !more;
        more
    }

    /// Nothing more is there yet: says whether something is held, and lets go of blanks if it was asked to.
    fn rest_for_now(&mut self) {
        let end = self.base + self.text.len();
        let paused = std::mem::take(&mut self.line().paused);
        if paused && self.slice(self.unsaid, end).trim().is_empty() {
            self.say_to(end);
        }
        let held = !self.slice(self.unsaid, end).trim().is_empty();
        self.line().held = held;
    }

    /// Whether so much is held that reading on must wait until it is given out.
    pub(super) fn is_choked(&self) -> bool {
        self.choked
    }

    /// Gives out all that is known as what it is read as now.
    pub(super) fn give_up(&mut self) {
        self.at = self.base + self.text.len();
        self.say_to(self.at);
        self.choked = false;
        self.forget();
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_more(&mut self) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        if line.incoming.is_empty() {
            self.ending = line.ending;
            return false;
        }
        if self.text.is_empty() {
            std::mem::swap(&mut self.text, &mut line.incoming);
        } else {
            self.text.push_str(&line.incoming);
            line.incoming.clear();
        }
        true
    }

    // ---- saying

    /// Text from here on has not been given out.
    pub(super) fn unsaid(&self) -> usize {
        self.unsaid
    }

    /// The text between two places is no markup. Blanks at its end still go if markup follows.
    pub(super) fn settle_text(&mut self, from: usize, to: usize) {
        let words = self.slice(from, to).trim_end().len();
        if words > 0 {
            self.solid = from + words;
        }
    }

    /// Gives out the text that surely is none of any markup.
    pub(super) fn say_solid(&mut self) {
        let solid = self.solid;
        self.say_to(solid);
        self.forget();
    }

    /// Gives out all text up to a place; blanks right after markup are left out.
    pub(super) fn say_to(&mut self, place: usize) {
        let mut text = self.slice(self.unsaid, place);
        if !self.spoke && self.unsaid > 0 {
            text = text.trim_start();
        }
        if !text.is_empty() {
            let mut text = text.to_owned();
            // Markup that leaves no trace still stood between two things that were said.
            if !self.spoke && self.last == Some(self.voice) {
                text.insert(0, '\n');
            }
            self.set_markup_text(String::new());
            self.spoke = true;
            self.last = Some(self.voice);
            let piece = match self.voice {
                Voice::Text => Piece::Text(text),
                Voice::Thinking => Piece::Thinking(text),
            };
            self.give(piece);
        }
        self.unsaid = self.unsaid.max(place);
        self.solid = self.solid.max(place);
    }

    /// The text from `from` to the cursor was markup: what stood before is said, without the blanks before the markup.
    pub(super) fn cut_out(&mut self, from: usize) {
        let before = self.slice(self.unsaid, from);
        let end = self.unsaid + before.trim_end().len();
        if end > self.unsaid {
            self.say_to(end);
        }
        self.skip_said();
    }

    /// The markup that is being read is markup for sure.
    pub(super) fn cut_out_markup(&mut self) {
        if self.markup >= self.unsaid {
            self.cut_out(self.markup);
        }
    }

    /// What is unsaid up to `from` is said, and what lies between there and the cursor vanishes in the middle of text.
    pub(super) fn drop_from(&mut self, from: usize) {
        self.say_to(from);
        self.unsaid = self.at;
        self.solid = self.at;
    }

    /// Whatever was unsaid up to the cursor is gone, and a new stretch of text begins.
    pub(super) fn skip_said(&mut self) {
        if self.at > self.unsaid {
            if self.ended {
                self.set_markup_text(String::new());
            }
            let mut text = std::mem::take(&mut self.markup_text);
            keep(&mut text, self.slice(self.unsaid, self.at));
            self.set_markup_text(text);
        }
        self.unsaid = self.at;
        self.solid = self.at;
        self.spoke = false;
        self.forget();
    }

    fn set_markup_text(&mut self, text: String) {
        self.markup_text = text;
        self.wrote = None;
    }

    /// Gives out a piece.
    pub(super) fn give(&mut self, piece: Piece) {
        if matches!(piece, Piece::Begin { .. }) {
            self.last = None;
            self.ended = false;
        }
        if piece == Piece::End {
            self.ended = true;
            let text = self.markup_text.trim();
            let wrote = Arc::clone(self.wrote.get_or_insert_with(|| text.into()));
            self.line().outgoing.push(Piece::Wrote(wrote));
        }
        self.line().outgoing.push(piece);
    }

    /// Lets go of text that was given out and lies behind the cursor, now and then.
    fn forget(&mut self) {
        let gone = self.unsaid.min(self.at).saturating_sub(self.base + 4);
        if gone >= self.text.len() / 2 && gone > 0 {
            let gone = (0..=gone).rev().find(|index| self.text.is_char_boundary(*index)).unwrap_or(0);
            self.text.drain(..gone);
            self.base += gone;
        }
    }

    // ---- tools

    /// The declared tool that a spelled name means.
    pub(super) fn tool(&self, spelled: &str) -> Option<&Tool> {
        self.catalog.meant(spelled)
    }

    /// Whether a spelled name means a tool that acts, so that a call of it is never completed.
    pub(super) fn acts(&self, spelled: &str) -> bool {
        self.tool(spelled).is_some_and(|tool| match tool.effect {
            Effect::Acts => true,
            Effect::Reads => false,
        })
    }

    /// Whether calls are looked for at all.
    pub(super) fn has_tools(&self) -> bool {
        !self.catalog.is_empty()
    }
}
