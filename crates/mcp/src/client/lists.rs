//! What a server lists, read with bounds.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::desk::Desk;
use super::limits::Limits;
use super::names::cut;
use super::schema::{anything, sound};
use super::session::{Session, Trouble, Wait};

/// Characters of names, titles and addresses.
const NAME: usize = 400;
/// Bytes of a cursor.
const CURSOR: usize = 8 << 10;
/// Arguments of one prompt.
const ARGUMENTS: usize = 50;

/// A tool that a server has.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Listed {
    /// The server's own name of it.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) schema: Value,
    /// Whether the server says that it only reads.
    pub(crate) reads: bool,
}

/// A prompt that a server has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prompt {
    /// The server.
    pub server: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
}

/// A resource that a server has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// The server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its type, such as `text/plain`.
    pub mime: Option<String>,
}

/// A kind of resources that a server has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    /// The server.
    pub server: String,
    /// The template of their addresses, as RFC 6570 has it.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// What they are.
    pub description: Option<String>,
    /// Their type, such as `text/plain`.
    pub mime: Option<String>,
}

/// All that a server lists.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Lists {
    pub(crate) tools: Vec<Arc<Listed>>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<Template>,
}

/// A list of a server.
struct Kind {
    method: &'static str,
    key: &'static str,
    words: &'static str,
}

pub(crate) async fn tools(session: &Session) -> Result<Vec<Arc<Listed>>, Trouble> {
    let kind = Kind { method: "tools/list", key: "tools", words: "tools" };
    let listed = pages(session, &kind).await?;
    let mut tools: Vec<Arc<Listed>> = Vec::new();
    for tool in &listed {
        match listed_tool(tool, &session.desk) {
            Some(tool) if tools.iter().any(|known| known.name == tool.name) => {
                session.desk.note(format!("it lists the tool `{}` twice; the first counts", tool.name));
            }
            Some(tool) => tools.push(Arc::new(tool)),
            None => session.desk.note("it lists a tool without a name, which is left out"),
        }
    }
    Ok(tools)
}

pub(crate) async fn prompts(session: &Session) -> Result<Vec<Prompt>, Trouble> {
    let kind = Kind { method: "prompts/list", key: "prompts", words: "prompts" };
    let listed = pages(session, &kind).await?;
    Ok(listed.iter().filter_map(|prompt| listed_prompt(prompt, &session.desk)).collect())
}

pub(crate) async fn resources(session: &Session) -> Result<Vec<Resource>, Trouble> {
    let kind = Kind { method: "resources/list", key: "resources", words: "resources" };
    let listed = pages(session, &kind).await?;
    let read = |resource: &Value| {
        let uri = resource.get("uri")?.as_str()?.to_owned();
        Some(Resource {
            server: session.desk.server.clone(),
            name: text(resource, "name", NAME).unwrap_or_else(|| uri.clone()),
            uri,
            title: text(resource, "title", NAME),
            description: text(resource, "description", session.desk.limits.description),
            mime: text(resource, "mimeType", NAME),
        })
    };
    Ok(listed.iter().filter_map(read).collect())
}

pub(crate) async fn templates(session: &Session) -> Result<Vec<Template>, Trouble> {
    let kind = Kind { method: "resources/templates/list", key: "resourceTemplates", words: "templates" };
    let listed = pages(session, &kind).await?;
    let read = |template: &Value| {
        let uri_template = template.get("uriTemplate")?.as_str()?.to_owned();
        Some(Template {
            server: session.desk.server.clone(),
            name: text(template, "name", NAME).unwrap_or_else(|| uri_template.clone()),
            uri_template,
            description: text(template, "description", session.desk.limits.description),
            mime: text(template, "mimeType", NAME),
        })
    };
    Ok(listed.iter().filter_map(read).collect())
}

/// All pages of a list, as far as the limits go.
async fn pages(session: &Session, kind: &Kind) -> Result<Vec<Value>, Trouble> {
    let Limits { listed: most, pages: most_pages, .. } = session.desk.limits;
    let mut all: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..most_pages {
        let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
        let mut page = session.ask(kind.method, params, Wait::usual()).await?;
        match page.get_mut(kind.key).map(Value::take) {
            Some(Value::Array(listed)) => all.extend(listed),
            Some(_) | None => {
                session.desk.note(format!("what it answers to `{}` is no list", kind.method));
                return Ok(all);
            }
        }
        if all.len() > most {
            all.truncate(most);
            session.desk.note(format!("it lists more than {most} {}; the others are left out", kind.words));
            return Ok(all);
        }
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        match next {
            None => return Ok(all),
            Some(next) if cursor.as_deref() == Some(next) || next.len() > CURSOR => break,
            Some(next) => cursor = Some(next.to_owned()),
        }
    }
    session.desk.note(format!("its list of {} has no end; what came is taken", kind.words));
    Ok(all)
}

fn listed_tool(tool: &Value, desk: &Desk) -> Option<Listed> {
    let name = tool.get("name")?.as_str().filter(|name| !name.is_empty() && name.len() <= NAME)?.to_owned();
    let schema = match tool.get("inputSchema") {
        None => anything(),
        Some(schema) => sound(schema, desk.limits.schema).unwrap_or_else(|why| {
            desk.note(format!("{why}: the tool `{name}` takes any arguments"));
            anything()
        }),
    };
    let hints = tool.get("annotations");
    let title = text(tool, "title", NAME).or_else(|| hints.and_then(|hints| text(hints, "title", NAME)));
    let description = text(tool, "description", desk.limits.description);
    Some(Listed {
        reads: hints.and_then(|hints| hints.get("readOnlyHint")) == Some(&Value::Bool(true)),
        description: description.or_else(|| title.clone()).unwrap_or_else(|| name.clone()),
        name,
        title,
        schema,
    })
}

fn listed_prompt(prompt: &Value, desk: &Desk) -> Option<Prompt> {
    let arguments = prompt.get("arguments").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let argument = |argument: &Value| {
        Some(PromptArgument {
            name: text(argument, "name", NAME)?,
            description: text(argument, "description", desk.limits.description),
            required: argument.get("required") == Some(&Value::Bool(true)),
        })
    };
    Some(Prompt {
        server: desk.server.clone(),
        name: prompt.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned(),
        title: text(prompt, "title", NAME),
        description: text(prompt, "description", desk.limits.description),
        arguments: arguments.iter().take(ARGUMENTS).filter_map(argument).collect(),
    })
}

/// A text that is not empty, cut where it is too long.
fn text(of: &Value, key: &str, most: usize) -> Option<String> {
    of.get(key)?.as_str().filter(|text| !text.trim().is_empty()).map(|text| cut(text, most))
}
