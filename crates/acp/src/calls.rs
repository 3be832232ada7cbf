//! Calls of tools, as clients show them: what kind, in which files, what changes.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::v1::{
    Content, ContentBlock, Diff, ImageContent, TextContent, ToolCallContent, ToolCallLocation, ToolKind,
};
use rail_model::{MediaKind, MediaSource, Part, PartBody};
use rail_proto::{FileChange, Hunk, Mark, Shown};
use serde_json::Value;

/// The tools by their native names: what they are called for people, and of which kind they are.
const TOOLS: &[(&str, &str, ToolKind)] = &[
    ("bash", "Bash", ToolKind::Execute),
    ("bash_output", "Bash output", ToolKind::Execute),
    ("kill_bash", "Kill bash", ToolKind::Execute),
    ("read_file", "Read", ToolKind::Read),
    ("read_many_files", "Read files", ToolKind::Read),
    ("read_pdf", "Read PDF", ToolKind::Read),
    ("image", "Image", ToolKind::Read),
    ("skill", "Skill", ToolKind::Read),
    ("edit_file", "Edit", ToolKind::Edit),
    ("multi_edit", "Edit", ToolKind::Edit),
    ("write_file", "Write", ToolKind::Edit),
    ("apply_patch", "Patch", ToolKind::Edit),
    ("notebook_edit", "Edit notebook", ToolKind::Edit),
    ("grep", "Search", ToolKind::Search),
    ("glob", "Find files", ToolKind::Search),
    ("list_directory", "List", ToolKind::Search),
    ("web_search", "Web search", ToolKind::Fetch),
    ("web_fetch", "Fetch", ToolKind::Fetch),
    ("sequentialthinking", "Think", ToolKind::Think),
    ("task", "Task", ToolKind::Think),
    ("todo_write", "Todos", ToolKind::Think),
    ("findings", "Findings", ToolKind::Think),
    ("exit_plan_mode", "Plan", ToolKind::SwitchMode),
    ("plan_mode", "Plan", ToolKind::SwitchMode),
    ("ask_user_question", "Ask", ToolKind::Other),
];

/// Names of other dialects, for calls that are only remembered.
const DIALECTS: &[(&str, &str)] = &[
    ("Read", "read_file"),
    ("Edit", "edit_file"),
    ("replace", "edit_file"),
    ("Write", "write_file"),
    ("MultiEdit", "multi_edit"),
    ("shell", "bash"),
    ("run_shell_command", "bash"),
    ("exec_command", "bash"),
    ("search_file_content", "grep"),
    ("LS", "list_directory"),
    ("google_web_search", "web_search"),
    ("Agent", "task"),
    ("Task", "task"),
    ("TodoWrite", "todo_write"),
    ("update_plan", "todo_write"),
    ("write_todos", "todo_write"),
];

/// Keys under which the dialects have a file or folder.
const PATHS: &[&str] =
    &["file_path", "absolute_path", "filePath", "notebook_path", "path", "dir_path", "workdir"];
/// Keys of what a call is about, apart from files; the first that is there is shown.
const ABOUT: &[&str] = &[
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
    "skill",
    "name",
    "bash_id",
    "prompt",
    "plan",
];
/// The longest title.
const TITLE: usize = 120;

/// The name for people of the tool of a native name.
pub(crate) fn titled(native: &str) -> &str {
    TOOLS.iter().find(|(name, _, _)| *name == native).map_or(native, |(_, title, _)| title)
}

/// The name for people of the tool that a model calls by this name, in whatever dialect.
pub(crate) fn known(name: &str) -> &str {
    let is = |known: &str| plain(known).eq(plain(name));
    let dialect = DIALECTS.iter().find(|(called, _)| is(called)).map(|(_, native)| *native);
    let native = dialect.or_else(|| TOOLS.iter().map(|(native, _, _)| *native).find(|native| is(native)));
    native.map_or(name, titled)
}

fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase())
}

/// The kind of the tool that people know by this name.
pub(crate) fn kind(title: &str) -> ToolKind {
    TOOLS.iter().find(|(_, known, _)| *known == title).map_or(ToolKind::Other, |(_, _, kind)| *kind)
}

