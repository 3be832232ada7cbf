//! Where a provider's cache is worth a mark.

use rail_model::{CacheMark, Message, PartBody, Role};

/// How many messages are marked; with the tools and the head that makes four, which is what providers take.
const MESSAGES: usize = 2;

/// Marks the ends of the last two messages that are not the model's, and no others: what stands before them was sent before, and will
/// be sent again.
pub fn mark_messages(messages: &mut [Message]) {
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        part.cache = None;
        if let PartBody::ToolResult(result) = &mut part.body {
            result.content.iter_mut().for_each(|inner| inner.cache = None);
        }
    }
    let ours = messages.iter_mut().rev().filter(|message| match message.role {
        Role::User | Role::Tool => true,
        Role::System | Role::Assistant => false,
    });
    for part in ours.filter_map(|message| message.parts.last_mut()).take(MESSAGES) {
        part.cache = Some(CacheMark::default());
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, Part, ToolResult};

    use super::*;

    fn result() -> Part {
        let inner = Part { cache: Some(CacheMark::default()), ..Part::text("r") };
        PartBody::ToolResult(ToolResult {
            id: CallId::Given("c".into()),
            name: None,
            content: vec![inner],
            is_error: None,
            kind: CallKind::Function,
        })
        .into()
    }

    /// The roles and the number of parts of each message; which messages and parts are marked.
    fn check(messages: &[(Role, usize)], expected: &[(usize, usize)]) {
        let mut messages: Vec<Message> = messages
            .iter()
            .map(|(role, parts)| Message::new(*role, std::iter::repeat_with(result).take(*parts).collect()))
            .collect();
        mark_messages(&mut messages);
        let twice = messages.clone();
        mark_messages(&mut messages);
        assert_eq!(messages, twice, "marking twice is marking once");
        let mut marked = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            for (number, part) in message.parts.iter().enumerate() {
                marked.extend(part.cache.is_some().then_some((at, number)));
                let PartBody::ToolResult(result) = &part.body else { continue };
                assert!(result.content.iter().all(|inner| inner.cache.is_none()));
            }
        }
        assert_eq!(marked, expected);
    }

    #[test]
    fn the_last_two_messages_that_are_not_the_model_s_are_marked() {
        use Role::{Assistant, System, Tool, User};
        check(&[], &[]);
        check(&[(User, 1)], &[(0, 0)]);
        check(&[(User, 2), (Assistant, 1), (Tool, 3)], &[(0, 1), (2, 2)]);
        check(&[(User, 1), (Assistant, 1), (Tool, 1), (Assistant, 1), (User, 1)], &[(2, 0), (4, 0)]);
        check(&[(User, 1), (User, 0), (System, 1), (User, 1), (Assistant, 2)], &[(0, 0), (3, 0)]);
    }
}
