use std::path::{Path, PathBuf};

use super::files::{Found, OwnedFolder, Owner, described};
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

/// Whether a model may use a command by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByModel {
    /// It may.
    #[default]
    Allowed,
    /// Only the user uses it.
    Never,
}

/// Reads the commands of a folder, by name; what can't be read is a problem.
pub(super) fn read_folder(folder: &OwnedFolder, problems: &mut Vec<String>) -> Vec<CustomCommand> {
    let mut found = Vec::new();
    for Found { path, names } in folder.markdown("commands", problems) {
        let name = names.join(":");
        let command = typed(&name)
            .and_then(|()| folder.text(&path))
            .and_then(|(text, _)| read(&text, name, &path, folder.owner));
        match command {
            Ok(command) => found.push(command),
            Err(why) => problems.push(format!("the command {} is left out: {why}", path.display())),
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Whether a name can be typed behind a slash.
fn typed(name: &str) -> Result<(), String> {
    if name.chars().all(|c| c.is_alphanumeric() || "_-:.".contains(c)) {
        return Ok(());
    }
    Err("its name can't be typed behind a slash; use letters, digits, `-` and `_`".to_owned())
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
}
