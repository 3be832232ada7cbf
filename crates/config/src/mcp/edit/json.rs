//! Servers in JSON. The text is cut and joined, never written anew: remarks, order and spacing of the rest stay.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use super::{OURS, THEIRS, With};
use crate::json::{Json, JsonMember, JsonValue, Syntax, end_of, read};
use crate::settings::McpServer;

/// The keys that the servers of a text stand under: none when the whole is the object of servers.
pub(super) fn bare_way(text: &str) -> &'static [&'static str] {
    let has_key = |json: Json| match json.value {
        JsonValue::Table(members) => members.iter().any(|member| member.key == "mcpServers"),
        _ => false,
    };
    if read(text, Syntax::Json5).is_ok_and(has_key) { THEIRS } else { &[] }
}

/// The text with a server in it.
pub(super) fn with(text: &str, way: &[&str], name: &str, server: &McpServer) -> Result<With, String> {
    let value = value(server, way);
    if text.trim().is_empty() {
        let servers = Value::Object(Map::from_iter([(name.to_owned(), value)]));
        let whole = way
            .iter()
            .rev()
            .fold(servers, |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])));
        return Ok(With { text: format!("{}\n", pretty(&whole, "  ")), replaced: false });
    }
    let json = parsed(text)?;
    let (mut table, mut missing) = (&json, way);
    while let Some((key, rest)) = missing.split_first() {
        let Some(inner) = members(table)?.iter().find(|member| member.key == *key) else { break };
        (table, missing) = (&inner.json, rest);
    }
    let there = match missing {
        [] => members(table)?.iter().find(|member| member.key == name),
        [_, ..] => None,
    };
    let new = match (there, missing) {
        (Some(member), _) => replaced(text, member, &value)?,
        (None, []) => inserted(text, table, name, &value)?,
        (None, [first, rest @ ..]) => {
            let servers = Value::Object(Map::from_iter([(name.to_owned(), value)]));
            let inner = rest
                .iter()
                .rev()
                .fold(servers, |inner, key| Value::Object(Map::from_iter([((*key).to_owned(), inner)])));
            inserted(text, table, first, &inner)?
        }
    };
    parsed(&new)?;
    Ok(With { text: new, replaced: there.is_some() })
}

/// The text without a server; None when it has none of this name.
pub(super) fn without(text: &str, way: &[&str], name: &str) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let json = parsed(text)?;
    let mut table = &json;
    for key in way {
        let Some(inner) = members(table)?.iter().find(|member| member.key == *key) else { return Ok(None) };
        table = &inner.json;
    }
    let all = members(table)?;
    let Some(at) = all.iter().position(|member| member.key == name) else { return Ok(None) };
    let new = cut(text, table, all, at)?;
    parsed(&new)?;
    Ok(Some(new))
}

fn parsed(text: &str) -> Result<Json, String> {
    read(text, Syntax::Json5).map_err(|error| {
        let line = text.get(..error.at).unwrap_or_default().lines().count().max(1);
        format!("line {line} is no JSON: {}", error.text)
    })
}

fn members(json: &Json) -> Result<&[JsonMember], String> {
    match &json.value {
        JsonValue::Table(members) => Ok(members),
        _ => Err("an object is missing where the servers stand".to_owned()),
    }
}

fn end(text: &str, at: usize) -> Result<usize, String> {
    end_of(text, Syntax::Json5, at).map_err(|error| error.text)
}

/// The server as these files have it.
fn value(server: &McpServer, way: &[&str]) -> Value {
    // Others read the list as well, and want the kind to be said.
    let kind = super::super::transport(server);
    let is_ours = way == OURS;
    let mut map = Map::new();
    let mut put = |ours: &str, theirs: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(if is_ours { ours } else { theirs }.to_owned(), value);
        }
    };
    let texts = |map: &std::collections::BTreeMap<String, crate::settings::SecretText>| -> Option<Value> {
        let all: Map<String, Value> =
            map.iter().map(|(name, text)| (name.clone(), text.0.reveal().into())).collect();
        (!all.is_empty()).then_some(Value::Object(all))
    };
    let list = |list: &[String]| (!list.is_empty()).then(|| Value::from(list.to_vec()));
    let said = server.transport.filter(|_| is_ours).or((!is_ours).then_some(kind));
    put("type", "type", said.map(|kind| kind.word().into()));
    put("command", "command", server.command.clone().map(Value::from));
    put("args", "args", list(&server.args));
    put("env", "env", texts(&server.env));
    put("cwd", "cwd", server.cwd.clone().map(Value::from));
    put("url", "url", server.url.clone().map(Value::from));
    put("headers", "headers", texts(&server.headers));
    put("enabled", "enabled", (!server.enabled).then_some(Value::from(false)));
    put("timeout", "timeout", server.timeout.map(|wait| wait.to_string().into()));
    put("start_timeout", "startTimeout", server.start_timeout.map(|wait| wait.to_string().into()));
    put("enabled_tools", "enabledTools", server.enabled_tools.clone().map(Value::from));
    put("disabled_tools", "disabledTools", list(&server.disabled_tools));
    let oauth = server.oauth.as_ref().map(|oauth| {
        let mut map = Map::new();
        let mut put = |ours: &str, theirs: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(if is_ours { ours } else { theirs }.to_owned(), value);
            }
        };
        put("client_id", "clientId", oauth.client_id.clone().map(Value::from));
        put("client_secret", "clientSecret", oauth.client_secret.as_ref().map(|text| text.0.reveal().into()));
        put("scopes", "scopes", list(&oauth.scopes));
        put("callback_port", "callbackPort", oauth.callback_port.map(Value::from));
        Value::Object(map)
    });
    put("oauth", "oauth", oauth);
    Value::Object(map)
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing to memory can't fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    String::from_utf8_lossy(&out).into_owned()
}

