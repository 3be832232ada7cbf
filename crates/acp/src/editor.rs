//! What a client has for one session: its texts, saved or not, and its terminals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ClientCapabilities, CreateTerminalRequest, CreateTerminalResponse, EnvVariable,
    KillTerminalRequest, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    SessionNotification, SessionUpdate, Terminal as Shown, TerminalId, TerminalOutputRequest,
    TerminalOutputResponse, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use crate::client::Client;

/// How long a client may take over a file, or over a terminal but for its end: an editor that hangs must not hang us.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a call may take to be told: it is about to be.
const TOLD: Duration = Duration::from_millis(500);

/// What a client has for one session.
pub struct Editor {
    client: Arc<Client>,
    session: String,
    can: ClientCapabilities,
    calls: Calls,
}

/// The calls that the client is shown, by their ids, each with its terminal if it has one.
#[derive(Default)]
pub(crate) struct Calls(watch::Sender<BTreeMap<String, Option<TerminalId>>>);

impl Calls {
    /// The client is told of a call.
    pub(crate) fn shown(&self, call: &str) {
        self.0.send_modify(|calls| drop(calls.insert(call.to_owned(), None)));
    }

    /// The terminal of a call, if it has one.
    pub(crate) fn terminal(&self, call: &str) -> Option<TerminalId> {
        self.0.borrow().get(call).cloned().flatten()
    }

    /// A call is over.
    pub(crate) fn over(&self, call: &str) {
        self.0.send_modify(|calls| drop(calls.remove(call)));
    }

    fn keep(&self, call: &str, terminal: TerminalId) {
        self.0.send_modify(|calls| drop(calls.insert(call.to_owned(), Some(terminal))));
    }

    /// Waits until the client is told of a call: a terminal can be shown only with one that it knows.
    async fn wait_for(&self, call: &str) -> Result<(), String> {
        let mut seen = self.0.subscribe();
        let known = tokio::time::timeout(TOLD, seen.wait_for(|calls| calls.contains_key(call))).await;
        known.map(drop).map_err(|_| "the client is not shown this call".to_owned())
    }
}

/// A command for a terminal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it is given besides.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// How much of its output is kept.
    pub output_bytes: u64,
}

/// How a command in a terminal ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalEnd {
    /// Its exit code; none when a signal ended it.
    pub code: Option<u32>,
    /// The signal, if one did.
    pub signal: Option<String>,
}

/// What a terminal shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TerminalOutput {
    /// The text.
    pub text: String,
    /// Whether its beginning is gone.
    pub is_cut: bool,
}

impl Editor {
    pub(crate) fn new(client: Arc<Client>, session: String, can: ClientCapabilities) -> Self {
        Self { client, session, can, calls: Calls::default() }
    }

    pub(crate) fn can(&self) -> &ClientCapabilities {
        &self.can
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Whether it gives the texts of files.
    pub fn reads(&self) -> bool {
        self.can.fs.read_text_file
    }

    /// Whether it takes the texts of files.
    pub fn writes(&self) -> bool {
        self.can.fs.write_text_file
    }

    /// Whether it has terminals.
    pub fn has_terminals(&self) -> bool {
        self.can.terminal
    }

    /// The text of a file, as the editor has it.
    ///
    /// # Errors
    /// Why it did not give it.
    pub async fn read_text(&self, path: &Path) -> Result<String, String> {
        let request = ReadTextFileRequest::new(self.session.clone(), path);
        let read: ReadTextFileResponse = self.soon(CLIENT_METHOD_NAMES.fs_read_text_file, &request).await?;
        Ok(read.content)
    }

    /// Has the editor write a file.
    ///
    /// # Errors
    /// Why it did not.
    pub async fn write_text(&self, path: &Path, text: &str) -> Result<(), String> {
        let request = WriteTextFileRequest::new(self.session.clone(), path, text);
        self.soon::<Value>(CLIENT_METHOD_NAMES.fs_write_text_file, &request).await.map(drop)
    }

    /// Starts a command in a terminal, which is shown with the call of this id.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn terminal(
        self: &Arc<Self>,
        call: &str,
        command: TerminalCommand,
    ) -> Result<Terminal, String> {
        self.calls.wait_for(call).await?;
        let TerminalCommand { program, args, env, cwd, output_bytes } = command;
        let request = CreateTerminalRequest::new(self.session.clone(), program)
            .args(args)
            .env(env.into_iter().map(|(name, value)| EnvVariable::new(name, value)).collect())
            .cwd(cwd)
            .output_byte_limit(output_bytes);
        let terminal = self.created(request).await?;
        self.calls.keep(call, terminal.id.clone());
        let fields = ToolCallUpdateFields::new()
            .status(ToolCallStatus::InProgress)
            .content(vec![ToolCallContent::Terminal(Shown::new(terminal.id.clone()))]);
        let update = SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(call.to_owned(), fields));
        let told = SessionNotification::new(self.session.clone(), update);
        self.client.notify(CLIENT_METHOD_NAMES.session_update, &told).await;
        Ok(terminal)
    }

    /// A new terminal. One that is named when nobody waits for it any more is let go.
    async fn created(self: &Arc<Self>, request: CreateTerminalRequest) -> Result<Terminal, String> {
        let (editor, method) = (Arc::clone(self), CLIENT_METHOD_NAMES.terminal_create);
        let (tell, created) = oneshot::channel();
        tokio::spawn(async move {
            let made: Result<CreateTerminalResponse, _> = editor.client.request(method, &request).await;
            let made = made.map(|made| Terminal { editor: Arc::clone(&editor), id: made.terminal_id });
            // Where nobody hears it, it is dropped.
            let _ = tell.send(made);
        });
        match tokio::time::timeout(PATIENCE, created).await {
            Ok(Ok(made)) => made.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err("the editor's terminals are gone".to_owned()),
            Err(_) => Err(late(method)),
        }
    }

    async fn soon<T: DeserializeOwned>(&self, method: &str, params: &impl Serialize) -> Result<T, String> {
        match tokio::time::timeout(PATIENCE, self.client.request(method, params)).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(_) => Err(late(method)),
        }
    }
}

