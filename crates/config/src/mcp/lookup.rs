//! All servers of a working folder.

use std::path::{Path, PathBuf};

use super::choose::{FolderTrust, Found, choose};
use super::json::{Entry, Form, Listed, read};
use super::written::{content, spec, with_texts};
use super::{Approval, McpAnswers, McpScope, Servers, Spec, expand, layered_server};
use crate::env::candidates;
use crate::load::{Machine, whole_file};
use crate::read::Source;
use crate::reference::{Outside, Reference, value};
use crate::regular;
use crate::settings::McpServer;
use crate::trust::{reaches, trusted};
use crate::{Inputs, Layer, Loaded, Origin, Problem, ProjectTrust, Trusted, trust_answer, trust_root};

/// No list of servers is longer.
const LONGEST: u64 = 1 << 20;
/// The lists that other agents read as well.
const LISTS: [(&str, McpScope, Form); 2] =
    [(".mcp.json", McpScope::Project, Form::Named), (".mcprc", McpScope::Mcprc, Form::Bare)];

/// What `--mcp-config` gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    text: String,
    /// The file that it stands in.
    file: Option<PathBuf>,
}

impl Given {
    /// Reads what was given: JSON itself, or a file with it.
    ///
    /// # Errors
    /// Why the file can't be read.
    pub fn read(given: &str, working_folder: &Path) -> Result<Self, String> {
        if given.trim_start().starts_with('{') {
            return Ok(Self { text: given.to_owned(), file: None });
        }
        let file = working_folder.join(given);
        let text = text_of(&file).map_err(|why| {
            format!("{} can't be read: {why}; name a file that is there, or write JSON", file.display())
        })?;
        Ok(Self { text, file: Some(file) })
    }

    /// What is wrong with it as a whole.
    pub fn problem(&self) -> Option<Problem> {
        self.listed().problems.into_iter().next()
    }

    fn listed(&self) -> Listed {
        match &self.file {
            None => read(&self.text, Form::Named, &|_| Origin::Flag("--mcp-config")),
            Some(file) => listed(Layer::Given, file, &self.text, Form::Named),
        }
    }
}

/// Which places count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Which {
    /// All of them.
    #[default]
    All,
    /// Only what `--mcp-config` gave.
    Given,
}

/// All servers of the working folder, each with whether it is used. What a project brings is not looked into before it may be used.
pub fn servers(inputs: &Inputs, loaded: &Loaded, given: &[Given], which: Which) -> Servers {
    let mut gathered = Gathered::new(inputs, loaded);
    for given in given {
        gathered.given(given);
    }
    if which == Which::All {
        gathered.ours();
        for folder in folders(inputs) {
            gathered.lists(&folder);
        }
    }
    let Gathered { found, servers, .. } = gathered;
    let machine = Machine::new(&inputs.env, &loaded.extras.variables);
    let make = |found: &Found, written: &McpServer| make(inputs, &machine, found, written);
    Servers { found: choose(found, &loaded.settings.mcp, &make), ..servers }
}

/// The folders whose lists count, the nearest first: up to the root of the repository. The home's is no project's.
fn folders(inputs: &Inputs) -> Vec<PathBuf> {
    let home = inputs.env.home();
    let folders =
        candidates(&inputs.working_folder, home).filter_map(|inner| inner.parent().map(Path::to_owned));
    folders.filter(|folder| Some(folder.as_path()) != home).collect()
}

/// The lists of servers that a working folder has, whether they count or not.
pub fn brought(inputs: &Inputs) -> Vec<PathBuf> {
    let paths = folders(inputs).into_iter().flat_map(|folder| LISTS.map(|(name, ..)| folder.join(name)));
    paths.filter(|path| path.is_file()).collect()
}

/// What a server comes to here.
fn make(inputs: &Inputs, machine: &Machine<'_>, found: &Found, written: &McpServer) -> Result<Spec, String> {
    let working = inputs.working_folder.as_path();
    let base = found.folder.as_deref().unwrap_or(working);
    let variable = |name: &str| {
        let set = inputs.env.all().find(|(set, _)| *set == name).map(|(_, value)| value.to_owned());
        set.or_else(|| machine.variable(name))
    };
    let expanded = |text: &str| {
        expand(text, &variable).map_err(|name| {
            format!("the variable `{name}` is not set; export it, or write `${{{name}:-default}}`")
        })
    };
    // In our own files a text may also be `env:NAME`; other agents' files have no such thing.
    let is_ours = match found.scope {
        McpScope::Given | McpScope::Project | McpScope::Mcprc => false,
        McpScope::Process | McpScope::Config | McpScope::Local | McpScope::ProjectConfig | McpScope::User => {
            true
        }
    };
    let known = |text: &str| match Reference::parse(text) {
        Some(_) if is_ours => value(text, &found.origin, machine).map(|secret| secret.reveal().to_owned()),
        Some(_) | None => expanded(text),
    };
    let known = with_texts(written, &known);
    spec(known?, base)
}

struct Gathered<'a> {
    inputs: &'a Inputs,
    loaded: &'a Loaded,
    answers: McpAnswers,
    /// The folder whose answer counts for what is in it, and the answer.
    root: Option<(PathBuf, Trusted)>,
    found: Vec<Found>,
    servers: Servers,
}

