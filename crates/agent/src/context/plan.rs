use rail_model::{Message, Part, PartBody, Role};
use rail_route::{estimate_message, tokens};

use super::account::Images;
use super::bound::cut_middle;
use super::budget::{Budget, Percent};
use super::steps::{is_own, is_users, last_steps, newest_users, note};
use super::summary;
use super::tail::{Room, Tail, all_tokens, tail};
use super::touched::Touched;
use super::transcript::transcript;
use super::truncate::bound_user;

/// The most of the room that the last steps may take.
const TAIL: Percent = Percent(30);
/// The most of the room that older messages of the user may take.
const USERS: Percent = Percent(25);
/// The most of the room that a summary may take.
const SUMMARY: Percent = Percent(20);
/// What is left of a message of the user that is cut has at least so many tokens.
const LEAST_CUT: u64 = 40;
/// Less than this is not worth a summary.
const LEAST: u64 = 300;
/// The most of what the summarising model reads that a list of files or the user's wish may take.
const ASIDE: Percent = Percent(10);
/// A model that can read less than this of a conversation can't summarise it.
const LEAST_READ: u64 = 200;

const REQUEST: &str = include_str!("texts/compact.md");

/// What is to be summarised and what stays as it is.
#[derive(Clone, PartialEq, Debug)]
pub struct CompactionPlan {
    /// The conversation to send to a model without tools; its answer goes to [`check`](super::check).
    pub ask: Vec<Message>,
    /// The first message of the tail, which stays; what is before it goes, except for what the user said.
    pub tail_from: usize,
    /// The most tokens that the summary may have: a good limit for the model's output.
    pub most_tokens: u64,
    /// The files that the summarised calls touched.
    pub touched: Touched,
    /// What the user wanted to be kept.
    pub keep: Option<String>,
    pub(super) budget: Budget,
    /// What the user said before the tail.
    pub(super) users: Vec<Message>,
    /// Older messages of the user for which there is no room.
    pub(super) left_out: usize,
    pub(super) tail: Vec<Message>,
    /// The conversation as text, for the second pass.
    pub(super) transcript: String,
}

/// Plans a summary of everything but the last steps. None when there is nothing worth it or the model can't read enough; then only
/// [`truncate`](super::truncate) helps.
///
/// `reads` is how many tokens of input the model that will summarise takes, and `keep` what the user wants to be kept in any case.
/// The request fits it however long the conversation is, and has no images.
pub fn plan(messages: &[Message], budget: &Budget, reads: u64, keep: Option<&str>) -> Option<CompactionPlan> {
    let room = budget.room_to(budget.compact_at);
    let most_images = budget.images.share(Percent(50));
    let steps = last_steps(messages, budget.tail_steps.max(1));
    let Tail { from, messages: tail } =
        tail(messages, steps, Room { tokens: TAIL.of(room), images: most_images });
    let head = messages.get(..from).unwrap_or_default();
    let newest = newest_users(messages).filter(|at| *at < from);
    let (users, left_out) = users(head, newest, Room { tokens: USERS.of(room), images: most_images });
    let replaced = all_tokens(head).saturating_sub(all_tokens(&users));
    if replaced < LEAST {
        return None;
    }
    let touched = Touched::of(head).after(earlier_files(head));
    let keep = keep.map(str::trim).filter(|keep| !keep.is_empty()).map(str::to_owned);
    let [facts, request] = request(&touched, keep.as_deref(), reads);
    let most_tokens = SUMMARY.of(room).min(replaced).min(SUMMARY.of(reads));
    // The second pass shows the summary too, with the files that were added to it.
    let besides = tokens(&facts) + tokens(&request) + most_tokens * 2 + 50;
    let to_read = reads.checked_sub(besides).filter(|to_read| *to_read >= LEAST_READ)?;
    let transcript = transcript(head, to_read);
    let said = [transcript.clone(), facts, request].into_iter().filter(|text| !text.is_empty());
    Some(CompactionPlan {
        ask: vec![Message::new(Role::User, said.map(Part::text).collect())],
        tail_from: from,
        most_tokens,
        touched,
        keep,
        budget: *budget,
        users,
        left_out,
        tail,
        transcript,
    })
}

