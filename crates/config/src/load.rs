use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_route::Routing;
use rail_stdx::Secret;

use crate::compose::{Composed, FlagValue, Kept, Layers, Readers, Source, Trusted, judge};
use crate::env::candidates;
use crate::extras::EnvFileFound;
use crate::found::Local;
use crate::mcp::Layered;
use crate::{
    Env, Extras, Layer, Node, Origin, Outside, Place, Places, Problem, Problems, ProjectTrust, Settings,
    active, extras, keyring, reference, regular, trust, variables,
};

/// What a configuration is loaded from.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The environment.
    pub env: Env,
    /// The folder that is worked in.
    pub working_folder: PathBuf,
    /// The file named by `--config`.
    pub config: Option<PathBuf>,
    /// Values of other flags.
    pub flags: Vec<FlagValue>,
    /// Whether the project's files count in full.
    pub trust: ProjectTrust,
    /// Servers on this machine that answered; they count when no provider is configured.
    pub local: Vec<Local>,
    /// Which layers are read.
    pub scope: Scope,
}

/// Which layers are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scope {
    /// All of them.
    #[default]
    All,
    /// The file named by `--config` alone, to see what it says by itself.
    GivenFile,
}

impl Inputs {
    /// What this process has: its environment and its working folder.
    pub fn of_process() -> io::Result<Self> {
        Ok(Self { env: Env::of_process(), working_folder: std::env::current_dir()?, ..Self::default() })
    }
}

/// The configuration in force. One request sees one such value from beginning to end.
#[derive(Clone, PartialEq, Debug)]
pub struct Loaded {
    /// The values.
    pub settings: Settings,
    /// The values as they were written, with their origins.
    pub tree: Node,
    /// What the router needs.
    pub routing: Arc<Routing>,
    /// What is not wrong but will not work, or is not safe.
    pub warnings: Vec<Problem>,
    /// The files of the layers, the strongest last, whether they are there or not.
    pub files: Vec<LayerFile>,
    /// Every file that a change of would change this, whether it is there or not.
    pub watched: Vec<PathBuf>,
    /// Where things are; None when there is no home.
    pub places: Option<Places>,
    /// What counts from elsewhere than our own files.
    pub extras: Extras,
    /// The MCP servers of each layer, before one is put over the other.
    pub(crate) servers: Vec<Layered>,
}

/// A file that may say something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayerFile {
    /// Its layer.
    pub layer: Layer,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is there.
    pub found: FileFound,
}

/// Whether a file is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFound {
    /// It is, and was read.
    Read,
    /// It is, and can't be read.
    Unreadable,
    /// It is not.
    Missing,
}

/// All that was seen of a configuration, right or wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// The configuration in force; None when something is wrong.
    pub loaded: Option<Loaded>,
    /// All that is wrong.
    pub problems: Problems,
    /// What is not wrong but will not work, or is not safe.
    pub warnings: Vec<Problem>,
    /// The files of the layers, the strongest last, whether they are there or not.
    pub files: Vec<LayerFile>,
    /// The `.env` files, the strongest first, whether they are there or not.
    pub env_files: Vec<EnvFileFound>,
    /// Where things are; None when there is no home.
    pub places: Option<Places>,
    /// Whether the project's files count in full.
    pub trusted: Trusted,
    /// Every file that a change of would change this, whether it is there or not.
    pub watched: Vec<PathBuf>,
}

/// Reads all layers and makes one configuration of them, or tells all that is wrong.
pub fn load(inputs: &Inputs) -> Result<Loaded, Problems> {
    let checked = check(inputs);
    checked.loaded.ok_or(checked.problems)
}

