use std::collections::BTreeMap;

use rail_model::{Message, Part, PartBody, Role, ToolResult};
use rail_route::{estimate_message, estimate_parts};
use rail_tool::kept_in;

use super::account::Images;
use super::budget::{Budget, Percent};
use super::medium;
use super::steps::{last_steps, newest_users};

/// What is left of an output must be so many tokens less than it, or it stays.
const LEAST: u64 = 40;

/// A conversation with less of its old outputs.
#[derive(Clone, PartialEq, Debug)]
pub struct Trimmed {
    /// The whole conversation.
    pub messages: Vec<Message>,
    /// Estimated tokens that are no longer there.
    pub freed: u64,
    /// What was taken out, oldest first.
    pub cut: Vec<Cut>,
}

/// Something that was taken out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The message it was in.
    pub message: usize,
    /// The part of the message.
    pub part: usize,
    /// The tool whose output it was; None for a medium in a message of the user.
    pub tool: Option<String>,
    /// Estimated tokens that are no longer there.
    pub freed: u64,
}

/// Takes old outputs of tools out, oldest first, and puts words in their place; also old images. What the user and the model said
/// stays, and so do the last steps and what came with the newest message of the user.
///
/// The provider's cache is lost each time, so it frees a good share of the window at once or does nothing.
pub fn trim(messages: &[Message], budget: &Budget) -> Option<Trimmed> {
    let mut work = Work::new(messages, budget);
    let tail = last_steps(messages, budget.tail_steps);
    let spared = newest_users(messages);
    for (at, message) in messages.iter().enumerate().take(tail) {
        if work.is_done() {
            break;
        }
        if message.role == Role::Assistant {
            work.learn_names(message);
        } else if spared != Some(at) {
            work.shorten(at, message);
        }
    }
    let enough = work.freed >= budget.free_at_least.of(budget.room()).max(1);
    let helped = work.had_too_many_images && !work.cut.is_empty();
    (enough || helped).then_some(Trimmed { messages: work.messages, freed: work.freed, cut: work.cut })
}

struct Work<'a> {
    messages: Vec<Message>,
    names: BTreeMap<&'a str, &'a str>,
    used: u64,
    goal: u64,
    images: Images,
    most_images: Images,
    had_too_many_images: bool,
    freed: u64,
    cut: Vec<Cut>,
}

impl<'a> Work<'a> {
    fn new(messages: &'a [Message], budget: &Budget) -> Self {
        let images = messages.iter().map(|message| Images::of(&message.parts));
        let images = images.fold(Images::default(), Images::and);
        let had_too_many_images = !images.within(budget.images);
        let share = budget.trim_at.0.saturating_sub(budget.free_at_least.0);
        Self {
            messages: messages.to_vec(),
            names: BTreeMap::new(),
            used: messages.iter().map(estimate_message).sum(),
            goal: budget.room_to(Percent(share)),
            images,
            // Half of them, so that the next image is not one too many again.
            most_images: if had_too_many_images { budget.images.share(Percent(50)) } else { images },
            had_too_many_images,
            freed: 0,
            cut: Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.used <= self.goal && self.images.within(self.most_images)
    }

    fn learn_names(&mut self, message: &'a Message) {
        for part in &message.parts {
            if let PartBody::ToolCall(call) = &part.body {
                self.names.insert(call.id.as_str(), &call.name);
            }
        }
    }

    fn shorten(&mut self, at: usize, message: &Message) {
        for (nth, part) in message.parts.iter().enumerate() {
            let Some(new) = self.shorter(part) else { continue };
            let (old_tokens, new_tokens) = (of(part), of(&new));
            let lighter = Images::of(std::slice::from_ref(part)).count > 0;
            if new_tokens.saturating_add(LEAST) > old_tokens && !lighter {
                continue;
            }
            let Some(slot) = self.messages.get_mut(at).and_then(|message| message.parts.get_mut(nth)) else {
                continue;
            };
            *slot = new;
            let freed = old_tokens.saturating_sub(new_tokens);
            self.used = self.used.saturating_sub(freed);
            self.freed = self.freed.saturating_add(freed);
            self.images = self.images.without(Images::of(std::slice::from_ref(part)));
            self.cut.push(Cut { message: at, part: nth, tool: self.tool(part), freed });
        }
    }

    /// What stands for a part from now on; None for one that stays.
    fn shorter(&self, part: &Part) -> Option<Part> {
        let pictures = medium::without_media(part);
        if self.used <= self.goal {
            return pictures.filter(|_| !self.images.within(self.most_images));
        }
        let PartBody::ToolResult(result) = &part.body else { return pictures };
        let short = short_result(result, &self.tool(part).unwrap_or_default());
        let short = Part { body: PartBody::ToolResult(short), ..part.clone() };
        // A picture with a few words: the words stay.
        Some(pictures.filter(|pictures| of(pictures) <= of(&short).saturating_add(LEAST)).unwrap_or(short))
    }

    fn tool(&self, part: &Part) -> Option<String> {
        let PartBody::ToolResult(result) = &part.body else { return None };
        let known = self.names.get(result.id.as_str()).map(|name| (*name).to_owned());
        Some(known.or_else(|| result.name.clone()).unwrap_or_else(|| "a tool".to_owned()))
    }
}

fn of(part: &Part) -> u64 {
    estimate_parts(std::slice::from_ref(part))
}

fn short_result(result: &ToolResult, tool: &str) -> ToolResult {
    let (mut lines, mut characters) = (0, 0);
    let mut words = Vec::new();
    let mut whole = None;
    for part in &result.content {
        match &part.body {
            PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => {
                lines += text.lines().count();
                characters += text.chars().count();
                whole = whole.or_else(|| kept_in(text));
            }
            PartBody::Media(media) => words.push(medium::described(media)),
            PartBody::Redacted(_) | PartBody::ToolCall(_) | PartBody::ToolResult(_) | PartBody::Opaque(_) => {
            }
        }
    }
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    let again = match whole {
        Some(file) => format!("the whole output is in `{file}`"),
        None => "call it again if it is needed".to_owned(),
    };
    let said =
        format!("[The output of `{tool}` is no longer shown ({lines}, {characters} characters): {again}]");
    let parts = [said].into_iter().chain(words).map(Part::text);
    ToolResult { content: parts.collect(), ..result.clone() }
}
