//! Servers in the JSON that other agents read: `.mcp.json`, `.mcprc`, `--mcp-config`.

use rail_stdx::{Secret, nearest};

use super::name::wrong_name;
use crate::json::{self, Json, JsonMember, JsonValue, Syntax};
use crate::settings::{McpOauth, McpServer, McpTransport, SecretText, Wait};
use crate::{Origin, Problem};

/// More servers in one file are a mistake, or an attack.
const MOST: usize = 200;

/// What a text has.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Listed {
    /// The servers in their order, right or wrong.
    pub(crate) servers: Vec<Entry>,
    /// Servers in the process of whoever gave the text.
    pub(crate) sdk: Vec<String>,
    /// What is wrong with the text as a whole.
    pub(crate) problems: Vec<Problem>,
    /// What is not wrong but does nothing.
    pub(crate) notes: Vec<Problem>,
}

/// One server.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    /// The server as it was written, or what is wrong with it.
    pub(crate) server: Result<McpServer, String>,
}

/// Where servers stand in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Under `mcpServers`.
    Named,
    /// Under `mcpServers`, or the whole is an object of servers.
    Bare,
}

/// Reads all servers of a text.
pub(crate) fn read(text: &str, form: Form, origin: &dyn Fn(usize) -> Origin) -> Listed {
    let mut listed = Listed::default();
    match members(text, form) {
        Ok(members) => {
            let reader = Reader { origin, listed: &mut listed };
            reader.all(members);
        }
        Err((at, text)) => listed.problems.push(Problem::new(&origin(at), "", text)),
    }
    listed
}

/// One server that is written as an object, and what in it does nothing.
///
/// # Errors
/// What is wrong with it.
pub fn server_of_json(text: &str) -> Result<(McpServer, Vec<String>), String> {
    let json = json::read(text, Syntax::Json5).map_err(|error| format!("this is no JSON: {}", error.text))?;
    match server(json)? {
        Read::Sdk => {
            Err("`sdk` servers live in the process of an SDK; write `stdio`, `http` or `sse`".to_owned())
        }
        Read::Server(server, unknown) => {
            Ok((*server, unknown.iter().map(|(_, key)| unknown_key(key)).collect()))
        }
    }
}

/// The members of the object of servers.
fn members(text: &str, form: Form) -> Result<Vec<JsonMember>, (usize, String)> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read = json::read(text, Syntax::Json5);
    let json = read.map_err(|error| (error.at, format!("this is no JSON: {}", error.text)))?;
    let JsonValue::Table(mut root) = json.value else {
        return Err((json.at, "a list of servers begins with `{`; write `{\"mcpServers\": {…}}`".to_owned()));
    };
    match (root.iter().position(|member| member.key == "mcpServers"), form) {
        (Some(at), _) => {
            let JsonMember { json, .. } = root.swap_remove(at);
            match json.value {
                JsonValue::Table(members) => Ok(members),
                JsonValue::Null => Ok(Vec::new()),
                _ => Err((json.at, "`mcpServers` is no object; write each server under its name".to_owned())),
            }
        }
        (None, Form::Bare) => Ok(root),
        (None, Form::Named) => match root.first() {
            None => Ok(Vec::new()),
            Some(first) => Err((
                first.at,
                "there is no `mcpServers`; write the servers as `{\"mcpServers\": {\"NAME\": {…}}}`"
                    .to_owned(),
            )),
        },
    }
}

struct Reader<'a> {
    origin: &'a dyn Fn(usize) -> Origin,
    listed: &'a mut Listed,
}

