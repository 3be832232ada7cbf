//! Markdown files of the user and of the project: commands, types of agents, skills.

use std::io::Read;
use std::path::{Path, PathBuf};

use rail_config::Trusted;
use rail_repair::Mapping;
use rail_tool::{FileFault, Opened, shown};

/// Whose a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The project's; what it allows counts only where the user trusts the folder.
    Project(Trusted),
    /// The user's own.
    User,
    /// It comes with the program.
    BuiltIn,
}

/// A folder of such files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnedFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Whose the files in it are.
    pub owner: Owner,
    /// Where its files must lie, wherever links lead: a project does not reach out of itself. The user's own may lie anywhere.
    pub within: Option<PathBuf>,
}

/// What the files of a folder are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// Slash commands.
    Commands,
    /// Types of agents.
    Agents,
    /// Skills.
    Skills,
}

impl FileKind {
    /// The name of their folders.
    fn folder(self) -> &'static str {
        match self {
            Self::Commands => "commands",
            Self::Agents => "agents",
            Self::Skills => "skills",
        }
    }
}

/// Where such folders are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places<'a> {
    /// The project's folder.
    pub project: &'a Path,
    /// Whether the user trusts it.
    pub trusted: Trusted,
    /// The folder of the user's configuration, `$XDG_CONFIG_HOME/switchrail`.
    pub config: Option<&'a Path>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
}

impl Places<'_> {
    /// The folders of such files, those that count first at the front.
    pub fn folders(&self, kind: FileKind) -> Vec<OwnedFolder> {
        let (owner, name) = (Owner::Project(self.trusted), kind.folder());
        let of_project = [".switchrail", ".claude"].map(|base| OwnedFolder {
            path: self.project.join(base).join(name),
            owner,
            within: Some(self.project.to_owned()),
        });
        let mut folders = Vec::from(of_project);
        let users = [
            self.config.map(|config| config.join(name)),
            self.home.map(|home| home.join(".claude").join(name)),
        ];
        for path in users.into_iter().flatten() {
            // Whoever works in the home folder has it as a project too; what is the user's own is not a project's.
            folders.retain(|folder| folder.path != path);
            folders.push(OwnedFolder { path, owner: Owner::User, within: None });
        }
        folders
    }
}

/// The longest file that is read.
const LONGEST: u64 = 256 * 1024;
/// How deep folders may lie in each other.
const DEEPEST: usize = 4;
/// How many folders are looked into, and how many files taken: links may lead round and round.
const MOST: usize = 1_000;
/// How much of a text describes it where the file does not say.
const DESCRIBED: usize = 80;

/// A Markdown file, with the names of the folders that it lies in and its own.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) names: Vec<String>,
}

impl OwnedFolder {
    /// The Markdown files in it and in folders below; `what` they are is said with each problem. A folder that is not there has none.
    pub(crate) fn markdown(&self, what: &str, problems: &mut Vec<String>) -> Vec<Found> {
        let mut found = Vec::new();
        let mut open = vec![(self.path.clone(), Vec::<String>::new())];
        let mut looked = 0;
        while let Some((path, names)) = open.pop() {
            looked += 1;
            if looked > MOST || found.len() >= MOST {
                problems.push(format!("not all {what} in {} are read: there are too many", path.display()));
                break;
            }
            for path in self.entries(&path, what, problems) {
                let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
                let names: Vec<String> = names.iter().cloned().chain([name.to_owned()]).collect();
                let Ok(meta) = std::fs::metadata(&path) else { continue };
                if meta.is_dir() && names.len() <= DEEPEST && !name.starts_with('.') {
                    open.push((path, names));
                } else if meta.is_file() && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
                {
                    found.push(Found { path, names });
                }
            }
        }
        found
    }

