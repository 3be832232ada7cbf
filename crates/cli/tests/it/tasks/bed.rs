//! A home with a provider of each protocol, all of them one scripted model.

use std::process::Output;

use rail_model::{PartBody, Request, Role};
use rail_testkit::{Models, Turn};
use serde_json::Value;

use crate::home::Home;

/// The protocols, each the name of a provider too.
pub(crate) const PROTOCOLS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

/// A home, and the model that its providers are.
pub(crate) struct TaskBed {
    pub(crate) home: Home,
    pub(crate) models: Models,
}

impl TaskBed {
    /// With a model that plays these turns.
    pub(crate) fn new(turns: Vec<Turn>) -> Self {
        Self::on(Models::start(turns).unwrap(), 200_000)
    }

    /// With this model, whose window is so large.
    pub(crate) fn on(models: Models, window: u64) -> Self {
        let provider = |name: &&str| {
            let url = models.base_url(rail_wire::find(name).unwrap().id);
            format!(
                "[providers.{name}]\nprotocol = \"{name}\"\nbase_url = \"{url}\"\nkey = \"none\"\n\
                 models = {{ m = {{ window = {window}, max_output = 1000, vision = true }} }}\n"
            )
        };
        let providers: String = PROTOCOLS.iter().map(provider).collect();
        let home = Home::with(&format!("{providers}[router]\ndefault = \"anthropic,m\"\n"))
            .set("PATH", "/usr/local/bin:/usr/bin:/bin");
        Self { home, models }
    }

    /// A task in which everything is allowed that stays in its folder: its result.
    pub(crate) fn task(&self, args: &[&str], input: &str) -> Value {
        let all = [&["--yolo", "--sandbox", "workspace", "--output-format", "json", "-p"], args].concat();
        let Output { status, stdout, stderr } = self.home.bounded(&all, input);
        let result = serde_json::from_slice(&stdout).unwrap_or_else(|error| {
            panic!("{error}: {status}: {}", String::from_utf8_lossy(&stderr));
        });
        assert!(status.success(), "{result}: {}", String::from_utf8_lossy(&stderr));
        result
    }

    /// The requests for answers so far, as the model read them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.models.requests().iter().filter_map(|asked| asked.request().cloned()).collect()
    }
}

/// Every call has its result behind it, before anybody else speaks, and no result is without its call. Nothing is empty.
pub(crate) fn assert_valid(request: &Request) {
    let mut waiting: Vec<&str> = Vec::new();
    for message in &request.messages {
        assert!(!message.parts.is_empty(), "an empty message: {request:#?}");
        for part in &message.parts {
            match &part.body {
                PartBody::ToolCall(call) => waiting.push(call.id.as_str()),
                PartBody::ToolResult(result) => {
                    let at = waiting.iter().position(|id| *id == result.id.as_str());
                    waiting.remove(at.unwrap_or_else(|| panic!("a result without a call: {request:#?}")));
                }
                PartBody::Text(text) => {
                    assert!(!text.is_empty(), "an empty text: {request:#?}");
                    let early = message.role == Role::User && !waiting.is_empty();
                    assert!(!early, "calls without results: {waiting:?} in {request:#?}");
                }
                _ => {}
            }
        }
    }
    assert!(waiting.is_empty(), "calls without results: {waiting:?} in {request:#?}");
    assert_eq!(request.messages.first().map(|message| message.role), Some(Role::User));
}
