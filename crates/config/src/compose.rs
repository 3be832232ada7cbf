use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_route::Routing;
use serde::Deserialize;

use crate::mcp::{Layered, McpAnswers};
use crate::reference::{Keep, Outside, resolve, shape_at, walk};
use crate::tree::{Node, Value};
use crate::way::Way;
use crate::{Extras, Layer, Origin, Problem, Problems, Settings};
use crate::{check, mcp, read, routing, semantics, trust, variables};

/// The text of one file and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its layer.
    pub layer: Layer,
    /// Its path; the ending says whether it is TOML or JSON.
    pub file: PathBuf,
    /// What it says.
    pub text: String,
    /// Whether others than its owner may read it.
    pub readers: Readers,
}

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Others too.
    Others,
}

/// A value from the command line: the dotted path of its key, the value, and the flag it came with.
pub type FlagValue = (String, String, &'static str);

/// All layers, read but not understood.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The files, the strongest last.
    pub files: Vec<Source>,
    /// What is wrong with files that are missing among them.
    pub unread: Vec<Problem>,
    /// Variables that begin with `SWITCHRAIL_`, without `SWITCHRAIL_CONFIG`.
    pub variables: Vec<(String, String)>,
    /// Values of the command line.
    pub flags: Vec<FlagValue>,
    /// Whether the project's files count in full.
    pub trusted: Trusted,
    /// What of the project-local file the user said by a command or an answer, and counts also where the folder is not trusted.
    pub kept: Kept,
    /// Providers and aliases from elsewhere, weaker than all of these.
    pub extras: Extras,
}

/// What the user said in a folder that is not trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Rules that were allowed for always.
    pub rules: Vec<String>,
    /// MCP servers that were added there, and the folder.
    pub servers: Option<(PathBuf, McpAnswers)>,
}

/// Whether the project's files count in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trusted {
    /// They do.
    Yes,
    /// They may only choose among what the user has.
    #[default]
    No,
}

/// The layers as one.
#[derive(Clone, PartialEq, Debug)]
pub struct Composed {
    /// The values.
    pub settings: Settings,
    /// The values as they were written, with their origins.
    pub tree: Node,
    /// What the router needs.
    pub routing: Arc<Routing>,
    /// What is not wrong but will not work, or is not safe.
    pub warnings: Vec<Problem>,
    /// Files that values refer to.
    pub files: Vec<PathBuf>,
    /// The MCP servers of each layer, before one is put over the other.
    pub(crate) servers: Vec<Layered>,
    /// What counts from elsewhere.
    pub extras: Extras,
}

/// Makes one configuration of the layers, or tells all that is wrong with them.
pub fn compose(layers: &Layers, outside: &dyn Outside) -> Result<Composed, Problems> {
    let judged = judge(layers, outside);
    judged.composed.ok_or(judged.problems)
}

/// What became of the layers, right or wrong.
pub(crate) struct Judged {
    /// One configuration, if nothing is wrong.
    pub(crate) composed: Option<Composed>,
    pub(crate) problems: Problems,
    /// Those of what can be understood; all of them when nothing is wrong.
    pub(crate) warnings: Vec<Problem>,
}

/// Makes one configuration of the layers, and tells what is wrong with them and what is not safe.
pub(crate) fn judge(layers: &Layers, outside: &dyn Outside) -> Judged {
    let mut problems = layers.unread.clone();
    let mut warnings = layers.extras.warnings.clone();
    let (mut tree, servers) = merged(layers, &mut problems, &mut warnings);
    warnings.extend(unsafe_secrets(&tree, &layers.files));

    let resolved = resolve(&mut tree, outside);
    problems.extend(resolved.problems);
    warnings.extend(resolved.warnings);
    problems.extend(check::check(&mut tree));
    // What a file that can't be understood says is not missing, but nobody knows it.
    if problems.iter().any(Problem::is_of_whole_file) {
        return Judged::wrong(problems, warnings);
    }
    let settings = match Settings::deserialize(tree.to_toml()) {
        Ok(settings) => settings,
        Err(error) => {
            // The check knows the same types, so that only what it found can be in the way.
            if problems.is_empty() {
                problems.push(Problem::new(&Origin::BuiltIn, "", error.message()));
            }
            return Judged::wrong(problems, warnings);
        }
    };
    let extras = layers.extras.beside(&settings);
    let found = semantics::check(&semantics::Input {
        settings: &settings,
        tree: &tree,
        extras: &extras,
        unusable: &resolved.unusable,
        earlier: &problems,
    });
    problems.extend(found.problems);
    warnings.extend(found.warnings);
    if !problems.is_empty() {
        return Judged::wrong(problems, warnings);
    }
    let input = routing::Input { settings: &settings, tree: &tree, extras: &extras, outside };
    let (routing, more) = routing::routing(&input, resolved.unusable);
    warnings.extend(more);
    let warnings = Problems::sorted(warnings).0;
    let composed = Composed {
        settings,
        tree,
        routing: Arc::new(routing),
        warnings: warnings.clone(),
        files: resolved.files,
        servers,
        extras,
    };
    Judged { composed: Some(composed), problems: Problems::default(), warnings }
}

