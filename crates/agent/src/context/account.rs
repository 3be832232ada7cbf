use rail_model::{Media, MediaKind, Message, Part, PartBody};
use rail_route::{Calibration, estimate_message};

use super::budget::{Budget, Percent};
use super::medium;

/// A report within these percents of the estimate counts the same things as we do.
const TRUSTED: (u64, u64) = (50, 200);

/// What the window holds, message by message. A message is counted once, when it is pushed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Account {
    /// Instructions and declared tools.
    fixed: u64,
    messages: Vec<Weight>,
    /// The sum of the messages.
    estimated: u64,
    images: Images,
    calibration: Calibration,
    /// What was estimated when the last request went out.
    sent: Option<u64>,
    anchor: Option<Anchor>,
}

/// A request whose tokens the provider told: all later ones are counted from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Anchor {
    estimated: u64,
    reported: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Weight {
    tokens: u64,
    images: Images,
}

/// Images of a conversation or of a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Images {
    /// How many.
    pub count: u64,
    /// Bytes of those that are inline.
    pub bytes: u64,
    /// Pixels of those that are inline and can be measured.
    pub pixels: u64,
}

/// How full a window is, for those who show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Tokens in it.
    pub tokens: u64,
    /// Tokens that the model takes.
    pub limit: u64,
}

impl Window {
    /// How full it is; 100 when it is more than full.
    pub fn percent(&self) -> u64 {
        if self.limit == 0 {
            return 100;
        }
        (self.tokens.saturating_mul(100) / self.limit).min(100)
    }
}

impl Images {
    /// Those of these parts, also inside results.
    pub fn of(parts: &[Part]) -> Self {
        parts.iter().map(Self::of_part).fold(Self::default(), Self::and)
    }

    fn of_part(part: &Part) -> Self {
        match &part.body {
            PartBody::Media(media) => Self::of_media(media),
            PartBody::ToolResult(result) => Self::of(&result.content),
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::Opaque(_) => Self::default(),
        }
    }

    fn of_media(media: &Media) -> Self {
        match media.kind {
            MediaKind::Image => {
                let pixels = medium::measured(media).map_or(0, |(_, size)| size.pixels());
                Self { count: 1, bytes: medium::bytes(media), pixels }
            }
            MediaKind::Document | MediaKind::Audio | MediaKind::Video => Self::default(),
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            bytes: self.bytes.saturating_add(other.bytes),
            pixels: self.pixels.saturating_add(other.pixels),
        }
    }

    /// What is left without these.
    #[must_use]
    pub(super) fn without(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_sub(other.count),
            bytes: self.bytes.saturating_sub(other.bytes),
            pixels: self.pixels.saturating_sub(other.pixels),
        }
    }

    /// Whether each figure is within its bound.
    pub fn within(self, most: Self) -> bool {
        self.count <= most.count && self.bytes <= most.bytes && self.pixels <= most.pixels
    }

    /// This share of each.
    #[must_use]
    pub(super) fn share(self, share: Percent) -> Self {
        Self { count: share.of(self.count), bytes: share.of(self.bytes), pixels: share.of(self.pixels) }
    }
}

impl Account {
    /// An empty conversation behind instructions and tools of so many estimated tokens.
    pub fn new(fixed: u64) -> Self {
        Self { fixed, ..Self::default() }
    }

    /// Another conversation behind the same instructions, as after a compaction: what was learned of the model stays.
    #[must_use]
    pub fn again(&self, messages: &[Message]) -> Self {
        let mut account = Self { fixed: self.fixed, calibration: self.calibration, ..Self::default() };
        messages.iter().for_each(|message| account.push(message));
        account
    }

    /// Another model will serve: what the last one reported says little of it.
    pub fn served_by(&mut self, calibration: Calibration) {
        (self.calibration, self.anchor, self.sent) = (calibration, None, None);
    }

    /// The next message of the conversation.
    pub fn push(&mut self, message: &Message) {
        let weight = Weight { tokens: estimate_message(message), images: Images::of(&message.parts) };
        self.estimated = self.estimated.saturating_add(weight.tokens);
        self.images = self.images.and(weight.images);
        self.messages.push(weight);
    }

    /// How many messages were counted.
    pub fn messages(&self) -> usize {
        self.messages.len()
    }

    /// About how many tokens one of the messages is, by our own estimate.
    pub fn tokens_of(&self, message: usize) -> Option<u64> {
        self.messages.get(message).map(|weight| weight.tokens)
    }

