use rail_model::{Effort, Message, PartBody, Request, Role, Thinking, ThinkingMode};

/// The word by which hybrid Qwen3 models are told not to think.
const NO_THINK: &str = "/no_think";
/// The word by which a user asks for thinking all the same.
const THINK: &str = "/think";

/// Tells a hybrid Qwen3 model not to think, unless thinking is wanted: some stop after thinking and never make their calls.
///
/// Whether a model has this switch is for the caller to know: to any other the word would only be noise. Every user message
/// with text gets the word before its first text, once, and not only the last: a conversation that grows keeps the bytes it
/// was sent with, so provider caches still hit. A message that begins with `/think` or `/no_think` is left to its user, and
/// tool results are never touched.
pub fn no_think(request: &mut Request) {
    if request.thinking.as_ref().is_some_and(is_wanted) {
        return;
    }
    for message in request.messages.iter_mut().filter(|message| message.role == Role::User) {
        tell(message);
    }
}

fn tell(message: &mut Message) {
    let text = message.parts.iter_mut().find_map(|part| match &mut part.body {
        PartBody::Text(text) => Some(text),
        PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    });
    if let Some(text) = text.filter(|text| !begins_with_switch(text)) {
        *text = format!("{NO_THINK} {text}");
    }
}

fn begins_with_switch(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|word| word == NO_THINK || word == THINK)
}

fn is_wanted(thinking: &Thinking) -> bool {
    match (thinking.mode, &thinking.effort) {
        (Some(ThinkingMode::Off), _) | (_, Some(Effort::None)) => false,
        (Some(ThinkingMode::On | ThinkingMode::Adaptive), _) | (None, Some(_)) => true,
        (None, None) => thinking.budget.is_some_and(|budget| budget > 0),
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, Part, ToolResult};

    use super::*;

    fn request(texts: &[&str]) -> Request {
        let messages = texts.iter().map(|text| Message::new(Role::User, vec![Part::text(*text)])).collect();
        Request { messages, ..Request::default() }
    }

    fn told(texts: &[&str]) -> Vec<String> {
        let mut request = request(texts);
        no_think(&mut request);
        request.messages.iter().map(|message| message.parts[0].as_text().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_user_text_is_told_once() {
        let once = told(&["a", "/no_think b", "/think c", "/no_thinking d", ""]);
        assert_eq!(
            once,
            ["/no_think a", "/no_think b", "/think c", "/no_think /no_thinking d", "/no_think "]
        );
        let again: Vec<&str> = once.iter().map(String::as_str).collect();
        assert_eq!(told(&again), once);
    }

    #[test]
    fn thinking_that_is_wanted_is_left_on() {
        let on = Some(ThinkingMode::On);
        for (mode, effort, budget, wanted) in [
            (None, None, None, false),
            (on, None, None, true),
            (Some(ThinkingMode::Adaptive), None, None, true),
            (on, Some(Effort::None), None, false),
            (on, Some(Effort::Low), None, true),
            (None, Some(Effort::High), None, true),
            (None, None, Some(1024), true),
            (None, None, Some(0), false),
            (Some(ThinkingMode::Off), Some(Effort::High), Some(9), false),
        ] {
            let mut request = request(&["a"]);
            let thinking = Thinking { mode, effort, budget, ..Thinking::default() };
            request.thinking = Some(thinking.clone());
            no_think(&mut request);
            assert_eq!(request.messages[0].parts[0].as_text() == Some("a"), wanted, "{thinking:?}");
        }
    }

    #[test]
    fn results_and_other_speakers_are_not_told() {
        let result = PartBody::ToolResult(ToolResult {
            id: CallId::Given("c".into()),
            name: None,
            content: vec![Part::text("out")],
            is_error: None,
            kind: CallKind::Function,
        });
        let messages = vec![
            Message::new(Role::System, vec![Part::text("s")]),
            Message::new(Role::Assistant, vec![Part::text("t")]),
            Message::new(Role::Tool, vec![result.clone().into()]),
            Message::new(Role::User, vec![result.clone().into()]),
        ];
        let mut request = Request { messages: messages.clone(), ..Request::default() };
        request.messages.push(Message::new(Role::User, vec![result.clone().into(), Part::text("go on")]));
        no_think(&mut request);
        assert_eq!(request.messages[..4], messages);
        assert_eq!(request.messages[4].parts, [result.into(), Part::text("/no_think go on")]);
    }
}