/// How a text is laid out.
struct Layout<'a> {
    newline: &'a str,
    /// One step of indentation; None where all stands on one line.
    unit: Option<&'a str>,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let blank = |line: &'a str| {
            line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
        };
        let unit = text.lines().map(blank).find(|blank| !blank.is_empty()).unwrap_or("  ");
        let is_one_line = !text.trim().contains('\n');
        Self { newline, unit: (!is_one_line).then_some(unit) }
    }

    /// A value as it stands behind a key that is indented so.
    fn value(&self, value: &Value, indent: &str) -> String {
        match self.unit {
            None => value.to_string(),
            Some(unit) => pretty(value, unit).replace('\n', &format!("{}{indent}", self.newline)),
        }
    }
}

/// The blank before what stands first on its line; None if something else does.
fn indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

fn replaced(text: &str, member: &JsonMember, value: &Value) -> Result<String, String> {
    let (begin, end) = (member.json.at, end(text, member.json.at)?);
    let new = Layout::of(text).value(value, indent(text, member.at).unwrap_or_default());
    Ok(joined(text, begin, end, &new))
}

fn inserted(text: &str, table: &Json, key: &str, value: &Value) -> Result<String, String> {
    let layout = Layout::of(text);
    let quoted = Value::from(key).to_string();
    let Some(last) = members(table)?.last() else { return emptied(text, table, &quoted, value) };
    let ends = end(text, last.json.at)?;
    let comma = comma_after(text, ends);
    let (at, sign) = comma.map_or((ends, ","), |comma| (comma + 1, ""));
    let new = match (indent(text, last.at), layout.unit) {
        (Some(indent), Some(_)) => {
            format!("{sign}{}{indent}{quoted}: {}", layout.newline, layout.value(value, indent))
        }
        (Some(_) | None, _) => format!("{sign} {quoted}: {value}"),
    };
    Ok(joined(text, at, at, &new))
}

