use super::args::Call;
use super::cx::{Cx, Voice};
use super::families::{Evidence, Family, Found, functionary, harmony, wrappers};
use super::fence::{self, Fence};
use super::nesting::Nesting;
use super::openers::{self, Opener};
use super::weak::{self, Weak};
use super::{Ending, Piece, reasoning};

/// Reads what a model says, from the beginning to the end.
pub(super) async fn read(mut cx: Cx) {
    if cx.profile.starts_in_reasoning {
        cx.voice = Voice::Thinking;
        reasoning::block(&mut cx, None).await;
    } else {
        harmony::begin(&mut cx).await;
        functionary::begin(&mut cx).await;
    }
    prose(&mut cx, &[]).await;
    finish(&mut cx);
}

/// The text is over: what is still unsaid is text.
pub(super) fn finish(cx: &mut Cx) {
    let end = cx.at() + cx.rest().len();
    cx.say_to(end);
}

/// Where in Markdown the cursor is.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Something other than blanks or markup stands before it on its line.
    pub(super) mid_line: bool,
    /// Backticks just passed.
    ticks: usize,
    /// The length of the run of backticks that began the code it is within.
    code: usize,
    /// The fence it is within.
    pub(super) fence: Option<Fence>,
    /// A tag that begins reasoning was only named, so its closer is named, too.
    named: bool,
    /// The JSON value it is within, where calls may stand anywhere: what is a part of other JSON is no call.
    value: Option<Nesting>,
}

impl Place {
    /// Within code, an opener proves nothing by itself.
    pub(super) fn in_code(&self) -> bool {
        self.fence.is_some() || self.code > 0 || self.ticks > 0
    }

    /// Moves over a byte.
    pub(super) fn pass(&mut self, byte: u8) {
        if self.value.as_mut().is_some_and(|value| !value.pass(byte)) {
            self.value = None;
        }
        if byte == b'`' {
            self.ticks += 1;
            self.mid_line = true;
            return;
        }
        if self.ticks > 0 {
            self.code = if self.code == 0 {
                self.ticks
            } else if self.code == self.ticks {
                0
            } else {
                self.code
            };
            self.ticks = 0;
        }
        if byte == b'\n' {
            self.code = 0;
            self.mid_line = false;
        } else if !byte.is_ascii_whitespace() {
            self.mid_line = true;
        }
    }
}

/// Whether a byte needs no look: it begins nothing, and does not tell where in Markdown we are.
pub(super) fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'\n' | b'`') && !openers::may_begin(byte)
}

/// Reads the message of a protocol of channels up to one of these words, which stays.
pub(super) async fn message(cx: &mut Cx, until: &[&str]) {
    cx.in_message = true;
    Box::pin(prose(cx, until)).await;
    cx.in_message = false;
}

/// Reads text, and calls and reasoning in it, up to the end or to one of these words, which stays.
pub(super) async fn prose(cx: &mut Cx, until: &[&str]) {
    let mut place = Place::default();
    loop {
        let byte = cx.peek().await;
        if cx.is_choked() {
            cx.give_up();
            continue;
        }
        let Some(byte) = byte else { return };
        for word in until {
            if cx.sees(word).await {
                return;
            }
        }
        // Who was taught to write JSON may write it anywhere.
        let taught = cx.profile.prompted && !place.in_code() && opens_json(cx).await;
        let may_call = place.value.is_none() && (taught || !place.mid_line);
        if may_call && !byte.is_ascii_whitespace() && line(cx, &mut place).await {
            continue;
        }
        if taught && place.value.is_none() {
            place.value = Some(Nesting::default());
        }
        if openers::may_begin(byte) && byte != b'`' && opener(cx, &mut place).await {
            continue;
        }
        if cx.is_choked() {
            continue;
        }
        let far = until.is_empty() && !cx.profile.prompted;
        pass(cx, &mut place, far);
    }
}

/// Whether an object with a quoted key begins at the cursor, or a list of objects.
async fn opens_json(cx: &mut Cx) -> bool {
    let inner = match cx.peek().await {
        Some(b'{') => b'"',
        Some(b'[') => b'{',
        Some(_) | None => return false,
    };
    let mut ahead = 1;
    while cx.peek_at(ahead).await.is_some_and(|byte| byte.is_ascii_whitespace()) {
        ahead += 1;
    }
    cx.peek_at(ahead).await == Some(inner)
}

