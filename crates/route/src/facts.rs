use rail_model::{
    Effort, Media, MediaKind, Message, Part, PartBody, Purpose, Request, Role, Thinking, ThinkingMode,
    ToolCall, ToolDecl,
};

use crate::tool_name::{self, Marks};
use crate::{Client, SessionKey};

/// What routing needs to know of a request. It borrows: reading a request copies nothing of it.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The model name asked for.
    pub asked: &'a str,
    /// Tokens of input, as the target that is asked first will count them.
    pub tokens: u64,
    /// Tokens of input, as estimated for any target.
    pub estimated: u64,
    /// Tokens of output asked for.
    pub max_output: Option<u64>,
    /// Images anywhere in the conversation.
    pub images: usize,
    /// Images in the last user turn, those inside tool results included.
    pub last_images: usize,
    /// The read tool that the last assistant turn called on an image file.
    pub image_read: Option<&'a str>,
    /// The declared tools.
    pub tools: &'a [ToolDecl],
    /// What the tools are, by their names.
    pub kinds: ToolCounts,
    /// The provider's own web search, if one is declared.
    pub server_search: Option<&'a str>,
    /// A web tool that the last assistant turn called.
    pub web_called: Option<&'a str>,
    /// What is said of thinking.
    pub thinking: ThinkingAsked,
    /// The effort word, if one was said.
    pub effort: Option<&'a str>,
    /// Whether the last user turn holds tool results, so that the model is in the middle of its work.
    pub in_tool_loop: bool,
    /// Why the request is made.
    pub purpose: Purpose,
    /// The client's name; empty when nothing tells.
    pub client: &'a str,
    /// The client's headers, names in lower case.
    pub headers: &'a [(String, String)],
    /// The system prompt at the head of the conversation.
    pub system: &'a [Part],
    /// The conversation that the request belongs to.
    pub session: SessionKey,
}

/// What the declared tools are, by their names. A tool may be of two kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ToolCounts {
    /// Tools whose name holds `web`, `search` or `browser`, whatever they search.
    pub literally_web: usize,
    /// Those of them that do not search files, code or other things at hand.
    pub web: usize,
    /// Tools whose name holds `image`, `screenshot` or `vision`.
    pub image: usize,
    /// Tools that are neither web nor image tools.
    pub other: usize,
}

/// What a request says of thinking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThinkingAsked {
    /// Nothing.
    Unsaid,
    /// That it is off.
    Off,
    /// Something, but no more than clients say in every request: as the model sees fit, or with the usual effort.
    Said,
    /// That it is on, or wanted with more than the usual effort.
    Explicit,
}

/// Reads what routing needs from a request, its client and its estimated tokens.
pub fn facts<'a>(request: &'a Request, client: &Client<'a>, tokens: u64) -> Facts<'a> {
    let (assistant_turn, user_turn) = last_turns(&request.messages);
    let (kinds, server_search) = declared(&request.tools);
    let mut facts = Facts {
        asked: request.model.trim(),
        tokens,
        estimated: tokens,
        max_output: request.sampling.max_output,
        images: request.messages.iter().map(images).sum(),
        last_images: user_turn.iter().map(images).sum(),
        image_read: None,
        tools: &request.tools,
        kinds,
        server_search: server_search.or_else(|| search_beside_tools(request)),
        web_called: None,
        thinking: thinking(request.thinking.as_ref()),
        effort: request.thinking.as_ref().and_then(|thinking| thinking.effort.as_ref()).map(Effort::word),
        in_tool_loop: user_turn.iter().flat_map(|message| &message.parts).any(is_result),
        purpose: client.purpose(request.purpose),
        client: client.known_as(),
        headers: client.headers,
        system: &request.system,
        session: SessionKey::of(request, client),
    };
    for call in assistant_turn.iter().flat_map(|message| &message.parts).filter_map(call) {
        if tool_name::reads(&call.name, &call.arguments) && tool_name::names_image(&call.arguments) {
            facts.image_read = Some(&call.name);
        }
        if tool_name::marks(&call.name).strictly_web {
            facts.web_called = Some(&call.name);
        }
    }
    facts
}

impl Facts<'_> {
    /// What a header of the client says.
    pub fn header(&self, name: &str) -> Option<&str> {
        Client { headers: self.headers, name: None }.header(name)
    }

    /// Whether the system prompt holds this text.
    pub(crate) fn system_holds(&self, text: &str) -> bool {
        self.system.iter().filter_map(Part::as_text).any(|part| part.contains(text))
    }
}

/// The last assistant turn and the user turn behind it. An assistant message at the very end is the beginning of the answer
/// that is asked for, and no turn of its own.
fn last_turns(messages: &[Message]) -> (&[Message], &[Message]) {
    let is_assistant = |message: &Message| message.role == Role::Assistant;
    let behind_last = |list: &[Message], wanted: bool| {
        list.iter().rposition(|message| is_assistant(message) == wanted).map_or(0, |at| at + 1)
    };
    let (said, _begun) = messages.split_at(behind_last(messages, false));
    let (before, user_turn) = said.split_at(behind_last(said, true));
    let (_, assistant_turn) = before.split_at(behind_last(before, false));
    (assistant_turn, user_turn)
}

fn declared(tools: &[ToolDecl]) -> (ToolCounts, Option<&str>) {
    let mut counts = ToolCounts::default();
    for tool in tools {
        let Marks { web, strictly_web, image } = tool_name::marks(&tool.name);
        counts.literally_web += usize::from(web);
        counts.web += usize::from(strictly_web);
        counts.image += usize::from(image);
        counts.other += usize::from(!strictly_web && !image);
    }
    (counts, tools.iter().find_map(tool_name::server_search))
}

/// Chat Completions switches the provider's web search on by a field, and not by a tool.
fn search_beside_tools(request: &Request) -> Option<&'static str> {
    const FIELD: &str = "web_search_options";
    request.extras.get(request.extras.origin()?, FIELD).filter(|options| !options.is_null()).map(|_| FIELD)
}

fn thinking(said: Option<&Thinking>) -> ThinkingAsked {
    let Some(said) = said else { return ThinkingAsked::Unsaid };
    let much = match said.effort {
        Some(Effort::High | Effort::XHigh | Effort::Max) => true,
        Some(Effort::None | Effort::Minimal | Effort::Low | Effort::Medium | Effort::Other(_)) | None => {
            false
        }
    };
    match (said.mode, &said.effort) {
        (Some(ThinkingMode::Off), _) | (None, Some(Effort::None)) => ThinkingAsked::Off,
        (Some(ThinkingMode::On), _) => ThinkingAsked::Explicit,
        (Some(ThinkingMode::Adaptive) | None, _) if much || said.budget.is_some_and(|budget| budget > 0) => {
            ThinkingAsked::Explicit
        }
        (Some(ThinkingMode::Adaptive) | None, _) => ThinkingAsked::Said,
    }
}

fn images(message: &Message) -> usize {
    let is_image = |part: &&Part| matches!(part.body, PartBody::Media(Media { kind: MediaKind::Image, .. }));
    let of_part = |part: &Part| match &part.body {
        PartBody::Media(media) => usize::from(media.kind == MediaKind::Image),
        PartBody::ToolResult(result) => result.content.iter().filter(is_image).count(),
        PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::Opaque(_) => 0,
    };
    message.parts.iter().map(of_part).sum()
}

fn call(part: &Part) -> Option<&ToolCall> {
    if let PartBody::ToolCall(call) = &part.body { Some(call) } else { None }
}

fn is_result(part: &Part) -> bool {
    matches!(part.body, PartBody::ToolResult(_))
}
