//! A server as a file has it: what is kept of it to know it again, how it is shown, and what it comes to here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rail_stdx::Secret;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::expand::is_variable;
use super::{Reach, Spec};
use crate::pasted::hide;
use crate::reference::Reference;
use crate::settings::{McpServer, McpTransport, SecretText};
use crate::{format, shown_address};

/// How it is spoken with, said or not.
pub fn transport(server: &McpServer) -> McpTransport {
    let by_itself = if server.command.is_some() { McpTransport::Stdio } else { McpTransport::Http };
    server.transport.unwrap_or(by_itself)
}

/// What does not fit together in a server, and what to do.
pub(crate) fn wrong_server(server: &McpServer) -> Option<&'static str> {
    let is_local = match server.transport {
        Some(McpTransport::Stdio) => true,
        Some(McpTransport::Http | McpTransport::Sse) => false,
        None => server.url.is_none(),
    };
    match (is_local, &server.command, &server.url) {
        (_, Some(_), Some(_)) => Some("it has a `command` and a `url`; keep the one that it is reached by"),
        (true, None, None) => {
            Some("it has neither a `command` nor a `url`; write the one that it is reached by")
        }
        (true, None, Some(_)) => Some("`stdio` needs a `command`; write one, or take `http` for the `url`"),
        (false, _, None) => {
            Some("`http` and `sse` need a `url`; write one, or take `stdio` for the `command`")
        }
        (true, Some(command), None) if command.trim().is_empty() => {
            Some("its `command` is empty; write the program that is started")
        }
        (true, Some(_), None) | (false, None, Some(_)) => None,
    }
}

/// What can't be right in a server as it is written, and what to do.
pub fn wrong(server: &McpServer) -> Option<String> {
    let url = server.url.as_deref().filter(|url| !url.contains("${") && !is_place(url));
    let url = || url.and_then(|url| format::wrong("url", url)).map(|wrong| format!("`url`: {wrong}"));
    wrong_server(server).map(str::to_owned).or_else(url)
}

/// By what an approved server is known again: all that decides what is started or asked, as it was written.
pub(crate) fn content(server: &McpServer) -> String {
    let McpServer { transport: _, command, args, env, cwd, url, headers, oauth, .. } = server;
    let plain = |map: &BTreeMap<String, SecretText>| -> Value {
        map.iter().map(|(name, value)| (name.clone(), Value::from(value.0.reveal()))).collect()
    };
    let oauth = oauth.as_ref().map(|oauth| {
        let secret = oauth.client_secret.as_ref().map(|secret| secret.0.reveal());
        json!([oauth.client_id, secret, oauth.scopes, oauth.callback_port])
    });
    let word = transport(server).word();
    let all = json!([word, command, args, plain(env), cwd, url, plain(headers), oauth]);
    let digest: [u8; 32] = Sha256::digest(all.to_string()).into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The server with each of its texts as another has it.
///
/// # Errors
/// Why a text can't be had.
pub(super) fn with_texts(
    server: &McpServer,
    new: &dyn Fn(&str) -> Result<String, String>,
) -> Result<McpServer, String> {
    let mut server = server.clone();
    for text in
        server.command.iter_mut().chain(&mut server.args).chain(&mut server.cwd).chain(&mut server.url)
    {
        *text = new(text)?;
    }
    let secrets = server.env.values_mut().chain(server.headers.values_mut());
    let mut all: Vec<&mut SecretText> = secrets.collect();
    if let Some(oauth) = &mut server.oauth {
        if let Some(id) = &mut oauth.client_id {
            *id = new(id)?;
        }
        all.extend(&mut oauth.client_secret);
    }
    for secret in all {
        secret.0 = Secret::new(new(secret.0.reveal())?);
    }
    Ok(server)
}

/// What a server whose texts are all known comes to.
///
/// # Errors
/// Why it can't be reached so.
pub(super) fn spec(server: McpServer, base: &Path) -> Result<Spec, String> {
    if let Some(wrong) = wrong_server(&server) {
        return Err(wrong.to_owned());
    }
    let kind = transport(&server);
    let McpServer { command, args, env, cwd, url, headers, .. } = server;
    let plain =
        |map: BTreeMap<String, SecretText>| map.into_iter().map(|(name, text)| (name, text.0)).collect();
    let reach = match (kind, command, url) {
        (McpTransport::Stdio, Some(command), _) => {
            for name in env.keys() {
                if name.is_empty() || name.contains(['=', '\0']) {
                    return Err("a variable in `env` has a name that no system takes; correct it".to_owned());
                }
            }
            let cwd = cwd.map_or_else(|| base.to_owned(), |cwd| base.join(PathBuf::from(cwd)));
            Reach::Stdio { command, args, env: plain(env), cwd }
        }
        (McpTransport::Http | McpTransport::Sse, _, Some(url)) => {
            if let Some(wrong) = format::wrong("url", &url) {
                return Err(format!("`url`: {wrong}"));
            }
            for (name, value) in &headers {
                if let Some(wrong) = wrong_header(name, value.0.reveal()) {
                    return Err(wrong.to_owned());
                }
            }
            let headers = plain(headers);
            if kind == McpTransport::Sse { Reach::Sse { url, headers } } else { Reach::Http { url, headers } }
        }
        (McpTransport::Stdio | McpTransport::Http | McpTransport::Sse, _, _) => {
            return Err(
                "it has neither a `command` nor a `url`; write the one that it is reached by".to_owned()
            );
        }
    };
    let wait = |wait: Option<crate::settings::Wait>| wait.map(|wait| wait.0);
    Ok(Spec {
        reach,
        timeout: wait(server.timeout),
        start_timeout: wait(server.start_timeout),
        enabled_tools: server.enabled_tools,
        disabled_tools: server.disabled_tools,
        oauth: server.oauth,
    })
}

/// Why a header can't be sent, and what to do. Never tells its value.
pub fn wrong_header(name: &str, value: &str) -> Option<&'static str> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Some("a header's name holds what HTTP does not take; write it as `Name`");
    }
    // What ends a line would begin another header.
    let is_sendable = |c: char| c == '\t' || !c.is_control();
    (!value.chars().all(is_sendable)).then_some("a header's value holds control characters; remove them")
}