/// Moves over plain text: one character, and as many as need no look after it.
fn pass(cx: &mut Cx, place: &mut Place, far: bool) {
    let rest = cx.rest().as_bytes();
    let Some(first) = rest.first() else { return };
    place.pass(*first);
    let mut length = cx.rest().chars().next().map_or(1, char::len_utf8);
    if far && place.mid_line && place.ticks == 0 {
        length += rest.iter().skip(length).position(|byte| !is_plain(*byte)).unwrap_or(rest.len() - length);
    }
    let from = cx.at();
    cx.advance(length);
    cx.settle_text(from, from + length);
}

/// At the first character of a line: a fence, or something that may be a call because it stands there.
async fn line(cx: &mut Cx, place: &mut Place) -> bool {
    let from = cx.at();
    if place.fence.is_some() {
        return passed_fence(cx, place).await;
    }
    // A fence that exists only for calls opens nothing but at the start of a line.
    if cx.sees("`").await
        && let Some((Opener::Call(which), length)) = openers::here(cx).await
    {
        if call(cx, place, which, length).await {
            *place = Place::default();
            return true;
        }
        cx.rewind(from);
    }
    if cx.has_tools() {
        match weak::read(cx, from).await {
            Weak::Calls => {
                *place = Place::default();
                return true;
            }
            Weak::Text(to) => {
                cx.rewind(from);
                cx.advance(to - from);
                cx.settle_text(from, to);
                place.mid_line = true;
                return true;
            }
            Weak::No => cx.rewind(from),
        }
    }
    passed_fence(cx, place).await
}

/// Moves over a line that opens or closes a fence.
async fn passed_fence(cx: &mut Cx, place: &mut Place) -> bool {
    let from = cx.at();
    let passed = fence::pass(cx, &mut place.fence).await;
    if passed {
        // The line end behind a closing fence is still to come.
        place.mid_line = place.fence.is_none();
        cx.settle_text(from, cx.at());
    }
    passed
}

/// At a byte that may begin an opener: whether there was one; it is dealt with then.
async fn opener(cx: &mut Cx, place: &mut Place) -> bool {
    let from = cx.at();
    let Some((opener, length)) = openers::here(cx).await else { return false };
    let in_code = place.in_code();
    match opener {
        Opener::Think(pair) if !in_code && !reasoning::is_quoted(cx, length).await => {
            if reasoning::begins(cx, pair, length, place).await {
                cx.advance(length);
                cx.cut_out(from);
                cx.voice = Voice::Thinking;
                reasoning::block(cx, Some(pair)).await;
                *place = Place::default();
                return true;
            }
            place.named = true;
        }
        Opener::Unthink(_) if place.named => place.named = false,
        Opener::Unthink(_) if !in_code && !reasoning::is_quoted(cx, length).await => {
            cx.advance(length);
            cx.drop_from(from);
            return true;
        }
        Opener::Call(which) if cx.before(from) != Some(b'`') && call(cx, place, which, length).await => {
            *place = Place::default();
            return true;
        }
        Opener::Think(_) | Opener::Unthink(_) | Opener::Call(_) => {}
    }
    cx.rewind(from);
    cx.advance(length);
    cx.settle_text(from, from + length);
    cx.slice(from, from + length).bytes().for_each(|byte| place.pass(byte));
    true
}

/// Reads the calls that an opener begins; false when they are none.
async fn call(cx: &mut Cx, place: &Place, which: usize, length: usize) -> bool {
    let from = cx.at();
    cx.markup = from;
    cx.may_stream = !place.in_code();
    let Some((family, found)) = read_opener(cx, which, length).await else { return false };
    if place.in_code() {
        return weak::guarded(cx, from, place, family, found).await;
    }
    give(cx, from, found.calls, family.name);
    trailer(cx).await;
    cx.skip_said();
    true
}

/// Tries the formats that begin with an opener; the cursor stands before it. What a format can't prove is none.
pub(super) async fn read_opener(
    cx: &mut Cx,
    which: usize,
    length: usize,
) -> Option<(&'static Family, Found)> {
    let from = cx.at();
    for family in openers::families_of(which) {
        let readable = match family.evidence {
            Evidence::Channel => !cx.in_message,
            Evidence::Strong | Evidence::Tag | Evidence::Weak(_) => cx.has_tools(),
        };
        if !readable || cx.is_tired() {
            continue;
        }
        cx.rewind(from);
        cx.advance(length);
        let found = (family.read)(cx).await;
        if cx.is_choked() {
            return None;
        }
        if let Some(found) = found
            && is_proven(cx, family.evidence, &found)
        {
            return Some((family, found));
        }
    }
    cx.rewind(from);
    None
}

