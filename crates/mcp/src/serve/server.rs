//! One client's side of the server.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::answer;
use super::clients::Clients;
use super::room::Room;

/// One client's side of the server; the client's session ends when it is dropped.
pub(super) struct Server {
    clients: Arc<Clients>,
    room: Mutex<Option<(u64, Arc<Room>)>>,
}

impl Server {
    pub(super) fn new(clients: &Arc<Clients>) -> Self {
        Self { clients: Arc::clone(clients), room: Mutex::default() }
    }

    /// The client's session, opened when it is first needed.
    fn room(&self) -> Result<Arc<Room>, ErrorData> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, room)) = &*room {
            return Ok(Arc::clone(room));
        }
        let opened = self.clients.open().map_err(|why| ErrorData::internal_error(why, None))?;
        Ok(Arc::clone(&room.insert(opened).1))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((number, _)) = self.room.get_mut().unwrap_or_else(PoisonError::into_inner) {
            self.clients.leave(*number);
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offer = &self.clients.offer;
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("switchrail", offer.version.clone()).with_title("Switchrail"),
            )
            .with_instructions(offer.instructions.clone())
    }

    /// The versions that have sessions: files read, background shells and leave given belong to one, and later versions have none.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.clients.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.clients.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = self.clients.catalog.find(&request.name).tool().is_some();
        let Some(outcome) = self.room()?.call(request, &context).await else {
            let gone =
                CallToolResult::error(vec![ContentBlock::text("the call was cancelled before it began")]);
            return Ok(gone.into());
        };
        if !known {
            return Err(ErrorData::invalid_params(outcome.text(), None));
        }
        Ok(answer::result(&outcome).into())
    }
}