    /// A request with all of this goes out; the next report is about it.
    pub fn sent(&mut self) {
        self.sent = Some(self.all_estimated());
    }

    /// What the provider counted as input of the last request, cached or not.
    pub fn reported(&mut self, tokens: u64) {
        let estimated = self.sent.take().unwrap_or_else(|| self.all_estimated());
        self.calibration.learn(estimated, tokens);
        let (least, most) = TRUSTED;
        let percent = tokens.saturating_mul(100) / estimated.max(1);
        // A provider that leaves out what it had cached, or counts a template of its own, must not move the whole account.
        self.anchor = (least..=most).contains(&percent).then_some(Anchor { estimated, reported: tokens });
    }

    /// The tokens that a request with all of this has: as the provider counted them up to its last report, estimated from there.
    pub fn total(&self) -> u64 {
        let estimated = self.all_estimated();
        match self.anchor {
            Some(anchor) if anchor.estimated <= estimated => {
                anchor.reported.saturating_add(self.calibration.apply(estimated - anchor.estimated))
            }
            Some(_) | None => self.calibration.apply(estimated),
        }
    }

    /// The images in it.
    pub fn images(&self) -> Images {
        self.images
    }

    /// What was learned of the model's tokenizer.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// How full the window of a model with this limit is.
    pub fn window(&self, limit: u64) -> Window {
        Window { tokens: self.total(), limit }
    }

    /// What a model with this window allows, with the usual shares: `limit` is its whole window, `reserve_output` what its answer
    /// needs of it.
    pub fn budget(&self, limit: u64, reserve_output: u64) -> Budget {
        let estimated = self.all_estimated().max(1);
        // The same factor that `total` has, so that what fits by the one fits by the other.
        let factor = (self.total() as f64 / estimated as f64).max(self.calibration.factor());
        Budget::new(limit, reserve_output).behind(self.fixed, factor)
    }

    fn all_estimated(&self) -> u64 {
        self.fixed.saturating_add(self.estimated)
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{MediaSource, Role};

    use super::*;

    fn said(words: usize) -> Message {
        Message::new(Role::User, vec![Part::text("word ".repeat(words))])
    }

    #[test]
    fn a_report_is_the_truth_and_a_factor_for_what_follows() {
        let mut account = Account::new(100);
        account.push(&said(1000));
        let before = account.total();
        account.sent();
        account.push(&said(10));
        account.reported(before * 3 / 2);
        let added = estimate_message(&said(10));
        assert_eq!(account.total(), before * 3 / 2 + account.calibration().apply(added));
        assert!((account.calibration().factor() - 1.5).abs() < 0.01);
    }

    #[test]
    fn an_odd_report_moves_little() {
        for odd in [0, 1, 1_000_000] {
            let mut account = Account::new(0);
            account.push(&said(1000));
            let before = account.total();
            account.sent();
            account.reported(odd);
            let total = account.total();
            assert!(total >= before / 2 && total <= before * 2 + 1, "{odd}: {before} became {total}");
        }
    }

    #[test]
    fn another_window_keeps_what_was_learned() {
        let mut account = Account::new(100);
        account.push(&said(1000));
        account.sent();
        account.reported(account.total() * 2);
        let again = account.again(&[said(1)]);
        assert_eq!((again.messages(), again.calibration()), (1, account.calibration()));
        assert_eq!(again.tokens_of(0), Some(estimate_message(&said(1))));
        let mut other = account.clone();
        other.served_by(Calibration::default());
        assert_eq!(other.total(), 100 + estimate_message(&said(1000)));
    }

    #[test]
    fn images_count_also_inside_results() {
        let media = |kind| {
            let source = MediaSource::Base64("R0lGODlhBAADAAAAACwAAAAABAADAAACAoRRADs=".into());
            Part::new(PartBody::Media(Media { kind, mime: None, source, name: None }))
        };
        let mut account = Account::new(0);
        account.push(&Message::new(Role::User, vec![media(MediaKind::Image), media(MediaKind::Audio)]));
        assert_eq!(account.images(), Images { count: 1, bytes: 29, pixels: 12 });
        assert!(account.images().within(Images { count: 1, bytes: 29, pixels: 12 }));
        assert!(!account.images().within(Images { count: 1, bytes: 29, pixels: 11 }));
        assert_eq!(account.window(0).percent(), 100);
        assert_eq!(Window { tokens: 30, limit: 40 }.percent(), 75);
    }
}
