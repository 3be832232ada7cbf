//! What is known of names before any tool is declared: tables made once from the data files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::mapping::{BUILTIN, Kind, ToolMapping};
use crate::renames::Renames;
use crate::words::{squash, stem, words};
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
    let group = GROUP_OF.get(&squash(name)).or_else(|| GROUP_OF.get(&stem(name)));
    group.map(String::as_str)
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
