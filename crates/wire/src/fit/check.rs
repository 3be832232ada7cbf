//! The rules once more, as questions to a finished request. Written from the rules and not from the code that keeps
//! them, so that the two can be tested against each other.

mod pairs;

use std::collections::BTreeSet;

use rail_model::{
    CallKind, Format, MediaKind, MediaSource, Part, PartBody, ProtocolId, Request, Role, Seal, ThinkingMode,
    ToolChoice, ToolKind,
};

use super::parts::ATTRIBUTION;
use super::rules::Rules;
use crate::ids;
use crate::protocol::TargetSpec;

/// What of the rules a request breaks; nothing for one that [`fit`](super::fit) gave.
pub fn check(request: &Request, target: &TargetSpec, rules: &Rules) -> Vec<String> {
    let own = request.origin == Some(rules.protocol);
    let mut checker = Checker {
        request,
        target,
        rules,
        own,
        hidden_from: pairs::hides_calls_from(request, rules),
        broken: Vec::new(),
    };
    checker.parts();
    checker.pairs();
    checker.roles();
    checker.images();
    checker.tools();
    checker.cache();
    checker.thinking();
    checker.limits();
    checker.broken
}

/// Where a part stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outside,
    InResult,
}

/// Every part with who says it (None for instructions), parts of results included.
fn each_part(request: &Request) -> impl Iterator<Item = (Option<Role>, Depth, &Part)> {
    let system = request.system.iter().map(|part| (None, part));
    let messages = request.messages.iter();
    let said = messages.flat_map(|message| message.parts.iter().map(|part| (Some(message.role), part)));
    system.chain(said).flat_map(|(role, part)| {
        let inside: &[Part] =
            if let PartBody::ToolResult(result) = &part.body { &result.content } else { &[] };
        inside.iter().map(move |part| (role, Depth::InResult, part)).chain([(role, Depth::Outside, part)])
    })
}

struct Checker<'a> {
    request: &'a Request,
    target: &'a TargetSpec,
    rules: &'a Rules,
    own: bool,
    /// From this message on, results may answer calls that are not in the request.
    hidden_from: usize,
    broken: Vec<String>,
}

