use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{Origin, Problem};

/// The environment as it was at one moment. Whoever needs a variable is given this; tests make their own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
    /// The names of those whose values are no Unicode.
    no_text: Vec<String>,
}

impl Env {
    /// The environment of this process: the one place that reads it.
    pub fn of_process() -> Self {
        Self::of(std::env::vars_os())
    }

    /// These variables. What is no Unicode has no value.
    fn of(all: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut env = Self::default();
        for (name, value) in all {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => drop(env.variables.insert(name, value)),
                (Ok(name), Err(_)) => env.no_text.push(name),
                (Err(_), Ok(_) | Err(_)) => {}
            }
        }
        env
    }

    /// The variables whose values are no Unicode.
    pub(crate) fn no_text(&self) -> impl Iterator<Item = &str> {
        self.no_text.iter().map(String::as_str)
    }

    /// The value of a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All variables, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The user's home.
    pub fn home(&self) -> Option<&Path> {
        self.get("HOME").map(Path::new).filter(|home| home.is_absolute())
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { variables: variables.collect(), no_text: Vec::new() }
    }
}

/// The folder of a project that holds what is configured for it.
pub const PROJECT_FOLDER: &str = ".switchrail";

/// Where things of the user and the project are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// What the user wrote: `config.toml`, `.env`, `AGENTS.md`, ….
    pub config: PathBuf,
    /// What we keep: sessions, the ledger, `trust.json`, `allowed.json`, `mcp-servers.json`, `active.json`, ….
    pub state: PathBuf,
    /// What can be made anew.
    pub cache: PathBuf,
    /// The project's own folder `.switchrail`, if there is one.
    pub project: Option<PathBuf>,
}

impl Places {
    /// The places for this environment and working folder.
    ///
    /// The project's folder is the nearest `.switchrail` from the working folder up, not above the root of a git
    /// repository and not above the home.
    pub fn find(env: &Env, working_folder: &Path) -> Result<Self, Problem> {
        let place = |variable: &str, inner: &str| -> Result<PathBuf, Problem> {
            // The standard says that a relative path is to be ignored.
            let given = env.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let base = given.or_else(|| Some(env.home()?.join(inner))).ok_or_else(|| {
                let text = format!("there is no home folder, so that no file of yours or of the project is read; set `HOME` or `{variable}` to an absolute path");
                Problem::new(&Origin::BuiltIn, "", text)
            })?;
            Ok(base.join("switchrail"))
        };
        Ok(Self {
            config: place("XDG_CONFIG_HOME", ".config")?,
            state: place("XDG_STATE_HOME", ".local/state")?,
            cache: place("XDG_CACHE_HOME", ".cache")?,
            project: found_project(working_folder, env.home()),
        })
    }

    /// The provider that was chosen by `rail provider use`.
    pub fn active(&self) -> PathBuf {
        self.state.join("active.json")
    }

    /// What was learned of targets.
    pub fn learned(&self) -> PathBuf {
        self.state.join("learned.json")
    }

    /// How targets fared when they were last asked.
    pub fn health(&self) -> PathBuf {
        self.state.join("health.json")
    }

    /// Logins to MCP servers.
    pub fn mcp_tokens(&self) -> PathBuf {
        self.state.join("mcp-tokens.json")
    }

    /// The gateway's keys and its record of every request.
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger.db")
    }

    /// The user's keys, which `env:NAME` finds as well.
    pub fn env(&self) -> PathBuf {
        self.config.join(".env")
    }

    /// What the user allowed for always in folders that are not trusted.
    pub fn allowed(&self) -> PathBuf {
        self.state.join("allowed.json")
    }

    /// What the user answered of MCP servers that projects bring.
    pub fn mcp_answers(&self) -> PathBuf {
        self.state.join("mcp-servers.json")
    }

    /// The folders that the user trusts.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.json")
    }
}

/// Every folder where the project's own may be, the nearest first.
pub(crate) fn candidates<'a>(
    working_folder: &'a Path,
    home: Option<&'a Path>,
) -> impl Iterator<Item = PathBuf> + 'a {
    let mut done = false;
    let folders = working_folder.ancestors().take_while(move |folder| {
        let take = !done;
        done |= folder.join(".git").exists() || Some(*folder) == home;
        take
    });
    folders.map(|folder| folder.join(PROJECT_FOLDER))
}

/// The project's own folder, if there is one.
pub(crate) fn found_project(working_folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    candidates(working_folder, home).find(|folder| folder.is_dir())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn places_follow_the_standard_and_else_the_home() {
        let env: Env = [("HOME", "/u/me"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "relative")]
            .into_iter()
            .collect();
        let places = Places::find(&env, Path::new("/nowhere")).unwrap();
        assert_eq!(
            places,
            Places {
                config: "/u/me/.config/switchrail".into(),
                state: "/s/switchrail".into(),
                cache: "/u/me/.cache/switchrail".into(),
                project: None,
            }
        );
    }

    #[cfg(unix)]
    #[test]
    fn variables_that_are_no_text_have_names_and_no_values() {
        use std::os::unix::ffi::OsStringExt;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let all = [(text(b"A"), text(b"1")), (text(b"B"), text(b"\xff")), (text(b"\xff"), text(b"2"))];
        let env = Env::of(all);
        assert_eq!((env.all().collect(), env.no_text().collect()), (vec![("A", "1")], vec!["B"]));
    }

    #[test]
    fn without_a_home_it_says_what_to_set() {
        let problem = Places::find(&Env::default(), Path::new("/")).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "configuration: there is no home folder, so that no file of yours or of the project is read; set `HOME` or `XDG_CONFIG_HOME` to an absolute path"
        );
        let all = ["CONFIG", "STATE", "CACHE"].map(|kind| (format!("XDG_{kind}_HOME"), "/x"));
        assert!(Places::find(&all.into_iter().collect(), Path::new("/")).is_ok());
    }

    #[test]
    fn a_project_is_not_looked_for_above_its_repository_or_the_home() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for inner in [".switchrail", "repo/.git", "repo/a/b", "home/c", "plain/d"] {
            fs::create_dir_all(root.join(inner)).unwrap();
        }
        let home = root.join("home");
        let found = |inner: &str| found_project(&root.join(inner), Some(&home));
        assert_eq!(found("plain/d"), Some(root.join(".switchrail")));
        assert_eq!(found("repo/a/b"), None);
        assert_eq!(found("home/c"), None);
        fs::create_dir_all(root.join("repo/.switchrail")).unwrap();
        assert_eq!(found("repo/a/b"), Some(root.join("repo/.switchrail")));
        fs::create_dir_all(root.join("repo/a/.switchrail")).unwrap();
        assert_eq!(found("repo/a/b"), Some(root.join("repo/a/.switchrail")));
    }
}
