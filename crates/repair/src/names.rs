use crate::words::{distance, squash, stem};
use crate::{Catalog, Effect, Step, Tool, known};

/// What a spelled name turned out to mean.
#[derive(Clone, PartialEq, Debug)]
pub enum Found<'a> {
    /// A declared tool; the step says how the spelling differed, if it did.
    Tool(&'a Tool, Option<Step>),
    /// Nothing, or more than one thing: the declared names that come close, the closest first.
    Unknown(Vec<String>),
}

/// A longer name is nobody's spelling of a tool, and looking at it would only cost time.
const MAX_NAME: usize = 256;
/// As many names are suggested at most.
const MAX_CLOSE: usize = 3;
/// Names that models put before a tool's, from the template they were shown it in.
const NAMESPACES: &[&str] =
    &["functions", "function", "default_api", "tools", "tool", "api", "multi_tool_use"];
/// The envelope for several calls at once: never a tool of its own.
const ENVELOPE: &str = "multitooluseparallel";

/// Finds the tool that is meant by a spelled name. Two that could be meant are none.
pub(crate) fn find<'a>(catalog: &'a Catalog, spelled: &str) -> Found<'a> {
    if let Some(tool) = catalog.get(spelled) {
        return Found::Tool(tool, None);
    }
    if spelled.len() > MAX_NAME {
        return Found::Unknown(Vec::new());
    }
    let mut forms = forms(spelled);
    if forms.iter().any(|form| squash(form.text) == ENVELOPE) {
        return Found::Unknown(Vec::new());
    }
    if let Some(tool) = forms.iter().find_map(|form| catalog.get(form.text)) {
        return Found::Tool(tool, Some(Step::Name));
    }
    let simpler: Vec<Form<'_>> = forms.iter().flat_map(|form| form.simpler()).collect();
    if let Some(tool) = simpler.iter().find_map(|form| catalog.get(form.text)) {
        return Found::Tool(tool, Some(Step::Name));
    }
    forms.extend(simpler);
    let same = forms.iter().map(|form| catalog.spelled_like(form.text)).find(|tools| !tools.is_empty());
    if let Some(tools) = same {
        return just_one(&tools, Step::Name);
    }
    let aliases = forms.iter().filter(|form| !form.from_server);
    let group = aliases.map(|form| catalog.called_also(form.text)).find(|tools| !tools.is_empty());
    match group {
        Some(tools) => just_one(&tools, Step::Alias),
        None => Found::Unknown(closest(catalog, forms.first().map_or("", |form| form.text))),
    }
}

/// What a tool of this name can do, as far as its name tells.
pub(crate) fn effect(name: &str) -> Effect {
    known::effect(server_tool(name).unwrap_or(name))
}

fn just_one<'a>(tools: &[&'a Tool], step: Step) -> Found<'a> {
    match tools {
        [tool] => Found::Tool(tool, Some(step)),
        several => Found::Unknown(several.iter().map(|tool| tool.name.clone()).collect()),
    }
}

/// A spelled name with some of its decoration taken off.
#[derive(Clone, Copy, Debug)]
struct Form<'s> {
    text: &'s str,
    /// It was the name of a server's tool: it may be declared without the server, but it is not another word for a tool of ours.
    from_server: bool,
}

impl<'s> Form<'s> {
    /// The name once where it is doubled, and without a glued `json`.
    fn simpler(&self) -> impl Iterator<Item = Form<'s>> + use<'s> {
        let from_server = self.from_server;
        let once = half(self.text);
        let plain = self.text.strip_suffix("json");
        let both = once.and_then(|once| once.strip_suffix("json")).or_else(|| plain.and_then(half));
        let found = [once, plain, both].into_iter().flatten().filter(|text| !text.is_empty());
        found.map(move |text| Form { text, from_server })
    }
}

fn half(text: &str) -> Option<&str> {
    let (first, second) = text.split_at_checked(text.len() / 2)?;
    (first == second && !first.is_empty()).then_some(first)
}

/// The name without decoration, then without one namespace after the other.
fn forms(spelled: &str) -> Vec<Form<'_>> {
    let mut forms = Vec::new();
    let mut next = Some(Form { text: bare(spelled), from_server: false });
    while let Some(form) = next.filter(|form| !form.text.is_empty()) {
        forms.push(form);
        next = match (in_namespace(form.text), server_tool(form.text)) {
            (Some(inner), _) => Some(Form { text: bare(inner), ..form }),
            (None, Some(tool)) => Some(Form { text: bare(tool), from_server: true }),
            (None, None) => None,
        };
    }
    forms
}

/// Without control tokens, space, quotes, parentheses and a number at the end.
fn bare(spelled: &str) -> &str {
    let mut text = spelled.split("<|").next().unwrap_or_default();
    loop {
        let before = text.len();
        text = text.trim().trim_matches(['"', '\'', '`', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}']);
        text = text.strip_suffix("()").unwrap_or(text);
        if let Some((name, number)) = text.rsplit_once(':')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            text = name;
        }
        if text.len() == before {
            return text;
        }
    }
}

/// What stands in a namespace such as `functions.` or `google:default_api:`.
fn in_namespace(name: &str) -> Option<&str> {
    let (space, rest) = name.split_once(['.', ':', '/'])?;
    if space.eq_ignore_ascii_case("google") && name.get(space.len()..)?.starts_with(':') {
        return rest.split_once(':').map(|(_, inner)| inner);
    }
    let known = NAMESPACES.iter().any(|namespace| space.eq_ignore_ascii_case(namespace));
    known.then(|| rest.trim_start_matches(':'))
}

/// The tool's own name in `mcp__server__tool`.
fn server_tool(name: &str) -> Option<&str> {
    let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some(tool)
}

/// The declared names that could have been meant, for the model to choose from.
fn closest(catalog: &Catalog, spelled: &str) -> Vec<String> {
    let spelled = stem(spelled);
    if spelled.is_empty() {
        return Vec::new();
    }
    let mut close: Vec<(usize, &str)> = Vec::new();
    for tool in catalog.tools().iter().filter(|tool| tool.name.len() <= MAX_NAME) {
        let names = [Some(tool.name.as_str()), server_tool(&tool.name)];
        let nearest = names.into_iter().flatten().filter_map(|name| closeness(&spelled, &stem(name))).min();
        close.extend(nearest.map(|distance| (distance, tool.name.as_str())));
    }
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().take(MAX_CLOSE).map(|(_, name)| name.to_owned()).collect()
}

/// How far apart two names are, if one could be meant by the other: two letters in five may differ, or one begins or ends the other.
fn closeness(spelled: &str, name: &str) -> Option<usize> {
    let (shorter, longer) = if spelled.len() < name.len() { (spelled, name) } else { (name, spelled) };
    let part = shorter.len() >= 4 && (longer.starts_with(shorter) || longer.ends_with(shorter));
    let distance = distance(spelled, name);
    (part || distance * 5 <= longer.chars().count() * 2).then_some(distance)
}
