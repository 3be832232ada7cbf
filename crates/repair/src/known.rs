//! What is known of names before any tool is declared: tables made once from the data files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::mapping::{BUILTIN, Kind, ToolMapping};
use crate::renames::Renames;
use crate::words::{squash, without_tools, words};
use crate::{Effect, Mapping};

pub(crate) const GROUPS: &str = include_str!("../data/groups.toml");
pub(crate) const PARAMETERS: &str = include_str!("../data/parameters.toml");
pub(crate) const ACTS: &str = include_str!("../data/acts.toml");

/// The alias groups as they stand in their file.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupFile {
    pub(crate) groups: Vec<WrittenGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenGroup {
    pub(crate) name: String,
    pub(crate) native: Option<String>,
    pub(crate) names: Vec<String>,
}

/// The synonyms of parameters as they stand in their file.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterFile {
    pub(crate) parameters: Vec<Synonyms>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Synonyms {
    pub(crate) name: String,
    pub(crate) from: Vec<String>,
    /// Only a number of at least this size is plausible under the new name.
    pub(crate) at_least: Option<f64>,
}

/// What acts, as it stands in its file.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActsFile {
    pub(crate) known: BTreeSet<String>,
    pub(crate) verbs: BTreeSet<String>,
}

// A test reads every file, so that none is empty here by mistake.
static ACTING: LazyLock<ActsFile> = LazyLock::new(|| toml::from_str(ACTS).unwrap_or_default());

/// The group of each squashed name: a native tool's name where there is one, else the group's own.
static GROUP_OF: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let file: GroupFile = toml::from_str(GROUPS).unwrap_or_default();
    let mut groups = BTreeMap::new();
    for WrittenGroup { name, native, names } in file.groups {
        let group = native.unwrap_or(name);
        groups.extend(names.iter().map(|name| (squash(name), group.clone())));
    }
    for tool in builtin_tools() {
        for name in names_of(tool) {
            groups.entry(squash(name)).or_insert_with(|| tool.native.clone());
        }
    }
    groups
});

/// The group that a name belongs to.
pub(crate) fn group(name: &str) -> Option<&'static str> {
    let of = |name: &str| GROUP_OF.get(&squash(name)).map(String::as_str);
    // Most names are their own stem, and every declared tool's group is looked up.
    of(name).or_else(|| Some(without_tools(name)).filter(|stem| stem.len() < name.len()).and_then(of))
}

/// What a tool of this name can do, as far as its name tells.
pub(crate) fn effect(name: &str) -> Effect {
    let acts = match group(name) {
        Some(group) => ACTING.known.contains(group),
        None => words(name).iter().any(|word| ACTING.verbs.contains(word)),
    };
    if acts { Effect::Acts } else { Effect::Reads }
}

/// A parameter that a name may stand for, whatever the tool.
pub(crate) struct Synonym {
    /// The squashed name of the parameter.
    pub(crate) name: String,
    pub(crate) at_least: Option<f64>,
}

static SYNONYMS: LazyLock<BTreeMap<String, Vec<Synonym>>> = LazyLock::new(|| {
    let file: ParameterFile = toml::from_str(PARAMETERS).unwrap_or_default();
    let mut synonyms = BTreeMap::<_, Vec<Synonym>>::new();
    for Synonyms { name, from, at_least } in file.parameters {
        for from in from {
            synonyms.entry(squash(&from)).or_default().push(Synonym { name: squash(&name), at_least });
        }
    }
    synonyms
});

/// What a squashed parameter name may stand for, whatever the tool.
pub(crate) fn synonyms(squashed: &str) -> &'static [Synonym] {
    SYNONYMS.get(squashed).map(Vec::as_slice).unwrap_or_default()
}

/// What parameter names mean to a native tool in any dialect and to any provider; the names are squashed.
static UNDERSTOOD: LazyLock<BTreeMap<&'static str, Renames>> = LazyLock::new(|| {
    let mut understood = BTreeMap::<_, Renames>::new();
    for tool in builtin_tools() {
        take_up(understood.entry(tool.native.as_str()).or_default(), &tool.understood);
    }
    understood
});

/// What the parameters of a declared tool mean, by its squashed name; the parameters' names are squashed.
///
/// Only mappings in which a tool has just this name say what its parameters mean: `timeout` of a tool called `shell` may
/// be in seconds, though that of `bash` is not.
static DECLARED: LazyLock<BTreeMap<String, Renames>> = LazyLock::new(|| {
    let native = Mapping::builtin("native");
    let at_home = |tool: &ToolMapping| native?.tools.iter().find(|home| home.native == tool.native);
    let mut declared = BTreeMap::<_, Renames>::new();
    for builtin in &*BUILTIN {
        for tool in &builtin.mapping.tools {
            for name in names_of(tool) {
                let meanings = declared.entry(squash(name)).or_default();
                take_up(meanings, &tool.understood);
                let implied = at_home(tool).filter(|_| builtin.kind == Kind::Dialect);
                for (place, _, home) in implied.iter().flat_map(|home| home.shown.iter()) {
                    if tool.shown.theirs(place, home).is_none() {
                        meanings.insert(place, squash(home), home);
                    }
                }
            }
        }
    }
    declared
});

/// What parameter names mean to the native tool that a declared tool stands for.
pub(crate) fn understood(tool: &str) -> Option<&'static Renames> {
    UNDERSTOOD.get(group(tool)?)
}

/// What the parameters of a declared tool mean, as far as its name tells.
pub(crate) fn declared(tool: &str) -> Option<&'static Renames> {
    DECLARED.get(&squash(tool))
}