impl<'a> Gathered<'a> {
    fn new(inputs: &'a Inputs, loaded: &'a Loaded) -> Self {
        let mut servers = Servers::default();
        let places = loaded.places.as_ref();
        let answers = places.map_or(Ok(McpAnswers::default()), McpAnswers::stored).unwrap_or_else(|error| {
            let text = error.to_string();
            servers
                .problems
                .extend(places.map(|places| whole_file(Layer::User, &places.mcp_answers(), &text)));
            McpAnswers::default()
        });
        // A list of folders that can't be read is told when the configuration is loaded.
        let trust = trusted(inputs, places, &mut Vec::new());
        let root = trust_root(&inputs.env, &inputs.working_folder).map(|root| (root, trust));
        Self { inputs, loaded, answers, root, found: Vec::new(), servers }
    }

    fn given(&mut self, given: &Given) {
        let Listed { servers, sdk, problems, notes } = given.listed();
        self.servers.sdk.extend(sdk);
        self.servers.problems.extend(problems);
        self.servers.notes.extend(notes);
        for entry in servers {
            self.add(McpScope::Given, None, entry);
        }
    }

    /// The servers of our own files.
    fn ours(&mut self) {
        for layered in &self.loaded.servers {
            let scope = match layered.layer {
                Layer::BuiltIn | Layer::User => McpScope::User,
                Layer::Project => McpScope::ProjectConfig,
                Layer::ProjectLocal => McpScope::Local,
                Layer::Given => McpScope::Config,
                Layer::Environment | Layer::Flags => McpScope::Process,
            };
            let origin = layered.member.key.clone();
            let project = || origin.folder().and_then(Path::parent).map(Path::to_owned);
            let folder = layered.layer.is_project().then(project).flatten();
            let server = layered_server(layered);
            self.add(scope, folder, Entry { name: layered.name.clone(), origin: origin.clone(), server });
        }
    }

    /// The servers of the lists in a folder.
    fn lists(&mut self, folder: &Path) {
        for (name, scope, form) in LISTS {
            let path = folder.join(name);
            match text_of(&path) {
                Ok(text) => {
                    let Listed { servers, sdk, problems, notes } = listed(Layer::Project, &path, &text, form);
                    self.servers.problems.extend(problems);
                    self.servers.notes.extend(notes);
                    for name in sdk {
                        let text = "`sdk` servers live in the process of an SDK, which passes them by `--mcp-config`";
                        self.servers.notes.push(whole_file(
                            Layer::Project,
                            &path,
                            &format!("{name}: {text}"),
                        ));
                    }
                    for entry in servers {
                        self.add(scope, Some(folder.to_owned()), entry);
                    }
                }
                Err(error) if regular::is_missing(&error) => {}
                Err(error) => {
                    let text = format!("it can't be read: {error}; make it readable, or move it away");
                    self.servers.problems.push(whole_file(Layer::Project, &path, &text));
                }
            }
        }
    }

    fn add(&mut self, scope: McpScope, folder: Option<PathBuf>, entry: Entry) {
        let Entry { name, origin, server: written } = entry;
        let content = written.as_ref().map(content).unwrap_or_default();
        let answered = folder.as_deref().map(|folder| self.answers.of(folder, &name, &content));
        let trust = folder.as_deref().map_or(FolderTrust::Trusted, |folder| self.trust(folder));
        let (trust, approval) = match (scope, answered) {
            // The user's own for this project: in a folder that is not trusted, what was written there by the user's own command.
            (McpScope::Local, Some(Approval::Approved)) => (FolderTrust::Trusted, Approval::NotNeeded),
            (McpScope::Local, _) => (trust, Approval::NotNeeded),
            (scope, Some(answer)) if scope.is_brought() => (trust, answer),
            (_, _) => (FolderTrust::Trusted, Approval::NotNeeded),
        };
        let to_trust = folder.as_deref().map(|folder| self.to_trust(folder));
        self.found.push(Found { name, scope, origin, folder, to_trust, written, content, trust, approval });
    }

    /// The folder whose trust reaches this one.
    fn to_trust(&self, folder: &Path) -> PathBuf {
        let root = self.root.as_ref().map(|(root, _)| root);
        let root = root.filter(|root| folder.starts_with(root) && reaches(root, folder));
        root.map_or(folder, PathBuf::as_path).to_owned()
    }

    /// Whether a folder is trusted: by itself, or as part of a repository that is.
    fn trust(&self, folder: &Path) -> FolderTrust {
        let is_trusted = match self.inputs.trust {
            ProjectTrust::Trusted => true,
            ProjectTrust::Untrusted => false,
            ProjectTrust::Stored => {
                let by_root = self.root.as_ref().is_some_and(|(root, trusted)| {
                    *trusted == Trusted::Yes && folder.starts_with(root) && reaches(root, folder)
                });
                let places = self.loaded.places.as_ref();
                by_root
                    || places
                        .is_some_and(|places| matches!(trust_answer(places, folder), Ok(Some(Trusted::Yes))))
            }
        };
        if is_trusted { FolderTrust::Trusted } else { FolderTrust::Untrusted }
    }
}

fn text_of(path: &Path) -> std::io::Result<String> {
    let bytes = regular::read_at_most(path, LONGEST)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is no UTF-8 text"))
}

fn listed(layer: Layer, file: &Path, text: &str, form: Form) -> Listed {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::new(layer, file, text);
    read(text, form, &|at| source.origin(at))
}
