use std::path::{Path, PathBuf};

use rail_config::Trusted;

use super::front::front;

/// A command that a Markdown file describes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomCommand {
    /// Its whole name, `folder:name` for one in a folder.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// What it does, in a line; the beginning of its text where the file does not say.
    pub description: String,
    /// What may be typed behind the name.
    pub argument_hint: Option<String>,
    /// Rules for what it may do without asking, as they are written.
    pub allowed_tools: Vec<String>,
    /// The model that is to answer.
    pub model: Option<String>,
    /// Whether a model may use it by itself.
    pub by_model: ByModel,
    /// The text.
    pub body: String,
}

/// Whose a command is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The project's; what it allows counts only where the user trusts the folder.
    Project(Trusted),
    /// The user's own.
    User,
}

/// Whether a model may use a command by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByModel {
    /// It may.
    #[default]
    Allowed,
    /// Only the user uses it.
    Never,
}

/// A folder that holds commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandFolder {
    /// Where it is.
    pub path: PathBuf,
    /// Whose its commands are.
    pub owner: Owner,
}

/// Where commands are looked for, those that count first at the front.
///
/// `config` is the folder of the user's configuration (`$XDG_CONFIG_HOME/switchrail`), `home` the user's home folder.
pub fn folders(
    project: &Path,
    trusted: Trusted,
    config: Option<&Path>,
    home: Option<&Path>,
) -> Vec<CommandFolder> {
    let owner = Owner::Project(trusted);
    let own = [".switchrail/commands", ".claude/commands"];
    let mut folders: Vec<CommandFolder> =
        own.iter().map(|below| CommandFolder { path: project.join(below), owner }).collect();
    let users =
        [config.map(|config| config.join("commands")), home.map(|home| home.join(".claude/commands"))];
    for path in users.into_iter().flatten() {
        // Whoever works in the home folder has it as a project too; what is the user's own is not a project's.
        folders.retain(|folder| folder.path != path);
        folders.push(CommandFolder { path, owner: Owner::User });
    }
    folders
}

/// The longest file that is read.
const LONGEST: u64 = 256 * 1024;
/// How deep folders may lie in each other.
const DEEPEST: usize = 4;
/// How much of a text describes it where the file does not say.
const DESCRIBED: usize = 80;

/// Reads the commands of a folder, by name; what can't be read is a problem. A folder that is not there has none.
pub(super) fn read_folder(folder: &CommandFolder, problems: &mut Vec<String>) -> Vec<CustomCommand> {
    let mut found = Vec::new();
    let mut open = vec![(folder.path.clone(), Vec::<String>::new())];
    while let Some((path, names)) = open.pop() {
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                problems.push(format!("the commands in {} can't be listed: {error}", path.display()));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
            let names: Vec<String> = names.iter().cloned().chain([name.to_owned()]).collect();
            let Ok(meta) = std::fs::metadata(&path) else { continue };
            if meta.is_dir() && names.len() <= DEEPEST && !name.starts_with('.') {
                open.push((path, names));
            } else if meta.is_file() && path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md")) {
                match read_file(&path, meta.len(), names.join(":"), folder.owner) {
                    Ok(command) => found.push(command),
                    Err(why) => problems.push(format!("the command {} is left out: {why}", path.display())),
                }
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn read_file(path: &Path, size: u64, name: String, owner: Owner) -> Result<CustomCommand, String> {
    if !name.chars().all(|c| c.is_alphanumeric() || "_-:.".contains(c)) {
        return Err("its name can't be typed behind a slash; use letters, digits, `-` and `_`".to_owned());
    }
    if size > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    read(&text, name, path, owner)
}

/// Reads the text of a command's file.
fn read(text: &str, name: String, path: &Path, owner: Owner) -> Result<CustomCommand, String> {
    let (front, body) = front(text).map_err(|error| error.to_string())?;
    let by_model = match front.flag("disable-model-invocation")? {
        Some(true) => ByModel::Never,
        Some(false) | None => ByModel::Allowed,
    };
    Ok(CustomCommand {
        name,
        path: path.to_owned(),
        owner,
        description: front.text("description").unwrap_or_else(|| described(body)),
        argument_hint: front.text("argument-hint"),
        allowed_tools: front.list("allowed-tools"),
        model: front.text("model").filter(|model| model != "inherit"),
        by_model,
        body: body.trim().to_owned(),
    })
}

/// The beginning of a text, on one line.
fn described(body: &str) -> String {
    let lines = body.lines().map(|line| line.trim_start_matches('#').trim());
    let line = lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(DESCRIBED) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<CustomCommand, String> {
        read(text, "git:fix".to_owned(), Path::new("/c/git/fix.md"), Owner::User)
    }

    #[test]
    fn a_file_is_read_with_all_it_says() {
        let text = "---\ndescription: Fixes it\nargument-hint: [issue] [priority]\nallowed-tools: Bash(git add:*), Read\nmodel: fast\ndisable-model-invocation: true\n---\n\nFix $1.\n";
        let command = CustomCommand {
            name: "git:fix".to_owned(),
            path: "/c/git/fix.md".into(),
            owner: Owner::User,
            description: "Fixes it".to_owned(),
            argument_hint: Some("[issue] [priority]".to_owned()),
            allowed_tools: vec!["Bash(git add:*)".to_owned(), "Read".to_owned()],
            model: Some("fast".to_owned()),
            by_model: ByModel::Never,
            body: "Fix $1.".to_owned(),
        };
        assert_eq!(read_text(text), Ok(command));
        let plain = read_text("\n# Look at it\nand say").unwrap();
        assert_eq!((plain.description.as_str(), plain.by_model), ("Look at it", ByModel::Allowed));
        assert_eq!(read_text(&"x".repeat(100)).unwrap().description.chars().count(), 81);
        assert_eq!(read_text("---\nmodel: inherit\n---\nx").unwrap().model, None);
        let wrong = read_text("---\ndisable-model-invocation: perhaps\n---\nx").unwrap_err();
        assert_eq!(wrong, "`disable-model-invocation` is `perhaps`; write `true` or `false`");
    }

    #[test]
    fn the_project_s_folders_come_before_the_user_s() {
        let listed = |project: &str| -> Vec<String> {
            let all = folders(
                Path::new(project),
                Trusted::No,
                Some(Path::new("/h/.config/switchrail")),
                Some(Path::new("/h")),
            );
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
}