/// A server as it can be shown: what may be a secret is `***`, a word on where it stands is itself.
pub fn shown(server: &McpServer) -> McpServer {
    let hidden = |map: &BTreeMap<String, SecretText>| -> BTreeMap<String, SecretText> {
        map.iter().map(|(name, text)| (name.clone(), shown_secret(&text.0))).collect()
    };
    let mut shown = server.clone();
    shown.env = hidden(&server.env);
    shown.headers = hidden(&server.headers);
    shown.command = server.command.as_deref().map(hide);
    shown.args = shown_args(&server.args);
    shown.url =
        server.url.as_deref().map(|url| if url.contains("://") { shown_address(url) } else { hide(url) });
    if let Some(oauth) = &mut shown.oauth {
        oauth.client_secret = oauth.client_secret.as_ref().map(|secret| shown_secret(&secret.0));
    }
    shown
}

/// Whether a text is only a word on where a value stands: `${NAME}`, `env:NAME`, `file:PATH` or `keyring:NAME`.
pub fn is_place(text: &str) -> bool {
    is_variable(text) || Reference::parse(text).is_some()
}

fn shown_secret(secret: &Secret) -> SecretText {
    let text = secret.reveal();
    SecretText(Secret::new(if is_place(text) { text } else { "***" }))
}

/// Words of flags whose value is a secret.
const SECRET_FLAGS: [&str; 6] = ["token", "key", "secret", "password", "passwd", "auth"];

/// Arguments with `***` for what follows a flag that takes a secret.
fn shown_args(args: &[String]) -> Vec<String> {
    let takes_secret = |flag: &str| {
        let flag = flag.to_ascii_lowercase();
        flag.starts_with('-') && SECRET_FLAGS.iter().any(|word| flag.contains(word))
    };
    let mut hides_next = false;
    let mut shown = Vec::new();
    for arg in args {
        let hidden = if hides_next && !arg.starts_with('-') {
            shown_secret(&Secret::new(arg.as_str())).0.reveal().to_owned()
        } else {
            match arg.split_once('=') {
                Some((flag, value)) if takes_secret(flag) => {
                    format!("{flag}={}", shown_secret(&Secret::new(value)).0.reveal())
                }
                Some(_) | None => hide(arg),
            }
        };
        hides_next = takes_secret(arg) && !arg.contains('=');
        shown.push(hidden);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Vec<String> {
        shown_args(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_shown_without_secrets() {
        assert_eq!(args(&["-y", "pkg", "--port", "3"]), ["-y", "pkg", "--port", "3"]);
        assert_eq!(args(&["--api-key", "abc", "x"]), ["--api-key", "***", "x"]);
        assert_eq!(args(&["--token=abc", "--token", "${T}"]), ["--token=***", "--token", "${T}"]);
        assert_eq!(args(&["--token", "--port", "3"]), ["--token", "--port", "3"]);
        assert_eq!(args(&["sk-ant-api03-abcdefghij1234567890"]), ["***"]);
    }

    #[test]
    fn whatever_decides_what_is_started_is_its_content() {
        let server = |change: &dyn Fn(&mut McpServer)| {
            let mut server = McpServer { command: Some("c".to_owned()), ..McpServer::default() };
            change(&mut server);
            content(&server)
        };
        let plain = server(&|_| ());
        assert_eq!(plain.len(), 64);
        assert_eq!(plain, server(&|server| server.transport = Some(McpTransport::Stdio)));
        assert_eq!(plain, server(&|server| server.enabled = false));
        assert_eq!(plain, server(&|server| server.disabled_tools = vec!["x".to_owned()]));
        let secret = |text: &str| [("K".to_owned(), SecretText(Secret::new(text)))].into();
        let changed = [
            server(&|server| server.command = Some("d".to_owned())),
            server(&|server| server.args = vec!["x".to_owned()]),
            server(&|server| server.args = vec!["x".to_owned(), String::new()]),
            server(&|server| server.env = secret("1")),
            server(&|server| server.env = secret("2")),
            server(&|server| server.headers = secret("1")),
            server(&|server| server.cwd = Some("x".to_owned())),
            server(&|server| server.url = Some("x".to_owned())),
            server(&|server| server.transport = Some(McpTransport::Http)),
        ];
        let all: std::collections::BTreeSet<&String> = changed.iter().chain([&plain]).collect();
        assert_eq!(all.len(), changed.len() + 1);
    }

    #[test]
    fn a_header_can_not_smuggle_another() {
        assert_eq!(wrong_header("X-A", "b c"), None);
        for (name, value) in [("", "x"), ("a b", "x"), ("a\r\nb", "x"), ("a", "x\r\nb: c"), ("a:", "x")] {
            assert!(wrong_header(name, value).is_some(), "{name:?} {value:?}");
        }
    }
}