impl Reader<'_> {
    fn all(self, members: Vec<JsonMember>) {
        if let Some(first) = members.get(MOST) {
            let text = format!(
                "there are more than {MOST} servers, and those from here on are left out; remove some"
            );
            self.listed.problems.push(Problem::new(&(self.origin)(first.at), "", text));
        }
        for JsonMember { at, key: name, json } in members.into_iter().take(MOST) {
            let origin = (self.origin)(at);
            let is_second = self.listed.servers.iter().any(|there| there.name == name);
            let server = match (is_second, wrong_name(&name)) {
                (true, _) => {
                    Err("a server of this name stands above it in the file; remove one of the two".to_owned())
                }
                (false, Some(wrong)) => Err(wrong),
                (false, None) => match server(json) {
                    Ok(Read::Sdk) => {
                        self.listed.sdk.push(name);
                        continue;
                    }
                    Ok(Read::Server(server, unknown)) => {
                        for (at, key) in unknown {
                            let note = unknown_key(&key);
                            self.listed.notes.push(Problem::new(&(self.origin)(at), name.clone(), note));
                        }
                        Ok(*server)
                    }
                    Err(wrong) => Err(wrong),
                },
            };
            self.listed.servers.push(Entry { name, origin, server });
        }
    }
}

const KEYS: [&str; 14] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "enabled",
    "disabled",
    "timeout",
    "startTimeout",
    "enabledTools",
    "disabledTools",
    "oauth",
];

fn unknown_key(key: &str) -> String {
    match nearest(key, KEYS) {
        Some(known) => format!("`{key}` does nothing here; did you mean `{known}`?"),
        None => format!("`{key}` does nothing here"),
    }
}

enum Read {
    Server(Box<McpServer>, Vec<(usize, String)>),
    Sdk,
}

fn server(json: Json) -> Result<Read, String> {
    let JsonValue::Table(members) = json.value else {
        return Err("it is no object; write its `command` or its `url`".to_owned());
    };
    let mut server = McpServer::default();
    let mut unknown = Vec::new();
    for JsonMember { at, key, json } in members {
        let wrong = |wants: &str| format!("`{key}` is {wants}; correct it");
        match key.as_str() {
            "type" | "transport" => match word(&json).as_deref() {
                Some("sdk") => return Ok(Read::Sdk),
                said => server.transport = Some(transport(said)?),
            },
            "command" => server.command = Some(text(json).ok_or_else(|| wrong("no text"))?),
            "args" => server.args = texts(json).ok_or_else(|| wrong("no list of texts"))?,
            "env" => {
                server.env = secrets(json).ok_or_else(|| wrong("no object of texts"))?.into_iter().collect()
            }
            "headers" => {
                server.headers =
                    secrets(json).ok_or_else(|| wrong("no object of texts"))?.into_iter().collect();
            }
            "cwd" => server.cwd = Some(text(json).ok_or_else(|| wrong("no text"))?),
            "url" => server.url = Some(text(json).ok_or_else(|| wrong("no text"))?),
            "enabled" => server.enabled = is_true(&json).ok_or_else(|| wrong("neither true nor false"))?,
            "disabled" => server.enabled = !is_true(&json).ok_or_else(|| wrong("neither true nor false"))?,
            "timeout" => server.timeout = Some(wait(&json).ok_or_else(|| wrong(NO_WAIT))?),
            "startTimeout" | "start_timeout" => {
                server.start_timeout = Some(wait(&json).ok_or_else(|| wrong(NO_WAIT))?);
            }
            "enabledTools" | "enabled_tools" => {
                server.enabled_tools = Some(texts(json).ok_or_else(|| wrong("no list of texts"))?);
            }
            "disabledTools" | "disabled_tools" => {
                server.disabled_tools = texts(json).ok_or_else(|| wrong("no list of texts"))?;
            }
            "oauth" => {
                server.oauth = Some(oauth(json).ok_or_else(|| wrong("no object that can be understood"))?)
            }
            _ => unknown.push((at, key)),
        }
    }
    Ok(Read::Server(Box::new(server), unknown))
}

const NO_WAIT: &str = "no length of time, such as \"30s\" or a number of milliseconds";

fn transport(said: Option<&str>) -> Result<McpTransport, String> {
    match said {
        Some("stdio" | "local") => Ok(McpTransport::Stdio),
        Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => Ok(McpTransport::Http),
        Some("sse") => Ok(McpTransport::Sse),
        Some(_) | None => Err("its `type` is not known; write `stdio`, `http` or `sse`".to_owned()),
    }
}