impl Judged {
    fn wrong(problems: Vec<Problem>, warnings: Vec<Problem>) -> Self {
        let (problems, warnings) = (Problems::sorted(problems), Problems::sorted(warnings).0);
        Self { composed: None, problems, warnings }
    }
}

/// Every layer read, checked by itself and put over those before it.
fn merged(layers: &Layers, problems: &mut Vec<Problem>, warnings: &mut Vec<Problem>) -> (Node, Vec<Layered>) {
    let (mut tree, mut servers) = (Node::empty(), Vec::new());
    for source in &layers.files {
        match read::read(source.layer, &source.file, &source.text) {
            Ok(mut layer) => {
                // Also what is not trusted can be listed.
                mcp::add_layer(&mut servers, source.layer, layers.trusted, &layer);
                if source.layer.is_project() && layers.trusted == Trusted::No {
                    warnings.extend(trust::restrict(&mut layer, source.layer.kept(&layers.kept)));
                }
                add(&mut tree, layer, problems);
            }
            Err(wrong) => problems.extend(wrong.0),
        }
    }
    let mut variables = Node::empty();
    for (name, text) in &layers.variables {
        problems.extend(variables::add_variable(&mut variables, &tree, name, text).err());
    }
    mcp::patch(&mut servers, Layer::Environment, &variables);
    add(&mut tree, variables, problems);
    let mut flags = Node::empty();
    for (path, text, flag) in &layers.flags {
        problems.extend(variables::add_flag(&mut flags, path, text, flag).err());
    }
    mcp::patch(&mut servers, Layer::Flags, &flags);
    add(&mut tree, flags, problems);
    (tree, servers)
}

fn add(tree: &mut Node, mut layer: Node, problems: &mut Vec<Problem>) {
    other_names(&mut layer);
    problems.extend(check::check(&mut layer));
    problems.extend(both_keys(&mut layer));
    tree.merge(layer);
}

/// Keys that have a second name, and the one by which editors find the schema.
fn other_names(layer: &mut Node) {
    let Value::Table(table) = &mut layer.value else { return };
    if table.get("$schema").is_some_and(|member| member.node.text().is_some()) {
        table.remove("$schema");
    }
    let Some(Value::Table(features)) = table.get_mut("features").map(|member| &mut member.node.value) else {
        return;
    };
    if let Some(member) = features.remove("enableGen8") {
        features.entry("gen8".to_owned()).or_insert(member);
    }
}

/// One layer that says `key` and `keys` of a provider says two things at once.
fn both_keys(layer: &mut Node) -> Vec<Problem> {
    let providers = layer.find(&["providers"]).and_then(Node::table).into_iter().flatten();
    let both = providers.filter_map(|(name, member)| {
        let table = member.node.table()?;
        let (_, keys) = (table.get("key")?, table.get("keys")?);
        let way = Way::from(["providers", name, "keys"]);
        Some(Problem::new(&keys.key, way.to_string(), "`key` is there as well; keep one of the two"))
    });
    both.collect()
}

/// Secrets that stand in files where others may read them.
fn unsafe_secrets(tree: &Node, files: &[Source]) -> Vec<Problem> {
    let readers: BTreeMap<&Path, Readers> =
        files.iter().map(|source| (source.file.as_path(), source.readers)).collect();
    let mut tree = tree.clone();
    let mut found: Vec<Problem> = Vec::new();
    let mut told: Vec<PathBuf> = Vec::new();
    walk(&mut tree, &Way::default(), &mut |node, way| {
        let Origin::File { layer, file, .. } = &node.origin else { return Keep::Yes };
        if !is_literal_secret(node, way) {
            return Keep::Yes;
        }
        let text = match (layer, readers.get(file.as_ref())) {
            (Layer::Project, _) => {
                "a secret stands in a file that is meant for git; write `env:NAME` here, or move it to config.local.toml"
                    .to_owned()
            }
            (_, Some(Readers::Others)) if !told.contains(&file.to_path_buf()) => {
                told.push(file.to_path_buf());
                format!("others can read this secret; run `chmod 600 {}`", file.display())
            }
            (_, Some(Readers::Owner | Readers::Others) | None) => return Keep::Yes,
        };
        found.push(Problem::new(&node.origin, way.to_string(), text));
        Keep::Yes
    });
    found
}

/// Whether this is a secret itself, and not a word on where it stands.
pub(crate) fn is_literal_secret(node: &Node, way: &Way) -> bool {
    let is_literal = node.text().is_some_and(|text| {
        text.reference.is_none() && crate::reference::Reference::parse(&text.value).is_none()
    });
    is_literal && shape_at(&way.keys()).is_some_and(|shape| shape.format() == Some("secret"))
}