fn late(method: &str) -> String {
    format!("the editor did not answer `{method}` within {} s", PATIENCE.as_secs())
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A command in a terminal of the editor. Dropping it releases the terminal, which ends the command if it still runs.
#[derive(Debug)]
pub struct Terminal {
    editor: Arc<Editor>,
    id: TerminalId,
}

impl Terminal {
    /// Waits for its end.
    ///
    /// # Errors
    /// Why it can't be known.
    pub async fn wait(&self) -> Result<TerminalEnd, String> {
        let request = WaitForTerminalExitRequest::new(self.editor.session.clone(), self.id.clone());
        let ended: Result<WaitForTerminalExitResponse, _> =
            self.editor.client.request(CLIENT_METHOD_NAMES.terminal_wait_for_exit, &request).await;
        let status = ended.map_err(|error| error.to_string())?.exit_status;
        Ok(TerminalEnd { code: status.exit_code, signal: status.signal })
    }

    /// What it shows now.
    ///
    /// # Errors
    /// Why it can't be known.
    pub async fn output(&self) -> Result<TerminalOutput, String> {
        let request = TerminalOutputRequest::new(self.editor.session.clone(), self.id.clone());
        let shown: TerminalOutputResponse =
            self.editor.soon(CLIENT_METHOD_NAMES.terminal_output, &request).await?;
        Ok(TerminalOutput { text: shown.output, is_cut: shown.truncated })
    }

    /// Ends the command; what it printed stays to be read.
    ///
    /// # Errors
    /// Why it can't be.
    pub async fn kill(&self) -> Result<(), String> {
        let request = KillTerminalRequest::new(self.editor.session.clone(), self.id.clone());
        self.editor.soon::<Value>(CLIENT_METHOD_NAMES.terminal_kill, &request).await.map(drop)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let request = ReleaseTerminalRequest::new(self.editor.session.clone(), self.id.clone());
        self.editor.client.ask(CLIENT_METHOD_NAMES.terminal_release, &request);
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol_schema::v1::RequestId;
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_terminal_that_is_named_late_is_let_go() {
        let (client, mut said) = Client::new();
        let client = Arc::new(client);
        let can: ClientCapabilities = serde_json::from_value(json!({"terminal": true})).unwrap();
        let editor = Arc::new(Editor::new(Arc::clone(&client), "s".to_owned(), can));
        editor.calls().shown("call");
        let why = editor.terminal("call", TerminalCommand::default()).await.unwrap_err();
        assert!(why.contains("did not answer `terminal/create`"), "{why}");
        let asked = said.recv().await.unwrap().value;
        let id = RequestId::Number(asked["id"].as_i64().unwrap());
        client.answered(&id, Ok(json!({"terminalId": "t"})));
        let then = said.recv().await.unwrap().value;
        assert_eq!(
            (&then["method"], &then["params"]["terminalId"]),
            (&json!("terminal/release"), &json!("t"))
        );
    }
}
