use rail_stdx::distance;

use crate::words::{squash, stem, words};
use crate::{Catalog, Effect, Step, Tool, known};

/// What a spelled name turned out to mean.
#[derive(Clone, PartialEq, Debug)]
pub enum Found<'a> {
    /// A declared tool; the step says how the spelling differed, if it did.
    Tool(&'a Tool, Option<Step>),
    /// Nothing, or more than one thing: the declared names that come close, the closest first.
    Unknown(Vec<String>),
}

impl<'a> Found<'a> {
    /// The tool that was found.
    pub fn tool(&self) -> Option<&'a Tool> {
        match self {
            Self::Tool(tool, _) => Some(tool),
            Self::Unknown(_) => None,
        }
    }
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
    meant(catalog, spelled).unwrap_or_else(|Nobody(name)| {
        Found::Unknown(name.map_or_else(Vec::new, |name| closest(catalog, name)))
    })
}

/// Nobody has this name; none where it is not worth a look for others that come close.
pub(crate) struct Nobody<'s>(Option<&'s str>);

/// The same without a look for names that come close, which costs more than all before it.
pub(crate) fn meant<'a, 's>(catalog: &'a Catalog, spelled: &'s str) -> Result<Found<'a>, Nobody<'s>> {
    if let Some(tool) = catalog.get(spelled) {
        return Ok(Found::Tool(tool, None));
    }
    if spelled.len() > MAX_NAME {
        return Err(Nobody(None));
    }
    let mut forms = forms(spelled);
    if forms.iter().any(|form| squash(form.text) == ENVELOPE) {
        return Err(Nobody(None));
    }
    if let Some(tool) = forms.iter().find_map(|form| catalog.get(form.text)) {
        return Ok(Found::Tool(tool, Some(Step::Name)));
    }
    let simpler: Vec<Form<'_>> = forms.iter().flat_map(|form| form.simpler()).collect();
    if let Some(tool) = simpler.iter().find_map(|form| catalog.get(form.text)) {
        return Ok(Found::Tool(tool, Some(Step::Name)));
    }
    forms.extend(simpler);
    let same = forms.iter().map(|form| catalog.spelled_like(form.text)).find(|tools| !tools.is_empty());
    if let Some(tools) = same {
        return Ok(just_one(&tools, Step::Name));
    }
    let aliases = forms.iter().filter(|form| !form.from_server);
    let group = aliases.map(|form| catalog.called_also(form.text)).find(|tools| !tools.is_empty());
    match group {
        Some(tools) => Ok(just_one(&tools, Step::Alias)),
        None => Err(Nobody(Some(forms.first().map_or("", |form| form.text)))),
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
    let mut close: Vec<(usize, &str)> = Vec::new();
    for tool in catalog.tools().iter().filter(|tool| tool.name.len() <= MAX_NAME) {
        let names = [Some(tool.name.as_str()), server_tool(&tool.name)];
        let nearest = names.into_iter().flatten().filter_map(|name| closeness(spelled, name)).min();
        close.extend(nearest.map(|distance| (distance, tool.name.as_str())));
    }
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().take(MAX_CLOSE).map(|(_, name)| name.to_owned()).collect()
}

/// How far apart two names are, if one could be meant by the other: two letters in five may differ, or one has all the
/// other's words, or begins or ends with it.
fn closeness(spelled: &str, name: &str) -> Option<usize> {
    let (one, other) = (stem(spelled), stem(name));
    let (shorter, longer) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    let is_part = shorter.len() >= 4 && (longer.starts_with(shorter) || longer.ends_with(shorter));
    let distance = distance(&one, &other);
    let is_near = distance * 5 <= longer.chars().count() * 2 && !shorter.is_empty();
    (is_part || is_near || same_words(&words(spelled), &words(name))).then_some(distance)
}

fn same_words(one: &[String], other: &[String]) -> bool {
    let (fewer, more) = if one.len() < other.len() { (one, other) } else { (other, one) };
    fewer.len() >= 2 && fewer.iter().all(|word| more.contains(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::Mapping;

    fn catalog(names: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        names.iter().for_each(|name| catalog.add(Tool::new(*name, None)));
        catalog
    }

    /// `tool` as it is, `~tool` by its name, `=tool` by an alias, `? a b` unknown with its suggestions.
    fn found(catalog: &Catalog, spelled: &str) -> String {
        match catalog.find(spelled) {
            Found::Tool(tool, None) => tool.name.clone(),
            Found::Tool(tool, Some(Step::Alias)) => format!("={}", tool.name),
            Found::Tool(tool, Some(step)) => {
                assert_eq!(step, Step::Name);
                format!("~{}", tool.name)
            }
            Found::Unknown(close) => format!("? {}", close.join(" ")).trim_end().to_owned(),
        }
    }

    fn check(names: &[&str], table: &[(&str, &str)]) {
        let catalog = catalog(names);
        for (spelled, expected) in table {
            assert_eq!(found(&catalog, spelled), *expected, "{spelled:?} among {names:?}");
        }
    }

    #[test]
    fn decoration_is_taken_off() {
        check(
            &["list_dir", "read_file"],
            &[
                ("list_dir", "list_dir"),
                (" list_dir\n", "~list_dir"),
                ("`list_dir`", "~list_dir"),
                ("\"'list_dir'\"", "~list_dir"),
                ("list_dir()", "~list_dir"),
                ("functions.list_dir:0", "~list_dir"),
                ("functions.list_dir():12", "~list_dir"),
                ("list_dir<|channel|>commentary", "~list_dir"),
                ("function.list_dir", "~list_dir"),
                ("default_api.list_dir", "~list_dir"),
                ("default_api:list_dir", "~list_dir"),
                ("tools.list_dir", "~list_dir"),
                ("tool.list_dir", "~list_dir"),
                ("api.list_dir", "~list_dir"),
                ("multi_tool_use.list_dir", "~list_dir"),
                ("google:default_api:list_dir", "~list_dir"),
                ("google:x:functions.list_dir", "~list_dir"),
                ("functions.default_api.list_dir", "~list_dir"),
                ("mcp__fs__list_dir", "~list_dir"),
                ("functions.mcp__fs__ListDir", "~list_dir"),
                ("list_dirlist_dir", "~list_dir"),
                ("list_dirjson", "~list_dir"),
                ("list_dirjsonlist_dirjson", "~list_dir"),
                ("list_dirlist_dirjson", "~list_dir"),
                ("", "?"),
                ("<|channel|>", "?"),
                ("``", "?"),
                (":0", "?"),
            ],
        );
    }

    #[test]
    fn a_namespace_that_is_nobodys_stays() {
        check(
            &["list_dir"],
            &[
                ("evil.list_dir", "? list_dir"),
                ("mcp__list_dir", "? list_dir"),
                ("mcp____list_dir", "? list_dir"),
                ("google:list_dir", "? list_dir"),
            ],
        );
    }

    #[test]
    fn spelling_is_looked_through() {
        check(
            &["list_dir", "read-file", "web.search"],
            &[
                ("LIST DIR", "~list_dir"),
                ("ReadFile", "~read-file"),
                ("readFileTool_tool", "~read-file"),
                ("WebSearch", "~web.search"),
                ("functions.WEB_SEARCH()", "~web.search"),
            ],
        );
        check(&["list_dir_tool"], &[("list_dir", "~list_dir_tool"), ("ListDirTool", "~list_dir_tool")]);
        check(&["list_dir", "list_dir_tool"], &[("ListDir", "~list_dir"), ("ListDirTool", "~list_dir_tool")]);
        check(&["listDir", "list_dir"], &[("list-dir", "? listDir list_dir"), ("list_dir", "list_dir")]);
    }

    #[test]
    fn another_word_stands_for_the_only_tool_of_its_group() {
        check(
            &[
                "list_dir",
                "search_text",
                "run_command",
                "write_file",
                "edit_file",
                "web_search",
                "todo_write",
            ],
            &[
                ("ls", "=list_dir"),
                ("LS", "=list_dir"),
                ("ListDirectoryTool", "=list_dir"),
                ("grep", "=search_text"),
                ("search_file_content", "=search_text"),
                ("container.exec", "=run_command"),
                ("functions.container.exec", "=run_command"),
                ("Bash", "=run_command"),
                ("bashbash", "=run_command"),
                ("bash<|constrain|>json", "=run_command"),
                ("Write", "=write_file"),
                ("str_replace", "=edit_file"),
                ("replace", "=edit_file"),
                ("browser.search", "=web_search"),
                ("google_web_search", "=web_search"),
                ("update_plan", "=todo_write"),
                ("TodoWrite", "~todo_write"),
                ("MultiEdit", "?"),
                // A server's tool is not ours by another word.
                ("mcp__github__grep", "?"),
            ],
        );
        check(&["bash", "run_command"], &[("shell", "? bash run_command"), ("Bash", "~bash")]);
        check(&["search", "search_text"], &[("search", "search"), ("rg", "? search search_text")]);
        check(
            &["Bash", "Read", "Edit"],
            &[("run_shell_command", "=Bash"), ("cat", "=Read"), ("replace", "=Edit")],
        );
    }

    #[test]
    fn the_envelope_of_several_calls_is_no_tool() {
        check(
            &["parallel", "list_dir"],
            &[
                ("multi_tool_use.parallel", "?"),
                ("functions.multi_tool_use.parallel", "?"),
                ("multi_tool_use_parallel", "?"),
                ("tools.parallel", "~parallel"),
            ],
        );
        check(&["multi_tool_use.parallel"], &[("multi_tool_use.parallel", "multi_tool_use.parallel")]);
    }

    #[test]
    fn close_names_are_suggested_and_never_taken() {
        check(
            &["list_dir", "read_file", "mcp__github__create_issue", "get_time"],
            &[
                ("list_dirs", "? list_dir"),
                ("raed_file", "? read_file"),
                ("create_issue", "? mcp__github__create_issue"),
                ("get_current_time", "? get_time"),
                ("launch_rocket", "?"),
                ("x", "?"),
            ],
        );
        check(&["item_a", "item_b", "item_c", "item_d"], &[("item_e", "? item_a item_b item_c")]);
        let long = "a".repeat(100_000);
        check(&[&long], &[(&long, &long), (&"b".repeat(100_000), "?"), ("aaaa", "?")]);
    }

    #[test]
    fn mappings_in_force_name_tools() {
        let provider: Mapping =
            toml::from_str("[[tools]]\nname = \"frob\"\nnative = \"bash\"\n[[tools]]\nname = \"shell\"\nnative = \"sandbox\"")
                .unwrap();
        let user: Mapping = toml::from_str("[[tools]]\nname = \"frob\"\nnative = \"list_dir\"").unwrap();
        let declared = catalog(&["run_command", "sandbox", "list_dir"]);
        assert_eq!(found(&declared, "frob"), "?");
        let declared = declared.with(&provider);
        assert_eq!(found(&declared, "frob"), "=run_command");
        assert_eq!(found(&declared, "shell"), "=sandbox");
        assert_eq!(found(&declared.with(&user), "Frob"), "=list_dir");
    }

    #[test]
    fn effects_are_told_from_names() {
        for name in [
            "bash",
            "Bash",
            "run_command",
            "container.exec",
            "write_file",
            "replace",
            "MultiEdit",
            "apply_patch",
            "python",
            "mcp__github__create_issue",
            "mcp__fs__write_file",
            "deleteUser",
            "SEND-MAIL",
            "http_request",
            "KillShell",
        ] {
            assert_eq!(effect(name), Effect::Acts, "{name}");
        }
        for name in [
            "read_file",
            "Grep",
            "list_dir",
            "todo_write",
            "ask_user",
            "get_time",
            "plot_route",
            "web_search",
            "mcp__run__status",
            "list_commits",
            "sequentialthinking",
        ] {
            assert_eq!(effect(name), Effect::Reads, "{name}");
        }
    }

    #[test]
    fn the_cases_of_the_corpus() {
        let mut seen = 0;
        for line in include_str!("../tests/corpus/cases.jsonl").lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            if !case["id"].as_str().unwrap().starts_with("nm-") {
                continue;
            }
            let text: String =
                case["chunks"].as_array().unwrap().iter().map(|chunk| chunk.as_str().unwrap()).collect();
            let call = text.trim_start_matches("<tool_call>").trim_end_matches("</tool_call>");
            let call: Value = serde_json::from_str(call).unwrap();
            let names: Vec<&str> =
                case["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            let catalog = catalog(&names);
            let expected = &case["expect"]["calls"][0];
            match catalog.find(call["name"].as_str().unwrap()) {
                Found::Tool(tool, _) => assert_eq!(
                    (&case["id"], expected["name"].as_str()),
                    (&case["id"], Some(tool.name.as_str()))
                ),
                Found::Unknown(_) => assert_eq!(expected["unknown"], true, "{}", case["id"]),
            }
            seen += 1;
        }
        assert_eq!(seen, 16);
    }

    proptest! {
        #[test]
        fn any_name_is_answered(spelled in "\\PC{0,40}", declared in proptest::collection::vec("\\PC{0,12}", 0..6)) {
            let names: Vec<&str> = declared.iter().map(String::as_str).collect();
            let catalog = catalog(&names);
            if let Found::Unknown(close) = catalog.find(&spelled) {
                prop_assert!(!declared.contains(&spelled));
                prop_assert!(close.iter().all(|name| declared.contains(name)));
            }
            effect(&spelled);
        }

        #[test]
        fn decorations_in_any_order_are_taken_off(layers in proptest::collection::vec(0..8_usize, 0..6)) {
            let catalog = catalog(&["zap_it"]);
            let mut spelled = "zap_it".to_owned();
            for layer in layers {
                spelled = match layer {
                    0 => format!(" {spelled}\t"),
                    1 => format!("`{spelled}`"),
                    2 => format!("\"{spelled}\""),
                    3 => format!("{spelled}()"),
                    4 => format!("{spelled}:7"),
                    5 => format!("functions.{spelled}"),
                    6 => format!("google:any:{spelled}"),
                    _ => format!("{spelled}<|x|>y"),
                };
            }
            prop_assert!(matches!(catalog.find(&spelled), Found::Tool(_, _)), "{}", spelled);
        }
    }
}