/// Reads all layers, and tells all that was seen of them.
pub fn check(inputs: &Inputs) -> Checked {
    // Without a home there is no user's layer; what else there is counts.
    let places = Places::find(&inputs.env, &inputs.working_folder);
    let mut gathered = Gathered::default();
    if let (Err(homeless), Scope::All) = (&places, inputs.scope) {
        gathered.warnings.push(homeless.clone());
    }
    let places = places.ok();
    gathered.layers(inputs, places.as_ref());
    gathered.no_text(inputs);
    let mut watched: Vec<PathBuf> = gathered.files.iter().map(|file| file.path.clone()).collect();
    let trusted = trust::trusted(inputs, places.as_ref(), &mut gathered.warnings);
    let kept = gathered.kept(inputs, places.as_ref());
    let mut extras = gathered.extras(inputs, places.as_ref(), trusted);
    watched.extend(project_files(inputs, places.as_ref()));
    watched.extend(extras.files.iter().cloned());
    let variables = match inputs.scope {
        Scope::All => own_variables(&inputs.env),
        Scope::GivenFile => Vec::new(),
    };
    extras.warnings.append(&mut gathered.warnings);
    let (files, unread) = (gathered.sources, gathered.problems);
    let flags = inputs.flags.clone();
    let layers = Layers { files, unread, variables, flags, trusted, kept, extras };
    let judged = judge(&layers, &Machine::new(&inputs.env, &layers.extras.variables));
    let (composed, problems) = (judged.composed, judged.problems);
    watched.extend(composed.iter().flat_map(|composed| composed.files.clone()));
    let files = gathered.files;
    let loaded = composed.map(|from| loaded(from, files.clone(), &watched, places.clone()));
    let env_files = extras::env_files(&inputs.env, places.as_ref());
    Checked { loaded, problems, warnings: judged.warnings, files, env_files, places, trusted, watched }
}

fn loaded(from: Composed, files: Vec<LayerFile>, watched: &[PathBuf], places: Option<Places>) -> Loaded {
    let Composed { settings, tree, routing, warnings, files: _, servers, extras } = from;
    Loaded { servers, settings, tree, routing, warnings, files, watched: watched.to_vec(), places, extras }
}

/// Files that would be the project's if they were there, and what the state says of it.
fn project_files(inputs: &Inputs, places: Option<&Places>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let project = places.and_then(|places| places.project.as_ref());
    for folder in candidates(&inputs.working_folder, inputs.env.home()) {
        files.extend(["config.toml", "config.json"].map(|name| folder.join(name)));
        if Some(&folder) == project {
            break;
        }
    }
    files.extend(
        places
            .into_iter()
            .flat_map(|places| [places.active(), places.trust(), places.allowed(), places.mcp_answers()]),
    );
    files
}

