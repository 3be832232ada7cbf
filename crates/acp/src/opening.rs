//! How a connection and its sessions begin: what we can do, and what a client asks for.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthMethodTerminal, Error, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsResponse, McpCapabilities, PromptCapabilities,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities,
    SessionDeleteCapabilities, SessionInfo, SessionListCapabilities, SessionResumeCapabilities,
};

use crate::port::Listed;
use crate::rpc::wrong;

/// The way to become able to ask a model: the configuration itself.
pub(crate) const CONFIGURED: &str = "configuration";
/// The same, by a program that asks at a terminal.
const SETUP: &str = "setup";
/// How many sessions a page of the list has.
const PAGE: usize = 50;

/// What a client is told when it begins.
pub(crate) fn welcome(asked: &InitializeRequest, version: &str) -> InitializeResponse {
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .delete(SessionDeleteCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new())
        .additional_directories(SessionAdditionalDirectoriesCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
        .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
        .session_capabilities(sessions);
    // There is one version; a client that can't speak it says so by leaving.
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(logins(asked))
        .agent_info(Implementation::new("rail", version).title("Switchrail".to_owned()))
}

fn logins(asked: &InitializeRequest) -> Vec<AuthMethod> {
    let configured = AuthMethodAgent::new(CONFIGURED, "Your configuration").description(
        "Uses the providers of your Switchrail configuration, or keys in the environment; `rail init` at a terminal writes a first one"
            .to_owned(),
    );
    let mut all = vec![AuthMethod::Agent(configured)];
    if asked.client_capabilities.auth.terminal {
        let setup = AuthMethodTerminal::new(SETUP, "Set up at a terminal")
            .description("Writes a first configuration, by asking".to_owned())
            .args(vec!["--setup".to_owned()]);
        all.insert(0, AuthMethod::Terminal(setup));
    }
    all
}

/// A folder that a client names.
///
/// # Errors
/// It is no whole path.
pub(crate) fn folder(path: PathBuf) -> Result<PathBuf, Error> {
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(wrong(&format!("`{}` is no absolute path", path.display())))
    }
}

/// A page of the list, from the session behind the cursor on.
///
/// # Errors
/// The cursor is none of ours.
pub(crate) fn page(all: Vec<Listed>, cursor: Option<&str>) -> Result<ListSessionsResponse, Error> {
    let from = match cursor {
        None => 0,
        // Sessions come and go: the cursor is the last one that was told.
        Some(cursor) => match all.iter().position(|session| session.id == cursor) {
            Some(at) => at + 1,
            None => return Err(wrong("the cursor leads nowhere any more; list from the beginning")),
        },
    };
    let shown: Vec<Listed> = all.iter().skip(from).take(PAGE).cloned().collect();
    let more = from + shown.len() < all.len();
    let cursor = shown.last().filter(|_| more).map(|last| last.id.clone());
    Ok(ListSessionsResponse::new(shown.into_iter().map(info).collect()).next_cursor(cursor))
}

fn info(listed: Listed) -> SessionInfo {
    let Listed { id, cwd, title, last_ms } = listed;
    SessionInfo::new(id, cwd).title(title).updated_at(time(last_ms))
}

/// A time as RFC 3339 has it.
fn time(unix_ms: u64) -> String {
    let (days, seconds) = (unix_ms / 86_400_000, unix_ms / 1000 % 86_400);
    // Days since 1970 to a date: the calendar is counted in eras of 400 years that begin in March.
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", unix_ms % 1000)
}

/// Whether a path is inside of a folder that is meant, for lists.
pub(crate) fn of_folder(cwd: Option<PathBuf>) -> Result<Option<PathBuf>, Error> {
    cwd.map(folder).transpose().map(|cwd| cwd.map(|cwd| real(&cwd)))
}

/// A folder with its links resolved, if it is there.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_123, "2000-02-29T00:00:00.123Z"),
            (1_794_974_400_000, "2026-11-18T04:00:00.000Z"),
            (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(time(ms), expected);
        }
    }

    #[test]
    fn a_list_has_pages() {
        let listed = |at: usize| Listed { id: format!("s{at}"), cwd: "/srv".into(), title: None, last_ms: 0 };
        let all: Vec<Listed> = (0..120).map(listed).collect();
        let (mut cursor, mut seen) = (None, Vec::new());
        loop {
            let page = page(all.clone(), cursor.as_deref()).unwrap();
            seen.extend(page.sessions.iter().map(|session| session.session_id.to_string()));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all.iter().map(|listed| listed.id.clone()).collect::<Vec<_>>());
        assert!(page(all, Some("gone")).is_err());
    }
}