fn is_proven(cx: &Cx, evidence: Evidence, found: &Found) -> bool {
    let cut = cx.ending() == Ending::Cut && found.calls.iter().any(|call| call.cut);
    match evidence {
        Evidence::Strong | Evidence::Channel => true,
        Evidence::Tag | Evidence::Weak(_) => {
            (found.closed || cut) && found.calls.iter().all(|call| cx.tool(&call.name).is_some())
        }
    }
}

/// Gives out calls that took the text from `from` to the cursor.
pub(super) fn give(cx: &mut Cx, from: usize, calls: Vec<Call>, format: &'static str) {
    if from >= cx.unsaid() {
        cx.cut_out(from);
    }
    for call in calls {
        cx.give(Piece::Begin { id: call.id, name: call.name, format });
        call.mended.into_iter().for_each(|step| cx.give(Piece::Mended(step)));
        cx.give(Piece::Arguments(call.arguments));
        cx.give(Piece::End);
    }
    cx.skip_said();
}

/// Closers that nothing opened, which models leave behind a call.
const CLOSERS: &[&str] = &[
    "</tool_call>",
    "</tool_calls>",
    "</function_calls>",
    "</function_call>",
    "</function>",
    "</invoke>",
    "]<]minimax[>[</tool_call>",
];

/// Tokens that end a turn.
const TURN_ENDS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|stop|>",
    "<|return|>",
    "<|call|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<end_of_turn>",
    "<turn|>",
    "</s>",
    "[EOS]",
];

/// Whether a token that ends a turn is at the cursor.
pub(super) async fn ends_turn(cx: &mut Cx) -> bool {
    cx.sees("<").await && cx.sees_any(TURN_ENDS).await
}

/// Moves over what is left behind calls.
pub(super) async fn trailer(cx: &mut Cx) {
    while one_trailer(cx).await {}
    torn_closer(cx).await;
    cut_tag(cx).await;
}

/// Moves over the beginning of a closer with which the text ends.
async fn torn_closer(cx: &mut Cx) {
    let from = cx.at();
    cx.blanks().await;
    cx.hit_end = false;
    let whole = cx.sees_any(CLOSERS).await || cx.sees_any(TURN_ENDS).await;
    let rest = cx.rest();
    let begins = |words: &[&str]| words.iter().any(|word| word.starts_with(rest));
    if !whole && cx.hit_end && !rest.is_empty() && (begins(CLOSERS) || begins(TURN_ENDS)) {
        let length = rest.len();
        cx.advance(length);
    } else {
        cx.rewind(from);
    }
}

/// Moves over the beginning of a tag or of a fence that the text ends in: behind a call it can only be the rest of its markup.
pub(super) async fn cut_tag(cx: &mut Cx) {
    let from = cx.at();
    cx.blanks().await;
    let cut = if cx.take_any(&["<", "✿"]).await { ends_in_tag(cx).await } else { ends_in_ticks(cx).await };
    if !cut {
        cx.rewind(from);
    }
}

async fn ends_in_tag(cx: &mut Cx) -> bool {
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        let is_part =
            byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'|' | b'_' | b':') || byte >= 0x80;
        if !is_part || cx.at() - from > LONGEST_TAG {
            return false;
        }
        cx.step();
    }
    true
}

async fn ends_in_ticks(cx: &mut Cx) -> bool {
    let ticks = cx.take_any(&["``", "`"]).await;
    ticks && cx.is_over().await
}

/// No tag that ends a call is longer.
const LONGEST_TAG: usize = 40;

/// Moves over one thing that is left behind calls, and the blanks before it; nothing moved when there is none.
pub(super) async fn one_trailer(cx: &mut Cx) -> bool {
    let from = cx.at();
    cx.blanks().await;
    let there = cx.take_any(CLOSERS).await || cx.take_any(TURN_ENDS).await || wrappers::take_close(cx).await;
    if !there {
        cx.rewind(from);
    }
    there
}