fn own_variables(env: &Env) -> Vec<(String, String)> {
    let ours = env.all().filter(|(name, text)| {
        name.starts_with(variables::PREFIX) && *name != variables::CONFIG && !text.is_empty()
    });
    ours.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// The files of all layers.
#[derive(Default)]
struct Gathered {
    sources: Vec<Source>,
    files: Vec<LayerFile>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Gathered {
    fn layers(&mut self, inputs: &Inputs, places: Option<&Places>) {
        if let (Some(places), Scope::All) = (places, inputs.scope) {
            self.either(Layer::User, &places.config, "config");
            if let Some(project) = &places.project {
                self.either(Layer::Project, project, "config");
                self.either(Layer::ProjectLocal, project, "config.local");
            }
        }
        let variable = inputs.env.get(variables::CONFIG).map(PathBuf::from);
        if let Some(path) = inputs.config.clone().or(variable) {
            let path = inputs.working_folder.join(path);
            if self.file(Layer::Given, &path) == FileFound::Missing {
                let text = match inputs.scope {
                    Scope::All => "there is no such file; correct `--config`, or `SWITCHRAIL_CONFIG`",
                    Scope::GivenFile => "there is no such file; correct its path",
                };
                self.problems.push(whole_file(Layer::Given, &path, text));
            }
        }
    }

    /// A variable of ours that can't be read must not be passed over.
    fn no_text(&mut self, inputs: &Inputs) {
        let ours = inputs.env.no_text().filter(|name| name.starts_with(variables::PREFIX));
        let wrong = |name: &str| {
            let text = "its value is no UTF-8 text; set it anew, or unset it";
            Problem::new(&Origin::Variable(name.to_owned()), "", text)
        };
        self.problems.extend(ours.filter(|_| inputs.scope == Scope::All).map(wrong));
    }

    /// What the user allowed for always in this folder. What can't be read allows nothing.
    fn kept(&mut self, inputs: &Inputs, places: Option<&Places>) -> Kept {
        trust::kept(inputs, places).unwrap_or_else(|error| {
            let text = error.to_string();
            self.warnings.extend(places.map(|places| whole_file(Layer::User, &places.allowed(), &text)));
            Kept::default()
        })
    }

    /// What counts from elsewhere; of a file alone, only what its references may stand for.
    fn extras(&mut self, inputs: &Inputs, places: Option<&Places>, trusted: Trusted) -> Extras {
        let mut extras = extras::look(&inputs.env, places, trusted);
        match inputs.scope {
            Scope::GivenFile => {
                Extras { variables: extras.variables, files: extras.files, ..Extras::default() }
            }
            Scope::All => {
                extras.local.clone_from(&inputs.local);
                match places.map_or(Ok(None), active::read) {
                    Ok(chosen) => extras.active = chosen.or(extras.active),
                    Err(broken) => self.warnings.push(broken),
                }
                extras
            }
        }
    }

    /// A layer's file is TOML or JSON, but not both.
    fn either(&mut self, layer: Layer, folder: &Path, stem: &str) {
        let [toml, json] = ["toml", "json"].map(|ending| folder.join(format!("{stem}.{ending}")));
        if (self.file(layer, &toml), self.file(layer, &json)) == (FileFound::Read, FileFound::Read) {
            let text = format!("{} is there as well; keep one of the two", toml.display());
            self.problems.push(whole_file(layer, &json, &text));
        }
    }

    /// Reads a file; whether it is there.
    fn file(&mut self, layer: Layer, path: &Path) -> FileFound {
        let found = match regular::read(path) {
            Ok(bytes) => {
                match String::from_utf8(bytes) {
                    Ok(text) => {
                        let (file, readers) = (path.to_owned(), readers(path));
                        self.sources.push(Source { layer, file, text, readers });
                    }
                    Err(_) => {
                        self.problems.push(whole_file(layer, path, "it is no UTF-8 text; save it as UTF-8"))
                    }
                }
                FileFound::Read
            }
            Err(error) if regular::is_missing(&error) => FileFound::Missing,
            Err(error) => {
                let text = format!("it can't be read: {error}; make it readable, or move it away");
                self.problems.push(whole_file(layer, path, &text));
                FileFound::Unreadable
            }
        };
        self.files.push(LayerFile { layer, path: path.to_owned(), found });
        found
    }
}

/// A problem of a file as a whole.
pub(crate) fn whole_file(layer: Layer, path: &Path, text: &str) -> Problem {
    let origin = Origin::File { layer, file: path.into(), at: Place { line: 1, column: 1 } };
    Problem::new(&origin, "", text)
}

#[cfg(unix)]
pub(crate) fn readers(path: &Path) -> Readers {
    use std::os::unix::fs::PermissionsExt;
    let others = fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
    if others { Readers::Others } else { Readers::Owner }
}

#[cfg(not(unix))]
pub(crate) fn readers(_path: &Path) -> Readers {
    Readers::Owner
}

/// What a reference such as `env:NAME` stands for here, as a file in the user's folder means it; the error says why nothing.
pub fn look_up(inputs: &Inputs, reference: &str) -> Result<Secret, String> {
    let places = Places::find(&inputs.env, &inputs.working_folder).ok();
    let file = extras::look(&inputs.env, places.as_ref(), Trusted::No).variables;
    let origin = places.map_or(Origin::BuiltIn, |places| Origin::File {
        layer: Layer::User,
        file: places.config.join("config.toml").into(),
        at: Place { line: 1, column: 1 },
    });
    reference::value(reference, &origin, &Machine::new(&inputs.env, &file))
}

/// The machine that values refer to.
pub(crate) struct Machine<'a> {
    env: &'a Env,
    /// The user's `.env`, for what the environment does not have.
    file: &'a BTreeMap<String, Secret>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(env: &'a Env, file: &'a BTreeMap<String, Secret>) -> Self {
        Self { env, file }
    }
}

impl Outside for Machine<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let in_file = || self.file.get(name).map(Secret::reveal).filter(|value| !value.is_empty());
        self.env.get(name).or_else(in_file).map(str::to_owned)
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        fs::read_to_string(path).map_err(|error| error.to_string())
    }

    fn keyring(&self, name: &str) -> Result<String, String> {
        keyring::get(self.env, name)
    }

    fn home(&self) -> Option<PathBuf> {
        self.env.home().map(Path::to_owned)
    }
}
