//! What servers ask of us, and what they are told.

use std::path::Path;
use std::sync::Arc;

use rail_model::Role;
use rmcp::ClientHandler;
use rmcp::RoleClient;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::content::parts_of_content;
use super::desk::Desk;
use super::host::{Answer, Ask, Sample};
use super::names::cut;

/// Characters of a question to a person.
const MESSAGE: usize = 4_000;
/// Bytes of the schema of a form, and of an address.
const FORM: usize = 64 << 10;
/// Messages and bytes of a question to the model.
const MESSAGES: usize = 200;
const CONVERSATION: usize = 4 << 20;
/// Tokens that a server may want of a model, if it does not say how many.
const TOKENS: u64 = 1_024;

/// Answers one server.
pub(crate) struct Answers {
    desk: Arc<Desk>,
    open: Semaphore,
}

impl Answers {
    pub(crate) fn new(desk: Arc<Desk>) -> Self {
        let open = Semaphore::new(desk.limits.asks);
        Self { desk, open }
    }

    async fn answer(&self, method: &str, params: Value) -> Result<Value, ErrorData> {
        let offers = self.desk.host.offers();
        match method {
            "roots/list" if offers.roots => Ok(self.roots()),
            "elicitation/create" if offers.elicitation => self.elicit(&params).await,
            "sampling/createMessage" if offers.sampling => self.sample(params).await,
            other => Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("`{}` is not offered here", cut(other, 100)),
                None,
            )),
        }
    }

    fn roots(&self) -> Value {
        let roots = self.desk.host.roots();
        let root = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            json!({"uri": file_uri(path), "name": name.unwrap_or_else(|| "/".to_owned())})
        };
        json!({"roots": roots.iter().map(|path| root(path)).collect::<Vec<_>>()})
    }

    async fn elicit(&self, params: &Value) -> Result<Value, ErrorData> {
        let text = |key: &str| params.get(key).and_then(Value::as_str);
        let message = cut(text("message").unwrap_or_default(), MESSAGE);
        let ask = match text("mode") {
            Some("url") => {
                let url = text("url").filter(|url| url.len() <= FORM);
                Ask::Url {
                    message,
                    url: url.ok_or_else(|| wrong("there is no `url`, or it is too long"))?.to_owned(),
                }
            }
            Some("form") | None => {
                let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
                let schema = schema.ok_or_else(|| wrong("there is no `requestedSchema`"))?.clone();
                if schema.to_string().len() > FORM {
                    return Err(wrong("`requestedSchema` is too long"));
                }
                Ask::Form { message, schema }
            }
            Some(_) => return Err(wrong("there is no such `mode`")),
        };
        Ok(match self.desk.host.elicit(&self.desk.server, ask).await {
            Answer::Accept(Value::Null) => json!({"action": "accept"}),
            Answer::Accept(content) => json!({"action": "accept", "content": content}),
            Answer::Decline => json!({"action": "decline"}),
            Answer::Cancel => json!({"action": "cancel"}),
        })
    }

    async fn sample(&self, params: Value) -> Result<Value, ErrorData> {
        if params.to_string().len() > CONVERSATION {
            return Err(wrong("the conversation is too long"));
        }
        let messages = params.get("messages").and_then(Value::as_array);
        let messages = messages.ok_or_else(|| wrong("`messages` is no list"))?;
        if messages.is_empty() || messages.len() > MESSAGES {
            return Err(wrong("there are no messages, or too many"));
        }
        let said = messages.iter().map(|message| said(message, self.desk.limits.media));
        let messages = said.collect::<Option<Vec<_>>>().ok_or_else(|| wrong("a message can't be read"))?;
        let texts = |at: Option<&Value>, key: Option<&str>| -> Vec<String> {
            let all = at.and_then(Value::as_array).into_iter().flatten();
            let text = |one: &Value| key.map_or(Some(one), |key| one.get(key))?.as_str().map(str::to_owned);
            all.filter_map(text).take(20).collect()
        };
        let ask = Sample {
            messages,
            system: params.get("systemPrompt").and_then(Value::as_str).map(str::to_owned),
            hints: texts(params.pointer("/modelPreferences/hints"), Some("name")),
            max_tokens: params.get("maxTokens").and_then(Value::as_u64).unwrap_or(TOKENS),
            stop: texts(params.get("stopSequences"), None),
            raw: params,
        };
        let sampled = self.desk.host.sample(&self.desk.server, ask).await;
        let sampled = sampled.map_err(|why| ErrorData::new(ErrorCode(-1), why, None))?;
        Ok(json!({
            "role": "assistant", "content": {"type": "text", "text": sampled.text},
            "model": sampled.model, "stopReason": sampled.stop_reason
        }))
    }
}

/// A message of a conversation.
pub(crate) fn said(message: &Value, media: usize) -> Option<(Role, Vec<rail_model::Part>)> {
    let role = match message.get("role")?.as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    Some((role, parts_of_content(message.get("content")?, media).ok()?))
}

fn wrong(why: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::INVALID_PARAMS, why, None)
}

/// A folder's address.
fn file_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

impl ClientHandler for Answers {
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let Ok(_open) = self.open.try_acquire() else {
            let many =
                format!("more than {} requests are open; wait for their answers", self.desk.limits.asks);
            return Err(ErrorData::new(ErrorCode(-1), many, None));
        };
        tokio::select! {
            answer = self.answer(&request.method, request.params.unwrap_or_default()) => answer.map(CustomResult),
            () = context.ct.cancelled() => Err(ErrorData::new(ErrorCode(-1), "it was taken back", None)),
        }
    }

    fn get_info(&self) -> ClientConfig {
        let offers = self.desk.host.offers();
        let mut can = serde_json::Map::new();
        if offers.roots {
            can.insert("roots".to_owned(), json!({"listChanged": true}));
        }
        if offers.sampling {
            can.insert("sampling".to_owned(), json!({}));
        }
        if offers.elicitation {
            can.insert("elicitation".to_owned(), json!({"form": {}, "url": {}}));
        }
        let can: ClientCapabilities = serde_json::from_value(Value::Object(can)).unwrap_or_default();
        ClientConfig::new(can, Implementation::new("switchrail", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_addresses() {
        assert_eq!(file_uri(Path::new("/a b/ü#")), "file:///a%20b/%C3%BC%23");
    }
}