    /// What stands in a folder, by name.
    pub(crate) fn entries(&self, path: &Path, what: &str, problems: &mut Vec<String>) -> Vec<PathBuf> {
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                problems.push(format!("the {what} in {} can't be listed: {error}", path.display()));
                return Vec::new();
            }
        };
        let mut entries: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        entries.sort();
        entries
    }

    /// The text of a file in it, and the file's path with its links resolved.
    pub(crate) fn text(&self, path: &Path) -> Result<(String, PathBuf), String> {
        let within = self.within.as_ref().map(|within| within.canonicalize().unwrap_or(within.clone()));
        // A project could have a link to a secret of its own stand for a text that everybody may see.
        let may = |real: &Path| {
            within
                .as_ref()
                .is_none_or(|within| real.starts_with(within) && rail_permit::secret(real).is_none())
        };
        let opened = Opened::if_real(path, may).map_err(|fault| match fault {
            FileFault::Denied { real, .. } => {
                format!("it is `{}`, which the project may not show", shown(&real))
            }
            FileFault::System { cause, .. } => cause.to_string(),
            fault @ (FileFault::Missing { .. }
            | FileFault::Folder { .. }
            | FileFault::Special { .. }
            | FileFault::TooLarge { .. }
            | FileFault::ReadOnly { .. }
            | FileFault::Changed { .. }) => fault.to_string(),
        })?;
        let mut bytes = Vec::new();
        // One byte more tells whether there is more than that.
        let read = (&opened.file).take(LONGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())?;
        Ok((text, opened.real))
    }
}

/// Whether a name can be typed and said: letters, digits, and a few signs that part them.
///
/// # Errors
/// What to use instead.
pub(crate) fn checked(name: &str) -> Result<(), String> {
    /// The longest name.
    const LONGEST: usize = 64;
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if begins && name.len() <= LONGEST && name.chars().all(|c| c.is_alphanumeric() || "_-:.".contains(c)) {
        return Ok(());
    }
    Err(format!("its name can't be used; take letters, digits, `-` and `_`, {LONGEST} bytes at most"))
}

/// The beginning of a text, on one line.
pub(crate) fn described(body: &str) -> String {
    let lines = body.lines().map(|line| line.trim_start_matches('#').trim());
    let line = lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(DESCRIBED) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// The native name of a tool that any dialect names, or that a server has.
pub(crate) fn native(name: &str) -> Option<String> {
    let known = Mapping::names().filter_map(Mapping::builtin).find_map(|mapping| mapping.native(name));
    known.or_else(|| name.starts_with("mcp__").then_some(name)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_s_folders_come_before_the_user_s() {
        let listed = |project: &str| -> Vec<String> {
            let places = Places {
                project: Path::new(project),
                trusted: Trusted::No,
                config: Some(Path::new("/h/.config/switchrail")),
                home: Some(Path::new("/h")),
            };
            let all = places.folders(FileKind::Commands);
            all.iter().map(|folder| format!("{} {:?}", folder.path.display(), folder.owner)).collect()
        };
        assert_eq!(
            listed("/p"),
            [
                "/p/.switchrail/commands Project(No)",
                "/p/.claude/commands Project(No)",
                "/h/.config/switchrail/commands User",
                "/h/.claude/commands User",
            ]
        );
        assert_eq!(
            listed("/h"),
            [
                "/h/.switchrail/commands Project(No)",
                "/h/.config/switchrail/commands User",
                "/h/.claude/commands User"
            ]
        );
    }

    #[test]
    fn names_are_what_can_be_typed() {
        for (name, fits) in [
            ("pdf", true),
            ("git:fix", true),
            ("a.b_c-d", true),
            ("über", true),
            ("", false),
            ("../x", false),
            (".x", false),
            ("a b", false),
            ("a/b", false),
            ("a\nb", false),
            ("a`b", false),
        ] {
            assert_eq!(checked(name).is_ok(), fits, "{name:?}");
        }
        assert!(checked(&"x".repeat(65)).is_err());
    }
}
