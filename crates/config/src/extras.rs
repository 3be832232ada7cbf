//! Providers and aliases from elsewhere than our own files: the environment form, keys in the environment, local servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rail_route::{Alias, AliasTo, Chain, ProfilePatch, Provider};
use rail_stdx::Secret;

use crate::dotenv::{self, EnvFile};
use crate::found::{self, FoundProvider, Local};
use crate::hijack::{EnvLayer, EnvSource, Hijack};
use crate::regular::{is_missing, read_text};
use crate::{Env, FileFound, Layer, Origin, Place, Places, Problem, Settings, Trusted};

/// Providers and aliases from elsewhere than our own files. All of them are weaker than what our files say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extras {
    /// Providers; one of the same name in `[providers]` replaces it.
    pub providers: Vec<Provider>,
    /// Aliases; one of the same name in `[aliases]` replaces it.
    pub aliases: Vec<Alias>,
    /// Chains; one of the same name in `[router]` replaces it.
    pub chains: BTreeMap<String, Chain>,
    /// The provider to put in front, unless `active.json` names one.
    pub active: Option<String>,
    /// What the environment form says.
    pub hijack: Hijack,
    /// Providers whose keys are in the environment; they count when no provider is configured.
    pub found: Vec<FoundProvider>,
    /// Servers on this machine that answered; they count when no provider is configured.
    pub local: Vec<Local>,
    /// What the user's `.env` says, for references that the environment does not answer.
    pub variables: BTreeMap<String, Secret>,
    /// What is wrong with where they come from.
    pub warnings: Vec<Problem>,
    /// The files that they come from, whether they are there or not.
    pub files: Vec<PathBuf>,
}

/// A `.env` file that may say something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnvFileFound {
    /// Whose it is.
    pub source: EnvSource,
    /// Its path.
    pub path: PathBuf,
    /// Whether it is there.
    pub found: FileFound,
}

/// The `.env` files, the strongest first.
pub(crate) fn env_files(env: &Env, places: Option<&Places>) -> Vec<EnvFileFound> {
    let project = places.and_then(|places| places.project.as_ref()).map(|folder| folder.join(".env"));
    let user = places.map(Places::env);
    let gemini = env.home().map(|home| home.join(".gemini/.env"));
    let all = [(EnvSource::Project, project), (EnvSource::User, user), (EnvSource::Gemini, gemini)];
    let found = |path: &Path| if path.exists() { FileFound::Read } else { FileFound::Missing };
    let file = |(source, path): (EnvSource, Option<PathBuf>)| {
        let path = path?;
        Some(EnvFileFound { source, found: found(&path), path })
    };
    all.into_iter().filter_map(file).collect()
}

/// Looks for providers and aliases in the environment and in the files of others.
pub(crate) fn look(env: &Env, places: Option<&Places>, trusted: Trusted) -> Extras {
    let mut extras = Extras::default();
    let variables: BTreeMap<String, String> =
        env.all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut layers = vec![EnvLayer::environment(&variables)];
    for EnvFileFound { source, path, found: _ } in env_files(env, places) {
        if let Some(file) = extras.file(&path) {
            extras.take(source, &path, &file, trusted, &mut layers);
        }
        extras.files.push(path);
    }
    let hijack = Hijack::read(&layers);
    extras.providers = hijack.providers();
    extras.aliases = hijack.aliases();
    extras.active =
        if hijack.enabled { hijack.active.as_deref().and_then(|name| hijack.back(name)) } else { None }
            .map(|back| back.provider.clone());
    extras.warnings.extend(hijack.notes.iter().map(|note| Problem::new(&Origin::BuiltIn, "", note)));
    // What the user keeps in `.env` is as good as exported.
    let kept = extras.variables.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
    let variables = kept.chain(variables).collect();
    extras.found = found::from_environment(&variables);
    extras.hijack = hijack;
    extras
}

impl Extras {
    /// What counts beside these settings: with no provider configured, those that were found and the chains that they make.
    pub(crate) fn beside(&self, settings: &Settings) -> Self {
        let mut extras = self.clone();
        if !settings.providers.is_empty() {
            (extras.found, extras.local) = (Vec::new(), Vec::new());
            return extras;
        }
        let taken: Vec<String> = extras.providers.iter().map(|provider| provider.name.clone()).collect();
        // Of two with one name the environment form's is meant: its prefix was written for us.
        extras.found.retain(|found| !taken.contains(&found.provider.name));
        extras.providers.extend(extras.found.iter().map(|found| found.provider.clone()));
        extras.name_servers();
        extras.chains = found::default_chains(&extras.found, &extras.local);
        // With the environment form in force, what it names answers first, whatever the request is.
        let backs = extras.aliases.iter().filter_map(|alias| match &alias.to {
            AliasTo::Chain(chain) => Some(chain.0.clone()),
            AliasTo::Classified | AliasTo::Virtual(_) => None,
        });
        let backs: Vec<_> = backs.flatten().collect();
        if !backs.is_empty() {
            extras.chains.entry("default".to_owned()).or_default();
            for chain in extras.chains.values_mut() {
                chain.0.splice(0..0, backs.iter().cloned());
            }
        }
        extras
    }

    /// Takes the servers on this machine among the providers, each under a name of its own.
    fn name_servers(&mut self) {
        for server in &mut self.local {
            let models = server.models.iter().map(|model| (model.clone(), ProfilePatch::default())).collect();
            let is_it = |known: &&mut Provider| known.base_url == server.provider.base_url;
            // A variable may have said where it is.
            if let Some(known) = self.providers.iter_mut().find(is_it) {
                server.provider.name.clone_from(&known.name);
                known.models = models;
                continue;
            }
            let name = server.provider.name.clone();
            for number in 2.. {
                if !self.providers.iter().any(|known| known.name == server.provider.name) {
                    break;
                }
                server.provider.name = format!("{name}-{number}");
            }
            server.provider.models = models;
            self.providers.push(server.provider.clone());
        }
    }

    fn file(&mut self, path: &Path) -> Option<EnvFile> {
        match read_text(path) {
            Ok(text) => Some(dotenv::read(&text)),
            Err(error) if is_missing(&error) => None,
            Err(error) => {
                let text = format!("it can't be read: {error}; make it readable, or move it away");
                self.warnings.push(of_file(path, 1, &text));
                None
            }
        }
    }

    fn take(
        &mut self,
        source: EnvSource,
        path: &Path,
        file: &EnvFile,
        trusted: Trusted,
        layers: &mut Vec<EnvLayer>,
    ) {
        if source == EnvSource::Project && trusted == Trusted::No {
            let text = "it does not count, as this folder is not trusted: whoever wrote it could have your requests sent \
                        elsewhere; read it, then run `rail config trust`";
            return self.warnings.push(of_file(path, 1, text));
        }
        for note in &file.notes {
            self.warnings.push(of_file(path, note.line, note.problem));
        }
        if source == EnvSource::User {
            self.variables =
                file.values.iter().map(|value| (value.name.clone(), value.value.clone())).collect();
        }
        layers.push(EnvLayer::file(source, path.display().to_string(), file));
    }
}

fn of_file(path: &Path, line: usize, text: &str) -> Problem {
    let at = Place { line, column: 1 };
    Problem::new(&Origin::File { layer: Layer::User, file: path.into(), at }, "", text)
}