/// What a call is, in a line.
pub(crate) fn title(title: &str, input: &Value, cwd: &Path) -> String {
    let text = |key: &&str| input.get(*key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let command = ["command", "cmd"].iter().find_map(text);
    if let Some(command) = command.filter(|_| kind(title) == ToolKind::Execute) {
        return format!("`{}`", short(command));
    }
    let path = || PATHS.iter().find_map(text).map(|path| near(path, cwd));
    let about = || ABOUT.iter().find_map(text).map(str::to_owned);
    let said = match kind(title) {
        ToolKind::Read | ToolKind::Edit => path().or_else(about),
        _ => about().or_else(path),
    };
    said.map_or_else(|| title.to_owned(), |said| format!("{title} {}", short(&said)))
}

/// The first line, not too long.
fn short(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None if lines.next().is_some() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// A path as it is read most easily.
fn near(path: &str, cwd: &Path) -> String {
    Path::new(path).strip_prefix(cwd).map_or_else(|_| path.to_owned(), |inner| inner.display().to_string())
}

/// The files that a call names.
pub(crate) fn locations(input: &Value, cwd: &Path) -> Vec<ToolCallLocation> {
    let path = PATHS.iter().find_map(|key| input.get(*key)?.as_str()).filter(|path| !path.is_empty());
    let line = ["offset", "line"].iter().find_map(|key| input.get(*key)?.as_u64());
    let line = line.and_then(|line| u32::try_from(line).ok());
    path.map(|path| ToolCallLocation::new(cwd.join(path)).line(line)).into_iter().collect()
}

/// What a call would change, as far as its input says; `current` is what a file holds now.
pub(crate) fn wanted(
    title: &str,
    input: &Value,
    cwd: &Path,
    current: &dyn Fn(&Path) -> Option<String>,
) -> Vec<ToolCallContent> {
    if kind(title) != ToolKind::Edit {
        return Vec::new();
    }
    let text = |value: &Value, keys: &[&str]| {
        keys.iter().find_map(|key| value.get(*key)?.as_str()).map(str::to_owned)
    };
    let Some(path) = text(input, PATHS).map(|path| cwd.join(path)) else {
        let patch = text(input, &["patch", "input"]);
        return patch.map(|patch| said(fenced(&patch, "diff"))).into_iter().collect();
    };
    let one = |edit: &Value| {
        let new = text(edit, &["new_string", "new_str", "newString"])?;
        let old = text(edit, &["old_string", "old_str", "oldString"]).filter(|old| !old.is_empty());
        Some(diff(&path, old, new))
    };
    if let Some(edits) = input.get("edits").and_then(Value::as_array) {
        return edits.iter().filter_map(one).collect();
    }
    if let Some(content) = text(input, &["content"]) {
        return vec![diff(&path, current(&path), content)];
    }
    let source = || text(input, &["new_source"]).map(|source| said(fenced(&source, "")));
    one(input).or_else(source).into_iter().collect()
}

fn diff(path: &Path, old: Option<String>, new: String) -> ToolCallContent {
    ToolCallContent::Diff(Diff::new(path, new).old_text(old))
}

/// What a call gave, for people: what was made to be shown, or else what the model gets.
pub(crate) fn given(title: &str, shown: Option<&Shown>, parts: &[Part]) -> Vec<ToolCallContent> {
    match shown {
        Some(Shown::Diff { files, .. }) => files.iter().flat_map(changes).collect(),
        Some(Shown::Preview { text, .. }) => texts(title, text).into_iter().collect(),
        Some(Shown::Summary { text }) => vec![said(text.clone())],
        Some(Shown::Todos { todos }) => {
            vec![said(todos.iter().map(|todo| format!("{todo}\n")).collect::<String>())]
        }
        None => parts.iter().filter_map(|part| shown_part(title, part)).collect(),
    }
}

fn shown_part(title: &str, part: &Part) -> Option<ToolCallContent> {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => texts(title, text),
        PartBody::Media(media) => image(media).map(|image| ToolCallContent::Content(Content::new(image))),
        PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Opaque(_) => None,
    }
}

/// An image, if it is one that can be shown.
pub(crate) fn image(media: &rail_model::Media) -> Option<ContentBlock> {
    match (media.kind, &media.source) {
        (MediaKind::Image, MediaSource::Base64(data)) => {
            let mime = media.mime.clone().unwrap_or_else(|| "image/png".to_owned());
            Some(ContentBlock::Image(ImageContent::new(data.clone(), mime)))
        }
        (MediaKind::Image | MediaKind::Document | MediaKind::Audio | MediaKind::Video, _) => None,
    }
}

/// What a tool says, as Markdown: what is no prose keeps its form.
fn texts(title: &str, text: &str) -> Option<ToolCallContent> {
    if text.trim().is_empty() {
        return None;
    }
    let is_prose = matches!(kind(title), ToolKind::Think | ToolKind::SwitchMode | ToolKind::Fetch);
    Some(said(if is_prose { text.to_owned() } else { fenced(text, "") }))
}

/// A text as content.
pub(crate) fn said(text: String) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

/// A text in a fence that nothing in it closes.
pub(crate) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Where a file was changed.
pub(crate) fn changed(shown: Option<&Shown>) -> Vec<ToolCallLocation> {
    let Some(Shown::Diff { files, .. }) = shown else { return Vec::new() };
    let lines = |file: &FileChange| {
        let path = PathBuf::from(&file.path);
        let line = |hunk: &Hunk| u32::try_from(first_change(hunk)).ok();
        match file.hunks.as_slice() {
            [] => vec![ToolCallLocation::new(path)],
            hunks => hunks.iter().map(|hunk| ToolCallLocation::new(path.clone()).line(line(hunk))).collect(),
        }
    };
    files.iter().flat_map(lines).collect()
}

/// The first line after the change that it changed; around it stand lines that stay.
fn first_change(hunk: &Hunk) -> usize {
    hunk.new_start + hunk.lines.iter().take_while(|line| line.mark == Mark::Same).count()
}

/// The changed places of a file, each with the lines around it.
pub(crate) fn changes(file: &FileChange) -> Vec<ToolCallContent> {
    let side = |hunk: &Hunk, not: Mark| -> String {
        hunk.lines.iter().filter(|line| line.mark != not).map(|line| format!("{}\n", line.text)).collect()
    };
    let mut all: Vec<ToolCallContent> = Vec::new();
    if let Some(from) = &file.moved_from {
        all.push(said(format!("moved from `{from}`")));
    }
    all.extend(file.hunks.iter().map(|hunk| {
        let old = side(hunk, Mark::Added);
        // What was nothing before is a new file.
        let old = (!old.is_empty() || hunk.old_start > 1).then_some(old);
        diff(Path::new(&file.path), old, side(hunk, Mark::Removed))
    }));
    all
}

#[cfg(test)]
mod tests {
    use rail_proto::Line;
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_say_what_a_call_is_about() {
        let cwd = Path::new("/srv");
        for (tool, input, expected) in [
            ("Bash", json!({"command": "ls\n-l", "description": "Lists"}), "`ls …`"),
            ("Read", json!({"file_path": "/srv/a/b.rs"}), "Read a/b.rs"),
            ("Read", json!({"absolute_path": "/etc/x"}), "Read /etc/x"),
            ("Search", json!({"pattern": "fn main", "path": "/srv"}), "Search fn main"),
            ("List", json!({"path": "/srv/a"}), "List a"),
            ("mcp__a__b", json!({"query": "q"}), "mcp__a__b q"),
            ("Todos", json!({"todos": []}), "Todos"),
            ("Edit", json!(null), "Edit"),
        ] {
            assert_eq!(title(tool, &input, cwd), expected);
        }
    }

    #[test]
    fn what_would_change_is_shown() {
        let (cwd, now) = (Path::new("/srv"), |_: &Path| Some("before".to_owned()));
        let old_and_new = |title: &str, input: Value| -> Vec<(Option<String>, String)> {
            let of = |content| match content {
                ToolCallContent::Diff(diff) => (diff.old_text, diff.new_text),
                ToolCallContent::Content(content) => match content.content {
                    ContentBlock::Text(text) => (None, text.text),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            };
            wanted(title, &input, cwd, &now).into_iter().map(of).collect()
        };
        let pair = |old: &str, new: &str| (Some(old.to_owned()), new.to_owned());
        let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
        assert_eq!(old_and_new("Edit", edit.clone()), [pair("x", "y")]);
        assert_eq!(old_and_new("Edit", json!({"file_path": "a", "edits": [edit, {}]})), [pair("x", "y")]);
        assert_eq!(old_and_new("Write", json!({"file_path": "a", "content": "z"})), [pair("before", "z")]);
        assert_eq!(
            old_and_new("Patch", json!({"patch": "*** Begin"})),
            [(None, "```diff\n*** Begin\n```".to_owned())]
        );
        assert!(old_and_new("Bash", json!({"command": "ls"})).is_empty());
    }

    #[test]
    fn fences_hold_what_is_in_them() {
        assert_eq!(fenced("a\n", "rs"), "```rs\na\n```");
        assert_eq!(fenced("```\n", ""), "````\n```\n````");
    }

    #[test]
    fn changes_are_places_with_their_lines() {
        let line = |mark, text: &str| Line { mark, text: text.to_owned() };
        let hunk = Hunk {
            old_start: 4,
            new_start: 4,
            lines: vec![line(Mark::Same, "a"), line(Mark::Removed, "b"), line(Mark::Added, "c")],
        };
        let new = Hunk { old_start: 1, new_start: 1, lines: vec![line(Mark::Added, "n")] };
        let file = |path: &str, hunk| FileChange {
            path: path.to_owned(),
            moved_from: None,
            hunks: vec![hunk],
            added: 1,
            removed: 1,
        };
        let shown = Shown::Diff { files: vec![file("/a", hunk), file("/b", new)], lines: 3 };
        let expected = [
            ToolCallContent::Diff(Diff::new("/a", "a\nc\n").old_text("a\nb\n".to_owned())),
            ToolCallContent::Diff(Diff::new("/b", "n\n")),
        ];
        assert_eq!(given("Edit", Some(&shown), &[]), expected);
        let places: Vec<Option<u32>> = changed(Some(&shown)).into_iter().map(|place| place.line).collect();
        assert_eq!(places, [Some(5), Some(1)]);
    }
}
