use std::path::{Path, PathBuf};

use rail_journal::{
    Cause, Compacted, Entry, JournalError, Opened, Partial, Place, Record, Resumed, Running, Said, SessionId,
    Spent, UnixMillis, VERSION, Writer, entries, session_folder,
};
use rail_model::{
    CallId, CallKind, Media, MediaKind, MediaSource, Message, Part, PartBody, Role, ToolCall, ToolResult,
    Usage,
};
use tempfile::TempDir;

/// The time at which all is written that does not say otherwise.
pub(crate) const NOW: UnixMillis = UnixMillis(1_767_225_600_000);

/// A state folder of its own, with one working folder that its sessions are of.
pub(crate) struct Bed {
    state: TempDir,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap() }
    }

    /// In memory where the system has a place for that: for tests that write often and are not about the disk.
    pub(crate) fn quick() -> Self {
        let memory = Path::new("/dev/shm");
        Self { state: tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap() }
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.state.path().join("sessions")
    }

    pub(crate) fn session(&self) -> Writer {
        self.session_of(Path::new("/srv/shop"), NOW)
    }

    pub(crate) fn session_of(&self, cwd: &Path, at: UnixMillis) -> Writer {
        let opened = opened(cwd, at);
        let folder = session_folder(&self.sessions(), cwd, &opened.id);
        Writer::create(&folder, at, opened).unwrap()
    }
}

pub(crate) fn opened(cwd: &Path, at: UnixMillis) -> Opened {
    let id = SessionId::mint(at).unwrap();
    Opened { version: VERSION, id, cwd: cwd.to_owned(), model: "fast".into(), parent: None, agent_of: None }
}

pub(crate) fn add(writer: &mut Writer, record: Record) -> Place {
    writer.append(NOW, record).unwrap()
}

/// Goes on with a session in a new writer, as another process would.
pub(crate) fn again(writer: Writer) -> (Writer, Resumed) {
    let folder = writer.folder().to_owned();
    drop(writer);
    Writer::resume(&folder).unwrap()
}

pub(crate) fn user(step: u64, text: &str) -> Record {
    Record::Message(Said { step, message: Message::new(Role::User, vec![Part::text(text)]) })
}

pub(crate) fn model(step: u64, text: &str) -> Record {
    Record::Message(Said { step, message: Message::new(Role::Assistant, vec![Part::text(text)]) })
}

pub(crate) fn told(step: u64, text: &str) -> Record {
    Record::Told(Said { step, message: Message::new(Role::User, vec![Part::text(text)]) })
}

pub(crate) fn queued(step: u64, text: &str) -> Record {
    Record::Queued(Said { step, message: Message::new(Role::User, vec![Part::text(text)]) })
}

pub(crate) fn partial(step: u64, text: &str) -> Record {
    Record::Partial(Partial { step, text: text.into(), ..Partial::default() })
}

/// A conversation of these texts of the user in the place of another.
pub(crate) fn compacted(window: &[&str]) -> Record {
    let window = window.iter().map(|text| Message::new(Role::User, vec![Part::text(*text)])).collect();
    Record::Compacted(Compacted { window, cause: Cause::Full, by: None })
}

pub(crate) fn call(id: &str) -> ToolCall {
    let id = CallId::Given(id.into());
    ToolCall { id, name: "bash".into(), arguments: r#"{"command":"ls"}"#.into(), kind: CallKind::Function }
}

pub(crate) fn calls(step: u64, ids: &[&str]) -> Record {
    let parts = ids.iter().map(|id| PartBody::ToolCall(call(id)).into()).collect();
    Record::Message(Said { step, message: Message::new(Role::Assistant, parts) })
}

pub(crate) fn running(step: u64, ids: &[&str]) -> Record {
    Record::Running(Running { step, calls: ids.iter().map(ToString::to_string).collect() })
}

pub(crate) fn result(id: &str, text: &str) -> Part {
    let (id, content) = (CallId::Given(id.into()), vec![Part::text(text)]);
    PartBody::ToolResult(ToolResult { id, name: None, content, is_error: None, kind: CallKind::Function })
        .into()
}

/// A result that has an image behind its text.
pub(crate) fn pictured(id: &str, text: &str, data: &str) -> Part {
    let mut part = result(id, text);
    if let PartBody::ToolResult(result) = &mut part.body {
        result.content.push(image(data));
    }
    part
}

pub(crate) fn results(step: u64, results: Vec<Part>) -> Record {
    Record::Results(Said { step, message: Message::new(Role::Tool, results) })
}

pub(crate) fn image(data: &str) -> Part {
    let source = MediaSource::Base64(data.into());
    let media = Media { kind: MediaKind::Image, mime: Some("image/png".into()), source, name: None };
    PartBody::Media(media).into()
}

pub(crate) fn usage(step: u64) -> Record {
    let usage = Usage { input: Some(100), output: Some(10), ..Usage::default() };
    Record::Usage(Spent { step, target: "acme/large".into(), usage, cost_usd: Some(0.25) })
}

/// The texts of a conversation, results included.
pub(crate) fn texts(window: &[Message]) -> Vec<String> {
    window.iter().flat_map(|message| &message.parts).map(text).collect()
}

fn text(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.clone(),
        PartBody::ToolCall(call) => format!("call {}", call.id.as_str()),
        PartBody::ToolResult(result) => {
            let content: Vec<String> = result.content.iter().map(text).collect();
            format!("{}: {}", result.id.as_str(), content.join(" "))
        }
        other => format!("{other:?}"),
    }
}

/// All records of a session.
pub(crate) fn all(folder: &Path) -> Result<Vec<Entry>, JournalError> {
    entries(folder)?.collect()
}