fn word(json: &Json) -> Option<String> {
    match &json.value {
        JsonValue::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// Text, also where somebody wrote a number or a truth without quotes.
fn text(json: Json) -> Option<String> {
    match json.value {
        JsonValue::Text(text) => Some(text),
        JsonValue::Number(number) => Some(number.to_string()),
        JsonValue::Bool(value) => Some(value.to_string()),
        JsonValue::Null | JsonValue::List(_) | JsonValue::Table(_) => None,
    }
}

fn texts(json: Json) -> Option<Vec<String>> {
    match json.value {
        JsonValue::List(list) => list.into_iter().map(text).collect(),
        _ => None,
    }
}

fn secrets(json: Json) -> Option<Vec<(String, SecretText)>> {
    let JsonValue::Table(members) = json.value else { return None };
    let secret = |member: JsonMember| Some((member.key, SecretText(Secret::new(text(member.json)?))));
    members.into_iter().map(secret).collect()
}

fn is_true(json: &Json) -> Option<bool> {
    match json.value {
        JsonValue::Bool(value) => Some(value),
        _ => None,
    }
}

fn wait(json: &Json) -> Option<Wait> {
    match &json.value {
        JsonValue::Text(text) => text.parse().ok(),
        JsonValue::Number(number) => number.as_u64().map(|ms| Wait(std::time::Duration::from_millis(ms))),
        _ => None,
    }
}

fn oauth(json: Json) -> Option<McpOauth> {
    let JsonValue::Table(members) = json.value else { return None };
    let mut oauth = McpOauth::default();
    for JsonMember { key, json, .. } in members {
        match key.as_str() {
            "clientId" | "client_id" => oauth.client_id = Some(text(json)?),
            "clientSecret" | "client_secret" => {
                oauth.client_secret = Some(SecretText(Secret::new(text(json)?)))
            }
            "scopes" => oauth.scopes = texts(json)?,
            "callbackPort" | "callback_port" => match json.value {
                JsonValue::Number(number) => oauth.callback_port = Some(number.as_u64()?.try_into().ok()?),
                _ => return None,
            },
            _ => {}
        }
    }
    Some(oauth)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::Layer;
    use crate::read::Source;

    fn listed(text: &str, form: Form) -> Listed {
        let source = Source::new(Layer::Project, Path::new(".mcp.json"), text);
        read(text, form, &|at| source.origin(at))
    }

    fn told(text: &str, form: Form) -> String {
        let Listed { servers, sdk, problems, notes } = listed(text, form);
        let mut lines: Vec<String> = problems.iter().map(|problem| format!("problem {problem}")).collect();
        lines.extend(servers.iter().map(|Entry { name, origin, server }| match server {
            Ok(server) => {
                format!("{origin}: {name}: {:?} {:?} {:?}", server.command, server.args, server.url)
            }
            Err(wrong) => format!("{origin}: {name}: wrong: {wrong}"),
        }));
        lines.extend(sdk.iter().map(|name| format!("sdk {name}")));
        lines.extend(notes.iter().map(|note| format!("note {note}")));
        lines.join("\n")
    }

    #[test]
    fn one_broken_server_takes_no_other_away() {
        let text = r#"{
  // remarks are let pass
  "mcpServers": {
    "a": {"command": "npx", "args": ["-y", 1, true], "env": {"PORT": 3}},
    "b": {"type": "http", "url": "https://h/mcp", "autoApprove": ["*"]},
    "c": {"command": 5, "args": "x"},
    "d": "npx",
    "e": {"type": "ws", "url": "wss://h"},
    "..": {"command": "x"},
    "a": {"command": "second"},
    "f": {"type": "sdk", "name": "f"},
    "g": {"command": "x", "envv": {}},
  }
}"#;
        insta::assert_snapshot!(told(text, Form::Named), @r#"
        .mcp.json:4:5: a: Some("npx") ["-y", "1", "true"] None
        .mcp.json:5:5: b: None [] Some("https://h/mcp")
        .mcp.json:6:5: c: wrong: `args` is no list of texts; correct it
        .mcp.json:7:5: d: wrong: it is no object; write its `command` or its `url`
        .mcp.json:8:5: e: wrong: its `type` is not known; write `stdio`, `http` or `sse`
        .mcp.json:9:5: ..: wrong: a server's name is no path; take a name of letters, digits, `-` and `_`
        .mcp.json:10:5: a: wrong: a server of this name stands above it in the file; remove one of the two
        .mcp.json:12:5: g: Some("x") [] None
        sdk f
        note .mcp.json:5:51: b: `autoApprove` does nothing here
        note .mcp.json:12:27: g: `envv` does nothing here; did you mean `env`?
        "#);
    }

    #[test]
    fn the_whole_can_be_an_object_of_servers() {
        let bare = r#"{"a": {"command": "x"}}"#;
        insta::assert_snapshot!(told(bare, Form::Bare), @r#".mcp.json:1:2: a: Some("x") [] None"#);
        insta::assert_snapshot!(told(bare, Form::Named), @r#"problem .mcp.json:1:2: there is no `mcpServers`; write the servers as `{"mcpServers": {"NAME": {…}}}`"#);
        insta::assert_snapshot!(told(r#"{"mcpServers": {"a": {"command": "x"}}, "b": {}}"#, Form::Bare), @r#".mcp.json:1:17: a: Some("x") [] None"#);
        for empty in ["", " \n", "{}", r#"{"mcpServers": {}}"#, r#"{"mcpServers": null}"#] {
            assert_eq!(listed(empty, Form::Named), Listed::default(), "{empty}");
        }
        insta::assert_snapshot!(told("[1]", Form::Named), @r#"problem .mcp.json:1:1: a list of servers begins with `{`; write `{"mcpServers": {…}}`"#);
        insta::assert_snapshot!(told("{\n \"mcpServers\": [}", Form::Named), @"problem .mcp.json:2:17: this is no JSON: a value is missing here");
        insta::assert_snapshot!(told("{\"mcpServers\": 5}", Form::Named), @"problem .mcp.json:1:16: `mcpServers` is no object; write each server under its name");
    }

    #[test]
    fn a_file_of_very_many_servers_ends() {
        let many: Vec<String> = (0..5000).map(|at| format!("\"s{at}\": {{\"command\": \"x\"}}")).collect();
        let listed = listed(&format!("{{\"mcpServers\": {{{}}}}}", many.join(",")), Form::Named);
        assert_eq!((listed.servers.len(), listed.problems.len()), (MOST, 1));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in ".{0,60}") {
            listed(&text, Form::Bare);
        }

        #[test]
        fn no_piece_of_a_list_breaks_it(cut in 0_usize..80, more in "[\\[\\]{}\",: a]{0,6}") {
            let whole = r#"{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}, "oauth": {}}}}"#;
            let text = format!("{}{more}", whole.get(..cut).unwrap_or_default());
            let Listed { servers, problems, .. } = listed(&text, Form::Named);
            prop_assert!(problems.iter().all(|problem| !problem.text.is_empty()));
            prop_assert!(servers.iter().all(|entry| entry.server.is_err() || wrong_name(&entry.name).is_none()));
        }

        #[test]
        fn what_is_written_is_read(name in "[a-z][a-z0-9-]{0,8}", command in "\\PC{1,20}", args in prop::collection::vec("\\PC{0,10}", 0..4)) {
            let text = serde_json::json!({"mcpServers": {name.clone(): {"command": command, "args": args}}}).to_string();
            let listed = listed(&text, Form::Named);
            let expected = McpServer { command: Some(command), args, ..McpServer::default() };
            prop_assert_eq!(listed.servers.into_iter().map(|entry| (entry.name, entry.server)).collect::<Vec<_>>(), vec![(name, Ok(expected))]);
        }
    }
}