impl Checker<'_> {
    fn demand(&mut self, holds: bool, rule: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(rule());
        }
    }

    fn parts(&mut self) {
        let first = self.request.system.first().and_then(Part::as_text);
        let billed = first.is_some_and(|text| text.starts_with(ATTRIBUTION));
        self.demand(self.rules.attribution || !billed, || "the billing line of another".into());
        for (role, depth, part) in each_part(self.request) {
            let (target, protocol) = (self.target, self.rules.protocol);
            let foreign = |seal: &Seal| !target.issued(protocol, &seal.issuer);
            self.demand(!part.seal.as_ref().is_some_and(foreign), || "a seal of another issuer".into());
            let assistant = role == Some(Role::Assistant);
            match &part.body {
                PartBody::Text(text) | PartBody::Refusal(text) => {
                    let bare = self.rules.bare_text.is_some_and(|mark| {
                        depth == Depth::InResult && part.extras.marked(self.rules.protocol, mark)
                    });
                    let may = part.seal.is_some() || bare || (self.own && self.rules.empty_text);
                    self.demand(may || !text.trim().is_empty(), || "a blank text".into());
                }
                PartBody::Thinking(_) => {
                    let sealed = part.seal.is_some() || !self.rules.sealed_thinking;
                    self.demand(assistant && sealed, || "reasoning that is not the target's".into());
                }
                PartBody::Redacted(seal) => {
                    self.demand(assistant && !foreign(seal), || {
                        "hidden reasoning that is not the target's".into()
                    });
                }
                PartBody::ToolCall(call) => {
                    self.demand(assistant, || "a call that is not the assistant's".into());
                    self.name(&call.name);
                    let custom = self.rules.custom_tools && self.target.quirks.custom_tools;
                    self.demand(custom || call.kind == CallKind::Function, || "a custom call".into());
                }
                PartBody::ToolResult(result) => {
                    self.demand(role.is_some(), || "a result among the instructions".into());
                    result.name.iter().for_each(|name| self.name(name));
                    self.demand(result.name.is_some() || !self.rules.results_named, || {
                        "a nameless result".into()
                    });
                    let failed = result.is_error.is_some();
                    self.demand(self.rules.error_results || !failed, || {
                        "a result that can't say it failed".into()
                    });
                }
                PartBody::Media(media) => {
                    let origin = self.request.origin.map_or("", ProtocolId::name);
                    let shared = self.own || self.rules.carried.contains(&(origin, "content.file_id"));
                    let uploaded = matches!(media.source, MediaSource::FileId(_));
                    self.demand(shared || !uploaded, || "a file of another provider".into());
                    let may = self.own || (role.is_some() && (!assistant || self.rules.assistant_media));
                    self.demand(may, || "a medium where there can be none".into());
                }
                PartBody::Opaque(opaque) => {
                    self.demand(opaque.origin == self.rules.protocol, || "an opaque part of another".into());
                }
            }
        }
    }

    fn name(&mut self, name: &str) {
        let legal = |char: char| {
            matches!(char, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-')
                || self.rules.name_extra.contains(char)
        };
        let first = !self.rules.name_letter_first
            || name.starts_with(|char: char| !matches!(char, '0'..='9' | '-' | '.' | ':'));
        let fits = !name.is_empty() && name.len() <= self.rules.name_max;
        self.demand(fits && first && name.chars().all(legal), || format!("the tool name `{name}`"));
    }

    fn id(&mut self, id: &str) {
        let legal = !id.is_empty() && (self.rules.any_id || ids::is_legal(id));
        self.demand(legal && id.len() <= self.rules.id_max, || format!("the call id `{id}`"));
    }

    fn roles(&mut self) {
        let messages = &self.request.messages;
        let speaks = messages.iter().find(|message| message.role != Role::System).map(|message| message.role);
        let user_first = self.own || !self.rules.user_first || speaks == Some(Role::User);
        self.demand(user_first, || "the user does not begin".into());
        let prefill = messages.last().is_some_and(|message| message.role == Role::Assistant);
        self.demand(self.rules.prefill || !prefill, || "the assistant ends".into());
        for message in messages {
            let may = self.own && self.rules.empty_text;
            self.demand(may || !message.parts.is_empty(), || "an empty message".into());
            let midway = message.role == Role::System && !self.rules.system_midway;
            self.demand(!midway, || "instructions in mid-conversation".into());
        }
        let headers = self.own || self.request.headers.is_empty();
        self.demand(headers, || "headers of another protocol".into());
    }

    fn images(&mut self) {
        let mut count = 0;
        for (_, _, part) in each_part(self.request) {
            let PartBody::Media(media) = &part.body else { continue };
            if media.kind != MediaKind::Image {
                continue;
            }
            count += 1;
            let Some(limits) = &self.target.images else {
                self.broken.push("an image for the blind".into());
                continue;
            };
            if let MediaSource::Base64(data) = &media.source {
                let bytes = data.trim_end_matches('=').len() / 4 * 3;
                self.demand(self.own || bytes <= limits.max_bytes, || "an image with too many bytes".into());
            }
        }
        let most = self.target.images.map_or(0, |limits| limits.count);
        self.demand(count <= most, || format!("{count} images"));
        let nested = self.rules.media_in_results && self.target.quirks.image_in_tool_result;
        let messages = self.request.messages.iter().flat_map(|message| &message.parts);
        for part in messages {
            if let PartBody::ToolResult(result) = &part.body {
                let media = result.content.iter().any(|part| matches!(part.body, PartBody::Media(_)));
                self.demand(nested || !media, || "a medium inside a result".into());
                let held = |part: &Part| matches!(part.body, PartBody::ToolResult(_) | PartBody::ToolCall(_));
                self.demand(!result.content.iter().any(held), || "a result or call inside a result".into());
            }
        }
    }

    fn tools(&mut self) {
        let mut names = BTreeSet::new();
        for tool in &self.request.tools {
            if let ToolKind::Server(opaque) = &tool.kind {
                self.demand(opaque.origin == self.rules.protocol, || "a server tool of another".into());
                continue;
            }
            self.name(&tool.name);
            let custom = matches!(tool.kind, ToolKind::Custom { .. });
            let taken = self.rules.custom_tools && self.target.quirks.custom_tools;
            self.demand(taken || !custom, || "a custom tool".into());
            self.demand(names.insert(&tool.name), || format!("`{}` twice", tool.name));
        }
        if let Some(Format::Opaque(opaque)) = &self.request.format {
            self.demand(opaque.origin == self.rules.protocol, || "a format of another".into());
        }
        let declared = |name: &String| self.request.tools.iter().any(|tool| tool.name == *name);
        let known = match &self.request.tool_choice {
            None => true,
            Some(ToolChoice::Opaque(opaque)) => opaque.origin == self.rules.protocol,
            Some(_) if self.own => true,
            Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Any) => !self.request.tools.is_empty(),
            Some(ToolChoice::Named(name)) => declared(name),
            Some(ToolChoice::Among { names, .. }) => !names.is_empty() && names.iter().all(declared),
        };
        self.demand(known, || "a choice of tools that are not there".into());
        let chosen = match &self.request.tool_choice {
            Some(ToolChoice::Named(name)) => std::slice::from_ref(name),
            Some(ToolChoice::Among { names, .. }) => names,
            Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Any | ToolChoice::Opaque(_)) | None => &[],
        };
        // A client may well name no tool at all to its own protocol, which will say so.
        chosen.iter().filter(|name| !name.is_empty()).for_each(|name| self.name(name));
    }

    fn cache(&mut self) {
        let tools = self.request.tools.iter().filter(|tool| tool.cache.is_some()).count();
        let marks = tools + each_part(self.request).filter(|(_, _, part)| part.cache.is_some()).count();
        self.demand(marks <= self.rules.cache_marks, || format!("{marks} cache marks"));
    }

    /// With a budget on, the assistant messages since the user's last own words must begin with reasoning.
    fn thinking(&mut self) {
        let on =
            self.request.thinking.as_ref().is_some_and(|thinking| thinking.mode == Some(ThinkingMode::On));
        let by_budget =
            matches!(self.target.thinking, crate::ThinkingStyle::AsAsked | crate::ThinkingStyle::Budget);
        if !on || !by_budget || !self.rules.sealed_thinking {
            return;
        }
        let has_result = |part: &Part| matches!(part.body, PartBody::ToolResult(_));
        let mut first: Option<&Part> = None;
        let mut looping = false;
        let sides = self
            .request
            .messages
            .chunk_by(|one, two| (one.role == Role::Assistant) == (two.role == Role::Assistant));
        for side in sides {
            let mut parts = side.iter().flat_map(|message| &message.parts);
            if side.iter().any(|message| message.role == Role::Assistant) {
                first = if looping { first } else { parts.next() };
                looping = false;
            } else {
                looping = parts.any(has_result);
            }
        }
        let reasons =
            first.is_some_and(|part| matches!(part.body, PartBody::Thinking(_) | PartBody::Redacted(_)));
        self.demand(!looping || reasons, || "thinking without the reasoning of the open loop".into());
    }

    fn limits(&mut self) {
        let most = self.target.max_output.unwrap_or(u64::MAX);
        let output = self.request.sampling.max_output;
        self.demand(output.unwrap_or(0) <= most, || "too much output".into());
        let thinking =
            self.request.thinking.as_ref().filter(|thinking| thinking.mode != Some(ThinkingMode::Off));
        if let (Some(budget), Some(least)) =
            (thinking.and_then(|thinking| thinking.budget), self.rules.budget_min)
        {
            let output = output.unwrap_or(self.target.default_max_output).min(most);
            self.demand((least..output).contains(&budget), || format!("a budget of {budget} in {output}"));
        }
    }
}