/// A member in an object that has none.
fn emptied(text: &str, table: &Json, quoted: &str, value: &Value) -> Result<String, String> {
    let layout = Layout::of(text);
    let (open, close) = (table.at + 1, end(text, table.at)? - 1);
    let inside = text.get(open..close).unwrap_or_default();
    let kept = if inside.trim().is_empty() { "" } else { inside.trim_end() };
    let line = text.get(..table.at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let outer = line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default();
    let new = match layout.unit {
        None if kept.is_empty() => format!("{quoted}: {value}"),
        None => format!("{kept}\n{quoted}: {value}"),
        Some(unit) => {
            let (newline, indent) = (layout.newline, format!("{outer}{unit}"));
            format!("{kept}{newline}{indent}{quoted}: {}{newline}{outer}", layout.value(value, &indent))
        }
    };
    Ok(joined(text, open, close, &new))
}

/// The text without one of the members of an object.
fn cut(text: &str, table: &Json, all: &[JsonMember], at: usize) -> Result<String, String> {
    let Some(member) = all.get(at) else { return Err("there is no such server".to_owned()) };
    let ends = end(text, member.json.at)?;
    let before = at.checked_sub(1).and_then(|before| all.get(before));
    if let Some(comma) = comma_after(text, ends) {
        let rest = text.get(comma + 1..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let after = rest.get(blank..).unwrap_or_default();
        return Ok(match (indent(text, member.at), after.strip_prefix('\n')) {
            // It has its lines for itself.
            (Some(indent), Some(_)) => joined(text, member.at - indent.len(), comma + 1 + blank + 1, ""),
            (Some(_) | None, _) => joined(text, member.at, comma + 1 + blank, ""),
        });
    }
    match before {
        Some(before) => Ok(joined(text, end(text, before.json.at)?, ends, "")),
        None => {
            let rest = text.get(ends..).unwrap_or_default().trim_start_matches([' ', '\t', '\r']);
            let before = text.get(..member.at).unwrap_or_default();
            // What stands before it keeps its line, and no blank one is left behind.
            let begin = if rest.starts_with('\n') { before.trim_end().len() } else { member.at };
            let whole = joined(text, begin, ends, "");
            let (open, close) = (table.at + 1, end(&whole, table.at)? - 1);
            let is_blank = whole.get(open..close).unwrap_or_default().trim().is_empty();
            Ok(if is_blank { joined(&whole, open, close, "") } else { whole })
        }
    }
}

/// Where the `,` after a value stands, if there is one.
fn comma_after(text: &str, at: usize) -> Option<usize> {
    let mut rest = text.get(at..)?;
    loop {
        let blank = rest.trim_start();
        let next = if let Some(comment) = blank.strip_prefix("//") {
            comment.get(comment.find('\n')?..)?
        } else if let Some(comment) = blank.strip_prefix("/*") {
            comment.get(comment.find("*/")? + 2..)?
        } else {
            return blank.starts_with(',').then(|| text.len() - blank.len());
        };
        rest = next;
    }
}

fn joined(text: &str, begin: usize, end: usize, new: &str) -> String {
    format!("{}{new}{}", text.get(..begin).unwrap_or_default(), text.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WAY: &[&str] = &["mcpServers"];

    fn server() -> McpServer {
        McpServer { command: Some("c".to_owned()), ..McpServer::default() }
    }

    fn added(text: &str) -> String {
        with(text, WAY, "new", &server()).map_or_else(|error| error, |with| with.text)
    }

    /// The keys of the servers in a text.
    fn names(text: &str) -> Vec<String> {
        let json = parsed(text).map(|json| json.value);
        let Ok(JsonValue::Table(root)) = json else { return Vec::new() };
        let servers =
            root.into_iter().find(|member| member.key == "mcpServers").map(|member| member.json.value);
        let Some(JsonValue::Table(servers)) = servers else { return Vec::new() };
        servers.into_iter().map(|member| member.key).collect()
    }

    #[test]
    fn texts_stay_as_they_were_laid_out() {
        let new = r#"{"type":"stdio","command":"c"}"#;
        for (text, expected) in [
            ("{}", format!(r#"{{"mcpServers": {{"new":{new}}}}}"#)),
            (r#"{"mcpServers": {}}"#, format!(r#"{{"mcpServers": {{"new": {new}}}}}"#)),
            (r#"{"mcpServers": {"a": {}}}"#, format!(r#"{{"mcpServers": {{"a": {{}}, "new": {new}}}}}"#)),
            (r#"{"mcpServers": {"a": {},}}"#, format!(r#"{{"mcpServers": {{"a": {{}}, "new": {new}}}}}"#)),
            (
                r#"{"mcpServers": {"new": 5}, "x": 1}"#,
                format!(r#"{{"mcpServers": {{"new": {new}}}, "x": 1}}"#),
            ),
        ] {
            assert_eq!(added(text), expected, "{text}");
        }
        let tabs = "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n";
        let expected = "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"new\": {\r\n\t\t\t\"type\": \"stdio\",\r\n\t\t\t\"command\": \"c\"\r\n\t\t}\r\n\t}\r\n}\r\n";
        assert_eq!(added(tabs), expected);
        assert_eq!(without(expected, WAY, "new"), Ok(Some(tabs.to_owned())));
        assert_eq!(without(tabs, WAY, "b"), Ok(None));
        assert!(
            with("[]", WAY, "new", &server()).is_err()
                && with("{\"mcpServers\": 5}", WAY, "new", &server()).is_err()
        );
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "[\\[\\]{}\",:/* \n]{0,20}") {
            // What was written can be read, and has the server.
            if let Ok(with) = with(&text, WAY, "new", &server()) {
                prop_assert!(names(&with.text).contains(&"new".to_owned()), "{}", with.text);
            }
            let _ = without(&text, WAY, "new");
        }

        #[test]
        fn others_stay(
            blanks in prop::collection::vec(prop_oneof![Just(""), Just(" "), Just("\n  "), Just(" /* r */ "), Just(" // r\n")], 8),
            count in 0_usize..4,
            at in 0_usize..4,
        ) {
            let blank = |at: usize| blanks.get(at % blanks.len()).copied().unwrap_or_default();
            let members: Vec<String> = (0..count).map(|at| format!("{}\"s{at}\":{}{{}}{}", blank(at), blank(at + 1), blank(at + 2))).collect();
            let text = format!("{{{}\"mcpServers\": {{{}{}}}{}}}", blank(5), members.join(","), blank(6), blank(7));
            let before = names(&text);
            prop_assert_eq!(before.len(), count);
            let more = with(&text, WAY, "new", &server()).map(|with| with.text).unwrap_or_default();
            prop_assert_eq!(names(&more), before.iter().cloned().chain(["new".to_owned()]).collect::<Vec<_>>(), "{}", more);
            let gone = format!("s{at}");
            if let Ok(Some(less)) = without(&more, WAY, &gone) {
                let expected: Vec<String> = names(&more).into_iter().filter(|name| *name != gone).collect();
                prop_assert_eq!(names(&less), expected, "{}", less);
            }
        }
    }
}