/// What the model is told behind the conversation, in bounds: the files, the template, and what the user wants to be kept.
fn request(touched: &Touched, keep: Option<&str>, reads: u64) -> [String; 2] {
    let mut facts = Vec::new();
    for (what, files) in [("changed", &touched.changed), ("only read", &touched.read)] {
        let list = newest_lines(files, ASIDE.of(reads));
        if !list.is_empty() {
            facts.push(format!("The calls {what} these files:\n{}", list.join("\n")));
        }
    }
    let mut request = REQUEST.trim_end().to_owned();
    if let Some(keep) = keep {
        let keep = cut_middle(keep, ASIDE.of(reads));
        let heading = summary::KEPT;
        request.push_str(&format!(
            "\n\n## {heading}\nThe user asked to keep this in any case; say all that is known of it:\n{keep}"
        ));
    }
    [facts.join("\n\n"), request]
}

fn newest_lines(files: &[String], room: u64) -> Vec<String> {
    let mut left = room;
    let mut lines = Vec::new();
    for path in files.iter().rev() {
        let line = format!("- `{path}`");
        let Some(rest) = left.checked_sub(tokens(&line) + 1) else { break };
        left = rest;
        lines.push(line);
    }
    lines.reverse();
    lines
}

/// Files that an earlier summary names.
fn earlier_files(head: &[Message]) -> Vec<String> {
    let parts = head.iter().flat_map(|message| &message.parts).filter_map(Part::as_text);
    parts.filter_map(note).flat_map(summary::named_files).collect()
}

/// What the user said, as it was said; in too little room the newest message may take half of it, and of the others what is too
/// long is cut and the oldest go. Also how many had to go.
fn users(head: &[Message], newest: Option<usize>, room: Room) -> (Vec<Message>, usize) {
    let mut left = room.tokens;
    let mut kept = Vec::new();
    let mut left_out = 0;
    let said: Vec<(usize, Message)> =
        head.iter().enumerate().filter_map(|(at, message)| own(at, message)).collect();
    let fits = said
        .iter()
        .map(|(_, message)| worded(message))
        .map(|message| estimate_message(&message))
        .sum::<u64>()
        <= room.tokens;
    for (at, message) in said.into_iter().rev() {
        let is_newest = Some(at) == newest;
        let most = if fits {
            left
        } else if is_newest {
            room.tokens / 2
        } else {
            room.tokens / 8
        };
        let images = if is_newest { room.images } else { Images::default() };
        let message = if is_newest { message } else { worded(&message) };
        let bounded = bound_user(&message, Room { tokens: most.min(left), images });
        let tokens = estimate_message(&bounded);
        // A few words of a long message say nothing.
        let is_scrap = bounded != message && tokens < LEAST_CUT;
        if (tokens > left || is_scrap) && !is_newest {
            left_out += 1;
            left = 0;
            continue;
        }
        left = left.saturating_sub(tokens);
        kept.push(bounded);
    }
    kept.reverse();
    (kept, left_out)
}

/// What was said in a message by the user, or in an instruction in mid-conversation; None for all others.
fn own(at: usize, message: &Message) -> Option<(usize, Message)> {
    let speaks = match message.role {
        Role::User => is_users(message),
        Role::System => true,
        Role::Assistant | Role::Tool => false,
    };
    let parts: Vec<Part> = message.parts.iter().filter(|part| is_own(part)).cloned().collect();
    (speaks && !parts.is_empty()).then(|| (at, Message { parts, ..message.clone() }))
}

/// The message with words for its media.
fn worded(message: &Message) -> Message {
    let words = |part: &Part| super::medium::without_media(part).unwrap_or_else(|| part.clone());
    let opaque = |part: &&Part| !matches!(part.body, PartBody::Opaque(_));
    Message { parts: message.parts.iter().filter(opaque).map(words).collect(), ..message.clone() }
}
