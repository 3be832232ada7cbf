//! A server's tool, as a session has it.

use std::sync::Arc;

use rail_permit::{Facet, Level};
use rail_tool::{
    Admitted, AnyTool, BoxFuture, Card, Example, FacetCx, Generation, InputFault, Lane, Shown, Telling,
    ToolCx, ToolFault, ToolOutput,
};
use serde_json::{Value, json};

use super::content::given;
use super::lists::Listed;
use super::server::Server;
use super::session::{Trouble, Wait};

/// A tool of a server.
pub(crate) struct Remote {
    pub(crate) name: String,
    pub(crate) listed: Arc<Listed>,
    pub(crate) server: Arc<Server>,
    title: String,
}

impl Remote {
    pub(crate) fn new(name: String, listed: Arc<Listed>, server: Arc<Server>) -> Self {
        let own = listed.title.as_deref().unwrap_or(&listed.name);
        let title = format!("{}: {own}", server.spec.name);
        Self { name, listed, server, title }
    }
}

impl AnyTool for Remote {
    fn card(&self) -> Card<'_> {
        let reads = self.listed.reads;
        Card {
            name: &self.name,
            title: &self.title,
            summary: &self.listed.description,
            prompt: &self.listed.description,
            generation: Generation::Gen2,
            level: if reads { Level::Read } else { Level::Execute },
            lane: if reads { Lane::Shared } else { Lane::Exclusive },
            shown: Shown::Whole,
        }
    }

    fn schema(&self) -> Value {
        self.listed.schema.clone()
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        let arguments = match arguments {
            Value::Null => json!({}),
            Value::Object(_) => arguments,
            _ => return Err(InputFault { path: ".".to_owned(), what: "must be an object".to_owned() }),
        };
        let (server, tool) = (Arc::clone(&self.server), self.listed.name.clone());
        Ok(Box::new(Call { server, tool, arguments }))
    }
}

struct Call {
    server: Arc<Server>,
    tool: String,
    arguments: Value,
}

impl Admitted for Call {
    fn facets(&self, _: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Foreign]
    }

    fn run(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>> {
        Box::pin(async move {
            let Self { server, tool, arguments } = *self;
            let cancel = cx.cancel().clone();
            let session = tokio::select! {
                session = server.session() => session.map_err(|why| ToolFault::new(Telling::shown(why)))?,
                () = cancel.cancelled() => return Err(fault(&server, &Trouble::Cancelled)),
            };
            let progress = cx.progress().clone();
            let say = move |text: &str| progress.say(text);
            let times = &server.spec.times;
            let wait = Wait { idle: times.idle, total: times.total, cancel: Some(&cancel), say: Some(&say) };
            let params = json!({"name": tool, "arguments": arguments});
            let result = session.ask("tools/call", params, wait).await;
            given(&result.map_err(|trouble| fault(&server, &trouble))?, server.shared.limits.media)
        })
    }
}

/// Why a call has no result, for the model.
fn fault(server: &Server, trouble: &Trouble) -> ToolFault {
    let name = &server.spec.name;
    let (words, shown) = match trouble {
        Trouble::Refused(words) => (format!("the MCP server `{name}` refused the call: "), words.clone()),
        Trouble::Slow(_) => (
            format!("the MCP server `{name}` gave no result: {trouble}"),
            ". The call was taken back; whether it had an effect is not known".to_owned(),
        ),
        Trouble::Gone(why) => (
            format!(
                "the MCP server `{name}` was gone before the call was done; whether it had an effect is not known: "
            ),
            why.clone(),
        ),
        Trouble::Cancelled => (format!("the call of the MCP server `{name}` was cancelled"), String::new()),
    };
    ToolFault::new(Telling::shown(words).then(Telling::shown(shown)))
}