fn take_up(known: &mut Renames, more: &Renames) {
    more.iter().for_each(|(place, theirs, home)| known.insert(place, squash(theirs), home));
}

fn builtin_tools() -> impl Iterator<Item = &'static ToolMapping> {
    BUILTIN.iter().flat_map(|builtin| &builtin.mapping.tools)
}

/// All names of a tool in a mapping.
pub(crate) fn names_of(tool: &ToolMapping) -> impl Iterator<Item = &str> {
    std::iter::once(tool.name.as_str()).chain(tool.also.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{DIALECTS, PROVIDERS};

    fn native() -> &'static Mapping {
        Mapping::builtin("native").unwrap()
    }

    #[test]
    fn every_file_is_read() {
        for (name, text) in DIALECTS.iter().chain(PROVIDERS) {
            let mapping: Mapping = toml::from_str(text).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(!mapping.tools.is_empty(), "{name}");
            assert_eq!(Mapping::builtin(name), Some(&mapping));
        }
        let names: Vec<&str> = Mapping::names().collect();
        assert_eq!(names, ["native", "claude", "gemini", "codex", "aistudio-proxy", "lm-studio-qwen"]);
        assert!(!toml::from_str::<GroupFile>(GROUPS).unwrap().groups.is_empty());
        assert!(!toml::from_str::<ParameterFile>(PARAMETERS).unwrap().parameters.is_empty());
        assert!(!toml::from_str::<ActsFile>(ACTS).unwrap().verbs.is_empty());
    }

    #[test]
    fn every_target_is_native() {
        let tools: BTreeMap<&str, &ToolMapping> =
            native().tools.iter().map(|tool| (tool.native.as_str(), tool)).collect();
        assert_eq!(tools.len(), native().tools.len(), "a native tool is listed twice");
        for builtin in &*BUILTIN {
            for tool in &builtin.mapping.tools {
                let home = tools.get(tool.native.as_str());
                let home = home.unwrap_or_else(|| panic!("{}: no native `{}`", builtin.name, tool.native));
                for (place, theirs, to) in tool.understood.iter() {
                    assert!(
                        home.shown.theirs(place, to).is_some(),
                        "{}: `{}` has no `{to}`",
                        builtin.name,
                        tool.native
                    );
                    // A name that is shown for one parameter must not hide another that keeps its own.
                    let other = home.shown.theirs(place, theirs).filter(|_| theirs != to);
                    let is_hidden = other.is_some() && tool.shown.theirs(place, theirs).is_none();
                    assert!(
                        !is_hidden,
                        "{}: `{theirs}` is a parameter of `{}` itself",
                        builtin.name, tool.native
                    );
                }
            }
        }
        for tool in &native().tools {
            assert!(tool.name == tool.native && tool.understood.iter().all(|(_, theirs, to)| theirs == to));
        }
    }

    #[test]
    fn no_name_has_two_meanings() {
        let mut tools = BTreeMap::<String, String>::new();
        let mut claim = |name: &str, group: &str| {
            let before = tools.insert(squash(name), group.to_owned());
            assert!(
                before.as_deref().is_none_or(|before| before == group),
                "`{name}`: {before:?} and {group}"
            );
        };
        for group in toml::from_str::<GroupFile>(GROUPS).unwrap().groups {
            if let Some(native_name) = &group.native {
                assert!(native().tools.iter().any(|tool| tool.native == *native_name), "{native_name}");
            }
            let names: BTreeSet<String> = group.names.iter().map(|name| squash(name)).collect();
            assert_eq!(names.len(), group.names.len(), "{}: a name is there twice", group.name);
            let id = group.native.unwrap_or(group.name);
            group.names.iter().for_each(|name| claim(name, &id));
        }
        let mut parameters = BTreeMap::new();
        for tool in builtin_tools() {
            names_of(tool).for_each(|name| claim(name, &tool.native));
            for (place, theirs, home) in tool.understood.iter() {
                let before = parameters.insert((tool.native.as_str(), place, squash(theirs)), home);
                assert!(
                    before.is_none_or(|before| before == home),
                    "{}: `{theirs}`: {before:?} and {home}",
                    tool.native
                );
            }
        }
    }

    #[test]
    fn what_acts_is_known() {
        let acts: ActsFile = toml::from_str(ACTS).unwrap();
        for name in &acts.known {
            assert!(GROUP_OF.values().any(|group| group == name), "acts.toml: no group `{name}`");
        }
        assert!(acts.verbs.iter().all(|verb| words(verb) == [verb.as_str()]));
    }

    #[test]
    fn synonyms_are_other_words() {
        for row in toml::from_str::<ParameterFile>(PARAMETERS).unwrap().parameters {
            let names: BTreeSet<String> = row.from.iter().map(|name| squash(name)).collect();
            assert!(!names.contains(&squash(&row.name)), "{}: is its own synonym", row.name);
            assert!(row.from.iter().all(|name| name == &name.to_lowercase()), "{}", row.name);
        }
    }

    #[test]
    fn providers_cover_the_thirteen_tools() {
        for (name, _) in PROVIDERS {
            let mapping = Mapping::builtin(name).unwrap();
            for tool in [
                "write_file",
                "read_file",
                "list_directory",
                "search_file_content",
                "glob",
                "replace",
                "run_shell_command",
                "read_many_files",
                "web_fetch",
                "google_web_search",
                "knowledge_graph",
                "sequentialthinking",
                "save_memory",
            ] {
                assert!(mapping.tools.iter().any(|known| known.name == tool), "{name}: {tool}");
            }
        }
    }
}
