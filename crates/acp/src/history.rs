//! What was said in a session before, as updates for a client.

use std::collections::BTreeMap;
use std::path::Path;

use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, MessageId, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdateFields,
};
use rail_model::{Message, Part, PartBody, Role, ToolResult};
use serde_json::Value;

use crate::calls;
use crate::embedded;

use crate::update::{block, update};

/// Tells what was said before.
#[derive(Default)]
pub(crate) struct Past {
    /// The tools of calls, by the calls' ids.
    tools: BTreeMap<String, String>,
    messages: u64,
}

impl Past {
    /// One message as updates.
    pub(crate) fn message(&mut self, message: &Message, cwd: &Path) -> Vec<SessionUpdate> {
        self.messages += 1;
        let number = self.messages;
        message.parts.iter().filter_map(|part| self.part(message.role, part, cwd, number)).collect()
    }

    fn part(&mut self, role: Role, part: &Part, cwd: &Path, number: u64) -> Option<SessionUpdate> {
        let chunk = |content: ContentBlock| {
            ContentChunk::new(content).message_id(MessageId::new(format!("past-{number}")))
        };
        let said = |content| match role {
            Role::User | Role::Tool => Some(SessionUpdate::UserMessageChunk(chunk(content))),
            Role::Assistant => Some(SessionUpdate::AgentMessageChunk(chunk(content))),
            // What the model was told on the user's behalf, nobody said.
            Role::System => None,
        };
        match &part.body {
            // Of what stands beside the user's words, the client gave files; the others are read for the words' sake.
            PartBody::Text(text) if part.is_beside() => embedded::read(text).and_then(said),
            _ if part.is_beside() => None,
            PartBody::Text(text) | PartBody::Refusal(text) => said(block(text)),
            PartBody::Media(media) => calls::image(media).and_then(said),
            PartBody::Thinking(text) => Some(SessionUpdate::AgentThoughtChunk(chunk(block(text)))),
            PartBody::ToolCall(call) => {
                let id = call.id.as_str().to_owned();
                let input = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
                let title = calls::known(&call.name).to_owned();
                self.tools.insert(id.clone(), title.clone());
                let mut shown = ToolCall::new(id, calls::title(&title, &input, cwd));
                shown.name = Some(call.name.clone());
                shown.kind = calls::kind(&title);
                shown.locations = calls::locations(&input, cwd);
                shown.content = calls::wanted(&title, &input, cwd, &|_| None);
                shown.raw_input = Some(input);
                Some(SessionUpdate::ToolCall(shown))
            }
            PartBody::ToolResult(result) => Some(self.result(result)),
            PartBody::Redacted(_) | PartBody::Opaque(_) => None,
        }
    }

    fn result(&mut self, result: &ToolResult) -> SessionUpdate {
        let id = result.id.as_str();
        let title = self.tools.remove(id).unwrap_or_default();
        let failed = result.is_error == Some(true);
        let mut fields = ToolCallUpdateFields::new().status(if failed {
            ToolCallStatus::Failed
        } else {
            ToolCallStatus::Completed
        });
        // What a call changed stands with the call itself.
        let is_edit = calls::kind(&title) == agent_client_protocol_schema::v1::ToolKind::Edit;
        if failed || !is_edit {
            fields = fields.content(calls::given(&title, None, &result.content));
        }
        update(id, fields)
    }
}
